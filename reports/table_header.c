/* table_header.c: a table as a C header: static const data and one search function, nothing to link and no include
 * beyond <stddef.h>. For programs that carry their own kernels and want the configuration alone. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "reports/table.h"

/* A C string literal; params are JSON and full of quotes. */
static void add_literal(nt_str *out, const char *text)
{
    nt_str_add(out, "\"");
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            nt_str_addf(out, "\\%c", *c);
        else if (*c < 0x20 || *c >= 0x7f || *c == '?')
            nt_str_addf(out, "\\%03o", *c);
        else
            nt_str_add_n(out, (const char *)c, 1);
    }
    nt_str_add(out, "\"");
}

/* ---- configurations: each stands once ---- */

typedef struct configs {
    const nt_deploy *table;
    size_t *of;    /* entry -> configuration */
    size_t *entry; /* configuration -> an entry that has it */
    size_t count;
    size_t *slot; /* open addressing by hash of kernel and params */
    size_t mask;
} configs;

static uint64_t hash_of(const nt_deploy_entry *e)
{
    uint64_t h = 1469598103934665603u;
    for (const char *c = e->kernel; *c != '\0'; c++)
        h = (h ^ (unsigned char)*c) * 1099511628211u;
    for (const char *c = e->params_json; *c != '\0'; c++)
        h = (h ^ (unsigned char)*c) * 1099511628211u;
    return h ^ (h >> 32);
}

static void find_configs(configs *c, size_t *memory, size_t slots)
{
    size_t n = c->table->entry_count;
    c->of = memory;
    c->entry = memory + n;
    c->slot = memory + 2 * n;
    c->mask = slots - 1;
    for (size_t i = 0; i < n; i++) {
        const nt_deploy_entry *e = &c->table->entry[i];
        size_t at = hash_of(e) & c->mask;
        while (c->slot[at] != 0 && !nt_deploy_same_config(e, &c->table->entry[c->entry[c->slot[at] - 1]]))
            at = (at + 1) & c->mask;
        if (c->slot[at] == 0) {
            c->entry[c->count++] = i;
            c->slot[at] = c->count;
        }
        c->of[i] = c->slot[at] - 1;
    }
}

/* ---- text ---- */

static void add_types(nt_str *out, const char *n)
{
    nt_str_addf(
        out,
        "struct %s_device { const char *name, *arch; int sm_count; };\n"
        "struct %s_config { const char *kernel, *params; };\n"
        "/* One configuration for batches [batch_lo, batch_hi] of one shape; time_ns was measured at `batch`,\n"
        " * the lowest of them that was. Extents are in the layer's order, 0 behind the last. */\n"
        "struct %s_entry {\n"
        "    unsigned short device, layer, config;\n"
        "    unsigned char precision, layout; /* fp32 tf32 fp16 bf16 int8 fp8, fp16 bf16 int8 sparse; nhwc nchw */\n"
        "    int size[%s_DIMS];\n"
        "    int batch_lo, batch_hi, batch;\n"
        "    float time_ns, error_prec; /* error_prec below 0: unknown */\n"
        "};\n",
        n, n, n, n);
}

static void add_devices(nt_str *out, const nt_deploy *t, const char *n)
{
    nt_str_addf(out, "static const struct %s_device %s_devices[] = {\n", n, n);
    for (size_t i = 0; i < t->device_count; i++) {
        nt_str_add(out, "    {");
        add_literal(out, t->device[i].name);
        nt_str_add(out, ", ");
        add_literal(out, t->device[i].arch);
        nt_str_addf(out, ", %lld},\n", (long long)(t->device[i].sm_count < 0 ? 0 : t->device[i].sm_count));
    }
    nt_str_add(out, "};\n");
}

static void add_configs(nt_str *out, const configs *c, const char *n)
{
    nt_str_addf(out, "static const struct %s_config %s_configs[] = {\n", n, n);
    for (size_t i = 0; i < c->count; i++) {
        const nt_deploy_entry *e = &c->table->entry[c->entry[i]];
        nt_str_add(out, "    {");
        add_literal(out, e->kernel);
        nt_str_add(out, ", ");
        add_literal(out, e->params_json);
        nt_str_add(out, "},\n");
    }
    nt_str_add(out, "};\n");
}

/* Layers in the order of their first entry; returns the number of e's. */
static int layer_of(const nt_deploy *t, size_t entry, char names[][NT_NAME_BYTES], int *count, int capacity)
{
    for (int i = 0; i < *count; i++)
        if (strcmp(names[i], t->entry[entry].problem.layer) == 0)
            return i;
    if (*count == capacity)
        return -1;
    nt_copy(names[*count], NT_NAME_BYTES, t->entry[entry].problem.layer);
    return (*count)++;
}

static void add_row(nt_str *out, const nt_deploy_entry *e, size_t config, int layer, int dims, int64_t lo, int64_t hi)
{
    nt_str_addf(out, "{%d,%d,%zu,%d,%d,{", e->device, layer, config, (int)e->problem.precision, (int)e->problem.layout);
    for (int d = 0; d < dims; d++)
        nt_str_addf(out, "%s%lld", d > 0 ? "," : "",
                    d < e->problem.shape.count ? (long long)e->problem.shape.dim[d].size : 0LL);
    nt_str_addf(out, "},%lld,%lld,%lld,%.7ef,%.3ef},\n", (long long)lo,
                hi > INT32_MAX ? (long long)INT32_MAX : (long long)hi, (long long)e->problem.batch, e->time_ns,
                isnan(e->error_prec) ? -1.0 : e->error_prec);
}

