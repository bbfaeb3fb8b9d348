/* settings.c: see settings.h. */
#include "tui/settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/paths.h"

bool nt_settings_path(char *out, size_t capacity)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    nt_str path = {0};
    if (config != NULL && config[0] == '/')
        nt_str_addf(&path, "%s/nntune/top.json", config);
    else if (home != NULL && home[0] == '/')
        nt_str_addf(&path, "%s/.config/nntune/top.json", home);
    bool fits = path.length > 0 && nt_copy(out, capacity, nt_str_text(&path));
    nt_str_done(&path);
    return fits;
}

static int glyphs_named(const char *name)
{
    for (int i = 0; name != NULL && i < NT_GLYPHS_COUNT; i++)
        if (strcmp(nt_glyphs_names[i], name) == 0)
            return i;
    return -1;
}

static void load_keys(nt_screen *screen, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list) && i < NT_WINDOW_KEYS; i++) {
        const json_t *one = json_array_get(list, i);
        const char *name = nt_json_get_text(one, "name");
        nt_window_key *key = &screen->window.key[i];
        if (name == NULL || !nt_copy(key->name, sizeof key->name, name))
            return;
        key->param = json_is_true(json_object_get(one, "parameter"));
        key->descending = json_is_true(json_object_get(one, "descending"));
        screen->window.keys = (int)i + 1;
    }
}

void nt_settings_load(nt_screen *screen, const char *path)
{
    enum { LIMIT = 65536 };
    char *text = NULL;
    size_t bytes;
    json_t *saved = NULL;
    if (nt_read_file(path, LIMIT, &text, &bytes, NULL) != NT_OK)
        return;
    if (nt_json_parse(text, &saved, NULL) == NT_OK) {
        double interval_s = nt_json_get_real(saved, "interval_s");
        int glyphs = glyphs_named(nt_json_get_text(saved, "glyphs"));
        const char *view = nt_json_get_text(saved, "view");
        if (interval_s >= 0.1 && interval_s <= 60)
            screen->interval_s = interval_s;
        /* Never more than the terminal shows. */
        if (glyphs > (int)screen->glyphs)
            screen->glyphs = (nt_glyphs)glyphs;
        if (view != NULL && nt_view_find(view) >= 0)
            screen->view = (nt_view_id)nt_view_find(view);
        load_keys(screen, json_object_get(saved, "sort"));
    }
    json_decref(saved);
    free(text);
}

nt_status nt_settings_save(const nt_screen *screen, const char *path, nt_error *err)
{
    json_t *sort = json_array();
    for (int i = 0; i < screen->window.keys; i++)
        json_array_append_new(sort,
                              json_pack("{s:s, s:b, s:b}", "name", screen->window.key[i].name, "parameter",
                                        screen->window.key[i].param, "descending", screen->window.key[i].descending));
    char *text =
        nt_json_dump_done(json_pack("{s:s, s:f, s:s, s:o}", "glyphs", nt_glyphs_name(screen->glyphs), "interval_s",
                                    screen->interval_s, "view", nt_view_name(screen->view), "sort", sort));
    char *folder = strdup(path), *slash = folder != NULL ? strrchr(folder, '/') : NULL;
    if (slash != NULL)
        *slash = '\0';
    nt_status status = folder != NULL ? nt_make_directories(folder, 0700, err) : NT_OK;
    if (status == NT_OK)
        status = nt_write_file(path, text, strlen(text), err);
    free(folder);
    free(text);
    return status;
}
