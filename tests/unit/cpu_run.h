/* cpu_run.h: for tests and benchmarks: compiles a cpu kernel's text with the system's compiler and runs its plan on the
 * calling thread, in as many parts as asked for, without the cpu device. So a kernel is tested by itself, at -O1 and
 * for other processors' instruction sets, and with changed texts. */
#ifndef CPU_RUN_H
#define CPU_RUN_H

#include "core/mem.h"
#include "kernels/kernel.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void (*cpu_entry)(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads);

/* NULL when it does not compile. `flags` such as "-O1 -march=native". The files are gone when this returns. */
static inline void *cpu_compile(const char *source, const char *options, const char *flags)
{
    char folder[] = "/tmp/nntune-test-XXXXXX", path[64], library[64];
    if (mkdtemp(folder) == NULL)
        return NULL;
    snprintf(path, sizeof path, "%s/kernel.c", folder);
    snprintf(library, sizeof library, "%s/kernel.so", folder);
    FILE *file = fopen(path, "w");
    void *handle = NULL;
    if (file != NULL && fputs(source, file) >= 0 && fclose(file) == 0) {
        nt_str command = {0};
        const char *cc = getenv("NNTUNE_CC");
        nt_str_addf(&command, "%s %s -std=gnu11 -ffp-contract=fast -fPIC -shared -w -Wno-psabi %s -o %s %s",
                    cc ? cc : "cc", flags, options, library, path);
        if (system(nt_str_text(&command)) == 0)
            handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
        nt_str_done(&command);
    }
    unlink(path);
    unlink(library);
    rmdir(folder);
    return handle;
}

static inline cpu_entry cpu_find(void *library, const char *name)
{
    cpu_entry entry = NULL;
    void *symbol = dlsym(library, name);
    memcpy(&entry, &symbol, sizeof entry);
    return entry;
}

/* Arguments of a stage as the entry wants them: argument i is a pointer to value[i]. */
typedef struct cpu_args {
    union {
        void *pointer;
        int64_t i64;
        int32_t i32;
        float f32;
    } value[NT_MAX_ARGS];
    void *arg[NT_MAX_ARGS];
} cpu_args;

static inline void cpu_bind(const nt_stage *stage, const nt_binding *binding, cpu_args *to)
{
    for (int i = 0; i < stage->arg_count; i++) {
        const nt_arg *arg = &stage->arg[i];
        if (arg->kind == NT_ARG_BUFFER)
            to->value[i].pointer = (char *)(uintptr_t)binding->address[arg->role] + arg->value;
        else if (arg->kind == NT_ARG_I64)
            to->value[i].i64 = arg->value;
        else if (arg->kind == NT_ARG_I32)
            to->value[i].i32 = (int32_t)arg->value;
        else
            to->value[i].f32 = arg->real;
        to->arg[i] = &to->value[i];
    }
}

static inline int64_t cpu_items(const nt_stage *stage)
{
    return (int64_t)stage->grid[0] * stage->grid[1] * stage->grid[2];
}

/* Part `thread` of `threads` of a stage. */
static inline void cpu_run_part(cpu_entry entry, const cpu_args *args, int64_t items, int thread, int threads)
{
    entry(args->arg, items * thread / threads, items * (thread + 1) / threads, thread, threads);
}

/* Preparation and stages, one part after the other. False when an entry is missing. */
static inline bool cpu_run_plan(void *library, const nt_plan *plan, const nt_binding *binding, int threads)
{
    for (int i = 0; i < plan->prepare_count + plan->stage_count; i++) {
        const nt_stage *stage = i < plan->prepare_count ? &plan->prepare[i] : &plan->stage[i - plan->prepare_count];
        cpu_entry entry = cpu_find(library, stage->entry);
        cpu_args args;
        if (entry == NULL)
            return false;
        cpu_bind(stage, binding, &args);
        for (int thread = 0; thread < threads; thread++)
            cpu_run_part(entry, &args, cpu_items(stage), thread, threads);
    }
    return true;
}

#endif
