/* table_bundle.c: a table as the one file that libnntune maps (runtime/format.h), with the code of its entries and
 * itself as JSON, so that tools can read it back. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "reports/table.h"
#include "runtime/format.h"

/* A part while it grows. */
typedef struct part {
    char *data;
    size_t bytes, capacity, size; /* size: of one element */
} part;

typedef struct bundle {
    const nt_deploy *table;
    part part[NNTUNE_PART_COUNT];
} bundle;

static uint32_t count_of(const bundle *b, nntune_part which)
{
    return (uint32_t)(b->part[which].bytes / b->part[which].size);
}

static void *add_bytes(bundle *b, nntune_part which, const void *data, size_t bytes)
{
    part *p = &b->part[which];
    nt_grow((void **)&p->data, &p->capacity, p->bytes + bytes, 1);
    memcpy(p->data + p->bytes, data, bytes);
    p->bytes += bytes;
    return p->data + p->bytes - bytes;
}

static uint32_t add(bundle *b, nntune_part which, const void *element)
{
    uint32_t index = count_of(b, which);
    add_bytes(b, which, element, b->part[which].size);
    return index;
}

static uint32_t add_text(bundle *b, const char *text)
{
    uint32_t at = (uint32_t)b->part[NNTUNE_PART_TEXT].bytes;
    add_bytes(b, NNTUNE_PART_TEXT, text, strlen(text) + 1);
    return at;
}

/* Kernels and parameters repeat: an equal text of the last few hundred bytes, or of the entry before, is shared. */
static uint32_t share_text(bundle *b, const char *text, uint32_t near)
{
    const part *p = &b->part[NNTUNE_PART_TEXT];
    return near < p->bytes && strcmp(p->data + near, text) == 0 ? near : add_text(b, text);
}

/* ---- launches -------------------------------------------------------------------------------------------------------- */

static nntune_file_number number_of(const nt_deploy_number *n)
{
    return (nntune_file_number){n->base, n->scale, n->step, n->divisor, n->most};
}

/* As device/cuda_tensor_map.c encodes it when it is timed. */
static void add_map(bundle *b, const nt_tensor_map *is, const nt_deploy_map *from)
{
    nntune_file_map map = {.form = is->images,
                           .role = (uint32_t)is->role,
                           .type = is->elem_bytes == 4   ? NNTUNE_MAP_UINT32
                                   : is->elem_bytes == 2 ? NNTUNE_MAP_UINT16
                                                         : NNTUNE_MAP_UINT8,
                           .interleave = NNTUNE_MAP_NO_INTERLEAVE,
                           .swizzle = NNTUNE_MAP_SWIZZLE_128B,
                           .promotion = NNTUNE_MAP_PROMOTE_256B,
                           .fill = NNTUNE_MAP_FILL_ZEROS,
                           .offset_bytes = number_of(&from->offset_bytes)};
    for (int i = 0; i < NT_MAP_RANK; i++) {
        map.box[i] = is->box[i];
        map.step[i] = is->images && (i == 1 || i == 2) ? is->step[i - 1] : 1;
        map.size[i] = number_of(&from->size[i]);
        if (i > 0)
            map.stride_bytes[i - 1] = number_of(&from->stride_bytes[i]);
    }
    for (int i = 0; is->images && i < 2; i++) {
        map.lower[i] = is->lower[i];
        map.upper[i] = is->upper[i];
    }
    add(b, NNTUNE_PART_MAP, &map);
}

