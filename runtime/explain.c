/* explain.c: how a lookup came to its answer, in one sentence. */
#include <stdarg.h>
#include <stdio.h>

#include "runtime/table.h"

typedef struct text {
    char *at;
    size_t left;
} text;

static void add(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(text *t, const char *format, ...)
{
    va_list args;
    if (t->left == 0)
        return;
    va_start(args, format);
    int length = vsnprintf(t->at, t->left, format, args);
    va_end(args);
    size_t used = length < 0 ? 0 : (size_t)length < t->left ? (size_t)length : t->left - 1;
    t->at += used;
    t->left -= used;
}

static void add_sizes(text *t, const int64_t *size, int count)
{
    for (int i = 0; i < count; i++)
        add(t, "%s%lld", i > 0 ? "," : "", (long long)size[i]);
}

static void add_devices(text *t, const nntune_table *table)
{
    int named = 0;
    for (int i = 0; i < table->file_count; i++)
        for (uint64_t d = 0; d < nntune_file_count(&table->file[i], NNTUNE_PART_DEVICE); d++) {
            const nntune_file_device *device = &table->file[i].device[d];
            add(t, "%s%s (%s, %lld)", named++ > 0 ? ", " : "", table->file[i].text + device->name,
                table->file[i].text + device->arch, (long long)device->sm_count);
        }
}

static void explain_match(text *t, const nntune_query *q, const nntune_result *r)
{
    static const char *const tiers[] = {"this device", "this device's architecture, measured on",
                                        "the table's default device,"};
    add(t, "%s", tiers[r->tier]);
    if (r->tier != NNTUNE_TIER_DEVICE)
        add(t, " %s", r->device);
    if (r->match == NNTUNE_MATCH_EXACT)
        add(t, ": measured at this shape and batch");
    else if (r->match == NNTUNE_MATCH_BATCH)
        add(t, ": this shape; batch %lld lies in the range of the entry for batch %lld", (long long)q->batch,
            (long long)r->batch);
    else {
        add(t, ": no entry for this shape; by the cost model the entry for sizes ");
        add_sizes(t, r->size, r->size_count);
        add(t, " batch %lld is fastest among its neighbours", (long long)r->batch);
    }
}

void nntune_explain(const nntune_table *table, const nntune_query *query, nntune_status status,
                    const nntune_result *result, char *out, size_t capacity)
{
    text t = {out, capacity};
    if (capacity > 0)
        out[0] = '\0';
    switch (status) {
    case NNTUNE_OK:
        explain_match(&t, query, result);
        break;
    case NNTUNE_STALE:
        add(&t,
            "refused as stale: it was measured with driver '%s', this device has '%s'; build the table again, check it "
            "('nntune table check'), or open it with NNTUNE_ACCEPT_STALE",
            result->driver, table->here.driver);
        break;
    case NNTUNE_FOREIGN:
        add(&t, "the table is for ");
        add_devices(&t, table);
        add(&t, "; this device is %s (%s, %lld)", table->here.name, table->here.arch, (long long)table->here.sm_count);
        break;
    case NNTUNE_INVALID:
        add(&t, "the query makes no sense: every size and the batch are at least 1, and their product fits 63 bits");
        break;
    default:
        add(&t, "no entry for layer '%s' with %d sizes in this precision and layout", query->layer, query->size_count);
    }
}
