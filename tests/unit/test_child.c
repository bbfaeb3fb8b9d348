/* test_child.c: children as processes: what they are given, how their end is told, that they never outlive us. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "autotune/child.h"
#include "autotune/compile_message.h"
#include "core/clock.h"
#include "scratch.h"

static char *wait_for_file(const char *name)
{
    char path[128], *text = NULL;
    snprintf(path, sizeof path, "%s/%s", scratch_folder, name);
    for (double end = nt_now_s() + 10; nt_now_s() < end; scratch_sleep(0.01))
        if (nt_read_file(path, 65536, &text, NULL, NULL) == NT_OK && strchr(text, '\n') != NULL)
            return text;
        else
            free(text), text = NULL;
    fail_msg("%s was not written", path);
    return NULL;
}

static void test_end_in_words(void **state)
{
    (void)state;
    char how[64];
    pid_t pid = fork();
    if (pid == 0)
        _exit(3);
    int status;
    waitpid(pid, &status, 0);
    nt_child_describe_end(status, how, sizeof how);
    assert_string_equal(how, "exited with code 3");
    pid = fork();
    if (pid == 0)
        for (;;)
            pause();
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    nt_child_describe_end(status, how, sizeof how);
    assert_string_equal(how, "killed by signal 9 (Killed)");
}

/* Arguments, and no descriptor of ours but the socket, even where it was opened without close-on-exec. */
static void test_what_a_child_is_given(void **state)
{
    (void)state;
    nt_child child;
    nt_error err;
    char expected[64];
    int leak = fcntl(0, F_DUPFD, 20);
    assert_true(leak >= 20);
    scratch_script("cd \"$(dirname \"$0\")\"; echo \"$# $1 $2 $3\" > args.new; mv args.new args\n"
                   "(cd /proc/self/fd; echo *) > fds.new; mv fds.new fds; exec cat <&3");
    assert_int_equal(nt_child_start(&child, "--role", "argument", false, &err), NT_OK);
    char *args = wait_for_file("args"), *fds = wait_for_file("fds");
    snprintf(expected, sizeof expected, "3 --role %ld argument\n", (long)getpid());
    assert_string_equal(args, expected);
    char wanted[16];
    snprintf(wanted, sizeof wanted, " %d", leak);
    assert_null(strstr(fds, wanted));
    assert_non_null(strstr(fds, " 3"));
    assert_true(scratch_runs(child.pid));
    pid_t pid = child.pid;
    nt_child_kill(&child);
    assert_false(scratch_runs(pid));
    assert_int_equal(child.pid, 0);
    assert_int_equal(child.channel.fd, -1);
    close(leak);
    free(args);
    free(fds);
}

