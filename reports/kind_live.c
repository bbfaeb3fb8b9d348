/* kind_live.c: what a device did over time, from the frames that `nntune top --log` wrote: how busy, how full, how much
 * of its memory's speed, with its clock. Long logs are put together in stretches: their mean, and a band from least to
 * most. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/json.h"
#include "core/mem.h"
#include "core/text_file.h"
#include "reports/kinds.h"

enum { MOST_LOG_BYTES = 256 << 20, STRETCHES = 400 };

static const struct {
    const char *key, *name;
    int color;
    bool second; /* not a percentage: the clock, on the right */
    double unit;
} lines[] = {
    {"busy_pct", "busy", 7, false, 1},           {"sm_active_pct", "SMs active", 0, false, 1},
    {"occupancy_pct", "occupancy", 2, false, 1}, {"dram_pct", "memory", 1, false, 1},
    {"tensor_pct", "tensor", 4, false, 1},       {"sm_clock_mhz", "clock (right)", 3, true, 1},
};
enum { LINES = sizeof lines / sizeof lines[0] };

typedef struct frame {
    double at_s, value[LINES];
    bool throttled;
} frame;

typedef struct frames {
    frame *frame;
    size_t count, capacity;
    size_t unread; /* lines that are no frames, such as the last one of a log cut short */
    char uuid[64]; /* of the device shown: the first that matches */
    char name[128];
    const char *wanted; /* NULL: any */
} frames;

static bool is_wanted(frames *all, const json_t *object)
{
    const char *uuid = nt_json_get_text(object, "uuid"), *name = nt_json_get_text(object, "name");
    uuid = uuid != NULL ? uuid : "";
    name = name != NULL ? name : "";
    if (all->count > 0)
        return strcmp(uuid, all->uuid) == 0;
    if (all->wanted != NULL && strcasecmp(uuid, all->wanted) != 0 && strcasestr(name, all->wanted) == NULL)
        return false;
    nt_copy(all->uuid, sizeof all->uuid, uuid);
    nt_copy(all->name, sizeof all->name, name);
    return true;
}

static void take_line(frames *all, const char *line)
{
    json_t *object;
    if (nt_json_parse(line, &object, NULL) != NT_OK) {
        all->unread++;
        return;
    }
    double at_s = nt_json_get_real(object, "time_unix_s");
    const char *type = nt_json_get_text(object, "type");
    if (type == NULL || strcmp(type, "live") != 0 || isnan(at_s)) {
        all->unread++;
    } else if (is_wanted(all, object)) {
        double throttle = nt_json_get_real(object, "throttle_mask");
        nt_grow((void **)&all->frame, &all->capacity, all->count + 1, sizeof *all->frame);
        frame *f = &all->frame[all->count++];
        *f = (frame){.at_s = at_s, .throttled = nt_json_get_text(object, "throttle") != NULL && throttle != 0};
        for (int i = 0; i < LINES; i++)
            f->value[i] = nt_json_get_real(object, lines[i].key) / lines[i].unit;
    }
    json_decref(object);
}

static nt_status read_log(frames *all, const char *path, nt_error *err)
{
    char *text, *rest;
    size_t length;
    nt_status status = nt_text_file_read(path, MOST_LOG_BYTES, &text, &length, err);
    if (status != NT_OK)
        return status;
    rest = text;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;)
        if (line[0] != '\0')
            take_line(all, line);
    free(text);
    if (all->count > 0)
        return NT_OK;
    nt_fail(err, NT_NOT_FOUND, "nothing to plot: %s holds no frames%s", path,
            all->wanted != NULL ? " of that device" : "");
    return nt_hint(err, "'nntune top --log FILE' writes some");
}

typedef struct stretch {
    double sum, low, high;
    size_t count;
} stretch;

