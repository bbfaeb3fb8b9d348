/* test_device_cc.c: the system's C compiler through nt_compile: code that works, code that does not, and code that
 * would never end or eat all memory. */
#include "core/clock.h"
#include "device/cc.h"
#include "device/program.h"

#include "core/mem.h"
#include "core/paths.h"
#include "device/cache.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char base[] = "/tmp/nntune-test-XXXXXX";

/* Sixty levels of doubling: 2^60 tokens for the preprocessor. */
static char *endless_source(void)
{
    nt_str text = {0};
    nt_str_add(&text, "#define A0 1 +\n");
    for (int i = 1; i <= 60; i++)
        nt_str_addf(&text, "#define A%d A%d A%d\n", i, i - 1, i - 1);
    nt_str_add(&text, "#if A60 1\nint x;\n#endif\n");
    return text.data;
}

static int set_up(void **state)
{
    (void)state;
    strcpy(base + strlen(base) - 6, "XXXXXX");
    unsetenv("NNTUNE_CC");
    unsetenv("NNTUNE_COMPILE_BYTES");
    return mkdtemp(base) == NULL ? -1 : setenv("NNTUNE_CACHE_DIR", base, 1);
}

static int tear_down(void **state)
{
    (void)state;
    nt_cache_scratch_done(base);
    return 0;
}

static nt_compile_request request_of(const char *source, const char *options)
{
    return (nt_compile_request){NT_DEVICE_CPU, "sample", source, options, "x86-64", "some compiler", "", 60};
}

/* Processes whose command line names the cache folder of this test. */
static int compilers_alive(void)
{
    int count = 0;
    DIR *processes = opendir("/proc");
    for (struct dirent *at; processes != NULL && (at = readdir(processes)) != NULL;) {
        char path[300], line[4096];
        snprintf(path, sizeof path, "/proc/%s/cmdline", at->d_name);
        int fd = at->d_name[0] >= '1' && at->d_name[0] <= '9' ? open(path, O_RDONLY) : -1;
        ssize_t got = fd >= 0 ? read(fd, line, sizeof line) : 0;
        count += got > 0 && memmem(line, (size_t)got, base, strlen(base)) != NULL;
        if (fd >= 0)
            close(fd);
    }
    if (processes != NULL)
        closedir(processes);
    return count;
}

static void wait_for_none_alive(double patience_s)
{
    double until = nt_now_s() + patience_s;
    while (compilers_alive() > 0 && nt_now_s() < until)
        usleep(20000);
    assert_int_equal(compilers_alive(), 0);
}

