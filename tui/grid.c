/* grid.c: see grid.h. */
#include "tui/grid.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

void nt_grid_resize(nt_grid *grid, int width, int height)
{
    size_t count = (size_t)(width > 0 ? width : 0) * (size_t)(height > 0 ? height : 0);
    if (grid->width != width || grid->height != height) {
        free(grid->square);
        grid->square = count > 0 ? nt_alloc_zero(count, sizeof *grid->square) : NULL;
        grid->width = width;
        grid->height = height;
    }
    for (size_t i = 0; i < count; i++)
        grid->square[i] = (nt_square){.code = ' '};
}

void nt_grid_done(nt_grid *grid)
{
    free(grid->square);
    *grid = (nt_grid){0};
}

const nt_square *nt_grid_at(const nt_grid *grid, int x, int y)
{
    return &grid->square[(size_t)y * (size_t)grid->width + (size_t)x];
}

void nt_grid_text(const nt_grid *grid, nt_str *out)
{
    for (int y = 0; y < grid->height; y++) {
        int end = grid->width;
        while (end > 0 && nt_grid_at(grid, end - 1, y)->code == ' ')
            end--;
        for (int x = 0; x < end; x++)
            nt_add_character(out, nt_grid_at(grid, x, y)->code);
        nt_str_add(out, "\n");
    }
}

/* ---- characters ---------------------------------------------------------------------------------------------------- */

/* Latin letters, Greek, punctuation, arrows, box drawing, blocks and braille: one column in every terminal. */
static bool narrow(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {{0x20, 0x7e},     {0xa1, 0x17f},    {0x384, 0x3ff},   {0x400, 0x45f},
                  {0x2010, 0x2027}, {0x2190, 0x2193}, {0x2500, 0x259f}, {0x2800, 0x28ff}};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (code >= ranges[i].first && code <= ranges[i].last)
            return code != 0xad;
    return false;
}

uint32_t nt_next_character(const char **text)
{
    const unsigned char *at = (const unsigned char *)*text;
    if (*at == 0)
        return 0;
    int more = *at < 0x80 ? 0 : *at >= 0xf0 ? 3 : *at >= 0xe0 ? 2 : *at >= 0xc2 ? 1 : -1;
    uint32_t code = more == 0 ? *at : more < 0 ? '?' : *at & (0x3fu >> more);
    int used = 1;
    for (; used <= more; used++) {
        if ((at[used] & 0xc0) != 0x80) {
            code = '?';
            break;
        }
        code = code << 6 | (at[used] & 0x3f);
    }
    *text += used;
    if (code == '\t' || code == '\n')
        return ' ';
    return narrow(code) ? code : '?';
}

void nt_add_character(nt_str *out, uint32_t code)
{
    char bytes[4];
    size_t count = 0;
    if (code < 0x80) {
        bytes[count++] = (char)code;
    } else if (code < 0x800) {
        bytes[count++] = (char)(0xc0 | code >> 6);
        bytes[count++] = (char)(0x80 | (code & 0x3f));
    } else {
        bytes[count++] = (char)(0xe0 | (code >> 12 & 0xf));
        bytes[count++] = (char)(0x80 | (code >> 6 & 0x3f));
        bytes[count++] = (char)(0x80 | (code & 0x3f));
    }
    nt_str_add_n(out, bytes, count);
}

/* ---- panes ----------------------------------------------------------------------------------------------------------- */

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int most(int a, int b)
{
    return a > b ? a : b;
}

nt_pane nt_pane_of(nt_grid *grid, nt_rect at)
{
    nt_pane whole = {grid, {0, 0, grid->width, grid->height}};
    return nt_pane_part(&whole, at.x, at.y, at.width, at.height);
}

nt_pane nt_pane_part(const nt_pane *pane, int x, int y, int width, int height)
{
    int left = most(0, x), top = most(0, y);
    int right = least(pane->at.width, x + width), bottom = least(pane->at.height, y + height);
    nt_rect at = {pane->at.x + left, pane->at.y + top, most(0, right - left), most(0, bottom - top)};
    return (nt_pane){pane->grid, at};
}

void nt_pane_set(const nt_pane *pane, int x, int y, uint32_t code, nt_style style)
{
    if (x < 0 || y < 0 || x >= pane->at.width || y >= pane->at.height)
        return;
    size_t index = (size_t)(pane->at.y + y) * (size_t)pane->grid->width + (size_t)(pane->at.x + x);
    pane->grid->square[index] = (nt_square){pane->grid->ascii && code > 0x7e ? '?' : code, style};
}

int nt_pane_put(const nt_pane *pane, int x, int y, nt_style style, const char *text)
{
    uint32_t code;
    while (x < pane->at.width && (code = nt_next_character(&text)) != 0)
        nt_pane_set(pane, x++, y, code, style);
    return x;
}

int nt_pane_putf(const nt_pane *pane, int x, int y, nt_style style, const char *format, ...)
{
    nt_str text = {0};
    va_list args;
    va_start(args, format);
    nt_str_addv(&text, format, args);
    va_end(args);
    x = nt_pane_put(pane, x, y, style, nt_str_text(&text));
    nt_str_done(&text);
    return x;
}

void nt_pane_right(const nt_pane *pane, int y, nt_style style, const char *text)
{
    int width = 0;
    for (const char *at = text; nt_next_character(&at) != 0;)
        width++;
    nt_pane_put(pane, most(0, pane->at.width - width), y, style, text);
}

void nt_pane_mark(const nt_pane *pane, int y, nt_style style)
{
    for (int x = 0; x < pane->at.width && y >= 0 && y < pane->at.height; x++)
        pane->grid->square[(size_t)(pane->at.y + y) * (size_t)pane->grid->width + (size_t)(pane->at.x + x)].style =
            style;
}
