/* pipe.cuh: a ring of tiles in shared memory between the warp that copies and those that multiply, and turns of groups.
 * Comes after hopper.cuh.
 *
 * Each stage has a barrier that says it is full and one that says it is empty. `stages` is a constant. */

typedef struct nt_pipe {
    unsigned tiles, full, empty; /* shared addresses of stage 0 */
    unsigned stage, phase;
} nt_pipe;

NT_INLINE void nt_pipe_next(nt_pipe *p, unsigned stages)
{
    if (++p->stage == stages) {
        p->stage = 0;
        p->phase ^= 1u;
    }
}

NT_INLINE void nt_pipe_skip(nt_pipe *p, int count, unsigned stages)
{
    unsigned at = p->stage + (unsigned)count;
    p->phase ^= at / stages & 1u;
    p->stage = at % stages;
}

/* One thread: full stages wait for one copying thread, empty ones for `releases` arrivals. */
NT_INLINE void nt_pipe_start(const nt_pipe *p, unsigned stages, unsigned releases)
{
    for (unsigned i = 0; i < stages; i++) {
        nt_barrier_init(p->full + 8 * i, 1);
        nt_barrier_init(p->empty + 8 * i, releases);
    }
}

NT_INLINE unsigned nt_pipe_full(const nt_pipe *p)
{
    return p->full + 8 * p->stage;
}

NT_INLINE unsigned nt_pipe_empty(const nt_pipe *p)
{
    return p->empty + 8 * p->stage;
}

/* ---- two groups that take whole tiles in turn: `order` is two barriers of 4 arrivals ---- */

NT_INLINE void nt_turns_start(unsigned order)
{
    nt_barrier_init(order, 4);
    nt_barrier_init(order + 8, 4);
}

/* Groups begin to read stages in turn: a wait for a stage tells this filling of it from the next or the last, not from
 * those before. `turn` counts the tiles of the block. */
NT_INLINE void nt_turn_await(unsigned order, int turn)
{
    nt_barrier_wait(order + 8 * (turn % 2), (turn / 2 + turn + 1) & 1);
}

NT_INLINE void nt_turn_pass(unsigned order, int turn)
{
    if (threadIdx.x % 32 == 0)
        nt_barrier_arrive(order + 8 * ((turn + 1) % 2));
}
