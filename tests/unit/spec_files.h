/* spec_files.h: a folder of files for tests of specs, and loading that must work. */
#ifndef NT_TEST_SPEC_FILES_H
#define NT_TEST_SPEC_FILES_H

#include "autotune/spec.h"
#include "scratch.h"

static inline const char *spec_file(const char *name)
{
    static char path[4][256];
    static int next;
    char *out = path[next++ % 4];
    snprintf(out, 256, "%s/%s", scratch_folder, name);
    return out;
}

static inline void spec_write(const char *name, const char *text)
{
    assert_int_equal(nt_write_file(spec_file(name), text, strlen(text), NULL), NT_OK);
}

static inline const nt_spec *spec_load(const char *path)
{
    const nt_spec *spec = NULL;
    nt_error err = {0};
    if (nt_spec_load(path, &spec, &err) != NT_OK)
        fail_msg("%s", err.what);
    return spec;
}

static inline int spec_files_open(void **state)
{
    return scratch_open(state);
}

static inline int spec_files_close(void **state)
{
    nt_spec_forget_all();
    return scratch_close(state);
}

#endif
