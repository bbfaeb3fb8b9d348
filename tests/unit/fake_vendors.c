/* fake_vendors.c: cuBLASLt and cuDNN as far as device/cublaslt.c and device/cudnn.c use them, in one shared object that
 * a test builds with NVIDIA's headers and names in NNTUNE_CUBLASLT and NNTUNE_CUDNN. They compute nothing and remember
 * what they were asked. FAKE_* environment variables choose what goes wrong. */
#include <cublasLt.h>
#include <cudnn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the test reads ---- */
int fake_made, fake_freed, fake_runs; /* descriptors of both libraries; calls that ran */
char fake_layouts[512];               /* "rowsxcolumns/ld*batch+stride " of each matrix in the order of the product */
char fake_attributes[2048];           /* "type.name=value,value " of each attribute set of cuDNN */
const void *fake_pointer[4]; /* a, b, d, workspace of the last product; in, weight, out, workspace of cuDNN's */
int fake_transposed, fake_fast, fake_algorithm, fake_compute;
size_t fake_workspace;
void *fake_stream;

static int setting(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text != NULL && *text != '\0' ? atoi(text) : otherwise;
}

/* ---- cuBLASLt ---- */

typedef struct layout {
    uint64_t rows, columns;
    int64_t ld, stride;
    int32_t batch;
} layout;

size_t cublasLtGetVersion(void)
{
    return (size_t)setting("FAKE_CUBLASLT", 130102);
}
const char *cublasLtGetStatusString(cublasStatus_t status)
{
    return status == CUBLAS_STATUS_NOT_SUPPORTED ? "not supported" : "another status";
}
cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
    *handle = (cublasLtHandle_t)&fake_runs;
    return CUBLAS_STATUS_SUCCESS;
}

#undef cublasLtMatmulDescCreate
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc, cublasComputeType_t compute, cudaDataType_t scale)
{
    (void)scale;
    *desc = calloc(1, sizeof **desc);
    fake_made++;
    fake_compute = (int)compute;
    fake_transposed = fake_fast = 0;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc)
{
    fake_freed++;
    free(desc);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t name,
                                              const void *value, size_t bytes)
{
    (void)desc;
    if (name == CUBLASLT_MATMUL_DESC_TRANSA)
        fake_transposed = bytes == sizeof(cublasOperation_t) && *(const cublasOperation_t *)value == CUBLAS_OP_T;
    if (name == CUBLASLT_MATMUL_DESC_FAST_ACCUM)
        fake_fast = *(const int8_t *)value;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *out, cudaDataType_t type, uint64_t rows,
                                          uint64_t columns, int64_t ld)
{
    layout *l = calloc(1, sizeof *l);
    (void)type;
    *l = (layout){rows, columns, ld, 0, 1};
    *out = (cublasLtMatrixLayout_t)l;
    fake_made++;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t l)
{
    fake_freed++;
    free(l);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t of, cublasLtMatrixLayoutAttribute_t name,
                                                const void *value, size_t bytes)
{
    layout *l = (layout *)of;
    (void)bytes;
    if (name == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT)
        l->batch = *(const int32_t *)value;
    if (name == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET)
        l->stride = *(const int64_t *)value;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference)
{
    *preference = calloc(1, sizeof **preference);
    fake_made++;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference)
{
    fake_freed++;
    free(preference);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t name, const void *value,
                                                    size_t bytes)
{
    (void)preference, (void)bytes;
    if (name == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES)
        fake_workspace = *(const uint64_t *)value;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[], int *count)
{
    const cublasLtMatrixLayout_t all[] = {a, b, d};
    (void)handle, (void)desc, (void)c, (void)preference;
    fake_layouts[0] = '\0';
    for (int i = 0; i < 3; i++) {
        const layout *l = (const layout *)all[i];
        size_t used = strlen(fake_layouts);
        snprintf(fake_layouts + used, sizeof fake_layouts - used, "%llux%llu/%lld*%d+%lld ",
                 (unsigned long long)l->rows, (unsigned long long)l->columns, (long long)l->ld, l->batch,
                 (long long)l->stride);
    }
    *count = setting("FAKE_ALGORITHMS", 3);
    if (*count == 0)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    for (int i = 0; i < *count && i < wanted; i++) {
        results[i].algo.data[0] = (uint64_t)i;
        results[i].workspaceSize = 1000u * (unsigned)i;
        results[i].state = CUBLAS_STATUS_SUCCESS;
    }
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void *alpha, const void *a,
                              cublasLtMatrixLayout_t a_layout, const void *b, cublasLtMatrixLayout_t b_layout,
                              const void *beta, const void *c, cublasLtMatrixLayout_t c_layout, void *d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t *algorithm, void *workspace,
                              size_t workspace_bytes, cudaStream_t stream)
{
    (void)handle, (void)desc, (void)alpha, (void)a_layout, (void)b_layout, (void)beta, (void)c, (void)c_layout;
    (void)d_layout;
    const void *pointers[] = {a, b, d, workspace};
    memcpy(fake_pointer, pointers, sizeof pointers);
    fake_algorithm = (int)algorithm->data[0];
    fake_workspace = workspace_bytes;
    fake_stream = stream;
    fake_runs++;
    return (cublasStatus_t)setting("FAKE_RUN", 0);
}

