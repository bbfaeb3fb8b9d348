/* table_launch.c: how an entry is launched, as JSON: stages with their grids, arguments and tensor maps, numbers that
 * follow the batch as arrays. */
#include "reports/table_launch.h"

#include <string.h>

#include "core/json.h"
#include "core/mem.h"

/* ---- writing --------------------------------------------------------------------------------------------------------- */

/* A number that does not depend on the batch is a plain one; a limit stands behind the four others. */
static json_t *number_json(const nt_deploy_number *n)
{
    if (n->step == 0)
        return json_integer(n->base);
    json_t *json =
        json_pack("[I I I I]", (json_int_t)n->base, (json_int_t)n->scale, (json_int_t)n->step, (json_int_t)n->divisor);
    if (n->most != INT64_MAX)
        json_array_append_new(json, json_integer(n->most));
    return json;
}

enum { ARG_KINDS = 5 };
static const char *const arg_kinds[ARG_KINDS] = {"buffer", "i32", "i64", "f32", "map"};
static const char *const roles[] = {"in", "weight", "out", "packed", "workspace"};

/* Of a map that gathers from images, with the corners and steps of its pixels. */
static json_t *map_json(const nt_tensor_map *is, const nt_deploy_map *m)
{
    json_t *sizes = json_array(), *strides = json_array();
    for (int i = 0; i < NT_MAP_RANK; i++) {
        json_array_append_new(sizes, number_json(&m->size[i]));
        if (i > 0)
            json_array_append_new(strides, number_json(&m->stride_bytes[i]));
    }
    json_t *json = json_pack("{ss so sI so so}", "role", roles[is->role], "offset_bytes", number_json(&m->offset_bytes),
                             "element_bytes", (json_int_t)is->elem_bytes, "sizes", sizes, "strides_bytes", strides);
    if (!is->images) {
        json_object_set_new(json, "box", json_pack("[iiii]", is->box[0], is->box[1], is->box[2], is->box[3]));
        return json;
    }
    json_object_set_new(json, "box", json_pack("[ii]", is->box[0], is->box[1]));
    json_object_set_new(json, "lower", json_pack("[ii]", is->lower[0], is->lower[1]));
    json_object_set_new(json, "upper", json_pack("[ii]", is->upper[0], is->upper[1]));
    json_object_set_new(json, "step", json_pack("[ii]", is->step[0], is->step[1]));
    return json;
}

static json_t *stage_json(const nt_deploy_stage *s)
{
    const nt_stage *is = &s->stage;
    if (is->kind == NT_STAGE_ZERO)
        return json_pack("{ss so}", "zero", roles[is->zero_role], "bytes", number_json(&s->zero_bytes));
    json_t *args = json_array();
    for (int i = 0; i < is->arg_count; i++) {
        json_t *arg = json_object();
        const char *kind = arg_kinds[is->arg[i].kind];
        if (is->arg[i].kind == NT_ARG_BUFFER)
            json_object_set_new(arg, "role", json_string(roles[is->arg[i].role]));
        json_object_set_new(
            arg, kind, is->arg[i].kind == NT_ARG_F32 ? nt_json_real((double)is->arg[i].real) : number_json(&s->arg[i]));
        json_array_append_new(args, arg);
    }
    json_t *maps = json_array();
    for (int i = 0; i < is->map_count; i++)
        json_array_append_new(maps, map_json(&is->map[i], &s->map[i]));
    return json_pack("{ss s[ooo] s[iii] s[iii] si so so}", "entry", is->entry, "grid", number_json(&s->grid[0]),
                     number_json(&s->grid[1]), number_json(&s->grid[2]), "block", is->block[0], is->block[1],
                     is->block[2], "cluster", is->cluster[0], is->cluster[1], is->cluster[2], "smem_dynamic_bytes",
                     is->smem_dynamic_bytes, "args", args, "maps", maps);
}

