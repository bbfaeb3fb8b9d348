#include "device/vendor_library.h"

#include <stdio.h>

void *nt_vendor_library_open(const nt_vendor_source *source, void *functions, nt_vendor_library *out)
{
    nt_str why = {0};
    void *library = source->of_toolkit
                        ? nt_library_find(source->override, source->names, source->name_count, &why)
                        : nt_library_open(source->override, source->names, source->name_count, &why);
    const char *absent =
        library != NULL ? nt_library_bind(library, functions, source->symbols, source->symbol_count) : NULL;
    *out = (nt_vendor_library){{0}, {0}};
    if (library == NULL)
        snprintf(out->missing, sizeof out->missing, "%.130s; %s", nt_str_text(&why), source->where);
    else if (absent != NULL)
        snprintf(out->missing, sizeof out->missing, "the library has no %s: it is no %s", absent, source->is);
    nt_str_done(&why);
    return absent == NULL ? library : NULL;
}
