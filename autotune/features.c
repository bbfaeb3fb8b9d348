/* features.c: the union of the kernels' parameters, and the levels of a candidate. */
#include "autotune/features.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

/* From one kernel's parameter to a feature. */
typedef struct nt_feature_map {
    int param;       /* -1: the kernel has none of that name */
    uint16_t absent; /* level then */
    uint16_t *level; /* [values listed] */
} nt_feature_map;

static bool is_text(const nt_param *param)
{
    return param->strings != NULL;
}

typedef enum aspect { AS_VALUE, AS_ALIGNMENT } aspect;

/* How often 2 divides a whole number; 0 is as round as can be. */
static double alignment_of(int64_t whole)
{
    return whole == 0 ? 63 : __builtin_ctzll((uint64_t)whole);
}

static double number_of(nt_value value, aspect view)
{
    if (value.kind == NT_VALUE_REAL)
        return value.r;
    return view == AS_ALIGNMENT ? alignment_of(value.i) : (double)value.i;
}

static int by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The parameter of a kernel that a feature stands for: of that name and kind. */
static int param_of(const nt_kernel *kernel, const char *name, bool text)
{
    int at = nt_param_find(kernel->params, kernel->param_count, name);
    return at >= 0 && is_text(&kernel->params[at]) == text ? at : -1;
}

/* ---- levels ----------------------------------------------------------------------------------------------------- */

typedef struct gathered {
    double *number;
    const char **text;
    int count;
} gathered;

static void gather(const nt_strategy_setup *setup, const char *name, bool text, aspect view, gathered *out)
{
    size_t capacity = 0;
    for (int k = 0; k < setup->kernel_count; k++) {
        const nt_kernel *kernel = nt_space_kernel(setup->space[k]);
        int at = param_of(kernel, name, text);
        capacity += at < 0 ? 0 : (size_t)kernel->params[at].count;
    }
    out->number = nt_alloc_zero(capacity, sizeof *out->number);
    out->text = nt_alloc_zero(capacity, sizeof *out->text);
    for (int k = 0; k < setup->kernel_count; k++) {
        const nt_kernel *kernel = nt_space_kernel(setup->space[k]);
        int at = param_of(kernel, name, text);
        for (int v = 0; at >= 0 && v < kernel->params[at].count; v++, out->count++) {
            nt_value value = nt_param_value(&kernel->params[at], v);
            if (text)
                out->text[out->count] = value.s;
            else
                out->number[out->count] = number_of(value, view);
        }
    }
}

static void sort_unique(gathered *g, bool text)
{
    int count = 0;
    if (text)
        qsort(g->text, (size_t)g->count, sizeof *g->text, by_text);
    else
        qsort(g->number, (size_t)g->count, sizeof *g->number, by_number);
    for (int i = 0; i < g->count; i++) {
        bool repeats =
            count > 0 && (text ? strcmp(g->text[i], g->text[count - 1]) == 0 : g->number[i] == g->number[count - 1]);
        if (repeats)
            continue;
        g->text[count] = g->text[i];
        g->number[count++] = g->number[i];
    }
    g->count = count;
}

static uint16_t level_of(const gathered *g, bool text, aspect view, nt_value value)
{
    if (text) {
        const char **found = bsearch(&value.s, g->text, (size_t)g->count, sizeof *g->text, by_text);
        return (uint16_t)(found - g->text);
    }
    double number = number_of(value, view),
           *found = bsearch(&number, g->number, (size_t)g->count, sizeof number, by_number);
    return (uint16_t)(found - g->number);
}

static void set_positions(nt_feature *feature, int levels, int absent)
{
    feature->levels = levels;
    feature->position = nt_alloc_zero((size_t)levels, sizeof *feature->position);
    int last = (absent >= 0 ? absent : levels) - 1;
    for (int i = 0; i < levels; i++)
        feature->position[i] = i == absent || last == 0 ? 0.5f : (float)i / (float)last;
}

/* ---- features --------------------------------------------------------------------------------------------------- */

static nt_feature_map *map_at(const nt_features *features, int kernel, int feature)
{
    return &features->map[kernel * NT_MAX_FEATURES + feature];
}

