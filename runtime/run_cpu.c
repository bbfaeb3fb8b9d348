/* run_cpu.c: kernels on the cpu: the shared object out of the table, its work split evenly among threads of this
 * process.
 *
 * One crew of threads serves all kernels; launches of several callers take turns. It ends with the last kernel. Threads
 * sleep between launches, so a launch costs some ten microseconds that a sweep's spinning threads do not pay. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/kernel.h"

typedef void (*entry_fn)(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads);

typedef struct job {
    nntune_stage *stages;
    int count;
    const uint64_t *address;
} job;

static struct {
    pthread_mutex_t users;  /* guards kernels, threads and the making of the crew */
    pthread_mutex_t launch; /* one launch at a time */
    pthread_mutex_t begin;  /* held until it is known whether all threads could be started */
    int kernels, threads;
    pthread_t *thread; /* [threads - 1]: the caller is thread 0 */
    pthread_barrier_t gate;
    const job *job; /* NULL: end */
} crew = {.users = PTHREAD_MUTEX_INITIALIZER, .launch = PTHREAD_MUTEX_INITIALIZER, .begin = PTHREAD_MUTEX_INITIALIZER};

/* ---- work ---- */

/* The first `items % threads` threads take one more. */
static void share(int64_t items, int thread, int threads, int64_t *begin, int64_t *end)
{
    int64_t each = items / threads, more = items % threads;
    *begin = each * thread + (thread < more ? thread : more);
    *end = *begin + each + (thread < more);
}

/* By value: the caller's copy is gone as soon as the last barrier has let it go. */
static void work(job j, int thread, int threads)
{
    nntune_value values[NNTUNE_MAX_ARGS];
    void *args[NNTUNE_MAX_ARGS];
    for (int i = 0; i < j.count; i++) {
        nntune_stage *s = &j.stages[i];
        int64_t items = s->kind == 1 ? (int64_t)s->zero_bytes : (int64_t)s->grid[0] * s->grid[1] * s->grid[2];
        int64_t begin, end;
        share(items, thread, threads, &begin, &end);
        if (end > begin && s->kind == 1)
            memset((char *)(uintptr_t)j.address[s->zero_role] + begin, 0, (size_t)(end - begin));
        else if (end > begin) {
            entry_fn entry;
            memcpy(&entry, &s->function, sizeof entry);
            nntune_arguments(s, j.address, values, args);
            entry(args, begin, end, thread, threads);
        }
        pthread_barrier_wait(&crew.gate); /* the end of a stage */
    }
}

static void *serve(void *argument)
{
    int thread = (int)(intptr_t)argument;
    pthread_mutex_lock(&crew.begin);
    int threads = crew.threads;
    pthread_mutex_unlock(&crew.begin);
    while (threads > 0) {
        pthread_barrier_wait(&crew.gate);
        if (crew.job == NULL)
            return NULL;
        work(*crew.job, thread, threads);
    }
    return NULL;
}

/* ---- the crew ---- */

static void dismiss(int started)
{
    crew.job = NULL;
    if (started > 0)
        pthread_barrier_wait(&crew.gate);
    for (int i = 0; i < started; i++)
        pthread_join(crew.thread[i], NULL);
    pthread_barrier_destroy(&crew.gate);
    free(crew.thread);
    crew.thread = NULL;
    crew.threads = 0;
}

/* The barrier counts every thread, so there are all of them or none. */
static bool gather(int threads)
{
    int started = 0;
    crew.thread = calloc((size_t)threads, sizeof *crew.thread);
    if (crew.thread == NULL)
        return false;
    pthread_mutex_lock(&crew.begin);
    bool ok = pthread_barrier_init(&crew.gate, NULL, (unsigned)threads) == 0;
    while (ok && started < threads - 1) {
        ok = pthread_create(&crew.thread[started], NULL, serve, (void *)(intptr_t)(started + 1)) == 0;
        started += ok;
    }
    crew.threads = ok ? threads : 0;
    pthread_mutex_unlock(&crew.begin);
    if (ok)
        return true;
    for (int i = 0; i < started; i++)
        pthread_join(crew.thread[i], NULL);
    free(crew.thread);
    crew.thread = NULL;
    return false;
}

