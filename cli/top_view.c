/* top_view.c: see top_view.h. A column is a row of a table: heading, field, how its number is written. Which source
 * each column comes from is said in a line of its own, at the start and whenever it changes. */
#include "cli/top_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/table.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/units.h"
#include "device/nvml.h"

typedef void write_fn(nt_table *table, const nt_live_frame *frame, nt_live_field field);

static void write_pct(nt_table *table, const nt_live_frame *frame, nt_live_field field)
{
    nt_table_cell(table, isnan(frame->value[field]) ? "-" : "%.1f", frame->value[field]);
}

static void write_whole(nt_table *table, const nt_live_frame *frame, nt_live_field field)
{
    nt_table_cell(table, isnan(frame->value[field]) ? "-" : "%.0f", frame->value[field]);
}

static void write_watt(nt_table *table, const nt_live_frame *frame, nt_live_field field)
{
    nt_table_cell(table, isnan(frame->value[field]) ? "-" : "%.0f", frame->value[field] / 1e3);
}

static void write_rate(nt_table *table, const nt_live_frame *frame, nt_live_field field)
{
    nt_table_cell(table, "%s", nt_text_rate(frame->value[field]).s);
}

static void write_bytes(nt_table *table, const nt_live_frame *frame, nt_live_field field)
{
    nt_table_cell(table, "%s", nt_text_bytes(frame->value[field]).s);
}

static void write_cores(nt_table *table, const nt_live_frame *frame, nt_live_field field)
{
    enum { SHOWN = 16 };
    nt_str text = {0};
    (void)field;
    for (int i = 0; i < frame->core_count && i < SHOWN; i++)
        nt_str_addf(&text, isnan(frame->core_busy_pct[i]) ? "%s-" : "%s%.0f", i > 0 ? " " : "",
                    frame->core_busy_pct[i]);
    if (frame->core_count > SHOWN)
        nt_str_addf(&text, " ... (%d)", frame->core_count);
    nt_table_cell(table, "%s", nt_str_text(&text));
    nt_str_done(&text);
}

static void write_throttle(nt_table *table, const nt_live_frame *frame, nt_live_field field)
{
    enum { IDLE = 1 };
    nt_str names = {0};
    (void)field;
    bool idle_alone = frame->throttle_mask == IDLE;
    nt_nvml_throttle_names(frame->throttle_mask, &names);
    nt_table_cell(table, "%s", frame->throttle_mask == NT_UNKNOWN ? "-" : idle_alone ? "idle" : nt_str_text(&names));
    nt_str_done(&names);
}

typedef struct column {
    const char *heading; /* '>' first: right-aligned */
    nt_live_field field; /* NT_LIVE_FIELD_COUNT: not one field */
    write_fn *write;
} column;

static const column gpu_columns[] = {
    {">busy %", NT_LIVE_BUSY, write_pct},
    {">SM %", NT_LIVE_SM_ACTIVE, write_pct},
    {">occupancy %", NT_LIVE_OCCUPANCY, write_pct},
    {">tensor %", NT_LIVE_TENSOR, write_pct},
    {">DRAM %", NT_LIVE_DRAM, write_pct},
    {">read", NT_LIVE_DRAM_READ_RATE, write_rate},
    {">write", NT_LIVE_DRAM_WRITE_RATE, write_rate},
    {">MHz", NT_LIVE_SM_CLOCK, write_whole},
    {">C", NT_LIVE_TEMPERATURE, write_whole},
    {">W", NT_LIVE_POWER, write_watt},
    {">memory", NT_LIVE_MEMORY_USED, write_bytes},
    {"throttle", NT_LIVE_FIELD_COUNT, write_throttle},
};

static const column cpu_columns[] = {
    {">busy %", NT_LIVE_BUSY, write_pct},          {">MHz", NT_LIVE_SM_CLOCK, write_whole},
    {">C", NT_LIVE_TEMPERATURE, write_whole},      {">W", NT_LIVE_POWER, write_watt},
    {">memory", NT_LIVE_MEMORY_USED, write_bytes}, {"of", NT_LIVE_MEMORY_TOTAL, write_bytes},
    {"cores %", NT_LIVE_FIELD_COUNT, write_cores},
};

/* What was said of a device's sources: the fields of each kind, since the main source changed. */
typedef struct said {
    char device[32];
    nt_live_kind source;
    unsigned fields[NT_LIVE_KINDS];
    uint64_t processes; /* a hash of those last said */
} said;

enum { MOST_DEVICES = 32 };

struct nt_top_view {
    FILE *out;
    bool bold;
    const column *columns;
    int count;
    nt_table *table;
    said said[MOST_DEVICES];
    int said_count;
};

nt_top_view *nt_top_view_new(FILE *out, bool gpu, bool bold)
{
    nt_top_view *view = nt_alloc_zero(1, sizeof *view);
    view->out = out;
    view->bold = bold;
    view->columns = gpu ? gpu_columns : cpu_columns;
    view->count = gpu ? sizeof gpu_columns / sizeof gpu_columns[0] : sizeof cpu_columns / sizeof cpu_columns[0];
    view->table = nt_table_new("time|device|source");
    for (int i = 0; i < view->count; i++) {
        const char *heading = view->columns[i].heading;
        nt_table_column(view->table, heading + (*heading == '>'), *heading == '>');
    }
    return view;
}

