/* show_code.c: the source of a trial's kernel, and what its compiler makes of it here. The database holds hashes, not
 * texts, so what has changed since the trial was measured is said as a warning. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/show.h"
#include "cli/warn.h"
#include "core/json.h"
#include "core/mem.h"
#include "device/compile_backend.h"
#include "device/nvrtc.h"

static const double deadline_s = 120;

typedef struct code {
    const nt_kernel *kernel;
    nt_device_kind kind;
    nt_config config;
    nt_str options;
    char *source;
    char arch[48];
    bool changed; /* the source is not the one that was measured */
} code;

/* ---- what was compiled ------------------------------------------------------------------------------------------------- */

static nt_status find_kernel(const nt_shown *shown, code *out, nt_error *err)
{
    const nt_trial *trial = &shown->trial;
    const char *kind = nt_json_get_text(shown->row, "device_kind");
    int found = kind != NULL ? nt_device_kind_find(kind) : -1;
    out->kernel = found >= 0 ? nt_kernel_find(trial->problem.layer, (nt_device_kind)found, trial->kernel) : NULL;
    if (out->kernel == NULL) {
        nt_fail(err, NT_NOT_FOUND, "this nntune has no kernel '%s' of %s for %s", trial->kernel, trial->problem.layer,
                kind != NULL ? kind : "an unknown device");
        nt_hint(err, "'nntune layers %s' lists those it has", trial->problem.layer);
        return NT_NOT_FOUND;
    }
    out->kind = (nt_device_kind)found;
    return NT_OK;
}

static nt_status read_config(const nt_shown *shown, code *out, nt_error *err)
{
    json_t *params = NULL;
    nt_error why = {0};
    nt_status status = nt_json_parse(shown->trial.params_json, &params, &why);
    if (status == NT_OK)
        status = nt_json_to_config(params, out->kernel->params, out->kernel->param_count, &out->config, &why);
    json_decref(params);
    return status == NT_OK ? NT_OK
                           : nt_fail(err, NT_NOT_FOUND, "kernel '%s' is not the one that was measured: %s",
                                     out->kernel->name, why.what);
}

static nt_status gather(const nt_shown *shown, code *out, nt_error *err)
{
    char hash[NT_KEY_BYTES];
    nt_status status = find_kernel(shown, out, err);
    if (status == NT_OK)
        status = read_config(shown, out, err);
    if (status != NT_OK)
        return status;
    nt_kernel_options(out->kernel, &shown->trial.problem, &out->config, &out->options);
    out->source = nt_kernel_source(out->kernel);
    nt_kernel_hash(out->kernel, NULL, hash);
    out->changed = out->kernel->vendor == NT_VENDOR_NONE && strcmp(hash, shown->trial.source_hash) != 0;
    const char *arch = nt_json_get_text(shown->row, "arch");
    bool specific = out->kernel->arch_specific && out->kind == NT_DEVICE_CUDA;
    snprintf(out->arch, sizeof out->arch, "%s%s", arch != NULL ? arch : "", specific ? "a" : "");
    return NT_OK;
}

static void release(code *c)
{
    nt_str_done(&c->options);
    free(c->source);
}

static void warn_source(const nt_args *args, const code *c)
{
    if (c->changed)
        nt_warn(args, "source-changed", "the source of kernel %s has changed since this trial was measured",
                c->kernel->name);
}

static void warn_compiler(const nt_args *args, const nt_shown *shown, const code *c)
{
    char here[sizeof(((nt_device_info *)0)->compiler)] = "";
    const char *then = nt_json_get_text(shown->row, "compiler");
    if (nt_compiler_identity(c->kind, here, sizeof here, NULL) == NT_OK && then != NULL && strcmp(here, then) != 0)
        nt_warn(args, "compiler-changed", "this trial was compiled by %s, this is made by %s", then, here);
}

/* ---- code in its forms ------------------------------------------------------------------------------------------------- */

/* The backend puts machine code after the PTX, under this line. */
static const char machine_code[] = "\n// ---- machine code (";

