/* profile_count.c: see profile_count.h. */
#include "cli/profile_count.h"

#include <ctype.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/warn.h"
#include "core/mem.h"
#include "profiler/count_request.h"
#include "profiler/counter_probe.h"
#include "profiler/cupti_error.h"

enum { NEAREST = 3, REGEX_FLAGS = REG_EXTENDED | REG_NOSUB };

static const double probe_seconds = 30;

/* ---- before the program ------------------------------------------------------------------------------------------------- */

static nt_status check_regex(const char *regex, nt_error *err)
{
    regex_t compiled;
    char why[128];
    int code = regcomp(&compiled, regex, REGEX_FLAGS);
    if (code == 0) {
        regfree(&compiled);
        if (regex[0] != '\0')
            return NT_OK;
    }
    regerror(code, &compiled, why, sizeof why);
    nt_fail(err, NT_USAGE, "--counters '%s' is no extended regular expression: %s", regex,
            code != 0 ? why : "it is empty");
    return nt_hint(err, "names hold brackets: write \\( and \\[ for them; '.' stands for every kernel");
}

/* What stands in the way for certain. Anything else is for the program to find out. */
static nt_status check_permission(const nt_counter_probe *probe, nt_error *err)
{
    const nt_probe_result *ranges = &probe->ranges;
    if (ranges->status != NT_NO_PERMISSION && ranges->status != NT_BUSY)
        return NT_OK;
    nt_fail(err, ranges->status, "the counters cannot be had, so nothing was run: %s", ranges->what);
    return nt_hint(err, "%s", ranges->hint);
}

nt_status nt_profile_counts_ask(const nt_args *args, nt_profile_counts *out, nt_error *err)
{
    static const char *const usual[] = {"t1"};
    const nt_given *metrics = nt_args_get(args, "metrics");
    *out = (nt_profile_counts){.regex = nt_args_text(args, "counters", NULL)};
    if (out->regex == NULL && (metrics != NULL || nt_args_get(args, "launches") != NULL)) {
        nt_fail(err, NT_USAGE, "%s counts nothing without --counters", metrics != NULL ? "--metrics" : "--launches");
        return nt_hint(err, "say which kernels: --counters 'gemm|conv', or --counters . for every one");
    }
    if (out->regex == NULL)
        return NT_OK;
    nt_counter_probe probe;
    nt_status status = check_regex(out->regex, err);
    if (status != NT_OK)
        return status;
    snprintf(out->launches, sizeof out->launches, "%lld",
             (long long)nt_args_integer(args, "launches", NT_PROFILE_LAUNCHES));
    nt_counter_probe_run(0, probe_seconds, &probe);
    status = check_permission(&probe, err);
    if (status == NT_OK)
        status = nt_count_request(metrics != NULL ? metrics->text : usual, metrics != NULL ? (size_t)metrics->count : 1,
                                  probe.chip, &out->metrics, &out->passes, err);
    return status;
}

void nt_profile_counts_done(nt_profile_counts *counts)
{
    nt_str_done(&counts->metrics);
}

/* ---- names that are near ------------------------------------------------------------------------------------------------- */

/* Fewest changes that turn `word` into some part of `text`; letters of either case are the same. */
static int distance_within(const char *word, const char *text)
{
    size_t length = strlen(word);
    int *row = nt_alloc_zero(length + 1, sizeof *row);
    for (size_t i = 0; i <= length; i++)
        row[i] = (int)i;
    int best = row[length];
    for (const char *at = text; *at != '\0'; at++) {
        int diagonal = 0; /* a part may begin anywhere */
        for (size_t i = 1; i <= length; i++) {
            int same = tolower((unsigned char)word[i - 1]) == tolower((unsigned char)*at);
            int least = diagonal + !same;
            diagonal = row[i];
            least = row[i] + 1 < least ? row[i] + 1 : least;
            row[i] = row[i - 1] + 1 < least ? row[i - 1] + 1 : least;
        }
        best = row[length] < best ? row[length] : best;
    }
    free(row);
    return best;
}

