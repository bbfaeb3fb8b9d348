/* test_tui_screen.c: keys, filters, sheets and views on a made-up snapshot, without a terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "tests/unit/tui_fixture.h"
#include "tui/dump.h"
#include "tui/filter.h"
#include "tui/settings.h"

static void type(nt_screen *screen, const nt_snapshot *shown, const char *keys)
{
    for (; *keys != '\0'; keys++)
        nt_screen_key(screen, shown, *keys);
}

static void filters_read_words(void **state)
{
    static const char *const params[] = {"tile_m"};
    nt_window window = {0};
    nt_error err = {0};
    (void)state;
    assert_int_equal(nt_filter_parse("tile_m=64 occ>50  time<=20us outcome!=ok", params, 1, &window, &err), NT_OK);
    assert_int_equal(window.terms, 4);
    assert_true(window.term[0].key.param && window.term[0].op == NT_WINDOW_EQ && window.term[0].number == 64);
    assert_string_equal(window.term[1].key.name, "occupancy_limit_pct");
    assert_true(window.term[2].op == NT_WINDOW_LE && window.term[2].number == 20000);
    assert_true(window.term[3].op == NT_WINDOW_NE && window.term[3].is_text);
    assert_string_equal(window.term[3].text, "ok");
    assert_int_equal(nt_filter_parse("", params, 1, &window, &err), NT_OK);
    assert_int_equal(window.terms, 0);
}

static void filters_say_what_is_wrong(void **state)
{
    static const char *const params[] = {"tile_m"};
    static const struct {
        const char *text, *what, *hint;
    } cases[] = {
        {"tlie_m=64", "'tlie_m'", "'tile_m'"},
        {"occ", "'occ' is no condition", "= != < > <= >="},
        {"occ>", "no value", "occ>64"},
        {"; drop table trial=1", "';'", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nt_window window = {.terms = 1};
        nt_error err = {0};
        assert_int_equal(nt_filter_parse(cases[i].text, params, 1, &window, &err), NT_USAGE);
        assert_non_null(strstr(err.what, cases[i].what));
        assert_non_null(strstr(err.hint, cases[i].hint));
        assert_int_equal(window.terms, 1); /* as it was */
    }
}

/* Each key of the table does what its row says in the views it names, and no key has two actions in one view. */
static void keys_are_not_ambiguous(void **state)
{
    (void)state;
    for (int i = 0; i < nt_key_row_count; i++)
        for (int view = 0; view < NT_VIEW_COUNT; view++)
            for (int k = 0; k < 4; k++)
                if ((nt_key_rows[i].views >> view & 1u) != 0 && nt_key_rows[i].key[k] != 0)
                    assert_int_equal(nt_key_action((nt_view_id)view, nt_key_rows[i].key[k]), nt_key_rows[i].action);
    assert_int_equal(nt_key_action(NT_VIEW_OVERVIEW, 'w'), NT_DO_NOTHING);
}

static void keys_change_views_and_come_back(void **state)
{
    (void)state;
    nt_screen screen;
    nt_snapshot *shown = fixture_snapshot(NT_DEVICE_CUDA);
    fixture_screen(&screen, NT_VIEW_OVERVIEW, 120, 40);
    type(&screen, shown, "2");
    assert_int_equal(screen.view, NT_VIEW_TRIALS);
    type(&screen, shown, "jjj\n");
    assert_int_equal(screen.view, NT_VIEW_TRIAL);
    assert_int_equal(screen.opened, 4);
    nt_screen_key(&screen, shown, NT_KEY_ESCAPE);
    assert_int_equal(screen.view, NT_VIEW_TRIALS);
    nt_screen_key(&screen, shown, NT_KEY_ESCAPE);
    nt_screen_key(&screen, shown, NT_KEY_ESCAPE); /* at the top it does nothing */
    assert_int_equal(screen.view, NT_VIEW_OVERVIEW);
    type(&screen, shown, "w");
    assert_non_null(strstr(screen.message, "? lists the keys"));
    type(&screen, shown, "q");
    assert_true(screen.quit);
    nt_snapshot_free(shown);
}

