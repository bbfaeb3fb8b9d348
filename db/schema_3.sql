-- Schema version 3: where recorded runs came from, and what their files say beyond the other tables.

CREATE TABLE imported (
    run_id INTEGER PRIMARY KEY REFERENCES run (id),
    format TEXT NOT NULL, -- as --format of import and export names it
    file TEXT NOT NULL,   -- its name, without folders
    cut INTEGER NOT NULL CHECK (cut IN (0, 1)), -- 1: the file ended early
    extra TEXT CHECK (extra IS NULL OR json_valid(extra)) -- from the header as our columns give it to the header of the file; NULL: equal
) STRICT;

CREATE TABLE imported_trial (
    trial_id INTEGER PRIMARY KEY REFERENCES trial (id),
    recorded_at TEXT, -- as the file spells it
    framework_ms REAL,
    search_ms REAL,
    extra TEXT CHECK (extra IS NULL OR json_valid(extra)) -- as above, for one result
) STRICT;
