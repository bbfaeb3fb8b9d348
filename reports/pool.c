/* pool.c: a hash table with open addressing over texts that are never removed. */
#include "reports/pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

/* FNV-1a, 64 bit: quick on short texts; nothing here comes from an adversary who would gain by collisions. */
static size_t hash_of(const char *text)
{
    uint64_t hash = 14695981039346656037U;
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 1099511628211U;
    return (size_t)(hash ^ hash >> 29);
}

static size_t *slot_of(const nt_pool *pool, const char *text)
{
    size_t i = hash_of(text) & (pool->slots - 1);
    while (pool->slot[i] != 0 && strcmp(pool->text[pool->slot[i] - 1], text) != 0)
        i = (i + 1) & (pool->slots - 1);
    return &pool->slot[i];
}

static void widen(nt_pool *pool)
{
    pool->slots = pool->slots == 0 ? 64 : pool->slots * 2;
    free(pool->slot);
    pool->slot = nt_alloc_zero(pool->slots, sizeof *pool->slot);
    for (size_t i = 0; i < pool->count; i++)
        *slot_of(pool, pool->text[i]) = i + 1;
}

const char *nt_pool_text(nt_pool *pool, const char *text)
{
    if (text == NULL || text[0] == '\0')
        return "";
    if (pool->count * 2 >= pool->slots)
        widen(pool);
    size_t *slot = slot_of(pool, text);
    if (*slot == 0) {
        nt_grow((void **)&pool->text, &pool->capacity, pool->count + 1, sizeof *pool->text);
        pool->text[pool->count++] = nt_strdup(text);
        *slot = pool->count;
    }
    return pool->text[*slot - 1];
}

void nt_pool_done(nt_pool *pool)
{
    for (size_t i = 0; i < pool->count; i++)
        free(pool->text[i]);
    free(pool->text);
    free(pool->slot);
    *pool = (nt_pool){0};
}
