/* expr_lex.c: from text to tokens, and the messages that point into the text. */
#include "autotune/expr_lex.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

static const char *const spelling[NT_TOKEN_COUNT] = {
    [NT_TOKEN_AND] = "and",     [NT_TOKEN_OR] = "or",        [NT_TOKEN_NOT] = "not",         [NT_TOKEN_IN] = "in",
    [NT_TOKEN_IF] = "if",       [NT_TOKEN_ELSE] = "else",    [NT_TOKEN_FOR] = "for",         [NT_TOKEN_TRUE] = "True",
    [NT_TOKEN_FALSE] = "False", [NT_TOKEN_POWER] = "**",     [NT_TOKEN_FLOOR_DIVIDE] = "//", [NT_TOKEN_LE] = "<=",
    [NT_TOKEN_GE] = ">=",       [NT_TOKEN_EQ] = "==",        [NT_TOKEN_NE] = "!=",           [NT_TOKEN_PLUS] = "+",
    [NT_TOKEN_MINUS] = "-",     [NT_TOKEN_TIMES] = "*",      [NT_TOKEN_DIVIDE] = "/",        [NT_TOKEN_MODULO] = "%",
    [NT_TOKEN_LT] = "<",        [NT_TOKEN_GT] = ">",         [NT_TOKEN_OPEN] = "(",          [NT_TOKEN_CLOSE] = ")",
    [NT_TOKEN_OPEN_LIST] = "[", [NT_TOKEN_CLOSE_LIST] = "]", [NT_TOKEN_COMMA] = ",",
};

/* What people write from habit, and what it is here. */
static const struct {
    const char *written, *instead;
} habits[] = {
    {"&&", "write and"},
    {"||", "write or"},
    {"!", "write not"},
    {"=", "write == to compare"},
    {"^", "write ** for a power"},
    {"&", "bitwise operators do not exist here"},
    {"|", "bitwise operators do not exist here"},
    {"?", "write a if c else b"},
    {".", "attributes do not exist here; write floor(x) for math.floor(x)"},
    {"{", "write a list: [1, 2, 4]"},
};

int nt_expr_column(const char *text, size_t position)
{
    int column = 1;
    for (size_t i = 0; i < position; i++)
        column += ((unsigned char)text[i] & 0xc0) != 0x80;
    return column;
}

/* ---- errors ---------------------------------------------------------------------------------------------------- */

/* The text for a message: cut, and without control characters that a terminal would obey. */
static const char *shown(const char *text, char *buffer, size_t capacity)
{
    bool whole = nt_copy(buffer, capacity, text);
    for (char *c = buffer; *c != '\0'; c++)
        if (iscntrl((unsigned char)*c))
            *c = '?';
    if (!whole)
        memcpy(buffer + capacity - 4, "...", 4);
    return buffer;
}

void nt_expr_fail_at(nt_expr_lexer *lexer, size_t position, const char *problem, const char *hint)
{
    if (lexer->failed)
        return;
    lexer->failed = true;
    char text[160];
    nt_fail(lexer->err, NT_USAGE, "column %d of '%s': %s", nt_expr_column(lexer->text, position),
            shown(lexer->text, text, sizeof text), problem);
    if (hint != NULL)
        nt_hint(lexer->err, "%s", hint);
}

void nt_expr_fail_name(nt_expr_lexer *lexer, size_t start, size_t end, const char *kind, const char *const *names,
                       int count)
{
    char word[64] = "";
    memcpy(word, lexer->text + start, end - start < sizeof word - 1 ? end - start : sizeof word - 1);
    nt_str problem = {0}, hint = {0};
    nt_str_addf(&problem, "unknown %s '%s'", kind, word);
    int nearest = nt_nearest(word, names, count);
    if (nearest >= 0)
        nt_str_addf(&hint, "did you mean '%s'? ", names[nearest]);
    if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0)
        nt_str_add(&hint, "write True and False; ");
    nt_str_addf(&hint, "there %s", count == 0 ? "is none" : "are");
    for (int i = 0; i < count; i++)
        nt_str_addf(&hint, "%s %s", i == 0 ? "" : ",", names[i]);
    nt_expr_fail_at(lexer, start, nt_str_text(&problem), nt_str_text(&hint));
    nt_str_done(&problem);
    nt_str_done(&hint);
}

/* ---- tokens ---------------------------------------------------------------------------------------------------- */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static nt_token lex_failed(nt_expr_lexer *lexer, size_t position, const char *problem, const char *hint)
{
    nt_expr_fail_at(lexer, position, problem, hint);
    return NT_TOKEN_ERROR;
}

