/* fake_script.c: what happens on the fake device and when: its compiler, its times, its count of runs and the faults
 * that tests plant. */
#include "device/fake.h"

#include "core/hash.h"
#include "core/mem.h"
#include "device/compile_backend.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

/* ---- the compiler: the artefact is the text of name and options ---------------------------------------------------- */

static nt_status identity(char *out, size_t capacity, nt_error *err)
{
    (void)err;
    nt_copy(out, capacity, "fake compiler 1");
    return NT_OK;
}

static void sleep_ms(const char *text)
{
    double ms;
    if (text == NULL || !nt_parse_double(text, &ms) || ms <= 0)
        return;
    struct timespec left = {(time_t)(ms / 1e3), (long)(fmod(ms, 1e3) * 1e6)};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

static nt_status compile(const nt_compile_request *request, nt_compiled *out, nt_error *err)
{
    nt_str text = {0};
    (void)err;
    sleep_ms(getenv("NNTUNE_FAKE_COMPILE_MS"));
    nt_str_addf(&text, "%s %s", request->name, request->options != NULL ? request->options : "");
    out->code = (unsigned char *)text.data;
    out->bytes = text.length;
    out->registers = 32;
    out->smem_static_bytes = 0;
    out->spill_bytes = 0;
    return NT_OK;
}

const nt_compile_backend nt_compile_fake = {
    .kind = NT_DEVICE_FAKE,
    .suffix = ".txt",
    .flags = "",
    .identity = identity,
    .compile = compile,
};

/* ---- times ---------------------------------------------------------------------------------------------------------------- */

static unsigned first_byte_of_hash(const char *text)
{
    char key[NT_KEY_BYTES];
    nt_hash_bytes(text, strlen(text), key);
    return (unsigned)strtoul((char[]){key[0], key[1], '\0'}, NULL, 16);
}

/* A bowl in log2(value) whose lowest point, between 1 and 64, depends on the name: 1 there, 1.05 at twice or half. */
static double slowdown(const char *name, double value)
{
    double best = (double)(first_byte_of_hash(name) % 7), away = log2(value > 0.5 ? value : 0.5) - best;
    return 1 + 0.05 * away * away;
}

double nt_fake_time_ns(const char *artefact, const nt_plan *plan)
{
    static const char *const axes[] = {"block x", "block y", "block z"};
    double time = NT_FAKE_BEST_NS;
    /* Two settings never tie exactly: up to 0.5 % by the hash of the whole text. */
    time *= 1 + 0.005 * first_byte_of_hash(artefact) / 255.0;
    for (const char *at = strstr(artefact, "-D"); at != NULL; at = strstr(at + 2, "-D")) {
        char name[64], value[32];
        double number;
        if (sscanf(at, "-D%63[^= ]=%31[^ ]", name, value) == 2 && nt_parse_double(value, &number))
            time *= slowdown(name, number);
    }
    for (int s = 0; s < plan->stage_count; s++) {
        if (plan->stage[s].grid[0] > 1)
            time *= slowdown("grid x", plan->stage[s].grid[0]);
        for (int axis = 0; axis < 3; axis++)
            if (plan->stage[s].block[axis] > 1)
                time *= slowdown(axes[axis], plan->stage[s].block[axis]);
    }
    return time;
}

/* ---- faults ------------------------------------------------------------------------------------------------------------------ */

static const char *const fault_names[NT_FAKE_FAULT_COUNT] = {
    [NT_FAKE_CRASH] = "crash", [NT_FAKE_HANG] = "hang", [NT_FAKE_LIE] = "lie",
    [NT_FAKE_WRONG] = "wrong", [NT_FAKE_LOST] = "lost", [NT_FAKE_LAUNCH] = "launch",
};

/* One more in the file, under a lock: several processes may run the same fake device one after another or at once. */
static nt_status count_in_file(const char *path, long long *count, nt_error *err)
{
    char text[32] = "";
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || flock(fd, LOCK_EX) != 0) {
        int why = errno;
        if (fd >= 0)
            close(fd);
        return nt_fail(err, NT_IO, "cannot open NNTUNE_FAKE_STATE %s: %s", path, strerror(why));
    }
    ssize_t got = pread(fd, text, sizeof text - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    *count = nt_parse_i64(text, count) ? *count + 1 : 1;
    int length = snprintf(text, sizeof text, "%lld\n", *count);
    bool written = pwrite(fd, text, (size_t)length, 0) == length && ftruncate(fd, length) == 0;
    close(fd);
    return written ? NT_OK : nt_fail(err, NT_IO, "cannot write NNTUNE_FAKE_STATE %s", path);
}

static nt_status fault_at(const char *list, long long count, nt_fake_fault *due, nt_error *err)
{
    char *copy = nt_strdup(list), *rest = copy;
    nt_status status = NT_OK;
    for (char *item = strtok_r(rest, ",", &rest); item != NULL; item = strtok_r(NULL, ",", &rest)) {
        char *at = strchr(item, '@');
        long long n = 0;
        int fault = NT_FAKE_FAULT_COUNT;
        if (at != NULL && nt_parse_i64(at + 1, &n) && n >= 1)
            for (*at = '\0', fault = 1; fault < NT_FAKE_FAULT_COUNT && strcmp(fault_names[fault], item) != 0;)
                fault++;
        if (fault == NT_FAKE_FAULT_COUNT)
            status = nt_fail(err, NT_USAGE,
                             "NNTUNE_FAKE_FAULT is '%.200s'; right is a list like crash@5,hang@9,lie@12,wrong@7,lost@3,"
                             "launch@4",
                             list);
        else if (n == count)
            *due = (nt_fake_fault)fault;
    }
    free(copy);
    return status;
}

nt_status nt_fake_count_run(nt_fake_fault *due, nt_error *err)
{
    static long long own_count;
    const char *path = getenv("NNTUNE_FAKE_STATE"), *list = getenv("NNTUNE_FAKE_FAULT");
    long long count = 0;
    nt_status status = NT_OK;
    *due = NT_FAKE_NONE;
    if (path != NULL && path[0] != '\0')
        status = count_in_file(path, &count, err);
    else
        count = ++own_count;
    return status == NT_OK && list != NULL ? fault_at(list, count, due, err) : status;
}
