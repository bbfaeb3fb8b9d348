/* filter.c: see filter.h. */
#include "tui/filter.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Columns that can be filtered and sorted by, with the short forms people type. A time is the trial's own measurement,
 * which has an index. */
static const struct {
    const char *word, *column;
} columns[] = {
    {"time", "first_time_ns"},
    {"occ", "occupancy_limit_pct"},
    {"achieved", "occupancy_pct"},
    {"smem", "smem_bytes"},
    {"spill", "spill_bytes"},
    {"regs", "registers"},
    {"limiter", "occupancy_limiter"},
    {"threads", "threads_per_block"},
    {"clock", "sm_clock_mhz"},
    {"id", "trial"},
    {"trial", "trial"},
    {"outcome", "outcome"},
    {"batch", "batch"},
    {"shape", "shape"},
    {"precision", "precision"},
    {"layout", "layout"},
    {"cache", "cache"},
    {"kernel", "kernel"},
    {"reason", "reason"},
    {"rank", "rank"},
    {"time_ns", "first_time_ns"},
    {"first_time_ns", "first_time_ns"},
    {"occupancy_limit_pct", "occupancy_limit_pct"},
    {"occupancy_pct", "occupancy_pct"},
    {"occupancy_limiter", "occupancy_limiter"},
    {"registers", "registers"},
    {"smem_bytes", "smem_bytes"},
    {"spill_bytes", "spill_bytes"},
    {"threads_per_block", "threads_per_block"},
    {"sm_clock_mhz", "sm_clock_mhz"},
    {"dram_read_bytes", "dram_read_bytes"},
    {"dram_write_bytes", "dram_write_bytes"},
    {"error_prec", "error_prec"},
    {"error_impl", "error_impl"},
    {"compile_ms", "compile_ms"},
};
enum { COLUMN_COUNT = sizeof columns / sizeof columns[0], NAMES = 128 };

static const struct {
    const char *sign;
    nt_window_op op;
} operators[] = {{">=", NT_WINDOW_GE}, {"<=", NT_WINDOW_LE}, {"!=", NT_WINDOW_NE}, {"==", NT_WINDOW_EQ},
                 {"=", NT_WINDOW_EQ},  {">", NT_WINDOW_GT},  {"<", NT_WINDOW_LT}};

const char *nt_filter_short(const char *column)
{
    for (int i = 0; i < COLUMN_COUNT; i++)
        if (strcmp(columns[i].column, column) == 0)
            return columns[i].word;
    return column;
}

static nt_status unknown_name(const char *word, const char *const *params, int param_count, nt_error *err)
{
    const char *names[NAMES];
    int count = 0;
    for (int i = 0; i < param_count && count < NAMES; i++)
        names[count++] = params[i];
    for (int i = 0; i < COLUMN_COUNT && count < NAMES; i++)
        names[count++] = columns[i].word;
    int nearest = nt_nearest(word, names, count);
    nt_fail(err, NT_USAGE, "no parameter or column '%s'", word);
    if (nearest >= 0)
        return nt_hint(err, "did you mean '%s'?", names[nearest]);
    return nt_hint(err, "for example time, occ, outcome, batch, registers, or a parameter");
}

nt_status nt_filter_name(const char *word, const char *const *params, int param_count, nt_window_key *out,
                         nt_error *err)
{
    const char *found = NULL;
    bool param = false;
    for (int i = 0; i < param_count && found == NULL; i++)
        if (strcmp(params[i], word) == 0) {
            found = params[i];
            param = true;
        }
    for (int i = 0; i < COLUMN_COUNT && found == NULL; i++)
        if (strcmp(columns[i].word, word) == 0)
            found = columns[i].column;
    if (found == NULL)
        return unknown_name(word, params, param_count, err);
    memset(out, 0, sizeof *out); /* keys are compared as bytes */
    out->param = param;
    nt_copy(out->name, sizeof out->name, found);
    return NT_OK;
}

/* A number, with a unit where it is a time: 20us, 1.5ms. */
static bool read_number(const char *text, double *out)
{
    static const struct {
        const char *unit;
        double factor;
    } units[] = {{"", 1}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"%", 1}, {"k", 1024}, {"KiB", 1024}};
    char *end;
    double value = strtod(text, &end);
    if (end == text || !isfinite(value))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(end, units[i].unit) == 0) {
            *out = value * units[i].factor;
            return true;
        }
    return false;
}

static nt_status read_term(char *word, const char *const *params, int param_count, nt_window_term *out, nt_error *err)
{
    char *sign = word + strcspn(word, "=<>!");
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        size_t length = strlen(operators[i].sign);
        if (strncmp(sign, operators[i].sign, length) != 0)
            continue;
        memset(out, 0, sizeof *out); /* windows are compared as bytes */
        out->op = operators[i].op;
        *sign = '\0';
        nt_status status = nt_filter_name(word, params, param_count, &out->key, err);
        const char *value = sign + length;
        out->is_text = !read_number(value, &out->number);
        if (status == NT_OK && *value == '\0') {
            nt_fail(err, NT_USAGE, "'%s%s' has no value behind it", word, operators[i].sign);
            return nt_hint(err, "for example %s%s64", word, operators[i].sign);
        }
        nt_copy(out->text, sizeof out->text, value);
        return status;
    }
    nt_fail(err, NT_USAGE, "'%s' is no condition", word);
    return nt_hint(err, "a condition is a name, one of = != < > <= >=, and a value: tile_m=64");
}

nt_status nt_filter_parse(const char *text, const char *const *params, int param_count, nt_window *out, nt_error *err)
{
    nt_window_term term[NT_WINDOW_TERMS];
    int count = 0;
    char copy[512], *rest = NULL;
    if (!nt_copy(copy, sizeof copy, text))
        return nt_fail(err, NT_USAGE, "the filter is longer than %d characters", (int)sizeof copy - 1);
    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        if (count == NT_WINDOW_TERMS)
            return nt_fail(err, NT_USAGE, "more than %d conditions", NT_WINDOW_TERMS);
        nt_status status = read_term(word, params, param_count, &term[count], err);
        if (status != NT_OK)
            return status;
        count++;
    }
    memcpy(out->term, term, sizeof term[0] * (size_t)count);
    out->terms = count;
    return NT_OK;
}
