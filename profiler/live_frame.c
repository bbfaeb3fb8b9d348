/* live_frame.c: one frame of live values: its names, its unknowns, its JSON. */
#include <math.h>
#include <string.h>

#include "core/json.h"
#include "device/nvml.h"
#include "profiler/live.h"

static const struct {
    const char *name, *meaning;
} fields[NT_LIVE_FIELD_COUNT] = {
#define X(id, name, meaning) {#name, meaning},
    NT_LIVE_FIELDS(X)
#undef X
};

static const char *const kind_names[NT_LIVE_KINDS] = {"gpm", "pm", "nvml", "cpu"};

const char *nt_live_kind_name(nt_live_kind kind)
{
    return (unsigned)kind < NT_LIVE_KINDS ? kind_names[kind] : "unknown";
}

int nt_live_kind_find(const char *name)
{
    for (int i = 0; i < NT_LIVE_KINDS; i++)
        if (strcmp(kind_names[i], name) == 0)
            return i;
    return -1;
}

const char *nt_live_field_name(nt_live_field field)
{
    return (unsigned)field < NT_LIVE_FIELD_COUNT ? fields[field].name : "unknown";
}

const char *nt_live_field_meaning(nt_live_field field)
{
    return (unsigned)field < NT_LIVE_FIELD_COUNT ? fields[field].meaning : "";
}

void nt_live_frame_init(nt_live_frame *frame)
{
    memset(frame, 0, sizeof *frame);
    for (int i = 0; i < NT_LIVE_FIELD_COUNT; i++)
        frame->value[i] = NAN;
    frame->span_s = NAN;
    frame->throttle_mask = NT_UNKNOWN;
    frame->process_count = -1;
    frame->samples = NT_UNKNOWN;
}

void nt_live_set(nt_live_frame *frame, nt_live_kind source, nt_live_field field, double value)
{
    if (isnan(value))
        return;
    frame->value[field] = value;
    frame->source[field] = source;
}

/* ---- JSON ---------------------------------------------------------------------------------------------------------- */

static json_t *processes_json(const nt_live_frame *frame)
{
    if (frame->process_count < 0)
        return json_null();
    json_t *list = json_array();
    for (int i = 0; i < frame->process_count; i++) {
        const nt_live_process *p = &frame->process[i];
        json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o}", "pid", nt_json_int(p->pid), "user",
                                              nt_json_text(p->user), "name", nt_json_text(p->name), "memory_bytes",
                                              nt_json_int(p->memory_bytes)));
    }
    return list;
}

static json_t *cores_json(const nt_live_frame *frame)
{
    json_t *list = json_array();
    for (int i = 0; i < frame->core_count; i++)
        json_array_append_new(list, nt_json_real(frame->core_busy_pct[i]));
    return list;
}

static json_t *throttle_json(int64_t mask)
{
    nt_str names = {0};
    if (mask == NT_UNKNOWN)
        return json_null();
    nt_nvml_throttle_names(mask, &names);
    json_t *text = json_string(nt_str_text(&names));
    nt_str_done(&names);
    return text;
}

void nt_live_frame_json(const nt_live_frame *frame, json_t *out)
{
    json_t *sources = json_object();
    json_object_set_new(out, "time_unix_s", nt_json_real(frame->unix_s));
    json_object_set_new(out, "span_s", nt_json_real(frame->span_s));
    json_object_set_new(out, "lag_s", nt_json_real(frame->lag_s));
    for (int i = 0; i < NT_LIVE_FIELD_COUNT; i++) {
        json_object_set_new(out, fields[i].name, nt_json_real(frame->value[i]));
        if (!isnan(frame->value[i]))
            json_object_set_new(sources, fields[i].name, json_string(nt_live_kind_name(frame->source[i])));
    }
    json_object_set_new(out, "sources", sources);
    json_object_set_new(out, "throttle_mask", nt_json_int(frame->throttle_mask));
    json_object_set_new(out, "throttle", throttle_json(frame->throttle_mask));
    json_object_set_new(out, "samples", nt_json_int(frame->samples));
    json_object_set_new(out, "lost", nt_json_int(frame->lost));
    json_object_set_new(out, "processes", processes_json(frame));
    if (frame->core_count > 0)
        json_object_set_new(out, "core_busy_pct", cores_json(frame));
}
