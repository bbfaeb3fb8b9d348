/* bar_rate.c: how many trials a second. The pool against one process on one list of sources; then a cold and a warm
 * sweep.
 *
 * A process's rate is the list over its time. The pool's is what it finished while all of its children had work, over
 * that time: a sweep's list does not end, and the last compiles of a short one leave most children idle. */
#include <ftw.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/pool.h"
#include "autotune/strategy.h"
#include "autotune/sweep.h"
#include "core/clock.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/str.h"
#include "tests/gpu/bars.h"

enum { MOST_SOURCES = 204, MOST_CHILDREN = 16 };

/* ---- the list ---------------------------------------------------------------------------------------------------------- */

typedef struct source_list {
    nt_device_info device;
    char *source;
    nt_str options[MOST_SOURCES];
    char key[MOST_SOURCES][NT_KEY_BYTES];
    int count;
} source_list;

static nt_compile_request request_of(const source_list *list, int i)
{
    return (nt_compile_request){.kind = NT_DEVICE_CUDA,
                                .name = "direct",
                                .source = list->source,
                                .options = nt_str_text(&list->options[i]),
                                .arch = list->device.arch,
                                .compiler = list->device.compiler,
                                .features = list->device.features,
                                .deadline_s = 60};
}

static bool is_new(source_list *list)
{
    nt_compile_request request = request_of(list, list->count);
    nt_compile_key(&request, list->key[list->count]);
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->key[i], list->key[list->count]) == 0)
            return false;
    return true;
}

static nt_status fill_list(source_list *list, int wanted, const nt_problem *problem, const nt_kernel *kernel,
                           nt_error *err)
{
    nt_space *space = NULL;
    nt_status status = nt_space_build(kernel, problem, &list->device, NULL, 0, NULL, &space, err);
    if (status != NT_OK)
        return status;
    nt_strategy_setup setup = {.space = (const nt_space *const *)&space, .kernel_count = 1, .seed = 4711};
    void *state = nt_strategy_random.create(&setup);
    nt_candidate ask;
    while (list->count < wanted && nt_strategy_random.ask(state, &ask, 1) == 1) {
        nt_config config;
        nt_plan plan;
        nt_space_config(space, ask.index, &config);
        if (kernel->plan(problem, &config, &list->device, &plan, NULL) != NT_OK)
            continue;
        nt_kernel_options(kernel, problem, &config, &list->options[list->count]);
        if (is_new(list))
            list->count++;
        else
            nt_str_clear(&list->options[list->count]);
    }
    nt_strategy_random.destroy(state);
    nt_space_free(space);
    return NT_OK;
}

static nt_status make_list(source_list *list, int wanted, nt_error *err)
{
    const nt_kernel *kernel = nt_kernel_find("conv3x3", NT_DEVICE_CUDA, "direct");
    nt_problem problem = {.layer = "conv3x3", .batch = 8, .precision = NT_FP32, .layout = NT_NHWC};
    nt_status status = nt_shape_parse("c=64,k=64,h=56,w=56", &problem.shape, err);
    if (status == NT_OK)
        status = nt_sweep_identify(NT_DEVICE_CUDA, 0, &list->device, err);
    if (status != NT_OK)
        return status;
    list->source = nt_kernel_source(kernel);
    return fill_list(list, wanted, &problem, kernel, err);
}

/* ---- compiling it -------------------------------------------------------------------------------------------------------- */

typedef struct pool_run {
    double done_s[MOST_SOURCES + 1]; /* of each; the first is the beginning */
    int done, failed, done_while_full;
    double full_s; /* until the list ran out */
} pool_run;

static void wait_for(const nt_pool *pool)
{
    struct pollfd fds[NT_POOL_MOST];
    int count = nt_pool_poll_fds(pool, fds);
    poll(fds, (nfds_t)count, nt_pool_timeout_ms(pool));
}

static nt_status compile_all(int children, const source_list *list, pool_run *out, nt_error *err)
{
    nt_pool *pool = nt_pool_open(children);
    nt_status status = NT_OK;
    int next = 0;
    *out = (pool_run){.done_s = {nt_now_s()}};
    while (status == NT_OK && out->done < list->count) {
        for (; status == NT_OK && next < list->count && nt_pool_idle(pool) > 0; next++) {
            nt_compile_request request = request_of(list, next);
            status = nt_pool_submit(pool, (uint64_t)next, &request, err);
            if (next + 1 == list->count) {
                out->full_s = nt_now_s() - out->done_s[0];
                out->done_while_full = out->done;
            }
        }
        if (status == NT_OK)
            wait_for(pool);
        nt_pool_result result;
        while (nt_pool_take(pool, &result)) {
            out->done_s[++out->done] = nt_now_s();
            out->failed += result.status != NT_OK;
        }
    }
    nt_pool_close(pool);
    return status;
}

