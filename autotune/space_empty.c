/* space_empty.c: saying why a space has no legal configuration: the constraint that leaves none by itself, or else a
 * smallest set of constraints that leave none together. */
#include "autotune/space_model.h"

#include <stdlib.h>

enum { WORK_PER_ATTEMPT = 5000000 };

/* The fixed values that a constraint was held against: c=3, smem_per_block=49152. */
static void show_fixed(const nt_space_model *model, const nt_expr *expr, nt_str *out)
{
    uint64_t uses = nt_expr_uses(expr);
    for (int i = model->axis_count; i < model->symbol_count; i++)
        if (uses >> i & 1) {
            if (model->value[i].kind == NT_EXPR_INT)
                nt_str_addf(out, "%s%s=%lld", out->length > 0 ? ", " : "", model->name[i],
                            (long long)model->value[i].i);
            else
                nt_str_addf(out, "%s%s unknown", out->length > 0 ? ", " : "", model->name[i]);
        }
}

void nt_space_show_constraint(const nt_space_model *model, int constraint, nt_str *out)
{
    const nt_space_constraint *c = &model->constraint[constraint];
    nt_str fixed = {0};
    show_fixed(model, c->expr, &fixed);
    nt_str_addf(out, "%s'%s'", c->why == NULL ? "--where " : "", nt_expr_text(c->expr));
    if (c->why != NULL || fixed.length > 0)
        nt_str_addf(out, " (%s%s%s)", c->why == NULL ? "" : c->why, c->why != NULL && fixed.length > 0 ? "; " : "",
                    nt_str_text(&fixed));
    nt_str_done(&fixed);
}

static void hint(const nt_space_model *model, bool where_has_part, nt_error *err)
{
    bool narrowed = false;
    for (int i = 0; i < model->axis_count; i++)
        narrowed = narrowed || model->axis[i].count < model->kernel->params[i].count;
    if (where_has_part)
        nt_hint(err, "relax --where%s", narrowed ? ", or --param, which leaves few values" : "");
    else if (narrowed)
        nt_hint(err, "--param leaves no value that fits; keep more");
    else
        nt_hint(err, "the kernel does not suit this problem on this device; choose another shape, batch or precision");
}

static nt_status fail_alone(const nt_space_model *model, int constraint, nt_space_rejection rejection, nt_error *err)
{
    nt_str text = {0};
    nt_space_show_constraint(model, constraint, &text);
    if (rejection.faults == rejection.alone)
        nt_fail(err, NT_NO_SPACE, "kernel '%s' has no legal configuration: %s gives %s at column %d",
                model->kernel->name, nt_str_text(&text), nt_expr_fault_text(rejection.fault.code),
                rejection.fault.column);
    else
        nt_fail(err, NT_NO_SPACE, "kernel '%s' has no legal configuration: %s leaves none", model->kernel->name,
                nt_str_text(&text));
    nt_str_done(&text);
    hint(model, rejection.why == NULL, err);
    return NT_NO_SPACE;
}

/* Turns off each constraint without which the space is still empty: what stays on is a smallest conflict. */
static void find_conflict(nt_space_model *model)
{
    for (int i = 0; i < model->constraint_count; i++) {
        model->constraint[i].off = true;
        if (nt_space_exists(model, WORK_PER_ATTEMPT))
            model->constraint[i].off = false;
    }
}

static nt_status fail_together(nt_space_model *model, nt_error *err)
{
    find_conflict(model);
    nt_str text = {0};
    bool where_has_part = false;
    for (int i = 0; i < model->constraint_count; i++) {
        if (model->constraint[i].off)
            continue;
        nt_str_add(&text, text.length > 0 ? " and " : "");
        nt_space_show_constraint(model, i, &text);
        where_has_part = where_has_part || model->constraint[i].why == NULL;
    }
    nt_fail(err, NT_NO_SPACE, "kernel '%s' has no legal configuration: together %s leave none", model->kernel->name,
            nt_str_text(&text));
    nt_str_done(&text);
    hint(model, where_has_part, err);
    return NT_NO_SPACE;
}

nt_status nt_space_fail_empty(nt_space_model *model, nt_error *err)
{
    for (int i = 0; i < model->constraint_count; i++) {
        nt_space_rejection rejection = nt_space_count_alone(model, i);
        if (rejection.alone == (int64_t)model->total)
            return fail_alone(model, i, rejection, err);
    }
    return fail_together(model, err);
}
