#include "autotune/compile_message.h"

#include <string.h>
#include <sys/resource.h>

#include "autotune/compile_turn.h"
#include "core/clock.h"
#include "core/json.h"

/* ---- requests ---------------------------------------------------------------------------------------------------- */

json_t *nt_compile_request_json(const nt_compile_request *request)
{
    return json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:f}", "kind", (int)request->kind, "name", request->name,
                     "source", request->source, "options", request->options, "arch", request->arch, "compiler",
                     request->compiler, "features", request->features, "deadline_s", request->deadline_s);
}

nt_status nt_compile_request_parse(const json_t *message, nt_compile_request *out, nt_error *err)
{
    int kind = -1;
    json_error_t where;
    int failed =
        json_unpack_ex((json_t *)message, &where, 0, "{s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:F}", "kind", &kind, "name",
                       &out->name, "source", &out->source, "options", &out->options, "arch", &out->arch, "compiler",
                       &out->compiler, "features", &out->features, "deadline_s", &out->deadline_s);
    if (failed || kind < 0 || kind >= NT_DEVICE_KIND_COUNT)
        return nt_fail(err, NT_CORRUPT, "a compile request is damaged: %s",
                       failed ? where.text : "unknown device kind");
    out->kind = (nt_device_kind)kind;
    return NT_OK;
}

/* ---- results ----------------------------------------------------------------------------------------- */

json_t *nt_compile_result_json(const nt_pool_result *result)
{
    /* nt_json_text mends what a compiler printed, or a cut in the middle of a character, made invalid */
    return json_pack("{s:i, s:o, s:o, s:o}", "status", (int)result->status, "artefact",
                     nt_json_artefact(&result->artefact), "what", nt_json_text(result->error.what), "hint",
                     nt_json_text(result->error.hint));
}

nt_status nt_compile_result_parse(const json_t *message, nt_pool_result *out, nt_error *err)
{
    int status = -1;
    json_t *artefact;
    const char *what = nt_json_get_text(message, "what"), *hint = nt_json_get_text(message, "hint");
    json_error_t where;
    if (json_unpack_ex((json_t *)message, &where, 0, "{s:i, s:o}", "status", &status, "artefact", &artefact) != 0)
        return nt_fail(err, NT_CORRUPT, "the answer of a compile process is damaged: %s", where.text);
    if (status < 0 || status >= NT_STATUS_COUNT)
        return nt_fail(err, NT_CORRUPT, "the answer of a compile process has an unknown status %d", status);
    out->status = (nt_status)status;
    nt_fail(&out->error, out->status, "%s", what != NULL ? what : "");
    nt_hint(&out->error, "%s", hint != NULL ? hint : "");
    return nt_json_to_artefact(artefact, &out->artefact, err);
}

/* ---- the child -------------------------------------------------------------------------------------------------------- */

enum { MEMORY_LIMIT_GIB = 16 };

/* AddressSanitizer reserves terabytes as data: no limit under it, by whichever of the two ways a compiler says so. */
#ifndef __has_feature
#define __has_feature(name) 0
#endif
static void limit_memory(void)
{
#if !defined __SANITIZE_ADDRESS__ && !__has_feature(address_sanitizer)
    rlim_t bytes = (rlim_t)MEMORY_LIMIT_GIB << 30;
    struct rlimit limit = {.rlim_cur = bytes, .rlim_max = bytes};
    setrlimit(RLIMIT_DATA, &limit);
#endif
}

/* Another sweep may be compiling the same, or have done so since it was looked for: half the deadline is for waiting,
 * the rest for doing it after all. */
static nt_status compile_once(const nt_compile_request *request, nt_artefact *out, nt_error *err)
{
    char key[NT_KEY_BYTES];
    double begin_s = nt_now_s();
    nt_compile_key(request, key);
    nt_compile_turn turn = nt_compile_turn_take(key, request->deadline_s / 2);
    nt_compile_request rest = *request;
    rest.deadline_s -= nt_now_s() - begin_s;
    nt_status status = nt_compile_lookup(request, out, err);
    if (status == NT_NOT_FOUND)
        status = nt_compile(&rest, out, err);
    nt_compile_turn_give(&turn);
    return status;
}

static nt_status answer(nt_channel *channel, const json_t *message, nt_error *err)
{
    nt_compile_request request;
    nt_status status = nt_compile_request_parse(message, &request, err);
    if (status != NT_OK)
        return status;
    nt_pool_result result = {
        .artefact = {.registers = NT_UNKNOWN, .smem_static_bytes = NT_UNKNOWN, .spill_bytes = NT_UNKNOWN}};
    result.status = compile_once(&request, &result.artefact, &result.error);
    return nt_channel_send(channel, nt_compile_result_json(&result), err);
}

int nt_compile_child_main(const char *parent_pid)
{
    nt_error err = {0};
    nt_channel channel;
    nt_status status = nt_child_enter(parent_pid, true, &channel, &err);
    if (status != NT_OK)
        return nt_status_exit_code(status);
    limit_memory();
    while (status == NT_OK) {
        json_t *message = NULL;
        status = nt_channel_receive(&channel, -1, &message, &err);
        if (status == NT_OK)
            status = answer(&channel, message, &err);
        json_decref(message);
    }
    nt_channel_done(&channel);
    return status == NT_CLOSED ? 0 : 1;
}
