/* cmd_devices.c: `nntune devices`: what can be tuned here: identity, limits, peaks; and for what is missing, why. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/color.h"
#include "cli/output.h"
#include "cli/peaks.h"
#include "cli/present.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/units.h"
#include "device/device.h"

/* The kinds shown to people; the fake device is for tests. */
static const nt_device_kind kinds[] = {NT_DEVICE_CUDA, NT_DEVICE_CPU};
enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

static void option_name(const nt_device_info *info, char *out, size_t capacity)
{
    if (info->kind == NT_DEVICE_CUDA)
        snprintf(out, capacity, "cuda:%d", info->ordinal);
    else
        nt_copy(out, capacity, nt_device_kind_name(info->kind));
}

/* ---- lines for people ---------------------------------------------------------------------------------------------------- */

static void add(nt_str *line, const char *text)
{
    if (text[0] != '\0')
        nt_str_addf(line, "%s%s", line->length > 0 ? ", " : "", text);
}

/* "132 SMs"; nothing when unknown. */
static void add_count(nt_str *line, int64_t count, const char *what)
{
    if (count != NT_UNKNOWN)
        nt_str_addf(line, "%s%lld %s", line->length > 0 ? ", " : "", (long long)count, what);
}

static void add_bytes(nt_str *line, int64_t bytes, const char *what)
{
    if (bytes != NT_UNKNOWN)
        nt_str_addf(line, "%s%s %s", line->length > 0 ? ", " : "", nt_text_bytes((double)bytes).s, what);
}

static void add_clock(nt_str *line, double mhz, const char *what)
{
    if (!isnan(mhz))
        nt_str_addf(line, "%s%.0f MHz %s", line->length > 0 ? ", " : "", mhz, what);
}

static void show(const char *name, nt_str *line)
{
    if (line->length > 0)
        printf("  %-9s %s\n", name, nt_str_text(line));
    nt_str_done(line);
}

static void show_identity(const nt_device_info *info)
{
    nt_str line = {0};
    bool cuda = info->kind == NT_DEVICE_CUDA;
    add(&line, info->uuid);
    add(&line, info->arch);
    if (info->driver[0] != '\0')
        nt_str_addf(&line, ", %s%s", cuda ? "driver " : "", info->driver);
    add(&line, info->compiler);
    show("identity", &line);
}

static void show_compute(const nt_device_info *info)
{
    nt_str line = {0};
    add_count(&line, info->sm_count, info->kind == NT_DEVICE_CUDA ? "SMs" : "cores that may be used");
    add_clock(&line, info->sm_clock_max_mhz, "at most");
    show("compute", &line);
    add(&line, info->features);
    show("features", &line);
}

static void show_limits(const nt_device_info *info)
{
    nt_str line = {0};
    if (info->kind != NT_DEVICE_CUDA)
        return;
    add_count(&line, info->max_threads_per_sm, "threads");
    add_count(&line, info->max_blocks_per_sm, "blocks");
    add_count(&line, info->regs_per_sm, "registers");
    add_bytes(&line, info->smem_per_sm_bytes, "shared memory");
    show("per SM", &line);
    add_count(&line, info->max_threads_per_block, "threads");
    add_count(&line, info->regs_per_block, "registers");
    add_bytes(&line, info->smem_per_block_bytes, "shared memory");
    add_bytes(&line, info->smem_reserved_bytes, "of it kept by the driver");
    show("per block", &line);
}

static void show_memory(const nt_device_info *info)
{
    nt_str line = {0};
    add_bytes(&line, info->memory_bytes, "");
    if (line.length > 0)
        line.data[--line.length] = '\0'; /* the blank before no word */
    add_bytes(&line, info->l2_bytes, info->kind == NT_DEVICE_CUDA ? "L2 cache" : "last-level cache");
    add_clock(&line, info->mem_clock_max_mhz, "memory clock");
    show("memory", &line);
}

static void show_peaks(const nt_device_info *info)
{
    nt_str line = {0};
    for (int i = 0; i < NT_PRECISION_COUNT; i++)
        if (!isnan(info->peak_flops[i]))
            nt_str_addf(&line, "%s%s %s", line.length > 0 ? ", " : "", nt_precisions[i].name,
                        nt_present_rate((nt_precision)i, info->peak_flops[i]).s);
    if (!isnan(info->dram_peak_bytes_per_s))
        nt_str_addf(&line, "%smemory %s", line.length > 0 ? ", " : "", nt_text_rate(info->dram_peak_bytes_per_s).s);
    if (line.length == 0)
        nt_str_add(&line, "unknown");
    if (info->peak_source[0] != '\0')
        nt_str_addf(&line, " (%s)", info->peak_source);
    show("peaks", &line);
}

