/* format.h: a file format of the field as a table row, and the records that cross it.
 *
 * Every reader fills, and every writer is fed from, nt_foreign_run and nt_foreign: our records and a few values that
 * only such files have. A JSON format says how one result looks (`entry_json`) and how to read it back (`read_entry`);
 * the walk over files, the keeping of unknown keys and the writing are the same for all (read.c, write.c). Adding a
 * format is one file with its row and a line in formats.c. */
#ifndef NT_FORMATS_FORMAT_H
#define NT_FORMATS_FORMAT_H

#include <jansson.h>

#include "core/store.h"

enum {
    NT_IMPORT_MAX_BYTES = 256 << 20,      /* of a file, unpacked */
    NT_IMPORT_MAX_ENTRY_BYTES = 1 << 20,  /* of one result */
    NT_IMPORT_MAX_HEADER_BYTES = 4 << 20, /* of all that stands beside the results */
    NT_IMPORT_MAX_RESULTS = 1000000,
    NT_IMPORT_MAX_SAMPLES = 65536 /* of one result */
};

/* What is the same in several formats. X(name, what it is called in messages) */
#define NT_COMMON_MAP(X)                        \
    X(DEVICE, "device name")                    \
    X(KERNEL, "kernel name")                    \
    X(PROBLEM, "problem size")                  \
    X(LAYER, "layer, batch, precision, layout") \
    X(OUTCOME, "kinds of failure")              \
    X(SAMPLES, "single samples")                \
    X(INTERVAL, "intervals of the times")       \
    X(COMPILE, "compile times")                 \
    X(VERIFY, "verification times")             \
    X(MEASURE, "benchmark times")               \
    X(SEARCH, "search times")                   \
    X(FRAMEWORK, "framework times")             \
    X(TIMESTAMP, "timestamps")                  \
    X(REGISTERS, "registers and shared memory") \
    X(LAUNCH, "threads a block and blocks")     \
    X(OTHER, "errors, clocks, occupancy and other results of a sweep")

typedef enum nt_common {
#define X(name, text) NT_COMMON_##name,
    NT_COMMON_MAP(X)
#undef X
        NT_COMMON_COUNT
} nt_common;

typedef struct nt_format nt_format;

/* How a format calls an outcome. */
typedef struct nt_outcome_word {
    const char *word;
    nt_outcome outcome;
} nt_outcome_word;

/* What a file says once. */
typedef struct nt_foreign_run {
    const nt_format *format; /* the one it was read from; NULL: measured here */
    nt_run run;              /* its device above all */
    nt_problem problem;
    char kernel[NT_NAME_BYTES];
    char file[256];
    bool cut;           /* the file ended early */
    double unit_ns;     /* of the times in the file */
    char unit_word[24]; /* as the file spells it */
    json_t *params;     /* list of names in the file's order; NULL: as in the results */
    json_t *values;     /* writers: {name: [values seen]}, in order of appearance */
    json_t *extra;      /* patch from header_json to what the file says */
} nt_foreign_run;

/* One result. */
typedef struct nt_foreign {
    nt_trial trial;     /* reason: the file's own word for a failure */
    json_t *params;     /* object; trial.params_json is its text */
    char timestamp[48]; /* as in the file */
    double framework_ms, search_ms;
    json_t *extra; /* patch from entry_json to what the file says */
} nt_foreign;

void nt_foreign_run_init(nt_foreign_run *run);
void nt_foreign_run_done(nt_foreign_run *run);
void nt_foreign_init(nt_foreign *result, const nt_foreign_run *run);
void nt_foreign_done(nt_foreign *result);

/* Where a reader's results go. Records belong to the reader. */
typedef struct nt_import_target {
    void *context;
    nt_status (*begin)(void *context, nt_foreign_run *run, nt_error *err);
    nt_status (*put)(void *context, nt_foreign *result, nt_error *err);
} nt_import_target;

typedef struct nt_import_report {
    const nt_format *format;
    size_t results, repeated; /* repeated: of a configuration that stood there before */
    bool cut;                 /* taken up to where the file was cut off */
    size_t not_numbers;       /* NaN and infinities read as null */
} nt_import_report;

/* Names for what a file may lack; NULL: its own, else made from the file's. */
typedef struct nt_import_names {
    const char *device, *kernel;
} nt_import_names;