static size_t digits(const char *text, size_t at)
{
    while (isdigit((unsigned char)text[at]))
        at++;
    return at;
}

/* Finds the number's end itself, because strtod would take "inf", hexadecimal reals and more than Python does. */
static nt_token lex_number(nt_expr_lexer *lexer)
{
    const char *text = lexer->text;
    size_t end = digits(text, lexer->start);
    bool whole = text[end] != '.' && text[end] != 'e' && text[end] != 'E';
    if (text[end] == '.')
        end = digits(text, end + 1);
    if (text[end] == 'e' || text[end] == 'E') {
        size_t exponent = end + 1 + (text[end + 1] == '+' || text[end + 1] == '-');
        if (!isdigit((unsigned char)text[exponent]))
            return lex_failed(lexer, lexer->start, "a number with an empty exponent", NULL);
        end = digits(text, exponent);
    }
    if (is_word(text[end]) || text[end] == '.')
        return lex_failed(lexer, lexer->start, "not a number", "numbers look like 16, 0.5 or 1e-3");
    if (whole && text[lexer->start] == '0' && end > lexer->start + 1)
        return lex_failed(lexer, lexer->start, "a whole number with leading zeros", NULL);
    char *number = nt_strndup(text + lexer->start, end - lexer->start);
    long long i = 0;
    double r = 0;
    bool good = whole ? nt_parse_i64(number, &i) : nt_parse_double(number, &r);
    free(number);
    if (!good)
        return lex_failed(lexer, lexer->start, whole ? "a number beyond 64 bits" : "a number out of range", NULL);
    lexer->value = whole ? nt_expr_whole(i) : nt_expr_real(r);
    lexer->at = end;
    return NT_TOKEN_VALUE;
}

static nt_token lex_string(nt_expr_lexer *lexer)
{
    const char *text = lexer->text;
    char quote = text[lexer->start];
    char *out = lexer->letters, *begin = out;
    size_t at = lexer->start + 1;
    for (; text[at] != quote; at++) {
        bool escaped = text[at] == '\\';
        at += escaped;
        if (text[at] == '\0')
            return lex_failed(lexer, lexer->start, "text without its closing quote", NULL);
        if (escaped && strchr("\\'\"", text[at]) == NULL)
            return lex_failed(lexer, at - 1, "an unknown escape", "after \\ only \\ and quotes may stand");
        *out++ = text[at];
    }
    *out++ = '\0';
    lexer->letters = out;
    lexer->value = (nt_expr_value){.kind = NT_EXPR_STRING, .s = begin};
    lexer->at = at + 1;
    return NT_TOKEN_VALUE;
}

static nt_token lex_word(nt_expr_lexer *lexer)
{
    const char *text = lexer->text;
    while (is_word(text[lexer->at]))
        lexer->at++;
    size_t length = lexer->at - lexer->start;
    for (nt_token t = NT_TOKEN_AND; t <= NT_TOKEN_FALSE; t++)
        if (strlen(spelling[t]) == length && memcmp(text + lexer->start, spelling[t], length) == 0)
            return t;
    return NT_TOKEN_NAME;
}

static nt_token lex_sign(nt_expr_lexer *lexer)
{
    const char *here = lexer->text + lexer->start;
    for (nt_token t = NT_TOKEN_POWER; t < NT_TOKEN_COUNT; t++) {
        size_t length = strlen(spelling[t]);
        if (strncmp(here, spelling[t], length) == 0) {
            lexer->at = lexer->start + length;
            return t;
        }
    }
    for (size_t i = 0; i < sizeof habits / sizeof habits[0]; i++)
        if (strncmp(here, habits[i].written, strlen(habits[i].written)) == 0)
            return lex_failed(lexer, lexer->start, "not an operator here", habits[i].instead);
    return lex_failed(lexer, lexer->start, "a character that means nothing here", NULL);
}

static nt_token lex(nt_expr_lexer *lexer)
{
    const char *text = lexer->text;
    while (text[lexer->at] == ' ' || text[lexer->at] == '\t' || text[lexer->at] == '\n' || text[lexer->at] == '\r')
        lexer->at++;
    lexer->start = lexer->at;
    char c = text[lexer->at];
    if (c == '\0')
        return NT_TOKEN_END;
    if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)text[lexer->at + 1])))
        return lex_number(lexer);
    if (c == '\'' || c == '"')
        return lex_string(lexer);
    return is_word(c) ? lex_word(lexer) : lex_sign(lexer);
}

void nt_expr_advance(nt_expr_lexer *lexer)
{
    lexer->is = lexer->failed ? NT_TOKEN_ERROR : lex(lexer);
    lexer->end = lexer->at;
}
