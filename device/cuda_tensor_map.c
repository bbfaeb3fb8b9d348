/* cuda_tensor_map.c: a plan's tensor maps in the driver's form, made anew for each set of buffers: it costs well under
 * a microsecond and no memory. */
#include "device/cuda_device.h"

#ifdef NT_HAVE_CUDA_H

/* The copy engine moves bits; for 32 bits zeros are the same in every type, so one type of each size will do. */
static CUtensorMapDataType type_of(int64_t elem_bytes)
{
    return elem_bytes == 4   ? CU_TENSOR_MAP_DATA_TYPE_UINT32
           : elem_bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                             : CU_TENSOR_MAP_DATA_TYPE_UINT8;
}

CUresult nt_cuda_tensor_map(nt_device *device, const nt_tensor_map *map, const nt_binding *binding, CUtensorMap *out)
{
    void *base = (void *)(uintptr_t)(binding->address[map->role] + (uint64_t)map->offset_bytes);
    cuuint64_t size[NT_MAP_RANK], stride[NT_MAP_RANK - 1];
    cuuint32_t one[NT_MAP_RANK] = {1, 1, 1, 1}, step[NT_MAP_RANK] = {1, map->step[0], map->step[1], 1};
    for (int i = 0; i < NT_MAP_RANK; i++) {
        size[i] = (cuuint64_t)map->size[i];
        if (i > 0)
            stride[i - 1] = (cuuint64_t)map->stride_bytes[i];
    }
    if (map->images)
        return device->cu->map_images(out, type_of(map->elem_bytes), NT_MAP_RANK, base, size, stride, map->lower,
                                      map->upper, map->box[0], map->box[1], step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                      CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                                      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return device->cu->map_tiled(out, type_of(map->elem_bytes), NT_MAP_RANK, base, size, stride, map->box, one,
                                 CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                 CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

#endif
