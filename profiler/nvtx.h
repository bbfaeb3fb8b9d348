/* nvtx.h: ranges that NVIDIA's tools show: each stage and trial of a sweep by its name. Without such a tool attached a range
 * costs a few nanoseconds; built without NVTX's headers it is nothing. */
#ifndef NT_NVTX_H
#define NT_NVTX_H

/* Opens a range on this thread; every push has its pop. */
void nt_nvtx_push(const char *format, ...) __attribute__((format(printf, 1, 2)));
void nt_nvtx_pop(void);

#endif
