-- Schema version 5: kernels that are calls of a vendor's library are told apart; rollup.least_* leave them out.
ALTER TABLE kernel ADD COLUMN vendor INTEGER NOT NULL DEFAULT 0 CHECK (vendor IN (0, 1));
