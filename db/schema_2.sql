-- Schema version 2: profiles of programs: what ran on the GPUs, launch by launch, and the ranges it was launched in.
-- The views at the end are a contract, as those of version 1. NULL means unknown. *_ns are nanoseconds; start_ns, open_ns,
-- close_ns and launch_ns count from 1970.

CREATE TABLE profile_run (
    id INTEGER PRIMARY KEY,
    source TEXT NOT NULL CHECK (source IN ('measured', 'imported')),
    state TEXT NOT NULL CHECK (state IN ('running', 'done', 'failed')),
    command TEXT NOT NULL,
    nntune_version TEXT NOT NULL,
    host TEXT NOT NULL,
    started_unix_s REAL NOT NULL,
    ended_unix_s REAL,
    exit_code INTEGER
) STRICT;

-- Numbers count from 0 within a run, in the tables that follow.
CREATE TABLE profile_process (
    run_id INTEGER NOT NULL REFERENCES profile_run (id),
    number INTEGER NOT NULL,
    pid INTEGER,
    command TEXT NOT NULL,
    used_cuda INTEGER NOT NULL CHECK (used_cuda IN (0, 1)),
    graph_launches INTEGER NOT NULL,
    memory_peak_bytes INTEGER NOT NULL, -- device memory allocated at once
    dropped INTEGER NOT NULL,           -- records lost for want of buffers
    lost_bytes INTEGER NOT NULL,        -- cut off at the end of what it wrote
    problem INTEGER,                    -- result code that kept it from recording
    problem_text TEXT,
    PRIMARY KEY (run_id, number)
) STRICT, WITHOUT ROWID;

-- A way a kernel was launched.
CREATE TABLE profile_kernel (
    run_id INTEGER NOT NULL REFERENCES profile_run (id),
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    device TEXT,
    device_uuid TEXT,
    grid_x INTEGER NOT NULL,
    grid_y INTEGER NOT NULL,
    grid_z INTEGER NOT NULL,
    block_x INTEGER NOT NULL,
    block_y INTEGER NOT NULL,
    block_z INTEGER NOT NULL,
    registers INTEGER,
    smem_static_bytes INTEGER,
    smem_dynamic_bytes INTEGER,
    occupancy_limit_pct REAL, -- theoretical
    occupancy_limiter TEXT,
    PRIMARY KEY (run_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE profile_range (
    run_id INTEGER NOT NULL REFERENCES profile_run (id),
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    process INTEGER NOT NULL,
    thread INTEGER,
    parent INTEGER, -- number of the range around it
    free_standing INTEGER NOT NULL CHECK (free_standing IN (0, 1)),
    open_ns INTEGER NOT NULL,
    close_ns INTEGER, -- NULL when it was never closed
    PRIMARY KEY (run_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE profile_work (
    run_id INTEGER NOT NULL REFERENCES profile_run (id),
    number INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('kernel', 'copy', 'fill')),
    process INTEGER NOT NULL,
    device_uuid TEXT,
    kernel INTEGER,    -- number in profile_kernel
    "range" INTEGER,   -- innermost open range of the launching thread
    start_ns INTEGER,
    duration_ns INTEGER,
    launch_ns INTEGER,
    thread INTEGER,
    stream INTEGER,
    graph INTEGER,
    correlation INTEGER,
    bytes INTEGER,
    direction TEXT,
    from_memory TEXT,
    to_memory TEXT,
    PRIMARY KEY (run_id, number)
) STRICT, WITHOUT ROWID;