void nt_top_view_free(nt_top_view *view)
{
    if (view == NULL)
        return;
    nt_table_free(view->table);
    free(view);
}

/* "sources of cuda:0: gpm: SM %, occupancy %; nvml: busy %, MHz" */
static void describe_sources(const nt_top_view *view, const char *device, const nt_live_frame *frame, nt_str *out)
{
    nt_str_addf(out, "sources of %s:", device);
    bool any = false;
    _Static_assert(NT_LIVE_FIELD_COUNT <= 32, "the fields are bits of an unsigned");
    for (int kind = 0; kind < NT_LIVE_KINDS; kind++) {
        bool first = true;
        for (int i = 0; i < view->count; i++) {
            const column *c = &view->columns[i];
            if (c->field == NT_LIVE_FIELD_COUNT || isnan(frame->value[c->field]) ||
                (int)frame->source[c->field] != kind)
                continue;
            if (first)
                nt_str_addf(out, "%s %s:", any ? ";" : "", nt_live_kind_name((nt_live_kind)kind));
            nt_str_addf(out, "%s %s", first ? "" : ",", c->heading + (c->heading[0] == '>'));
            any = true;
            first = false;
        }
    }
}

static said *said_of(nt_top_view *view, const char *device, nt_live_kind source)
{
    said *of = NULL;
    for (int i = 0; i < view->said_count && of == NULL; i++)
        if (strcmp(view->said[i].device, device) == 0)
            of = &view->said[i];
    bool changed = of == NULL || of->source != source;
    if (of == NULL)
        of = &view->said[view->said_count < MOST_DEVICES ? view->said_count++ : MOST_DEVICES - 1];
    if (changed) {
        memset(of, 0, sizeof *of);
        nt_copy(of->device, sizeof of->device, device);
        of->source = source;
    }
    return of;
}

/* Said again only for what was not said yet: an idle GPU has fields that come and go. */
static void say_sources(nt_top_view *view, const char *device, nt_live_kind source, const nt_live_frame *frame)
{
    said *before = said_of(view, device, source);
    bool news = false;
    for (int i = 0; i < view->count; i++) {
        nt_live_field field = view->columns[i].field;
        if (field == NT_LIVE_FIELD_COUNT || isnan(frame->value[field]))
            continue;
        unsigned *fields = &before->fields[frame->source[field]];
        news = news || (*fields & 1u << field) == 0;
        *fields |= 1u << field;
    }
    if (!news)
        return;
    nt_str text = {0};
    describe_sources(view, device, frame, &text);
    nt_table_line(view->table, "%s", nt_str_text(&text));
    nt_str_done(&text);
}

static void name_processes(const char *device, const nt_live_frame *frame, nt_str *out)
{
    nt_str_addf(out, "processes on %s:", device);
    for (int i = 0; i < frame->process_count; i++) {
        const nt_live_process *p = &frame->process[i];
        nt_str_addf(out, "%s %lld %s %s %s", i > 0 ? "," : "", (long long)p->pid, p->user[0] != '\0' ? p->user : "-",
                    p->name[0] != '\0' ? p->name : "-",
                    p->memory_bytes == NT_UNKNOWN ? "-" : nt_text_bytes((double)p->memory_bytes).s);
    }
    if (frame->process_count == 0)
        nt_str_add(out, " none");
}

/* When one comes or goes; their memory moves too often for a line each time. */
static void say_processes(nt_top_view *view, const char *device, nt_live_kind source, const nt_live_frame *frame)
{
    if (frame->process_count < 0)
        return;
    uint64_t key = 1 + (uint64_t)frame->process_count;
    for (int i = 0; i < frame->process_count; i++)
        key += ((uint64_t)frame->process[i].pid + 1) * 0x9e3779b97f4a7c15u; /* whatever their order */
    said *before = said_of(view, device, source);
    if (before->processes == key)
        return;
    before->processes = key;
    nt_str text = {0};
    name_processes(device, frame, &text);
    nt_table_line(view->table, "%s", nt_str_text(&text));
    nt_str_done(&text);
}

void nt_top_view_frame(nt_top_view *view, const char *device, nt_live_kind source, const nt_live_frame *frame)
{
    char clock[16];
    struct tm local;
    time_t seconds = (time_t)frame->unix_s;
    localtime_r(&seconds, &local);
    strftime(clock, sizeof clock, "%H:%M:%S", &local);
    say_sources(view, device, source, frame);
    say_processes(view, device, source, frame);
    nt_table_cell(view->table, "%s.%d", clock, (int)((frame->unix_s - floor(frame->unix_s)) * 10));
    nt_table_cell(view->table, "%s", device);
    nt_table_cell(view->table, "%s", nt_live_kind_name(source));
    for (int i = 0; i < view->count; i++)
        view->columns[i].write(view->table, frame, view->columns[i].field);
    nt_table_print(view->table, view->out, view->bold);
    fflush(view->out);
}

json_t *nt_top_frame_json(const char *device, const nt_device_info *info, nt_live_kind source,
                          const nt_live_frame *frame)
{
    json_t *line =
        json_pack("{s:s, s:s, s:o, s:o, s:s}", "type", "live", "device", device, "name", nt_json_text(info->name),
                  "uuid", nt_json_text(info->uuid), "source", nt_live_kind_name(source));
    nt_live_frame_json(frame, line);
    return line;
}
