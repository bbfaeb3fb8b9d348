/* test_gp_judge.c: the choice among candidates of a model: chances while there are some, means where there are none. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "autotune/gp_judge.h"

enum { SIDE = 40 };

static int64_t listed[SIDE];

typedef struct fixture {
    nt_param param;
    nt_kernel kernel;
    nt_space *space;
    const nt_space *only;
    nt_strategy_setup setup;
    nt_features features;
    nt_asked asked;
    nt_gp_samples samples;
    nt_gp_model model;
    nt_gp_field field;
    nt_random random;
} fixture;

static void tell(fixture *f, uint64_t index, double time_ns)
{
    nt_answer answer = {.candidate = {0, index}, .outcome = NT_OUTCOME_OK, .time_ns = time_ns};
    size_t at;
    nt_asked_add(&f->asked, index);
    nt_gp_samples_add(&f->samples, answer.candidate, index);
    nt_gp_samples_tell(&f->samples, &answer, index, &at);
}

/* A line of 40 values. The left end is known well and fast at 4, with 5 between fast ones still to be tried; on the
 * right all is slow, and beyond it nobody has looked. */
static void open_field(fixture *f)
{
    static const nt_gp_prior prior = {.length = -1.8, .length_spread = 0.1, .noise = -9, .noise_spread = 0.1};
    nt_problem problem = {.batch = 1};
    nt_device_info device = {.kind = NT_DEVICE_FAKE};
    *f = (fixture){0};
    for (int i = 0; i < SIDE; i++)
        listed[i] = i;
    f->param = (nt_param){.name = "a", .ints = listed, .count = SIDE};
    f->kernel = (nt_kernel){.name = "line", .params = &f->param, .param_count = 1};
    assert_int_equal(nt_space_build(&f->kernel, &problem, &device, NULL, 0, NULL, &f->space, NULL), NT_OK);
    f->only = f->space;
    f->setup = (nt_strategy_setup){.space = &f->only, .kernel_count = 1};
    f->random = nt_random_seed(1, 1);
    nt_asked_init(&f->asked, &f->setup);
    nt_features_init(&f->features, &f->setup, 0);
    nt_gp_samples_init(&f->samples, &f->features);
    nt_gp_model_init(&f->model, &f->features, &prior);
    nt_gp_field_init(&f->field, &f->asked, &f->samples, &f->model, false, 1);
    for (uint64_t i = 0; i < 30; i += 1)
        if (i != 5)
            tell(f, i, 1000 * exp(0.15 * fabs((double)i - 4)));
    nt_gp_field_set_scale(&f->field);
    nt_gp_field_rebuild(&f->field, &f->random, 1000);
}

static void close_field(fixture *f)
{
    nt_gp_field_done(&f->field);
    nt_gp_model_done(&f->model);
    nt_gp_samples_done(&f->samples);
    nt_features_done(&f->features);
    nt_asked_done(&f->asked);
    nt_space_free(f->space);
}

static uint64_t chosen(double least_promise)
{
    fixture f;
    uint64_t position = SIDE;
    open_field(&f);
    assert_true(nt_gp_field_choose(&f.field, NT_GP_ANYWHERE, least_promise, &f.random, &position));
    close_field(&f);
    return position;
}

static void no_chance_anywhere_takes_the_fastest_expected(void **state)
{
    (void)state;
    assert_in_range(chosen(-INFINITY), 30, SIDE - 1); /* where the model knows least */
    assert_int_equal(chosen(-1e-3), 5);
    assert_in_range(chosen(-200), 30, SIDE - 1); /* that little is promised all the same */
}

static void a_choice_is_made_once(void **state)
{
    (void)state;
    fixture f;
    bool seen[SIDE] = {false};
    uint64_t position;
    open_field(&f);
    for (int i = 0; i < 11; i++) {
        assert_true(nt_gp_field_choose(&f.field, i % 2 ? NT_GP_ANYWHERE : NT_GP_BY_MEAN, -6, &f.random, &position));
        assert_false(seen[position]);
        seen[position] = true;
    }
    assert_false(nt_gp_field_choose(&f.field, NT_GP_ANYWHERE, -6, &f.random, &position));
    close_field(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_chance_anywhere_takes_the_fastest_expected),
        cmocka_unit_test(a_choice_is_made_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
