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

-- ---- views: the contract -------------------------------------------------------------------------------------------

-- One row a trial. Joins are LEFT although every row has its match: a query then pays only for the tables it names.
CREATE VIEW trials AS
SELECT t.run_id AS run,
       r.source AS source,
       d.name AS device,
       p.layer AS layer,
       p.shape AS shape,
       p.batch AS batch,
       p.precision AS precision,
       p.layout AS layout,
       p.fill AS fill,
       k.name AS kernel,
       c.params AS params,
       t.outcome AS outcome,
       t.reason AS reason,
       CASE WHEN f.trial_id IS NULL THEN t.time_ns ELSE f.time_ns END AS time_ns,
       CASE WHEN f.trial_id IS NULL THEN t.time_lo_ns ELSE f.time_lo_ns END AS time_lo_ns,
       CASE WHEN f.trial_id IS NULL THEN t.time_hi_ns ELSE f.time_hi_ns END AS time_hi_ns,
       t.floor_ns AS floor_ns,
       CASE WHEN f.trial_id IS NULL THEN t.samples ELSE f.samples END AS samples,
       CASE WHEN t.outcome = 'ok' THEN t.converged END AS converged,
       t.cache AS cache,
       t.error_impl AS error_impl,
       t.error_prec AS error_prec,
       t.registers AS registers,
       t.smem_bytes AS smem_bytes,
       t.spill_bytes AS spill_bytes,
       t.occupancy_limit_pct AS occupancy_limit_pct,
       t.occupancy_limiter AS occupancy_limiter,
       (SELECT value FROM counter WHERE trial_id = t.id AND name = 'occupancy_pct') AS occupancy_pct,
       (SELECT value FROM counter WHERE trial_id = t.id AND name = 'dram_read_bytes') AS dram_read_bytes,
       (SELECT value FROM counter WHERE trial_id = t.id AND name = 'dram_write_bytes') AS dram_write_bytes,
       t.sm_clock_mhz AS sm_clock_mhz,
       t.power_mw AS power_mw,
       t.id AS trial,
       t.time_ns AS first_time_ns,
       t.time_lo_ns AS first_time_lo_ns,
       t.time_hi_ns AS first_time_hi_ns,
       t.samples AS first_samples,
       t.launches_per_sample AS launches_per_sample,
       t.probe_ns AS probe_ns,
       f.rank AS rank,
       f.tied AS tied,
       f.ratio AS ratio,
       t.rule AS rule,
       t.reused AS reused,
       t.temperature_c AS temperature_c,
       t.energy_mj AS energy_mj,
       t.throttle_mask AS throttle_mask,
       t.threads_per_block AS threads_per_block,
       t.grid_blocks AS grid_blocks,
       t.smem_static_bytes AS smem_static_bytes,
       t.prepare_ns AS prepare_ns,
       t.compile_ms AS compile_ms,
       t.verify_ms AS verify_ms,
       t.measure_ms AS measure_ms,
       t.artefact_compile_ms AS artefact_compile_ms,
       t.artefact_cached AS artefact_cached,
       t.artefact_key AS artefact_key,
       k.source_hash AS source_hash,
       d.kind AS device_kind,
       d.uuid AS device_uuid,
       d.arch AS arch,
       e.driver AS driver,
       e.compiler AS compiler,
       t.stored_unix_s AS stored_unix_s
FROM trial t
LEFT JOIN run r ON r.id = t.run_id
LEFT JOIN device d ON d.id = r.device_id
LEFT JOIN environment e ON e.id = r.environment_id
LEFT JOIN problem p ON p.id = t.problem_id
LEFT JOIN kernel k ON k.id = t.kernel_id
LEFT JOIN configuration c ON c.id = t.configuration_id
LEFT JOIN final f ON f.trial_id = t.id;

-- The winning row of each problem and device: a cold one where there is one. First the newest done run's winner of the
-- finals, then a winner of the finals of a run that has not ended so, and where no finals were recorded the least time.
CREATE VIEW best AS
WITH candidate (device_id, problem_id, cache, trial_id, tier, preference) AS (
    SELECT r.device_id, f.problem_id, f.cache, f.trial_id, CASE r.state WHEN 'done' THEN 1 ELSE 2 END, -r.started_unix_s
    FROM final f JOIN run r ON r.id = f.run_id
    WHERE f.rank = 1
    UNION ALL
    SELECT r.device_id, o.problem_id, o.cache, o.least_trial_id, 3, o.least_time_ns
    FROM rollup o JOIN run r ON r.id = o.run_id
    WHERE o.outcome = 'ok'
),
placed (trial_id, place) AS (
    SELECT trial_id,
           row_number() OVER (PARTITION BY device_id, problem_id ORDER BY cache, tier, preference, trial_id DESC)
    FROM candidate
)
SELECT * FROM trials WHERE trial IN (SELECT trial_id FROM placed WHERE place = 1);

-- Trials by run, problem, cache mode and outcome.
CREATE VIEW counts AS
SELECT o.run_id AS run,
       p.layer AS layer,
       p.shape AS shape,
       p.batch AS batch,
       p.precision AS precision,
       p.layout AS layout,
       p.fill AS fill,
       o.cache AS cache,
       o.outcome AS outcome,
       o.trials AS trials,
       o.least_time_ns AS least_time_ns
FROM rollup o
LEFT JOIN problem p ON p.id = o.problem_id;

-- One row a run, with its counts.
CREATE VIEW runs AS
SELECT r.id AS run,
       r.source AS source,
       r.state AS state,
       d.name AS device,
       d.kind AS device_kind,
       d.uuid AS device_uuid,
       d.arch AS arch,
       e.driver AS driver,
       e.compiler AS compiler,
       r.host AS host,
       r.command AS command,
       r.options AS options,
       r.strategy AS strategy,
       r.seed AS seed,
       r.nntune_version AS nntune_version,
       r.started_unix_s AS started_unix_s,
       r.ended_unix_s AS ended_unix_s,
       count(DISTINCT o.problem_id) AS problems,
       coalesce(sum(o.trials), 0) AS trials,
       coalesce(sum(o.trials) FILTER (WHERE o.outcome = 'ok'), 0) AS ok,
       coalesce(sum(o.trials) FILTER (WHERE o.outcome = 'pruned'), 0) AS pruned,
       coalesce(sum(o.trials) FILTER (WHERE o.outcome = 'compile_failed'), 0) AS compile_failed,
       coalesce(sum(o.trials) FILTER (WHERE o.outcome = 'launch_failed'), 0) AS launch_failed,
       coalesce(sum(o.trials) FILTER (WHERE o.outcome = 'wrong_result'), 0) AS wrong_result,
       coalesce(sum(o.trials) FILTER (WHERE o.outcome = 'abandoned'), 0) AS abandoned,
       coalesce(sum(o.trials) FILTER (WHERE o.outcome = 'timed_out'), 0) AS timed_out,
       coalesce(sum(o.trials) FILTER (WHERE o.outcome = 'crashed'), 0) AS crashed,
       r.compile_s AS compile_s,
       r.verify_s AS verify_s,
       r.measure_s AS measure_s,
       r.idle_s AS idle_s,
       r.total_s AS total_s,
       r.dram_peak_bytes_per_s AS dram_peak_bytes_per_s,
       r.peak_flops AS peak_flops,
       r.peak_source AS peak_source
FROM run r
LEFT JOIN device d ON d.id = r.device_id
LEFT JOIN environment e ON e.id = r.environment_id
LEFT JOIN rollup o ON o.run_id = r.id
GROUP BY r.id;
