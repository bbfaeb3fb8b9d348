#include "tests/gpu/records.h"

#ifdef NT_HAVE_CUPTI_H

#include <cupti.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/mem.h"
#include "core/record.h"
#include "device/cuda_library.h"

enum { BUFFER_BYTES = 4 << 20 };

static struct {
    __typeof__(cuptiActivityRegisterCallbacks) *register_callbacks;
    __typeof__(cuptiActivityEnable) *enable;
    __typeof__(cuptiActivityFlushAll) *flush;
    __typeof__(cuptiActivityGetNextRecord) *next;
} cupti;

typedef struct kept {
    char name[NT_NAME_BYTES];
    double ns;
} kept;

static struct {
    kept *list;
    size_t count, capacity;
    pthread_mutex_t lock; /* buffers come in on a thread of CUPTI's */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *bytes, size_t *most)
{
    *bytes = BUFFER_BYTES;
    *buffer = aligned_alloc(8, BUFFER_BYTES);
    *most = 0;
}

static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
    (void)context;
    (void)stream;
    (void)bytes;
    pthread_mutex_lock(&all.lock);
    for (CUpti_Activity *record = NULL; cupti.next(buffer, valid, &record) == CUPTI_SUCCESS;) {
        /* Name and times stand at one place in every version of the record. */
        const CUpti_ActivityKernel10 *kernel = (const CUpti_ActivityKernel10 *)record;
        if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || kernel->end <= kernel->start)
            continue;
        void *list = all.list;
        nt_grow(&list, &all.capacity, all.count + 1, sizeof *all.list);
        all.list = list;
        nt_copy(all.list[all.count].name, NT_NAME_BYTES, kernel->name != NULL ? kernel->name : "");
        all.list[all.count++].ns = (double)(kernel->end - kernel->start);
    }
    pthread_mutex_unlock(&all.lock);
    free(buffer);
}

nt_status records_open(nt_error *err)
{
    static const nt_symbol symbols[] = {
        {"cuptiActivityRegisterCallbacks", offsetof(__typeof__(cupti), register_callbacks), false},
        {"cuptiActivityEnable", offsetof(__typeof__(cupti), enable), false},
        {"cuptiActivityFlushAll", offsetof(__typeof__(cupti), flush), false},
        {"cuptiActivityGetNextRecord", offsetof(__typeof__(cupti), next), false},
    };
    static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
    nt_str why = {0};
    void *library = nt_library_find("NNTUNE_LIBCUPTI", names, 3, &why);
    const char *absent = library != NULL ? nt_library_bind(library, &cupti, symbols, 4) : "the library itself";
    if (absent != NULL) {
        nt_fail(err, NT_NO_DEVICE, "CUPTI cannot be used, %s is not there (%s)", absent, nt_str_text(&why));
        nt_str_done(&why);
        return nt_hint(err, "NNTUNE_LIBCUPTI names the file to open");
    }
    nt_str_done(&why);
    CUptiResult result = cupti.register_callbacks(give_buffer, take_buffer);
    if (result == CUPTI_SUCCESS)
        result = cupti.enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    return result == CUPTI_SUCCESS ? NT_OK
                                   : nt_fail(err, NT_FAILED, "CUPTI refuses to record kernels (%d)", (int)result);
}

nt_status records_flush(bool forced, nt_error *err)
{
    CUptiResult result = cupti.flush(forced ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
    return result == CUPTI_SUCCESS ? NT_OK : nt_fail(err, NT_FAILED, "CUPTI gives no records (%d)", (int)result);
}

/* NULL: of all kernels. */
size_t records_count(const char *kernel)
{
    size_t count = 0;
    pthread_mutex_lock(&all.lock);
    for (size_t i = 0; i < all.count; i++)
        count += kernel == NULL || strcmp(all.list[i].name, kernel) == 0;
    pthread_mutex_unlock(&all.lock);
    return count;
}

/* Until nothing new has come for a while. */
nt_status records_clear(nt_error *err)
{
    nt_status status = records_flush(true, err);
    for (size_t before = SIZE_MAX; status == NT_OK && before != records_count(NULL);) {
        before = records_count(NULL);
        nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
        status = records_flush(false, err);
    }
    pthread_mutex_lock(&all.lock);
    all.count = 0;
    pthread_mutex_unlock(&all.lock);
    return status;
}

size_t records_of(const char *kernel, double **ns)
{
    size_t count = 0;
    *ns = nt_alloc((records_count(kernel) + 1) * sizeof(double));
    pthread_mutex_lock(&all.lock);
    for (size_t i = 0; i < all.count; i++)
        if (strcmp(all.list[i].name, kernel) == 0)
            (*ns)[count++] = all.list[i].ns;
    pthread_mutex_unlock(&all.lock);
    return count;
}

#else

nt_status records_open(nt_error *err)
{
    return nt_fail(err, NT_NO_DEVICE, "this check was built without cupti.h");
}

nt_status records_clear(nt_error *err)
{
    return records_open(err);
}

nt_status records_flush(bool forced, nt_error *err)
{
    (void)forced;
    return records_open(err);
}

size_t records_count(const char *kernel)
{
    (void)kernel;
    return 0;
}

size_t records_of(const char *kernel, double **ns)
{
    (void)kernel;
    *ns = NULL;
    return 0;
}

#endif
