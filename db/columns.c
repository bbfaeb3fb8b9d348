/* columns.c: the tables that map records to columns, and binding and reading by them. A new member of a record that is
 * to be stored is one line here and one in schema.sql. */
#include "db/columns.h"

#include <endian.h>
#include <math.h>
#include <string.h>

#include "core/mem.h"

#define REAL(name, member)                                \
    {                                                     \
        name, NT_COLUMN_REAL, offsetof(RECORD, member), 0 \
    }
#define INT(name, member)                                \
    {                                                    \
        name, NT_COLUMN_INT, offsetof(RECORD, member), 0 \
    }
#define BOOL(name, member)                                \
    {                                                     \
        name, NT_COLUMN_BOOL, offsetof(RECORD, member), 0 \
    }
#define COUNT(name, member)                                \
    {                                                      \
        name, NT_COLUMN_COUNT, offsetof(RECORD, member), 0 \
    }
#define TEXT(name, member)                                                            \
    {                                                                                 \
        name, NT_COLUMN_TEXT, offsetof(RECORD, member), sizeof(((RECORD *)0)->member) \
    }

#define RECORD nt_trial
const nt_column nt_trial_columns[] = {
    TEXT("reason", reason),
    TEXT("rule", rule),
    REAL("time_ns", time_ns),
    REAL("time_lo_ns", time_lo_ns),
    REAL("time_hi_ns", time_hi_ns),
    REAL("probe_ns", probe_ns),
    REAL("floor_ns", floor_ns),
    COUNT("samples", samples.count),
    INT("launches_per_sample", samples.launches_per_sample),
    BOOL("converged", converged),
    BOOL("reused", reused),
    REAL("sm_clock_mhz", conditions.sm_clock_mhz),
    REAL("temperature_c", conditions.temperature_c),
    REAL("power_mw", conditions.power_mw),
    REAL("energy_mj", conditions.energy_mj),
    INT("throttle_mask", conditions.throttle_mask),
    REAL("error_impl", error_impl),
    REAL("error_prec", error_prec),
    TEXT("artefact_key", artefact.key),
    BOOL("artefact_cached", artefact.cached),
    INT("registers", artefact.registers),
    INT("smem_static_bytes", artefact.smem_static_bytes),
    INT("smem_bytes", smem_bytes),
    INT("spill_bytes", artefact.spill_bytes),
    INT("threads_per_block", threads_per_block),
    INT("grid_blocks", grid_blocks),
    REAL("occupancy_limit_pct", occupancy_limit_pct),
    TEXT("occupancy_limiter", occupancy_limiter),
    REAL("prepare_ns", prepare_ns),
    REAL("artefact_compile_ms", artefact.compile_ms),
    REAL("compile_ms", compile_ms),
    REAL("verify_ms", verify_ms),
    REAL("measure_ms", measure_ms),
};
const int nt_trial_column_count = sizeof nt_trial_columns / sizeof nt_trial_columns[0];
#undef RECORD

#define RECORD nt_device_info
const nt_column nt_device_columns[] = {
    TEXT("arch", arch),
    INT("compute_capability", compute_capability),
    INT("sm_count", sm_count),
    INT("memory_bytes", memory_bytes),
    INT("l2_bytes", l2_bytes),
    INT("smem_per_block_bytes", smem_per_block_bytes),
    INT("smem_per_sm_bytes", smem_per_sm_bytes),
    INT("smem_reserved_bytes", smem_reserved_bytes),
    INT("regs_per_block", regs_per_block),
    INT("regs_per_sm", regs_per_sm),
    INT("max_threads_per_block", max_threads_per_block),
    INT("max_threads_per_sm", max_threads_per_sm),
    INT("max_blocks_per_sm", max_blocks_per_sm),
    INT("warp_size", warp_size),
    REAL("sm_clock_max_mhz", sm_clock_max_mhz),
    REAL("mem_clock_max_mhz", mem_clock_max_mhz),
};
const int nt_device_column_count = sizeof nt_device_columns / sizeof nt_device_columns[0];
#undef RECORD

#define RECORD nt_run
const nt_column nt_run_columns[] = {
    REAL("ended_unix_s", ended_unix_s), REAL("compile_s", compile_s), REAL("verify_s", verify_s),
    REAL("measure_s", measure_s),       REAL("idle_s", idle_s),       REAL("total_s", total_s),
};
const int nt_run_column_count = sizeof nt_run_columns / sizeof nt_run_columns[0];
#undef RECORD

