/* kernel.c: what follows from a kernel's table row alone: its source and hash, its compiler options, its default
 * configuration and its rules of thumb, and the constant of its error bound. */
#include "kernels/kernel.h"

#include "core/hash.h"
#include "core/mem.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *joined(const char *const *texts, int most)
{
    nt_str source = {0};
    for (int i = 0; i < most && texts[i] != NULL; i++)
        nt_str_add(&source, texts[i]);
    return source.data ? source.data : nt_strdup("");
}

char *nt_kernel_source(const nt_kernel *kernel)
{
    return joined(kernel->source, NT_MAX_SOURCES);
}

char *nt_layer_reference_source(const nt_layer *layer)
{
    return layer->reference_cuda_source[0] != NULL ? joined(layer->reference_cuda_source, NT_MAX_REFERENCE_SOURCES)
                                                   : NULL;
}

void nt_kernel_hash(const nt_kernel *kernel, const nt_device_info *device, char key[NT_KEY_BYTES])
{
    const char *text[NT_MAX_SOURCES + 2];
    int count = 0;
    for (; count < NT_MAX_SOURCES && kernel->source[count] != NULL; count++)
        text[count] = kernel->source[count];
    key[0] = '\0';
    if (kernel->vendor != NT_VENDOR_NONE) {
        if (device == NULL)
            return;
        text[count++] = nt_vendor_name(kernel->vendor);
        text[count++] = device->library[kernel->vendor].version;
    }
    nt_hash_texts(text, count, key);
}

/* ---- options --------------------------------------------------------------------------------------------------------- */

static void add_upper(nt_str *out, const char *text)
{
    for (; *text != '\0'; text++) {
        char upper = (char)toupper((unsigned char)*text);
        nt_str_add_n(out, &upper, 1);
    }
}

/* Booleans are 1 and 0 to a preprocessor, true and false to people. */
static void add_macro(nt_str *out, const nt_param *param, int index)
{
    nt_value value = nt_param_value(param, index);
    nt_str_add(out, out->length ? " -D" : "-D");
    add_upper(out, param->name);
    nt_str_add(out, "=");
    if (value.kind == NT_VALUE_BOOL)
        nt_str_addf(out, "%" PRId64, value.i);
    else
        nt_value_print(out, value);
}

void nt_kernel_options(const nt_kernel *kernel, const nt_problem *problem, const nt_config *config, nt_str *out)
{
    for (int i = 0; i < kernel->param_count; i++)
        if (kernel->params[i].use == NT_PARAM_MACRO)
            add_macro(out, &kernel->params[i], config->index[i]);
    nt_str_add(out, out->length ? " -DNT_PRECISION_" : "-DNT_PRECISION_");
    add_upper(out, nt_precisions[nt_precisions[problem->precision].dense].name);
    nt_str_add(out, "=1 -DNT_LAYOUT_");
    add_upper(out, nt_layout_name(problem->layout));
    nt_str_add(out, "=1");
    if (kernel->options != NULL)
        kernel->options(problem, config, out);
}

/* ---- configurations ---------------------------------------------------------------------------------------------------- */

void nt_kernel_default_config(const nt_kernel *kernel, nt_config *out)
{
    *out = (nt_config){.count = kernel->param_count};
    for (int i = 0; i < kernel->param_count; i++)
        out->index[i] = (uint16_t)kernel->params[i].dflt;
}

/* Appends the printed values of a parameter: 1, 2, 4. */
static void list_values(nt_str *out, const nt_param *param)
{
    for (int i = 0; i < param->count; i++) {
        nt_str_add(out, i ? ", " : "");
        nt_value_print(out, nt_param_value(param, i));
    }
}

static nt_status unknown_parameter(const nt_kernel *kernel, const nt_rule *rule, const char *name, nt_error *err)
{
    nt_str names = {0};
    for (int i = 0; i < kernel->param_count; i++)
        nt_str_addf(&names, "%s%s", i ? ", " : "", kernel->params[i].name);
    nt_fail(err, NT_USAGE, "rule '%s' of kernel %s sets '%s', which is not a parameter; there are %s", rule->name,
            kernel->name, name, nt_str_text(&names));
    nt_str_done(&names);
    return NT_USAGE;
}

/* One "name=value"; cuts `word` in two at the sign. */
static nt_status apply_setting(const nt_kernel *kernel, const nt_rule *rule, char *word, nt_config *out, nt_error *err)
{
    char *sign = strchr(word, '=');
    if (sign == NULL)
        return nt_fail(err, NT_USAGE, "rule '%s' of kernel %s has '%s', not name=value", rule->name, kernel->name,
                       word);
    *sign = '\0';
    int param = nt_param_find(kernel->params, kernel->param_count, word);
    if (param < 0)
        return unknown_parameter(kernel, rule, word, err);
    int value = nt_param_value_find(&kernel->params[param], sign + 1);
    if (value < 0) {
        nt_str values = {0};
        list_values(&values, &kernel->params[param]);
        nt_fail(err, NT_USAGE, "rule '%s' of kernel %s sets %s=%s; its values are %s", rule->name, kernel->name, word,
                sign + 1, nt_str_text(&values));
        nt_str_done(&values);
        return NT_USAGE;
    }
    out->index[param] = (uint16_t)value;
    return NT_OK;
}

nt_status nt_kernel_rule_config(const nt_kernel *kernel, const nt_rule *rule, nt_config *out, nt_error *err)
{
    char *text = nt_strdup(rule->params), *rest = NULL;
    nt_status status = NT_OK;
    nt_kernel_default_config(kernel, out);
    for (char *word = strtok_r(text, " ", &rest); word != NULL && status == NT_OK; word = strtok_r(NULL, " ", &rest))
        status = apply_setting(kernel, rule, word, out, err);
    free(text);
    return status;
}

/* ---- error bound --------------------------------------------------------------------------------------------------------- */

/* Relative rounding of an operand that was transformed before it is multiplied. */
static double unit_transformed(const nt_precision_row *row)
{
    return row->in == NT_F16 ? 0x1p-11 : row->in == NT_BFLOAT16 ? 0x1p-8 : row->in == NT_F8E4M3 ? 0x1p-4 : 0;
}

/* Both operands may be rounded by unit_multiply inside the multiply; then n roundings of u each: n u / (1 - n u).
 *
 * fp8: a tensor core aligns the products of a step to the largest and cuts its sum to 13 bits, one unit, and so it cuts
 * the running sum after each step. Charged at worst, n / 32 units, a bound for 4096 inputs would let a missing tile pass;
 * errors of either sign grow with the square root (Higham and Mary, "A new approach to probabilistic rounding error
 * analysis", 2019), and inputs here have either sign. */
double nt_kernel_gamma_of(const nt_kernel *kernel, const nt_problem *problem, nt_bound bound)
{
    const nt_precision_row *row = &nt_precisions[problem->precision];
    if (row->accumulate == NT_I32)
        return 0;
    double additions = kernel->additions(problem), steps = ceil(additions / NT_STEP_PRODUCTS);
    double nu = additions * row->unit_accumulate + (1 + sqrt(steps)) * row->unit_step;
    double operand = 1 + (bound == NT_BOUND_DIRECT ? row->unit_multiply : row->unit_multiply + unit_transformed(row));
    return operand * operand * (1 + nu / (1 - nu)) - 1;
}

double nt_kernel_gamma(const nt_kernel *kernel, const nt_problem *problem)
{
    return nt_kernel_gamma_of(kernel, problem, kernel->bound);
}
