/* nvrtc_assembly.c: what `nntune show` prints of a CUDA kernel: PTX from NVRTC, machine code from NVIDIA's
 * disassembler where one is on PATH. Without one the PTX comes with a line that says what to install. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/mem.h"
#include "device/nvrtc.h"

/* The disassemblers, in order of preference; the cubin's path is added as the last argument. */
static const char *const disassemblers[][3] = {
    {"nvdisasm", "-c", NULL},
    {"cuobjdump", "--dump-sass", NULL},
};

/* Starts `argv` with its output going to a pipe; -1 when it cannot be started. */
static int spawn_reading(const char *const argv[], pid_t *child)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    char *copy[4] = {0};
    for (int i = 0; i < 3 && argv[i] != NULL; i++)
        copy[i] = nt_strdup(argv[i]);
    int failed = posix_spawnp(child, argv[0], &actions, NULL, copy, environ);
    for (int i = 0; i < 3; i++)
        free(copy[i]);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (failed == 0)
        return ends[0];
    close(ends[0]);
    return -1;
}

/* Appends all that the command prints; false when it cannot be started or fails. */
static bool command_output(const char *const argv[], nt_str *out)
{
    pid_t child = 0;
    int from = spawn_reading(argv, &child);
    if (from < 0)
        return false;
    char part[4096];
    size_t before = out->length;
    for (;;) {
        ssize_t n = read(from, part, sizeof part);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        nt_str_add_n(out, part, (size_t)n);
    }
    close(from);
    int status = 0;
    pid_t waited;
    do
        waited = waitpid(child, &status, 0);
    while (waited < 0 && errno == EINTR);
    return waited == child && WIFEXITED(status) && WEXITSTATUS(status) == 0 && out->length > before;
}

/* Writes the cubin under TMPDIR for the disassembler to read. The caller removes `path`. */
static bool write_temporary(const nt_compiled *compiled, char *path, size_t capacity)
{
    const char *folder = getenv("TMPDIR");
    snprintf(path, capacity, "%s/nntune-XXXXXX", folder != NULL && *folder != '\0' ? folder : "/tmp");
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        return false;
    size_t done = 0;
    while (done < compiled->bytes) {
        ssize_t n = write(fd, compiled->code + done, compiled->bytes - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    bool closed = close(fd) == 0;
    if (done == compiled->bytes && closed)
        return true;
    unlink(path);
    return false;
}

static bool disassemble(const nt_compiled *compiled, nt_str *out)
{
    char path[NT_PATH_BYTES];
    if (!write_temporary(compiled, path, sizeof path))
        return false;
    bool done = false;
    for (size_t i = 0; i < sizeof disassemblers / sizeof disassemblers[0] && !done; i++) {
        const char *argv[] = {disassemblers[i][0], disassemblers[i][1], path, NULL};
        nt_str text = {0};
        done = command_output(argv, &text);
        if (done)
            nt_str_addf(out, "\n// ---- machine code (%s) ----\n%s", argv[0], nt_str_text(&text));
        nt_str_done(&text);
    }
    unlink(path);
    return done;
}

nt_status nt_nvrtc_assembly(const nt_compile_request *request, char **out, nt_error *err)
{
    char *ptx = NULL;
    *out = NULL;
    nt_status status = nt_nvrtc_ptx(request, &ptx, err);
    if (status != NT_OK)
        return status;
    nt_str text = {0};
    nt_str_addf(&text, "// ---- PTX ----\n%s", ptx);
    free(ptx);
    nt_compiled compiled;
    status = nt_compile_nvrtc.compile(request, &compiled, err);
    if (status == NT_OK) {
        if (!disassemble(&compiled, &text))
            nt_str_add(&text, "\n// No machine code: neither nvdisasm nor cuobjdump of NVIDIA's CUDA toolkit is on "
                              "PATH.\n");
        free(compiled.code);
        *out = nt_strdup(nt_str_text(&text));
    }
    nt_str_done(&text);
    return status;
}
