/* workload_arguments.h: the data of a user's kernel: its named buffers in place of in, weight and out, with what they
 * must hold after a launch by the spec's reference. Shared by the workload*.c files and nobody else. */
#ifndef NT_WORKLOAD_ARGUMENTS_H
#define NT_WORKLOAD_ARGUMENTS_H

#include "autotune/spec.h"
#include "autotune/workload.h"

/* Contents of the buffers by one seed. */
typedef struct nt_argument_set {
    nt_guarded buffer[NT_USER_BUFFERS];
    nt_mem before[NT_USER_BUFFERS];   /* of buffers that are read and written: what they hold before a launch */
    nt_mem expected[NT_USER_BUFFERS]; /* of written ones, as a comparison wants it */
} nt_argument_set;

struct nt_arguments {
    const nt_spec *spec;
    int count;
    int argument[NT_USER_BUFFERS]; /* of buffer i: its place among the spec's arguments */
    int64_t elements[NT_USER_BUFFERS];
    nt_argument_set set[NT_CHECK_SETS], fresh;
    bool has_fresh;
    size_t restored;      /* the ring's position when its slots were last as set 0 has them */
    nt_module *reference; /* on the device; NULL where the reference is a C function or files */
    void *library;        /* of a C function */
    nt_plan reference_plan;
};

/* Fills sets 0 and 1 with references, or set 0 alone without. */
nt_status nt__arguments_open(nt_workload *w, const nt_spec *spec, bool references, uint64_t seed, nt_error *err);
void nt__arguments_close(nt_workload *w);
/* Addresses of one slot of the ring, which is filled from set 0. */
nt_status nt__arguments_fill_slot(nt_workload *w, nt_mem at, nt_binding *binding, nt_error *err);
/* Whether launches change what later ones read, and what puts it right: the restore function of an nt_target. */
bool nt__arguments_drift(const nt_workload *w);
nt_status nt__arguments_restore_ring(void *context, nt_error *err); /* a workload */
/* On both sets, or on the fresh one, made from this seed where it is missing. */
nt_status nt__arguments_verify(nt_workload *w, nt_module *module, const nt_plan *plan, nt_verdict *out, nt_error *err);
nt_status nt__arguments_verify_fresh(nt_workload *w, uint64_t seed, nt_module *module, const nt_plan *plan,
                                     nt_verdict *out, nt_error *err);
void nt__arguments_drop_fresh(nt_workload *w);

/* ---- shared by the workload_*.c ---- */
const nt_spec_argument *nt__argument(const nt_arguments *a, int buffer);
size_t nt__argument_bytes(const nt_arguments *a, int buffer);
nt_binding nt__arguments_bind(const nt_workload *w, const nt_argument_set *set);
nt_status nt__arguments_restore(nt_workload *w, const nt_argument_set *set, nt_error *err);
/* Compiles and loads the reference; makes a set's expected contents from the host's copies, which it may change. */
nt_status nt__arguments_load_reference(nt_workload *w, nt_error *err);
nt_status nt__arguments_refer(nt_workload *w, nt_argument_set *set, char *const *host, nt_error *err);
void nt__arguments_drop_reference(nt_workload *w);

#endif
