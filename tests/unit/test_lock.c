/* test_lock.c: one sweep a device: two processes, the pid that is named, and a lock that ends with its holder. */
#include <fcntl.h>
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

#include "autotune/lock.h"
#include "scratch.h"

static const char uuid[] = "GPU-12/34 ab";

/* A process that holds the lock until it is killed. */
static pid_t holder(void)
{
    int ends[2];
    char byte;
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        nt_lock lock;
        if (nt_lock_try(uuid, &lock, NULL) != NT_OK || write(ends[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    return pid;
}

static void test_one_holder_that_is_named(void **state)
{
    (void)state;
    nt_lock lock, other;
    nt_error err;
    char pid_text[32];
    pid_t pid = holder();
    assert_int_equal(nt_lock_try(uuid, &lock, &err), NT_BUSY);
    assert_int_equal(lock.fd, -1);
    snprintf(pid_text, sizeof pid_text, "process %ld", (long)pid);
    assert_non_null(strstr(err.what, pid_text));
    assert_non_null(strstr(err.what, uuid));
    assert_non_null(strstr(err.hint, "--wait"));
    assert_int_equal(nt_lock_try("GPU-other", &other, &err), NT_OK); /* another device is free */
    nt_lock_release(&other);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(nt_lock_try(uuid, &lock, &err), NT_OK); /* no matter how it ended */
    nt_lock_release(&lock);
}

static void test_release(void **state)
{
    (void)state;
    nt_lock lock, again;
    nt_error err;
    assert_int_equal(nt_lock_try(uuid, &lock, &err), NT_OK);
    assert_int_equal(nt_lock_try(uuid, &again, &err), NT_BUSY); /* not even in the same process */
    nt_lock_release(&lock);
    assert_int_equal(lock.fd, -1);
    nt_lock_release(&lock); /* once more does no harm */
    assert_int_equal(nt_lock_try(uuid, &again, &err), NT_OK);
    nt_lock_release(&again);
}

static void lock_file(char *path, size_t capacity)
{
    snprintf(path, capacity, "%s/GPU-12_34_ab.lock", scratch_folder); /* nothing of the name leaves the folder */
}

/* The name of the one before is not shown while the new holder has not written its own. */
static void test_holder_without_a_name(void **state)
{
    (void)state;
    nt_lock lock;
    nt_error err;
    char path[128];
    lock_file(path, sizeof path);
    assert_int_equal(nt_lock_try(uuid, &lock, &err), NT_OK);
    assert_int_equal(truncate(path, 0), 0);
    nt_lock other;
    assert_int_equal(nt_lock_try(uuid, &other, &err), NT_BUSY);
    assert_non_null(strstr(err.what, "of unknown id"));
    nt_lock_release(&lock);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, 0);
}

/* In a sticky folder of all users the kernel may refuse to "create" a file that another user made already. */
static void test_file_of_another_user(void **state)
{
    (void)state;
    nt_lock lock;
    nt_error err;
    char path[128];
    struct stat info;
    lock_file(path, sizeof path);
    int fd = open(path, O_CREAT | O_WRONLY, 0666);
    assert_true(fd >= 0);
    assert_int_equal(fchmod(fd, 0666), 0);
    assert_int_equal(chmod(scratch_folder, 01777), 0);
    bool other_owner = fchown(fd, 65534, 65534) == 0; /* as root only; otherwise it is ours */
    close(fd);
    assert_int_equal(nt_lock_try(uuid, &lock, &err), NT_OK);
    nt_lock_release(&lock);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_uid, other_owner ? 65534 : getuid());
}

static void test_folder_that_is_none(void **state)
{
    (void)state;
    nt_lock lock;
    nt_error err;
    char path[128];
    snprintf(path, sizeof path, "%s/file", scratch_folder);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    close(fd);
    setenv("NNTUNE_LOCK_DIR", path, 1);
    assert_int_equal(nt_lock_try(uuid, &lock, &err), NT_IO);
    assert_non_null(strstr(err.what, path));
    assert_int_equal(lock.fd, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_holder_that_is_named, scratch_open, scratch_close),
        cmocka_unit_test_setup_teardown(test_release, scratch_open, scratch_close),
        cmocka_unit_test_setup_teardown(test_holder_without_a_name, scratch_open, scratch_close),
        cmocka_unit_test_setup_teardown(test_file_of_another_user, scratch_open, scratch_close),
        cmocka_unit_test_setup_teardown(test_folder_that_is_none, scratch_open, scratch_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
