/* fields.c: what several formats have alike: words for outcomes, units of time, parameters, samples, names. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/json.h"
#include "core/mem.h"
#include "db/formats/format.h"

/* ---- outcomes ---------------------------------------------------------------------------------------------------- */

const nt_outcome_word *nt_outcome_word_find(const nt_outcome_word *rows, const char *word)
{
    for (; word != NULL && rows->word != NULL; rows++)
        if (strcmp(rows->word, word) == 0)
            return rows;
    return NULL;
}

const char *nt_outcome_word_of(const nt_outcome_word *rows, const nt_trial *trial)
{
    const nt_outcome_word *own = nt_outcome_word_find(rows, trial->reason);
    if (own != NULL && own->outcome == trial->outcome)
        return own->word;
    for (const nt_outcome_word *row = rows; row->word != NULL; row++)
        if (row->outcome == trial->outcome)
            return row->word;
    return rows->word;
}

nt_status nt_outcome_word_unknown(const nt_outcome_word *rows, const char *key, const char *word, nt_error *err)
{
    nt_str right = {0};
    for (const nt_outcome_word *row = rows; row->word != NULL; row++)
        if (nt_outcome_word_find(rows, row->word) == row) /* a word may stand for several outcomes */
            nt_str_addf(&right, "%s%s", right.length > 0 ? ", " : "", row->word);
    nt_fail(err, NT_CORRUPT, "%s is '%.80s'", key, word != NULL ? word : "no text");
    nt_hint(err, "it must be one of %s", nt_str_text(&right));
    nt_str_done(&right);
    return NT_CORRUPT;
}

/* ---- times ------------------------------------------------------------------------------------------------------- */

double nt_unit_ns(const char *word)
{
    static const struct {
        const char *word;
        double ns;
    } rows[] = {
        {"ns", 1},
        {"nanoseconds", 1},
        {"nanosecond", 1},
        {"us", 1e3},
        {"microseconds", 1e3},
        {"microsecond", 1e3},
        {"ms", 1e6},
        {"milliseconds", 1e6},
        {"miliseconds", 1e6},
        {"millisecond", 1e6},
        {"s", 1e9},
        {"seconds", 1e9},
        {"second", 1e9},
        {"sec", 1e9},
    };
    for (size_t i = 0; word != NULL && i < sizeof rows / sizeof rows[0]; i++)
        if (strcasecmp(rows[i].word, word) == 0)
            return rows[i].ns;
    return NAN;
}

double nt_ms_of(const json_t *object, const char *key, double unit_ns)
{
    double value = nt_json_get_real(object, key);
    return unit_ns == 1e6 ? value : value * unit_ns / 1e6;
}

void nt_set_ms(json_t *object, const char *key, double ms, double unit_ns)
{
    if (!isnan(ms))
        json_object_set_new(object, key, nt_json_real(unit_ns == 1e6 ? ms : ms * 1e6 / unit_ns));
}

json_t *nt_samples_in(const nt_samples *samples, double unit_ns)
{
    json_t *list = json_array();
    for (size_t i = 0; i < samples->count; i++)
        json_array_append_new(list, nt_json_real(samples->sample_ns[i] / unit_ns));
    return list;
}