static void test_compiles_and_remembers(void **state)
{
    (void)state;
    nt_artefact artefact, again;
    nt_error err = {0};
    nt_compile_request request =
        request_of("#include <math.h>\nfloat twice(float x) { return FACTOR * x + floorf(x * 0); }",
                   "-DFACTOR=2 -DNT_PRECISION_FP32=1");
    assert_int_equal(nt_compile_lookup(&request, &artefact, &err), NT_NOT_FOUND);
    assert_int_equal(nt_compile(&request, &artefact, &err), NT_OK);
    assert_false(artefact.cached);
    assert_true(artefact.compile_ms > 0);
    assert_true(artefact.registers == NT_UNKNOWN);
    void *library = dlopen(artefact.path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    float (*twice)(float);
    void *symbol = dlsym(library, "twice");
    assert_non_null(symbol);
    memcpy(&twice, &symbol, sizeof twice);
    assert_float_equal(twice(21), 42, 0);
    dlclose(library);

    assert_int_equal(nt_compile_lookup(&request, &again, &err), NT_OK);
    assert_true(again.cached);
    assert_string_equal(again.path, artefact.path);
    assert_float_equal(again.compile_ms, artefact.compile_ms, 0.001);
}

static void test_key_holds_what_the_code_depends_on(void **state)
{
    (void)state;
    nt_compile_request base_request = request_of("int x;", "-DA=1"), changed[6];
    char key[NT_KEY_BYTES], other[NT_KEY_BYTES];
    for (int i = 0; i < 6; i++)
        changed[i] = base_request;
    changed[0].source = "int y;";
    changed[1].options = "-DA=2";
    changed[2].compiler = "another compiler";
    changed[3].features = "avx2";
    changed[4].arch = "x86-64-avx2";
    changed[5].kind = NT_DEVICE_FAKE;
    nt_compile_key(&base_request, key);
    for (int i = 0; i < 6; i++) {
        nt_compile_key(&changed[i], other);
        assert_string_not_equal(key, other);
    }
    changed[0] = base_request;
    changed[0].deadline_s = 1;
    changed[0].name = "another name";
    nt_compile_key(&changed[0], other);
    assert_string_equal(key, other);
}

static void test_error_names_its_line(void **state)
{
    (void)state;
    nt_artefact artefact;
    nt_error err = {0}, again = {0};
    nt_compile_request request = request_of("int x;\nint f(void)\n{ return undeclared_name; }\n", "");
    assert_int_equal(nt_compile(&request, &artefact, &err), NT_COMPILE_FAILED);
    assert_non_null(strstr(err.what, "sample.c:3"));
    assert_non_null(strstr(err.what, "undeclared_name"));
    assert_int_equal(nt_compile_lookup(&request, &artefact, &again), NT_COMPILE_FAILED);
    assert_string_equal(again.what, err.what);
    request.source = "int missing(void); int f(void) { return missing(); }";
    assert_int_equal(nt_compile(&request, &artefact, &err), NT_COMPILE_FAILED);
    assert_non_null(strstr(err.what, "missing"));
    assert_int_equal(nt_compile_lookup(&request, &artefact, &again), NT_COMPILE_FAILED);
}

/* What may be gone by the next try is not remembered: headers get installed, disks get room, wrappers get mended. */
static void test_failures_of_the_machine_are_forgotten(void **state)
{
    (void)state;
    static const char *const said[] = {"", "cc1: out of memory allocating 65536 bytes",
                                       "sample.c:1: fatal error: error writing to /tmp/x.s: Input/output error",
                                       "sample.c:1:10: fatal error: stdint.h: No such file or directory",
                                       "/usr/bin/ld: cannot find crti.o"};
    nt_artefact artefact;
    nt_error err = {0};
    nt_compile_request request = request_of("int forgotten;", "");
    char wrapper[128], text[256];
    snprintf(wrapper, sizeof wrapper, "%s/failing-cc", base);
    setenv("NNTUNE_CC", wrapper, 1);
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        int length = snprintf(text, sizeof text, "#!/bin/sh\necho '%s' >&2\nexit 1\n", said[i]);
        assert_int_equal(nt_write_file(wrapper, text, (size_t)length, &err), NT_OK);
        assert_int_equal(chmod(wrapper, 0700), 0);
        assert_int_equal(nt_compile(&request, &artefact, &err), NT_COMPILE_FAILED);
        assert_non_null(strstr(err.what, said[i]));
        assert_non_null(strstr(err.hint, i == 1 ? "NNTUNE_COMPILE_BYTES" : wrapper));
        assert_int_equal(nt_compile_lookup(&request, &artefact, &err), NT_NOT_FOUND);
    }
    assert_int_equal(nt_write_file(wrapper, "#!/bin/sh\n", 10, &err), NT_OK); /* all is well, and nothing made */
    assert_int_equal(chmod(wrapper, 0700), 0);
    assert_int_equal(nt_compile(&request, &artefact, &err), NT_FAILED);
    assert_non_null(strstr(err.what, "wrote nothing"));
    const char full[] =
        "#!/bin/sh\necho 'sample.c:1: fatal error: error closing /tmp/x.s: No space left on device' >&2\nexit 1\n";
    assert_int_equal(nt_write_file(wrapper, full, sizeof full - 1, &err), NT_OK);
    assert_int_equal(chmod(wrapper, 0700), 0);
    assert_int_equal(nt_compile(&request, &artefact, &err), NT_IO); /* no fault of the configuration: it ends a sweep */
    assert_non_null(strstr(err.hint, "make room"));
    unsetenv("NNTUNE_CC");
    assert_int_equal(nt_compile(&request, &artefact, &err), NT_OK);
}

static void test_deadline_kills_all(void **state)
{
    (void)state;
    nt_artefact artefact;
    nt_error err = {0};
    char *source = endless_source(), scratch[64];
    nt_compile_request request = request_of(source, "");
    request.deadline_s = 0.5;
    double begin = nt_now_s();
    assert_int_equal(nt_compile(&request, &artefact, &err), NT_TIMED_OUT);
    assert_true(nt_now_s() - begin < 20);
    wait_for_none_alive(1); /* less than the limit of processor time would take */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    assert_int_equal(nt_compile_lookup(&request, &artefact, &err), NT_NOT_FOUND); /* not remembered */
    snprintf(scratch, sizeof scratch, "%s/code", base);
    assert_int_equal(rmdir(scratch), 0); /* the compiler's temporary files are gone as well */
    free(source);
}

static void test_compiler_dies_with_us(void **state)
{
    (void)state;
    char *source = endless_source();
    pid_t child = fork();
    if (child == 0) {
        nt_artefact artefact;
        nt_compile_request request = request_of(source, "");
        nt_compile(&request, &artefact, NULL);
        _exit(0);
    }
    double until = nt_now_s() + 20;
    while (compilers_alive() < 2 && nt_now_s() < until) /* the driver and the compiler proper */
        usleep(20000);
    assert_true(compilers_alive() >= 2);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    wait_for_none_alive(2);
    free(source);
}

