/* nvrtc.c: compiling CUDA C++ text to a cubin or PTX. See nvrtc.h.
 *
 * A compile is a program object, options and a log; the log holds registers and spills (nvrtc_log.h), so that no
 * disassembler is needed. NVRTC's own cache is switched off: nntune has one, and two would hide what compiling costs.
 */
#include "device/nvrtc.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "device/name_table.h"
#include "device/nvrtc_api.h"
#include "device/nvrtc_log.h"

enum {
    MAX_OPTIONS = 128,
    MAX_NAMES = 16,
    RESULT_OK = 0,
    RESULT_INVALID_OPTION = 5,
    RESULT_COMPILATION = 6,
    ERROR_LINE_BYTES = 700
};

/* What is asked of one compile; options that this NVRTC may not know come last so that they can be dropped. */
typedef struct options {
    char *words; /* the request's options, cut at blanks in place */
    char arch[48];
    const char *list[MAX_OPTIONS];
    int count;
    const char *name[MAX_NAMES]; /* name expressions */
    int name_count;
} options;

static bool add_option(options *o, const char *text)
{
    if (o->count == MAX_OPTIONS - 1)
        return false;
    o->list[o->count++] = text;
    return true;
}

/* Takes the words that are name expressions out of the options. */
static bool add_word(options *o, const char *word)
{
    static const char name[] = "--name-expression=";
    if (strncmp(word, name, sizeof name - 1) != 0)
        return add_option(o, word);
    for (int i = 0; i < o->name_count; i++)
        if (strcmp(o->name[i], word + sizeof name - 1) == 0)
            return true;
    if (o->name_count == MAX_NAMES)
        return false;
    o->name[o->name_count++] = word + sizeof name - 1;
    return true;
}

static nt_status make_options(const nt_compile_request *request, bool ptx, options *o, nt_error *err)
{
    memset(o, 0, sizeof *o);
    o->words = nt_strdup(request->options != NULL ? request->options : "");
    const char *number = strchr(request->arch, '_');
    snprintf(o->arch, sizeof o->arch, "-arch=%s_%s", ptx ? "compute" : "sm", number != NULL ? number + 1 : "");
    add_option(o, o->arch);
    if (strstr(o->words, "-std=") == NULL)
        add_option(o, "-std=c++17");
    add_option(o, "-default-device");
    if (!ptx)
        add_option(o, "--ptxas-options=-v");
    char *rest = NULL;
    for (char *word = strtok_r(o->words, " \t\n", &rest); word != NULL; word = strtok_r(NULL, " \t\n", &rest))
        if (!add_word(o, word)) {
            free(o->words);
            nt_fail(err, NT_COMPILE_FAILED, "%s: more than %d compiler options or %d kernels", request->name,
                    MAX_OPTIONS - 6, MAX_NAMES);
            return NT_COMPILE_FAILED;
        }
    return NT_OK;
}

/* NVRTC says only "invalid value for --gpu-architecture"; people need to know which values are right. Not a failure of
 * the source, so it must not be remembered as one. */
static nt_status check_arch(const nt_compile_request *request, nt_error *err)
{
    int cc = 0;
    char rest = '\0';
    if (sscanf(request->arch, "sm_%d%c", &cc, &rest) < 1)
        return nt_fail(err, NT_USAGE, "architecture '%s' is not of the form sm_90 or sm_90a", request->arch);
    nt_nvrtc_about about;
    nt_status status = nt_nvrtc_describe(&about, err);
    if (status != NT_OK || nt_nvrtc_knows(&about, cc))
        return status;
    nt_str known = {0};
    for (int i = 0; i < about.arch_count; i++)
        nt_str_addf(&known, "%ssm_%d", i > 0 ? ", " : "", about.arch[i]);
    nt_fail(err, NT_NO_DEVICE, "NVRTC %d.%d cannot compile for %s; it knows %s", about.major, about.minor,
            request->arch, nt_str_text(&known));
    nt_hint(err, "install the NVRTC of a %s CUDA toolkit, or name its libnvrtc.so in NNTUNE_NVRTC",
            cc > about.arch[about.arch_count - 1] ? "newer" : "older");
    nt_str_done(&known);
    return NT_NO_DEVICE;
}