static void add_stage(bundle *b, const nt_deploy_stage *from)
{
    const nt_stage *is = &from->stage;
    nntune_file_stage stage = {.kind = is->kind == NT_STAGE_ZERO,
                               .entry = add_text(b, is->entry),
                               .smem_dynamic_bytes = is->smem_dynamic_bytes,
                               .first_arg = count_of(b, NNTUNE_PART_ARG),
                               .arg_count = (uint32_t)is->arg_count,
                               .first_map = count_of(b, NNTUNE_PART_MAP),
                               .map_count = (uint32_t)is->map_count,
                               .zero_role = (uint32_t)is->zero_role,
                               .zero_bytes = number_of(&from->zero_bytes)};
    for (int i = 0; i < 3; i++) {
        stage.grid[i] = number_of(&from->grid[i]);
        stage.block[i] = is->block[i];
        stage.cluster[i] = is->cluster[i];
    }
    for (int i = 0; i < is->arg_count; i++) {
        nntune_file_arg arg = {.kind = (uint32_t)is->arg[i].kind,
                               .role = is->arg[i].kind == NT_ARG_BUFFER ? (uint32_t)is->arg[i].role : 0,
                               .real = is->arg[i].real,
                               .number = number_of(&from->arg[i])};
        add(b, NNTUNE_PART_ARG, &arg);
    }
    for (int i = 0; i < is->map_count; i++)
        add_map(b, &is->map[i], &from->map[i]);
    add(b, NNTUNE_PART_STAGE, &stage);
}

static uint32_t add_plan(bundle *b, const nt_deploy_launch *l)
{
    uint32_t first = count_of(b, NNTUNE_PART_STAGE);
    nntune_file_plan plan = {.prepare_first = first,
                             .prepare_count = (uint32_t)l->prepare_count,
                             .stage_first = first + (uint32_t)l->prepare_count,
                             .stage_count = (uint32_t)l->stage_count,
                             .batch_lo = l->batch_lo,
                             .batch_hi = l->batch_hi,
                             .packed_bytes = number_of(&l->packed_bytes),
                             .workspace_bytes = number_of(&l->workspace_bytes)};
    for (int i = 0; i < l->prepare_count + l->stage_count; i++)
        add_stage(b, &l->stage[i]);
    return add(b, NNTUNE_PART_PLAN, &plan);
}

/* ---- entries --------------------------------------------------------------------------------------------------------- */

static uint32_t environment_of(bundle *b, const nt_deploy_entry *e)
{
    const nntune_file_environment *rows = (const void *)b->part[NNTUNE_PART_ENVIRONMENT].data;
    const char *text = b->part[NNTUNE_PART_TEXT].data;
    for (uint32_t i = 0; i < count_of(b, NNTUNE_PART_ENVIRONMENT); i++)
        if (strcmp(text + rows[i].driver, e->driver) == 0 && strcmp(text + rows[i].compiler, e->compiler) == 0)
            return i;
    nntune_file_environment row = {add_text(b, e->driver), add_text(b, e->compiler)};
    return add(b, NNTUNE_PART_ENVIRONMENT, &row);
}

static void add_cost(bundle *b, const nt_deploy_entry *e)
{
    int dims = e->problem.shape.count;
    nntune_file_cost cost = {.block_scale = e->cost.block_scale,
                             .slots = e->cost.slots,
                             .wave_ns = e->cost.wave_ns,
                             .flop_per_block = e->cost.flop_per_block};
    for (int i = 0; i <= dims; i++) {
        cost.tile[i] = (float)e->cost.tile[i];
        cost.multiple[i] =
            (uint32_t)(e->cost.multiple[i] > 1 && e->cost.multiple[i] <= UINT32_MAX ? e->cost.multiple[i] : 1);
    }
    add(b, NNTUNE_PART_COST, &cost);
}

static void add_entry(bundle *b, const nt_deploy_entry *e, uint32_t family)
{
    const part *steps = &b->part[NNTUNE_PART_STEP];
    uint32_t count = count_of(b, NNTUNE_PART_ENTRY);
    nntune_file_step last = {0};
    if (count > 0)
        memcpy(&last, steps->data + steps->bytes - sizeof last, sizeof last);
    nntune_file_step step = {.from = e->from_batch,
                             .batch = e->problem.batch,
                             .time_ns = e->time_ns,
                             .entry = count,
                             .environment = environment_of(b, e),
                             .kernel = share_text(b, e->kernel, last.kernel),
                             .params = share_text(b, e->params_json, last.params),
                             .source_hash = share_text(b, e->source_hash, last.source_hash),
                             .error_prec = (float)e->error_prec};
    nntune_file_entry entry = {.family = family,
                               .no_launch = e->launch == NULL ? share_text(b, e->no_launch, 0) : 0,
                               .plan = e->launch != NULL ? add_plan(b, e->launch) : NNTUNE_NOTHING,
                               .artefact = e->code >= 0 ? (uint32_t)e->code : NNTUNE_NOTHING,
                               .batch = e->problem.batch,
                               .time_ns = e->time_ns,
                               .time_lo_ns = e->time_lo_ns,
                               .time_hi_ns = e->time_hi_ns,
                               .floor_ns = e->floor_ns,
                               .error_impl = e->error_impl,
                               .error_prec = e->error_prec};
    add(b, NNTUNE_PART_ENTRY, &entry);
    add(b, NNTUNE_PART_STEP, &step);
    add_cost(b, e);
}

