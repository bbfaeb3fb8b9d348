/* doctor.h: what `nntune doctor` found: one row a check. Sections add rows; cmd_doctor.c prints them. */
#ifndef NT_DOCTOR_H
#define NT_DOCTOR_H

#include <stdbool.h>

#include "core/record.h"
#include "profiler/host_facts.h"

/* OK as wanted; NOTE worth knowing; BAD something does not work; NONE is not there, and need not be. */
typedef enum nt_finding { NT_FOUND_OK, NT_FOUND_NOTE, NT_FOUND_BAD, NT_FOUND_NONE, NT_FINDING_COUNT } nt_finding;

const char *nt_finding_name(nt_finding finding); /* ok, note, bad, none */

typedef struct nt_check {
    char section[16];
    const char *name;
    nt_finding finding;
    char value[1024];
    char next[512]; /* what to do; empty when nothing */
} nt_check;

typedef struct nt_doctor {
    nt_check *check;
    size_t count, capacity;
    char section[16]; /* of the rows being added */
    nt_host_facts host;
    bool counters_work;
    char reason[768]; /* why counters do not work */
} nt_doctor;

void nt_doctor_section(nt_doctor *doctor, const char *name);
nt_check *nt_doctor_add(nt_doctor *doctor, const char *name, nt_finding finding, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void nt_doctor_add_error(nt_doctor *doctor, const char *name, nt_finding finding, const nt_error *err);
/* What to do about the row just added. */
void nt_doctor_next(nt_doctor *doctor, const char *format, ...) __attribute__((format(printf, 2, 3)));
void nt_doctor_done(nt_doctor *doctor);

/* doctor_system.c: the system, tools and places; doctor_gpu.c: driver, libraries, GPUs, counters (sets counters_work).
 */
void nt_doctor_system(nt_doctor *doctor);
void nt_doctor_tools(nt_doctor *doctor);
void nt_doctor_gpu(nt_doctor *doctor);

#endif
