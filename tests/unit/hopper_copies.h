/* hopper_copies.h: part of hopper_emulation.h: shared memory of a cluster, the barriers in it, and copies of boxes of
 * tensors that complete them. */
#ifndef NT_TEST_HOPPER_COPIES_H
#define NT_TEST_HOPPER_COPIES_H

/* ---- shared memory ---- */

static unsigned char *host_at(unsigned address, int bytes)
{
    unsigned block = address >> HOST_BLOCK_SHIFT, offset = address & HOST_OFFSET;
    host_check((int)block < host_together && (int)offset + bytes <= host_used && offset % (unsigned)bytes == 0,
               "%d bytes at shared address %u of block %u, which has %d", bytes, offset, block, host_used);
    return &host_shared[host_error[0] ? 0 : block][host_error[0] ? 0 : offset];
}

NT_INLINE unsigned nt_shared_address(const void *shared)
{
    size_t offset = (size_t)((const unsigned char *)shared - host_shared[0]);
    return (unsigned)(offset / HOST_SHARED << HOST_BLOCK_SHIFT | offset % HOST_SHARED);
}

NT_INLINE void nt_store_shared(unsigned address, unsigned word)
{
    memcpy(host_at(address, 4), &word, 4);
}

NT_INLINE unsigned nt_load_from(unsigned address, unsigned rank)
{
    unsigned word;
    memcpy(&word, host_at(host_address_at(address, rank), 4), 4);
    return word;
}

NT_INLINE unsigned nt_load_word(unsigned address)
{
    unsigned word;
    memcpy(&word, host_at(address, 4), 4);
    return word;
}

static void host_load_matrices(host_lane *lane)
{
    for (int m = 0; m < 4; m++) {
        unsigned banks = 0;
        for (int row = 0; row < 8; row++) {
            unsigned at = lane[m * 8 + row].in;
            banks |= 1u << at / 16 % 8;
            for (int word = 0; word < 4; word++)
                memcpy(&lane[row * 4 + word].out[m], host_at(at, 16) + word * 4, 4);
        }
        host_check(banks == 0xff, "bank conflict in ldmatrix");
    }
}

NT_INLINE void nt_load_matrices(unsigned word[4], unsigned address)
{
    host_now->in = address;
    host_meet_warp(host_load_matrices);
    memcpy(word, host_now->out, 16);
}

NT_INLINE unsigned nt_exchange(unsigned value, int lane_mask)
{
    host_now->in = value;
    host_meet_warp(NULL);
    unsigned got = host_lanes[(host_now - host_lanes) ^ lane_mask].in;
    host_meet_warp(NULL); /* nobody may bring a new value before all have taken this one */
    return got;
}

static void host_transpose_matrix(host_lane *lane)
{
    for (int row = 0; row < 8; row++)
        for (int column = 0; column < 8; column++)
            memcpy((char *)&lane[row * 4 + column / 2].out[0] + column % 2 * 2,
                   (const char *)&lane[column * 4 + row / 2].in + row % 2 * 2, 2);
}

NT_INLINE unsigned nt_transpose_matrix(unsigned word)
{
    host_now->in = word;
    host_meet_warp(host_transpose_matrix);
    return host_now->out[0];
}

NT_INLINE int nt_dot4(int sum, unsigned a, unsigned b)
{
    for (int e = 0; e < 4; e++)
        sum += (int)(signed char)(a >> 8 * e & 0xffu) * (int)(signed char)(b >> 8 * e & 0xffu);
    return sum;
}

/* ---- barriers and copies ---- */

static host_barrier *host_barrier_at(unsigned address)
{
    unsigned block = address >> HOST_BLOCK_SHIFT, at = address & HOST_OFFSET;
    host_at(address, 8);
    for (int i = 0; i < HOST_BARRIERS; i++)
        if (host_barriers[block][i].expected && host_barriers[block][i].at == at)
            return &host_barriers[block][i];
    host_check(false, "no barrier at shared address %u", at);
    return &host_barriers[block][0];
}

NT_INLINE void nt_barrier_init(unsigned barrier, unsigned arrivals)
{
    int i = 0;
    while (i < HOST_BARRIERS - 1 && host_barriers[host_now->block][i].expected)
        i++;
    host_at(barrier, 8);
    host_barriers[host_now->block][i] = (host_barrier){barrier & HOST_OFFSET, arrivals, arrivals, 0, 0};
}

NT_INLINE void nt_barrier_publish(void)
{
}

static void host_barrier_check(host_barrier *b)
{
    host_progress++;
    if (b->missing || b->bytes)
        return;
    b->missing = b->expected;
    b->phase++;
}

static void host_arrive(unsigned barrier)
{
    host_barrier *b = host_barrier_at(barrier);
    host_check(b->missing > 0, "more arrivals than a barrier has");
    b->missing--;
    host_barrier_check(b);
}

NT_INLINE void nt_barrier_expect(unsigned barrier, unsigned bytes)
{
    host_barrier_at(barrier)->bytes += (int)bytes;
    host_arrive(barrier);
}

NT_INLINE void nt_barrier_arrive(unsigned barrier)
{
    host_arrive(barrier);
}

NT_INLINE void nt_barrier_arrive_at(unsigned barrier, unsigned rank)
{
    host_arrive(host_address_at(barrier, rank));
}