static void filters_and_sorts_are_typed(void **state)
{
    (void)state;
    nt_screen screen;
    nt_want want;
    nt_snapshot *shown = fixture_snapshot(NT_DEVICE_CUDA);
    fixture_screen(&screen, NT_VIEW_TRIALS, 80, 24);
    screen.cursor = 20;
    type(&screen, shown, "/tile_m=32\nstime\nSocc\nr");
    nt_screen_want(&screen, shown, &want);
    assert_int_equal(want.window.terms, 1);
    assert_int_equal(want.window.keys, 2);
    assert_string_equal(want.window.key[0].name, "first_time_ns");
    assert_true(want.window.key[0].descending);
    assert_string_equal(want.window.key[1].name, "occupancy_limit_pct");
    assert_int_equal(want.window.first, 0);
    type(&screen, shown,
         "/\x15"
         "x\n");
    assert_int_equal(screen.prompt, NT_PROMPT_FILTER); /* stays, to be mended */
    assert_true(screen.message[0] != '\0');
    nt_screen_key(&screen, shown, NT_KEY_ESCAPE);
    assert_string_equal(screen.filter, "tile_m=32");
    nt_snapshot_free(shown);
}

static void the_cursor_stays_inside(void **state)
{
    (void)state;
    nt_screen screen;
    nt_snapshot *shown = fixture_snapshot(NT_DEVICE_CUDA);
    fixture_screen(&screen, NT_VIEW_TRIALS, 80, 24);
    type(&screen, shown, "G");
    assert_int_equal(screen.cursor, FIXTURE_TRIALS - 1);
    assert_int_equal(screen.top, FIXTURE_TRIALS - nt_screen_page(&screen));
    type(&screen, shown, "jj");
    assert_int_equal(screen.cursor, FIXTURE_TRIALS - 1);
    type(&screen, shown, "gk");
    assert_int_equal(screen.cursor, 0);
    assert_int_equal(screen.top, 0);
    nt_snapshot_free(shown);
}

static void tags_go_on_and_off(void **state)
{
    (void)state;
    nt_screen screen;
    nt_snapshot *shown = fixture_snapshot(NT_DEVICE_CUDA);
    fixture_screen(&screen, NT_VIEW_TRIALS, 80, 24);
    screen.tags = 0;
    type(&screen, shown, "tttttttttt");
    assert_int_equal(screen.tags, NT_TAGS);
    assert_non_null(strstr(screen.message, "the most"));
    type(&screen, shown, "gt");
    assert_int_equal(screen.tags, NT_TAGS - 1);
    assert_int_equal(screen.tagged[0], 2);
    nt_snapshot_free(shown);
}

static void sliders_move_the_occupancy(void **state)
{
    (void)state;
    nt_screen screen;
    nt_str before = {0}, after = {0};
    nt_snapshot *shown = fixture_snapshot(NT_DEVICE_CUDA);
    fixture_screen(&screen, NT_VIEW_WHAT_IF, 100, 30);
    nt_dump(&screen, shown, NT_DUMP_TEXT, &before);
    assert_non_null(strstr(nt_str_text(&before), "registers a thread: 64"));
    assert_non_null(strstr(nt_str_text(&before), "50.0 %"));
    type(&screen, shown, "llllllll");
    nt_dump(&screen, shown, NT_DUMP_TEXT, &after);
    assert_non_null(strstr(nt_str_text(&after), "registers a thread: 128"));
    assert_non_null(strstr(nt_str_text(&after), "25.0 %"));
    nt_str_done(&before);
    nt_str_done(&after);
    nt_snapshot_free(shown);
}

