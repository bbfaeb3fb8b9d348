/* test_cli_options.c: argv to checked values: every kind of option, and what is said about wrong ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/cmd.h"
#include "cli/options.h"
#include "core/str.h"

static const char *const fruits[] = {"apple", "banana", "cherry", NULL};

static const nt_option first[] = {
    {.name = "flag", .letter = 'f', .kind = NT_OPTION_FLAG},
    {.name = "quick", .letter = 'q', .kind = NT_OPTION_FLAG},
    {.name = "text", .letter = 't', .kind = NT_OPTION_TEXT, .argument = "TEXT"},
    {.name = "number", .letter = 'n', .kind = NT_OPTION_INTEGER, .argument = "N", .min = -5, .max = 10},
    {.name = "real", .kind = NT_OPTION_REAL, .argument = "X", .min_real = 0.5, .max_real = 2},
    {.name = NULL},
};

static const nt_option second[] = {
    {.name = "numbers", .kind = NT_OPTION_INTEGER_LIST, .argument = "N,..", .min = 1, .max = INT64_C(1) << 31},
    {.name = "fruit", .kind = NT_OPTION_CHOICE, .argument = "FRUIT", .choices = fruits},
    {.name = "fruits", .kind = NT_OPTION_CHOICE_LIST, .argument = "F,..", .choices = fruits},
    {.name = "words", .kind = NT_OPTION_LIST, .argument = "W,.."},
    {.name = "pair", .kind = NT_OPTION_REPEAT, .argument = "K=V"},
    {.name = "budget", .kind = NT_OPTION_BUDGET, .argument = "N|TIME"},
    {.name = "secret", .kind = NT_OPTION_FLAG, .hidden = true},
    {.name = NULL},
};

static const nt_option *const tables[] = {first, second, NULL};

/* Splits at blanks; '' stands for an empty word. */
static nt_status parse(const char *line, int most_positional, nt_args **args, nt_error *err)
{
    static char buffer[2048];
    char *argv[200], *save = NULL;
    int argc = 0;
    nt_copy(buffer, sizeof buffer, line);
    for (char *word = strtok_r(buffer, " ", &save); word != NULL; word = strtok_r(NULL, " ", &save)) {
        if (strcmp(word, "''") == 0)
            word[0] = '\0';
        argv[argc++] = word;
    }
    *err = (nt_error){0};
    return nt_args_parse(tables, argc, argv, most_positional, args, err);
}

static nt_args *good(const char *line)
{
    nt_args *args;
    nt_error err;
    nt_status status = parse(line, 2, &args, &err);
    if (status != NT_OK)
        fail_msg("%s: %s", line, err.what);
    return args;
}

static void bad(const char *line, const char *what, const char *hint)
{
    nt_args *args;
    nt_error err;
    assert_int_equal(parse(line, 1, &args, &err), NT_USAGE);
    assert_null(args);
    assert_string_equal(err.what, what);
    assert_string_equal(err.hint, hint);
}

static void values_come_in_every_spelling(void **state)
{
    static const char *const lines[] = {
        "--text abc --number 7 -f", "--text=abc --number=7 --flag", "-t abc -n 7 -f", "-tabc -n7 -f", "-ftabc -n 7",
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        nt_args *args = good(lines[i]);
        assert_string_equal(nt_args_text(args, "text", NULL), "abc");
        assert_int_equal(nt_args_integer(args, "number", 0), 7);
        assert_true(nt_args_flag(args, "flag"));
        assert_false(nt_args_flag(args, "quick"));
        nt_args_free(args);
    }
}

static void options_stand_anywhere_until_two_dashes(void **state)
{
    (void)state;
    nt_args *args = good("one -f -- -q");
    assert_int_equal(nt_args_positional_count(args), 2);
    assert_string_equal(nt_args_positional(args, 0), "one");
    assert_string_equal(nt_args_positional(args, 1), "-q");
    assert_null(nt_args_positional(args, 2));
    assert_false(nt_args_flag(args, "quick"));
    nt_args_free(args);
    args = good("- -f");
    assert_string_equal(nt_args_positional(args, 0), "-");
    nt_args_free(args);
}

