-- Schema version 6: what screens sort and filter by most, problem by problem, so that a million trials are put in any of
-- these orders from the index alone.
CREATE INDEX IF NOT EXISTS trial_by_problem ON trial (run_id, problem_id, id, time_ns, occupancy_limit_pct, outcome);
