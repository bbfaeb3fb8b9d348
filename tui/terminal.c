/* terminal.c: see terminal.h.
 *
 * ncurses' own handlers do resizing, suspending and resuming; there are none of ours for those. On a fatal signal the
 * terminal is put back with write() and tcsetattr(), which are safe there, and the signal is raised again. */
#include "tui/terminal.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "tui/keys.h"

#if NT_HAVE_CURSES_H

#include <ncurses.h>
#include <signal.h>
#include <stdio.h>
#include <term.h>
#include <termios.h>
#include <wchar.h>

struct nt_terminal {
    SCREEN *screen;
    bool color;
    bool resized;  /* ncurses has dropped or added squares since the last drawing */
    nt_grid drawn; /* what was drawn last: only rows that differ go through ncurses */
};

/* Looks per style; the colour pair has the style's number. */
static const struct {
    attr_t attributes;
    short color; /* -1: the terminal's own */
} looks[NT_STYLE_COUNT] = {
    [NT_STYLE_PLAIN] = {A_NORMAL, -1},
    [NT_STYLE_TITLE] = {A_BOLD, -1},
    [NT_STYLE_DIM] = {A_DIM, -1},
    [NT_STYLE_GOOD] = {A_BOLD, COLOR_GREEN},
    [NT_STYLE_WARN] = {A_BOLD, COLOR_YELLOW},
    [NT_STYLE_BAD] = {A_BOLD | A_REVERSE, COLOR_RED},
    [NT_STYLE_FIRST] = {A_NORMAL, COLOR_CYAN},
    [NT_STYLE_SECOND] = {A_NORMAL, COLOR_GREEN},
    [NT_STYLE_SELECTED] = {A_REVERSE, -1},
};

/* ---- fatal signals --------------------------------------------------------------------------------------------------- */

static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
enum { FATAL = sizeof fatal / sizeof fatal[0] };
static struct sigaction before[FATAL];
static struct termios modes_before;
static bool modes_known;
static int drawn_on;
static char restore_text[256];
static size_t restore_length;

static void on_fatal(int signal_number)
{
    ssize_t written = write(drawn_on, restore_text, restore_length);
    (void)written;
    if (modes_known)
        tcsetattr(STDIN_FILENO, TCSANOW, &modes_before);
    for (int i = 0; i < FATAL; i++)
        if (fatal[i] == signal_number)
            sigaction(signal_number, &before[i], NULL);
    raise(signal_number);
}

static void add_capability(const char *name)
{
    char code[16];
    snprintf(code, sizeof code, "%s", name);
    const char *text = tigetstr(code);
    if (text == NULL || text == (const char *)-1)
        return;
    size_t length = strlen(text);
    if (restore_length + length < sizeof restore_text) {
        memcpy(restore_text + restore_length, text, length);
        restore_length += length;
    }
}

static void watch_fatal(void)
{
    static const char *const capabilities[] = {"sgr0", "cnorm", "rmkx", "rmcup"};
    restore_length = 0;
    for (size_t i = 0; i < sizeof capabilities / sizeof capabilities[0]; i++)
        add_capability(capabilities[i]);
    struct sigaction action = {.sa_handler = on_fatal, .sa_flags = SA_NODEFER};
    for (int i = 0; i < FATAL; i++)
        sigaction(fatal[i], &action, &before[i]);
}

static void unwatch_fatal(void)
{
    for (int i = 0; i < FATAL; i++)
        sigaction(fatal[i], &before[i], NULL);
}

/* ---- opening --------------------------------------------------------------------------------------------------------- */

const char *nt_terminal_refusal(void)
{
    static char why[96];
    const char *name = getenv("TERM");
    int problem = 0;
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return "stdin and stdout are not both a terminal";
    if (name == NULL || *name == '\0')
        return "TERM is not set";
    char copy[64];
    snprintf(copy, sizeof copy, "%s", name);
    if (setupterm(copy, STDOUT_FILENO, &problem) != OK) {
        snprintf(why, sizeof why, "the terminal '%.40s' is not known here", name);
        return why;
    }
    char cup[] = "cup";
    const char *moves = tigetstr(cup);
    bool able = moves != NULL && moves != (const char *)-1;
    del_curterm(cur_term);
    if (able)
        return NULL;
    snprintf(why, sizeof why, "the terminal '%.40s' cannot move its cursor", name);
    return why;
}

nt_glyphs nt_terminal_glyphs(void)
{
    const char *name = getenv("TERM");
    if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
        return NT_GLYPHS_ASCII;
    return name != NULL && strcmp(name, "linux") == 0 ? NT_GLYPHS_BLOCK : NT_GLYPHS_BRAILLE;
}

static void prepare_colors(nt_terminal *terminal)
{
    terminal->color = terminal->color && has_colors() && start_color() == OK;
    if (!terminal->color)
        return;
    use_default_colors();
    for (short i = 1; i < NT_STYLE_COUNT; i++)
        if (looks[i].color >= 0)
            init_pair(i, looks[i].color, -1);
}