void nt_columns_list(nt_str *out, const nt_column *columns, int count, const char *pattern)
{
    for (int i = 0; i < count; i++) {
        nt_str_add(out, ", ");
        for (const char *c = pattern; *c != '\0'; c++) {
            if (*c == '@')
                nt_str_add(out, columns[i].name);
            else
                nt_str_add_n(out, c, 1);
        }
    }
}

void nt_columns_marks(nt_str *out, int count)
{
    for (int i = 0; i < count; i++)
        nt_str_add(out, ", ?");
}

void nt_bind_text(sqlite3_stmt *stmt, int index, const char *text)
{
    sqlite3_bind_text(stmt, index, text, -1, SQLITE_STATIC);
}

void nt_bind_real(sqlite3_stmt *stmt, int index, double value)
{
    sqlite3_bind_double(stmt, index, value); /* SQLite stores NAN as NULL */
}

double nt_read_real(sqlite3_stmt *stmt, int index)
{
    return sqlite3_column_type(stmt, index) == SQLITE_NULL ? (double)NAN : sqlite3_column_double(stmt, index);
}

const char *nt_read_text(sqlite3_stmt *stmt, int index)
{
    const char *text = (const char *)sqlite3_column_text(stmt, index);
    return text != NULL ? text : "";
}

static void bind_column(sqlite3_stmt *stmt, int index, const nt_column *column, const void *record)
{
    const char *member = (const char *)record + column->offset;
    if (column->kind == NT_COLUMN_REAL) {
        nt_bind_real(stmt, index, *(const double *)(const void *)member);
    } else if (column->kind == NT_COLUMN_INT) {
        int64_t value = *(const int64_t *)(const void *)member;
        if (value == NT_UNKNOWN)
            sqlite3_bind_null(stmt, index);
        else
            sqlite3_bind_int64(stmt, index, value);
    } else if (column->kind == NT_COLUMN_BOOL) {
        sqlite3_bind_int(stmt, index, *(const bool *)(const void *)member);
    } else if (column->kind == NT_COLUMN_COUNT) {
        sqlite3_bind_int64(stmt, index, (int64_t) * (const size_t *)(const void *)member);
    } else if (member[0] != '\0') {
        nt_bind_text(stmt, index, member);
    } else {
        sqlite3_bind_null(stmt, index);
    }
}

int nt_columns_bind(sqlite3_stmt *stmt, int first, const nt_column *columns, int count, const void *record)
{
    for (int i = 0; i < count; i++)
        bind_column(stmt, first + i, &columns[i], record);
    return first + count;
}

static void read_column(sqlite3_stmt *stmt, int index, const nt_column *column, void *record)
{
    char *member = (char *)record + column->offset;
    bool null = sqlite3_column_type(stmt, index) == SQLITE_NULL;
    if (column->kind == NT_COLUMN_REAL)
        *(double *)(void *)member = nt_read_real(stmt, index);
    else if (column->kind == NT_COLUMN_INT)
        *(int64_t *)(void *)member = null ? NT_UNKNOWN : sqlite3_column_int64(stmt, index);
    else if (column->kind == NT_COLUMN_BOOL)
        *(bool *)(void *)member = sqlite3_column_int(stmt, index) != 0;
    else if (column->kind == NT_COLUMN_TEXT)
        nt_copy(member, column->size, nt_read_text(stmt, index));
}

void nt_columns_read(sqlite3_stmt *stmt, int first, const nt_column *columns, int count, void *record)
{
    for (int i = 0; i < count; i++)
        read_column(stmt, first + i, &columns[i], record);
}

void *nt_samples_bytes(const nt_samples *samples, size_t *bytes)
{
    uint64_t *out = nt_alloc_zero(samples->count, sizeof *out);
    *bytes = samples->count * sizeof *out;
    for (size_t i = 0; i < samples->count; i++) {
        uint64_t bits;
        memcpy(&bits, &samples->sample_ns[i], sizeof bits);
        out[i] = htole64(bits);
    }
    return out;
}

void nt_samples_from_bytes(nt_samples *samples, const void *data, size_t bytes)
{
    samples->count = bytes / sizeof(double);
    samples->sample_ns = nt_alloc_zero(samples->count, sizeof(double));
    for (size_t i = 0; i < samples->count; i++) {
        uint64_t bits;
        memcpy(&bits, (const char *)data + i * sizeof bits, sizeof bits);
        bits = le64toh(bits);
        memcpy(&samples->sample_ns[i], &bits, sizeof bits);
    }
}
