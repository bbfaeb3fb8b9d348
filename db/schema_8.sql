-- Schema version 8: samples that stand in blocks, each taken by a process of its own: what processes differ by is noise
-- that samples of one process do not show. Sample i, counted from 0, is of block i / per_block; NULL: all of one go.
ALTER TABLE sample ADD COLUMN per_block INTEGER CHECK (per_block > 0);