nt_status nt_foreign_samples(nt_foreign *out, const json_t *list, const char *key, double unit_ns, nt_error *err)
{
    nt_samples *samples = &out->trial.samples;
    size_t count = json_array_size(list), i;
    const json_t *item;
    if (list == NULL || json_is_null(list) || count == 0)
        return NT_OK;
    if (count > NT_IMPORT_MAX_SAMPLES)
        return nt_fail(err, NT_CORRUPT, "%s has %zu items; at most %d are read", key, count, NT_IMPORT_MAX_SAMPLES);
    samples->sample_ns = nt_alloc_zero(count, sizeof *samples->sample_ns);
    json_array_foreach (list, i, item) {
        double value = json_is_number(item) ? json_number_value(item) * unit_ns : (double)NAN;
        if (isfinite(value) && value >= 0)
            samples->sample_ns[samples->count++] = value;
    }
    samples->launches_per_sample = samples->count > 0 ? 1 : NT_UNKNOWN;
    return NT_OK;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* The database knows processors and GPUs; a recorded device is the one its name looks like. */
static nt_device_kind kind_of(const char *name)
{
    static const char *const processors[] = {"CPU", "EPYC", "Xeon", "Ryzen", "Core(TM)", "Neoverse", "POWER"};
    for (size_t i = 0; i < sizeof processors / sizeof processors[0]; i++)
        if (strstr(name, processors[i]) != NULL)
            return NT_DEVICE_CPU;
    return NT_DEVICE_CUDA;
}

/* A cut inside a character would be no UTF-8. */
static void copy_text(char *to, size_t capacity, const char *from)
{
    if (nt_copy(to, capacity, from))
        return;
    size_t length = strlen(to);
    while (length > 0 && ((unsigned char)from[length] & 0xc0) == 0x80)
        length--;
    to[length] = '\0';
}

void nt_foreign_device(nt_foreign_run *run, const char *name)
{
    nt_device_info *device = &run->run.device;
    char uuid[sizeof device->name + 16];
    if (name == NULL || name[0] == '\0')
        return;
    copy_text(device->name, sizeof device->name, name);
    snprintf(uuid, sizeof uuid, "recorded:%s", device->name);
    copy_text(device->uuid, sizeof device->uuid, uuid);
    device->kind = kind_of(device->name);
}

void nt_foreign_kernel(nt_foreign_run *run, const char *name)
{
    char layer[sizeof run->problem.layer + 8];
    if (name == NULL || name[0] == '\0')
        return;
    copy_text(run->kernel, sizeof run->kernel, name);
    snprintf(layer, sizeof layer, "user:%s", run->kernel);
    copy_text(run->problem.layer, sizeof run->problem.layer, layer);
}

/* ---- problem sizes ----------------------------------------------------------------------------------------------- */

static bool add_extent(nt_shape *shape, const json_t *size)
{
    static const char *const keys[NT_MAX_DIMS] = {"x", "y", "z", "d3", "d4", "d5", "d6", "d7", "d8", "d9"};
    if (!json_is_integer(size) || json_integer_value(size) < 1 || shape->count == NT_MAX_DIMS)
        return false;
    nt_copy(shape->dim[shape->count].key, sizeof shape->dim[0].key, keys[shape->count]);
    shape->dim[shape->count++].size = json_integer_value(size);
    return true;
}

void nt_foreign_problem(nt_foreign_run *run, const json_t *size)
{
    nt_shape shape = {0};
    bool whole = json_is_array(size) || add_extent(&shape, size);
    for (size_t i = 0; whole && i < json_array_size(size); i++)
        whole = add_extent(&shape, json_array_get(size, i));
    if (whole)
        run->problem.shape = shape;
}

json_t *nt_foreign_problem_json(const nt_foreign_run *run)
{
    const nt_shape *shape = &run->problem.shape;
    if (shape->count == 0)
        return NULL;
    if (shape->count == 1)
        return json_integer(shape->dim[0].size);
    json_t *list = json_array();
    for (int i = 0; i < shape->count; i++)
        json_array_append_new(list, json_integer(shape->dim[i].size));
    return list;
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

static nt_status set_param(json_t *to, const char *name, const json_t *value, nt_error *err)
{
    if (value == NULL || json_is_object(value) || json_is_array(value) || json_is_null(value)) {
        nt_fail(err, NT_CORRUPT, "parameter '%.80s' %s", name, value == NULL ? "is missing" : "has no plain value");
        return nt_hint(err, "a value is a number, true, false or a text");
    }
    json_object_set_new(to, name, json_deep_copy(value));
    return NT_OK;
}

nt_status nt_foreign_params(nt_foreign *out, const nt_foreign_run *run, const json_t *params, nt_error *err)
{
    nt_status status = NT_OK;
    const char *key;
    json_t *value;
    size_t i;
    if (!json_is_object(params) || (json_object_size(params) == 0 && run->params == NULL))
        return nt_fail(err, NT_CORRUPT, "there is no configuration");
    out->params = json_object();
    if (run->params != NULL) {
        json_array_foreach (run->params, i, value) {
            const char *name = json_string_value(value);
            if (status == NT_OK)
                status = set_param(out->params, name, json_object_get(params, name), err);
        }
    } else {
        json_object_foreach ((json_t *)(uintptr_t)params, key, value) {
            if (status == NT_OK)
                status = set_param(out->params, key, value, err);
        }
    }
    if (status == NT_OK)
        out->trial.params_json = nt_json_dump(out->params);
    return status;
}
