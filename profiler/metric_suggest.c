/* metric_suggest.c: names near to one that is wrong. A metric is a base name and a roll-up ("sm__warps_active" and
 * ".avg.pct_of_peak_sustained_active"): where the base is right, roll-ups of it are named, otherwise bases, columns and
 * sets. See metric_plan.h. */
#include <stdio.h>
#include <string.h>

#include "core/str.h"
#include "profiler/metric_plan.h"

enum { NAMED = 3, NAME_BYTES = 256 };

/* The best few of the names offered. */
typedef struct nearest {
    const char *word;
    int count, distance[NAMED];
    const char *name[NAMED];
} nearest;

static void offer(nearest *list, const char *name, int limit)
{
    int distance = nt_edit_distance(list->word, name);
    int at = list->count < NAMED ? list->count : NAMED;
    if (distance > limit)
        return;
    while (at > 0 && list->distance[at - 1] > distance)
        at--;
    if (at == NAMED)
        return;
    int last = list->count < NAMED ? list->count++ : NAMED - 1;
    for (int i = last; i > at; i--) {
        list->name[i] = list->name[i - 1];
        list->distance[i] = list->distance[i - 1];
    }
    list->name[at] = name;
    list->distance[at] = distance;
}

/* The longest prefix up to a dot that the chip knows as a base; false when there is none. */
static bool split_base(nt_cupti_host *host, const char *name, char base[NAME_BYTES], nt_cupti_metric *about)
{
    nt_error ignored;
    if (!nt_copy(base, NAME_BYTES, name))
        return false;
    while (nt_cupti_host_describe(host, base, about, &ignored) != NT_OK) {
        char *dot = strrchr(base, '.');
        if (dot == NULL)
            return false;
        *dot = '\0';
    }
    /* A roll-up may have been recognised with it. */
    for (char *dot; (dot = strrchr(base, '.')) != NULL;) {
        *dot = '\0';
        if (nt_cupti_host_describe(host, base, about, &ignored) != NT_OK) {
            *dot = '.';
            break;
        }
    }
    return nt_cupti_host_describe(host, base, about, &ignored) == NT_OK;
}

static void say(const nearest *list, const char *before, nt_error *err)
{
    char text[400];
    size_t length = 0;
    for (int i = 0; i < list->count && length < sizeof text; i++) {
        int added = snprintf(text + length, sizeof text - length, "%s'%s%s'", i > 0 ? ", " : "", before, list->name[i]);
        length += added > 0 ? (size_t)added : 0;
    }
    if (list->count > 0)
        nt_hint(err, "did you mean %s?", text);
    else
        nt_hint(err,
                "sets: t1, t2, sol, stall, banks, access, coalescing, flop, tensor; metrics of CUPTI by their full "
                "names, such as sm__warps_active.avg.pct_of_peak_sustained_active");
}

static void suggest_roll_up(nt_cupti_host *host, const char *base, int type, const char *rest, nt_error *err)
{
    static const char *const common[] = {
        ".sum", ".avg", ".pct", ".ratio", ".avg.pct_of_peak_sustained_active", ".avg.pct_of_peak_sustained_elapsed"};
    const char *const *sub;
    size_t count;
    nt_error ignored;
    nearest list = {.word = rest};
    if (nt_cupti_host_sub(host, type, base, &sub, &count, &ignored) != NT_OK)
        count = 0;
    for (size_t i = 0; i < count; i++) {
        bool usual = false;
        for (size_t k = 0; k < sizeof common / sizeof common[0]; k++)
            usual = usual || strcmp(common[k], sub[i]) == 0;
        /* Nothing after the base: the roll-ups that people use; otherwise whatever is near. */
        if (*rest != '\0' || usual)
            offer(&list, sub[i], *rest != '\0' ? 1 + (int)strlen(rest) : NAME_BYTES);
    }
    say(&list, base, err);
}

void nt_metric_suggest(nt_cupti_host *host, const char *name, nt_error *err)
{
    char base[NAME_BYTES], word[NAME_BYTES];
    nt_cupti_metric about;
    if (split_base(host, name, base, &about)) {
        suggest_roll_up(host, base, about.type, name + strlen(base), err);
        return;
    }
    nt_copy(word, sizeof word, name);
    word[strcspn(word, ".")] = '\0';
    nearest list = {.word = word};
    int limit = 1 + (int)strlen(word) / 3;
    for (size_t i = 0; i < nt_metric_set_count; i++)
        offer(&list, nt_metric_sets[i].name, limit);
    for (size_t i = 0; i < nt_metric_column_count; i++)
        offer(&list, nt_metric_columns[i].name, limit);
    for (int type = 0; type < NT_CUPTI_METRIC_TYPES; type++) {
        const char *const *names;
        size_t count;
        nt_error ignored;
        if (nt_cupti_host_base(host, type, &names, &count, &ignored) != NT_OK)
            continue;
        for (size_t i = 0; i < count; i++)
            offer(&list, names[i], limit);
    }
    say(&list, "", err);
}
