-- Schema version 1 of a results database. Applied to an empty file in one transaction; later versions add steps.
-- Tables may change between versions; the views at the end are a contract: names and meaning of columns stay.
-- NULL means unknown. Times are nanoseconds unless the name says otherwise; *_unix_s are seconds since 1970.

-- What a device is, never where it was plugged in. Limits are those last seen.
CREATE TABLE device (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('cpu', 'cuda', 'fake')),
    uuid TEXT NOT NULL,
    name TEXT NOT NULL,
    arch TEXT,
    compute_capability INTEGER,
    sm_count INTEGER,
    memory_bytes INTEGER,
    l2_bytes INTEGER,
    smem_per_block_bytes INTEGER,
    smem_per_sm_bytes INTEGER,
    smem_reserved_bytes INTEGER,
    regs_per_block INTEGER,
    regs_per_sm INTEGER,
    max_threads_per_block INTEGER,
    max_threads_per_sm INTEGER,
    max_blocks_per_sm INTEGER,
    warp_size INTEGER,
    sm_clock_max_mhz REAL,
    mem_clock_max_mhz REAL,
    UNIQUE (kind, uuid, name)
) STRICT;

-- The software a device ran under. A trial is reused only under the same environment.
CREATE TABLE environment (
    id INTEGER PRIMARY KEY,
    device_id INTEGER NOT NULL REFERENCES device (id),
    driver TEXT NOT NULL,
    compiler TEXT NOT NULL,
    features TEXT NOT NULL,
    UNIQUE (device_id, driver, compiler, features)
) STRICT;

CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    environment_id INTEGER NOT NULL REFERENCES environment (id),
    device_id INTEGER NOT NULL REFERENCES device (id),
    source TEXT NOT NULL DEFAULT 'measured' CHECK (source IN ('measured', 'recorded')),
    state TEXT NOT NULL CHECK (state IN ('running', 'done', 'interrupted', 'failed')),
    command TEXT NOT NULL,
    options TEXT NOT NULL CHECK (json_valid(options)),
    nntune_version TEXT NOT NULL,
    seed INTEGER NOT NULL, -- the unsigned seed's bits
    strategy TEXT NOT NULL,
    host TEXT NOT NULL,
    started_unix_s REAL NOT NULL,
    ended_unix_s REAL,
    compile_s REAL,
    verify_s REAL,
    measure_s REAL,
    idle_s REAL,
    total_s REAL,
    dram_peak_bytes_per_s REAL, -- the peaks this run saw: on a cpu they are measured and vary
    peak_flops TEXT CHECK (json_valid(peak_flops)),
    peak_source TEXT
) STRICT;
CREATE INDEX run_by_device ON run (device_id, started_unix_s);

CREATE TABLE problem (
    id INTEGER PRIMARY KEY,
    layer TEXT NOT NULL,
    shape TEXT NOT NULL,
    batch INTEGER NOT NULL,
    precision TEXT NOT NULL,
    layout TEXT NOT NULL,
    fill TEXT NOT NULL,
    UNIQUE (layer, shape, batch, precision, layout, fill)
) STRICT;

-- One implementation in one state of its source: a changed source is another row, so old trials stay, never reused.
CREATE TABLE kernel (
    id INTEGER PRIMARY KEY,
    layer TEXT NOT NULL,
    name TEXT NOT NULL,
    device_kind TEXT NOT NULL,
    source_hash TEXT NOT NULL, -- empty when nothing was compiled
    UNIQUE (layer, name, device_kind, source_hash)
) STRICT;

-- Parameter values as JSON, keys in the order of the kernel's table. Shared between problems and runs.
CREATE TABLE configuration (
    id INTEGER PRIMARY KEY,
    params TEXT NOT NULL UNIQUE CHECK (json_valid(params))
) STRICT;