static const char find_text[] =
    "/* The entry of this problem on this device (an index into the devices), or NULL. */\n"
    "static inline const struct @_entry *@_find(int device, int layer, int precision, int layout, const int *size,\n"
    "                                           int batch)\n"
    "{\n"
    "    size_t low = 0, high = sizeof @_entries / sizeof @_entries[0];\n"
    "    while (low < high) {\n"
    "        const size_t middle = low + (high - low) / 2;\n"
    "        const struct @_entry *e = &@_entries[middle];\n"
    "        int order = e->device - device, d;\n"
    "        order = order ? order : e->layer - layer;\n"
    "        order = order ? order : e->precision - precision;\n"
    "        order = order ? order : e->layout - layout;\n"
    "        for (d = 0; d < @_DIMS && !order; d++)\n"
    "            order = (e->size[d] > size[d]) - (e->size[d] < size[d]);\n"
    "        order = order ? order : (e->batch_lo > batch) - (e->batch_hi < batch);\n"
    "        if (order == 0)\n"
    "            return e;\n"
    "        if (order < 0)\n"
    "            low = middle + 1;\n"
    "        else\n"
    "            high = middle;\n"
    "    }\n"
    "    return NULL;\n"
    "}\n";

static void add_find(nt_str *out, const char *name)
{
    for (const char *c = find_text; *c != '\0'; c++) {
        if (*c == '@')
            nt_str_add(out, name);
        else
            nt_str_add_n(out, c, 1);
    }
}

static bool is_identifier(const char *name)
{
    bool ok = isalpha((unsigned char)name[0]) || name[0] == '_';
    for (const char *c = name; *c != '\0'; c++)
        ok = ok && (isalnum((unsigned char)*c) || *c == '_');
    return ok && strlen(name) < 64;
}

static nt_status check_sizes(const nt_deploy *t, nt_error *err)
{
    for (size_t i = 0; i < t->entry_count; i++) {
        const nt_problem *p = &t->entry[i].problem;
        bool fits = p->batch <= INT32_MAX;
        for (int d = 0; d < p->shape.count; d++)
            fits = fits && p->shape.dim[d].size <= INT32_MAX;
        if (!fits)
            return nt_fail(err, NT_USAGE, "an extent of %s is beyond the int of a C header; write JSON or a bundle",
                           p->layer);
    }
    return NT_OK;
}

enum { MOST_LAYERS = 64, MOST_CONFIGS = 65535 };

static nt_status write_entries(const nt_deploy *t, const configs *c, const char *n, nt_str *out, nt_error *err)
{
    char layers[MOST_LAYERS][NT_NAME_BYTES];
    int layer_count = 0, dims = 1;
    for (size_t i = 0; i < t->entry_count; i++) {
        dims = t->entry[i].problem.shape.count > dims ? t->entry[i].problem.shape.count : dims;
        if (layer_of(t, i, layers, &layer_count, MOST_LAYERS) < 0 || c->count > MOST_CONFIGS)
            return nt_fail(err, NT_USAGE, "a C header holds at most %d layers and %d configurations; write a bundle",
                           MOST_LAYERS, MOST_CONFIGS);
    }
    nt_str_addf(out, "enum { %s_DIMS = %d };\n", n, dims);
    add_types(out, n);
    add_devices(out, t, n);
    nt_str_addf(out, "static const char *const %s_layers[] = {", n);
    for (int i = 0; i < layer_count; i++) {
        add_literal(out, layers[i]);
        nt_str_add(out, ", ");
    }
    nt_str_add(out, "};\n");
    add_configs(out, c, n);
    nt_str_addf(out, "static const struct %s_entry %s_entries[] = {\n", n, n);
    for (size_t i = 0; i < t->entry_count;) {
        int64_t lo, hi;
        size_t next = nt_deploy_range(t, i, &lo, &hi);
        add_row(out, &t->entry[i], c->of[i], layer_of(t, i, layers, &layer_count, MOST_LAYERS), dims, lo, hi);
        i = next;
    }
    nt_str_add(out, "};\n");
    add_find(out, n);
    return NT_OK;
}

nt_status nt_deploy_header(const nt_deploy *t, const char *name, nt_str *out, nt_error *err)
{
    if (!is_identifier(name))
        return nt_fail(err, NT_USAGE, "'%s' cannot begin C identifiers; letters, digits and '_' can, at most 63", name);
    if (t->entry_count == 0)
        return nt_fail(err, NT_USAGE, "a table without entries has no C header");
    nt_status status = check_sizes(t, err);
    if (status != NT_OK)
        return status;
    size_t slots = 4;
    while (slots < 2 * t->entry_count)
        slots *= 2;
    configs c = {.table = t};
    size_t *memory = nt_alloc_zero(2 * t->entry_count + slots, sizeof *memory);
    find_configs(&c, memory, slots);
    nt_str_addf(out,
                "/* Written by nntune " NT_VERSION ": the fastest measured configuration of each problem. */\n"
                "#ifndef %s_TABLE_H\n#define %s_TABLE_H\n#include <stddef.h>\n",
                name, name);
    status = write_entries(t, &c, name, out, err);
    nt_str_add(out, "#endif\n");
    free(memory);
    return status;
}
