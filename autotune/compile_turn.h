/* compile_turn.h: one process at a time compiles a key. Sweeps of several devices share the compile cache and often
 * want the same code at the same moment: the first compiles it, the others wait and find it there.
 *
 * A turn is a lock on one byte of a file beside the cache, the byte that the key's hash names; the kernel lets go of it
 * however its holder ends. Two keys of one byte only wait for each other. */
#ifndef NT_COMPILE_TURN_H
#define NT_COMPILE_TURN_H

typedef struct nt_compile_turn {
    int fd; /* -1: not held */
} nt_compile_turn;

/* Waits for at most `patience_s`. Whoever has it looks into the cache once more. Where the turn cannot be had (no such
 * folder, patience at its end) the caller compiles without: twice is waste, not wrong. */
nt_compile_turn nt_compile_turn_take(const char *key, double patience_s);
void nt_compile_turn_give(nt_compile_turn *turn);

#endif
