/* bar_ties.c: one compiled kernel entered twice into the finals must come out as a tie; kernels that differ must not.
 */
#include <stdlib.h>

#include "autotune/finals.h"
#include "autotune/worker_finals.h"
#include "core/json.h"
#include "tests/gpu/bars.h"
#include "tests/gpu/subject.h"

enum { ROUNDS = 15, PER_CALL = NT_FINALISTS / 2, PAIRS = 200 };
static const double threshold = 0.005, surely_unlike = 1.03;

typedef struct tally {
    size_t pairs, ties, unlike_pairs, told_apart;
    double widest; /* largest ratio between twins */
} tally;

static bool sweep(judge *j)
{
    const char *words[] = {"--shape",   "64x56x56", "--batch", "8",        "--precision",
                           "fp32,bf16", "--seed",   "31",      "--budget", j->quick ? "40" : "120",
                           NULL};
    judge_sweep seen;
    char *path = judge_path(j, "ties.db");
    judge_remove(path);
    free(path);
    bool swept = judge_watch(j, "ties.db", words, &seen);
    judge_sweep_done(&seen);
    return swept;
}

/* Two finalists ranked as the sweep's finals would; true when neither wins. */
static bool tied(double ns[2][ROUNDS], double *ratio)
{
    nt_finalist pair[2] = {
        {.round_ns = ns[0], .registers = NT_UNKNOWN, .smem_bytes = NT_UNKNOWN, .params = "a"},
        {.round_ns = ns[1], .registers = NT_UNKNOWN, .smem_bytes = NT_UNKNOWN, .params = "b"},
    };
    nt_finals_rank(pair, 2, ROUNDS, threshold);
    int loser = pair[0].rank == 1 ? 1 : 0;
    *ratio = fmax(pair[loser].ratio, 1 / pair[loser].ratio);
    return pair[loser].tied;
}

static void judge_rounds(const json_t *finals, int count, tally *t)
{
    double ns[NT_FINALISTS][ROUNDS], ratio;
    for (int i = 0; i < count; i++)
        for (int r = 0; r < ROUNDS; r++)
            ns[i][r] = json_number_value(
                json_array_get(json_object_get(json_array_get(finals, (size_t)i), "round_ns"), (size_t)r));
    for (int i = 0; i < count; i += 2) {
        t->pairs++;
        t->ties += tied(&ns[i], &ratio);
        t->widest = fmax(t->widest, ratio);
    }
    for (int i = 0; i + 2 < count; i += 2) { /* neighbours that are not twins */
        double other[2][ROUNDS];
        for (int r = 0; r < ROUNDS; r++) {
            other[0][r] = ns[i][r];
            other[1][r] = ns[i + 2][r];
        }
        double apart = nt_median(other[0], ROUNDS) / nt_median(other[1], ROUNDS);
        if (fmax(apart, 1 / apart) < surely_unlike)
            continue;
        t->unlike_pairs++;
        t->told_apart += !tied(other, &ratio);
    }
}

/* Four configurations, each twice, in one field of eight. */
static nt_status hold(bench *b, const stored *row, int configurations, tally *t, nt_error *err)
{
    json_t *items = json_array(), *reply = json_object();
    nt_status status = bench_problem(b, &row->problem, 1, NT_COLD, err);
    for (int i = 0; status == NT_OK && i < configurations; i++) {
        json_t *item = NULL;
        status = bench_item(b, &row[i], &item, err);
        json_array_append(items, item);
        json_array_append(items, item);
        json_decref(item);
    }
    json_t *request = json_pack("{s:i, s:o}", "rounds", ROUNDS, "items", items);
    if (status == NT_OK)
        status = nt__worker_finals(&b->worker, request, reply, err);
    if (status == NT_OK)
        judge_rounds(json_object_get(reply, "finals"), 2 * configurations, t);
    json_decref(request);
    json_decref(reply);
    return status;
}

static int same_problem(const stored_list *list, size_t first)
{
    int count = 1;
    while (count < PER_CALL && first + (size_t)count < list->count &&
           nt_problem_equal(&list->row[first].problem, &list->row[first + (size_t)count].problem))
        count++;
    return count;
}

void judge_bar_ties(judge *j)
{
    stored_list list;
    bench b;
    tally t = {.widest = 1};
    nt_error err = {0};
    if (!sweep(j) || !judge_stored(j, "ties.db", "outcome = 'ok'", &list))
        return;
    nt_status status = bench_open(&b, &err);
    size_t wanted = j->quick ? 24 : PAIRS;
    while (status == NT_OK && t.pairs < wanted && list.count > 0) /* again from the first when there are few */
        for (size_t i = 0; status == NT_OK && i < list.count && t.pairs < wanted;) {
            int count = same_problem(&list, i);
            status = hold(&b, &list.row[i], count, &t, &err);
            i += (size_t)count;
        }
    if (status != NT_OK)
        judge_broken(j, "the finals are held", err.what);
    judge_least(j, judge_number("pairs of the same kernel", "", (double)t.pairs), (double)wanted);
    judge_least(j, judge_number("of them tied", "", (double)t.ties), j->quick ? (double)wanted - 2 : 198);
    judge_tell(j, judge_number("largest ratio between twins", "", t.widest));
    judge_tell(j, judge_number("pairs of unlike kernels, 3 % apart or more", "", (double)t.unlike_pairs));
    judge_least(j, judge_number("of them told apart", "%", 100.0 * (double)t.told_apart / (double)t.unlike_pairs), 90);
    judge_stored_done(&list);
    bench_close(&b);
}
