/* top_feed.c: see top_feed.h. Runs in the screen's reader thread, but for the interrupt. */
#include "cli/top_feed.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/top_view.h"
#include "core/clock.h"
#include "core/json.h"
#include "core/mem.h"

struct nt_top_feed {
    nt_feed base;
    nt_top_source source;
    nt_top_run *run; /* NULL: devices alone */
    nt_shown_device *device;
    nt_shown_device *troubled; /* whose note says why it cannot be sampled; NULL: none */
    double read_s;             /* when the devices were read last, monotonic */
    nt_window counted;         /* whose rows `total` counts */
    int64_t total;
    double refreshed_s;
};

/* ---- waiting ----------------------------------------------------------------------------------------------------------- */

static nt_status log_frame(nt_top_feed *feed, const nt_top_device *device, const nt_live_frame *frame, nt_error *err)
{
    if (feed->source.log == NULL)
        return NT_OK;
    char *text =
        nt_json_dump_done(nt_top_frame_json(device->name, device->info, nt_live_source_now(device->live), frame));
    bool written = fprintf(feed->source.log, "%s\n", text) >= 0 && fflush(feed->source.log) == 0;
    free(text);
    return written ? NT_OK : nt_fail(err, NT_IO, "cannot write the log: %s", strerror(errno));
}

/* A device that falls off stays on the screen with what is wrong with it. */
static nt_status read_devices(nt_top_feed *feed, nt_error *err)
{
    nt_status status = NT_OK;
    for (int i = 0; i < feed->source.device_count && status == NT_OK; i++) {
        const nt_top_device *device = &feed->source.devices[i];
        nt_live_frame frame;
        nt_error why = {0};
        nt_str note = {0};
        nt_live_frame_init(&frame);
        nt_status read = nt_live_read(device->live, &frame, &why);
        nt_top_gauges(device, &frame, &feed->device[i]);
        nt_live_note(device->live, &note);
        if (read != NT_OK)
            nt_copy(feed->device[i].note, sizeof feed->device[i].note, why.what);
        else if (note.length > 0)
            nt_copy(feed->device[i].note, sizeof feed->device[i].note, nt_str_text(&note));
        nt_str_done(&note);
        status = log_frame(feed, device, &frame, err);
    }
    feed->read_s = nt_now_s();
    return status;
}

static bool samples_counters(const nt_top_feed *feed)
{
    for (int i = 0; i < feed->source.device_count; i++)
        if (nt_live_source_now(feed->source.devices[i].live) == NT_LIVE_PM)
            return true;
    return false;
}

/* What keeps a device from being sampled, another process that took its counters for example, stands beside it; it is
 * tried again. */
static nt_status serve_samplers(nt_top_feed *feed, nt_live *const *lives, double seconds, const nt_wake *wake)
{
    int failed = 0;
    nt_error why = {0};
    nt_status status = nt_live_wait(lives, feed->source.device_count, seconds, wake->stop, &failed, &why);
    bool trouble = status != NT_OK && !(status == NT_TIMED_OUT && *wake->stop);
    if (feed->troubled != NULL) /* what stood there is over */
        feed->troubled->note[0] = '\0';
    feed->troubled = trouble ? &feed->device[failed] : NULL;
    if (trouble)
        nt_copy(feed->troubled->note, sizeof feed->troubled->note, why.what);
    return status;
}

/* A source that samples has to be served ten times a second. A signal that comes right before poll() does not end it:
 * without a descriptor the steps are short. */
static nt_status pass_time(nt_top_feed *feed, double seconds, const nt_wake *wake)
{
    static const double step_s = 0.2;
    nt_live *lives[NT_LIVE_DEVICES];
    int count = feed->source.device_count;
    for (int i = 0; i < count; i++)
        lives[i] = feed->source.devices[i].live;
    struct pollfd woken = {.fd = wake->fd, .events = POLLIN};
    double until_s = nt_now_s() + seconds, left_s;
    if (count > 0 && samples_counters(feed) && serve_samplers(feed, lives, seconds, wake) == NT_OK)
        return NT_OK;
    while (!*wake->stop && (left_s = until_s - nt_now_s()) > 0)
        poll(&woken, 1, (int)ceil(fmin(left_s, wake->fd < 0 ? step_s : 3600) * 1e3));
    return *wake->stop ? NT_TIMED_OUT : NT_OK;
}

static nt_status wait_for_news(nt_feed *base, double seconds, const nt_wake *wake, bool *changed, nt_error *err)
{
    nt_top_feed *feed = base->state;
    double left_s = fmax(feed->refreshed_s + seconds - nt_now_s(), 0);
    nt_status status = pass_time(feed, left_s, wake);
    *changed = false;
    if (status != NT_OK)
        return status;
    feed->refreshed_s = nt_now_s();
    if (feed->source.device_count > 0 && nt_now_s() - feed->read_s >= fmin(seconds, 1) - 0.05) {
        status = read_devices(feed, err);
        *changed = true;
    }
    if (status == NT_OK && feed->run != NULL) {
        bool news = false;
        /* What is wrong with the database is said on the screen, and may pass. */
        nt_top_run_update(feed->run, &news, NULL);
        *changed = *changed || news;
    }
    return status;
}

/* ---- reading ----------------------------------------------------------------------------------------------------------- */

static void copy_facts(const nt_facts *from, nt_facts *to)
{
    *to = *from;
    to->units = to->log = (nt_sheet){0};
    to->devices = 0;
    nt_sheet_copy(&from->units, &to->units);
    nt_sheet_copy(&from->log, &to->log);
}

