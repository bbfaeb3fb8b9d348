#include "autotune/message.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/mem.h"

void nt_channel_init(nt_channel *channel, int fd)
{
    *channel = (nt_channel){.fd = fd};
}

void nt_channel_done(nt_channel *channel)
{
    if (channel->fd >= 0)
        close(channel->fd);
    free(channel->buffer);
    *channel = (nt_channel){.fd = -1};
}

static nt_status wait_writable(int fd)
{
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    while (poll(&wait, 1, -1) < 0)
        if (errno != EINTR)
            return NT_IO;
    return NT_OK;
}

static nt_status write_all(int fd, const char *data, size_t bytes, nt_error *err)
{
    while (bytes > 0) {
        ssize_t wrote = send(fd, data, bytes, MSG_NOSIGNAL);
        if (wrote < 0 && errno == EAGAIN && wait_writable(fd) == NT_OK)
            continue;
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return nt_fail(err, NT_CLOSED, "cannot send a message: %s", strerror(errno));
        data += wrote;
        bytes -= (size_t)wrote;
    }
    return NT_OK;
}

nt_status nt_channel_send(nt_channel *channel, json_t *message, nt_error *err)
{
    char *text = json_dumps(message, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(message);
    if (text == NULL)
        return nt_fail(err, NT_FAILED, "a message could not be written as JSON");
    size_t length = strlen(text);
    char header[4];
    for (int i = 0; i < 4; i++)
        header[i] = (char)((length >> (8 * i)) & 0xff);
    nt_status status = write_all(channel->fd, header, sizeof header, err);
    if (status == NT_OK)
        status = write_all(channel->fd, text, length, err);
    free(text);
    return status;
}

nt_status nt_channel_pump(nt_channel *channel, nt_error *err)
{
    for (;;) {
        void *buffer = channel->buffer;
        nt_grow(&buffer, &channel->capacity, channel->length + 65536, 1);
        channel->buffer = buffer;
        ssize_t got =
            recv(channel->fd, channel->buffer + channel->length, channel->capacity - channel->length, MSG_DONTWAIT);
        if (got > 0) {
            channel->length += (size_t)got;
            if (channel->length > (size_t)NT_MESSAGE_LIMIT_BYTES + 4)
                return nt_fail(err, NT_CORRUPT, "a child sent more than %d bytes in one message",
                               NT_MESSAGE_LIMIT_BYTES);
            continue;
        }
        if (got == 0 || (errno != EAGAIN && errno != EINTR))
            channel->ended = true;
        return NT_OK;
    }
}

static uint32_t frame_length(const char *data)
{
    uint32_t length = 0;
    for (int i = 3; i >= 0; i--)
        length = length << 8 | (unsigned char)data[i];
    return length;
}

nt_status nt_channel_next(nt_channel *channel, json_t **out, nt_error *err)
{
    *out = NULL;
    size_t length = channel->length >= 4 ? frame_length(channel->buffer) : 0;
    if (length > NT_MESSAGE_LIMIT_BYTES)
        return nt_fail(err, NT_CORRUPT, "a child announced a message of %zu bytes", length);
    if (channel->length < 4 || channel->length < length + 4)
        return channel->ended ? nt_fail(err, NT_CLOSED, "the child closed its connection") : NT_OK;
    json_error_t where;
    json_t *message = json_loadb(channel->buffer + 4, length, JSON_REJECT_DUPLICATES, &where);
    channel->length -= length + 4;
    memmove(channel->buffer, channel->buffer + 4 + length, channel->length);
    if (!json_is_object(message)) {
        json_decref(message);
        return nt_fail(err, NT_CORRUPT, "a child sent something that is not a JSON object: %.200s", where.text);
    }
    *out = message;
    return NT_OK;
}

nt_status nt_channel_receive(nt_channel *channel, int timeout_ms, json_t **out, nt_error *err)
{
    int64_t deadline_ms = nt_now_whole_ns() / 1000000 + timeout_ms;
    for (;;) {
        nt_status status = nt_channel_next(channel, out, err);
        if (status != NT_OK || *out != NULL)
            return status;
        int64_t left_ms = timeout_ms < 0 ? -1 : deadline_ms - nt_now_whole_ns() / 1000000;
        if (timeout_ms >= 0 && left_ms < 0)
            return nt_fail(err, NT_TIMED_OUT, "no answer within %d ms", timeout_ms);
        struct pollfd wait = {.fd = channel->fd, .events = POLLIN};
        if (poll(&wait, 1, (int)left_ms) < 0 && errno != EINTR)
            return nt_fail(err, NT_IO, "poll: %s", strerror(errno));
        status = nt_channel_pump(channel, err);
        if (status != NT_OK)
            return status;
    }
}
