#include "reports/plot.h"

#include <stdio.h>
#include <string.h>

#include "core/paths.h"

/* FILE.gp for FILE.svg. */
static void with_suffix(char out[1100], const char *path, const char *old, const char *suffix)
{
    size_t length = strlen(path), cut = strlen(old);
    if (length >= cut && strcmp(path + length - cut, old) == 0)
        length -= cut;
    snprintf(out, 1100, "%.*s%s", (int)length, path, suffix);
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* Names go into a script, where a line break would end a comment or a string. */
static nt_status check(const char *path, nt_error *err)
{
    if (name_of(path)[0] == '\0' || strlen(path) > 1000)
        return nt_fail(err, NT_USAGE, "'%.80s' is no name of a file", path);
    for (const char *c = path; *c != '\0'; c++)
        if ((unsigned char)*c < ' ')
            return nt_fail(err, NT_USAGE, "the name of a picture holds no line breaks or other control characters");
    return NT_OK;
}

static nt_status draw(const nt_plot_files *files, nt_error *err)
{
    char folder[1100];
    nt_str picture = {0};
    const char *const arguments[] = {"-e", "picture = ''", name_of(files->script), NULL}; /* '' is standard output */
    size_t length = strlen(files->script) - strlen(name_of(files->script));
    snprintf(folder, sizeof folder, "%.*s", length > 0 ? (int)length : 1, length > 0 ? files->script : ".");
    nt_status status = nt_gnuplot_run(folder, arguments, &picture, err);
    if (status == NT_OK && picture.length == 0)
        status = nt_fail(err, NT_FAILED, "gnuplot drew nothing from %s", files->script);
    if (status == NT_OK)
        status = nt_write_file(files->picture, nt_str_text(&picture), picture.length, err);
    nt_str_done(&picture);
    return status;
}

nt_status nt_plot_write(const nt_chart *chart, const char *path, nt_plot_files *files, nt_error *err)
{
    const nt_picture_format *format;
    const char *terminal = NULL;
    nt_str script = {0}, data = {0};
    *files = (nt_plot_files){0};
    nt_status status = check(path, err);
    if (status == NT_OK)
        status = nt_picture_format_of(path, &format, err);
    if (status != NT_OK)
        return status;
    with_suffix(files->picture, path, format->suffix, format->suffix);
    with_suffix(files->script, path, format->suffix, ".gp");
    with_suffix(files->data, path, format->suffix, ".dat");
    status = nt_picture_terminal(format, &terminal, err);
    bool missing = status == NT_NOT_FOUND;
    if (status != NT_OK && !missing)
        return status;
    nt_gnuplot_data(&data, chart);
    nt_gnuplot_script(&script, chart, missing ? format->terminals[0] : terminal, format, name_of(files->picture),
                      name_of(files->data), name_of(files->script));
    status = nt_write_file(files->data, nt_str_text(&data), data.length, err);
    if (status == NT_OK)
        status = nt_write_file(files->script, nt_str_text(&script), script.length, err);
    if (status == NT_OK && !missing)
        status = draw(files, err);
    files->drawn = status == NT_OK && !missing;
    nt_str_done(&script);
    nt_str_done(&data);
    return status;
}