json_t *nt__deploy_launch_json(const nt_deploy_launch *l)
{
    json_t *prepare = json_array(), *stages = json_array();
    for (int i = 0; i < l->prepare_count + l->stage_count; i++)
        json_array_append_new(i < l->prepare_count ? prepare : stages, stage_json(&l->stage[i]));
    return json_pack("{sI sI so so so so}", "batch_lo", (json_int_t)l->batch_lo, "batch_hi", (json_int_t)l->batch_hi,
                     "packed_bytes", number_json(&l->packed_bytes), "workspace_bytes", number_json(&l->workspace_bytes),
                     "prepare", prepare, "stages", stages);
}

/* ---- reading --------------------------------------------------------------------------------------------------------- */

static bool read_number(const json_t *json, nt_deploy_number *out)
{
    *out = nt_deploy_constant(json_integer_value(json));
    if (json_is_integer(json))
        return true;
    size_t count = json_array_size(json);
    out->base = json_integer_value(json_array_get(json, 0));
    out->scale = json_integer_value(json_array_get(json, 1));
    out->step = json_integer_value(json_array_get(json, 2));
    out->divisor = json_integer_value(json_array_get(json, 3));
    if (count == 5)
        out->most = json_integer_value(json_array_get(json, 4));
    return (count == 4 || count == 5) && out->divisor > 0;
}

static int name_index(const char *name, const char *const *names, int count)
{
    for (int i = 0; name != NULL && i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return -1;
}

static bool read_arg(const json_t *json, nt_deploy_stage *out)
{
    int at = out->stage.arg_count;
    if (at == NT_MAX_ARGS)
        return false;
    for (int kind = 0; kind < ARG_KINDS; kind++) {
        const json_t *value = json_object_get(json, arg_kinds[kind]);
        if (value == NULL)
            continue;
        nt_arg *arg = &out->stage.arg[at];
        int role = name_index(nt_json_get_text(json, "role"), roles, 5);
        *arg = (nt_arg){.kind = (nt_arg_kind)kind, .role = (nt_role)(role < 0 ? 0 : role)};
        out->arg[at] = nt_deploy_constant(0);
        out->stage.arg_count++;
        arg->real = (float)json_number_value(value);
        if (kind == NT_ARG_F32)
            return json_is_number(value);
        bool ok = read_number(value, &out->arg[at]);
        arg->value = out->arg[at].base;
        if (kind == NT_ARG_TENSOR_MAP)
            return ok && json_is_integer(value) && arg->value >= 0 && arg->value < out->stage.map_count;
        return ok && (kind != NT_ARG_BUFFER || role >= 0);
    }
    return false;
}

static bool read_integers(const json_t *json, const char *key, size_t count, int64_t lo, int64_t hi, int64_t *out)
{
    const json_t *list = json_object_get(json, key);
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(list, i);
        out[i] = json_integer_value(value);
        if (!json_is_integer(value) || out[i] < lo || out[i] > hi)
            return false;
    }
    return json_array_size(list) == count;
}

/* Corners and steps are those of a map that gathers from images. */
static bool read_pixels(const json_t *json, nt_tensor_map *out)
{
    int64_t lower[2], upper[2], step[2];
    out->step[0] = out->step[1] = 1;
    if (!out->images)
        return true;
    bool ok = read_integers(json, "lower", 2, INT32_MIN, INT32_MAX, lower) &&
              read_integers(json, "upper", 2, INT32_MIN, INT32_MAX, upper) &&
              read_integers(json, "step", 2, 1, INT32_MAX, step);
    for (int i = 0; ok && i < 2; i++) {
        out->lower[i] = (int32_t)lower[i];
        out->upper[i] = (int32_t)upper[i];
        out->step[i] = (uint32_t)step[i];
    }
    return ok;
}

