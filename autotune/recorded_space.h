/* recorded_space.h: an exhaustively measured space from a file: every legal configuration of one kernel on one device
 * with its time or the way it failed. Strategies are compared on them without a device.
 *
 * The file is CSV, plain or gzip. First lines `# key=value`, `# param NAME=v1,v2,..` for each parameter in order and
 * `# const NAME=v`; then a header (the parameters, status, time_ms, compile_ms, bench_ms, samples_ms) and a row for
 * each configuration, samples separated by `;`. Empty fields are unknown. */
#ifndef NT_RECORDED_SPACE_H
#define NT_RECORDED_SPACE_H

#include "autotune/space.h"

enum {
    NT_RECORDED_MOST_ROWS = 4000000,
    NT_RECORDED_MOST_BYTES = 1 << 29, /* unpacked */
    NT_RECORDED_MOST_LINE = 1 << 20
};

typedef struct nt_recorded_row {
    nt_outcome outcome;
    uint32_t first_sample, sample_count; /* in nt_recorded.sample_ms */
    double time_ms;                      /* NAN unless ok */
    double compile_ms, bench_ms;         /* NAN where unknown */
} nt_recorded_row;

/* Rows are those of the space: row[i] is what was recorded for configuration i of it. */
typedef struct nt_recorded {
    char *name;       /* from `# space=`, else the file's name without its endings */
    nt_kernel kernel; /* a plain table: name and parameters */
    nt_space *space;
    nt_recorded_row *row;
    uint32_t *file_row; /* position of the row in the file, 0-based */
    size_t row_count;
    float *sample_ms;
    size_t sample_count;
    double best_ms, worst_ms; /* of the rows that are ok */
    size_t ok_count;
    void *memory; /* of the parameters' values */
} nt_recorded;

/* NT_NOT_FOUND, NT_IO: the file cannot be read; NT_CORRUPT: it is not such a file, with the line that is wrong. */
nt_status nt_recorded_open(const char *path, nt_recorded **out, nt_error *err);
void nt_recorded_free(nt_recorded *recorded); /* NULL allowed */

#endif
