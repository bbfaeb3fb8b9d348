#include "cli/warn.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* X(id, meaning) */
#define WARNING_MAP(X)                                                                                            \
    X("finals-lost", "the final rounds of a problem could not be held; its best stands by its first measurement") \
    X("fresh-wrong", "a finalist gave a wrong result on fresh inputs and was set aside")                          \
    X("cold-start", "no earlier run could serve --warm-start; the search began without one")                      \
    X("source-changed", "the kernel's source is not the one that was measured")                                   \
    X("spec-changed", "the spec of a user's kernel is not the one that was measured")                             \
    X("compiler-changed", "the compiler here is not the one that made the code that was measured")                \
    X("counter-fault", "a trial fails under the hardware counters; it has none")                                  \
    X("no-counters", "hardware counters cannot be had; the sweep goes on without them")                           \
    X("counters-held", "another process reads the device's counters and does not let go")                         \
    X("no-cuda", "the profiled command never used CUDA")                                                          \
    X("profile-dropped", "CUPTI dropped records of the profiled command, so counts are too small")                \
    X("profile-cut", "the profiled command was ended in the middle of a write; its last records are lost")        \
    X("clock-backwards", "records of the profiled command end before they begin; their times are left out")       \
    X("count-disturbed", "launches were counted in vain: others came in between")                                 \
    X("range-open", "the profiled command left NVTX ranges open")                                                 \
    X("vendor-missing", "a vendor's library is not there; its kernels take no part")                              \
    X("import-cut", "an imported file was cut off; its whole results were taken")                                 \
    X("import-repeated", "an imported file holds a configuration more than once; the first result counts")        \
    X("import-not-numbers", "an imported file holds NaN or infinities, which became unknown")                     \
    X("export-dropped", "the file's format cannot hold all that is known of the run")                             \
    X("merge-repeated", "a run stood in several of the merged databases and was taken once")

const nt_warning nt_warnings[] = {
#define X(id, meaning) {id, meaning},
    WARNING_MAP(X)
#undef X
        {NULL, NULL},
};

const char *const nt_warning_ids[] = {
#define X(id, meaning) id,
    WARNING_MAP(X)
#undef X
        NULL,
};

void nt_warn(const nt_args *args, const char *id, const char *format, ...)
{
    const nt_given *silenced = nt_args_get(args, "no-warn");
    for (int i = 0; silenced != NULL && i < silenced->count; i++)
        if (strcmp(silenced->text[i], id) == 0)
            return;
    va_list list;
    va_start(list, format);
    fputs("nntune: warning: ", stderr);
    vfprintf(stderr, format, list);
    fprintf(stderr, " [%s]\n", id);
    va_end(list);
}
