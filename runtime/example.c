/* example.c: runs a tuned 3x3 convolution out of a table, on the GPU or the cpu that the table serves.
 *
 *     cc example.c $(pkg-config --cflags --libs libnntune) -o example && ./example conv.ntb 64 64 56 56 8
 *
 * Sizes are c k h w and the batch; fp32, nhwc. Device memory comes from the CUDA runtime where NNTUNE_EXAMPLE_CUDA is
 * defined (add -DNNTUNE_EXAMPLE_CUDA -lcudart), else buffers are the host's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef NNTUNE_EXAMPLE_CUDA
#include <cuda_runtime_api.h>
#endif
#include <nntune.h>

static uint64_t buffer(size_t bytes)
{
    void *memory = NULL;
#ifdef NNTUNE_EXAMPLE_CUDA
    if (bytes > 0 && cudaMalloc(&memory, bytes) == cudaSuccess)
        cudaMemset(memory, 0, bytes);
#else
    if (bytes > 0 && posix_memalign(&memory, 256, bytes) == 0)
        memset(memory, 0, bytes);
#endif
    return (uint64_t)(uintptr_t)memory;
}

int main(int argc, char **argv)
{
    char why[NNTUNE_WHY_BYTES];
    nntune_table *table = NULL;
    nntune_kernel *kernel = NULL;
    nntune_result result;
    int64_t size[4], batch = argc > 6 ? atoll(argv[6]) : 1;
    if (argc < 6) {
        fprintf(stderr, "usage: example TABLE C K H W [BATCH]\n");
        return 2;
    }
    for (int i = 0; i < 4; i++)
        size[i] = atoll(argv[2 + i]);
    nntune_query query = {.layer = "conv3x3", .size = size, .size_count = 4, .batch = batch, .precision = NNTUNE_FP32};
    nntune_status status = nntune_table_open(argv[1], NULL, 0, &table, why);
    if (status == NNTUNE_OK) {
        status = nntune_lookup(table, &query, &result);
        nntune_explain(table, &query, status, &result, why, sizeof why);
        printf("%s\n", why);
    }
    if (status == NNTUNE_OK)
        status = nntune_kernel_load(table, &query, &result, &kernel, why);
    if (status == NNTUNE_OK) {
        size_t pixels = (size_t)(batch * size[2] * size[3]);
        nntune_buffers b = {.in = buffer(pixels * (size_t)size[0] * 4),
                            .weight = buffer((size_t)(9 * size[0] * size[1]) * 4),
                            .out = buffer(pixels * (size_t)size[1] * 4),
                            .packed = buffer(nntune_kernel_packed_bytes(kernel)),
                            .workspace = buffer(nntune_kernel_workspace_bytes(kernel))};
        status = nntune_prepare(kernel, &b, NULL, why); /* once for these weights */
        if (status == NNTUNE_OK)
            status = nntune_launch(kernel, &b, NULL, why); /* as often as there are inputs */
        printf("%s %s, %.1f us expected\n", result.kernel, result.params, result.expected_ns / 1e3);
    }
    if (status != NNTUNE_OK)
        fprintf(stderr, "example: %s\n", why);
    nntune_kernel_free(kernel);
    nntune_table_close(table);
    return status == NNTUNE_OK ? 0 : 1;
}
