/* formats.c: every format, and the life of the records that cross them. */
#include "db/formats/format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

const nt_format *const nt_formats[] = {&nt_format_t4,  &nt_format_kernel_tuner, &nt_format_ktt,
                                       &nt_format_csv, &nt_format_json,         NULL};

const nt_format *nt_format_find(const char *name)
{
    for (int i = 0; nt_formats[i] != NULL; i++)
        if (strcmp(nt_formats[i]->name, name) == 0)
            return nt_formats[i];
    return NULL;
}

void nt_formats_list(nt_str *out)
{
    for (int i = 0; nt_formats[i] != NULL; i++)
        nt_str_addf(out, "%s%s", i > 0 ? ", " : "", nt_formats[i]->title);
}

void nt_foreign_run_init(nt_foreign_run *run)
{
    *run = (nt_foreign_run){.unit_ns = 1e6, .unit_word = "milliseconds"};
    nt_run_init(&run->run);
    nt_device_info_init(&run->run.device, NT_DEVICE_CUDA);
    run->run.recorded = true;
    /* No such file says them and every problem has them: what a kernel of a user's own has here as well. */
    run->problem.batch = 1;
    run->problem.precision = NT_FP32;
    run->problem.layout = NT_NHWC;
    run->problem.fill = NT_FILL_NORMAL;
}

void nt_foreign_run_done(nt_foreign_run *run)
{
    nt_run_done(&run->run);
    json_decref(run->params);
    json_decref(run->values);
    json_decref(run->extra);
    *run = (nt_foreign_run){0};
}

void nt_foreign_init(nt_foreign *result, const nt_foreign_run *run)
{
    *result = (nt_foreign){.framework_ms = NAN, .search_ms = NAN};
    nt_trial_init(&result->trial);
    result->trial.problem = run->problem;
    /* The tools of these formats repeat a kernel on the same buffers. */
    result->trial.cache = NT_HOT;
    nt_copy(result->trial.kernel, sizeof result->trial.kernel, run->kernel);
}

void nt_foreign_done(nt_foreign *result)
{
    nt_trial_done(&result->trial);
    json_decref(result->params);
    json_decref(result->extra);
    *result = (nt_foreign){0};
}
