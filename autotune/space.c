/* space.c: a space once it is found: sorted numbers, one for each legal configuration, and the questions about them.
 * The number of a configuration has one digit for each parameter, the first parameter's weighing most. */
#include "autotune/space.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/space_model.h"
#include "autotune/space_tree.h"
#include "core/mem.h"

/* At some 30 ns each, half a minute. */
#define MOST_WORK UINT64_C(1000000000)

enum { LISTED_AT_ONCE = 50000000 }; /* combinations that are searched without counting first */

struct nt_space {
    nt_space_model model;
    nt_space_codes codes;
    nt_space_tree *tree; /* in place of the codes where there are too many */
};

static uint64_t code_at(const nt_space *space, uint64_t index)
{
    return space->codes.wide != NULL ? space->codes.wide[index] : space->codes.narrow[index];
}

/* ---- building --------------------------------------------------------------------------------------------------- */

static int by_narrow(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int by_wide(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void settle(nt_space_codes *codes, bool sorted)
{
    if (codes->wide != NULL) {
        codes->wide = nt_realloc_array(codes->wide, codes->count, sizeof *codes->wide);
        if (!sorted)
            qsort(codes->wide, codes->count, sizeof *codes->wide, by_wide);
    } else {
        codes->narrow = nt_realloc_array(codes->narrow, codes->count, sizeof *codes->narrow);
        if (!sorted)
            qsort(codes->narrow, codes->count, sizeof *codes->narrow, by_narrow);
    }
    codes->capacity = codes->count;
}

static nt_status fail_large(const nt_space_model *model, nt_space_ending ending, nt_error *err)
{
    if (ending == NT_SPACE_TOO_MANY)
        nt_fail(
            err, NT_USAGE,
            "kernel '%s' has more than %d legal configurations, and constraints that tie too many parameters together "
            "to count them otherwise",
            model->kernel->name, NT_SPACE_MOST);
    else
        nt_fail(err, NT_USAGE, "kernel '%s' has %llu combinations of parameter values, too many to search",
                model->kernel->name, (unsigned long long)model->total);
    nt_hint(err, "narrow it with --param NAME=VALUE,.. or --where");
    return NT_USAGE;
}

/* Counts first where listing may be long, and keeps the tree when there is too much to list. */
static bool count_large(nt_space *space)
{
    nt_space_model *model = &space->model;
    if (model->total <= LISTED_AT_ONCE)
        return false;
    space->tree = nt_space_tree_build(model);
    uint64_t size = space->tree == NULL ? 0 : nt_space_tree_size(space->tree);
    if (size > NT_SPACE_MOST) {
        for (int i = 0; i < model->constraint_count; i++)
            model->constraint[i].pruned = NT_UNKNOWN;
        return true;
    }
    nt_space_tree_free(space->tree);
    space->tree = NULL;
    return false;
}

static nt_status list(nt_space *space, nt_error *err)
{
    bool sorted;
    nt_space_limits limits = {.legal = NT_SPACE_MOST, .work = MOST_WORK};
    nt_space_ending ending = nt_space_search(&space->model, limits, &space->codes, &sorted);
    if (ending != NT_SPACE_COMPLETE)
        return fail_large(&space->model, ending, err);
    if (space->codes.count == 0)
        return nt_space_fail_empty(&space->model, err);
    settle(&space->codes, sorted);
    return NT_OK;
}

nt_status nt_space_build(const nt_kernel *kernel, const nt_problem *problem, const nt_device_info *device,
                         const nt_narrowing *narrowing, int narrowing_count, const char *where, nt_space **out,
                         nt_error *err)
{
    *out = NULL;
    nt_space *space = nt_alloc_zero(1, sizeof *space);
    nt_status status =
        nt_space_model_init(&space->model, kernel, problem, device, narrowing, narrowing_count, where, err);
    if (status == NT_OK && !count_large(space))
        status = list(space, err);
    if (status != NT_OK) {
        nt_space_free(space);
        return status;
    }
    *out = space;
    return NT_OK;
}

/* The number of a configuration, all of whose values are kept. */
static uint64_t code_of(const nt_space_model *model, const nt_config *config)
{
    uint64_t code = 0;
    for (int i = 0; i < config->count; i++)
        code += (uint64_t)model->axis[i].digit[config->index[i]] * model->axis[i].weight;
    return code;
}

static void list_codes(nt_space *space, const nt_config *configs, size_t count)
{
    nt_space_codes *codes = &space->codes;
    bool sorted = true, is_wide = space->model.total > UINT32_MAX;
    codes->count = count;
    if (is_wide)
        codes->wide = nt_alloc_zero(count, sizeof *codes->wide);
    else
        codes->narrow = nt_alloc_zero(count, sizeof *codes->narrow);
    for (size_t i = 0; i < count; i++) {
        uint64_t code = code_of(&space->model, &configs[i]);
        if (is_wide)
            codes->wide[i] = code;
        else
            codes->narrow[i] = (uint32_t)code;
        sorted = sorted && (i == 0 || code > code_of(&space->model, &configs[i - 1]));
    }
    settle(codes, sorted);
}

static bool has_twins(const nt_space *space, uint64_t *code)
{
    for (size_t i = 1; i < space->codes.count; i++) {
        *code = code_at(space, i);
        if (*code == code_at(space, i - 1))
            return true;
    }
    return false;
}

nt_status nt_space_build_listed(const nt_kernel *kernel, const nt_config *configs, size_t count, size_t *twice,
                                nt_space **out, nt_error *err)
{
    *out = NULL;
    if (count == 0)
        return nt_fail(err, NT_USAGE, "kernel '%s' has no configuration", kernel->name);
    nt_kernel plain = *kernel;
    plain.constraint_count = 0;
    nt_space *space = nt_alloc_zero(1, sizeof *space);
    nt_status status = nt_space_model_init(&space->model, &plain, NULL, NULL, NULL, 0, NULL, err);
    space->model.kernel = kernel;
    uint64_t code;
    if (status == NT_OK)
        list_codes(space, configs, count);
    if (status == NT_OK && has_twins(space, &code)) {
        for (size_t i = 0, seen = 0; i < count && twice != NULL && seen < 2; i++)
            if (code_of(&space->model, &configs[i]) == code) {
                *twice = i;
                seen++;
            }
        status = nt_fail(err, NT_USAGE, "kernel '%s' lists a configuration twice", kernel->name);
    }
    if (status != NT_OK) {
        nt_space_free(space);
        return status;
    }
    *out = space;
    return NT_OK;
}

void nt_space_free(nt_space *space)
{
    if (space == NULL)
        return;
    nt_space_model_done(&space->model);
    nt_space_tree_free(space->tree);
    free(space->codes.narrow);
    free(space->codes.wide);
    free(space);
}

const nt_kernel *nt_space_kernel(const nt_space *space)
{
    return space->model.kernel;
}

uint64_t nt_space_size(const nt_space *space)
{
    return space->tree != NULL ? nt_space_tree_size(space->tree) : space->codes.count;
}

uint64_t nt_space_total(const nt_space *space)
{
    return space->model.total;
}

/* ---- numbers and configurations --------------------------------------------------------------------------------- */

static int digit_of(const nt_space_axis *axis, uint64_t code)
{
    return (int)(code / axis->weight % (uint64_t)axis->count);
}

static bool find_code(const nt_space *space, uint64_t code, uint64_t *index)
{
    uint64_t low = 0, high = space->codes.count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (code_at(space, middle) < code)
            low = middle + 1;
        else
            high = middle;
    }
    *index = low;
    return low < space->codes.count && code_at(space, low) == code;
}

static void digits_at(const nt_space *space, uint64_t index, int digit[NT_MAX_PARAMS])
{
    assert(index < nt_space_size(space));
    if (space->tree != NULL) {
        nt_space_tree_digits(space->tree, index, digit);
        return;
    }
    uint64_t code = code_at(space, index);
    for (int i = 0; i < space->model.axis_count; i++)
        digit[i] = digit_of(&space->model.axis[i], code);
}

static bool find_digits(const nt_space *space, const int digit[NT_MAX_PARAMS], uint64_t *index)
{
    if (space->tree != NULL)
        return nt_space_tree_index(space->tree, digit, index);
    uint64_t code = 0;
    for (int i = 0; i < space->model.axis_count; i++)
        code += (uint64_t)digit[i] * space->model.axis[i].weight;
    return find_code(space, code, index);
}

void nt_space_config(const nt_space *space, uint64_t index, nt_config *out)
{
    int digit[NT_MAX_PARAMS];
    digits_at(space, index, digit);
    *out = (nt_config){.count = space->model.axis_count};
    for (int i = 0; i < out->count; i++)
        out->index[i] = space->model.axis[i].listed[digit[i]];
}

/* The parameter whose value was not kept; -1 when all were. */
static int find_dropped(const nt_space *space, const nt_config *config)
{
    for (int i = 0; i < space->model.axis_count; i++)
        if (space->model.axis[i].digit[config->index[i]] < 0)
            return i;
    return -1;
}

bool nt_space_index(const nt_space *space, const nt_config *config, uint64_t *index)
{
    assert(config->count == space->model.axis_count);
    if (find_dropped(space, config) >= 0)
        return false;
    int digit[NT_MAX_PARAMS];
    for (int i = 0; i < config->count; i++)
        digit[i] = space->model.axis[i].digit[config->index[i]];
    return find_digits(space, digit, index);
}

void nt_space_why_not(const nt_space *space, const nt_config *config, char *out, size_t capacity)
{
    const nt_space_model *model = &space->model;
    nt_str text = {0};
    nt_expr_value value[NT_EXPR_MAX_SYMBOLS];
    memcpy(value, model->value, sizeof value);
    for (int i = 0; i < config->count; i++)
        value[i] = nt_expr_of_value(nt_param_value(&model->kernel->params[i], config->index[i]));
    for (int i = 0; i < model->constraint_count && text.length == 0; i++) {
        nt_expr_truth truth = nt_expr_test(model->constraint[i].expr, value, NULL);
        if (truth == NT_EXPR_IS_FALSE || truth == NT_EXPR_IS_FAULT)
            nt_space_show_constraint(model, i, &text);
    }
    int dropped = find_dropped(space, config);
    if (text.length == 0 && dropped >= 0) {
        nt_str_add(&text, "--param leaves out ");
        nt_str_addf(&text, "%s=", model->kernel->params[dropped].name);
        nt_value_print(&text, nt_param_value(&model->kernel->params[dropped], config->index[dropped]));
    } else if (text.length > 0) {
        nt_str_add(&text, " does not hold");
    }
    nt_copy(out, capacity, nt_str_text(&text));
    nt_str_done(&text);
}

/* ---- neighbours, rejections ------------------------------------------------------------------------------------- */

size_t nt_space_neighbours(const nt_space *space, uint64_t index, nt_neighbourhood kind, uint64_t *out, size_t capacity)
{
    int digit[NT_MAX_PARAMS];
    size_t count = 0;
    digits_at(space, index, digit);
    for (int i = 0; i < space->model.axis_count; i++) {
        int own = digit[i], last = space->model.axis[i].count - 1;
        int from = kind == NT_NEIGHBOUR_ADJACENT ? own - 1 : 0, to = kind == NT_NEIGHBOUR_ADJACENT ? own + 1 : last;
        for (digit[i] = from < 0 ? 0 : from; digit[i] <= (to > last ? last : to); digit[i]++) {
            uint64_t found;
            if (digit[i] == own || !find_digits(space, digit, &found))
                continue;
            if (count < capacity)
                out[count] = found;
            count++;
        }
        digit[i] = own;
    }
    return count;
}

int nt_space_rejection_count(const nt_space *space)
{
    return space->model.constraint_count;
}

nt_space_rejection nt_space_rejection_of(const nt_space *space, int constraint)
{
    assert(constraint >= 0 && constraint < space->model.constraint_count);
    return nt_space_count_alone(&space->model, constraint);
}