nt_status nt_terminal_open(FILE *to, bool color, nt_terminal **out, nt_error *err)
{
    nt_terminal *terminal = nt_alloc_zero(1, sizeof *terminal);
    modes_known = tcgetattr(STDIN_FILENO, &modes_before) == 0;
    set_escdelay(25);
    drawn_on = fileno(to);
    terminal->screen = newterm(NULL, to, stdin);
    terminal->color = color;
    if (terminal->screen == NULL) {
        free(terminal);
        return nt_fail(err, NT_FAILED, "no screen can be drawn on this terminal");
    }
    set_term(terminal->screen);
    cbreak();
    noecho();
    nonl();
    curs_set(0);
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    prepare_colors(terminal);
    watch_fatal();
    *out = terminal;
    return NT_OK;
}

void nt_terminal_close(nt_terminal *terminal)
{
    if (terminal == NULL)
        return;
    unwatch_fatal();
    endwin();
    delscreen(terminal->screen);
    nt_grid_done(&terminal->drawn);
    if (modes_known)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &modes_before);
    free(terminal);
}

void nt_terminal_size(const nt_terminal *terminal, int *width, int *height)
{
    (void)terminal;
    *width = COLS;
    *height = LINES;
}

/* ---- drawing --------------------------------------------------------------------------------------------------------- */

static void set_look(const nt_terminal *terminal, nt_style style)
{
    short pair = terminal->color && looks[style].color >= 0 ? (short)style : 0;
    wattr_set(stdscr, looks[style].attributes, pair, NULL);
}

static void draw_row(const nt_terminal *terminal, const nt_grid *grid, int y)
{
    wchar_t text[512];
    for (int x = 0; x < grid->width;) {
        nt_style style = nt_grid_at(grid, x, y)->style;
        int begin = x, count = 0;
        for (; x < grid->width && count < 511 && nt_grid_at(grid, x, y)->style == style; x++)
            text[count++] = (wchar_t)nt_grid_at(grid, x, y)->code;
        set_look(terminal, style);
        mvaddnwstr(y, begin, text, count);
    }
}

void nt_terminal_draw(nt_terminal *terminal, const nt_grid *grid, bool anew)
{
    bool all =
        anew || terminal->resized || grid->width != terminal->drawn.width || grid->height != terminal->drawn.height;
    size_t row_bytes = (size_t)grid->width * sizeof grid->square[0];
    if (anew)
        clearok(stdscr, TRUE);
    terminal->resized = false;
    if (all)
        nt_grid_resize(&terminal->drawn, grid->width, grid->height);
    for (int y = 0; y < grid->height && y < LINES; y++) {
        const nt_square *now = grid->square + y * grid->width;
        nt_square *last = terminal->drawn.square + y * grid->width;
        if (!all && memcmp(now, last, row_bytes) == 0)
            continue;
        draw_row(terminal, grid, y);
        memcpy(last, now, row_bytes);
    }
    refresh();
}

/* ---- keys ------------------------------------------------------------------------------------------------------------ */

static const struct {
    int curses, key;
} special[] = {
    {KEY_UP, NT_KEY_UP},         {KEY_DOWN, NT_KEY_DOWN},     {KEY_LEFT, NT_KEY_LEFT},
    {KEY_RIGHT, NT_KEY_RIGHT},   {KEY_PPAGE, NT_KEY_PAGE_UP}, {KEY_NPAGE, NT_KEY_PAGE_DOWN},
    {KEY_HOME, NT_KEY_HOME},     {KEY_END, NT_KEY_END},       {KEY_BTAB, NT_KEY_BACK_TAB},
    {KEY_RESIZE, NT_KEY_RESIZE}, {KEY_ENTER, NT_KEY_ENTER},   {KEY_BACKSPACE, NT_KEY_BACKSPACE},
};

/* Byte by byte: no key of ours is beyond ASCII, and ncurses' reading of wide characters swallows the keys behind a byte
 * that is no UTF-8. */
int nt_terminal_key(nt_terminal *terminal)
{
    int code = wgetch(stdscr);
    if (code == ERR)
        return -1;
    terminal->resized = terminal->resized || code == KEY_RESIZE;
    if (code < 128)
        return code == 0 ? NT_KEY_OTHER : code;
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++)
        if (special[i].curses == code)
            return special[i].key;
    if (code >= KEY_F(1) && code <= KEY_F(12))
        return NT_KEY_F0 + (code - KEY_F(0));
    return NT_KEY_OTHER;
}

#else /* built without ncurses */

const char *nt_terminal_refusal(void)
{
    return "this nntune was built without ncurses";
}

nt_glyphs nt_terminal_glyphs(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? NT_GLYPHS_BRAILLE : NT_GLYPHS_ASCII;
}

nt_status nt_terminal_open(FILE *to, bool color, nt_terminal **out, nt_error *err)
{
    (void)to;
    (void)color;
    *out = NULL;
    return nt_fail(err, NT_FAILED, "%s", nt_terminal_refusal());
}

void nt_terminal_size(const nt_terminal *terminal, int *width, int *height)
{
    (void)terminal;
    *width = *height = 0;
}

void nt_terminal_draw(nt_terminal *terminal, const nt_grid *grid, bool anew)
{
    (void)terminal;
    (void)grid;
    (void)anew;
}

int nt_terminal_key(nt_terminal *terminal)
{
    (void)terminal;
    return -1;
}

void nt_terminal_close(nt_terminal *terminal)
{
    (void)terminal;
}

#endif
