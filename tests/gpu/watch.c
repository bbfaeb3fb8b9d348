/* watch.c: a command run and watched from outside: its lines by the judge's clock, its device worker by the kernel's
 * account of processor time. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/str.h"
#include "tests/gpu/judge.h"

char *judge_path(const judge *j, const char *name)
{
    nt_str path = {0};
    nt_str_addf(&path, "%s/%s", j->out, name);
    return path.data;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    remove(path);
    return 0;
}

void judge_remove(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void judge_cache(const judge *j, const char *name)
{
    char *path = judge_path(j, name);
    mkdir(path, 0755);
    setenv("NNTUNE_CACHE_DIR", path, 1);
    free(path);
}

/* ---- running ---------------------------------------------------------------------------------------------------------- */

static void become(judge *j, const char *const *argv, int to)
{
    char *log = judge_path(j, "log");
    int errors = open(log, O_WRONLY | O_CREAT | O_APPEND, 0644);
    dup2(to, STDOUT_FILENO);
    if (errors >= 0)
        dup2(errors, STDERR_FILENO);
    execv(argv[0], (char *const *)argv);
    _exit(127);
}

int judge_run(judge *j, const char *const *argv, pid_t *pid, judge_line_fn *each, void *context)
{
    int ends[2], status = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return 127;
    fflush(NULL);
    *pid = fork();
    if (*pid == 0)
        become(j, argv, ends[1]);
    close(ends[1]);
    FILE *from = fdopen(ends[0], "r");
    char *line = NULL;
    size_t capacity = 0;
    while (*pid > 0 && getline(&line, &capacity, from) > 0)
        each(context, line, nt_now_s());
    free(line);
    fclose(from);
    if (*pid < 0 || waitpid(*pid, &status, 0) < 0)
        return 127;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- the device worker ------------------------------------------------------------------------------------------------- */

static bool read_proc(const char *pid, const char *name, char *out, size_t capacity)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%.16s/%s", pid, name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file >= 0 ? read(file, out, capacity - 1) : -1;
    if (file >= 0)
        close(file);
    out[got > 0 ? got : 0] = '\0';
    for (ssize_t i = 0; i < got; i++)
        if (out[i] == '\0' && i + 1 < got)
            out[i] = ' ';
    return got > 0;
}

static pid_t find_worker(pid_t sweep)
{
    DIR *proc = opendir("/proc");
    pid_t found = 0;
    for (struct dirent *entry; proc != NULL && found == 0 && (entry = readdir(proc)) != NULL;) {
        char text[512];
        int parent = 0;
        const char *after;
        if (entry->d_name[0] < '0' || entry->d_name[0] > '9' || !read_proc(entry->d_name, "stat", text, sizeof text) ||
            (after = strrchr(text, ')')) == NULL || sscanf(after, ") %*c %d", &parent) != 1 || parent != sweep)
            continue;
        if (read_proc(entry->d_name, "cmdline", text, sizeof text) && strstr(text, "--device-worker") != NULL)
            found = (pid_t)atoi(entry->d_name);
    }
    if (proc != NULL)
        closedir(proc);
    return found;
}

/* Seconds its main thread has run on a processor. Waiting for the GPU it spins, waiting for the next trial it sleeps.
 */
static double cpu_s(pid_t worker)
{
    char text[512], pid[16];
    snprintf(pid, sizeof pid, "%d", (int)worker);
    double ns = NAN;
    if (worker > 0 && read_proc(pid, "schedstat", text, sizeof text))
        ns = strtod(text, NULL);
    return ns * 1e-9;
}

/* Every millisecond: is the worker waiting for the coordinator? It does so in poll() and recv() on its channel, and the
 * kernel says which call a thread is in. What CUDA itself waits for in poll() would count as idle. */
struct judge_watcher {
    pthread_t thread;
    pid_t worker;
    atomic_bool stop;
    atomic_size_t looks, busy;
};