/* Row `row` of a copied box, permuted as the map says; `from` NULL: zeros. Elements outside are zeros too. */
static void host_put_row(const host_copy *c, int row, const char *from, long long inside)
{
    unsigned at = c->to + (unsigned)row * 128;
    for (int unit = 0; unit < 8; unit++) {
        char bytes[16] = {0};
        for (int b = 0; b < 16 && from; b++)
            if (unit * 16 + b < inside)
                bytes[b] = from[unit * 16 + b];
        memcpy(host_at(at + ((unsigned)(unit ^ (at >> 7 & 7)) * 16), 16), bytes, 16);
    }
}

static const char *host_place(const nt_host_map *m, long long x, long long y, long long z, long long v)
{
    bool inside = y >= 0 && y < m->size[1] && z >= 0 && z < m->size[2] && v >= 0 && v < m->size[3];
    return inside
               ? m->base + x * m->elem_bytes + y * m->stride_bytes[1] + z * m->stride_bytes[2] + v * m->stride_bytes[3]
               : NULL;
}

static int host_box_rows(const nt_host_map *m)
{
    return m->images ? (int)m->box[1] : (int)(m->box[1] * m->box[2] * m->box[3]);
}

static void host_do_pixels(const host_copy *c, long long inside)
{
    const nt_host_map *m = c->map;
    long long w = c->x[1], h = c->x[2], n = c->x[3];
    for (int row = 0; row < (int)m->box[1]; row++) {
        host_put_row(c, row, host_place(m, c->x[0], w + c->s, h + c->r, n), inside);
        w += m->step[0];
        if (w > m->size[1] - 1 + m->upper[0]) {
            w = m->lower[0];
            h += m->step[1];
        }
        if (h > m->size[2] - 1 + m->upper[1]) {
            h = m->lower[1];
            n++;
        }
    }
}

static void host_do_copy(const host_copy *c)
{
    const nt_host_map *m = c->map;
    long long inside = (m->size[0] - c->x[0]) * m->elem_bytes;
    if (m->images)
        host_do_pixels(c, inside);
    else
        for (int row = 0; row < host_box_rows(m); row++)
            host_put_row(c, row,
                         host_place(m, c->x[0], c->x[1] + row % (int)m->box[1],
                                    c->x[2] + row / (int)m->box[1] % (int)m->box[2],
                                    c->x[3] + row / (int)(m->box[1] * m->box[2])),
                         inside);
    host_barrier *b = host_barrier_at(c->barrier);
    b->bytes -= host_box_rows(m) * 128;
    host_barrier_check(b);
}

static void host_copy_start(host_copy copy)
{
    const nt_host_map *m = copy.map;
    host_check((long long)m->box[0] * m->elem_bytes == 128 && copy.to % 1024 == 0, "a box of %u elements to address %u",
               m->box[0], copy.to);
    for (int i = 0; m->images && i < 2; i++) {
        long long from = copy.x[1 + i] - m->lower[i], last = m->size[1 + i] - 1 + m->upper[i];
        host_check(copy.x[3] >= m->size[3] || (from >= 0 && from % m->step[i] == 0 && copy.x[1 + i] <= last),
                   "pixel %d of dimension %d is none that a map steps to", copy.x[1 + i], i);
    }
    host_check(host_copies < HOST_COPIES, "too many copies under way");
    if (host_error[0])
        return;
    if (host_eager)
        host_do_copy(&copy);
    else
        host_copy_queue[host_copies++] = copy;
}

static void host_copy_to(host_copy copy, unsigned blocks)
{
    for (unsigned rank = 0; rank < HOST_CLUSTER; rank++)
        if (blocks >> rank & 1u) {
            host_check((int)rank < host_cluster, "block %u of a cluster of %d", rank, host_cluster);
            copy.to = host_address_at(copy.to, rank);
            copy.barrier = host_address_at(copy.barrier, rank);
            host_copy_start(copy);
        }
}

NT_INLINE void nt_copy_box(unsigned to, nt_map_address map, int x, int y, int z, int v, unsigned barrier)
{
    host_copy_start((host_copy){map, to, barrier, {x, y, z, v}, 0, 0});
}

NT_INLINE void nt_copy_box_to(unsigned to, nt_map_address map, int x, int y, int z, int v, unsigned barrier,
                              unsigned blocks)
{
    host_copy_to((host_copy){map, to, barrier, {x, y, z, v}, 0, 0}, blocks);
}

NT_INLINE void nt_copy_pixels(unsigned to, nt_map_address map, int c, int w, int h, int n, int s, int r,
                              unsigned barrier)
{
    host_copy_start((host_copy){map, to, barrier, {c, w, h, n}, s, r});
}

NT_INLINE void nt_copy_pixels_to(unsigned to, nt_map_address map, int c, int w, int h, int n, int s, int r,
                                 unsigned barrier, unsigned blocks)
{
    host_copy_to((host_copy){map, to, barrier, {c, w, h, n}, s, r}, blocks);
}

/* Copies that somebody waits for. */
static void host_finish_copies(unsigned barrier)
{
    int kept = 0;
    for (int i = 0; i < host_copies; i++) {
        host_copy copy = host_copy_queue[i];
        if (copy.barrier == barrier)
            host_do_copy(&copy);
        else
            host_copy_queue[kept++] = copy;
    }
    host_copies = kept;
}

NT_INLINE void nt_barrier_wait(unsigned barrier, unsigned parity)
{
    host_barrier *b = host_barrier_at(barrier);
    while ((b->phase & 1u) == parity && !host_error[0]) {
        host_finish_copies(barrier);
        if ((b->phase & 1u) == parity)
            host_yield();
    }
}

#define nt_barrier_wait_cluster nt_barrier_wait

#endif
