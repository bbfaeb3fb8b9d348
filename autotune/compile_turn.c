#include "autotune/compile_turn.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/paths.h"
#include "core/record.h"

/* Of the key, which is a hash already: its first 15 hexadecimal digits. */
static int64_t byte_of(const char *key)
{
    int64_t at = 0;
    for (int i = 0; i < 15 && key[i] != '\0'; i++)
        at = at * 16 + (key[i] <= '9' ? key[i] - '0' : (key[i] | 32) - 'a' + 10) % 16;
    return at;
}

static int open_turns(void)
{
    char folder[NT_PATH_BYTES - 16], path[NT_PATH_BYTES];
    if (nt_path_cache(folder, sizeof folder, NULL) != NT_OK)
        return -1;
    snprintf(path, sizeof path, "%s/turns", folder);
    return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
}

nt_compile_turn nt_compile_turn_take(const char *key, double patience_s)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte_of(key), .l_len = 1};
    nt_compile_turn turn = {open_turns()};
    double end_s = nt_now_s() + patience_s;
    while (turn.fd >= 0 && fcntl(turn.fd, F_OFD_SETLK, &lock) != 0) {
        if (nt_now_s() >= end_s) {
            nt_compile_turn_give(&turn);
            break;
        }
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    return turn;
}

void nt_compile_turn_give(nt_compile_turn *turn)
{
    if (turn->fd >= 0)
        close(turn->fd); /* and the lock with it */
    turn->fd = -1;
}
