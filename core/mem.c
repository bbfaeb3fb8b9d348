#include "core/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Noreturn void out_of_memory(void)
{
    static const char message[] = "nntune: out of host memory; results already stored are kept\n";
    if (write(STDERR_FILENO, message, sizeof message - 1) < 0)
        _exit(1);
    _exit(1);
}

void *nt_alloc(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);
    if (memory == NULL)
        out_of_memory();
    return memory;
}

void *nt_alloc_zero(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size ? size : 1);
    if (memory == NULL)
        out_of_memory();
    return memory;
}

void *nt_realloc_array(void *old, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size)
        out_of_memory();
    size_t bytes = count * size;
    void *memory = realloc(old, bytes ? bytes : 1);
    if (memory == NULL)
        out_of_memory();
    return memory;
}

char *nt_strndup(const char *text, size_t length)
{
    char *copy = nt_alloc(length + 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *nt_strdup(const char *text)
{
    return nt_strndup(text, strlen(text));
}

void nt_grow(void **array, size_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity)
        return;
    size_t wanted = *capacity ? *capacity : 16;
    while (wanted < need)
        wanted = wanted > SIZE_MAX / 2 ? need : wanted * 2;
    *array = nt_realloc_array(*array, wanted, size);
    *capacity = wanted;
}
