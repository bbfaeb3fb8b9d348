/* map_reference.cu: relu and add in fp64 on the device: one thread an element. `abs` is what the error bound multiplies:
 * map.h says what and why. */

#ifndef NT_HOST_EMULATION
#define NT_ENTRY extern "C" __global__
#endif

NT_ENTRY void nt_map_reference(const float *a, const float *b, double *ref, double *abs, long long count, int is_add)
{
    long long i = (long long)blockIdx.x * 256 + threadIdx.x;
    if (i >= count)
        return;
    double x = a[i], y = is_add ? x + b[i] : x > 0.0 ? x : 0.0;
    ref[i] = y;
    if (abs)
        abs[i] = y < 0.0 ? -y : y;
}