static void test_memory_limit(void **state)
{
    (void)state;
    nt_artefact artefact;
    nt_error err = {0};
    nt_compile_request request = request_of("const char bomb[1 << 29] = {[0 ... (1 << 29) - 1] = 7};\n", "");
    setenv("NNTUNE_COMPILE_BYTES", "268435456", 1);
    assert_int_equal(nt_compile(&request, &artefact, &err), NT_COMPILE_FAILED);
    assert_non_null(strstr(err.what, "memory"));
    assert_non_null(strstr(err.hint, "NNTUNE_COMPILE_BYTES"));
    request.source = "int ok;";
    assert_int_equal(nt_compile(&request, &artefact, &err), NT_OK);
}

static void test_no_compiler(void **state)
{
    (void)state;
    nt_artefact artefact;
    nt_error err = {0};
    char *path = nt_strdup(getenv("PATH")), text[96];
    nt_compile_request request = request_of("int x;", "");
    setenv("PATH", base, 1);
    unsetenv("CC");
    assert_int_equal(nt_compiler_identity(NT_DEVICE_CPU, text, sizeof text, &err), NT_NO_DEVICE);
    assert_non_null(strstr(err.hint, "install"));
    assert_int_equal(nt_compile(&request, &artefact, &err), NT_NO_DEVICE);
    setenv("PATH", path, 1);
    setenv("NNTUNE_CC", "no-such-compiler -x", 1);
    assert_int_equal(nt_compile(&request, &artefact, &err), NT_NO_DEVICE);
    assert_non_null(strstr(err.what, "no-such-compiler"));
    setenv("NNTUNE_CC", "false", 1); /* a program, but no compiler */
    assert_int_equal(nt_compiler_identity(NT_DEVICE_CPU, text, sizeof text, &err), NT_NO_DEVICE);
    free(path);
}

static void test_command_of_several_words(void **state)
{
    (void)state;
    nt_artefact artefact;
    nt_cc cc;
    nt_error err = {0};
    char text[96];
    nt_compile_request request = request_of("int x = WORD;", "");
    setenv("NNTUNE_CC", "cc -DUNUSED=1  -DWORD=5", 1);
    assert_int_equal(nt_cc_find(&cc, &err), NT_OK);
    assert_int_equal(cc.word_count, 2);
    assert_int_equal(nt_compile(&request, &artefact, &err), NT_OK);
    assert_int_equal(nt_compiler_identity(NT_DEVICE_CPU, text, sizeof text, &err), NT_OK);
    assert_null(strchr(text, '\n'));
    assert_non_null(strstr(text, " -DUNUSED=1 -DWORD=5"));
    assert_true(strlen(text) > 3);
}

static void test_assembly(void **state)
{
    (void)state;
    nt_error err = {0};
    char *text = NULL;
    nt_compile_request request = request_of("int some_function(void) { return 42; }", "");
    assert_int_equal(nt_compile_cc.assembly(&request, &text, &err), NT_OK);
    assert_non_null(strstr(text, "some_function"));
    free(text);
}

static void test_program_end(void **state)
{
    (void)state;
    static const char *const shell[] = {"/bin/sh", "-c", "echo out; echo err >&2; echo $TMPDIR; exit 3", NULL};
    static const char *const limits[] = {"/bin/sh", "-c", "ulimit -v; ulimit -t; ulimit -c", NULL};
    static const char *const killed[] = {"/bin/sh", "-c", "kill -9 $$", NULL};
    nt_program program = {shell, "/some/folder", 20, (int64_t)1 << 30};
    nt_program_end end;
    assert_int_equal(nt_program_run(&program, &end, NULL), NT_OK);
    assert_int_equal(end.exit_code, 3);
    assert_string_equal(end.output.data, "out\nerr\n/some/folder\n");
    nt_str_done(&end.output);
    program.argv = limits;
    assert_int_equal(nt_program_run(&program, &end, NULL), NT_OK);
    assert_string_equal(end.output.data, "1048576\n22\n0\n"); /* KiB, seconds, blocks of a core file */
    nt_str_done(&end.output);
    program.argv = killed;
    assert_int_equal(nt_program_run(&program, &end, NULL), NT_OK);
    assert_int_equal(end.exit_code, -1);
    assert_int_equal(end.signal, SIGKILL);
    nt_str_done(&end.output);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_compiles_and_remembers),
        TEST(test_key_holds_what_the_code_depends_on),
        TEST(test_error_names_its_line),
        TEST(test_failures_of_the_machine_are_forgotten),
        TEST(test_deadline_kills_all),
        TEST(test_compiler_dies_with_us),
        TEST(test_memory_limit),
        TEST(test_no_compiler),
        TEST(test_command_of_several_words),
        TEST(test_assembly),
        TEST(test_program_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
