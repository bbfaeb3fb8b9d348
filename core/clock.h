/* clock.h: the three clocks, each in one place.
 *
 * nt_now_* is CLOCK_MONOTONIC, for spans: its zero is arbitrary and no change of the time of day moves it.
 * nt_unix_s is CLOCK_REALTIME, for moments that people and other programs read: it may jump.
 * nt_cpu_s is the processor time of this process, all threads: it stands still while others hold the processor.
 * A double holds seconds since boot to better than a microsecond for a century, nanoseconds exactly for 104 days; whole
 * nanoseconds come as nt_now_whole_ns. None of them can fail on Linux. */
#ifndef NT_CLOCK_H
#define NT_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline double nt__clock_s(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline int64_t nt_now_whole_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline double nt_now_ns(void)
{
    return (double)nt_now_whole_ns();
}

static inline double nt_now_ms(void)
{
    return (double)nt_now_whole_ns() * 1e-6;
}

static inline double nt_now_s(void)
{
    return nt__clock_s(CLOCK_MONOTONIC);
}

static inline double nt_unix_s(void)
{
    return nt__clock_s(CLOCK_REALTIME);
}

static inline double nt_cpu_s(void)
{
    return nt__clock_s(CLOCK_PROCESS_CPUTIME_ID);
}

#endif
