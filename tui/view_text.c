/* view_text.c: the views that are lines: devices with their gauges, the log, the keys. */
#include <math.h>
#include <string.h>

#include "tui/views.h"

/* ---- devices ----------------------------------------------------------------------------------------------------------- */

static void draw_gauge(const nt_screen *screen, const nt_gauge *gauge, int y, const nt_pane *pane)
{
    nt_sheet one = {0};
    nt_str text = {0};
    nt_sheet_add_column(&one, "v", "v", gauge->kind, true);
    nt_sheet_add_row(&one);
    nt_sheet_set_number(&one, 0, gauge->number);
    nt_sheet_cell_text(&one, 0, 0, &text);
    nt_pane_putf(pane, 2, y, NT_STYLE_PLAIN, "%-16.16s%11s", gauge->label, nt_str_text(&text));
    nt_pane_put(pane, 31, y, NT_STYLE_DIM, gauge->source);
    nt_plot_bar(pane, 37, y, pane->at.width - 38, gauge->share, true, screen->glyphs);
    nt_str_done(&text);
    nt_sheet_done(&one);
}

static int draw_device(const nt_screen *screen, const nt_shown_device *device, int y, const nt_pane *pane)
{
    nt_pane_putf(pane, 0, y++, NT_STYLE_TITLE, "%s  %s", device->name, device->model);
    if (device->note[0] != '\0')
        nt_pane_put(pane, 2, y++, NT_STYLE_WARN, device->note);
    for (int i = 0; i < device->gauges; i++)
        if (!isnan(device->gauge[i].number))
            draw_gauge(screen, &device->gauge[i], y++, pane);
    if (device->throttle[0] != '\0')
        nt_pane_putf(pane, 2, y++, NT_STYLE_PLAIN, "%-16s%11s", "throttle", device->throttle);
    if (device->processes.rows > 0) {
        nt_pane rest = nt_pane_part(pane, 0, y, pane->at.width, device->processes.rows + 1);
        nt_sheet_drawing how = {.selected = -1, .sorted = -1};
        nt_sheet_draw(&device->processes, &rest, &how);
        y += device->processes.rows + 1;
    }
    return y;
}

void nt_draw_devices(const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane)
{
    int y = -screen->scroll;
    if (shown->facts.devices == 0)
        nt_pane_put(pane, 0, 0, NT_STYLE_DIM, "no device is watched");
    for (int i = 0; i < shown->facts.devices && y < pane->at.height; i++)
        y = draw_device(screen, &shown->facts.live[i], y, pane);
}

void nt_devices_sheet(const nt_screen *screen, const nt_snapshot *shown, nt_sheet *out)
{
    (void)screen;
    nt_sheet_add_column(out, "device", "device", NT_SHEET_TEXT, true);
    nt_sheet_add_column(out, "model", "model", NT_SHEET_TEXT, false);
    nt_sheet_add_column(out, "name", "name", NT_SHEET_TEXT, true);
    nt_sheet_add_column(out, "value", "value", NT_SHEET_REAL, true);
    nt_sheet_add_column(out, "source", "source", NT_SHEET_TEXT, true);
    for (int d = 0; d < shown->facts.devices; d++) {
        const nt_shown_device *device = &shown->facts.live[d];
        for (int i = 0; i < device->gauges; i++) {
            nt_sheet_add_row(out);
            nt_sheet_set_text(out, 0, device->name);
            nt_sheet_set_text(out, 1, device->model);
            nt_sheet_set_text(out, 2, device->gauge[i].name);
            nt_sheet_set_number(out, 3, device->gauge[i].number);
            nt_sheet_set_text(out, 4, device->gauge[i].source);
        }
    }
}

/* ---- log --------------------------------------------------------------------------------------------------------------- */

void nt_draw_log(const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane)
{
    const nt_sheet *log = &shown->facts.log;
    nt_pane body = nt_titled(pane, "failures and notes, the latest last");
    int last = log->rows - (body.at.height - 1), first = last - screen->scroll;
    nt_sheet_drawing how = {.first = first > 0 ? first : 0, .selected = -1, .sorted = -1};
    nt_sheet_draw(log, &body, &how);
    if (log->rows == 0)
        nt_pane_put(&body, 0, 0, NT_STYLE_DIM, "nothing failed, nothing to note");
}

void nt_log_sheet(const nt_screen *screen, const nt_snapshot *shown, nt_sheet *out)
{
    (void)screen;
    nt_sheet_copy(&shown->facts.log, out);
}

/* ---- help -------------------------------------------------------------------------------------------------------------- */

void nt_help_sheet(const nt_screen *screen, const nt_snapshot *shown, nt_sheet *out)
{
    (void)screen;
    (void)shown;
    nt_sheet_add_column(out, "keys", "keys", NT_SHEET_TEXT, true);
    nt_sheet_add_column(out, "meaning", "meaning", NT_SHEET_TEXT, true);
    for (int i = 0; i < NT_VIEW_COUNT; i++) {
        nt_sheet_add_row(out);
        char digit[2] = {(char)('1' + i), '\0'};
        nt_str text = {0};
        nt_sheet_set_text(out, 0, digit);
        nt_str_addf(&text, "%s: %s", nt_view_name((nt_view_id)i), nt_view_summary((nt_view_id)i));
        nt_sheet_set_text(out, 1, nt_str_text(&text));
        nt_str_done(&text);
    }
    for (int i = 0; i < nt_key_row_count; i++) {
        nt_sheet_add_row(out);
        nt_sheet_set_text(out, 0, nt_key_rows[i].names);
        nt_sheet_set_text(out, 1, nt_key_rows[i].meaning);
    }
}

void nt_draw_help(const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane)
{
    nt_sheet help = {0};
    nt_help_sheet(screen, shown, &help);
    nt_sheet_drawing how = {
        .first = screen->scroll < help.rows ? screen->scroll : help.rows - 1, .selected = -1, .sorted = -1};
    nt_sheet_draw(&help, pane, &how);
    nt_sheet_done(&help);
}
