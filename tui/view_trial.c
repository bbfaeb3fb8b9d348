/* view_trial.c: one trial with everything: numbers with who measured them, the samples as a histogram, advice, and the
 * command that measures it again. */
#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "core/units.h"
#include "tui/views.h"

enum { BINS = 60 };

static void draw_histogram(const nt_screen *screen, const nt_samples *samples, const nt_pane *pane)
{
    int count[BINS] = {0}, most = 1, bins = pane->at.width - 24 < BINS ? pane->at.width - 24 : BINS;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < samples->count; i++) {
        low = fmin(low, samples->sample_ns[i]);
        high = fmax(high, samples->sample_ns[i]);
    }
    if (samples->count == 0 || bins < 4)
        return;
    for (size_t i = 0; i < samples->count; i++) {
        double share = high > low ? (samples->sample_ns[i] - low) / (high - low) : 0;
        int *bin = &count[(int)(share * (bins - 1))];
        most = ++*bin > most ? *bin : most;
    }
    int x = nt_pane_putf(pane, 0, 0, NT_STYLE_DIM, "%zu samples %s ", samples->count, nt_text_time_ns(low).s);
    for (int i = 0; i < bins; i++, x++)
        if (count[i] > 0)
            nt_pane_set(pane, x, 0, nt_plot_shade((double)count[i] / most, screen->glyphs), NT_STYLE_SECOND);
    nt_pane_putf(pane, x + 1, 0, NT_STYLE_DIM, "%s", nt_text_time_ns(high).s);
}

/* Text over several lines of a pane, broken at blanks. Returns the lines used. */
static int wrap(const nt_pane *pane, int y, nt_style style, const char *text)
{
    int begin = y, width = pane->at.width > 8 ? pane->at.width : 8;
    while (*text != '\0' && y < pane->at.height) {
        int length = (int)strlen(text), cut = length;
        if (length > width)
            for (cut = width; cut > 0 && text[cut] != ' ';)
                cut--;
        if (cut == 0)
            cut = width;
        nt_pane_putf(pane, 0, y++, style, "%.*s", cut, text);
        text += cut;
        text += *text == ' ';
    }
    return y - begin;
}

void nt_draw_trial(const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane)
{
    const nt_trial_view *trial = &shown->trial;
    if (screen->opened == 0) {
        nt_pane_put(pane, 0, 0, NT_STYLE_DIM, "choose a trial in the table (2) and press Enter");
        return;
    }
    nt_pane body = nt_titled(pane, "trial %lld", (long long)screen->opened);
    if (trial->trial != screen->opened) {
        nt_pane_put(&body, 0, 0, NT_STYLE_DIM, "reading ...");
        return;
    }
    int y = 0;
    if (body.at.height > 6) {
        for (int i = 0; i < trial->advice.count; i++)
            y += wrap(&body, y, NT_STYLE_WARN, trial->advice.line[i].sentence);
        nt_pane line = nt_pane_part(&body, 0, y, body.at.width, 1);
        if (trial->samples.count > 0)
            y++;
        draw_histogram(screen, &trial->samples, &line);
        y += wrap(&body, y, NT_STYLE_DIM, trial->command);
    }
    nt_pane rest = nt_pane_part(&body, 0, y, body.at.width, body.at.height - y);
    nt_sheet_drawing how = {.first = screen->scroll < trial->sheet.rows ? screen->scroll : trial->sheet.rows - 1,
                            .selected = -1,
                            .sorted = -1};
    nt_sheet_draw(&trial->sheet, &rest, &how);
}

void nt_trial_sheet(const nt_screen *screen, const nt_snapshot *shown, nt_sheet *out)
{
    (void)screen;
    nt_sheet_copy(&shown->trial.sheet, out);
    int name = nt_sheet_find(out, "name"), value = nt_sheet_find(out, "value");
    for (int i = 0; i < shown->trial.advice.count; i++) {
        nt_sheet_add_row(out);
        nt_sheet_set_text(out, name, "advice");
        nt_sheet_set_text(out, value, shown->trial.advice.line[i].sentence);
    }
}
