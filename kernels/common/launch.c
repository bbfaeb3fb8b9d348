#include "kernels/common/launch.h"

enum { ITEMS_A_COLUMN = 65536, REFERENCE_BLOCK = 256 };

nt_status nt_launch_blocks(nt_plan *plan, const char *entry, int64_t blocks, int64_t x, int64_t y, const char *larger,
                           nt_error *err)
{
    if (blocks > INT32_MAX)
        return nt_fail(err, NT_LAUNCH_FAILED, "%lld blocks, a grid holds 2147483647: take a larger %s",
                       (long long)blocks, larger);
    *plan = (nt_plan){.stage_count = 1};
    nt_stage_kernel(&plan->stage[0], entry, (uint32_t)blocks, 1, 1, (uint32_t)x, (uint32_t)y, 1);
    return NT_OK;
}

nt_status nt_launch_reference(nt_plan *plan, const char *entry, int64_t threads, nt_error *err)
{
    int64_t blocks = nt_div_up(threads, REFERENCE_BLOCK);
    if (blocks > INT32_MAX)
        return nt_fail(err, NT_USAGE,
                       "the reference of this problem cannot be computed on a CUDA device: it has more than 2^39 rows");
    *plan = (nt_plan){.stage_count = 1};
    nt_stage_kernel(&plan->stage[0], entry, (uint32_t)blocks, 1, 1, REFERENCE_BLOCK, 1, 1);
    return NT_OK;
}

/* An entry is told nothing of the grid's sides, so items are handed out in whole columns; the entry stops at its own
 * end. */
nt_status nt_launch_items(nt_plan *plan, const char *entry, int64_t items, nt_error *err)
{
    int64_t columns = items > UINT32_MAX ? ITEMS_A_COLUMN : 1, rows = nt_div_up(items, columns);
    if (rows > UINT32_MAX)
        return nt_fail(err, NT_LAUNCH_FAILED, "%lld work items are more than 281474976645120", (long long)items);
    *plan = (nt_plan){.stage_count = 1};
    nt_stage_kernel(&plan->stage[0], entry, (uint32_t)columns, (uint32_t)rows, 1, 1, 1, 1);
    return NT_OK;
}
