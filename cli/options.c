/* options.c: from argv to checked values, by the rows of the tables alone. */
#include "cli/options.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/str.h"

enum { MOST_GIVEN = 48, MOST_NAMES = 96, MOST_POSITIONAL = 4096 };

struct nt_args {
    const nt_option *const *tables;
    nt_given *given[MOST_GIVEN];
    int given_count;
    const char *positional[MOST_POSITIONAL];
    int positional_count, most_positional;
    char **owned; /* copies that list values point into */
    size_t owned_count, owned_capacity;
};

static const nt_option *find_name(const nt_args *args, const char *name, size_t length)
{
    for (int t = 0; args->tables[t] != NULL; t++)
        for (const nt_option *o = args->tables[t]; o->name != NULL; o++)
            if (strlen(o->name) == length && strncmp(o->name, name, length) == 0)
                return o;
    return NULL;
}

static const nt_option *find_letter(const nt_args *args, char letter)
{
    for (int t = 0; args->tables[t] != NULL; t++)
        for (const nt_option *o = args->tables[t]; o->name != NULL; o++)
            if (o->letter != 0 && o->letter == letter)
                return o;
    return NULL;
}

static nt_status unknown_option(const nt_args *args, const char *name, size_t length, nt_error *err)
{
    const char *names[MOST_NAMES];
    int count = 0;
    char *word = nt_strndup(name, length);
    for (int t = 0; args->tables[t] != NULL; t++)
        for (const nt_option *o = args->tables[t]; o->name != NULL && count < MOST_NAMES; o++)
            if (!o->hidden)
                names[count++] = o->name;
    int nearest = nt_nearest(word, names, count);
    nt_fail(err, NT_USAGE, "unknown option '--%s'", word);
    if (nearest >= 0)
        nt_hint(err, "did you mean '--%s'?", names[nearest]);
    else
        nt_hint(err, "--help lists the options of this command");
    free(word);
    return NT_USAGE;
}

static nt_given *given_for(nt_args *args, const nt_option *option)
{
    for (int i = 0; i < args->given_count; i++)
        if (args->given[i]->option == option)
            return args->given[i];
    assert(args->given_count < MOST_GIVEN);
    nt_given *given = nt_alloc_zero(1, sizeof *given);
    given->option = option;
    args->given[args->given_count++] = given;
    return given;
}

/* ---- one value ----------------------------------------------------------------------------------------------------- */

static nt_status store_text(nt_given *given, const char *text, nt_error *err)
{
    if (given->count == NT_ARGS_VALUES)
        return nt_fail(err, NT_USAGE, "--%s: more than %d values", given->option->name, NT_ARGS_VALUES);
    if (text[0] == '\0')
        return nt_fail(err, NT_USAGE, "--%s: an empty value", given->option->name);
    given->text[given->count++] = text;
    return NT_OK;
}

static nt_status store_integer(nt_given *given, const char *text, nt_error *err)
{
    const nt_option *o = given->option;
    long long value;
    if (!nt_parse_i64(text, &value) || value < o->min || value > o->max)
        return nt_fail(err, NT_USAGE, "--%s: '%s' is not a whole number from %lld to %lld", o->name, text,
                       (long long)o->min, (long long)o->max);
    nt_status status = store_text(given, text, err);
    if (status == NT_OK)
        given->integer[given->count - 1] = value;
    return status;
}

static nt_status store_real(nt_given *given, const char *text, nt_error *err)
{
    const nt_option *o = given->option;
    double value;
    if (!nt_parse_double(text, &value) || value < o->min_real || value > o->max_real)
        return nt_fail(err, NT_USAGE, "--%s: '%s' is not a number from %g to %g", o->name, text, o->min_real,
                       o->max_real);
    nt_status status = store_text(given, text, err);
    if (status == NT_OK)
        given->real[given->count - 1] = value;
    return status;
}

static nt_status store_choice(nt_given *given, const char *text, nt_error *err)
{
    const nt_option *o = given->option;
    int count = 0;
    nt_str all = {0};
    for (; o->choices[count] != NULL; count++) {
        if (strcmp(o->choices[count], text) == 0) {
            nt_str_done(&all);
            nt_status status = store_text(given, text, err);
            if (status == NT_OK)
                given->integer[given->count - 1] = count;
            return status;
        }
        nt_str_addf(&all, "%s%s", count > 0 ? ", " : "", o->choices[count]);
    }
    int nearest = nt_nearest(text, o->choices, count);
    nt_fail(err, NT_USAGE, "--%s: unknown value '%s'", o->name, text);
    if (nearest >= 0)
        nt_hint(err, "did you mean '%s'? Values: %s", o->choices[nearest], nt_str_text(&all));
    else
        nt_hint(err, "values: %s", nt_str_text(&all));
    nt_str_done(&all);
    return NT_USAGE;
}

