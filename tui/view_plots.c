/* view_plots.c: the pictures of the overview. Each says in its title what is drawn and where the numbers come from. */
#include <math.h>
#include <string.h>

#include "core/units.h"
#include "tui/views.h"

/* A row each of the latest trials: theoretical above, achieved below where counters know it. */
void nt_draw_occupancy(const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane)
{
    const nt_facts *facts = &shown->facts;
    nt_pane body = nt_titled(pane, "occupancy %%: theoretical, achieved (counters)");
    int y = 0, bar = body.at.width - 26;
    for (int i = facts->points - 1; i >= 0 && y < body.at.height; i--) {
        const nt_point *p = &facts->point[i];
        if (isnan(p->limit_pct))
            continue;
        nt_pane_putf(&body, 0, y, NT_STYLE_DIM, "%8lld", (long long)p->trial);
        nt_pane_putf(&body, 9, y, NT_STYLE_FIRST, "%5.1f", p->limit_pct);
        nt_pane_putf(&body, 15, y, NT_STYLE_SECOND, isnan(p->achieved_pct) ? "    -" : "%5.1f", p->achieved_pct);
        nt_plot_bar(&body, 21, y, bar, p->limit_pct / 100, false, screen->glyphs);
        nt_plot_bar(&body, 21, y, bar, p->achieved_pct / 100, true, screen->glyphs);
        y++;
    }
    if (y == 0)
        nt_pane_put(&body, 0, 0, NT_STYLE_DIM,
                    facts->device.kind == NT_DEVICE_CPU ? "a cpu has no occupancy" : "not known of any trial yet");
}

static void bounds(const nt_facts *facts, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (int i = 0; i < facts->points; i++) {
        if (isnan(facts->point[i].time_ns))
            continue;
        *low = fmin(*low, log10(facts->point[i].time_ns));
        *high = fmax(*high, log10(facts->point[i].time_ns));
    }
    if (*high - *low < 0.05)
        *high = *low + 0.05;
}

void nt_draw_timeline(const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane)
{
    const nt_facts *facts = &shown->facts;
    double low, high, best = INFINITY;
    bounds(facts, &low, &high);
    nt_pane body = nt_titled(pane, "time of the last %d trials, best so far as a line", facts->points);
    if (!isfinite(low)) {
        nt_pane_put(&body, 0, 0, NT_STYLE_DIM, "no trial was timed yet");
        return;
    }
    nt_pane_putf(&body, 0, 0, NT_STYLE_DIM, "%9s", nt_text_time_ns(pow(10, high)).s);
    nt_pane_putf(&body, 0, body.at.height - 1, NT_STYLE_DIM, "%9s", nt_text_time_ns(pow(10, low)).s);
    nt_pane area = nt_pane_part(&body, 10, 0, body.at.width - 10, body.at.height);
    nt_plot plot;
    int last = facts->points > 1 ? facts->points - 1 : 1;
    nt_plot_open(&plot, &area, screen->glyphs, 0, last, low, high);
    for (int i = 0; i < facts->points; i++) {
        double time_ns = facts->point[i].time_ns;
        /* Times of different problems do not compare. */
        bool goes_on = i > 0 && facts->point[i].problem == facts->point[i - 1].problem;
        best = goes_on ? best : INFINITY;
        if (!isnan(time_ns)) {
            nt_plot_point(&plot, i, log10(time_ns), false);
            best = fmin(best, time_ns);
        }
        if (isfinite(best))
            nt_plot_line(&plot, goes_on ? i - 1 : i, log10(best), i, log10(best), true);
    }
    nt_plot_close(&plot);
}

static void draw_counts(const nt_screen *screen, const nt_pane *body, const char *const *name, const int64_t *count,
                        int rows)
{
    int64_t sum = 0;
    int y = 0;
    for (int i = 0; i < rows; i++)
        sum += count[i];
    for (int i = 0; i < rows; i++) {
        if (count[i] == 0)
            continue;
        nt_pane_putf(body, 0, y, NT_STYLE_PLAIN, "%-14s %7s", name[i], nt_text_count((double)count[i]).s);
        nt_plot_bar(body, 23, y++, body->at.width - 23, (double)count[i] / (double)sum, true, screen->glyphs);
    }
    if (y == 0)
        nt_pane_put(body, 0, 0, NT_STYLE_DIM, "none");
}

void nt_draw_limiters(const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane)
{
    const char *name[NT_LIMIT_COUNT];
    for (int i = 0; i < NT_LIMIT_COUNT; i++)
        name[i] = nt_limiter_name((nt_limiter)i);
    nt_pane body = shown->facts.limiter_share < 1
                       ? nt_titled(pane, "limiters, %.0f %% counted", shown->facts.limiter_share * 100)
                       : nt_titled(pane, "limiters, trials");
    draw_counts(screen, &body, name, shown->facts.limiter, NT_LIMIT_COUNT);
}

void nt_draw_failures(const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane)
{
    const char *name[NT_OUTCOME_COUNT];
    for (int i = 0; i < NT_OUTCOME_COUNT; i++)
        name[i] = nt_outcome_name((nt_outcome)i);
    nt_pane body = nt_titled(pane, "outcomes, trials");
    draw_counts(screen, &body, name, shown->facts.outcome, NT_OUTCOME_COUNT);
}

/* Both axes are logarithmic, four decades around the ridge. */
static void draw_roofs(const nt_screen *screen, const nt_facts *facts, const nt_pane *pane)
{
    double ridge = log10(facts->roof_flop_per_s / facts->roof_bytes_per_s), top = log10(facts->roof_flop_per_s);
    double dot = log10(facts->dot_intensity);
    double left = fmin(ridge - 2, isnan(dot) ? ridge : dot - 0.3),
           right = fmax(ridge + 2, isnan(dot) ? ridge : dot + 0.3);
    double bottom = fmin(top - 3, isnan(facts->dot_flop_per_s) ? top : log10(facts->dot_flop_per_s) - 0.3);
    double start = top - (ridge - left);
    nt_plot plot;
    nt_plot_open(&plot, pane, screen->glyphs, left, right, bottom, top + 0.2);
    nt_plot_line(&plot, left, start, ridge, top, false);
    nt_plot_line(&plot, ridge, top, right, top, false);
    nt_plot_close(&plot);
    if (isnan(dot) || isnan(facts->dot_flop_per_s))
        return;
    int x = (int)((dot - left) / (right - left) * (pane->at.width - 1));
    int y = (int)((top + 0.2 - log10(facts->dot_flop_per_s)) / (top + 0.2 - bottom) * (pane->at.height - 1));
    nt_pane_put(pane, x, y, NT_STYLE_SECOND, "X");
}

void nt_draw_roofline(const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane)
{
    const nt_facts *facts = &shown->facts;
    nt_pane body = nt_titled(pane, "roofline, X the best: %s", facts->roof_text[0] != '\0' ? facts->roof_text : "-");
    if (isnan(facts->roof_flop_per_s) || isnan(facts->roof_bytes_per_s)) {
        nt_pane_put(&body, 0, 0, NT_STYLE_DIM, "the peaks of the device are not known");
        return;
    }
    nt_pane_put(&body, 0, 0, NT_STYLE_DIM, nt_text_flops(facts->roof_flop_per_s).s);
    nt_pane_right(&body, body.at.height - 1, NT_STYLE_DIM, nt_text_rate(facts->roof_bytes_per_s).s);
    draw_roofs(screen, facts, &body);
}