static void add_param(nt_features *features, const nt_strategy_setup *setup, const nt_param *param, aspect view)
{
    bool text = is_text(param), somewhere_absent = false;
    gathered g = {0};
    gather(setup, param->name, text, view, &g);
    sort_unique(&g, text);
    int at = features->count++;
    for (int k = 0; k < setup->kernel_count; k++) {
        const nt_kernel *kernel = nt_space_kernel(setup->space[k]);
        nt_feature_map *map = map_at(features, k, at);
        map->param = param_of(kernel, param->name, text);
        map->absent = (uint16_t)g.count;
        somewhere_absent = somewhere_absent || map->param < 0;
        int values = map->param < 0 ? 0 : kernel->params[map->param].count;
        map->level = nt_alloc_zero((size_t)values, sizeof *map->level);
        for (int v = 0; v < values; v++)
            map->level[v] = level_of(&g, text, view, nt_param_value(&kernel->params[map->param], v));
    }
    features->feature[at].ordered = !text;
    set_positions(&features->feature[at], g.count + somewhere_absent, somewhere_absent ? g.count : -1);
    features->feature[at].derived = view == AS_ALIGNMENT;
    free(g.number);
    free(g.text);
}

/* Whether an earlier kernel has made the feature already. */
static bool made_before(const nt_strategy_setup *setup, int kernel, const nt_param *param, int least_values)
{
    for (int k = 0; k < kernel; k++) {
        const nt_kernel *earlier = nt_space_kernel(setup->space[k]);
        int at = param_of(earlier, param->name, is_text(param));
        if (at >= 0 && earlier->params[at].count >= least_values)
            return true;
    }
    return false;
}

static void add_kernels(nt_features *features)
{
    int at = features->count++;
    for (int k = 0; k < features->kernel_count; k++)
        *map_at(features, k, at) = (nt_feature_map){.param = -1, .absent = (uint16_t)k};
    set_positions(&features->feature[at], features->kernel_count, -1);
}

/* The features of one kernel's parameters that no kernel before it has made. */
static void add_params(nt_features *features, const nt_strategy_setup *setup, int at, aspect view, int least_values)
{
    const nt_kernel *kernel = nt_space_kernel(setup->space[at]);
    for (int p = 0; p < kernel->param_count && features->count < NT_MAX_FEATURES; p++) {
        const nt_param *param = &kernel->params[p];
        bool whole = param->ints != NULL && !param->is_bool;
        if (param->count >= least_values && (view == AS_VALUE || whole) && !made_before(setup, at, param, least_values))
            add_param(features, setup, param, view);
    }
}

void nt_features_init(nt_features *features, const nt_strategy_setup *setup, int aligned_levels)
{
    size_t kernels = (size_t)setup->kernel_count;
    *features = (nt_features){.kernel_count = setup->kernel_count};
    features->map = nt_alloc_zero(kernels * NT_MAX_FEATURES, sizeof *features->map);
    features->space = nt_alloc_zero(kernels, sizeof *features->space);
    for (int k = 0; k < setup->kernel_count; k++)
        features->space[k] = setup->space[k];
    if (setup->kernel_count > 1)
        add_kernels(features);
    for (int k = 0; k < setup->kernel_count; k++)
        add_params(features, setup, k, AS_VALUE, 2);
    for (int k = 0; k < setup->kernel_count && aligned_levels > 0; k++)
        add_params(features, setup, k, AS_ALIGNMENT, aligned_levels);
}

void nt_features_add(nt_features *features, int levels, double shorter, nt_feature_level *given, void *context)
{
    if (features->count == NT_MAX_FEATURES)
        return;
    nt_feature *added = &features->feature[features->count++];
    set_positions(added, levels, -1);
    added->ordered = added->derived = true;
    added->shorter = shorter;
    added->level_of = given;
    added->context = context;
}

void nt_features_done(nt_features *features)
{
    for (int f = 0; f < features->count; f++) {
        free(features->feature[f].position);
        for (int k = 0; k < features->kernel_count; k++)
            free(map_at(features, k, f)->level);
    }
    free(features->map);
    free(features->space);
    *features = (nt_features){0};
}

void nt_features_of(const nt_features *features, nt_candidate candidate, uint16_t *level)
{
    nt_config config;
    nt_space_config(features->space[candidate.kernel], candidate.index, &config);
    for (int f = 0; f < features->count; f++) {
        const nt_feature *feature = &features->feature[f];
        const nt_feature_map *map = map_at(features, candidate.kernel, f);
        if (feature->level_of != NULL)
            level[f] = feature->level_of(feature->context, candidate);
        else
            level[f] = map->param < 0 ? map->absent : map->level[config.index[map->param]];
    }
}

double nt_feature_distance2(const nt_feature *feature, int a, int b)
{
    if (!feature->ordered)
        return a != b;
    double difference = (double)feature->position[a] - (double)feature->position[b];
    return difference * difference;
}
