/* compiler.c: cache and compilers put together. A request becomes a key; the key names a cache entry; what is not
 * there is made by the backend of the request's kind, timed, stored and read back. */
#include "device/compiler.h"

#include "core/clock.h"
#include "core/hash.h"
#include "device/cache.h"
#include "device/compile_backend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const nt_compile_backend *const backend_of_kind[NT_DEVICE_KIND_COUNT] = {
    [NT_DEVICE_CPU] = &nt_compile_cc,
    [NT_DEVICE_CUDA] = &nt_compile_nvrtc,
    [NT_DEVICE_FAKE] = &nt_compile_fake,
};

void nt_compiled_done(nt_compiled *compiled)
{
    free(compiled->code);
    compiled->code = NULL;
    compiled->bytes = 0;
}

nt_status nt_compiler_identity(nt_device_kind kind, char *out, size_t capacity, nt_error *err)
{
    return backend_of_kind[kind]->identity(out, capacity, err);
}

static const char *text_of(const char *text)
{
    return text != NULL ? text : "";
}

void nt_compile_key(const nt_compile_request *request, char key[NT_KEY_BYTES])
{
    const char *const texts[] = {
        nt_device_kind_name(request->kind), text_of(backend_of_kind[request->kind]->flags),
        text_of(request->compiler),         text_of(request->arch),
        text_of(request->features),         text_of(request->options),
        text_of(request->source),
    };
    nt_hash_texts(texts, sizeof texts / sizeof texts[0], key);
}

static void artefact_of(const char *key, const nt_cache_entry *entry, bool cached, nt_artefact *out)
{
    nt_copy(out->key, sizeof out->key, key);
    nt_copy(out->path, sizeof out->path, entry->path);
    out->registers = entry->registers;
    out->smem_static_bytes = entry->smem_static_bytes;
    out->spill_bytes = entry->spill_bytes;
    out->compile_ms = entry->compile_ms;
    out->cached = cached;
}

nt_status nt_compile_lookup(const nt_compile_request *request, nt_artefact *out, nt_error *err)
{
    nt_cache_entry entry;
    char key[NT_KEY_BYTES];
    nt_compile_key(request, key);
    nt_status status = nt_cache_get(key, &entry, err);
    if (status != NT_OK && status != NT_COMPILE_FAILED)
        return status;
    /* A remembered failure has a key and a compile time too, and no path. */
    artefact_of(key, &entry, true, out);
    return status;
}

static void entry_of(const nt_compiled *compiled, double compile_ms, nt_cache_entry *out)
{
    memset(out, 0, sizeof *out);
    out->registers = compiled->registers;
    out->smem_static_bytes = compiled->smem_static_bytes;
    out->spill_bytes = compiled->spill_bytes;
    out->compile_ms = compile_ms;
}

/* Stores what the compiler said, where it would say so again. The compiler's verdict is worth more than a cache that
 * cannot remember it. */
static nt_status store_failure(const char *key, bool forget, const nt_error *said, double compile_ms, nt_artefact *out)
{
    static const nt_compiled nothing = {NULL, 0, NT_UNKNOWN, NT_UNKNOWN, NT_UNKNOWN, false};
    nt_cache_entry entry;
    entry_of(&nothing, compile_ms, &entry);
    nt_copy(entry.error, sizeof entry.error, said->what);
    if (!forget)
        nt_cache_put_failure(key, &entry, NULL);
    artefact_of(key, &entry, false, out);
    return NT_COMPILE_FAILED;
}

nt_status nt_compile(const nt_compile_request *request, nt_artefact *out, nt_error *err)
{
    const nt_compile_backend *backend = backend_of_kind[request->kind];
    nt_compiled compiled = {NULL, 0, NT_UNKNOWN, NT_UNKNOWN, NT_UNKNOWN, false};
    nt_error said = {0};
    char key[NT_KEY_BYTES];
    nt_compile_key(request, key);

    double begin_ms = nt_now_ms();
    nt_status status = backend->compile(request, &compiled, &said);
    double compile_ms = nt_now_ms() - begin_ms;
    if (status != NT_OK) {
        if (err != NULL)
            *err = said;
        return status == NT_COMPILE_FAILED ? store_failure(key, compiled.forget, &said, compile_ms, out) : status;
    }
    nt_cache_entry entry;
    entry_of(&compiled, compile_ms, &entry);
    status = nt_cache_put(key, &entry, backend->suffix, compiled.code, compiled.bytes, err);
    nt_compiled_done(&compiled);
    if (status == NT_OK)
        artefact_of(key, &entry, false, out);
    return status;
}
