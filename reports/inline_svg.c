/* inline_svg.c: gnuplot writes the same long attributes at every mark. A page with thirty pictures says them once in
 * its style, keeps the definitions of marks of the first picture, and has no blanks between elements. */
#include "reports/inline_svg.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/gnuplot.h"

const char nt_inline_svg_style[] = "svg g.a{fill:none;color:#000;stroke:currentColor}svg g.t{stroke:none;fill:#000}"
                                   "svg g.g{stroke:none;fill:#444}svg text{font:14px Helvetica,Arial,sans-serif}"
                                   "svg .m{text-anchor:middle}svg .e{text-anchor:end}";

static const struct {
    const char *from, *to;
} shorter[] = {
    {"<g fill=\"none\" color=\"black\" stroke=\"currentColor\" stroke-width=\"1.00\" stroke-linecap=\"butt\" "
     "stroke-linejoin=\"miter\">",
     "<g class=\"a\">"},
    {"fill=\"none\" color=\"black\" stroke=\"currentColor\"", "class=\"a\""},
    {" stroke-linecap=\"butt\" stroke-linejoin=\"miter\"", ""},
    {" stroke=\"none\" fill=\"black\" font-family=\"Helvetica\" font-size=\"14.00\"  text-anchor=\"start\"",
     " class=\"t\""},
    {" stroke=\"none\" fill=\"black\" font-family=\"Helvetica\" font-size=\"14.00\"  text-anchor=\"middle\"",
     " class=\"t m\""},
    {" stroke=\"none\" fill=\"black\" font-family=\"Helvetica\" font-size=\"14.00\"  text-anchor=\"end\"",
     " class=\"t e\""},
    {" stroke=\"none\" fill=\"rgb(68,68,68)\" font-family=\"Helvetica\" font-size=\"14.00\"  text-anchor=\"start\"",
     " class=\"g\""},
    {" stroke=\"none\" fill=\"rgb(68,68,68)\" font-family=\"Helvetica\" font-size=\"14.00\"  text-anchor=\"middle\"",
     " class=\"g m\""},
    {" stroke=\"none\" fill=\"rgb(68,68,68)\" font-family=\"Helvetica\" font-size=\"14.00\"  text-anchor=\"end\"",
     " class=\"g e\""},
    {"<rect x=\"0\" y=\"0\" width=\"800\" height=\"520\" fill=\"#ffffff\"/>", ""}, /* the page shows through */
    {" id=\"gnuplot_canvas\"", ""},
    {"xlink:href", "href"},
    {"rgb( 68,  68,  68)", "#444"},
};

