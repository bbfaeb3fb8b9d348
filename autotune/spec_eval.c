/* spec_eval.c: expressions of a spec with values: sizes of a problem, parameters of a configuration, limits of a
 * device; and texts that hold {expressions}. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/spec_read.h"
#include "core/mem.h"

void nt__spec_scope(const nt_spec *spec, const nt_shape *sizes, const nt_config *config, const nt_device_info *device,
                    nt_expr_value values[NT__VALUES])
{
    int at = 0;
    for (int i = 0; i < spec->param_count; i++)
        values[at++] =
            config == NULL ? spec->values_of[i] : nt_expr_of_value(nt_param_value(&spec->param[i], config->index[i]));
    for (int i = 0; i < spec->sizes.count; i++)
        values[at++] = nt_expr_of_int(nt_shape_get(sizes, spec->sizes.dim[i].key));
    const nt_device_info *d = device;
    const int64_t limits[] = {d ? d->smem_per_block_bytes : NT_UNKNOWN,
                              d ? d->max_threads_per_block : NT_UNKNOWN,
                              d ? d->regs_per_block : NT_UNKNOWN,
                              d ? d->regs_per_sm : NT_UNKNOWN,
                              d ? d->warp_size : NT_UNKNOWN,
                              d ? d->sm_count : NT_UNKNOWN,
                              d ? d->compute_capability : NT_UNKNOWN};
    for (size_t i = 0; at < spec->symbol_count; i++)
        values[at++] = nt_expr_of_int(limits[i]);
}

static nt_status evaluate(const nt_expr *expr, const nt_expr_value *values, const char *what, nt_expr_value *out,
                          nt_error *err)
{
    nt_expr_fault fault;
    if (!nt_expr_eval(expr, values, out, &fault))
        return nt_fail(err, NT_USAGE, "%s: '%s' has no value: %s at column %d", what, nt_expr_text(expr),
                       nt_expr_fault_text(fault.code), fault.column);
    if (out->kind == NT_EXPR_UNKNOWN)
        return nt_fail(err, NT_USAGE, "%s: '%s' needs a limit that this device does not state", what,
                       nt_expr_text(expr));
    return NT_OK;
}

nt_status nt__spec_eval_real(const nt_expr *expr, const nt_expr_value *values, const char *what, double *out,
                             nt_error *err)
{
    nt_expr_value value;
    nt_status status = evaluate(expr, values, what, &value, err);
    if (status != NT_OK)
        return status;
    if (value.kind > NT_EXPR_REAL)
        return nt_fail(err, NT_USAGE, "%s: '%s' is no number", what, nt_expr_text(expr));
    *out = value.kind == NT_EXPR_REAL ? value.r : (double)value.i;
    return NT_OK;
}

nt_status nt__spec_eval_int(const nt_expr *expr, const nt_expr_value *values, const char *what, int64_t least,
                            int64_t most, int64_t *out, nt_error *err)
{
    nt_expr_value value;
    nt_status status = evaluate(expr, values, what, &value, err);
    if (status != NT_OK)
        return status;
    /* ceil(n / block) is a whole number in Python as here; 4096 / 32 is a real one, and meant as a whole one */
    bool whole = value.kind == NT_EXPR_INT || value.kind == NT_EXPR_BOOL;
    if (value.kind == NT_EXPR_REAL && value.r == floor(value.r) && fabs(value.r) < 0x1p62) {
        value.i = (int64_t)value.r;
        whole = true;
    }
    if (!whole)
        return nt_fail(err, NT_USAGE, "%s: '%s' is no whole number", what, nt_expr_text(expr));
    if (value.i < least || value.i > most)
        return nt_fail(err, NT_USAGE, "%s: '%s' is %" PRId64 "; %" PRId64 " to %" PRId64 " are possible", what,
                       nt_expr_text(expr), value.i, least, most);
    *out = value.i;
    return NT_OK;
}

static void print_value(nt_str *out, nt_expr_value value)
{
    if (value.kind == NT_EXPR_STRING)
        nt_str_add(out, value.s);
    else if (value.kind == NT_EXPR_REAL)
        nt_value_print(out, (nt_value){.kind = NT_VALUE_REAL, .r = value.r});
    else
        nt_str_addf(out, "%" PRId64, value.i); /* a boolean is 1 or 0 to a compiler */
}

static nt_status expand_one(const nt_spec *spec, const char *begin, size_t length, const char *whole,
                            const nt_expr_value *values, nt_str *out, nt_error *err)
{
    char *text = nt_strndup(begin, length);
    nt_expr *expr = NULL;
    nt_expr_value value;
    nt_error why = {0};
    nt_status status = nt_expr_compile(text, spec->symbol, spec->symbol_count, &expr, &why);
    if (status == NT_OK)
        status = evaluate(expr, values, "in braces", &value, &why);
    if (status == NT_OK)
        print_value(out, value);
    else
        nt_fail(err, NT_USAGE, "'%s': {%s}: %s", whole, text, why.what);
    nt_expr_free(expr);
    free(text);
    return status;
}

nt_status nt__spec_expand(const nt_spec *spec, const char *text, const nt_expr_value *values, nt_str *out,
                          nt_error *err)
{
    for (const char *at = text; *at != '\0';) {
        size_t plain = strcspn(at, "{");
        nt_str_add_n(out, at, plain);
        at += plain;
        if (*at == '\0')
            break;
        if (at[1] == '{') {
            nt_str_add(out, "{");
            at += 2;
            continue;
        }
        size_t inside = strcspn(at + 1, "}");
        if (at[1 + inside] == '\0')
            return nt_fail(err, NT_USAGE, "'%s': a brace is not closed; {{ is a brace itself", text);
        nt_status status = expand_one(spec, at + 1, inside, text, values, out, err);
        if (status != NT_OK)
            return status;
        at += inside + 2;
    }
    return NT_OK;
}