static bool join_crew(int threads)
{
    pthread_mutex_lock(&crew.users);
    bool ok = crew.kernels > 0 || gather(threads);
    crew.kernels += ok;
    pthread_mutex_unlock(&crew.users);
    return ok;
}

static void leave_crew(void)
{
    pthread_mutex_lock(&crew.users);
    if (--crew.kernels == 0)
        dismiss(crew.threads - 1);
    pthread_mutex_unlock(&crew.users);
}

/* ---- code ---- */

/* A shared object is opened by name, and a file in memory has one. The loader takes equal names for the same object, so
 * the descriptor, which is part of the name, is held as long as the object. */
static void *open_code(nntune_kernel *kernel, const void *code, size_t bytes, char *why)
{
    char path[64];
    void *module = NULL;
    int fd = memfd_create("nntune-kernel", MFD_CLOEXEC);
    const char *at = code;
    size_t left = bytes;
    while (fd >= 0 && left > 0) {
        ssize_t wrote = write(fd, at, left);
        if (wrote <= 0)
            break;
        at += wrote;
        left -= (size_t)wrote;
    }
    if (fd < 0 || left > 0)
        nntune_fail(why, NNTUNE_FAILED, "code of %zu bytes cannot be placed in memory: %s", bytes, strerror(errno));
    else {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (module == NULL)
            nntune_fail(why, NNTUNE_FAILED, "the code in the table cannot be loaded: %s", dlerror());
    }
    if (fd >= 0 && module == NULL)
        close(fd);
    kernel->code_fd = fd;
    return module;
}

static void close_code(nntune_kernel *kernel)
{
    dlclose(kernel->module);
    close(kernel->code_fd);
}

static void unload(nntune_kernel *kernel)
{
    leave_crew();
    close_code(kernel);
}

static nntune_status load(nntune_kernel *kernel, const void *code, size_t bytes, char *why)
{
    for (int i = 0; i < kernel->prepare_count + kernel->stage_count; i++)
        if (kernel->stage[i].map_count > 0)
            return nntune_fail(why, NNTUNE_REFUSED, "%s takes tensor maps, which a cpu does not have",
                               kernel->stage[i].entry);
    kernel->module = open_code(kernel, code, bytes, why);
    if (kernel->module == NULL)
        return NNTUNE_FAILED;
    for (int i = 0; i < kernel->prepare_count + kernel->stage_count; i++) {
        nntune_stage *stage = &kernel->stage[i];
        stage->function = stage->kind == 0 ? dlsym(kernel->module, stage->entry) : NULL;
        if (stage->kind == 0 && stage->function == NULL) {
            close_code(kernel);
            return nntune_fail(why, NNTUNE_FAILED, "the code in the table has no entry '%s'", stage->entry);
        }
    }
    if (join_crew(kernel->threads))
        return NNTUNE_OK;
    close_code(kernel);
    return nntune_fail(why, NNTUNE_FAILED, "%d threads cannot be started", kernel->threads);
}

static nntune_status run(nntune_kernel *kernel, nntune_stage *stages, int count, const uint64_t *address, void *stream,
                         char *why)
{
    job j = {stages, count, address};
    (void)kernel;
    (void)stream;
    (void)why;
    if (count == 0)
        return NNTUNE_OK;
    pthread_mutex_lock(&crew.launch);
    crew.job = &j;
    pthread_barrier_wait(&crew.gate);
    work(j, 0, crew.threads);
    pthread_mutex_unlock(&crew.launch);
    return NNTUNE_OK;
}

const nntune_backend nntune_backend_cpu = {load, unload, run};
