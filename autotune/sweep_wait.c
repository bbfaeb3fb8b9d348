/* sweep_wait.c: the one place where the coordinator waits: descriptors of the children, signals, the clock. Also the
 * progress that people see meanwhile. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "autotune/sweep_state.h"
#include "core/clock.h"

/* ---- signals: the first asks to stop after the trial in flight, the second to stop at once ---------------------------- */

static volatile sig_atomic_t signal_first, signal_count;

static void note_signal(int number)
{
    if (signal_count == 0)
        signal_first = number;
    signal_count = signal_count + 1;
}

static struct sigaction old_action[3];
static const int stop_signals[3] = {SIGINT, SIGTERM, SIGHUP};
static sigset_t open_mask; /* the caller's, and these signals let in */

/* The signals are blocked except inside ppoll, so that none is lost between a check and the wait. */
void nt__catch_signals(sigset_t *old_mask)
{
    signal_first = signal_count = 0;
    struct sigaction action = {.sa_handler = note_signal};
    sigset_t block;
    sigemptyset(&block);
    for (int i = 0; i < 3; i++) {
        sigaction(stop_signals[i], &action, &old_action[i]);
        sigaddset(&block, stop_signals[i]);
    }
    sigprocmask(SIG_BLOCK, &block, old_mask);
    open_mask = *old_mask;
    for (int i = 0; i < 3; i++)
        sigdelset(&open_mask, stop_signals[i]);
}

void nt__release_signals(const sigset_t *old_mask)
{
    sigprocmask(SIG_SETMASK, old_mask, NULL);
    for (int i = 0; i < 3; i++)
        sigaction(stop_signals[i], &old_action[i], NULL);
}

static int earlier_ms(int a, int b)
{
    return a < 0 ? b : b < 0 ? a : a < b ? a : b;
}

nt_status nt__wait(nt__sweep *sweep, int timeout_ms, nt_error *err)
{
    struct pollfd fds[NT_POOL_MOST + 2];
    int count = sweep->pool != NULL ? nt_pool_poll_fds(sweep->pool, fds) : 0;
    if (sweep->worker.pid > 0)
        fds[count++] = (struct pollfd){.fd = sweep->worker.channel.fd, .events = POLLIN};
    if (sweep->counter_worker.pid > 0)
        fds[count++] = (struct pollfd){.fd = sweep->counter_worker.channel.fd, .events = POLLIN};
    int wait_ms = earlier_ms(timeout_ms, sweep->pool != NULL ? nt_pool_timeout_ms(sweep->pool) : -1);
    if (isfinite(sweep->deadline_s)) {
        double left_ms = ceil((sweep->deadline_s - nt_now_s()) * 1e3) + 1;
        wait_ms = earlier_ms(wait_ms, left_ms < 0 ? 0 : (int)left_ms);
    }
    wait_ms = earlier_ms(wait_ms, 250); /* the progress line moves while nothing else does */
    struct timespec limit = {.tv_sec = wait_ms / 1000, .tv_nsec = (wait_ms % 1000) * 1000000L};
    double begin = nt_now_s();
    if (ppoll(fds, (nfds_t)count, &limit, &open_mask) < 0 && errno != EINTR)
        return nt_fail(err, NT_IO, "poll: %s", strerror(errno));
    if (sweep->state == NT__DEVICE_IDLE && sweep->compiling > 0)
        sweep->wait_compile_s += nt_now_s() - begin;
    sweep->stop_signal = signal_first;
    sweep->stop_now = signal_count > 1;
    nt__progress(sweep, NULL, false);
    return NT_OK;
}

/* ---- progress ------------------------------------------------------------------------------------------------------------ */

/* Seconds to the end: what is left of a time budget, or the pace so far over what is left of a count of trials. */
static double eta_s(const nt__sweep *sweep, double elapsed_s)
{
    const nt_budget *budget = &sweep->options->budget;
    double by_time = budget->seconds > 0 ? budget->seconds - elapsed_s : INFINITY;
    double by_count = INFINITY;
    if (budget->trials > 0 && sweep->trials_done > 0)
        by_count = elapsed_s / (double)sweep->trials_done * (double)(budget->trials - sweep->trials_done);
    double eta = fmin(by_time, by_count);
    return isinf(eta) ? NAN : fmax(eta, 0);
}

void nt__progress(nt__sweep *sweep, const char *phase, bool always)
{
    double now = nt_now_s();
    if (phase != NULL)
        sweep->phase = phase;
    if (sweep->events->progress == NULL || (!always && now - sweep->last_progress_s < 0.25))
        return;
    sweep->last_progress_s = now;
    nt_progress p = {.unit = sweep->unit != NULL ? sweep->unit_index + 1 : 0,
                     .unit_count = sweep->unit_count,
                     .problem = sweep->unit != NULL ? &sweep->unit[sweep->unit_index].problem : NULL,
                     .done = sweep->trials_done,
                     .planned = sweep->options->budget.trials,
                     .best_ns = isfinite(sweep->best_ns) ? sweep->best_ns : NAN,
                     .elapsed_s = sweep->spent_before_s + now - sweep->started_s,
                     .phase = sweep->phase};
    p.eta_s = eta_s(sweep, p.elapsed_s);
    for (int u = 0; sweep->out->unit != NULL && u <= sweep->unit_index; u++)
        for (int i = 0; i < NT_OUTCOME_COUNT; i++)
            p.outcome[i] += sweep->out->unit[u].outcome[i];
    sweep->events->progress(sweep->events->context, &p);
}
