/* test_message.c: messages over a socket whose other end sends what it likes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "autotune/message.h"
#include "core/clock.h"
#include "core/mem.h"
#include "scratch.h"

typedef struct wire {
    nt_channel ours;
    int peer; /* raw descriptor of the other end; -1 when it is closed */
} wire;

static int open_wire(void **state)
{
    int pair[2];
    wire *l = nt_alloc_zero(1, sizeof *l);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return -1;
    nt_channel_init(&l->ours, pair[0]);
    l->peer = pair[1];
    *state = l;
    return 0;
}

static void hang_up(wire *l)
{
    if (l->peer >= 0)
        close(l->peer);
    l->peer = -1;
}

static int close_wire(void **state)
{
    wire *l = *state;
    hang_up(l);
    nt_channel_done(&l->ours);
    assert_int_equal(l->ours.fd, -1);
    free(l);
    return 0;
}

static void send_raw(const wire *l, const void *data, size_t bytes)
{
    assert_int_equal(send(l->peer, data, bytes, 0), bytes);
}

/* A frame with this body; returns its size. */
static size_t frame(const char *body, unsigned char *out)
{
    size_t length = strlen(body);
    for (int i = 0; i < 4; i++)
        out[i] = (unsigned char)(length >> (8 * i));
    memcpy(out + 4, body, length);
    return length + 4;
}

static nt_status pump_next(wire *l, json_t **out, nt_error *err)
{
    nt_status status = nt_channel_pump(&l->ours, err);
    return status == NT_OK ? nt_channel_next(&l->ours, out, err) : status;
}

static void test_round_trip(void **state)
{
    wire *l = *state;
    nt_channel theirs;
    nt_error err;
    json_t *got;
    nt_channel_init(&theirs, l->peer);
    assert_int_equal(
        nt_channel_send(&theirs, json_pack("{s:s, s:f, s:n}", "op", "\xc3\xa4\"\\\n", "t", 0.1, "none"), &err), NT_OK);
    assert_int_equal(nt_channel_receive(&l->ours, 1000, &got, &err), NT_OK);
    assert_string_equal(json_string_value(json_object_get(got, "op")), "\xc3\xa4\"\\\n");
    assert_true(json_real_value(json_object_get(got, "t")) == 0.1); /* to the last bit */
    assert_true(json_is_null(json_object_get(got, "none")));
    json_decref(got);
}

static void test_split_frames(void **state)
{
    wire *l = *state;
    unsigned char data[64];
    nt_error err;
    json_t *got;
    size_t bytes = frame("{\"n\":1}", data);
    for (size_t i = 0; i + 1 < bytes; i++) {
        send_raw(l, data + i, 1);
        assert_int_equal(pump_next(l, &got, &err), NT_OK);
        assert_null(got);
    }
    send_raw(l, data + bytes - 1, 1);
    assert_int_equal(pump_next(l, &got, &err), NT_OK);
    assert_non_null(got);
    json_decref(got);
}

static void test_several_in_one_write(void **state)
{
    wire *l = *state;
    unsigned char data[128] = {0};
    nt_error err;
    json_t *got;
    size_t bytes = frame("{\"n\":1}", data);
    bytes += frame("{\"n\":2}", data + bytes);
    send_raw(l, data, bytes + 3); /* and the beginning of a third */
    assert_int_equal(nt_channel_pump(&l->ours, &err), NT_OK);
    for (int n = 1; n <= 2; n++) {
        assert_int_equal(nt_channel_next(&l->ours, &got, &err), NT_OK);
        assert_int_equal(json_integer_value(json_object_get(got, "n")), n);
        json_decref(got);
    }
    assert_int_equal(nt_channel_next(&l->ours, &got, &err), NT_OK);
    assert_null(got);
}

static void test_oversize_length(void **state)
{
    wire *l = *state;
    nt_error err;
    json_t *got;
    send_raw(l, "\x01\x00\x00\x04", 4); /* one more than 64 MiB, of which nothing need arrive */
    assert_int_equal(pump_next(l, &got, &err), NT_CORRUPT);
    assert_null(got);
    assert_non_null(strstr(err.what, "67108865"));
}