static void show_device(const nt_device_info *info, bool bold)
{
    char name[32];
    option_name(info, name, sizeof name);
    printf("%s%s: %s%s\n", bold ? NT_BOLD : "", name, info->name, bold ? NT_PLAIN : "");
    show_identity(info);
    show_compute(info);
    show_limits(info);
    show_memory(info);
    show_peaks(info);
}

static void show_missing(nt_device_kind kind, const nt_device_listing *listing)
{
    if (listing->missing[0] == '\0')
        return;
    printf(listing->count == 0 ? "%s: none here: %s\n" : "%s cannot be tuned now: %s\n", nt_device_kind_name(kind),
           listing->missing);
    if (listing->hint[0] != '\0')
        printf("  %s\n", listing->hint);
}

/* ---- the command -------------------------------------------------------------------------------------------------------------- */

static bool lacks_peaks(const nt_device_listing *listing)
{
    return listing->count > 0 && listing->missing[0] == '\0' && listing->info[0].kind == NT_DEVICE_CPU &&
           isnan(listing->info[0].peak_flops[NT_FP32]);
}

static void measure(const nt_args *args, nt_device_info *info)
{
    nt_error err = {0};
    if (!nt_args_flag(args, "quiet"))
        fputs("measuring the peaks of the cpu, once, for about two seconds\n", stderr);
    if (nt_peaks_measure(info, &err) != NT_OK)
        nt_copy(info->peak_source, sizeof info->peak_source, err.what);
}

static void print_json(const nt_device_listing *listing)
{
    json_t *document = nt_output_document("devices"), *devices = json_array(), *missing = json_array();
    for (int k = 0; k < KIND_COUNT; k++) {
        for (int i = 0; i < listing[k].count; i++) {
            char name[32];
            option_name(&listing[k].info[i], name, sizeof name);
            json_t *device = json_pack("{s:s}", "device", name);
            json_t *rest = nt_json_device(&listing[k].info[i]);
            json_object_update(device, rest);
            json_decref(rest);
            json_array_append_new(devices, device);
        }
        if (listing[k].missing[0] != '\0')
            json_array_append_new(missing, json_pack("{s:s, s:s, s:s}", "kind", nt_device_kind_name(kinds[k]), "why",
                                                     listing[k].missing, "next", listing[k].hint));
    }
    json_object_set_new(document, "devices", devices);
    json_object_set_new(document, "missing", missing);
    nt_output_json(document);
}

static void print_text(const nt_device_listing *listing, bool bold)
{
    for (int k = 0; k < KIND_COUNT; k++) {
        for (int i = 0; i < listing[k].count; i++)
            show_device(&listing[k].info[i], bold);
        show_missing(kinds[k], &listing[k]);
        if (k + 1 < KIND_COUNT)
            putchar('\n');
    }
}

static nt_status run(const nt_args *args, int *exit_code, nt_error *err)
{
    nt_device_listing *listing = nt_alloc_zero(KIND_COUNT, sizeof *listing);
    (void)exit_code;
    (void)err;
    for (int k = 0; k < KIND_COUNT; k++) {
        nt_device_ops_of(kinds[k])->list(&listing[k]);
        if (lacks_peaks(&listing[k]))
            measure(args, &listing[k].info[0]);
    }
    if (nt_args_flag(args, "json"))
        print_json(listing);
    else
        print_text(listing, nt_color_wanted(args, stdout));
    free(listing);
    return NT_OK;
}

const nt_command nt_command_devices = {
    .name = "devices",
    .group = "System",
    .summary = "show the devices here: identity, limits, peaks; and for what is missing, why",
    .usage = "",
    .example = "nntune devices",
    .description =
        "Peaks of a GPU follow from its data sheet's formula. Those of the cpu are measured, once, and kept in "
        "the cache folder.",
    .uses = NT_USES_JSON | NT_USES_QUIET | NT_USES_COLOR,
    .run = run,
};