static bool read_map(const json_t *json, nt_deploy_stage *out)
{
    if (out->stage.map_count == NT_MAX_MAPS)
        return false;
    nt_tensor_map *is = &out->stage.map[out->stage.map_count];
    nt_deploy_map *m = &out->map[out->stage.map_count++];
    int role = name_index(nt_json_get_text(json, "role"), roles, 5);
    int64_t box[NT_MAP_RANK] = {0}, bytes = nt_json_get_int(json, "element_bytes");
    *is = (nt_tensor_map){
        .role = (nt_role)(role < 0 ? 0 : role), .elem_bytes = bytes, .images = json_object_get(json, "lower") != NULL};
    bool ok = role >= 0 && (bytes == 1 || bytes == 2 || bytes == 4) && read_pixels(json, is) &&
              read_integers(json, "box", is->images ? 2 : NT_MAP_RANK, 1, INT32_MAX, box) &&
              read_number(json_object_get(json, "offset_bytes"), &m->offset_bytes);
    m->stride_bytes[0] = nt_deploy_constant(bytes);
    for (size_t i = 0; ok && i < NT_MAP_RANK; i++) {
        is->box[i] = (uint32_t)box[i];
        ok =
            read_number(json_array_get(json_object_get(json, "sizes"), i), &m->size[i]) &&
            (i == 0 || read_number(json_array_get(json_object_get(json, "strides_bytes"), i - 1), &m->stride_bytes[i]));
    }
    return ok;
}

static bool read_stage(const json_t *json, nt_deploy_stage *out)
{
    *out = (nt_deploy_stage){.zero_bytes = nt_deploy_constant(0)};
    const char *zero = nt_json_get_text(json, "zero");
    bool ok = true;
    for (size_t i = 0; i < 3; i++) {
        out->grid[i] = nt_deploy_constant(0);
        if (zero != NULL)
            continue;
        out->stage.block[i] = (uint32_t)json_integer_value(json_array_get(json_object_get(json, "block"), i));
        out->stage.cluster[i] = (uint32_t)json_integer_value(json_array_get(json_object_get(json, "cluster"), i));
        ok = ok && read_number(json_array_get(json_object_get(json, "grid"), i), &out->grid[i]);
    }
    if (zero != NULL) {
        int role = name_index(zero, roles, 5);
        out->stage.kind = NT_STAGE_ZERO;
        out->stage.zero_role = (nt_role)(role < 0 ? 0 : role);
        return role >= 0 && read_number(json_object_get(json, "bytes"), &out->zero_bytes);
    }
    const char *entry = nt_json_get_text(json, "entry");
    nt_copy(out->stage.entry, sizeof out->stage.entry, entry != NULL ? entry : "");
    out->stage.smem_dynamic_bytes = (uint32_t)nt_json_get_int(json, "smem_dynamic_bytes");
    const json_t *args = json_object_get(json, "args"), *maps = json_object_get(json, "maps");
    for (size_t i = 0; ok && i < json_array_size(maps); i++)
        ok = read_map(json_array_get(maps, i), out);
    for (size_t i = 0; ok && i < json_array_size(args); i++)
        ok = read_arg(json_array_get(args, i), out);
    return ok && out->stage.entry[0] != '\0';
}

bool nt__deploy_launch_read(const json_t *json, nt_deploy_entry *entry)
{
    const json_t *prepare = json_object_get(json, "prepare"), *stages = json_object_get(json, "stages");
    size_t before = json_array_size(prepare), count = json_array_size(stages);
    if (json == NULL || json_is_null(json))
        return true;
    nt_deploy_launch *l = nt_alloc_zero(1, sizeof *l);
    entry->launch = l;
    l->stage = nt_alloc_zero(before + count, sizeof *l->stage);
    bool ok = before <= NT_MAX_PREPARES && count >= 1 && count <= NT_MAX_STAGES &&
              read_number(json_object_get(json, "packed_bytes"), &l->packed_bytes) &&
              read_number(json_object_get(json, "workspace_bytes"), &l->workspace_bytes);
    l->batch_lo = nt_json_get_int(json, "batch_lo");
    l->batch_hi = nt_json_get_int(json, "batch_hi");
    for (size_t i = 0; ok && i < before + count; i++)
        ok = read_stage(json_array_get(i < before ? prepare : stages, i < before ? i : i - before), &l->stage[i]);
    l->prepare_count = (int)before;
    l->stage_count = (int)count;
    return ok;
}
