/* records.c: one CUPTI record into one record of the spool, by a table of kinds. */
#include <string.h>

#include "profiler/inject/activity.h"
#include "profiler/inject/writer.h"

static void put_kernel(const CUpti_Activity *record)
{
    const CUpti_ActivityKernel10 *k = (const CUpti_ActivityKernel10 *)(const void *)record;
    nt_spool_kernel body = {
        .start_ns = k->start,
        .end_ns = k->end,
        .correlation = k->correlationId,
        .device = k->deviceId,
        .stream = k->streamId,
        .graph = k->graphId,
        .grid = {k->gridX, k->gridY, k->gridZ},
        .block = {k->blockX, k->blockY, k->blockZ},
        .cluster = {k->clusterX, k->clusterY, k->clusterZ},
        .registers = k->registersPerThread,
        .smem_static_bytes = k->staticSharedMemory,
        .smem_dynamic_bytes = k->dynamicSharedMemory,
        .name = nt_writer_name(k->name),
    };
    nt_writer_put(NT_SPOOL_KERNEL, &body, sizeof body, NULL, 0);
}

static void put_copy(const CUpti_Activity *record)
{
    const CUpti_ActivityMemcpy6 *c = (const CUpti_ActivityMemcpy6 *)(const void *)record;
    nt_spool_transfer body = {
        .start_ns = c->start,
        .end_ns = c->end,
        .bytes = c->bytes,
        .correlation = c->correlationId,
        .device = c->deviceId,
        .stream = c->streamId,
        .graph = c->graphId,
        .direction = c->copyKind,
        .from = c->srcKind,
        .to = c->dstKind,
    };
    nt_writer_put(NT_SPOOL_COPY, &body, sizeof body, NULL, 0);
}

static void put_peer_copy(const CUpti_Activity *record)
{
    const CUpti_ActivityMemcpyPtoP4 *c = (const CUpti_ActivityMemcpyPtoP4 *)(const void *)record;
    nt_spool_transfer body = {
        .start_ns = c->start,
        .end_ns = c->end,
        .bytes = c->bytes,
        .correlation = c->correlationId,
        .device = c->deviceId,
        .stream = c->streamId,
        .graph = c->graphId,
        .direction = c->copyKind,
        .from = c->srcKind,
        .to = c->dstKind,
    };
    nt_writer_put(NT_SPOOL_COPY, &body, sizeof body, NULL, 0);
}

static void put_fill(const CUpti_Activity *record)
{
    const CUpti_ActivityMemset4 *f = (const CUpti_ActivityMemset4 *)(const void *)record;
    nt_spool_transfer body = {
        .start_ns = f->start,
        .end_ns = f->end,
        .bytes = f->bytes,
        .correlation = f->correlationId,
        .device = f->deviceId,
        .stream = f->streamId,
        .graph = f->graphId,
        .to = f->memoryKind,
    };
    nt_writer_put(NT_SPOOL_FILL, &body, sizeof body, NULL, 0);
}

static void put_memory(const CUpti_Activity *record)
{
    const CUpti_ActivityMemory4 *m = (const CUpti_ActivityMemory4 *)(const void *)record;
    nt_spool_memory body = {
        .time_ns = m->timestamp,
        .address = m->address,
        .bytes = m->bytes,
        .device = m->deviceId,
        .kind = (uint16_t)m->memoryKind,
        .released = m->memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE,
    };
    nt_writer_put(NT_SPOOL_MEMORY, &body, sizeof body, NULL, 0);
}

static void put_device(const CUpti_Activity *record)
{
    const CUpti_ActivityDevice5 *d = (const CUpti_ActivityDevice5 *)(const void *)record;
    nt_spool_device body = {
        .ordinal = d->id,
        .memory_bytes = d->globalMemorySize,
        .dram_kb_per_s = d->globalMemoryBandwidth,
        .sm_count = d->numMultiprocessors,
        .warp_size = d->numThreadsPerWarp,
        .max_warps_per_sm = d->maxWarpsPerMultiprocessor,
        .max_blocks_per_sm = d->maxBlocksPerMultiprocessor,
        .smem_per_sm_bytes = d->maxSharedMemoryPerMultiprocessor,
        .smem_per_block_bytes = d->maxSharedMemoryPerBlock,
        .regs_per_sm = d->maxRegistersPerMultiprocessor,
        .regs_per_block = d->maxRegistersPerBlock,
        .max_threads_per_block = d->maxThreadsPerBlock,
        .l2_bytes = d->l2CacheSize,
        .clock_khz = d->coreClockRate,
        .compute_capability = d->computeCapabilityMajor * 10 + d->computeCapabilityMinor,
        .name = nt_writer_name(d->name),
    };
    memcpy(body.uuid, &d->uuid, sizeof body.uuid);
    nt_writer_put(NT_SPOOL_DEVICE, &body, sizeof body, NULL, 0);
}

static const struct {
    CUpti_ActivityKind kind;
    void (*put)(const CUpti_Activity *record);
} kinds[] = {
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, put_kernel},
    {CUPTI_ACTIVITY_KIND_KERNEL, put_kernel},
    {CUPTI_ACTIVITY_KIND_MEMCPY, put_copy},
    {CUPTI_ACTIVITY_KIND_MEMCPY2, put_peer_copy},
    {CUPTI_ACTIVITY_KIND_MEMSET, put_fill},
    {CUPTI_ACTIVITY_KIND_MEMORY2, put_memory},
    {CUPTI_ACTIVITY_KIND_DEVICE, put_device},
};

void nt_record_put(const CUpti_Activity *record)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (record->kind == kinds[i].kind) {
            kinds[i].put(record);
            return;
        }
}
