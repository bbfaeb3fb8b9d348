/* test_pool.c: compile children: many jobs, children that die, lie or sleep, and the system's C compiler. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "autotune/compile_message.h"
#include "autotune/pool.h"
#include "core/clock.h"
#include "core/mem.h"
#include "scratch.h"

static nt_compile_request fake_request(const char *options)
{
    return (nt_compile_request){.kind = NT_DEVICE_FAKE,
                                .name = "sample",
                                .source = "text",
                                .options = options,
                                .arch = "fake",
                                .compiler = "fake compiler 1",
                                .features = "",
                                .deadline_s = 20};
}

/* Waits as the coordinator does: by poll with the pool's own timeout. */
static bool wait_for_one(nt_pool *pool, nt_pool_result *out)
{
    struct pollfd fds[NT_POOL_MOST];
    for (double end = nt_now_s() + 30; nt_now_s() < end;) {
        if (nt_pool_take(pool, out))
            return true;
        int timeout = nt_pool_timeout_ms(pool), count = nt_pool_poll_fds(pool, fds);
        if (timeout < 0)
            return false; /* none is busy */
        poll(fds, (nfds_t)count, timeout);
    }
    return false;
}

/* Pids of this process's children. */
static int children(pid_t *out, int most)
{
    char path[64], *text = NULL, *rest;
    int count = 0;
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    if (nt_read_file(path, 4096, &text, NULL, NULL) != NT_OK)
        return 0;
    rest = text;
    for (char *word = strtok_r(text, " \n", &rest); word != NULL && count < most; word = strtok_r(NULL, " \n", &rest))
        out[count++] = (pid_t)atol(word);
    free(text);
    return count;
}

/* ---- messages ------------------------------------------------------------------------------------------------------- */

static void test_messages(void **state)
{
    (void)state;
    nt_compile_request request = fake_request("-DA=1"), back;
    nt_error err;
    json_t *message = nt_compile_request_json(&request);
    assert_int_equal(nt_compile_request_parse(message, &back, &err), NT_OK);
    assert_string_equal(back.options, "-DA=1");
    assert_int_equal(back.kind, NT_DEVICE_FAKE);
    assert_true(back.deadline_s == 20);
    json_object_set_new(message, "kind", json_integer(17));
    assert_int_equal(nt_compile_request_parse(message, &back, &err), NT_CORRUPT);
    json_object_del(message, "kind");
    assert_int_equal(nt_compile_request_parse(message, &back, &err), NT_CORRUPT);
    json_decref(message);
}

/* A compiler's words may be in any encoding, and may be cut in the middle of a character. */
static void test_words_that_are_not_utf8(void **state)
{
    (void)state;
    nt_pool_result result = {.status = NT_COMPILE_FAILED}, back = {0};
    nt_error err;
    nt_fail(&result.error, NT_COMPILE_FAILED, "error: \xe4 and a cut \xe2\x80");
    json_t *message = nt_compile_result_json(&result);
    assert_non_null(message);
    assert_int_equal(nt_compile_result_parse(message, &back, &err), NT_OK);
    assert_int_equal(back.status, NT_COMPILE_FAILED);
    assert_non_null(strstr(back.error.what, "error: "));
    assert_non_null(strstr(back.error.what, " and a cut "));
    json_object_set_new(message, "status", json_integer(NT_STATUS_COUNT));
    assert_int_equal(nt_compile_result_parse(message, &back, &err), NT_CORRUPT);
    json_object_set_new(message, "status", json_string("fine"));
    assert_int_equal(nt_compile_result_parse(message, &back, &err), NT_CORRUPT);
    json_decref(message);
}

/* ---- real children, fake compiler ---------------------------------------------------------------------------------------- */

enum { JOBS = 40 };

static void submit_numbered(nt_pool *pool, int number)
{
    char options[32];
    nt_error err;
    snprintf(options, sizeof options, "-DN=%d", number);
    nt_compile_request request = fake_request(options);
    assert_int_equal(nt_pool_submit(pool, (uint64_t)number, &request, &err), NT_OK);
}

