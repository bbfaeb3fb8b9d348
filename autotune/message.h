/* message.h: JSON messages between the coordinator and its children, over a stream socket.
 *
 * A message is a 4-byte little-endian length and that many bytes of JSON (an object). The reader trusts nothing: a
 * length over the limit, bytes that are not JSON or a value that is not an object end the channel with NT_CORRUPT, and
 * the caller replaces the child. */
#ifndef NT_MESSAGE_H
#define NT_MESSAGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

enum { NT_MESSAGE_LIMIT_BYTES = 64 << 20 };

typedef struct nt_channel {
    int fd; /* -1 when closed; closed by nt_channel_done */
    char *buffer;
    size_t length, capacity;
    bool ended; /* the peer closed its end */
} nt_channel;

void nt_channel_init(nt_channel *channel, int fd);
void nt_channel_done(nt_channel *channel);

/* Sends one object; steals the reference. Blocks until it is written. NT_CLOSED when the peer is gone. */
nt_status nt_channel_send(nt_channel *channel, json_t *message, nt_error *err);

/* Reads what has arrived without blocking. NT_OK also when there was nothing. */
nt_status nt_channel_pump(nt_channel *channel, nt_error *err);

/* Takes the next whole message; *out is NULL (NT_OK) when none is complete yet, NT_CLOSED when none will come. */
nt_status nt_channel_next(nt_channel *channel, json_t **out, nt_error *err);

/* Waits for one message. timeout_ms < 0 waits for ever; NT_TIMED_OUT otherwise. */
nt_status nt_channel_receive(nt_channel *channel, int timeout_ms, json_t **out, nt_error *err);

#endif
