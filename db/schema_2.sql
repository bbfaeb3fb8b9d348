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

-- ---- views: the contract -------------------------------------------------------------------------------------------

-- One row a run.
CREATE VIEW profiles AS
SELECT r.id AS profile,
       r.source AS source,
       r.state AS state,
       r.command AS command,
       r.exit_code AS exit_code,
       r.started_unix_s AS started_unix_s,
       r.ended_unix_s AS ended_unix_s,
       (SELECT count(*) FROM profile_work w WHERE w.run_id = r.id AND w.kind = 'kernel') AS kernels,
       (SELECT count(*) FROM profile_work w WHERE w.run_id = r.id AND w.kind = 'copy') AS copies,
       (SELECT sum(duration_ns) FROM profile_work w WHERE w.run_id = r.id AND w.kind = 'kernel') AS gpu_ns,
       (SELECT sum(graph_launches) FROM profile_process p WHERE p.run_id = r.id) AS graph_launches,
       (SELECT max(memory_peak_bytes) FROM profile_process p WHERE p.run_id = r.id) AS memory_peak_bytes,
       r.host AS host,
       r.nntune_version AS nntune_version
FROM profile_run r;

-- Kernels of a run by name. The median and the 99th percentile are those of single calls, the latter from 662 calls on.
CREATE VIEW profile_kernels AS
WITH ranked AS (
    SELECT w.run_id, k.name, w.duration_ns, k.occupancy_limit_pct,
           row_number() OVER (PARTITION BY w.run_id, k.name, w.duration_ns IS NULL ORDER BY w.duration_ns) AS place,
           count(w.duration_ns) OVER (PARTITION BY w.run_id, k.name) AS timed
    FROM profile_work w JOIN profile_kernel k ON k.run_id = w.run_id AND k.number = w.kernel
    WHERE w.kind = 'kernel'
)
SELECT run_id AS profile,
       name AS kernel,
       count(*) AS calls,
       sum(duration_ns) AS total_ns,
       avg(duration_ns) FILTER (WHERE duration_ns IS NOT NULL AND place IN ((timed + 1) / 2, (timed + 2) / 2))
           AS median_ns,
       CASE WHEN timed >= 662 THEN
           max(duration_ns) FILTER (WHERE duration_ns IS NOT NULL AND place = (timed - 1) * 99 / 100 + 1) +
           ((timed - 1) * 99 % 100) / 100.0 *
           (max(duration_ns) FILTER (WHERE duration_ns IS NOT NULL AND place = (timed - 1) * 99 / 100 + 2) -
            max(duration_ns) FILTER (WHERE duration_ns IS NOT NULL AND place = (timed - 1) * 99 / 100 + 1))
       END AS p99_ns,
       100.0 * sum(duration_ns) / sum(sum(duration_ns)) OVER (PARTITION BY run_id) AS share_pct,
       sum(occupancy_limit_pct * duration_ns) / sum(duration_ns) FILTER (WHERE occupancy_limit_pct IS NOT NULL)
           AS occupancy_limit_pct
FROM ranked
GROUP BY run_id, name;

-- Ranges of a run by name, with all that was launched while they were open on the launching thread.
CREATE VIEW profile_ranges AS
WITH RECURSIVE inside (run_id, work, "range", parent, open) AS (
    SELECT w.run_id, w.number, r.number, r.parent, 1
    FROM profile_work w JOIN profile_range r ON r.run_id = w.run_id AND r.number = w."range"
    UNION ALL
    SELECT i.run_id, i.work, r.number, r.parent,
           coalesce(r.close_ns >= (SELECT launch_ns FROM profile_work w WHERE w.run_id = i.run_id AND w.number = i.work), 1)
    FROM inside i JOIN profile_range r ON r.run_id = i.run_id AND r.number = i.parent
),
by_call (run_id, "range", kernels, copies, gpu_ns) AS (
    SELECT i.run_id, i."range", count(*) FILTER (WHERE w.kind = 'kernel'), count(*) FILTER (WHERE w.kind = 'copy'),
           sum(w.duration_ns) FILTER (WHERE w.kind = 'kernel')
    FROM inside i JOIN profile_work w ON w.run_id = i.run_id AND w.number = i.work
    WHERE i.open
    GROUP BY i.run_id, i."range"
)
SELECT r.run_id AS profile,
       r.name AS "range",
       count(*) AS calls,
       count(*) FILTER (WHERE r.close_ns IS NULL) AS open,
       coalesce(sum(c.kernels), 0) AS kernels,
       coalesce(sum(c.copies), 0) AS copies,
       coalesce(sum(c.gpu_ns), 0) AS total_ns,
       sum(r.close_ns - r.open_ns) AS wall_ns
FROM profile_range r LEFT JOIN by_call c ON c.run_id = r.run_id AND c."range" = r.number
GROUP BY r.run_id, r.name;

-- Copies of a run by direction and kinds of memory.
CREATE VIEW profile_copies AS
SELECT run_id AS profile,
       direction,
       from_memory,
       to_memory,
       count(*) AS calls,
       sum(bytes) AS bytes,
       sum(duration_ns) AS total_ns,
       1e9 * sum(bytes) FILTER (WHERE duration_ns > 0) / nullif(sum(duration_ns), 0) AS bytes_per_s
FROM profile_work
WHERE kind = 'copy'
GROUP BY run_id, direction, from_memory, to_memory;