static void what_is_not_given_has_its_default(void **state)
{
    (void)state;
    nt_args *args = good("");
    assert_null(nt_args_get(args, "numbers"));
    assert_string_equal(nt_args_text(args, "text", "other"), "other");
    assert_int_equal(nt_args_integer(args, "number", 3), 3);
    assert_true(nt_args_real(args, "real", 1.5) == 1.5);
    nt_args_free(args);
}

static void the_last_of_a_single_value_counts_and_lists_add_up(void **state)
{
    (void)state;
    nt_args *args =
        good("-n 1 -n 2 --numbers 1,2 --numbers 3 --fruits cherry,apple --words a,b --pair k=1,2 --pair l=3");
    assert_int_equal(nt_args_integer(args, "number", 0), 2);
    assert_int_equal(nt_args_get(args, "number")->count, 1);
    const nt_given *numbers = nt_args_get(args, "numbers"), *chosen = nt_args_get(args, "fruits");
    assert_int_equal(numbers->count, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(numbers->integer[i], i + 1);
    assert_int_equal(chosen->count, 2);
    assert_int_equal(chosen->integer[0], 2);
    assert_int_equal(chosen->integer[1], 0);
    assert_int_equal(nt_args_get(args, "words")->count, 2);
    const nt_given *pairs = nt_args_get(args, "pair");
    assert_int_equal(pairs->count, 2);
    assert_string_equal(pairs->text[0], "k=1,2"); /* commas are the value's own */
    nt_args_free(args);
}

static void numbers_keep_their_limits(void **state)
{
    (void)state;
    nt_args *args = good("-n -5 --real 0.5 --numbers 2147483648");
    assert_int_equal(nt_args_integer(args, "number", 0), -5);
    assert_true(nt_args_real(args, "real", 0) == 0.5);
    assert_int_equal(nt_args_get(args, "numbers")->integer[0], INT64_C(2147483648));
    nt_args_free(args);
    bad("-n 11", "--number: '11' is not a whole number from -5 to 10", "");
    bad("-n -6", "--number: '-6' is not a whole number from -5 to 10", "");
    bad("-n 1x", "--number: '1x' is not a whole number from -5 to 10", "");
    bad("-n 99999999999999999999", "--number: '99999999999999999999' is not a whole number from -5 to 10", "");
    bad("--real 2.1", "--real: '2.1' is not a number from 0.5 to 2", "");
    bad("--real nan", "--real: 'nan' is not a number from 0.5 to 2", "");
    bad("--numbers 1,0", "--numbers: '0' is not a whole number from 1 to 2147483648", "");
    bad("--numbers 1,2147483649", "--numbers: '2147483649' is not a whole number from 1 to 2147483648", "");
}

static void a_budget_is_trials_or_time(void **state)
{
    static const struct {
        const char *line;
        int64_t trials;
        double seconds;
    } rows[] = {{"--budget 200", 200, 0}, {"--budget 60s", 0, 60}, {"--budget 1.5m", 0, 90}, {"--budget 2h", 0, 7200}};
    static const char *const wrong[] = {"0", "0s", "-1", "-1s", "s", "5x", "5ms", "nans", "infs", "1e9s"};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        nt_args *args = good(rows[i].line);
        assert_int_equal(nt_args_integer(args, "budget", -1), rows[i].trials);
        assert_true(nt_args_real(args, "budget", -1) == rows[i].seconds);
        nt_args_free(args);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        nt_str line = {0}, what = {0};
        nt_str_addf(&line, "--budget %s", wrong[i]);
        nt_str_addf(&what, "--budget: '%s' is neither a number of trials nor a time above 0", wrong[i]);
        bad(nt_str_text(&line), nt_str_text(&what), "for example 200 (trials), 60s, 5m, 1h");
        nt_str_done(&line);
        nt_str_done(&what);
    }
}