static void unknown_values_are_no_zeros(void **state)
{
    (void)state;
    nt_screen screen;
    nt_str text = {0};
    nt_snapshot *shown = fixture_snapshot(NT_DEVICE_CUDA);
    fixture_screen(&screen, NT_VIEW_TRIALS, 100, 40);
    nt_dump(&screen, shown, NT_DUMP_TEXT, &text);
    assert_non_null(strstr(nt_str_text(&text), "      5      32      -  compile_failed  100.0"));
    nt_str_clear(&text);
    nt_dump(&screen, shown, NT_DUMP_CSV, &text);
    assert_non_null(strstr(nt_str_text(&text), "\n5,32,,compile_failed,100,\"300 registers, \"\"too\"\" many\"\n"));
    nt_str_clear(&text);
    nt_dump(&screen, shown, NT_DUMP_JSON, &text);
    assert_non_null(strstr(nt_str_text(&text), "{\"trial\":5,\"tile_m\":32,\"first_time_ns\":null,"));
    nt_str_done(&text);
    nt_snapshot_free(shown);
}

static void devices_name_the_source_of_each_value(void **state)
{
    (void)state;
    nt_screen screen;
    nt_str text = {0};
    nt_snapshot *shown = fixture_snapshot(NT_DEVICE_CUDA);
    fixture_screen(&screen, NT_VIEW_DEVICES, 80, 24);
    nt_dump(&screen, shown, NT_DUMP_TEXT, &text);
    assert_non_null(strstr(nt_str_text(&text), "occupancy %            61.5  gpm"));
    assert_non_null(strstr(nt_str_text(&text), "power mW             420000  nvml"));
    assert_null(strstr(nt_str_text(&text), "DRAM"));
    assert_non_null(strstr(nt_str_text(&text), "4711  ada"));
    nt_str_done(&text);
    nt_snapshot_free(shown);
}

static void settings_come_back(void **state)
{
    (void)state;
    nt_screen screen, again;
    char path[] = "/tmp/nntune-settings-XXXXXX";
    nt_error err = {0};
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    fixture_screen(&screen, NT_VIEW_HEAT, 80, 24);
    screen.interval_s = 2;
    screen.window.keys = 1;
    nt_copy(screen.window.key[0].name, sizeof screen.window.key[0].name, "first_time_ns");
    screen.window.key[0].descending = true;
    assert_int_equal(nt_settings_save(&screen, path, &err), NT_OK);
    nt_screen_init(&again);
    nt_settings_load(&again, path);
    assert_int_equal(again.view, NT_VIEW_HEAT);
    assert_true(again.interval_s == 2 && again.window.keys == 1 && again.window.key[0].descending);
    FILE *damaged = fopen(path, "w");
    fputs("{\"view\":\"nowhere\",\"interval_s\":-1,\"sort\":[{}", damaged);
    fclose(damaged);
    nt_screen_init(&again);
    nt_settings_load(&again, path);
    assert_int_equal(again.view, NT_VIEW_OVERVIEW);
    unlink(path);
}

/* Text of others cannot move what stands beside it. */
static void text_takes_one_column_a_character(void **state)
{
    (void)state;
    nt_grid grid = {0};
    nt_str text = {0};
    nt_grid_resize(&grid, 12, 1);
    nt_pane pane = nt_pane_of(&grid, (nt_rect){0, 0, 12, 1});
    assert_int_equal(nt_pane_put(&pane, 0, 0, NT_STYLE_PLAIN, "a\xc3\xa9\xe6\xbc\xa2\x1b\xffz\xe2\x82"), 7);
    nt_grid_text(&grid, &text);
    assert_string_equal(nt_str_text(&text), "a\xc3\xa9???z?\n");
    nt_str_done(&text);
    nt_grid_done(&grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_read_words),          cmocka_unit_test(filters_say_what_is_wrong),
        cmocka_unit_test(keys_are_not_ambiguous),      cmocka_unit_test(keys_change_views_and_come_back),
        cmocka_unit_test(filters_and_sorts_are_typed), cmocka_unit_test(the_cursor_stays_inside),
        cmocka_unit_test(tags_go_on_and_off),          cmocka_unit_test(sliders_move_the_occupancy),
        cmocka_unit_test(unknown_values_are_no_zeros), cmocka_unit_test(devices_name_the_source_of_each_value),
        cmocka_unit_test(settings_come_back),          cmocka_unit_test(text_takes_one_column_a_character),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
