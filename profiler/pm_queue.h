/* pm_queue.h: samples waiting to be shown. Fetching samples is dear while the GPU is busy (a tenth of a second of CPU
 * time was seen), so they are fetched seldom and shown later, window by window, each with its own time. Pure. */
#ifndef NT_PM_QUEUE_H
#define NT_PM_QUEUE_H

#include <stddef.h>
#include <stdint.h>

enum { NT_PM_MOST = 16, NT_PM_QUEUED = 1024 };

typedef struct nt_pm_sample {
    double begin_s, end_s;
    double value[NT_PM_MOST];    /* NAN: this one was not given */
    double weight_s[NT_PM_MOST]; /* time that the value stands for */
    int64_t samples;             /* that it is made of */
} nt_pm_sample;

typedef struct nt_pm_queue {
    nt_pm_sample sample[NT_PM_QUEUED]; /* oldest first */
    size_t count;
} nt_pm_queue;

/* A full queue first makes one of each two samples in it: coarser, and nothing is lost from any average. */
void nt_pm_queue_push(nt_pm_queue *queue, const nt_pm_sample *sample);

double nt_pm_queue_span_s(const nt_pm_queue *queue); /* from the oldest's begin to the newest's end; 0 when empty */

/* The samples that begin within `window_s` of the oldest's begin, at least one, as one, and out of the queue. An empty
 * queue gives 0 samples and NAN. */
nt_pm_sample nt_pm_queue_take(nt_pm_queue *queue, double window_s);

#endif
