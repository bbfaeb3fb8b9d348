#include "cli/about.h"

#include <stddef.h>

const nt_exit_code nt_exit_codes[] = {
    {"0", "done"},
    {"1", "failed; the message says what and what to do"},
    {"2", "usage: unknown command, option or value, or no legal configuration"},
    {"3", "no usable device, or no permission"},
    {"4", "wrong result"},
    {"5", "regression, or a stale entry"},
    {"128+N", "ended by signal N; everything measured is kept"},
    {NULL, NULL},
};

const nt_variable nt_variables[] = {
    {"XDG_DATA_HOME", "folder of the default database (default ~/.local/share)"},
    {"XDG_CACHE_HOME", "folder of the compile cache (default ~/.cache)"},
    {"NNTUNE_CACHE_DIR", "the compile cache itself, instead of $XDG_CACHE_HOME/nntune"},
    {"NNTUNE_CACHE_BYTES", "its size cap, such as 500M or 8G (default 4G)"},
    {"NNTUNE_CC", "C compiler for kernels of the cpu device (default: CC, then cc, gcc, clang)"},
    {"NNTUNE_COMPILE_BYTES", "memory that one C compile may use"},
    {"NNTUNE_CPU_THREADS", "most threads the cpu device uses"},
    {"NNTUNE_NVRTC", "path of NVIDIA's runtime compiler, libnvrtc.so"},
    {"NNTUNE_NVML", "path of NVIDIA's management library, libnvidia-ml.so.1"},
    {"NNTUNE_LOCK_DIR", "folder of the locks that keep sweeps off each other's device (default /tmp/nntune-locks)"},
    {"CUDA_VISIBLE_DEVICES", "which GPUs there are, as for any CUDA program"},
    {"NO_COLOR", "no bold or coloured text"},
    {NULL, NULL},
};

const nt_variable nt_files[] = {
    {"$XDG_DATA_HOME/nntune/nntune.db", "results: one SQLite database; --db names another"},
    {"$XDG_CACHE_HOME/nntune", "compiled kernels and the measured peaks of the cpu; may be removed at any time"},
    {NULL, NULL},
};