/* ---- groups and families --------------------------------------------------------------------------------------------- */

static nntune_file_product product_of(const nt_deploy_product *p)
{
    nntune_file_product out = {.scale = p->scale};
    for (int i = 0; i <= NT_MAX_DIMS; i++)
        out.exponent[i] = (float)p->exponent[i];
    return out;
}

static uint32_t add_group(bundle *b, const nt_deploy_entry *e)
{
    const nt_deploy_work *work = nt_deploy_find_work(b->table, &e->problem);
    nntune_file_group group = {.device = (uint32_t)e->device,
                               .layer = add_text(b, e->problem.layer),
                               .precision = (uint32_t)e->problem.precision,
                               .layout = (uint32_t)e->problem.layout,
                               .dims = (uint32_t)e->problem.shape.count,
                               .first_family = count_of(b, NNTUNE_PART_FAMILY),
                               .flop = {.scale = NAN}};
    if (work != NULL) {
        group.flop = product_of(&work->flop);
        for (int t = 0; t < 3; t++)
            group.bytes[t] = product_of(&work->bytes[t]);
    }
    return add(b, NNTUNE_PART_GROUP, &group);
}

static uint32_t add_family(bundle *b, const nt_deploy_entry *e, uint32_t group)
{
    nntune_file_family family = {.group = group, .first_step = count_of(b, NNTUNE_PART_STEP)};
    for (int i = 0; i < e->problem.shape.count; i++) {
        family.size[i] = e->problem.shape.dim[i].size;
        family.log2_size[i] = (float)log2((double)family.size[i]);
    }
    family.hash = nntune_file_key((uint32_t)e->device, e->problem.layer, (uint32_t)e->problem.precision,
                                  (uint32_t)e->problem.layout, family.size, e->problem.shape.count);
    nntune_file_group *groups = (void *)b->part[NNTUNE_PART_GROUP].data;
    groups[group].family_count++;
    return add(b, NNTUNE_PART_FAMILY, &family);
}

static bool same_group(const nt_deploy_entry *a, const nt_deploy_entry *b)
{
    return a->device == b->device && a->problem.precision == b->problem.precision &&
           a->problem.layout == b->problem.layout && a->problem.shape.count == b->problem.shape.count &&
           strcmp(a->problem.layer, b->problem.layer) == 0;
}

static void add_entries(bundle *b)
{
    const nt_deploy *t = b->table;
    uint32_t group = 0, family = 0;
    for (size_t i = 0; i < t->entry_count; i++) {
        const nt_deploy_entry *e = &t->entry[i], *before = i > 0 ? e - 1 : NULL;
        if (before == NULL || !same_group(before, e))
            group = add_group(b, e);
        if (before == NULL || !nt_deploy_same_family(before, e))
            family = add_family(b, e, group);
        add_entry(b, e, family);
        ((nntune_file_family *)(void *)b->part[NNTUNE_PART_FAMILY].data)[family].step_count++;
    }
}

