/* cuda_library.h: opening NVIDIA's libraries at run time and filling tables of their functions.
 *
 * Nothing of NVIDIA's is linked: one binary starts on machines with and without a driver, and each library that is
 * absent becomes a sentence for people. */
#ifndef NT_CUDA_LIBRARY_H
#define NT_CUDA_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/record.h"
#include "core/str.h"

/* One function wanted from a library: its name there and where its address goes within the caller's table. */
typedef struct nt_symbol {
    const char *name;
    size_t offset;
    bool optional; /* absent in older versions; its slot stays NULL */
} nt_symbol;

/* Opens the file named by the environment variable `override` (and nothing else when it is set), else the first of
 * `names` that the loader finds. NULL when none opens; `why` then says what was tried. */
void *nt_library_open(const char *override, const char *const *names, int count, nt_str *why);

/* The same, and where the loader finds none: in the folders of CUDA toolkits, then of Python packages, newest version
 * first. For libraries that come with a toolkit, not with the driver. */
void *nt_library_find(const char *override, const char *const *names, int count, nt_str *why);

/* The file that `symbol` of a library came from; `otherwise` where the loader does not say. */
void nt_library_path(void *library, const char *symbol, const char *otherwise, char out[NT_PATH_BYTES]);

/* Fills `table`. Returns NULL when every function that is not optional was found, else the name of the first absent. */
const char *nt_library_bind(void *library, void *table, const nt_symbol *symbols, int count);

#endif
