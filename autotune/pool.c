#include "autotune/pool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/compile_message.h"
#include "core/clock.h"
#include "core/mem.h"

typedef struct slot {
    nt_child child;
    bool busy;
    uint64_t job;
    double started_s, deadline_s;
    char name[NT_NAME_BYTES];
} slot;

struct nt_pool {
    int count;
    double work_s;
    slot slots[NT_POOL_MOST];
};

/* The child enforces its own deadline; this is for one that cannot any more. */
static const double grace_s = 3;

nt_pool *nt_pool_open(int children)
{
    nt_pool *pool = nt_alloc_zero(1, sizeof *pool);
    pool->count = children < 1 ? 1 : children > NT_POOL_MOST ? NT_POOL_MOST : children;
    for (int i = 0; i < pool->count; i++)
        pool->slots[i].child.channel.fd = -1;
    return pool;
}

void nt_pool_close(nt_pool *pool)
{
    if (pool == NULL)
        return;
    for (int i = 0; i < pool->count; i++)
        nt_child_kill(&pool->slots[i].child);
    free(pool);
}

void nt_pool_drop(nt_pool *pool, double older_s)
{
    double now = nt_now_s();
    for (int i = 0; i < pool->count; i++) {
        slot *s = &pool->slots[i];
        if (!s->busy || now - s->started_s <= older_s)
            continue;
        pool->work_s += now - s->started_s;
        s->busy = false;
        nt_child_kill(&s->child);
    }
}

int nt_pool_busy(const nt_pool *pool)
{
    int busy = 0;
    for (int i = 0; i < pool->count; i++)
        busy += pool->slots[i].busy;
    return busy;
}

int nt_pool_idle(const nt_pool *pool)
{
    return pool->count - nt_pool_busy(pool);
}

double nt_pool_work_s(const nt_pool *pool)
{
    return pool->work_s;
}

static slot *idle_slot(nt_pool *pool)
{
    slot *stopped = NULL;
    for (int i = 0; i < pool->count; i++) {
        if (!pool->slots[i].busy && pool->slots[i].child.pid > 0)
            return &pool->slots[i];
        if (!pool->slots[i].busy && stopped == NULL)
            stopped = &pool->slots[i];
    }
    return stopped;
}

nt_status nt_pool_submit(nt_pool *pool, uint64_t job, const nt_compile_request *request, nt_error *err)
{
    nt_status status = NT_FAILED;
    /* Idle children may have died meanwhile, all of them: then the last attempt is with a new one. */
    for (int attempt = 0; attempt <= pool->count; attempt++) {
        slot *s = idle_slot(pool);
        if (s == NULL)
            return nt_fail(err, NT_BUSY, "no compile child is idle");
        status = s->child.pid > 0 ? NT_OK : nt_child_start(&s->child, "--compile-child", NULL, true, err);
        if (status != NT_OK)
            return status;
        status = nt_channel_send(&s->child.channel, nt_compile_request_json(request), err);
        if (status == NT_OK) {
            s->busy = true;
            s->job = job;
            s->started_s = nt_now_s();
            s->deadline_s = s->started_s + request->deadline_s + grace_s;
            nt_copy(s->name, sizeof s->name, request->name);
            return NT_OK;
        }
        nt_child_kill(&s->child);
    }
    return status;
}

int nt_pool_poll_fds(const nt_pool *pool, struct pollfd *out)
{
    int count = 0;
    for (int i = 0; i < pool->count; i++)
        if (pool->slots[i].busy)
            out[count++] = (struct pollfd){.fd = pool->slots[i].child.channel.fd, .events = POLLIN};
    return count;
}

int nt_pool_timeout_ms(const nt_pool *pool)
{
    double first = INFINITY;
    for (int i = 0; i < pool->count; i++)
        if (pool->slots[i].busy)
            first = fmin(first, pool->slots[i].deadline_s);
    if (isinf(first))
        return -1;
    double left_ms = ceil((first - nt_now_s()) * 1e3);
    return left_ms < 0 ? 0 : (int)left_ms;
}

static void finish(nt_pool *pool, slot *s, nt_pool_result *out)
{
    out->job = s->job;
    out->wall_s = nt_now_s() - s->started_s;
    pool->work_s += out->wall_s;
    s->busy = false;
}

/* The child is gone or talks nonsense: the compile failed, and the next job gets a new child. */
static void lose(nt_pool *pool, slot *s, nt_status why, const char *how, nt_pool_result *out)
{
    *out = (nt_pool_result){.status = why};
    finish(pool, s, out);
    nt_fail(&out->error, why, "compiling kernel '%s': %s", s->name, how);
    nt_child_kill(&s->child);
}

static bool take_from(nt_pool *pool, slot *s, nt_pool_result *out)
{
    nt_error err;
    json_t *answer = NULL;
    nt_status status = nt_channel_pump(&s->child.channel, &err);
    if (status == NT_OK)
        status = nt_channel_next(&s->child.channel, &answer, &err);
    if (status == NT_CLOSED) {
        char how[128];
        int ended = nt_child_reap(&s->child);
        nt_child_describe_end(ended, how, sizeof how);
        nt_str text = {0};
        nt_str_addf(&text, "the compile process was %s", how);
        lose(pool, s, NT_COMPILE_FAILED, nt_str_text(&text), out);
        nt_str_done(&text);
        return true;
    }
    if (status != NT_OK) {
        lose(pool, s, NT_COMPILE_FAILED, err.what, out);
        return true;
    }
    if (answer == NULL) {
        if (nt_now_s() <= s->deadline_s)
            return false;
        lose(pool, s, NT_TIMED_OUT, "the compile process did not answer in time and was killed", out);
        return true;
    }
    *out = (nt_pool_result){0};
    status = nt_compile_result_parse(answer, out, &err);
    json_decref(answer);
    if (status != NT_OK)
        lose(pool, s, NT_COMPILE_FAILED, err.what, out);
    else
        finish(pool, s, out);
    return true;
}

bool nt_pool_take(nt_pool *pool, nt_pool_result *out)
{
    for (int i = 0; i < pool->count; i++)
        if (pool->slots[i].busy && take_from(pool, &pool->slots[i], out))
            return true;
    return false;
}
