/* compiler.h: turning source and macros into a compiled artefact in the content-addressed cache.
 *
 * Runs in a compile child (a process of its own), never in the coordinator: one crash, hang or memory hog of a
 * compiler costs that compile alone. Keys are the hash of source, options, compiler identity and architecture. */
#ifndef NT_COMPILER_H
#define NT_COMPILER_H

#include "core/record.h"

typedef struct nt_compile_request {
    nt_device_kind kind;
    const char *name;        /* kernel name, for messages and file names */
    const char *source;      /* the whole text, prelude and kernel */
    const char *options;     /* space-separated -DNAME=value, in table order */
    const char *arch;        /* sm_90a, or the cpu's x86-64-... */
    const char *compiler;    /* identity: nt_device_info.compiler */
    const char *features;    /* cpu flags */
    double deadline_s;       /* wall time allowed for the compile */
} nt_compile_request;

/* Identity of the compiler of this kind ("NVRTC 13.0", "gcc 12.2.0"). NT_NO_DEVICE with a hint when there is none. */
nt_status nt_compiler_identity(nt_device_kind kind, char *out, size_t capacity, nt_error *err);

/* The cache key of a request: 32 hex digits of XXH3-128. Pure. */
void nt_compile_key(const nt_compile_request *request, char key[NT_KEY_BYTES]);

/* Looks in the cache only. NT_OK: artefact filled. NT_NOT_FOUND: not there, or damaged (then removed).
 * NT_COMPILE_FAILED: this key is remembered as failing; err holds the compiler's first error again. */
nt_status nt_compile_lookup(const nt_compile_request *request, nt_artefact *out, nt_error *err);

/* Compiles (without looking first), stores and fills the artefact. A failure is stored as well. */
nt_status nt_compile(const nt_compile_request *request, nt_artefact *out, nt_error *err);

#endif