/* What the pool made is what compiling here makes. */
static void check_result(const nt_pool_result *result)
{
    char options[32];
    nt_artefact here;
    nt_error err;
    snprintf(options, sizeof options, "-DN=%d", (int)result->job);
    nt_compile_request request = fake_request(options);
    assert_int_equal(result->status, NT_OK);
    assert_int_equal(nt_compile_lookup(&request, &here, &err), NT_OK);
    assert_string_equal(here.key, result->artefact.key);
    assert_string_equal(here.path, result->artefact.path);
    assert_int_equal(here.registers, result->artefact.registers);
    assert_int_equal(access(here.path, R_OK), 0);
    assert_true(result->wall_s > 0 && result->wall_s < 20);
}

static void test_many_jobs(void **state)
{
    (void)state;
    if (scratch_no_program())
        skip();
    nt_pool *pool = nt_pool_open(3);
    int submitted = 0, taken[JOBS] = {0};
    assert_int_equal(nt_pool_timeout_ms(pool), -1);
    for (int done = 0; done < JOBS; done++) {
        nt_pool_result result;
        while (submitted < JOBS && nt_pool_idle(pool) > 0)
            submit_numbered(pool, submitted++);
        assert_int_equal(nt_pool_busy(pool), submitted - done);
        assert_true(wait_for_one(pool, &result));
        assert_in_range(result.job, 0, JOBS - 1);
        assert_int_equal(taken[result.job]++, 0);
        check_result(&result);
    }
    nt_pool_result none;
    pid_t pid[8];
    assert_false(nt_pool_take(pool, &none));
    assert_true(nt_pool_work_s(pool) > 0);
    assert_int_equal(children(pid, 8), 3);
    nt_pool_close(pool);
    assert_int_equal(children(pid, 8), 0); /* killed and waited for */
}

static void test_no_child_is_idle(void **state)
{
    (void)state;
    if (scratch_no_program())
        skip();
    setenv("NNTUNE_FAKE_COMPILE_MS", "300", 1);
    nt_pool *pool = nt_pool_open(1);
    nt_pool_result result;
    nt_error err;
    submit_numbered(pool, 1);
    nt_compile_request request = fake_request("-DN=2");
    assert_int_equal(nt_pool_submit(pool, 2, &request, &err), NT_BUSY);
    assert_true(wait_for_one(pool, &result));
    assert_int_equal(result.job, 1);
    nt_pool_close(pool);
    nt_pool_close(NULL);
}

static void test_killed_in_the_middle(void **state)
{
    (void)state;
    if (scratch_no_program())
        skip();
    setenv("NNTUNE_FAKE_COMPILE_MS", "10000", 1);
    nt_pool *pool = nt_pool_open(1);
    nt_pool_result result;
    pid_t pid[8];
    submit_numbered(pool, 1);
    assert_int_equal(children(pid, 8), 1);
    scratch_sleep(0.2);
    kill(pid[0], SIGKILL);
    assert_true(wait_for_one(pool, &result));
    assert_int_equal(result.job, 1);
    assert_int_equal(result.status, NT_COMPILE_FAILED);
    assert_non_null(strstr(result.error.what, "sample"));
    assert_non_null(strstr(result.error.what, "killed by signal 9"));
    unsetenv("NNTUNE_FAKE_COMPILE_MS");
    submit_numbered(pool, 2); /* a new child takes the next */
    assert_true(wait_for_one(pool, &result));
    check_result(&result);
    nt_pool_close(pool);
}

static void test_all_killed_while_idle(void **state)
{
    (void)state;
    if (scratch_no_program())
        skip();
    nt_pool *pool = nt_pool_open(4);
    nt_pool_result result;
    pid_t pid[8];
    for (int i = 0; i < 4; i++)
        submit_numbered(pool, i);
    for (int i = 0; i < 4; i++)
        assert_true(wait_for_one(pool, &result));
    int count = children(pid, 8);
    assert_int_equal(count, 4);
    for (int i = 0; i < count; i++)
        kill(pid[i], SIGKILL);
    for (int i = 0; i < count; i++)
        assert_true(scratch_gone_within(pid[i], 2));
    submit_numbered(pool, 7);
    assert_true(wait_for_one(pool, &result));
    check_result(&result);
    nt_pool_close(pool);
}

