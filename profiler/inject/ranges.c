/* ranges.c: NVTX ranges of the program. NVTX calls InitializeInjectionNvtx2 before its first event and takes our
 * functions for pushing, popping, starting and ending ranges; marks, names of things and the rest stay unset and cost
 * nothing.
 *
 * Each thread keeps the list of its open ranges, so that a launch knows its range without any look at clocks. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define NVTX_NO_IMPL /* the types alone: this is the other end */
#include <nvtx3/nvToolsExt.h>

#include "profiler/inject/inject.h"
#include "profiler/inject/ring.h"
#include "profiler/inject/writer.h"

enum { TEXT_BYTES = 4096 };

/* What a registered string or a domain is to the program: a handle, which is ours to choose. */
typedef struct handle {
    char *text;
} handle;

static atomic_uint last_range;

void nt_ranges_start_over(void)
{
    atomic_store(&last_range, 0);
}

static const char *narrow(const wchar_t *wide, char *out)
{
    size_t used = 0;
    for (; wide != NULL && *wide != 0 && used + 5 < TEXT_BYTES; wide++) {
        uint32_t c = (uint32_t)*wide;
        if (c < 0x80) {
            out[used++] = (char)c;
        } else if (c < 0x800) {
            out[used++] = (char)(0xC0 | c >> 6);
            out[used++] = (char)(0x80 | (c & 0x3F));
        } else if (c < 0x10000) {
            out[used++] = (char)(0xE0 | c >> 12);
            out[used++] = (char)(0x80 | (c >> 6 & 0x3F));
            out[used++] = (char)(0x80 | (c & 0x3F));
        } else {
            out[used++] = '?';
        }
    }
    out[used] = '\0';
    return out;
}

static handle *make_handle(const char *text)
{
    handle *made = malloc(sizeof *made);
    if (made != NULL)
        made->text = strdup(text != NULL ? text : "");
    return made;
}

/* ---- opening and closing ------------------------------------------------------------------------------------------- */

static uint32_t parent_of(const nt_thread *thread)
{
    return thread->open_count > 0 ? thread->open[thread->open_count - 1].id : 0;
}

/* In a full list a free-standing range cannot stay: only whoever began it knows whether it still runs. */
static uint32_t open_range(const char *text, const void *domain, bool free_standing)
{
    nt_thread *thread = nt_inject_start() ? nt_thread_here() : NULL; /* a forked child begins anew */
    if (thread == NULL)
        return 0;
    nt_writer_lock();
    uint32_t name = nt_writer_name(text);
    nt_writer_unlock();
    uint32_t id = atomic_fetch_add(&last_range, 1) + 1;
    nt_ring_open(thread, &(nt_spool_open){
                             .range = id, .parent = parent_of(thread), .name = name, .free_standing = free_standing});
    if (thread->open_count < NT_RING_OPEN_RANGES)
        thread->open[thread->open_count++] =
            (nt_open_range){.id = id, .free_standing = free_standing, .domain = domain};
    else if (!free_standing)
        thread->open_beyond++;
    return id;
}

static void take_out(nt_thread *thread, int index)
{
    if (thread->open[index].id != 0)
        nt_ring_close(thread, thread->open[index].id);
    thread->open_count--;
    memmove(&thread->open[index], &thread->open[index + 1],
            (size_t)(thread->open_count - index) * sizeof thread->open[0]);
}

static int pop_range(const void *domain)
{
    nt_thread *thread = nt_thread_here();
    if (thread == NULL)
        return NVTX_NO_PUSH_POP_TRACKING;
    if (thread->open_beyond > 0)
        return NT_RING_OPEN_RANGES + --thread->open_beyond;
    int level = -1;
    for (int i = 0; i < thread->open_count; i++)
        level += !thread->open[i].free_standing && thread->open[i].domain == domain;
    for (int i = thread->open_count - 1; i >= 0; i--)
        if (!thread->open[i].free_standing && thread->open[i].domain == domain) {
            take_out(thread, i);
            return level;
        }
    return -1; /* popped more often than pushed */
}

static int push_range(const char *text, const void *domain)
{
    const nt_thread *thread = nt_thread_here();
    int level = 0;
    for (int i = 0; thread != NULL && i < thread->open_count; i++)
        level += !thread->open[i].free_standing && thread->open[i].domain == domain;
    open_range(text, domain, false);
    return level;
}

/* A range may end on another thread: then it leaves the list of the one that began it when that is next full or never,
 * and the reader goes by its end. */
static void end_range(nvtxRangeId_t id)
{
    nt_thread *thread = nt_thread_here();
    if (thread == NULL || id == 0)
        return;
    for (int i = thread->open_count - 1; i >= 0; i--)
        if (thread->open[i].id == (uint32_t)id && thread->open[i].free_standing) {
            take_out(thread, i);
            return;
        }
    nt_ring_close(thread, (uint32_t)id);
}

