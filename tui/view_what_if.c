/* view_what_if.c: theoretical occupancy if a kernel took more or less: a curve each over registers, threads of a block
 * and shared memory, with sliders. The occupancy model alone: no device is asked. */
#include <math.h>
#include <stdlib.h>

#include "tui/views.h"

static const char *const words[NT_CURVE_COUNT] = {"registers a thread", "threads a block", "shared memory a block"};

bool nt_what_if_use(const nt_screen *screen, const nt_snapshot *shown, nt_block_use *out)
{
    *out = (nt_block_use){256, 64, 0, 1};
    if (screen->use.threads != NT_UNKNOWN && screen->use_of == screen->opened)
        *out = screen->use;
    else if (shown->trial.trial == screen->opened && shown->trial.use.threads != NT_UNKNOWN)
        *out = shown->trial.use;
    if (out->registers == NT_UNKNOWN)
        out->registers = 64;
    if (out->smem_bytes == NT_UNKNOWN)
        out->smem_bytes = 0;
    nt_curve_point *points;
    size_t count = nt_occupancy_curve(&shown->facts.device, out, NT_CURVE_THREADS, &points);
    free(points);
    return count > 0;
}

static void draw_curve(const nt_screen *screen, const nt_device_info *device, const nt_block_use *use,
                       nt_curve_axis curve, const nt_pane *pane)
{
    nt_curve_point *points;
    int64_t value[NT_CURVE_COUNT] = {use->registers, use->threads, use->smem_bytes};
    size_t count = nt_occupancy_curve(device, use, curve, &points);
    nt_style style = (int)curve == screen->slider ? NT_STYLE_SELECTED : NT_STYLE_TITLE;
    nt_pane_putf(pane, 0, 0, style, "%c %s: %lld", (int)curve == screen->slider ? '>' : ' ', words[curve],
                 (long long)value[curve]);
    if (count > 1 && pane->at.height > 2) {
        nt_pane area = nt_pane_part(pane, 5, 1, pane->at.width - 5, pane->at.height - 2);
        nt_plot plot;
        double from = (double)points[0].x, to = (double)points[count - 1].x;
        nt_plot_open(&plot, &area, screen->glyphs, from, to, 0, 100);
        for (size_t i = 1; i < count; i++)
            nt_plot_line(&plot, (double)points[i - 1].x, points[i - 1].occupancy.pct, (double)points[i].x,
                         points[i].occupancy.pct, false);
        nt_plot_close(&plot);
        nt_pane_put(pane, 0, 1, NT_STYLE_DIM, "100%");
        nt_pane_putf(pane, 0, pane->at.height - 2, NT_STYLE_DIM, "  0%%");
        int x = 5 + (int)lround(((double)value[curve] - from) / (to - from) * (area.at.width - 1));
        nt_pane_putf(pane, 5, pane->at.height - 1, NT_STYLE_DIM, "%lld", (long long)points[0].x);
        nt_pane_put(pane, x, pane->at.height - 1, NT_STYLE_SECOND, "^");
    }
    free(points);
}

void nt_draw_what_if(const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane)
{
    nt_block_use use;
    const nt_device_info *device = &shown->facts.device;
    if (!nt_what_if_use(screen, shown, &use)) {
        nt_pane_putf(pane, 0, 0, NT_STYLE_DIM, "%s has no occupancy: a run of a GPU is needed",
                     device->name[0] != '\0' ? device->name : "nothing shown");
        return;
    }
    nt_occupancy now = nt_occupancy_of_use(device, &use);
    nt_pane body = nt_titled(pane, "if a block took this: %.1f %% of the warps, %lld blocks an SM, limited by %s",
                             now.pct, (long long)now.blocks_per_sm, nt_limiter_name(now.limiter));
    int64_t room = nt_occupancy_room(device, &use);
    int height = body.at.height;
    if (height > 7 && room != NT_UNKNOWN) {
        nt_pane_putf(&body, 0, --height, NT_STYLE_GOOD, "one more block fits with %lld %s", (long long)room,
                     now.limiter == NT_LIMIT_REGISTERS ? "registers a thread" : "bytes of shared memory a block");
    }
    for (int i = 0; i < NT_CURVE_COUNT; i++) {
        nt_pane part = nt_pane_part(&body, 0, i * height / 3, body.at.width, (i + 1) * height / 3 - i * height / 3);
        draw_curve(screen, device, &use, (nt_curve_axis)i, &part);
    }
}

void nt_what_if_sheet(const nt_screen *screen, const nt_snapshot *shown, nt_sheet *out)
{
    nt_block_use use;
    nt_sheet_add_column(out, "axis", "axis", NT_SHEET_TEXT, true);
    nt_sheet_add_column(out, "x", "x", NT_SHEET_WHOLE, true);
    nt_sheet_add_column(out, "occupancy_pct", "occupancy", NT_SHEET_PCT, true);
    nt_sheet_add_column(out, "blocks_per_sm", "blocks", NT_SHEET_WHOLE, false);
    nt_sheet_add_column(out, "limiter", "limiter", NT_SHEET_TEXT, false);
    nt_sheet_add_column(out, "current", "current", NT_SHEET_WHOLE, false);
    if (!nt_what_if_use(screen, shown, &use))
        return;
    for (int axis = 0; axis < NT_CURVE_COUNT; axis++) {
        nt_curve_point *points;
        size_t count = nt_occupancy_curve(&shown->facts.device, &use, (nt_curve_axis)axis, &points);
        for (size_t i = 0; i < count; i++) {
            nt_sheet_add_row(out);
            nt_sheet_set_text(out, 0, nt_curve_axis_name((nt_curve_axis)axis));
            nt_sheet_set_number(out, 1, (double)points[i].x);
            nt_sheet_set_number(out, 2, points[i].occupancy.pct);
            nt_sheet_set_number(out, 3, (double)points[i].occupancy.blocks_per_sm);
            nt_sheet_set_text(out, 4, nt_limiter_name(points[i].occupancy.limiter));
            nt_sheet_set_number(out, 5, points[i].current);
        }
        free(points);
    }
}