static void test_what_is_no_object(void **state)
{
    static const char *const bodies[] = {"",
                                         "{",
                                         "[1]",
                                         "\"text\"",
                                         "7",
                                         "null",
                                         "{\"a\":1}x",
                                         "{\"a\":1,\"a\":2}",
                                         "{\"a\":\"\xff\"}",
                                         "GET / HTTP/1.1"};
    wire *l = *state;
    unsigned char data[64];
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        nt_error err;
        json_t *got;
        send_raw(l, data, frame(bodies[i], data));
        assert_int_equal(pump_next(l, &got, &err), NT_CORRUPT);
        assert_null(got);
    }
}

static void test_peer_gone(void **state)
{
    wire *l = *state;
    unsigned char data[64];
    nt_error err;
    json_t *got;
    send_raw(l, data, frame("{\"last\":true}", data));
    send_raw(l, "\x10\x00\x00\x00{\"cut", 9);
    hang_up(l);
    assert_int_equal(nt_channel_receive(&l->ours, 1000, &got, &err), NT_OK); /* what came before is not lost */
    json_decref(got);
    assert_int_equal(nt_channel_receive(&l->ours, 1000, &got, &err), NT_CLOSED);
    assert_int_equal(nt_channel_receive(&l->ours, -1, &got, &err), NT_CLOSED); /* and again, at once */
}

/* SIGPIPE has its default action here: it would end this program. */
static void test_send_to_nobody(void **state)
{
    wire *l = *state;
    nt_error err;
    hang_up(l);
    assert_int_equal(nt_channel_send(&l->ours, json_object(), &err), NT_CLOSED);
}

static void test_unprintable_is_refused(void **state)
{
    wire *l = *state;
    nt_error err;
    assert_int_equal(nt_channel_send(&l->ours, NULL, &err), NT_FAILED);
}

static void test_timeout(void **state)
{
    wire *l = *state;
    unsigned char data[64];
    nt_error err;
    json_t *got;
    double begin = nt_now_s();
    send_raw(l, data, frame("{\"n\":1}", data) - 1);
    assert_int_equal(nt_channel_receive(&l->ours, 60, &got, &err), NT_TIMED_OUT);
    assert_true(nt_now_s() - begin >= 0.055);
    send_raw(l, "}", 1);
    assert_int_equal(nt_channel_receive(&l->ours, 0, &got, &err), NT_OK); /* nothing of it was lost */
    json_decref(got);
}

/* Far more than the socket holds, from another process, while this one reads. */
static void test_ten_megabytes(void **state)
{
    wire *l = *state;
    enum { BYTES = 10 << 20 };
    nt_error err;
    json_t *got;
    pid_t sender = fork();
    if (sender == 0) {
        char *text = nt_alloc(BYTES + 1);
        nt_channel theirs;
        memset(text, 'x', BYTES);
        text[BYTES] = '\0';
        nt_channel_init(&theirs, l->peer);
        json_t *message = json_pack("{s:s}", "text", text);
        free(text);
        _exit(nt_channel_send(&theirs, message, NULL) == NT_OK ? 0 : 1);
    }
    assert_int_equal(nt_channel_receive(&l->ours, 20000, &got, &err), NT_OK);
    const json_t *text = json_object_get(got, "text");
    assert_int_equal(json_string_length(text), BYTES);
    assert_int_equal(strspn(json_string_value(text), "x"), BYTES);
    json_decref(got);
    int status = -1;
    assert_int_equal(waitpid(sender, &status, 0), sender);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trip, open_wire, close_wire),
        cmocka_unit_test_setup_teardown(test_split_frames, open_wire, close_wire),
        cmocka_unit_test_setup_teardown(test_several_in_one_write, open_wire, close_wire),
        cmocka_unit_test_setup_teardown(test_oversize_length, open_wire, close_wire),
        cmocka_unit_test_setup_teardown(test_what_is_no_object, open_wire, close_wire),
        cmocka_unit_test_setup_teardown(test_peer_gone, open_wire, close_wire),
        cmocka_unit_test_setup_teardown(test_send_to_nobody, open_wire, close_wire),
        cmocka_unit_test_setup_teardown(test_unprintable_is_refused, open_wire, close_wire),
        cmocka_unit_test_setup_teardown(test_timeout, open_wire, close_wire),
        cmocka_unit_test_setup_teardown(test_ten_megabytes, open_wire, close_wire),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
