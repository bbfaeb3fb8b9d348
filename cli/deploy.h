/* deploy.h: deployment tables for the commands: made from a database, opened with the runtime's own lookup, and what
 * they are expected to lose on problems that are not in them. */
#ifndef NT_DEPLOY_H
#define NT_DEPLOY_H

#include "core/store.h"
#include "reports/table.h"
#include "runtime/nntune.h"

/* ---- deploy_build.c ---- */

typedef struct nt_deploy_request {
    const char *layer;  /* NULL: all */
    const char *device; /* name, UUID or kind; NULL: all */
    const char *dflt;   /* device that serves every other of its kind; NULL: none */
    const int64_t *run; /* only winners of these runs */
    int run_count;
    bool with_code; /* take compiled artefacts out of the cache */
} nt_deploy_request;

enum { NT_DEPLOY_GAPS = 8 };

/* Why entries cannot be launched. */
typedef struct nt_deploy_gap {
    char reason[160];
    int64_t entries;
} nt_deploy_gap;

typedef struct nt_deploy_tally {
    int64_t rows;         /* winners seen */
    int64_t without_code; /* entries that cannot be launched: no artefact at hand, or no launch that a table can hold */
    nt_deploy_gap gap[NT_DEPLOY_GAPS]; /* of them, by reason; none where code was not asked for */
    int gaps;
    nt_str devices; /* names seen, for messages; free with nt_str_done */
} nt_deploy_tally;

/* Arranged. NT_NOT_FOUND when nothing matches. */
nt_status nt_deploy_build(nt_reader *reader, const nt_deploy_request *request, nt_deploy *out, nt_deploy_tally *tally,
                          nt_error *err);

/* ---- deploy_regret.c ---- */

/* What the rest of the table would have cost for an entry left out, over all entries of one layer and precision. */
typedef struct nt_regret {
    char layer[NT_NAME_BYTES];
    nt_precision precision;
    bool whole_shape;     /* all batches of the shape were left out, else one batch */
    int64_t tried, known; /* left out; of them, those where the chosen configuration was measured */
    /* time over the best, less 1: geometric mean, 90th percentile, largest; NAN when none is known */
    double mean, p90, most;
    double upper; /* the mean is below this with 95 % confidence, the noise of the times counted; NAN below two known */
} nt_regret;

/* Looks up each of (at most 200, evenly spread) entries in a table without it. Free *out. */
nt_status nt_deploy_regret(nt_deploy *table, nt_regret **out, size_t *count, nt_error *err);

/* Opens the records with libnntune, as a program would. */
nt_status nt_deploy_open(const nt_deploy *table, const nntune_device *device, unsigned flags, nntune_table **out,
                         nt_error *err);
void nt_deploy_query(const nt_problem *problem, int64_t sizes[NT_MAX_DIMS], nntune_query *out);

#endif
