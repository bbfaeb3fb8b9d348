/* test_tui_layout.c: properties of the layout at every size from 1x1 to 300x100, for every view, and that every view
 * can be drawn at every size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/tui_fixture.h"
#include "tui/layout.h"

enum { MOST_WIDTH = 300, MOST_HEIGHT = 100 };

static void check_layout(const nt_panes *panes, int width, int height)
{
    static unsigned char taken[MOST_WIDTH * MOST_HEIGHT];
    memset(taken, 0, sizeof taken);
    for (int i = 0; i < panes->count; i++) {
        const nt_rect *at = &panes->pane[i].at;
        assert_true(at->width > 0 && at->height > 0);
        assert_true(at->x >= 0 && at->y >= 0 && at->x + at->width <= width && at->y + at->height <= height);
        for (int y = at->y; y < at->y + at->height; y++)
            for (int x = at->x; x < at->x + at->width; x++) {
                assert_int_equal(taken[y * width + x], 0);
                taken[y * width + x] = 1;
            }
        for (int j = 0; j < i; j++)
            assert_int_not_equal(panes->pane[j].id, panes->pane[i].id);
    }
}

static void every_size_has_panes_that_do_not_overlap(void **state)
{
    (void)state;
    for (int view = 0; view < NT_VIEW_COUNT; view++)
        for (int height = 1; height <= MOST_HEIGHT; height++)
            for (int width = 1; width <= MOST_WIDTH; width += view == NT_VIEW_OVERVIEW ? 1 : 7) {
                nt_panes panes;
                nt_panes_of((nt_view_id)view, width, height, &panes);
                check_layout(&panes, width, height);
            }
}

/* Panes go in a fixed order: what a smaller screen shows, a larger one shows as well, until only a line is left. */
static void panes_are_dropped_in_order(void **state)
{
    static const struct {
        int width, height;
        nt_pane_id has, lacks;
    } cases[] = {
        {120, 40, NT_PANE_ROOFLINE, NT_PANE_LINE},    {120, 40, NT_PANE_OCCUPANCY, NT_PANE_CURRENT},
        {80, 24, NT_PANE_TIMELINE, NT_PANE_ROOFLINE}, {80, 24, NT_PANE_TABLE, NT_PANE_LIMITERS},
        {60, 16, NT_PANE_TABLE, NT_PANE_TIMELINE},    {60, 16, NT_PANE_BEST, NT_PANE_HEADER},
        {40, 10, NT_PANE_CURRENT, NT_PANE_TABLE},     {40, 10, NT_PANE_KEYS, NT_PANE_LINE},
        {20, 4, NT_PANE_LINE, NT_PANE_KEYS},          {2, 1, NT_PANE_LINE, NT_PANE_PROGRESS},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nt_panes panes;
        nt_panes_of(NT_VIEW_OVERVIEW, cases[i].width, cases[i].height, &panes);
        assert_non_null(nt_panes_find(&panes, cases[i].has));
        assert_null(nt_panes_find(&panes, cases[i].lacks));
    }
    nt_panes panes;
    nt_panes_of(NT_VIEW_OVERVIEW, 1, 1, &panes);
    assert_int_equal(panes.count, 0);
}

static void every_view_draws_at_every_size(void **state)
{
    (void)state;
    nt_snapshot *shown = fixture_snapshot(NT_DEVICE_CUDA);
    nt_grid grid = {0};
    for (int glyphs = 0; glyphs < NT_GLYPHS_COUNT; glyphs++)
        for (int view = 0; view < NT_VIEW_COUNT; view++)
            for (int step = 0; step < 160; step++) {
                nt_screen screen;
                fixture_screen(&screen, (nt_view_id)view, 1 + step * 37 % 300, 1 + step * 11 % 100);
                screen.glyphs = (nt_glyphs)glyphs;
                nt_screen_settle(&screen, shown);
                nt_screen_draw(&screen, shown, &grid);
                nt_screen_draw(&screen, NULL, &grid);
                for (int i = 0; glyphs == NT_GLYPHS_ASCII && i < grid.width * grid.height; i++)
                    assert_true(grid.square[i].code < 0x7f);
            }
    nt_grid_done(&grid);
    nt_snapshot_free(shown);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_has_panes_that_do_not_overlap),
        cmocka_unit_test(panes_are_dropped_in_order),
        cmocka_unit_test(every_view_draws_at_every_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
