/* test_compile_turn.c: a key's turn is one process's at a time, ends with its holder, and is not waited for for ever.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "autotune/compile_turn.h"
#include "core/clock.h"
#include "scratch.h"

static const char one[] = "0123456789abcdef0123456789abcdef", other[] = "fedcba9876543210fedcba9876543210";

static int open_cache(void **state)
{
    int failed = scratch_open(state);
    setenv("NNTUNE_CACHE_DIR", scratch_folder, 1);
    return failed;
}

/* A process that takes a turn, says so and holds it until it is killed. */
static pid_t holder(const char *key)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        nt_compile_turn turn = nt_compile_turn_take(key, 1);
        if (turn.fd < 0 || write(ready[1], "r", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void a_turn_is_of_one_process(void **state)
{
    (void)state;
    pid_t pid = holder(one);
    nt_compile_turn turn = nt_compile_turn_take(other, 5); /* another key is not waited for */
    assert_true(turn.fd >= 0);
    nt_compile_turn_give(&turn);
    assert_int_equal(turn.fd, -1);
    nt_compile_turn_give(&turn);
    turn = nt_compile_turn_take(one, 0.05); /* patience at its end: compile without */
    assert_int_equal(turn.fd, -1);
    end(pid);
    turn = nt_compile_turn_take(one, 5); /* its holder was killed */
    assert_true(turn.fd >= 0);
    nt_compile_turn_give(&turn);
}

static void a_turn_comes_when_its_holder_ends(void **state)
{
    (void)state;
    pid_t pid = holder(one), killer = fork();
    if (killer == 0) {
        scratch_sleep(0.2);
        kill(pid, SIGKILL);
        _exit(0);
    }
    double begin_s = nt_now_s();
    nt_compile_turn turn = nt_compile_turn_take(one, 60);
    assert_true(turn.fd >= 0);
    assert_true(nt_now_s() - begin_s > 0.1);
    nt_compile_turn_give(&turn);
    end(pid);
    assert_int_equal(waitpid(killer, NULL, 0), killer);
}

static void without_a_folder_there_are_no_turns(void **state)
{
    (void)state;
    setenv("NNTUNE_CACHE_DIR", "/proc/none", 1);
    nt_compile_turn turn = nt_compile_turn_take(one, 5);
    assert_int_equal(turn.fd, -1);
    setenv("NNTUNE_CACHE_DIR", scratch_folder, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_turn_is_of_one_process, open_cache, scratch_close),
        cmocka_unit_test_setup_teardown(a_turn_comes_when_its_holder_ends, open_cache, scratch_close),
        cmocka_unit_test_setup_teardown(without_a_folder_there_are_no_turns, open_cache, scratch_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
