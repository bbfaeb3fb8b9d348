/* bench_table.c: what a lookup costs in a table of 10,000 entries (100 shapes x 10 batches x 5 precisions x 2 layouts),
 * with random keys, warm: median and 99th percentile of batches of lookups, allocations, 16 threads at once, and how
 * long the C header of the same table compiles. Exit code 1 when a bar is missed. */
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/paths.h"
#include "core/stats.h"
#include "tests/bench/deploy_fixture.h"

enum { SHAPES = 100, BATCHES = 10, PRECISIONS = 5, LAYOUTS = 2, KEYS = 4096, ROUNDS = 60, GROUP = 16, THREADS = 16 };

typedef struct keys {
    nntune_query query[KEYS];
    int64_t size[KEYS][FIXTURE_DIMS];
} keys;

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

typedef enum form { EXACT, BETWEEN, UNSEEN, FORMS } form;

static void fill_keys(keys *k, form which)
{
    unsigned state = 1;
    for (int i = 0; i < KEYS; i++) {
        fixture_sizes((int)(next_random(&state) % SHAPES), k->size[i]);
        if (which == UNSEEN)
            k->size[i][0] += 5;
        int64_t batch = (int64_t)1 << next_random(&state) % BATCHES;
        k->query[i] = (nntune_query){.layer = "conv3x3",
                                     .size = k->size[i],
                                     .size_count = FIXTURE_DIMS,
                                     .batch = which == BETWEEN ? batch * 3 / 2 + (batch < 2 ? 2 : 0) : batch,
                                     .precision = (nntune_precision)(next_random(&state) % PRECISIONS),
                                     .layout = (nntune_layout)(next_random(&state) % LAYOUTS)};
    }
}

static bool right(const nntune_result *r, form which)
{
    static const nntune_match matches[] = {NNTUNE_MATCH_EXACT, NNTUNE_MATCH_BATCH, NNTUNE_MATCH_SHAPE};
    return r->match == matches[which];
}

/* Time of one lookup, from groups that are long enough for the clock. */
static bool time_lookups(const nntune_table *table, const keys *k, form which, double *ns, size_t *count)
{
    bool ok = true;
    nntune_result result;
    *count = 0;
    for (int round = -2; round < ROUNDS; round++)
        for (int i = 0; i < KEYS; i += GROUP) {
            double begin = nt_now_ns();
            for (int j = 0; j < GROUP; j++)
                ok = nntune_lookup(table, &k->query[i + j], &result) == NNTUNE_OK && ok;
            double each = (nt_now_ns() - begin) / GROUP;
            ok = ok && right(&result, which);
            if (round >= 0)
                ns[(*count)++] = each;
        }
    return ok;
}

typedef struct shared {
    const nntune_table *table;
    const keys *k;
    bool ok;
} shared;

static void *look(void *context)
{
    shared *s = context;
    nntune_result result;
    s->ok = true;
    for (int round = 0; round < 20; round++)
        for (int i = 0; i < KEYS; i++)
            s->ok = nntune_lookup(s->table, &s->k->query[i], &result) == NNTUNE_OK && s->ok;
    return NULL;
}

static bool together(const nntune_table *table, const keys *k)
{
    pthread_t thread[THREADS];
    shared each[THREADS];
    bool ok = true;
    for (int i = 0; i < THREADS; i++) {
        each[i] = (shared){table, k, false};
        pthread_create(&thread[i], NULL, look, &each[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        ok = ok && each[i].ok;
    }
    return ok;
}

static bool bench_form(const nntune_table *table, form which)
{
    static const char *const names[FORMS] = {"exact hit", "batch between entries", "unseen shape"};
    static const double bars[FORMS] = {50, 100, 2000};
    static keys k;
    static double ns[ROUNDS * KEYS / GROUP];
    size_t count;
    fill_keys(&k, which);
    size_t before = mallinfo2().uordblks;
    bool ok = time_lookups(table, &k, which, ns, &count);
    size_t after = mallinfo2().uordblks;
    double median = nt_median(ns, count), p99 = nt_quantile(ns, count, 0.99);
    bool threads = together(table, &k);
    printf("%-22s %7.1f ns  p99 %7.1f ns  bar %4.0f ns  %s%s%s\n", names[which], median, p99, bars[which],
           median <= bars[which] ? "met" : "MISSED", ok && threads ? "" : ", WRONG ANSWERS",
           after == before ? "" : ", ALLOCATES");
    return ok && threads && median <= bars[which] && after == before;
}

static bool bench_header(const nt_deploy *table, const char *folder)
{
    static const char program[] = "#include \"conv.h\"\nint main(void)\n{\n    int size[] = {16, 32, 7, 14};\n"
                                  "    return conv_find(0, 0, 0, 0, size, 1) == NULL;\n}\n";
    char path[256], command[640];
    nt_str text = {0};
    if (nt_deploy_header(table, "conv", &text, NULL) != NT_OK)
        return false;
    snprintf(path, sizeof path, "%s/conv.h", folder);
    bool written = nt_write_file(path, nt_str_text(&text), text.length, NULL) == NT_OK;
    snprintf(path, sizeof path, "%s/conv.c", folder);
    written = written && nt_write_file(path, program, sizeof program - 1, NULL) == NT_OK;
    snprintf(command, sizeof command, "${CC:-cc} -O2 -Wall -Wextra -Werror -o %s/conv %s && %s/conv", folder, path,
             folder);
    double begin = nt_now_ns();
    bool ok = written && system(command) == 0;
    double seconds = (nt_now_ns() - begin) / 1e9;
    printf("%-22s %7.3f s, %zu KB of C  bar 1 s  %s\n", "C header compiles", seconds, text.length / 1000,
           ok && seconds < 1 ? "met" : "MISSED");
    nt_str_done(&text);
    return ok && seconds < 1;
}

int main(void)
{
    char folder[] = "/tmp/bench-table-XXXXXX", path[128], why[NNTUNE_WHY_BYTES] = "", command[160];
    nt_deploy table;
    nntune_table *open = NULL;
    nntune_device device = fixture_device();
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/conv.ntb", folder);
    fixture_table(SHAPES, BATCHES, PRECISIONS, LAYOUTS, &table);
    bool ok = fixture_write(&table, path) && nntune_table_open(path, &device, NNTUNE_ALONE, &open, why) == NNTUNE_OK;
    printf("%zu entries%s%s\n", table.entry_count, ok ? "" : ": ", why);
    for (int f = 0; open != NULL && f < FORMS; f++)
        ok = bench_form(open, (form)f) && ok;
    ok = bench_header(&table, folder) && ok;
    nntune_table_close(open);
    nt_deploy_done(&table);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 && ok ? 0 : 1;
}
