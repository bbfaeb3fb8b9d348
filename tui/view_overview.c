/* view_overview.c: the words of the overview: header, progress, best of each problem, the latest trial, and the one
 * line that is left on the smallest screens. */
#include <math.h>
#include <string.h>

#include "core/units.h"
#include "tui/views.h"

static int64_t failed(const nt_facts *facts)
{
    static const nt_outcome bad[] = {NT_OUTCOME_COMPILE_FAILED, NT_OUTCOME_LAUNCH_FAILED, NT_OUTCOME_WRONG_RESULT,
                                     NT_OUTCOME_TIMED_OUT, NT_OUTCOME_CRASHED};
    int64_t sum = 0;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        sum += facts->outcome[bad[i]];
    return sum;
}

/* The last problem that has a best: the one in work. -1 when there is none. */
static int unit_in_work(const nt_facts *facts)
{
    int column = nt_sheet_find(&facts->units, "least_time_ns");
    for (int r = facts->units.rows - 1; r >= 0 && column >= 0; r--)
        if (!isnan(nt_sheet_at(&facts->units, r, column)->number))
            return r;
    return -1;
}

static void best_time(const nt_facts *facts, nt_str *out)
{
    int row = unit_in_work(facts);
    if (row < 0)
        nt_str_add(out, "-");
    else
        nt_sheet_cell_text(&facts->units, row, nt_sheet_find(&facts->units, "least_time_ns"), out);
}

static const nt_gauge *gauge(const nt_shown_device *device, const char *name)
{
    for (int i = 0; i < device->gauges; i++)
        if (strcmp(device->gauge[i].name, name) == 0)
            return &device->gauge[i];
    return NULL;
}

/* "busy 98 % 1980 MHz 61 C 420 W": what is known of it. */
static void live_words(const nt_shown_device *device, nt_str *out)
{
    static const struct {
        const char *name, *format;
        double factor;
    } words[] = {{"busy_pct", "  busy %.0f %%", 1}, {"occupancy_pct", "  occupancy %.0f %%", 1},
                 {"dram_pct", "  DRAM %.0f %%", 1}, {"sm_clock_mhz", "  %.0f MHz", 1},
                 {"temperature_c", "  %.0f C", 1},  {"power_mw", "  %.0f W", 1e-3}};
    nt_str_addf(out, "%s", device->name);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const nt_gauge *g = gauge(device, words[i].name);
        if (g != NULL && !isnan(g->number))
            nt_str_addf(out, words[i].format, g->number * words[i].factor);
    }
    if (device->throttle[0] != '\0' && strcmp(device->throttle, "none") != 0)
        nt_str_addf(out, "  throttle: %s", device->throttle);
}

static void draw_header(const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane)
{
    const nt_facts *facts = &shown->facts;
    nt_str live = {0};
    if (facts->devices > 0)
        live_words(&facts->live[0], &live);
    if (facts->has_run) {
        int x = nt_pane_putf(pane, 0, 0, NT_STYLE_TITLE, "%s", facts->device.name);
        x = nt_pane_putf(pane, x + 2, 0, NT_STYLE_DIM, "run %lld %s  %s  %s%s", (long long)facts->run, facts->state,
                         facts->strategy, facts->driver, screen->paused ? "  PAUSED" : "");
        if (pane->at.height == 1 && live.length > 0)
            nt_pane_putf(pane, x + 2, 0, NT_STYLE_PLAIN, "%s", nt_str_text(&live));
        nt_pane_putf(pane, 0, 1, NT_STYLE_PLAIN, "%s", live.length > 0 ? nt_str_text(&live) : facts->command);
        if (live.length > 0)
            nt_pane_putf(pane, (int)live.length + 3, 1, NT_STYLE_DIM, "%s", facts->command);
    } else {
        nt_pane_putf(pane, 0, 0, NT_STYLE_TITLE, "%s  %s", facts->devices > 0 ? facts->live[0].model : "nntune top",
                     screen->paused ? "PAUSED" : "");
        nt_pane_put(pane, 0, 1, NT_STYLE_PLAIN, nt_str_text(&live));
    }
    nt_str_done(&live);
}

static void progress_words(const nt_facts *facts, nt_str *out)
{
    nt_str_addf(out, "%lld", (long long)facts->trials);
    if (facts->planned != NT_UNKNOWN)
        nt_str_addf(out, " of %lld", (long long)facts->planned);
    nt_str_addf(out, " tried, %lld ok, %lld pruned, %lld failed", (long long)facts->outcome[NT_OUTCOME_OK],
                (long long)facts->outcome[NT_OUTCOME_PRUNED], (long long)failed(facts));
    if (facts->outcome[NT_OUTCOME_ABANDONED] > 0)
        nt_str_addf(out, ", %lld too slow", (long long)facts->outcome[NT_OUTCOME_ABANDONED]);
    if (!isnan(facts->elapsed_s))
        nt_str_addf(out, ", %s", nt_text_duration_s(facts->elapsed_s).s);
    if (!isnan(facts->eta_s))
        nt_str_addf(out, ", %s left", nt_text_duration_s(facts->eta_s).s);
}