static void copy_devices(const nt_top_feed *feed, nt_facts *to)
{
    to->devices = feed->source.device_count;
    for (int i = 0; i < to->devices; i++) {
        to->live[i] = feed->device[i];
        to->live[i].processes = (nt_sheet){0};
        nt_sheet_copy(&feed->device[i].processes, &to->live[i].processes);
    }
}

static nt_window of_run(const nt_top_feed *feed, const nt_window *window)
{
    nt_window whole = *window;
    whole.run = nt_top_run_facts(feed->run)->run;
    whole.until_unix_s = nt_top_run_until(feed->run);
    return whole;
}

static bool same_rows(const nt_window *a, const nt_window *b)
{
    return a->run == b->run && a->terms == b->terms && memcmp(a->term, b->term, sizeof a->term) == 0;
}

static int64_t total_of(const nt_top_feed *feed, const nt_window *window)
{
    if (window->terms == 0)
        return nt_top_run_facts(feed->run)->trials;
    return same_rows(window, &feed->counted) ? feed->total : NT_UNKNOWN;
}

/* What the view in front needs beyond the facts. */
static nt_status read_part(nt_top_feed *feed, const nt_want *want, nt_snapshot *out, nt_error *err)
{
    nt_reader *reader = nt_top_run_reader(feed->run);
    nt_status status = NT_OK;
    if (want->view == NT_VIEW_OVERVIEW || want->view == NT_VIEW_TRIALS) {
        nt_window window = of_run(feed, &want->window);
        status = nt_top_trials(reader, &out->facts, &window, &out->trials, err);
        out->total = total_of(feed, &window);
    } else {
        out->total = total_of(feed, &(nt_window){.run = out->facts.run});
    }
    if (status == NT_OK && want->trial != 0 && (want->view == NT_VIEW_TRIAL || want->view == NT_VIEW_WHAT_IF))
        status = nt_top_trial(reader, out->facts.database, want->trial, &out->trial, err);
    if (status == NT_OK && want->view == NT_VIEW_HEAT && want->heat.keys == 2) {
        nt_window window = of_run(feed, &want->heat);
        status = nt_top_heat(reader, &window, &out->heat, err);
    }
    if (status == NT_OK && want->view == NT_VIEW_COMPARE)
        status = nt_top_compare(reader, &out->facts, want->tagged, want->tags, &out->compare, err);
    return status;
}

static nt_status read_all(nt_feed *base, const nt_want *want, nt_snapshot *out, nt_error *err)
{
    nt_top_feed *feed = base->state;
    nt_status status = NT_OK;
    if (feed->run != NULL) {
        copy_facts(nt_top_run_facts(feed->run), &out->facts);
        nt_copy(out->problem, sizeof out->problem, nt_top_run_trouble(feed->run));
        if (out->facts.has_run)
            status = read_part(feed, want, out, err);
    }
    if (out->total == NT_UNKNOWN && !out->facts.has_run)
        out->total = 0;
    copy_devices(feed, &out->facts);
    return status;
}

static nt_status count(nt_feed *base, const nt_want *want, nt_error *err)
{
    nt_top_feed *feed = base->state;
    nt_window window = of_run(feed, &want->window);
    nt_reader *reader = nt_top_run_reader(feed->run);
    nt_status status = reader->window_count(reader, &window, &feed->total, err);
    if (status == NT_OK)
        feed->counted = window;
    return status;
}

static void interrupt(nt_feed *base)
{
    nt_top_feed *feed = base->state;
    if (feed->run != NULL) {
        nt_reader *reader = nt_top_run_reader(feed->run);
        reader->interrupt(reader);
    }
}

static double progress(nt_feed *base)
{
    nt_top_feed *feed = base->state;
    nt_reader *reader = feed->run != NULL ? nt_top_run_reader(feed->run) : NULL;
    return reader != NULL ? reader->progress(reader) : (double)NAN;
}

/* ---- opening ----------------------------------------------------------------------------------------------------------- */

nt_status nt_top_feed_open(const nt_top_source *source, nt_top_feed **out, nt_error *err)
{
    nt_top_feed *feed = nt_alloc_zero(1, sizeof *feed);
    feed->source = *source;
    feed->total = NT_UNKNOWN;
    feed->device = nt_alloc_zero((size_t)source->device_count + 1, sizeof *feed->device);
    feed->base = (nt_feed){.state = feed,
                           .wait = wait_for_news,
                           .read = read_all,
                           .count = count,
                           .progress = progress,
                           .interrupt = interrupt};
    nt_status status = NT_OK;
    if (source->database != NULL)
        status = nt_top_run_open(source, &feed->run, err);
    if (status == NT_OK)
        status = read_devices(feed, err);
    feed->refreshed_s = nt_now_s();
    if (status != NT_OK) {
        nt_top_feed_close(feed);
        return status;
    }
    *out = feed;
    return NT_OK;
}

nt_feed *nt_top_feed_base(nt_top_feed *feed)
{
    return &feed->base;
}

const nt_facts *nt_top_feed_facts(const nt_top_feed *feed)
{
    return feed->run != NULL ? nt_top_run_facts(feed->run) : NULL;
}

void nt_top_feed_close(nt_top_feed *feed)
{
    if (feed == NULL)
        return;
    nt_top_run_close(feed->run);
    for (int i = 0; i < feed->source.device_count; i++)
        nt_sheet_done(&feed->device[i].processes);
    free(feed->device);
    free(feed);
}