void nt_html_text(nt_str *out, const char *text)
{
    for (; *text != '\0'; text++) {
        const char *as = *text == '<'   ? "&lt;"
                         : *text == '>' ? "&gt;"
                         : *text == '&' ? "&amp;"
                         : *text == '"' ? "&quot;"
                                        : NULL;
        if (as != NULL)
            nt_str_add(out, as);
        else
            nt_str_add_n(out, (unsigned char)*text < ' ' || *text == 127 ? " " : text, 1);
    }
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

static void whole_script(nt_str *script, const nt_chart *charts, size_t count)
{
    nt_str_add(script, "set encoding utf8\n");
    for (size_t i = 0; i < count; i++) {
        nt_str data = {0}, name = {0};
        nt_gnuplot_data(&data, &charts[i]);
        nt_str_addf(&name, "$chart%zu", i);
        /* Every line of the data is a number or a remark, so that none ends the block early. */
        nt_str_addf(script, "reset\n%s << EndOfData\n", nt_str_text(&name));
        nt_str_add_n(script, nt_str_text(&data), data.length);
        nt_str_add(script,
                   "EndOfData\nset terminal svg size 800,520 noenhanced font 'Helvetica,14' background 'white'\n"
                   "set output\n");
        nt_gnuplot_body(script, &charts[i], nt_str_text(&name));
        nt_str_done(&data);
        nt_str_done(&name);
    }
}

static nt_status write_all(int fd, const nt_str *text)
{
    size_t done = 0;
    while (done < text->length) {
        ssize_t n = write(fd, text->data + done, text->length - done);
        if (n <= 0)
            return NT_IO;
        done += (size_t)n;
    }
    return NT_OK;
}

nt_status nt_inline_svg_draw(nt_inline_svg *out, const nt_chart *charts, size_t count, nt_error *err)
{
    const char *folder = getenv("TMPDIR");
    char path[512];
    snprintf(path, sizeof path, "%.480s/nntune-plot-XXXXXX", folder != NULL && folder[0] != '\0' ? folder : "/tmp");
    nt_str script = {0};
    *out = (nt_inline_svg){.first = true};
    int fd = mkstemp(path);
    if (fd < 0)
        return nt_fail(err, NT_IO, "cannot make %s: %s", path, strerror(errno));
    whole_script(&script, charts, count);
    const char *const arguments[] = {path, NULL};
    nt_status status = write_all(fd, &script) == NT_OK ? NT_OK : nt_fail(err, NT_IO, "cannot write %s", path);
    close(fd);
    if (status == NT_OK)
        status = nt_gnuplot_run(NULL, arguments, &out->raw, err);
    unlink(path);
    nt_str_done(&script);
    return status;
}

/* ---- making it small --------------------------------------------------------------------------------------------- */

static bool take_shorter(nt_str *out, const char **at)
{
    for (size_t i = 0; i < sizeof shorter / sizeof shorter[0]; i++) {
        size_t length = strlen(shorter[i].from);
        if (strncmp(*at, shorter[i].from, length) == 0) {
            nt_str_add(out, shorter[i].to);
            *at += length;
            return true;
        }
    }
    return false;
}

/* Skips an element up to its end. */
static bool skip(const char **at, const char *opening, const char *closing)
{
    if (strncmp(*at, opening, strlen(opening)) != 0)
        return false;
    const char *end = strstr(*at, closing);
    if (end == NULL)
        return false;
    *at = end + strlen(closing);
    return true;
}

/* Line breaks between elements and in lists of coordinates become nothing or a blank. */
static bool take_blank(nt_str *out, const char **at)
{
    if (**at != '\n' && **at != '\t')
        return false;
    while (**at == '\n' || **at == '\t')
        ++*at;
    bool between = out->length > 0 && (out->data[out->length - 1] == '>' || **at == '<');
    if (!between)
        nt_str_add(out, " ");
    return true;
}

/* "<g class="a"></g>" says nothing. */
static void drop_empty(nt_str *out)
{
    static const char empty[] = "<g class=\"a\"></g>";
    size_t length = sizeof empty - 1;
    if (out->length >= length && memcmp(out->data + out->length - length, empty, length) == 0) {
        out->length -= length;
        out->data[out->length] = '\0';
    }
}

bool nt_inline_svg_next(nt_inline_svg *svg, nt_str *out, const char *words)
{
    const char *raw = nt_str_text(&svg->raw) + svg->at, *begin = strstr(raw, "<svg"), *end = strstr(raw, "</svg>");
    if (begin == NULL || end == NULL || end < begin)
        return false;
    const char *at = strchr(begin, '>');
    nt_str_add(out, "<svg viewBox=\"0 0 800 520\" role=\"img\" aria-label=\"");
    nt_html_text(out, words);
    nt_str_add(out, "\">");
    at++;
    while (at < end) {
        if (skip(&at, "<title>Gnuplot", "</title>") || skip(&at, "<desc>Produced", "</desc>") ||
            (!svg->first && skip(&at, "<defs>", "</defs>")) || skip(&at, " id=\"gnuplot_plot", "\" ") ||
            skip(&at, "<title>", "</title>") || take_shorter(out, &at) || take_blank(out, &at))
            continue;
        nt_str_add_n(out, at++, 1);
        if (at[-1] == '>')
            drop_empty(out);
    }
    nt_str_add(out, "</svg>\n");
    svg->first = false;
    svg->at = (size_t)(end - nt_str_text(&svg->raw)) + strlen("</svg>");
    return true;
}

void nt_inline_svg_done(nt_inline_svg *svg)
{
    nt_str_done(&svg->raw);
}