static void draw_progress(const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane)
{
    const nt_facts *facts = &shown->facts;
    if (!facts->has_run) {
        nt_pane_put(pane, 0, 0, NT_STYLE_DIM, "no sweep runs here; --db FILE shows a run");
        return;
    }
    double share = NAN;
    if (facts->planned != NT_UNKNOWN && facts->planned > 0)
        share = (double)facts->trials / (double)facts->planned;
    else if (!isnan(facts->budget_s) && facts->budget_s > 0)
        share = facts->elapsed_s / facts->budget_s;
    int bar = pane->at.width >= 70 && !isnan(share) ? 20 : 0;
    nt_str words = {0};
    progress_words(facts, &words);
    if (bar > 0)
        nt_plot_bar(pane, 0, 0, bar, share, true, screen->glyphs);
    nt_pane_put(pane, bar > 0 ? bar + 1 : 0, 0, NT_STYLE_PLAIN, nt_str_text(&words));
    nt_str_done(&words);
}

static void draw_best(const nt_snapshot *shown, const nt_pane *pane)
{
    const nt_sheet *units = &shown->facts.units;
    if (units->rows == 0) {
        nt_pane_put(pane, 0, 0, NT_STYLE_DIM, "best: no trial yet");
        return;
    }
    if (pane->at.height < 3) {
        nt_str text = {0};
        int row = unit_in_work(&shown->facts), kernel = nt_sheet_find(units, "kernel");
        nt_str_add(&text, "best ");
        best_time(&shown->facts, &text);
        if (row >= 0 && kernel >= 0) {
            nt_str_add(&text, "  ");
            nt_sheet_cell_text(units, row, kernel, &text);
        }
        nt_pane_put(pane, 0, 0, NT_STYLE_GOOD, nt_str_text(&text));
        nt_str_clear(&text);
        if (row >= 0)
            nt_sheet_cell_text(units, row, nt_sheet_find(units, "params"), &text);
        nt_pane_put(pane, 0, 1, NT_STYLE_PLAIN, nt_str_text(&text));
        nt_str_done(&text);
        return;
    }
    int rows = pane->at.height - 1;
    nt_sheet_drawing how = {.first = units->rows > rows ? units->rows - rows : 0, .selected = -1, .sorted = -1};
    nt_sheet_draw(units, pane, &how);
}

static void draw_current(const nt_snapshot *shown, const nt_pane *pane)
{
    const nt_facts *facts = &shown->facts;
    nt_pane_putf(pane, 0, 0, NT_STYLE_PLAIN, "now %s", facts->latest[0] != '\0' ? facts->latest : "-");
    int row = unit_in_work(facts), column = nt_sheet_find(&facts->units, "occupancy_limiter");
    nt_str limiter = {0};
    if (row >= 0 && column >= 0)
        nt_sheet_cell_text(&facts->units, row, column, &limiter);
    nt_pane_putf(pane, 0, 1, NT_STYLE_PLAIN, "best is limited by %s", limiter.length > 0 ? nt_str_text(&limiter) : "-");
    nt_str_done(&limiter);
    for (int i = 0; i < facts->devices && i + 2 < pane->at.height; i++) {
        nt_str live = {0};
        live_words(&facts->live[i], &live);
        nt_pane_put(pane, 0, i + 2, NT_STYLE_DIM, nt_str_text(&live));
        nt_str_done(&live);
    }
}

static void draw_line(const nt_snapshot *shown, const nt_pane *pane)
{
    const nt_facts *facts = &shown->facts;
    nt_str text = {0};
    if (facts->has_run) {
        nt_str_addf(&text, "%lld", (long long)facts->trials);
        if (facts->planned != NT_UNKNOWN)
            nt_str_addf(&text, "/%lld", (long long)facts->planned);
        nt_str_add(&text, " ");
        best_time(facts, &text);
        nt_str_addf(&text, " !%lld", (long long)failed(facts));
    } else if (facts->devices > 0) {
        live_words(&facts->live[0], &text);
    }
    nt_pane_put(pane, 0, 0, NT_STYLE_PLAIN, nt_str_text(&text));
    nt_str_done(&text);
}

void nt_overview_pane(nt_pane_id id, const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane)
{
    static void (*const plots[NT_PANE_COUNT])(const nt_screen *, const nt_snapshot *, const nt_pane *) = {
        [NT_PANE_HEADER] = draw_header,          [NT_PANE_PROGRESS] = draw_progress,
        [NT_PANE_OCCUPANCY] = nt_draw_occupancy, [NT_PANE_TIMELINE] = nt_draw_timeline,
        [NT_PANE_LIMITERS] = nt_draw_limiters,   [NT_PANE_FAILURES] = nt_draw_failures,
        [NT_PANE_ROOFLINE] = nt_draw_roofline,   [NT_PANE_TABLE] = nt_draw_table,
    };
    static void (*const words[NT_PANE_COUNT])(const nt_snapshot *, const nt_pane *) = {
        [NT_PANE_BEST] = draw_best,
        [NT_PANE_CURRENT] = draw_current,
        [NT_PANE_LINE] = draw_line,
    };
    if (plots[id] != NULL)
        plots[id](screen, shown, pane);
    else if (words[id] != NULL)
        words[id](shown, pane);
}

void nt_overview_sheet(const nt_screen *screen, const nt_snapshot *shown, nt_sheet *out)
{
    (void)screen;
    nt_sheet_copy(&shown->facts.units, out);
}