/* ---- children that are something else ----------------------------------------------------------------------------------- */

static void test_nonsense(void **state)
{
    (void)state;
    static const char *const scripts[] = {
        "printf 'this is no message' >&3; sleep 100",     /* an absurd length */
        "printf '\\002\\000\\000\\000{]' >&3; sleep 100", /* no JSON */
        "printf '\\002\\000\\000\\000{}' >&3; sleep 100", /* an object without what is needed */
        "printf '\\014\\000\\000\\000{\"status\":0}' >&3; sleep 100",
        "exit 5",
    };
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        nt_pool_result result;
        pid_t pid[8];
        scratch_script(scripts[i]);
        nt_pool *pool = nt_pool_open(1);
        submit_numbered(pool, 3);
        assert_true(wait_for_one(pool, &result));
        assert_int_equal(result.job, 3);
        assert_int_equal(result.status, NT_COMPILE_FAILED);
        assert_int_equal(nt_pool_busy(pool), 0);
        assert_int_equal(children(pid, 8), 0); /* it is not trusted again */
        if (i == 4)
            assert_non_null(strstr(result.error.what, "exited with code 5"));
        nt_pool_close(pool);
    }
}

static void test_deadline(void **state)
{
    (void)state;
    nt_error err;
    nt_pool_result result;
    pid_t pid[8];
    scratch_script("sleep 100");
    nt_pool *pool = nt_pool_open(2);
    nt_compile_request request = fake_request("");
    request.deadline_s = 0.2;
    double begin = nt_now_s();
    assert_int_equal(nt_pool_submit(pool, 9, &request, &err), NT_OK);
    assert_in_range(nt_pool_timeout_ms(pool), 1000, 4000);
    assert_false(nt_pool_take(pool, &result));
    assert_true(wait_for_one(pool, &result));
    assert_true(nt_now_s() - begin > 0.2 && nt_now_s() - begin < 8);
    assert_int_equal(result.status, NT_TIMED_OUT);
    assert_int_equal(result.job, 9);
    assert_int_equal(children(pid, 8), 0);
    nt_pool_close(pool);
}

/* ---- the C compiler --------------------------------------------------------------------------------------------------------- */

static nt_pool_result compile_c(nt_pool *pool, const char *source)
{
    nt_error err;
    nt_pool_result result = {0};
    char compiler[96];
    assert_int_equal(nt_compiler_identity(NT_DEVICE_CPU, compiler, sizeof compiler, &err), NT_OK);
    nt_compile_request request = {NT_DEVICE_CPU, "sample", source, "-DVALUE=7", "x86-64", compiler, "", 60};
    assert_int_equal(nt_pool_submit(pool, 1, &request, &err), NT_OK);
    assert_true(wait_for_one(pool, &result));
    if (result.status != NT_OK)
        print_message("%s\n", result.error.what);
    return result;
}

static void test_c_compiler(void **state)
{
    (void)state;
    if (scratch_no_program())
        skip();
    nt_pool *pool = nt_pool_open(1);
    nt_pool_result result = compile_c(pool, "int value(void) { return VALUE; }\n");
    assert_int_equal(result.status, NT_OK);
    assert_int_equal(access(result.artefact.path, R_OK), 0);
    assert_int_equal(result.artefact.registers, NT_UNKNOWN);
    result = compile_c(pool, "int value(void) { return undeclared; } /* \xc3\xa4 */\n");
    assert_int_equal(result.status, NT_COMPILE_FAILED);
    assert_non_null(strstr(result.error.what, "error"));
    result = compile_c(pool, "int other(void) { return 0; }\n"); /* and the same child goes on */
    assert_int_equal(result.status, NT_OK);
    nt_pool_close(pool);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, scratch_open, scratch_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_words_that_are_not_utf8),
        CASE(test_many_jobs),
        CASE(test_no_child_is_idle),
        CASE(test_killed_in_the_middle),
        CASE(test_all_killed_while_idle),
        CASE(test_nonsense),
        CASE(test_deadline),
        CASE(test_c_compiler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
