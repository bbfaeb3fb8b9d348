#include "cli/vs_vendor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/output.h"
#include "cli/present.h"
#include "cli/row.h"
#include "cli/table.h"
#include "core/json.h"
#include "core/units.h"

/* One row a device, problem and cache mode. The best of a run is the first of its final rounds, else the fastest. */
static const char pairs_sql[] =
    "WITH placed AS (SELECT *, row_number() OVER (PARTITION BY run, layer, shape, batch, precision, layout, fill, "
    "cache, "
    "vendor ORDER BY rank IS NULL, rank, time_ns) AS place FROM trials WHERE outcome = 'ok' AND run IN "
    "(SELECT run FROM trials WHERE vendor = 1 AND outcome = 'ok')), "
    "paired AS (SELECT o.run, o.device, o.device_uuid, o.device_kind, o.layer, o.shape, o.batch, o.precision, "
    "o.layout, "
    "o.fill, o.cache, o.floor_ns, o.trial, o.kernel, o.time_ns, "
    "o.time_lo_ns, o.time_hi_ns, v.trial AS vendor_trial, v.kernel AS vendor_kernel, v.time_ns AS vendor_time_ns, "
    "v.time_lo_ns AS vendor_time_lo_ns, v.time_hi_ns AS vendor_time_hi_ns, row_number() OVER (PARTITION BY "
    "o.device_uuid, o.layer, o.shape, o.batch, o.precision, "
    "o.layout, o.fill, o.cache ORDER BY o.run DESC) AS age FROM placed o JOIN placed v USING (run, layer, shape, "
    "batch, "
    "precision, layout, fill, cache) WHERE o.vendor = 0 AND v.vendor = 1 AND o.place = 1 AND v.place = 1) "
    "SELECT run, device, device_uuid, device_kind, layer, shape, batch, precision, layout, fill, cache, floor_ns, "
    "trial, "
    "kernel, time_ns, time_lo_ns, time_hi_ns, vendor_trial, vendor_kernel, vendor_time_ns, vendor_time_lo_ns, "
    "vendor_time_hi_ns FROM paired WHERE age = 1 "
    "ORDER BY device_uuid, layer, cache, batch, shape, precision, layout";

typedef struct comparison {
    const char *layer, *device;
    nt_table *table;
    json_t *rows; /* NULL for people */
    /* by cache mode */
    double log_sum[2];
    double log_variance[2]; /* of the sum, with half an interval of 95 % as two standard errors */
    int count[2];
} comparison;

static bool is_wanted(const comparison *c, const nt_row *row)
{
    static const char *const names[] = {"device", "device_uuid", "device_kind"};
    bool found = c->device == NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !found; i++)
        found = strcasecmp(nt_row_text(row, names[i]), c->device) == 0;
    return found && (c->layer == NULL || strcmp(nt_row_text(row, "layer"), c->layer) == 0);
}

double nt_vendor_ratio(double ours_ns, double vendor_ns, double floor_ns)
{
    double least = fmin(ours_ns, vendor_ns);
    bool near_floor = floor_ns > 0 && least < 3 * floor_ns && least > floor_ns;
    return near_floor ? (vendor_ns - floor_ns) / (ours_ns - floor_ns) : vendor_ns / ours_ns;
}

/* Variance of the logarithm of a median with this 95 % interval. */
static double variance_of(const nt_row *row, const char *lo, const char *hi)
{
    double half = log(nt_row_real(row, hi) / nt_row_real(row, lo)) / 2 / 1.96;
    return half * half;
}