static char *program_log(const nt_nvrtc_api *api, nt_nvrtc_program program)
{
    size_t bytes = 0;
    if (api->log_size(program, &bytes) != RESULT_OK)
        bytes = 0;
    char *log = nt_alloc_zero(bytes + 1, 1);
    if (bytes > 0 && api->log(program, log) != RESULT_OK)
        log[0] = '\0';
    return log;
}

static int count_errors(const char *log)
{
    int count = 0;
    for (const char *at = log; (at = strstr(at, "): error: ")) != NULL; at++)
        count++;
    return count;
}

/* Of too much static shared memory NVRTC's log has no error, only the use. */
static void explain_shared(const char *log, char *out, size_t capacity)
{
    static const int64_t everywhere = INT64_C(48) * 1024; /* some compilers take more for some architectures */
    nt_nvrtc_usage usage = nt_nvrtc_log_usage(log);
    if (usage.smem_static_bytes <= everywhere)
        return;
    snprintf(out, capacity,
             "%lld bytes of static shared memory a block are too many; up to %lld are possible everywhere, more as "
             "dynamic shared memory",
             (long long)usage.smem_static_bytes, (long long)everywhere);
}

static bool of_the_source(int result)
{
    return result == RESULT_COMPILATION || result == RESULT_INVALID_OPTION;
}

static void compile_error(const nt_nvrtc_api *api, const nt_compile_request *request, int result, const char *log,
                          nt_error *err)
{
    char line[ERROR_LINE_BYTES];
    if (!nt_nvrtc_log_error(log, line, sizeof line))
        explain_shared(log, line, sizeof line);
    int more = count_errors(log) - 1;
    if (of_the_source(result) && more > 0)
        nt_fail(err, NT_COMPILE_FAILED, "%s (and %d more)", line, more);
    else if (of_the_source(result))
        nt_fail(err, NT_COMPILE_FAILED, "%s", line[0] != '\0' ? line : api->error_string(result));
    else {
        nt_fail(err, NT_FAILED, "NVRTC failed on %s for %s: %s%s%s", request->name, request->arch,
                api->error_string(result), line[0] != '\0' ? ": " : "", line);
        nt_hint(err, "check that libnvrtc-builtins lies beside libnvrtc, and that memory and /tmp are not full");
    }
}

/* Compiles, and compiles again without --no-cache where this NVRTC is too old to know it. Its refusal comes before any
 * work, so asking costs nothing. */
static int compile_program(const nt_nvrtc_api *api, nt_nvrtc_program program, options *o)
{
    static bool no_cache_unknown;
    int result = RESULT_INVALID_OPTION;
    if (!no_cache_unknown) {
        o->list[o->count] = "--no-cache";
        result = api->compile(program, o->count + 1, o->list);
    }
    if (result == RESULT_INVALID_OPTION) {
        result = api->compile(program, o->count, o->list);
        no_cache_unknown = no_cache_unknown || result != RESULT_INVALID_OPTION;
    }
    return result;
}

static nt_status name_kernels(const nt_nvrtc_api *api, nt_nvrtc_program program, const options *o, nt_error *err)
{
    for (int i = 0; i < o->name_count; i++)
        if (api->add_name == NULL || api->lowered_name == NULL || api->add_name(program, o->name[i]) != RESULT_OK)
            return nt_fail(err, NT_FAILED, "this NVRTC cannot name the kernel '%s'", o->name[i]);
    return NT_OK;
}