/* ---- cuDNN ---- */

typedef struct descriptor {
    int type, engine; /* engine: of an engine or a configuration */
    const void *pointer[4];
} descriptor;

size_t cudnnGetVersion(void)
{
    return (size_t)setting("FAKE_CUDNN", 91900);
}
const char *cudnnGetErrorString(cudnnStatus_t status)
{
    return status == CUDNN_STATUS_NOT_SUPPORTED ? "not supported" : "another status";
}
cudnnStatus_t cudnnCreate(cudnnHandle_t *handle)
{
    *handle = (cudnnHandle_t)&fake_runs;
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream)
{
    (void)handle;
    fake_stream = stream;
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t *out)
{
    descriptor *d = calloc(1, sizeof *d);
    d->type = (int)type;
    *out = d;
    fake_made++;
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t d)
{
    fake_freed++;
    free(d);
    return CUDNN_STATUS_SUCCESS;
}

static void remember(const descriptor *d, int name, cudnnBackendAttributeType_t type, int64_t count, const void *values)
{
    size_t used = strlen(fake_attributes);
    used += (size_t)snprintf(fake_attributes + used, sizeof fake_attributes - used, "%d.%d=", d->type, name);
    for (int64_t i = 0; i < count && used + 32 < sizeof fake_attributes; i++) {
        long long value = type == CUDNN_TYPE_INT64 ? ((const int64_t *)values)[i] : ((const int *)values)[i];
        used +=
            (size_t)snprintf(fake_attributes + used, sizeof fake_attributes - used, "%s%lld", i > 0 ? "," : "", value);
    }
    snprintf(fake_attributes + used, sizeof fake_attributes - used, " ");
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t of, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count, const void *values)
{
    descriptor *d = of;
    if (type == CUDNN_TYPE_INT64 || type == CUDNN_TYPE_DATA_TYPE || type == CUDNN_TYPE_HEUR_MODE)
        remember(d, (int)name, type, count, values);
    if (name == CUDNN_ATTR_ENGINE_GLOBAL_INDEX)
        d->engine = (int)*(const int64_t *)values;
    if (name == CUDNN_ATTR_ENGINECFG_ENGINE || name == CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)
        d->engine = ((descriptor *)*(void *const *)values)->engine;
    if (name == CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS)
        memcpy(d->pointer, values, 3 * sizeof(void *));
    if (name == CUDNN_ATTR_VARIANT_PACK_WORKSPACE)
        memcpy(&d->pointer[3], values, sizeof(void *));
    return CUDNN_STATUS_SUCCESS;
}

/* Heuristic lists have FAKE_CONFIGS entries with engines 10, 11, ..; engine FAKE_TENSOR_ENGINE uses tensor cores, and
 * every engine has the notes that are bits of FAKE_NOTES. */
cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const of, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t wanted, int64_t *count, void *values)
{
    const descriptor *d = of;
    (void)type;
    *count = 1;
    if (name == CUDNN_ATTR_ENGINEHEUR_RESULTS) {
        *count = setting("FAKE_CONFIGS", 2);
        for (int i = 0; i < *count && i < wanted; i++)
            ((descriptor **)values)[i]->engine = 10 + i;
    } else if (name == CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT)
        *(int64_t *)values = setting("FAKE_ENGINES", 40);
    else if (name == CUDNN_ATTR_ENGINECFG_ENGINE)
        (*(descriptor **)values)->engine = d->engine;
    else if (name == CUDNN_ATTR_ENGINE_NUMERICAL_NOTE) {
        cudnnBackendNumericalNote_t *notes = values;
        *count = 0;
        if (d->engine == setting("FAKE_TENSOR_ENGINE", -1))
            notes[(*count)++] = CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
        for (int i = 0; i < CUDNN_NUMERICAL_NOTE_TYPE_COUNT && *count < wanted; i++)
            if (setting("FAKE_NOTES", 0) >> i & 1)
                notes[(*count)++] = (cudnnBackendNumericalNote_t)i;
    } else if (name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE)
        *(int64_t *)values = setting("FAKE_WORKSPACE", 0);
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t of)
{
    const descriptor *d = of;
    return d->type == setting("FAKE_REFUSES", -1) ? CUDNN_STATUS_NOT_SUPPORTED : CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack)
{
    (void)handle;
    memcpy(fake_pointer, ((descriptor *)pack)->pointer, sizeof fake_pointer);
    fake_algorithm = ((descriptor *)plan)->engine;
    fake_runs++;
    return (cudnnStatus_t)setting("FAKE_RUN", 0);
}