CREATE TABLE trial (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run (id),
    problem_id INTEGER NOT NULL REFERENCES problem (id),
    kernel_id INTEGER NOT NULL REFERENCES kernel (id),
    configuration_id INTEGER NOT NULL REFERENCES configuration (id),
    cache TEXT NOT NULL CHECK (cache IN ('cold', 'hot')),
    outcome TEXT NOT NULL CHECK (outcome IN ('ok', 'pruned', 'compile_failed', 'launch_failed', 'wrong_result',
                                             'abandoned', 'timed_out', 'crashed')),
    stored_unix_s REAL NOT NULL,
    reason TEXT,
    rule TEXT,
    time_ns REAL,
    time_lo_ns REAL,
    time_hi_ns REAL,
    probe_ns REAL,
    floor_ns REAL,
    samples INTEGER NOT NULL,
    launches_per_sample INTEGER,
    converged INTEGER NOT NULL CHECK (converged IN (0, 1)),
    reused INTEGER NOT NULL CHECK (reused IN (0, 1)),
    sm_clock_mhz REAL,
    temperature_c REAL,
    power_mw REAL,
    energy_mj REAL,
    throttle_mask INTEGER,
    error_impl REAL,
    error_prec REAL,
    artefact_key TEXT,
    artefact_cached INTEGER NOT NULL CHECK (artefact_cached IN (0, 1)),
    registers INTEGER,
    smem_static_bytes INTEGER,
    smem_bytes INTEGER,
    spill_bytes INTEGER,
    threads_per_block INTEGER,
    grid_blocks INTEGER,
    occupancy_limit_pct REAL,
    occupancy_limiter TEXT,
    prepare_ns REAL,
    artefact_compile_ms REAL, -- the compile that made the artefact, whenever that was
    compile_ms REAL,
    verify_ms REAL,
    measure_ms REAL,
    CHECK ((outcome = 'ok') = (time_ns IS NOT NULL)),
    -- No trial stands twice in a run. Problem first, because reuse looks for equal trials over all runs.
    UNIQUE (problem_id, kernel_id, configuration_id, cache, run_id)
) STRICT;
CREATE INDEX trial_by_run ON trial (run_id);

-- Every sample: little-endian doubles, nanoseconds of one launch. phase 'main' is the trial's own measurement, 'final'
-- the interleaved rounds.
CREATE TABLE sample (
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    phase TEXT NOT NULL CHECK (phase IN ('main', 'final')),
    launches_per_sample INTEGER,
    ns BLOB NOT NULL,
    UNIQUE (trial_id, phase)
) STRICT;

-- Finalists of a problem, measured again in interleaved rounds. rank 1 is the winner.
CREATE TABLE final (
    trial_id INTEGER PRIMARY KEY REFERENCES trial (id),
    run_id INTEGER NOT NULL REFERENCES run (id),
    problem_id INTEGER NOT NULL REFERENCES problem (id),
    cache TEXT NOT NULL,
    rank INTEGER NOT NULL CHECK (rank >= 1),
    tied INTEGER NOT NULL CHECK (tied IN (0, 1)),
    ratio REAL,
    time_ns REAL NOT NULL,
    time_lo_ns REAL,
    time_hi_ns REAL,
    samples INTEGER NOT NULL,
    UNIQUE (run_id, problem_id, cache, rank)
) STRICT;
CREATE INDEX final_winner ON final (problem_id) WHERE rank = 1;

CREATE TABLE counter (
    trial_id INTEGER NOT NULL REFERENCES trial (id),
    name TEXT NOT NULL,
    value REAL,
    unit TEXT,
    source TEXT, -- how it was collected
    passes INTEGER,
    cache TEXT CHECK (cache IN ('cold', 'hot')),
    PRIMARY KEY (trial_id, name)
) STRICT, WITHOUT ROWID;

-- The trial in flight of each run, written before its launch. launches counts how often it was begun and never ended.
CREATE TABLE journal (
    run_id INTEGER PRIMARY KEY REFERENCES run (id),
    problem_id INTEGER NOT NULL REFERENCES problem (id),
    kernel TEXT NOT NULL,
    configuration_id INTEGER NOT NULL REFERENCES configuration (id),
    launches INTEGER NOT NULL,
    begun_unix_s REAL NOT NULL
) STRICT;

-- Counts and least times, kept in the transaction that stores a trial, so that a million trials need no scan.
CREATE TABLE rollup (
    run_id INTEGER NOT NULL REFERENCES run (id),
    problem_id INTEGER NOT NULL REFERENCES problem (id),
    cache TEXT NOT NULL,
    outcome TEXT NOT NULL,
    trials INTEGER NOT NULL,
    least_time_ns REAL,     -- of the trials' own measurements; NULL unless outcome is 'ok'
    least_trial_id INTEGER REFERENCES trial (id),
    PRIMARY KEY (run_id, problem_id, cache, outcome)
) STRICT, WITHOUT ROWID;
