/* inline_svg.h: many charts drawn by one gnuplot, as SVG to stand inside one HTML page. */
#ifndef NT_INLINE_SVG_H
#define NT_INLINE_SVG_H

#include "core/status.h"
#include "reports/chart.h"

typedef struct nt_inline_svg {
    nt_str raw; /* what gnuplot wrote: one picture after another */
    size_t at;
    bool first;
} nt_inline_svg;

/* Draws them all; NT_NOT_FOUND when there is no gnuplot. */
nt_status nt_inline_svg_draw(nt_inline_svg *out, const nt_chart *charts, size_t count, nt_error *err);
/* Adds the next picture, made small: with ids, fonts and common attributes left to the page. False when there is none.
 */
bool nt_inline_svg_next(nt_inline_svg *svg, nt_str *out, const char *words);
void nt_inline_svg_done(nt_inline_svg *svg);

/* What the page's style must say for these pictures. */
extern const char nt_inline_svg_style[];

/* Text with the characters replaced that mean something in HTML; control characters are blanks. */
void nt_html_text(nt_str *out, const char *text);

#endif
