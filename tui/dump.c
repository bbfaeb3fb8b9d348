/* dump.c: see dump.h. */
#include "tui/dump.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/json.h"
#include "core/paths.h"

const char *const nt_dump_names[] = {"text", "csv", "json", NULL};
static const char *const ends[] = {"txt", "csv", "json"};

static void add_json(const nt_screen *screen, const nt_snapshot *shown, const nt_sheet *sheet, nt_str *out)
{
    const nt_facts *facts = &shown->facts;
    json_t *document = json_pack("{s:s, s:i, s:s, s:o, s:o, s:o}", "type", "view", "schema_version", 1, "view",
                                 nt_view_name(screen->view), "database", nt_json_text(facts->database), "run",
                                 nt_json_int(facts->has_run ? facts->run : NT_UNKNOWN), "rows", nt_sheet_json(sheet));
    char *text = nt_json_dump_done(document);
    nt_str_addf(out, "%s\n", text);
    free(text);
}

void nt_dump(const nt_screen *screen, const nt_snapshot *shown, nt_dump_format format, nt_str *out)
{
    nt_sheet sheet = {0};
    nt_grid grid = {0};
    if (format == NT_DUMP_TEXT) {
        nt_screen_draw(screen, shown, &grid);
        nt_grid_text(&grid, out);
    } else {
        nt_screen_sheet(screen, shown, &sheet);
        if (format == NT_DUMP_CSV)
            nt_sheet_csv(&sheet, out);
        else
            add_json(screen, shown, &sheet, out);
    }
    nt_grid_done(&grid);
    nt_sheet_done(&sheet);
}

nt_status nt_dump_files(const nt_screen *screen, const nt_snapshot *shown, const char *folder, char *name,
                        size_t capacity, nt_error *err)
{
    char stamp[32];
    struct tm local;
    time_t now = time(NULL);
    localtime_r(&now, &local);
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &local);
    snprintf(name, capacity, "nntune-%s-%s", nt_view_name(screen->view), stamp);
    nt_status status = NT_OK;
    for (int format = 0; format < NT_DUMP_FORMATS && status == NT_OK; format++) {
        nt_str path = {0}, text = {0};
        nt_str_addf(&path, "%s/%s.%s", folder != NULL ? folder : ".", name, ends[format]);
        nt_dump(screen, shown, (nt_dump_format)format, &text);
        status = nt_write_file(nt_str_text(&path), nt_str_text(&text), text.length, err);
        nt_str_done(&text);
        nt_str_done(&path);
    }
    return status;
}