static nt_status keep_machine_code(char **text, nt_error *err)
{
    const char *begin = strstr(*text, machine_code);
    if (begin == NULL) {
        nt_fail(err, NT_NOT_FOUND, "no disassembler: neither nvdisasm nor cuobjdump is on PATH");
        return nt_hint(err, "both come with NVIDIA's CUDA toolkit; --ptx needs NVRTC alone");
    }
    char *machine = nt_strdup(begin + 1);
    free(*text);
    *text = machine;
    return NT_OK;
}

static nt_status compile(const nt_shown *shown, const code *c, nt_code form, char **out, nt_error *err)
{
    const nt_compile_request request = {.kind = c->kind,
                                        .name = c->kernel->name,
                                        .source = c->source,
                                        .options = nt_str_text(&c->options),
                                        .arch = c->arch,
                                        .compiler = nt_json_get_text(shown->row, "compiler"),
                                        .features = "",
                                        .deadline_s = deadline_s};
    if (form == NT_CODE_PTX)
        return nt_nvrtc_ptx(&request, out, err);
    const nt_compile_backend *backend = c->kind == NT_DEVICE_CUDA ? &nt_compile_nvrtc : &nt_compile_cc;
    nt_status status = backend->assembly(&request, out, err);
    return status == NT_OK && form == NT_CODE_SASS ? keep_machine_code(out, err) : status;
}

static nt_status check_form(const code *c, nt_code form, nt_error *err)
{
    if (c->kind == NT_DEVICE_FAKE && form != NT_CODE_SOURCE)
        return nt_fail(err, NT_USAGE, "the fake device compiles nothing, so there is no code to show");
    if (form == NT_CODE_SOURCE || form == NT_CODE_ASSEMBLY || c->kind == NT_DEVICE_CUDA)
        return NT_OK;
    nt_fail(err, NT_USAGE, "this trial ran on the %s device, which has no %s", nt_device_kind_name(c->kind),
            form == NT_CODE_PTX ? "PTX" : "SASS");
    return nt_hint(err, "--asm prints its assembly");
}

static void print_text(const nt_shown *shown, const code *c, nt_code form, const char *text)
{
    if (form == NT_CODE_SOURCE)
        printf("/* trial %lld: kernel %s of %s, compiled with\n   %s */\n", (long long)shown->trial.id, c->kernel->name,
               c->kernel->layer, nt_str_text(&c->options));
    fputs(text, stdout);
}

static void print_json(const nt_shown *shown, const code *c, nt_code form, const char *text)
{
    static const char *const names[] = {"source", "ptx", "sass", "asm"};
    json_t *document = nt_output_document("code");
    json_object_set_new(document, "trial", nt_json_int(shown->trial.id));
    json_object_set_new(document, "kernel", json_string(c->kernel->name));
    json_object_set_new(document, "options", json_string(nt_str_text(&c->options)));
    json_object_set_new(document, "arch", nt_json_text(c->arch));
    json_object_set_new(document, "source_changed", json_boolean(c->changed));
    json_object_set_new(document, names[form], nt_json_text(text));
    nt_output_json(document);
}

nt_status nt_show_code(const nt_args *args, const nt_shown *shown, nt_code form, nt_error *err)
{
    code c = {0};
    char *made = NULL;
    nt_status status = gather(shown, &c, err);
    if (status == NT_OK)
        status = check_form(&c, form, err);
    if (status == NT_OK)
        warn_source(args, &c);
    if (status == NT_OK && form != NT_CODE_SOURCE) {
        status = compile(shown, &c, form, &made, err);
        if (status == NT_OK)
            warn_compiler(args, shown, &c);
    }
    const char *text = made != NULL ? made : c.source;
    if (status == NT_OK && nt_args_flag(args, "json"))
        print_json(shown, &c, form, text);
    else if (status == NT_OK)
        print_text(shown, &c, form, text);
    free(made);
    release(&c);
    return status;
}