static nt_status store_budget(nt_given *given, const char *text, nt_error *err)
{
    static const struct {
        char suffix;
        double seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}};
    size_t length = strlen(text);
    long long trials;
    double number;
    if (nt_parse_i64(text, &trials) && trials > 0) {
        nt_status status = store_text(given, text, err);
        given->integer[0] = trials;
        given->real[0] = 0;
        return status;
    }
    for (size_t i = 0; length > 1 && i < sizeof units / sizeof units[0]; i++) {
        char *digits = nt_strndup(text, length - 1);
        bool good =
            text[length - 1] == units[i].suffix && nt_parse_double(digits, &number) && number > 0 && number < 1e7;
        free(digits);
        if (!good)
            continue;
        nt_status status = store_text(given, text, err);
        given->integer[0] = 0;
        given->real[0] = number * units[i].seconds;
        return status;
    }
    nt_fail(err, NT_USAGE, "--%s: '%s' is neither a number of trials nor a time above 0", given->option->name, text);
    return nt_hint(err, "for example 200 (trials), 60s, 5m, 1h");
}

static nt_status store_each(nt_args *args, nt_given *given, const char *text,
                            nt_status (*store)(nt_given *given, const char *text, nt_error *err), nt_error *err)
{
    void *owned = args->owned;
    nt_grow(&owned, &args->owned_capacity, args->owned_count + 1, sizeof *args->owned);
    args->owned = owned;
    char *copy = args->owned[args->owned_count++] = nt_strdup(text);
    for (char *part = copy;; part++) {
        char *comma = strchr(part, ',');
        if (comma != NULL)
            *comma = '\0';
        nt_status status = part[0] != '\0'
                               ? store(given, part, err)
                               : nt_fail(err, NT_USAGE, "--%s: an empty value in '%s'", given->option->name, text);
        if (status != NT_OK || comma == NULL)
            return status;
        part = comma;
    }
}

static nt_status store_flag(nt_given *given, const char *text, nt_error *err)
{
    (void)text;
    (void)err;
    given->count = 1;
    return NT_OK;
}

/* How each kind takes a value: what reads one, whether commas separate several, whether a second use adds to the first.
 */
static const struct {
    nt_status (*store)(nt_given *given, const char *text, nt_error *err);
    bool list, adds;
} kinds[] = {
    [NT_OPTION_FLAG] = {store_flag, false, false},        [NT_OPTION_TEXT] = {store_text, false, false},
    [NT_OPTION_INTEGER] = {store_integer, false, false},  [NT_OPTION_REAL] = {store_real, false, false},
    [NT_OPTION_CHOICE] = {store_choice, false, false},    [NT_OPTION_INTEGER_LIST] = {store_integer, true, true},
    [NT_OPTION_CHOICE_LIST] = {store_choice, true, true}, [NT_OPTION_LIST] = {store_text, true, true},
    [NT_OPTION_REPEAT] = {store_text, false, true},       [NT_OPTION_BUDGET] = {store_budget, false, false},
};

static nt_status store_value(nt_args *args, const nt_option *option, const char *text, nt_error *err)
{
    nt_given *given = given_for(args, option);
    if (!kinds[option->kind].adds)
        given->count = 0;
    if (kinds[option->kind].list)
        return store_each(args, given, text, kinds[option->kind].store, err);
    return kinds[option->kind].store(given, text, err);
}

/* ---- the line ---------------------------------------------------------------------------------------------------------- */

static nt_status take_long(nt_args *args, const char *word, int argc, char **argv, int *at, nt_error *err)
{
    const char *equals = strchr(word, '=');
    size_t length = equals != NULL ? (size_t)(equals - word) : strlen(word);
    const nt_option *option = find_name(args, word, length);
    if (option == NULL)
        return unknown_option(args, word, length, err);
    if (option->kind == NT_OPTION_FLAG && equals != NULL)
        return nt_fail(err, NT_USAGE, "--%s takes no value", option->name);
    if (option->kind == NT_OPTION_FLAG || equals != NULL)
        return store_value(args, option, equals != NULL ? equals + 1 : "", err);
    if (*at + 1 >= argc)
        return nt_fail(err, NT_USAGE, "--%s needs a value: --%s %s", option->name, option->name, option->argument);
    return store_value(args, option, argv[++*at], err);
}

