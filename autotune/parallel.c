#include "autotune/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

enum { MOST_THREADS = 64 };

static cpu_set_t allowed;
static bool known;

void nt_parallel_init(void)
{
    if (!known)
        known = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
}

int nt_parallel_threads(void)
{
    nt_parallel_init();
    int cores = known ? CPU_COUNT(&allowed) : 1;
    return cores > MOST_THREADS ? MOST_THREADS : cores;
}

typedef struct share {
    void (*work)(void *context, int64_t begin, int64_t end);
    void *context;
    int64_t begin, end;
} share;

static void *run_share(void *argument)
{
    share *mine = argument;
    mine->work(mine->context, mine->begin, mine->end);
    return NULL;
}

void nt_parallel_for(int64_t count, void (*work)(void *context, int64_t begin, int64_t end), void *context)
{
    int threads = nt_parallel_threads();
    if (count < threads)
        threads = count > 0 ? (int)count : 1;
    pthread_t thread[MOST_THREADS];
    share shares[MOST_THREADS];
    bool started[MOST_THREADS] = {false};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (known)
        pthread_attr_setaffinity_np(&attributes, sizeof allowed, &allowed);
    for (int i = 0; i < threads; i++) {
        shares[i] = (share){work, context, count * i / threads, count * (i + 1) / threads};
        started[i] = pthread_create(&thread[i], &attributes, run_share, &shares[i]) == 0;
        if (!started[i])
            run_share(&shares[i]); /* no thread to be had: do it here */
    }
    for (int i = 0; i < threads; i++)
        if (started[i])
            pthread_join(thread[i], NULL);
    pthread_attr_destroy(&attributes);
}