/* On success the program, its log and the options' words belong to the caller. */
static nt_status build(const nt_compile_request *request, bool ptx, const nt_nvrtc_api **api, nt_nvrtc_program *program,
                       options *made, char **log, nt_error *err)
{
    options o = {0};
    nt_status status = nt_nvrtc_api_get(api, NULL, err);
    if (status == NT_OK)
        status = check_arch(request, err);
    if (status == NT_OK)
        status = make_options(request, ptx, &o, err);
    if (status != NT_OK)
        return status;
    char file[NT_NAME_BYTES + 8];
    snprintf(file, sizeof file, "%s.cu", request->name);
    int result = (*api)->create(program, request->source, file, 0, NULL, NULL);
    if (result != RESULT_OK) {
        free(o.words);
        nt_fail(err, NT_FAILED, "NVRTC cannot start on %s: %s", request->name, (*api)->error_string(result));
        return NT_FAILED;
    }
    status = name_kernels(*api, *program, &o, err);
    if (status == NT_OK) {
        result = compile_program(*api, *program, &o);
        *log = program_log(*api, *program);
        *made = o;
        if (result == RESULT_OK)
            return NT_OK;
        compile_error(*api, request, result, *log, err);
        status = of_the_source(result) ? NT_COMPILE_FAILED : NT_FAILED;
        free(*log);
    }
    free(o.words);
    (*api)->destroy(program);
    return status;
}

static nt_status append_names(const nt_nvrtc_api *api, nt_nvrtc_program program, const options *o, nt_compiled *out,
                              nt_error *err)
{
    const char *symbol[MAX_NAMES];
    for (int i = 0; i < o->name_count; i++)
        if (api->lowered_name(program, o->name[i], &symbol[i]) != RESULT_OK)
            return nt_fail(err, NT_COMPILE_FAILED, "'%s' names no kernel of the source", o->name[i]);
    if (o->name_count > 0)
        nt_name_table_append(&out->code, &out->bytes, o->name, symbol, o->name_count);
    return NT_OK;
}

static nt_status compile(const nt_compile_request *request, nt_compiled *out, nt_error *err)
{
    const nt_nvrtc_api *api = NULL;
    nt_nvrtc_program program = NULL;
    options o;
    char *log = NULL;
    memset(out, 0, sizeof *out);
    nt_status status = build(request, false, &api, &program, &o, &log, err);
    if (status != NT_OK)
        return status;
    nt_nvrtc_usage usage = nt_nvrtc_log_usage(log);
    int result = api->cubin_size(program, &out->bytes);
    out->code = nt_alloc(out->bytes + 1);
    if (result == RESULT_OK)
        result = api->cubin(program, (char *)out->code);
    if (result != RESULT_OK || out->bytes == 0) {
        status = nt_fail(err, NT_FAILED, "NVRTC gave no cubin of %s: %s", request->name, api->error_string(result));
        free(out->code);
        memset(out, 0, sizeof *out);
    } else {
        out->registers = usage.registers;
        out->smem_static_bytes = usage.smem_static_bytes;
        out->spill_bytes = usage.spill_bytes;
        status = append_names(api, program, &o, out, err);
        if (status != NT_OK)
            nt_compiled_done(out);
    }
    free(log);
    free(o.words);
    api->destroy(&program);
    return status;
}

nt_status nt_nvrtc_ptx(const nt_compile_request *request, char **out, nt_error *err)
{
    const nt_nvrtc_api *api = NULL;
    nt_nvrtc_program program = NULL;
    options o;
    char *log = NULL;
    size_t bytes = 0;
    *out = NULL;
    nt_status status = build(request, true, &api, &program, &o, &log, err);
    if (status != NT_OK)
        return status;
    int result = api->ptx_size(program, &bytes);
    char *text = nt_alloc_zero(bytes + 1, 1);
    if (result == RESULT_OK)
        result = api->ptx(program, text);
    if (result == RESULT_OK)
        *out = text;
    else {
        status = nt_fail(err, NT_FAILED, "NVRTC gave no PTX of %s: %s", request->name, api->error_string(result));
        free(text);
    }
    free(log);
    free(o.words);
    api->destroy(&program);
    return status;
}

static nt_status identity(char *out, size_t capacity, nt_error *err)
{
    nt_nvrtc_about about;
    nt_status status = nt_nvrtc_describe(&about, err);
    if (status == NT_OK)
        snprintf(out, capacity, "NVRTC %d.%d", about.major, about.minor);
    return status;
}

const nt_compile_backend nt_compile_nvrtc = {
    .kind = NT_DEVICE_CUDA,
    .suffix = ".cubin",
    .flags = "-std=c++17 -default-device",
    .identity = identity,
    .compile = compile,
    .assembly = nt_nvrtc_assembly,
};
