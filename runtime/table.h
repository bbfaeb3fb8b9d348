/* table.h: an open table inside the library: mapped files, and the devices in them that may serve, best first. */
#ifndef NNTUNE_TABLE_H
#define NNTUNE_TABLE_H

#include <stdatomic.h>

#include "runtime/format.h"
#include "runtime/nntune.h"

enum { NNTUNE_MAX_FILES = 16, NNTUNE_MAX_RANKS = 256, NNTUNE_MISS_BITS = 1 << 16 };

typedef struct nntune_file {
    const unsigned char *map;
    size_t bytes;
    const nntune_file_header *header;
    const char *text;
    const nntune_file_device *device;
    const nntune_file_environment *environment;
    const nntune_file_group *group;
    const nntune_file_family *family;
    const nntune_file_index *index;
    const nntune_file_step *step;
    const nntune_file_entry *entry;
    const nntune_file_cost *cost;
    const nntune_file_plan *plan;
    const nntune_file_stage *stage;
    const nntune_file_arg *arg;
    const nntune_file_map *tensor_map;
    const nntune_file_artefact *artefact;
    const unsigned char *code;
    uint64_t index_mask;
    bool *stale; /* one an environment */
} nntune_file;

/* A device of a file that may serve. */
typedef struct nntune_rank {
    uint32_t file, device;
    nntune_tier tier;
} nntune_rank;

struct nntune_table {
    nntune_file file[NNTUNE_MAX_FILES];
    int file_count;
    nntune_rank rank[NNTUNE_MAX_RANKS]; /* by tier, then by file */
    int rank_count;
    nntune_device here;
    bool accept_stale;
    int miss_log;          /* descriptor or -1 */
    atomic_ullong *missed; /* a bit a problem, so that each is logged once */
};

uint64_t nntune_file_count(const nntune_file *file, nntune_part part);

/* Maps and checks one file. */
nntune_status nntune_file_open(const char *path, nntune_file *out, char *why);
void nntune_file_close(nntune_file *file);

/* Text for people; `why` may be NULL. Returns `status`. */
nntune_status nntune_fail(char *why, nntune_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Work of a problem by a group's products, for the cost model. */
typedef struct nntune_work {
    double flop, bytes;
} nntune_work;
nntune_work nntune_work_of(const nntune_file_group *group, const int64_t *size, int64_t batch);
/* Time of the entry's configuration on another problem of its layer; INFINITY when it cannot serve it. */
double nntune_cost_ns(const nntune_file_cost *cost, int dims, const int64_t *size, int64_t batch, nntune_work work,
                      double bytes_per_s);

#endif
