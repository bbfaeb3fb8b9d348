/* cuda_emulated.h: compiling a CUDA kernel's text behind cuda_emulation.h and launching a plan's stage on the host,
 * over buffers that end at an unmapped page. For test programs; include it after cmocka.h. */
#ifndef CUDA_EMULATED_H
#define CUDA_EMULATED_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/plan.h"
#include "core/str.h"

typedef int launch_fn(void *const *arguments, const unsigned grid[3], const unsigned block[3], unsigned shared_bytes,
                      int descending);

typedef struct guarded {
    void *map, *data;
    size_t mapped;
} guarded;

static guarded guarded_new(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (bytes + page - 1) / page * page;
    guarded g = {.mapped = pages + 2 * page};
    g.map = mmap(NULL, g.mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(g.map != MAP_FAILED);
    assert_int_equal(mprotect((char *)g.map + page, pages, PROT_READ | PROT_WRITE), 0);
    g.data = (char *)g.map + page + (pages - bytes);
    memset(g.data, 0xff, bytes);
    return g;
}

static void guarded_done(guarded *g)
{
    munmap(g->map, g->mapped);
}

/* Stages are known by their place among those it was compiled for. */
typedef struct program {
    void *handle;
    launch_fn *launch;
    int *entry;
} program;

static void print_call(FILE *file, int number, const nt_stage *stage)
{
    fprintf(file, "case %d: %s(", number, stage->entry);
    for (int i = 0; i < stage->arg_count; i++) {
        const char *type = stage->arg[i].kind == NT_ARG_BUFFER ? "void *"
                           : stage->arg[i].kind == NT_ARG_I64  ? "long long"
                           : stage->arg[i].kind == NT_ARG_F32  ? "float"
                                                               : "int";
        fprintf(file, "%s*(%s *)a[%d]", i > 0 ? ", " : "", type, i);
    }
    fprintf(file, "); break;\n");
}

static program compile_stages(const char *source, const char *options, const nt_stage *const *stages, int count)
{
    char folder[] = "/tmp/nntune-emulation-XXXXXX", c_file[64], object[64];
    assert_non_null(mkdtemp(folder));
    snprintf(c_file, sizeof c_file, "%s/kernel.c", folder);
    snprintf(object, sizeof object, "%s/kernel.so", folder);
    FILE *file = fopen(c_file, "w");
    assert_non_null(file);
    fprintf(file, "#include \"tests/unit/cuda_emulation.h\"\n%s", source);
    fprintf(file, "\nstatic void emu_call(void *const *a) { switch (emu_entry) {\n");
    for (int i = 0; i < count; i++)
        print_call(file, i, stages[i]);
    fprintf(file, "} }\n");
    fclose(file);
    nt_str command = {0};
    const char *cc = getenv("CC");
    nt_str_addf(&command,
                "%s -std=gnu11 -w -O1 -fPIC -shared -fsanitize=undefined -fsanitize-undefined-trap-on-error "
                "-I. %s -o %s %s -lm",
                cc != NULL ? cc : "cc", options, object, c_file);
    if (system(command.data) != 0)
        fail_msg("does not compile: %s", command.data);
    program p = {.handle = dlopen(object, RTLD_NOW | RTLD_LOCAL)};
    if (p.handle == NULL)
        fail_msg("%s", dlerror());
    *(void **)&p.launch = dlsym(p.handle, "emu_launch");
    assert_non_null(p.launch);
    p.entry = dlsym(p.handle, "emu_entry");
    assert_non_null(p.entry);
    unlink(c_file);
    unlink(object);
    rmdir(folder);
    nt_str_done(&command);
    return p;
}

static inline program compile(const char *source, const char *options, const nt_stage *stage)
{
    return compile_stages(source, options, &stage, 1);
}

static inline void launch(const program *p, const nt_stage *stage, void *const role[NT_ROLE_COUNT], int descending)
{
    union {
        void *pointer;
        int i32;
        long long i64;
        float f32;
    } value[NT_MAX_ARGS];
    void *argument[NT_MAX_ARGS];
    for (int i = 0; i < stage->arg_count; i++) {
        const nt_arg *arg = &stage->arg[i];
        argument[i] = &value[i];
        if (arg->kind == NT_ARG_BUFFER)
            value[i].pointer = role[arg->role] != NULL ? (char *)role[arg->role] + arg->value : NULL;
        else if (arg->kind == NT_ARG_I64)
            value[i].i64 = arg->value;
        else if (arg->kind == NT_ARG_F32)
            value[i].f32 = arg->real;
        else
            value[i].i32 = (int)arg->value;
    }
    assert_int_equal(p->launch(argument, stage->grid, stage->block, stage->smem_dynamic_bytes, descending), 0);
}

#endif