static void test_kill_takes_the_group(void **state)
{
    (void)state;
    nt_child child;
    nt_error err;
    scratch_script("sleep 1000 & echo $! > \"$(dirname \"$0\")/pid.new\"; mv \"$(dirname \"$0\")/pid.new\" "
                   "\"$(dirname \"$0\")/pid\"; wait");
    assert_int_equal(nt_child_start(&child, "--role", NULL, true, &err), NT_OK);
    char *text = wait_for_file("pid");
    pid_t grandchild = (pid_t)atol(text);
    assert_true(scratch_runs(grandchild));
    int status = nt_child_kill(&child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_true(scratch_gone_within(grandchild, 2));
    assert_int_equal(nt_child_kill(&child), 0); /* nothing left to kill */
    free(text);
}

static void test_program_that_is_not_there(void **state)
{
    (void)state;
    nt_child child;
    nt_error err;
    json_t *got;
    setenv("NNTUNE_EXE", "/nowhere/nntune", 1);
    assert_int_equal(nt_child_start(&child, "--role", NULL, false, &err), NT_OK);
    assert_int_equal(nt_channel_receive(&child.channel, 5000, &got, &err), NT_CLOSED);
    int status = nt_child_reap(&child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 127);
}

/* It hung up and does not end: given a second, then killed. */
static void test_reap_of_one_that_lingers(void **state)
{
    (void)state;
    nt_child child;
    nt_error err;
    json_t *got;
    scratch_script("exec 3>&- sleep 1000");
    assert_int_equal(nt_child_start(&child, "--role", NULL, true, &err), NT_OK);
    assert_int_equal(nt_channel_receive(&child.channel, 5000, &got, &err), NT_CLOSED);
    double begin = nt_now_s();
    int status = nt_child_reap(&child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_true(nt_now_s() - begin >= 0.9);
}

/* Keeps a compile child busy: one that waits for requests would notice the end of its parent anyway. */
static bool give_work(nt_child *child)
{
    nt_compile_request request = {NT_DEVICE_FAKE, "sample", "text", "", "fake", "fake compiler 1", "", 60};
    return nt_channel_send(&child->channel, nt_compile_request_json(&request), NULL) == NT_OK;
}

/* A parent that starts this role, tells its pid and is killed. */
static pid_t orphan_of(const char *role, const char *argument, bool own_group)
{
    int ends[2];
    pid_t pid = 0, parent;
    assert_int_equal(pipe(ends), 0);
    parent = fork();
    if (parent == 0) {
        nt_child child;
        if (nt_child_start(&child, role, argument, own_group, NULL) != NT_OK || (own_group && !give_work(&child)) ||
            write(ends[1], &child.pid, sizeof child.pid) != sizeof child.pid)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ends[0], &pid, sizeof pid), sizeof pid);
    close(ends[0]);
    close(ends[1]);
    scratch_sleep(0.3);
    assert_true(scratch_runs(pid));
    kill(parent, SIGKILL);
    waitpid(parent, NULL, 0);
    return pid;
}

static void test_children_die_with_their_parent(void **state)
{
    (void)state;
    if (scratch_no_program())
        skip();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    setenv("NNTUNE_FAKE_COMPILE_MS", "60000", 1);
    assert_true(scratch_gone_within(orphan_of("--compile-child", NULL, true), 2));
    assert_true(scratch_gone_within(orphan_of("--device-worker", "fake", false), 2));
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
}

/* A pid that is not the parent's: the parent died between fork and exec, and somebody else inherited the child. */
static void test_parent_that_died_early(void **state)
{
    (void)state;
    if (scratch_no_program())
        skip();
    nt_child child;
    nt_error err;
    json_t *got;
    char text[1200];
    snprintf(text, sizeof text, "exec '%s' \"$1\" 1 \"$3\"", scratch_program); /* process 1 instead of ours */
    scratch_script(text);
    assert_int_equal(nt_child_start(&child, "--device-worker", "fake", false, &err), NT_OK);
    assert_int_equal(nt_channel_receive(&child.channel, 5000, &got, &err), NT_CLOSED);
    int status = nt_child_reap(&child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void test_by_hand_they_refuse(void **state)
{
    (void)state;
    if (scratch_no_program())
        skip();
    char command[1200];
    static const char *const roles[] = {"--compile-child 1", "--device-worker 1 fake", "--compile-child x"};
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
        snprintf(command, sizeof command, "'%s' %s 3<&-", scratch_program, roles[i]);
        int status = system(command);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_end_in_words),
        cmocka_unit_test_setup_teardown(test_what_a_child_is_given, scratch_open, scratch_close),
        cmocka_unit_test_setup_teardown(test_kill_takes_the_group, scratch_open, scratch_close),
        cmocka_unit_test_setup_teardown(test_program_that_is_not_there, scratch_open, scratch_close),
        cmocka_unit_test_setup_teardown(test_reap_of_one_that_lingers, scratch_open, scratch_close),
        cmocka_unit_test_setup_teardown(test_children_die_with_their_parent, scratch_open, scratch_close),
        cmocka_unit_test_setup_teardown(test_parent_that_died_early, scratch_open, scratch_close),
        cmocka_unit_test_setup_teardown(test_by_hand_they_refuse, scratch_open, scratch_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