typedef struct near_name {
    int name, distance;
} near_name;

static void offer(near_name *list, int *count, near_name offered)
{
    for (int i = 0; i < *count; i++)
        if (list[i].name == offered.name)
            return;
    int place = *count;
    while (place > 0 && list[place - 1].distance > offered.distance)
        place--;
    if (place >= NEAREST)
        return;
    *count += *count < NEAREST;
    memmove(&list[place + 1], &list[place], (size_t)(*count - place - 1) * sizeof *list);
    list[place] = offered;
}

static nt_status matches_nothing(const char *regex, const nt_trace *trace, nt_error *err)
{
    near_name list[NEAREST];
    int count = 0;
    nt_str text = {0};
    for (size_t i = 0; i < trace->shape_count; i++) {
        int name = trace->shape[i].name;
        offer(list, &count, (near_name){name, distance_within(regex, trace->name[name])});
    }
    for (int i = 0; i < count; i++)
        nt_str_addf(&text, "%s'%.120s'", i > 0 ? ", " : "", trace->name[list[i].name]);
    nt_fail(err, NT_NOT_FOUND, "--counters '%s' is in the name of no kernel that ran", regex);
    nt_hint(err, "nearest: %s; the table of kernels above has all names", nt_str_text(&text));
    nt_str_done(&text);
    return NT_NOT_FOUND;
}

/* ---- after the program --------------------------------------------------------------------------------------------------- */

static bool any_matches(const char *regex, const nt_trace *trace)
{
    regex_t compiled;
    bool found = false;
    if (regcomp(&compiled, regex, REGEX_FLAGS) != 0)
        return false;
    for (size_t i = 0; i < trace->shape_count && !found; i++)
        found = regexec(&compiled, trace->name[trace->shape[i].name], 0, NULL, 0) == 0;
    regfree(&compiled);
    return found;
}

static nt_status problem_of(const nt_trace *trace, nt_error *err)
{
    for (size_t i = 0; i < trace->process_count; i++) {
        const nt_trace_process *process = &trace->process[i];
        if (process->count_problem != 0)
            return nt_cupti_fail(err, process->count_problem, "process %lld stopped counting, %s",
                                 (long long)process->pid, process->count_problem_text);
    }
    return NT_OK;
}

static nt_status only_in_graphs(const char *regex, nt_error *err)
{
    nt_fail(err, NT_NOT_FOUND,
            "the kernels that --counters '%s' names ran from CUDA graphs alone, which are not counted", regex);
    return nt_hint(err,
                   "run the program without graphs (PyTorch: without torch.cuda.graph and mode='reduce-overhead')");
}

nt_status nt_profile_counts_explain(const nt_args *args, const nt_profile_counts *counts, const nt_trace *trace,
                                    nt_error *err)
{
    int64_t disturbed = 0, captured = 0;
    if (counts->regex == NULL)
        return NT_OK;
    nt_status status = problem_of(trace, err);
    if (status != NT_OK)
        return status;
    for (size_t i = 0; i < trace->process_count; i++) {
        disturbed += trace->process[i].uncounted[NT_UNCOUNTED_DISTURBED];
        captured += trace->process[i].uncounted[NT_UNCOUNTED_CAPTURED];
    }
    if (disturbed > 0)
        nt_warn(args, "count-disturbed", "%lld launches were counted in vain: another thread launched in between",
                (long long)disturbed);
    if (trace->counted_count > 0 || trace->shape_count == 0)
        return NT_OK;
    if (captured > 0 || any_matches(counts->regex, trace))
        return disturbed > 0 ? nt_fail(err, NT_BUSY, "no launch could be counted alone")
                             : only_in_graphs(counts->regex, err);
    return matches_nothing(counts->regex, trace, err);
}