static nt_status take_letters(nt_args *args, const char *letters, int argc, char **argv, int *at, nt_error *err)
{
    for (; *letters != '\0'; letters++) {
        const nt_option *option = find_letter(args, *letters);
        if (option == NULL) {
            nt_fail(err, NT_USAGE, "unknown option '-%c'", *letters);
            return nt_hint(err, "--help lists the options of this command");
        }
        if (option->kind == NT_OPTION_FLAG) {
            store_value(args, option, "", err);
            continue;
        }
        const char *value = letters[1] != '\0' ? letters + 1 : *at + 1 < argc ? argv[++*at] : NULL;
        if (value == NULL)
            return nt_fail(err, NT_USAGE, "-%c needs a value: -%c %s", *letters, *letters, option->argument);
        return store_value(args, option, value, err);
    }
    return NT_OK;
}

static nt_status unexpected(const nt_args *args, const char *word, nt_error *err)
{
    nt_fail(err, NT_USAGE, "unexpected argument '%s'", word);
    if (find_name(args, word, strlen(word)) != NULL)
        return nt_hint(err, "options begin with two dashes: --%s", word);
    return nt_hint(err, "--help shows what this command takes");
}

static nt_status take_positional(nt_args *args, const char *word, nt_error *err)
{
    if (args->positional_count >= args->most_positional || args->positional_count >= MOST_POSITIONAL)
        return unexpected(args, word, err);
    args->positional[args->positional_count++] = word;
    return NT_OK;
}

nt_status nt_args_parse(const nt_option *const *tables, int argc, char **argv, int most_positional, nt_args **out,
                        nt_error *err)
{
    nt_args *args = nt_alloc_zero(1, sizeof *args);
    args->tables = tables;
    args->most_positional = most_positional;
    nt_status status = NT_OK;
    bool options = true;
    for (int at = 0; status == NT_OK && at < argc; at++) {
        const char *word = argv[at];
        if (options && strcmp(word, "--") == 0)
            options = false;
        else if (options && strncmp(word, "--", 2) == 0)
            status = take_long(args, word + 2, argc, argv, &at, err);
        else if (options && word[0] == '-' && word[1] != '\0')
            status = take_letters(args, word + 1, argc, argv, &at, err);
        else
            status = take_positional(args, word, err);
    }
    if (status != NT_OK) {
        nt_args_free(args);
        args = NULL;
    }
    *out = args;
    return status;
}

void nt_args_free(nt_args *args)
{
    if (args == NULL)
        return;
    for (int i = 0; i < args->given_count; i++)
        free(args->given[i]);
    for (size_t i = 0; i < args->owned_count; i++)
        free(args->owned[i]);
    free(args->owned);
    free(args);
}

const nt_given *nt_args_get(const nt_args *args, const char *name)
{
    assert(find_name(args, name, strlen(name)) != NULL);
    for (int i = 0; i < args->given_count; i++)
        if (strcmp(args->given[i]->option->name, name) == 0 && args->given[i]->count > 0)
            return args->given[i];
    return NULL;
}

bool nt_args_takes(const nt_args *args, const char *name)
{
    return find_name(args, name, strlen(name)) != NULL;
}

bool nt_args_flag(const nt_args *args, const char *name)
{
    return nt_args_get(args, name) != NULL;
}

const char *nt_args_text(const nt_args *args, const char *name, const char *otherwise)
{
    const nt_given *given = nt_args_get(args, name);
    return given != NULL ? given->text[given->count - 1] : otherwise;
}

int64_t nt_args_integer(const nt_args *args, const char *name, int64_t otherwise)
{
    const nt_given *given = nt_args_get(args, name);
    return given != NULL ? given->integer[given->count - 1] : otherwise;
}

double nt_args_real(const nt_args *args, const char *name, double otherwise)
{
    const nt_given *given = nt_args_get(args, name);
    return given != NULL ? given->real[given->count - 1] : otherwise;
}

int nt_args_positional_count(const nt_args *args)
{
    return args->positional_count;
}

const char *nt_args_positional(const nt_args *args, int index)
{
    return index < args->positional_count ? args->positional[index] : NULL;
}