static void add_index(bundle *b)
{
    uint32_t families = count_of(b, NNTUNE_PART_FAMILY), size = 2;
    while (size < 2 * families)
        size *= 2;
    nntune_file_index *index = nt_alloc_zero(size, sizeof *index);
    const nntune_file_family *family = (const void *)b->part[NNTUNE_PART_FAMILY].data;
    for (uint32_t i = 0; i < families; i++) {
        uint64_t at = family[i].hash & (size - 1);
        while (index[at].family_plus_1 != 0)
            at = (at + 1) & (size - 1);
        index[at] = (nntune_file_index){(uint32_t)(family[i].hash >> 32), i + 1};
    }
    add_bytes(b, NNTUNE_PART_INDEX, index, size * sizeof *index);
    free(index);
}

static void add_devices(bundle *b)
{
    for (size_t i = 0; i < b->table->device_count; i++) {
        const nt_deploy_device *d = &b->table->device[i];
        nntune_file_device device = {.name = add_text(b, d->name),
                                     .arch = add_text(b, d->arch),
                                     .uuid = add_text(b, d->uuid),
                                     .kind = d->kind == NT_DEVICE_CUDA ? 1 : 0,
                                     .sm_count = d->sm_count,
                                     .bytes_per_s = d->bytes_per_s,
                                     .is_default = d->is_default};
        add(b, NNTUNE_PART_DEVICE, &device);
    }
}

static void add_codes(bundle *b)
{
    static const char zeros[8];
    for (size_t i = 0; i < b->table->code_count; i++) {
        const nt_deploy_code *code = &b->table->code[i];
        nntune_file_artefact artefact = {.key = add_text(b, code->key),
                                         .offset = b->part[NNTUNE_PART_CODE].bytes,
                                         .bytes = code->bytes,
                                         .checksum = nntune_file_checksum(code->data, code->bytes)};
        add_bytes(b, NNTUNE_PART_CODE, code->data, code->bytes);
        add_bytes(b, NNTUNE_PART_CODE, zeros, (8 - code->bytes % 8) % 8);
        add(b, NNTUNE_PART_ARTEFACT, &artefact);
    }
}

/* ---- the file -------------------------------------------------------------------------------------------------------- */

static nt_status assemble(bundle *b, void **out, size_t *bytes, nt_error *err)
{
    nntune_file_header header = {.version = NNTUNE_FILE_VERSION, .order = NNTUNE_FILE_ORDER};
    size_t total = sizeof header;
    memcpy(header.magic, NNTUNE_FILE_MAGIC, sizeof header.magic);
    for (int i = 0; i < NNTUNE_PART_COUNT; i++) {
        header.part[i].offset = total;
        header.part[i].count = b->part[i].bytes / b->part[i].size;
        total += (b->part[i].bytes + 7) / 8 * 8;
    }
    if (total > NT_DEPLOY_BYTES)
        return nt_fail(err, NT_USAGE, "a bundle of %zu bytes; at most %d are possible: leave devices or layers out",
                       total, NT_DEPLOY_BYTES);
    char *data = nt_alloc_zero(total, 1);
    for (int i = 0; i < NNTUNE_PART_COUNT; i++)
        if (b->part[i].bytes > 0)
            memcpy(data + header.part[i].offset, b->part[i].data, b->part[i].bytes);
    header.bytes = total;
    memcpy(data, &header, sizeof header);
    header.checksum = nntune_file_sum(data, total);
    memcpy(data, &header, sizeof header);
    *out = data;
    *bytes = total;
    return NT_OK;
}

nt_status nt_deploy_bundle(const nt_deploy *table, void **out, size_t *bytes, nt_error *err)
{
    bundle b = {.table = table};
    for (int i = 0; i < NNTUNE_PART_COUNT; i++)
        b.part[i].size = nntune_file_part_bytes((nntune_part)i);
    add_text(&b, "");
    add_devices(&b);
    add_codes(&b);
    add_entries(&b);
    add_index(&b);
    char *manifest = table->lean ? NULL : nt_deploy_json(table);
    if (manifest != NULL)
        add_bytes(&b, NNTUNE_PART_MANIFEST, manifest, strlen(manifest) + 1);
    free(manifest);
    nt_status status = assemble(&b, out, bytes, err);
    for (int i = 0; i < NNTUNE_PART_COUNT; i++)
        free(b.part[i].data);
    return status;
}
