-- Schema version 4: orders in which a screen walks through the trials of a run, a million of them as well.
CREATE INDEX IF NOT EXISTS trial_by_time ON trial (run_id, time_ns);
CREATE INDEX IF NOT EXISTS trial_by_occupancy ON trial (run_id, occupancy_limit_pct);
CREATE INDEX IF NOT EXISTS trial_by_outcome ON trial (run_id, outcome);
