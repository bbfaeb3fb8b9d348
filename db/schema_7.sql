-- Schema version 7: hardware counters of launches of profiled programs.

-- A counter of a launch. Numbers count from 0 within a run.
CREATE TABLE profile_counter (
    run_id INTEGER NOT NULL REFERENCES profile_run (id),
    number INTEGER NOT NULL, -- of the launch
    name TEXT NOT NULL,      -- of the counter, by names of our own or CUPTI's
    process INTEGER NOT NULL,
    kernel TEXT NOT NULL,
    device_uuid TEXT,
    correlation INTEGER NOT NULL, -- as in profile_work
    counted_ns INTEGER NOT NULL,
    value REAL,
    unit TEXT NOT NULL,
    counter TEXT, -- CUPTI's name for it; NULL where the chip has none
    source TEXT NOT NULL,
    passes INTEGER NOT NULL, -- times the launch ran
    cache TEXT NOT NULL CHECK (cache IN ('as_left', 'replayed')),
    PRIMARY KEY (run_id, number, name)
) STRICT, WITHOUT ROWID;
