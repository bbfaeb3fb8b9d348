#include "autotune/finals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/record.h"
#include "core/stats.h"

static const double significance = 0.01;

static void log_ratios(const nt_finalist *a, const nt_finalist *b, size_t rounds, double *out)
{
    for (size_t i = 0; i < rounds; i++)
        out[i] = log(a->round_ns[i] / b->round_ns[i]);
}

static int fastest(const nt_finalist *finalists, int count)
{
    int leader = 0;
    for (int i = 1; i < count; i++)
        if (finalists[i].median_ns < finalists[leader].median_ns)
            leader = i;
    return leader;
}

/* Marks in differs[] who is really slower than the leader: Holm's step-down over the others' p-values. */
static void find_differences(const nt_finalist *finalists, int count, size_t rounds, double threshold, int leader,
                             bool *differs)
{
    double p[NT_FINALISTS], ratio[NT_FINALISTS], *difference = nt_alloc(rounds * sizeof(double));
    bool done[NT_FINALISTS] = {false};
    for (int i = 0; i < count; i++) {
        log_ratios(&finalists[i], &finalists[leader], rounds, difference);
        p[i] = nt_wilcoxon_p(difference, rounds);
        ratio[i] = exp(nt_hodges_lehmann(difference, rounds));
        differs[i] = false;
    }
    free(difference);
    done[leader] = true;
    for (int left = count - 1; left > 0; left--) {
        int next = -1;
        for (int i = 0; i < count; i++)
            if (!done[i] && (next < 0 || p[i] < p[next]))
                next = i;
        if (next < 0 || p[next] * left >= significance)
            return; /* neither this nor any with a larger p */
        done[next] = true;
        differs[next] = ratio[next] > 1 + threshold;
    }
}

/* Below zero: a is to be preferred among equals. */
static int preference(const nt_finalist *a, const nt_finalist *b)
{
    if (a->registers != b->registers && a->registers != NT_UNKNOWN && b->registers != NT_UNKNOWN)
        return a->registers < b->registers ? -1 : 1;
    if (a->smem_bytes != b->smem_bytes && a->smem_bytes != NT_UNKNOWN && b->smem_bytes != NT_UNKNOWN)
        return a->smem_bytes < b->smem_bytes ? -1 : 1;
    return strcmp(a->params, b->params);
}

/* Tied ones after the winner in order of time, then the slower ones in order of time. */
static void assign_ranks(nt_finalist *finalists, int count, int winner, const bool *differs)
{
    finalists[winner].rank = 1;
    int rank = 2;
    for (int slower = 0; slower < 2; slower++) {
        for (;;) {
            int next = -1;
            for (int i = 0; i < count; i++)
                if (finalists[i].rank == 0 && differs[i] == (slower == 1) &&
                    (next < 0 || finalists[i].median_ns < finalists[next].median_ns))
                    next = i;
            if (next < 0)
                break;
            finalists[next].rank = rank++;
            finalists[next].tied = slower == 0;
        }
    }
}

void nt_finals_rank(nt_finalist *finalists, int count, size_t rounds, double threshold)
{
    bool differs[NT_FINALISTS] = {false};
    if (count <= 0 || count > NT_FINALISTS)
        return;
    for (int i = 0; i < count; i++) {
        finalists[i].rank = 0;
        finalists[i].tied = false;
        finalists[i].median_ns = nt_median(finalists[i].round_ns, rounds);
    }
    int leader = fastest(finalists, count);
    find_differences(finalists, count, rounds, threshold, leader, differs);
    int winner = leader;
    for (int i = 0; i < count; i++)
        if (!differs[i] && preference(&finalists[i], &finalists[winner]) < 0)
            winner = i;
    assign_ranks(finalists, count, winner, differs);
    double *difference = nt_alloc((rounds ? rounds : 1) * sizeof(double));
    for (int i = 0; i < count; i++) {
        log_ratios(&finalists[i], &finalists[winner], rounds, difference);
        finalists[i].ratio = exp(nt_hodges_lehmann(difference, rounds));
    }
    free(difference);
}