static int usable_cores(void)
{
    cpu_set_t allowed;
    return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

/* Gives the pool's rate; NAN when it could not be had. */
static double judge_pool(judge *j)
{
    static source_list list;
    static pool_run one, many;
    nt_error err = {0};
    int children = usable_cores() < MOST_CHILDREN ? usable_cores() : MOST_CHILDREN;
    nt_status status = make_list(&list, j->quick ? 32 : MOST_SOURCES, &err);
    judge_cache(j, "cache-pool");
    if (status == NT_OK)
        status = compile_all(children, &list, &many, &err);
    judge_cache(j, "cache-one");
    if (status == NT_OK)
        status = compile_all(1, &list, &one, &err);
    if (status != NT_OK) {
        judge_broken(j, "the pool compiles a list of sources", err.what);
        return NAN;
    }
    double single = (double)list.count / (one.done_s[one.done] - one.done_s[0]);
    double pool = many.done_while_full / many.full_s;
    figure whole = judge_rate("pool, the whole list with its idle end", many.done_s, (size_t)many.done + 1);
    figure alone = judge_rate("one process", one.done_s, (size_t)one.done + 1);
    figure full = {"pool while all its children have work", "1/s", pool, whole.lo, NAN};
    judge_least(j, judge_number("distinct sources of the direct kernel", "", list.count), 200);
    judge_most(j, judge_number("of them that did not compile", "", one.failed + many.failed), 0);
    judge_tell(j, judge_number("compile processes", "", children));
    judge_tell(j, alone);
    judge_tell(j, whole);
    judge_tell(j, full);
    judge_least(j, judge_number("pool over processes x one process", "%", 100 * pool / (children * single)), 70);
    return pool;
}

/* ---- sweeps -------------------------------------------------------------------------------------------------------------- */

static const char *const unlike =
    "select count(distinct artefact_key) from trials where outcome in ('ok', 'abandoned')";
static const char *const measured = "select count(*) from trials where outcome in ('ok', 'abandoned')";

/* Contents of the compiled code in the cache, each once. */
static struct {
    uint64_t *hash;
    size_t count, capacity;
} contents;

static int hash_code(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    FILE *file = kind == FTW_F && strncmp(path + walk->base, "code.", 5) == 0 ? fopen(path, "re") : NULL;
    if (file == NULL)
        return 0;
    for (int byte; (byte = getc_unlocked(file)) != EOF;)
        hash = (hash ^ (unsigned)byte) * 1099511628211u;
    fclose(file);
    void *list = contents.hash;
    nt_grow(&list, &contents.capacity, contents.count + 1, sizeof hash);
    contents.hash = list;
    contents.hash[contents.count++] = hash;
    return 0;
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static double distinct_codes(judge *j)
{
    char *path = judge_path(j, "cache");
    contents.count = 0;
    nftw(path, hash_code, 16, FTW_PHYS);
    free(path);
    qsort(contents.hash, contents.count, sizeof *contents.hash, ascending);
    size_t distinct = 0;
    for (size_t i = 0; i < contents.count; i++)
        distinct += i == 0 || contents.hash[i] != contents.hash[i - 1];
    return (double)distinct;
}

static bool sweep(judge *j, const char *db, judge_sweep *out)
{
    const char *words[] = {"--shape",  "64x56x56", "--batch",  "8",      "--precision", "fp32",
                           "--layout", "nhwc",     "--kernel", "direct", "--budget",    j->quick ? "150" : "2050",
                           "--seed",   "11",       NULL};
    char *path = judge_path(j, db);
    judge_remove(path);
    free(path);
    return judge_watch(j, db, words, out);
}

/* The sweep's own account of its worker, and beside it what is seen from outside. */
static void judge_busy(judge *j, const judge_sweep *s)
{
    double span = s->count > 1 ? s->at_s[s->count - 1] - s->at_s[0] : NAN;
    double used = s->worker_cpu_s[1] - s->worker_cpu_s[0];
    double seen = s->looks > 0 ? 100.0 * (double)s->busy / (double)s->looks : NAN;
    judge_least(j,
                judge_number("warm: device worker busy, by the sweep's account", "%",
                             nt_json_get_real(s->summary, "device_busy_pct")),
                90);
    judge_least(j, judge_number("warm: device worker not waiting for a request, looked at from outside", "%", seen),
                90);
    judge_tell(j, judge_number("warm: those looks", "", (double)s->looks));
    judge_tell(j, judge_number("warm: processor time of the worker's main thread", "%", 100 * used / span));
}

void judge_bar_rate(judge *j)
{
    double pool = judge_pool(j);
    judge_sweep cold, warm;
    char *cache = judge_path(j, "cache");
    judge_remove(cache);
    free(cache);
    judge_cache(j, "cache");
    bool swept = sweep(j, "rate.db", &cold);
    double codes = distinct_codes(j);
    swept = swept && sweep(j, "warm.db", &warm);
    if (!swept)
        return;
    figure cold_rate = judge_rate("cold: trials a second, first to last", cold.at_s, cold.count);
    figure warm_rate = judge_rate("warm: trials a second, first to last", warm.at_s, warm.count);
    double slower = fmin(pool, warm_rate.value);
    judge_least(j, judge_number("cold: trials ok or abandoned", "", judge_sql(j, "rate.db", measured)), 2000);
    judge_least(j, judge_number("cold: distinct cubins by key", "", judge_sql(j, "rate.db", unlike)), 1000);
    judge_least(j, judge_number("cold: distinct cubins by content, after an empty cache", "", codes), 1000);
    judge_least(j, cold_rate, 25);
    judge_tell(j, judge_number("cold: the whole command", "s", cold.wall_s));
    judge_least(j, judge_number("cold rate over the smaller of pool and worker rate", "", cold_rate.value / slower),
                0.9);
    judge_least(j, warm_rate, 150);
    judge_tell(j, judge_number("warm: the whole command", "s", warm.wall_s));
    judge_most(j, judge_number("warm: compiles", "", distinct_codes(j) - codes), 0);
    judge_busy(j, &warm);
    judge_sweep_done(&cold);
    judge_sweep_done(&warm);
}
