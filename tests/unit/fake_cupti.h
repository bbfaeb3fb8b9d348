/* fake_cupti.h: PM sampling of a GPU that is not there: a table of CUPTI's functions that plays a script of decodes.
 * For test programs built with CUPTI's headers; nt_cupti_api_use(&fake_cupti) puts it in place. */
#ifndef FAKE_CUPTI_H
#define FAKE_CUPTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cupti_target.h>

#include <cupti_pmsampling.h>
#include <cupti_profiler_target.h>

#include "profiler/cupti_api.h"

typedef struct scripted_sample {
    uint64_t begin, end;
    double value; /* of every metric */
} scripted_sample;

typedef struct scripted_decode {
    int code;
    bool full, overflow;
    int count;
    scripted_sample sample[4];
} scripted_decode;

static struct {
    const scripted_decode *decode;
    int decodes, at; /* script and place in it; behind its end nothing is left to decode */
    const scripted_decode *image;
    int enabled, running, starts, hosts, fail_at, calls, fail_with;
    int decode_ms; /* CPU time that a decode takes */
} play;

/* Every call counts; the one numbered fail_at answers fail_with. */
static int answer(void)
{
    return ++play.calls == play.fail_at ? play.fail_with : 0;
}

static int nothing(void *params)
{
    (void)params;
    return answer();
}

static int host_end(void *params)
{
    (void)params;
    play.hosts--;
    return 0;
}

static int chip_name(void *params)
{
    ((CUpti_Device_GetChipName_Params *)params)->pChipName = "GH100";
    return answer();
}

static int availability(void *params)
{
    ((CUpti_PmSampling_GetCounterAvailability_Params *)params)->counterAvailabilityImageSize = 8;
    return answer();
}

static int enable(void *params)
{
    int code = answer();
    ((CUpti_PmSampling_Enable_Params *)params)->pPmSamplingObject = code == 0 ? (void *)&play : NULL;
    play.enabled += code == 0;
    return code;
}

static int disable(void *params)
{
    (void)params;
    play.enabled--;
    return 0;
}

static int start(void *params)
{
    (void)params;
    int code = answer();
    play.running += code == 0;
    play.starts += code == 0;
    return code;
}

static int stop(void *params)
{
    (void)params;
    play.running--;
    return 0;
}

static int data_size(void *params)
{
    ((CUpti_PmSampling_GetCounterDataSize_Params *)params)->counterDataSize = 16;
    return answer();
}

static int data_init(void *params)
{
    (void)params;
    play.image = NULL;
    return answer();
}

static int decode(void *params)
{
    CUpti_PmSampling_DecodeData_Params *p = params;
    static const scripted_decode empty;
    clock_t until = clock() + (clock_t)play.decode_ms * (CLOCKS_PER_SEC / 1000);
    while (play.decode_ms > 0 && clock() < until)
        continue;
    const scripted_decode *now = play.at < play.decodes ? &play.decode[play.at++] : &empty;
    p->overflow = now->overflow;
    p->decodeStopReason = now->full ? CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL
                                    : CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS;
    play.image = now;
    return now->code;
}

static int data_info(void *params)
{
    ((CUpti_PmSampling_GetCounterDataInfo_Params *)params)->numCompletedSamples =
        play.image != NULL ? (size_t)play.image->count : 0;
    return 0;
}

static int sample_info(void *params)
{
    CUpti_PmSampling_CounterData_GetSampleInfo_Params *p = params;
    p->startTimestamp = play.image->sample[p->sampleIndex].begin;
    p->endTimestamp = play.image->sample[p->sampleIndex].end;
    return 0;
}

/* The host's structures are in a header that C cannot include as it is, so its half answers by hand: these offsets are
 * those of the fields that cupti_host.c reads, in the order that CUPTI documents (all members are eight bytes). */
enum { HOST_OBJECT = 5, IMAGE_SIZE = 3, PASSES = 4, RANGE_INDEX = 5, METRICS = 7, VALUES = 8 };

static int host_begin(void *params)
{
    int code = answer();
    ((void **)params)[HOST_OBJECT] = &play;
    play.hosts += code == 0;
    return code;
}

static int image_size(void *params)
{
    ((size_t *)params)[IMAGE_SIZE] = 8;
    return answer();
}

static int passes(void *params)
{
    ((size_t *)params)[PASSES] = 1;
    return answer();
}

static int evaluate(void *params)
{
    size_t *p = params;
    double *values = ((double **)params)[VALUES];
    for (size_t i = 0; i < p[METRICS]; i++)
        values[i] = play.image->sample[p[RANGE_INDEX]].value;
    return 0;
}

static const nt_cupti_api fake_cupti = {
    .host_initialize = host_begin,
    .host_deinitialize = host_end,
    .host_properties = nothing,
    .host_add = nothing,
    .host_image_size = image_size,
    .host_image = nothing,
    .host_passes = passes,
    .host_evaluate = evaluate,
    .initialize = nothing,
    .chip_name = chip_name,
    .pm_enable = enable,
    .pm_disable = disable,
    .pm_config = nothing,
    .pm_start = start,
    .pm_stop = stop,
    .pm_decode = decode,
    .pm_availability = availability,
    .pm_data_size = data_size,
    .pm_data_init = data_init,
    .pm_data_info = data_info,
    .pm_sample_info = sample_info,
};

#endif