static bool take(void *context, const nt_row *row)
{
    comparison *c = context;
    nt_problem problem;
    if (!is_wanted(c, row) || nt_row_problem(row, &problem, NULL) != NT_OK)
        return true;
    int cache = nt_cache_mode_find(nt_row_text(row, "cache"));
    double ratio =
        nt_vendor_ratio(nt_row_real(row, "time_ns"), nt_row_real(row, "vendor_time_ns"), nt_row_real(row, "floor_ns"));
    c->log_sum[cache == NT_HOT] += log(ratio);
    c->log_variance[cache == NT_HOT] +=
        variance_of(row, "time_lo_ns", "time_hi_ns") + variance_of(row, "vendor_time_lo_ns", "vendor_time_hi_ns");
    c->count[cache == NT_HOT]++;
    if (c->rows != NULL) {
        json_t *json = nt_json_row(row);
        json_object_set_new(json, "ratio", nt_json_real(ratio));
        json_array_append_new(c->rows, json);
        return true;
    }
    nt_str text = {0};
    nt_present_problem(&text, &problem, (nt_cache_mode)cache);
    nt_table_cell(c->table, "%s", nt_str_text(&text));
    nt_table_cell(c->table, "%lld", (long long)nt_row_int(row, "run"));
    nt_table_cell(c->table, "%s", nt_text_time_ns(nt_row_real(row, "time_ns")).s);
    nt_table_cell(c->table, "%s", nt_row_text(row, "kernel"));
    nt_table_cell(c->table, "%s", nt_text_time_ns(nt_row_real(row, "vendor_time_ns")).s);
    nt_table_cell(c->table, "%s", nt_row_text(row, "vendor_kernel"));
    nt_table_cell(c->table, "%.3f", ratio);
    nt_str_done(&text);
    return true;
}

static double mean_of(const comparison *c, nt_cache_mode cache)
{
    int i = cache == NT_HOT;
    return c->count[i] > 0 ? exp(c->log_sum[i] / c->count[i]) : (double)NAN;
}

/* Factor of the 95 % interval around the geometric mean. */
static double spread_of(const comparison *c, nt_cache_mode cache)
{
    int i = cache == NT_HOT;
    return c->count[i] > 0 ? exp(1.96 * sqrt(c->log_variance[i]) / c->count[i]) : (double)NAN;
}

static void print_mean(const comparison *c, nt_cache_mode cache)
{
    double mean = mean_of(c, cache), spread = spread_of(c, cache);
    printf("%s: the vendor takes %.3f [%.3f, %.3f] times our time in the geometric mean of %d\n",
           nt_cache_mode_name(cache), mean, mean / spread, mean * spread, c->count[cache == NT_HOT]);
}

static void print(const comparison *c, const char *path, bool bold)
{
    if (c->rows != NULL) {
        json_t *document = nt_output_document("vs_vendor");
        json_object_set_new(document, "database", json_string(path));
        json_object_set(document, "problems", c->rows);
        json_object_set_new(document, "geometric_mean_cold", nt_json_real(mean_of(c, NT_COLD)));
        json_object_set_new(document, "geometric_mean_hot", nt_json_real(mean_of(c, NT_HOT)));
        json_object_set_new(document, "spread_cold", nt_json_real(spread_of(c, NT_COLD)));
        json_object_set_new(document, "spread_hot", nt_json_real(spread_of(c, NT_HOT)));
        nt_output_json(document);
        return;
    }
    nt_table_print(c->table, stdout, bold);
    for (int cache = NT_COLD; cache <= NT_HOT; cache++)
        if (c->count[cache == NT_HOT] > 0)
            print_mean(c, (nt_cache_mode)cache);
}

static nt_status nothing(const char *path, const char *layer, nt_error *err)
{
    nt_fail(err, NT_NOT_FOUND, "%s has no run that measured a vendor's kernel beside ours%s%s", path,
            layer != NULL ? " for " : "", layer != NULL ? layer : "");
    return nt_hint(err, "'nntune sweep %s --vendor also' makes one", layer != NULL ? layer : "conv3x3");
}

static bool ignore(void *context, const nt_row *row)
{
    (void)context;
    (void)row;
    return true;
}

nt_status nt_vs_vendor_print(nt_reader *reader, const char *path, const char *layer, const char *device, bool json,
                             bool bold, nt_error *err)
{
    nt_error older;
    comparison c = {.layer = layer,
                    .device = device,
                    .table = nt_table_new("problem|>run|>ours|kernel|>vendor's|kernel|>ratio"),
                    .rows = json ? json_array() : NULL};
    nt_status status = NT_OK;
    /* A file written before vendors were told apart has none. */
    if (reader->query(reader, "SELECT vendor FROM trials LIMIT 1", ignore, NULL, &older) == NT_OK)
        status = reader->query(reader, pairs_sql, take, &c, err);
    if (status == NT_OK && c.count[0] + c.count[1] == 0)
        status = nothing(path, layer, err);
    if (status == NT_OK)
        print(&c, path, bold);
    nt_table_free(c.table);
    json_decref(c.rows);
    return status;
}