struct nt_format {
    const char *name;             /* of --format */
    const char *title;            /* for messages */
    unsigned carries;             /* bits 1 << nt_common; OUTCOME by its words */
    const nt_outcome_word *words; /* NULL: the names of ours */
    /* ---- JSON formats */
    const char *container; /* key of the results; NULL: no JSON format */
    bool keyed;            /* results are an object, not a list */
    bool may_be_cut;       /* whole results of a file cut off count */
    const char *unit_word; /* of times in files that state their unit; NULL for the others */
    nt_status (*read_header)(const json_t *header, nt_foreign_run *run, nt_error *err);
    nt_status (*read_entry)(const json_t *entry, const nt_foreign_run *run, nt_foreign *out, nt_error *err);
    json_t *(*header_json)(const nt_foreign_run *run);
    json_t *(*entry_json)(const nt_foreign_run *run, const nt_foreign *result);
    void (*entry_key)(nt_str *out, const nt_foreign_run *run, const nt_foreign *result); /* keyed only */
    /* ---- others */
    bool (*recognise)(const char *text, size_t length);
    nt_status (*read)(const char *name, const char *text, size_t length, nt_foreign_run *run,
                      const nt_import_target *target, nt_import_report *report, nt_error *err);
    void (*write_header)(nt_str *out, const nt_foreign_run *run);
    void (*write_entry)(nt_str *out, const nt_foreign_run *run, const nt_foreign *result);
};

extern const nt_format nt_format_t4, nt_format_kernel_tuner, nt_format_ktt, nt_format_csv, nt_format_json;
extern const nt_format *const nt_formats[]; /* NULL-terminated */

const nt_format *nt_format_find(const char *name); /* NULL when unknown */
/* "Kernel Tuner cache (kernel-tuner), ...": all of them. */
void nt_formats_list(nt_str *out);

/* ---- read.c, write.c --------------------------------------------------------------------------------------------- */

/* Reads text of any format, told by its content. `name` is the file's, for messages and names. */
nt_status nt_format_read(const char *name, const char *text, size_t length, const nt_import_names *names,
                         const nt_import_target *target, nt_import_report *report, nt_error *err);

typedef struct nt_format_writer {
    nt_str out;
    const nt_format *format;
    const nt_foreign_run *run;
    size_t results;
    json_t *dropped; /* names of what the format cannot hold */
} nt_format_writer;

/* `run` with params and values complete; must outlive the writer. */
void nt_format_begin(nt_format_writer *writer, const nt_format *format, const nt_foreign_run *run);
void nt_format_put(nt_format_writer *writer, const nt_foreign *result);
void nt_format_end(nt_format_writer *writer);
void nt_format_writer_done(nt_format_writer *writer);

/* ---- shared by formats: fields.c --------------------------------------------------------------------------------- */

/* The row of a word, NULL when it is none; tables end with a row without word. */
const nt_outcome_word *nt_outcome_word_find(const nt_outcome_word *rows, const char *word);
/* The word of a result: the one it was read from where the table has it, else the first of its outcome. */
const char *nt_outcome_word_of(const nt_outcome_word *rows, const nt_trial *trial);
nt_status nt_outcome_word_unknown(const nt_outcome_word *rows, const char *key, const char *word, nt_error *err);

/* Takes a copy of an object of plain values, in the order of run->params where that is given. */
nt_status nt_foreign_params(nt_foreign *out, const nt_foreign_run *run, const json_t *params, nt_error *err);
/* Times of a list of numbers, in ns. */
nt_status nt_foreign_samples(nt_foreign *out, const json_t *list, const char *key, double unit_ns, nt_error *err);
/* Device, kernel and problem of the run; NULL leaves what is there. */
void nt_foreign_device(nt_foreign_run *run, const char *name);
void nt_foreign_kernel(nt_foreign_run *run, const char *name);
void nt_foreign_problem(nt_foreign_run *run, const json_t *size); /* 4096 or [4096, 4096] */
json_t *nt_foreign_problem_json(const nt_foreign_run *run);       /* NULL when there is none */

double nt_ms_of(const json_t *object, const char *key, double unit_ns);     /* NAN when absent */
void nt_set_ms(json_t *object, const char *key, double ms, double unit_ns); /* nothing for NAN */
json_t *nt_samples_in(const nt_samples *samples, double unit_ns);
/* How many ns the word says: "ms", "milliseconds", "Microseconds"; NAN for an unknown word. */
double nt_unit_ns(const char *word);

#endif