static void wrong_words_are_named_with_the_right_ones(void **state)
{
    (void)state;
    bad("--fruit bananna", "--fruit: unknown value 'bananna'", "did you mean 'banana'? Values: apple, banana, cherry");
    bad("--fruit zucchini", "--fruit: unknown value 'zucchini'", "values: apple, banana, cherry");
    bad("--fruits apple,aple", "--fruits: unknown value 'aple'", "did you mean 'apple'? Values: apple, banana, cherry");
    bad("--budgte 1", "unknown option '--budgte'", "did you mean '--budget'?");
    bad("--budgte=1", "unknown option '--budgte'", "did you mean '--budget'?");
    bad("--secrets", "unknown option '--secrets'", "--help lists the options of this command");
    bad("--unrelated", "unknown option '--unrelated'", "--help lists the options of this command");
    bad("-fx", "unknown option '-x'", "--help lists the options of this command");
    bad("--flag=1", "--flag takes no value", "");
    bad("--text", "--text needs a value: --text TEXT", "");
    bad("-t", "-t needs a value: -t TEXT", "");
    bad("a b", "unexpected argument 'b'", "--help shows what this command takes");
    bad("a text", "unexpected argument 'text'", "options begin with two dashes: --text");
}

static void empty_values_are_refused(void **state)
{
    (void)state;
    bad("--text ''", "--text: an empty value", "");
    bad("--text=", "--text: an empty value", "");
    bad("--numbers 1,,2", "--numbers: an empty value in '1,,2'", "");
    bad("--fruits apple,", "--fruits: an empty value in 'apple,'", "");
    bad("--words ''", "--words: an empty value in ''", "");
}

static void more_values_than_there_is_room_for_are_refused(void **state)
{
    nt_str line = {0};
    (void)state;
    for (int i = 0; i <= NT_ARGS_VALUES; i++)
        nt_str_add(&line, "--pair a=b ");
    bad(nt_str_text(&line), "--pair: more than 64 values", "");
    nt_str_done(&line);
}

/* What the tables of all commands must hold, so that parsing, help and completion can rely on it. */
static void every_command_has_sound_rows(void **state)
{
    (void)state;
    for (int c = 0; nt_commands[c] != NULL; c++) {
        const nt_command *command = nt_commands[c];
        const nt_option *rows[NT_COMMAND_TABLES], *seen[128];
        int count = 0;
        assert_ptr_equal(nt_command_find(command->name), command);
        assert_non_null(command->summary);
        assert_non_null(command->usage);
        assert_non_null(strstr(command->example, command->name));
        nt_command_tables(command, rows);
        for (int t = 0; rows[t] != NULL; t++)
            for (const nt_option *o = rows[t]; o->name != NULL; o++) {
                bool chooses = o->kind == NT_OPTION_CHOICE || o->kind == NT_OPTION_CHOICE_LIST;
                assert_non_null(o->help);
                assert_int_equal(o->argument == NULL, o->kind == NT_OPTION_FLAG);
                assert_int_equal(o->choices != NULL, chooses);
                for (int i = 0; i < count; i++) {
                    assert_string_not_equal(seen[i]->name, o->name);
                    assert_true(o->letter == 0 || seen[i]->letter != o->letter);
                }
                seen[count++] = o;
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_in_every_spelling),
        cmocka_unit_test(options_stand_anywhere_until_two_dashes),
        cmocka_unit_test(what_is_not_given_has_its_default),
        cmocka_unit_test(the_last_of_a_single_value_counts_and_lists_add_up),
        cmocka_unit_test(numbers_keep_their_limits),
        cmocka_unit_test(a_budget_is_trials_or_time),
        cmocka_unit_test(wrong_words_are_named_with_the_right_ones),
        cmocka_unit_test(empty_values_are_refused),
        cmocka_unit_test(more_values_than_there_is_room_for_are_refused),
        cmocka_unit_test(every_command_has_sound_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
