/* cc.h: the system's C compiler, which makes shared objects of the cpu device's kernels. */
#ifndef NT_CC_H
#define NT_CC_H

#include "device/compile_backend.h"

/* How to call it, from NNTUNE_CC, CC, or the first of cc, gcc, clang in PATH. */
typedef struct nt_cc {
    char path[NT_PATH_BYTES]; /* of the program */
    char words[512];          /* further words of a command such as "ccache gcc", each NUL-terminated */
    int word_count;
} nt_cc;

/* NT_NO_DEVICE with a hint what to install when there is none, or when NNTUNE_CC names none. */
nt_status nt_cc_find(nt_cc *out, nt_error *err);

#endif