static void add_line(nt_chart *chart, const frames *all, int which, double from_s, double to_s)
{
    size_t stretches = all->count < STRETCHES ? all->count : STRETCHES;
    stretch *s = nt_alloc_zero(stretches, sizeof *s);
    for (size_t i = 0; i < all->count; i++) {
        double value = all->frame[i].value[which];
        double share = to_s > from_s ? (all->frame[i].at_s - from_s) / (to_s - from_s) : 0;
        size_t at = (size_t)(fmin(fmax(share, 0), 1) * (double)(stretches - 1) + 0.5);
        if (isnan(value))
            continue;
        s[at].low = s[at].count == 0 ? value : fmin(s[at].low, value);
        s[at].high = s[at].count == 0 ? value : fmax(s[at].high, value);
        s[at].sum += value;
        s[at].count++;
    }
    for (int band = 1; band >= 0; band--) {
        nt_series *series = nt_chart_add(chart, band ? NT_MARK_BAND : NT_MARK_TRACE, lines[which].color, "%s",
                                         band ? "" : lines[which].name);
        series->second = lines[which].second;
        for (size_t i = 0; i < stretches; i++) {
            double at_s = stretches > 1 ? (to_s - from_s) * (double)i / (double)(stretches - 1) : 0;
            if (s[i].count > 0 && band)
                nt_chart_range_add(chart, series, at_s, s[i].sum / (double)s[i].count, s[i].low, s[i].high);
            else if (s[i].count > 0)
                nt_chart_point_add(chart, series, at_s, s[i].sum / (double)s[i].count);
        }
    }
    free(s);
}

static void describe(nt_chart *chart, const frames *all, double from_s)
{
    size_t throttled = 0;
    nt_str_addf(&chart->words, "%zu frames over %.3g s.", all->count, all->frame[all->count - 1].at_s - from_s);
    for (int i = 0; i < LINES; i++) {
        double sum = 0, count = 0;
        for (size_t j = 0; j < all->count; j++)
            if (!isnan(all->frame[j].value[i]))
                sum += all->frame[j].value[i], count++;
        if (count > 0)
            nt_str_addf(&chart->words, " Mean %s: %.4g %s.", lines[i].key, sum / count, lines[i].second ? "MHz" : "%");
    }
    nt_series *marks = nt_chart_add(chart, NT_MARK_CHOSEN, 1, "throttled");
    for (size_t j = 0; j < all->count; j++)
        if (all->frame[j].throttled && throttled++ < 200)
            nt_chart_point_add(chart, marks, all->frame[j].at_s - from_s, 103);
    if (throttled > 0)
        nt_str_addf(&chart->words, " The clock was held down in %zu frames.", throttled);
}

nt_status nt_plot_live(const nt_result *result, const nt_plot_options *options, nt_chart *chart, nt_error *err)
{
    frames all = {.wanted = options->log_device};
    (void)result;
    if (options->log == NULL) {
        nt_fail(err, NT_USAGE, "a plot of what a device did needs --log FILE");
        return nt_hint(err, "'nntune top --log FILE' writes one");
    }
    nt_status status = read_log(&all, options->log, err);
    if (status == NT_OK && all.frame != NULL) {
        double from_s = all.frame[0].at_s, to_s = all.frame[all.count - 1].at_s;
        bool clocks = false;
        for (int i = 0; i < LINES; i++)
            add_line(chart, &all, i, from_s, to_s);
        for (size_t j = 0; j < all.count; j++)
            clocks |= !isnan(all.frame[j].value[LINES - 1]);
        describe(chart, &all, from_s);
        nt_copy(chart->title, sizeof chart->title, "What the device did over time");
        nt_copy(chart->subtitle, sizeof chart->subtitle, all.name);
        nt_copy(chart->x.label, sizeof chart->x.label, "time, s");
        nt_copy(chart->y.label, sizeof chart->y.label, "share of what is possible, %");
        if (clocks)
            nt_copy(chart->y2.label, sizeof chart->y2.label, "clock, MHz");
        chart->y.from = 0, chart->y.to = 107, chart->y2.from = 0;
        if (all.unread > 0)
            snprintf(chart->note, sizeof chart->note, "%zu lines of the log are no frames and are left out",
                     all.unread);
        else if (all.count > STRETCHES)
            snprintf(chart->note, sizeof chart->note, "%zu frames in %d stretches: mean, and from least to most",
                     all.count, STRETCHES);
    }
    free(all.frame);
    return status;
}
