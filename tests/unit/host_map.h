/* host_map.h: a tensor map as kernels on the host see it: a plan's map with the address of its buffer. */
#ifndef NT_TEST_HOST_MAP_H
#define NT_TEST_HOST_MAP_H

typedef struct nt_host_map {
    const char *base;
    long long elem_bytes, size[4], stride_bytes[4];
    unsigned box[4];
    int images, lower[2], upper[2];
    unsigned step[2];
} nt_host_map;

#endif