static const char *message_of(const nvtxEventAttributes_t *event, char *buffer)
{
    if (event == NULL)
        return "";
    if (event->messageType == NVTX_MESSAGE_TYPE_ASCII)
        return event->message.ascii;
    if (event->messageType == NVTX_MESSAGE_TYPE_UNICODE)
        return narrow(event->message.unicode, buffer);
    if (event->messageType == NVTX_MESSAGE_TYPE_REGISTERED && event->message.registered != NULL)
        return ((const handle *)(const void *)event->message.registered)->text;
    return "";
}

/* ---- what NVTX calls ------------------------------------------------------------------------------------------------ */

static int push_a(const char *text)
{
    return push_range(text, NULL);
}

static int push_w(const wchar_t *text)
{
    char buffer[TEXT_BYTES];
    return push_range(narrow(text, buffer), NULL);
}

static int push_ex(const nvtxEventAttributes_t *event)
{
    char buffer[TEXT_BYTES];
    return push_range(message_of(event, buffer), NULL);
}

static int pop(void)
{
    return pop_range(NULL);
}

static nvtxRangeId_t start_a(const char *text)
{
    return open_range(text, NULL, true);
}

static nvtxRangeId_t start_w(const wchar_t *text)
{
    char buffer[TEXT_BYTES];
    return open_range(narrow(text, buffer), NULL, true);
}

static nvtxRangeId_t start_ex(const nvtxEventAttributes_t *event)
{
    char buffer[TEXT_BYTES];
    return open_range(message_of(event, buffer), NULL, true);
}

static int domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event)
{
    char buffer[TEXT_BYTES];
    return push_range(message_of(event, buffer), domain);
}

static int domain_pop(nvtxDomainHandle_t domain)
{
    return pop_range(domain);
}

static nvtxRangeId_t domain_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event)
{
    char buffer[TEXT_BYTES];
    return open_range(message_of(event, buffer), domain, true);
}

static void domain_end(nvtxDomainHandle_t domain, nvtxRangeId_t id)
{
    (void)domain;
    end_range(id);
}

static nvtxStringHandle_t register_a(nvtxDomainHandle_t domain, const char *text)
{
    (void)domain;
    return (nvtxStringHandle_t)(void *)make_handle(text);
}

static nvtxStringHandle_t register_w(nvtxDomainHandle_t domain, const wchar_t *text)
{
    char buffer[TEXT_BYTES];
    (void)domain;
    return (nvtxStringHandle_t)(void *)make_handle(narrow(text, buffer));
}

static nvtxDomainHandle_t create_a(const char *name)
{
    return (nvtxDomainHandle_t)(void *)make_handle(name);
}

static nvtxDomainHandle_t create_w(const wchar_t *name)
{
    char buffer[TEXT_BYTES];
    return (nvtxDomainHandle_t)(void *)make_handle(narrow(name, buffer));
}

/* ---- attaching -------------------------------------------------------------------------------------------------------- */

typedef struct entry {
    NvtxCallbackModule module;
    unsigned id;
    NvtxFunctionPointer function;
} entry;

#define CORE(id, function)                                                      \
    {                                                                           \
        NVTX_CB_MODULE_CORE, NVTX_CBID_CORE_##id, (NvtxFunctionPointer)function \
    }
#define CORE2(id, function)                                                       \
    {                                                                             \
        NVTX_CB_MODULE_CORE2, NVTX_CBID_CORE2_##id, (NvtxFunctionPointer)function \
    }

static const entry entries[] = {
    CORE(RangePushA, push_a),
    CORE(RangePushW, push_w),
    CORE(RangePushEx, push_ex),
    CORE(RangePop, pop),
    CORE(RangeStartA, start_a),
    CORE(RangeStartW, start_w),
    CORE(RangeStartEx, start_ex),
    CORE(RangeEnd, end_range),
    CORE2(DomainRangePushEx, domain_push),
    CORE2(DomainRangePop, domain_pop),
    CORE2(DomainRangeStartEx, domain_start),
    CORE2(DomainRangeEnd, domain_end),
    CORE2(DomainRegisterStringA, register_a),
    CORE2(DomainRegisterStringW, register_w),
    CORE2(DomainCreateA, create_a),
    CORE2(DomainCreateW, create_w),
};

/* Called once by each shared object that uses NVTX. 1: we are attached. */
NT_INJECT_EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t export_table);

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t export_table)
{
    const NvtxExportTableCallbacks *callbacks = export_table(NVTX_ETID_CALLBACKS);
    if (callbacks == NULL || callbacks->struct_size < sizeof *callbacks || !nt_inject_start())
        return 0;
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        NvtxFunctionTable table = NULL;
        unsigned size = 0;
        if (callbacks->GetModuleFunctionTable(entries[i].module, &table, &size) && entries[i].id < size &&
            table[entries[i].id] != NULL)
            *table[entries[i].id] = entries[i].function;
    }
    return 1;
}
