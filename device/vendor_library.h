/* vendor_library.h: opening a vendor's library as one of our rivals: which file, what it must have, and what to tell people
 * where it is not there. */
#ifndef NT_VENDOR_LIBRARY_H
#define NT_VENDOR_LIBRARY_H

#include "core/record.h"
#include "device/cuda_library.h"

typedef struct nt_vendor_source {
    const char *override; /* environment variable that names the file */
    const char *names[2];
    int name_count;
    bool of_toolkit;   /* looked for in the folders of CUDA toolkits and Python packages too */
    const char *where; /* who has it: "Debian has it in libdnnl2" */
    const char *is;    /* "oneDNN of version 2" */
    const nt_symbol *symbols;
    int symbol_count;
} nt_vendor_source;

/* The library's handle, with `functions` filled; NULL, with the reason in out->missing. Its version is the caller's to ask
 * for and to judge. */
void *nt_vendor_library_open(const nt_vendor_source *source, void *functions, nt_vendor_library *out);

#endif