static void *look(void *context)
{
    struct judge_watcher *w = context;
    char pid[16], text[256];
    snprintf(pid, sizeof pid, "%d", (int)w->worker);
    while (!atomic_load(&w->stop) && read_proc(pid, "syscall", text, sizeof text)) {
        char *end;
        long call = strtol(text, &end, 10);
        bool waits =
            end != text && (call == SYS_poll || call == SYS_ppoll || call == SYS_recvfrom || call == SYS_recvmsg);
        atomic_fetch_add(&w->looks, 1);
        atomic_fetch_add(&w->busy, !waits); /* "running" is no number */
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return NULL;
}

static struct judge_watcher *start_looking(pid_t worker)
{
    struct judge_watcher *w = nt_alloc_zero(1, sizeof *w);
    w->worker = worker;
    if (worker > 0 && pthread_create(&w->thread, NULL, look, w) == 0)
        return w;
    free(w);
    return NULL;
}

static void stop_looking(judge_sweep *sweep)
{
    struct judge_watcher *w = sweep->watcher;
    if (w == NULL)
        return;
    atomic_store(&w->stop, true);
    pthread_join(w->thread, NULL);
    free(w);
    sweep->watcher = NULL;
}

/* ---- sweeps ---------------------------------------------------------------------------------------------------------------- */

static void sweep_line(void *context, char *line, double now_s)
{
    judge_sweep *sweep = context;
    json_t *object = json_loads(line, 0, NULL);
    const char *type = nt_json_get_text(object, "type"), *outcome = nt_json_get_text(object, "outcome");
    if (type != NULL && strcmp(type, "summary") == 0) {
        json_decref(sweep->summary);
        sweep->summary = json_incref(object);
    } else if (type != NULL && outcome != NULL && (strcmp(outcome, "ok") == 0 || strcmp(outcome, "abandoned") == 0)) {
        void *list = sweep->at_s;
        nt_grow(&list, &sweep->capacity, sweep->count + 1, sizeof(double));
        sweep->at_s = list;
        sweep->at_s[sweep->count++] = now_s;
        if (sweep->worker == 0) {
            sweep->worker = find_worker(sweep->pid);
            sweep->watcher = start_looking(sweep->worker);
        }
        if (sweep->watcher != NULL) {
            sweep->looks = atomic_load(&sweep->watcher->looks);
            sweep->busy = atomic_load(&sweep->watcher->busy);
        }
        double used = cpu_s(sweep->worker);
        if (sweep->count == 1)
            sweep->worker_cpu_s[0] = used;
        sweep->worker_cpu_s[1] = used;
    }
    json_decref(object);
}

bool judge_watch(judge *j, const char *db, const char *const *words, judge_sweep *out)
{
    enum { MOST = 64 };
    const char *device = getenv("JUDGE_DEVICE"); /* another one, to rehearse where there is no GPU */
    if (device == NULL)
        device = "cuda";
    const char *argv[MOST] = {j->nntune, "sweep", "conv3x3", "--device", device, "--json", "--quiet", "--db"};
    int count = 8;
    char *path = judge_path(j, db);
    argv[count++] = path;
    for (int i = 0; words[i] != NULL && count < MOST - 1; i++)
        argv[count++] = words[i];
    *out = (judge_sweep){.worker_cpu_s = {NAN, NAN}};
    double begin = nt_now_s();
    out->exit_code = judge_run(j, argv, &out->pid, sweep_line, out);
    out->wall_s = nt_now_s() - begin;
    stop_looking(out);
    free(path);
    if (out->exit_code == 0 && out->summary != NULL)
        return true;
    char why[600];
    const char *what = nt_json_get_text(json_object_get(out->summary, "error"), "what");
    snprintf(why, sizeof why, "exit code %d: %.500s", out->exit_code, what != NULL ? what : "see OUT/log");
    judge_broken(j, "the sweep ends well", why);
    return false;
}

void judge_sweep_done(judge_sweep *sweep)
{
    free(sweep->at_s);
    json_decref(sweep->summary);
    *sweep = (judge_sweep){0};
}
