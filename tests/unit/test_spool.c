/* Spools as an injected program writes them, cut at every byte, damaged, and made by others. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/mem.h"
#include "profiler/spool.h"
#include "profiler/spool_format.h"

typedef struct bytes {
    char data[1 << 16];
    size_t count;
    size_t frame; /* where the open frame begins */
} bytes;

static void add(bytes *b, const void *data, size_t count)
{
    if (count > 0)
        memcpy(b->data + b->count, data, count);
    b->count += count;
}

static void begin_file(bytes *b)
{
    nt_spool_head head = {.pid = 77, .started_ns = 1};
    b->count = 0;
    memcpy(head.magic, NT_SPOOL_MAGIC, sizeof head.magic);
    add(b, &head, sizeof head);
}

static void begin_frame(bytes *b)
{
    b->frame = b->count;
    b->count += sizeof(nt_spool_frame);
}

static void end_frame(bytes *b)
{
    uint32_t size = (uint32_t)(b->count - b->frame - sizeof(nt_spool_frame));
    nt_spool_frame frame = {.magic = NT_SPOOL_FRAME_MAGIC, .bytes = size};
    frame.checksum = nt_spool_checksum(b->data + b->frame + sizeof frame, size);
    memcpy(b->data + b->frame, &frame, sizeof frame);
}

static void record(bytes *b, nt_spool_type type, const void *body, size_t size, const char *text)
{
    nt_spool_record head = {.type = (uint32_t)type, .bytes = (uint32_t)(sizeof head + size + strlen(text))};
    static const char zeros[8];
    add(b, &head, sizeof head);
    add(b, body, size);
    add(b, text, strlen(text));
    add(b, zeros, nt_spool_padded(head.bytes) - head.bytes);
}

static void name(bytes *b, uint32_t id, const char *text)
{
    record(b, NT_SPOOL_NAME, &(nt_spool_name){.id = id}, sizeof(nt_spool_name), text);
}

static void open_range(bytes *b, uint32_t range, uint32_t parent, uint64_t at)
{
    nt_spool_open open = {.time_ns = at, .thread = 5, .range = range, .parent = parent, .name = 1};
    record(b, NT_SPOOL_OPEN, &open, sizeof open, "");
}

static void shut_range(bytes *b, uint32_t range, uint64_t at)
{
    nt_spool_close close = {.time_ns = at, .thread = 5, .range = range};
    record(b, NT_SPOOL_CLOSE, &close, sizeof close, "");
}

static void launch(bytes *b, uint32_t correlation, uint32_t range, uint64_t at, uint16_t kind)
{
    nt_spool_launch launched = {.time_ns = at, .thread = 5, .correlation = correlation, .range = range, .kind = kind};
    record(b, NT_SPOOL_LAUNCH, &launched, sizeof launched, "");
}

static void kernel(bytes *b, uint32_t correlation, uint64_t start, uint64_t end)
{
    nt_spool_kernel k = {.start_ns = start,
                         .end_ns = end,
                         .correlation = correlation,
                         .grid = {2, 1, 1},
                         .block = {64, 1, 1},
                         .registers = 40,
                         .name = 2};
    record(b, NT_SPOOL_KERNEL, &k, sizeof k, "");
}

static void memory(bytes *b, uint64_t address, uint64_t size, uint16_t released)
{
    nt_spool_memory m = {.address = address, .bytes = size, .kind = NT_MEMORY_DEVICE, .released = released};
    record(b, NT_SPOOL_MEMORY, &m, sizeof m, "");
}

/* Two frames: names, a range and a launch; then its kernel, a copy, memory and the end. */
static void make(bytes *b)
{
    begin_file(b);
    begin_frame(b);
    record(b, NT_SPOOL_COMMAND, NULL, 0, "./program");
    record(b, NT_SPOOL_CUDA, &(nt_spool_cuda){.time_ns = 1}, sizeof(nt_spool_cuda), "");
    name(b, 1, "range");
    name(b, 2, "_Z4workPfi");
    open_range(b, 1, 0, 100);
    launch(b, 9, 1, 110, NT_SPOOL_LAUNCH_GRAPH);
    shut_range(b, 1, 120);
    end_frame(b);
    begin_frame(b);
    kernel(b, 9, 200, 300);
    nt_spool_transfer copy = {
        .start_ns = 300, .end_ns = 400, .bytes = 1000, .correlation = 10, .direction = 1, .from = 2, .to = 3};
    record(b, NT_SPOOL_COPY, &copy, sizeof copy, "");
    memory(b, 64, 500, 0);
    memory(b, 128, 300, 0);
    memory(b, 64, 0, 1);
    memory(b, 256, 400, 0);
    record(b, NT_SPOOL_END, &(nt_spool_number){0}, sizeof(nt_spool_number), "");
    end_frame(b);
}

typedef struct folder {
    char path[64], file[96];
} folder;

static int setup(void **state)
{
    folder *f = nt_alloc_zero(1, sizeof *f);
    strcpy(f->path, "/tmp/nntune-spool-XXXXXX");
    if (mkdtemp(f->path) == NULL)
        return -1;
    snprintf(f->file, sizeof f->file, "%s/77-0.spool", f->path);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    folder *f = *state;
    nt_spools_remove(f->path);
    assert_int_not_equal(access(f->path, F_OK), 0);
    free(f);
    return 0;
}

static void write_file(const folder *f, const char *data, size_t count)
{
    FILE *file = fopen(f->file, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, count, file), count);
    fclose(file);
}

static void read_folder(const folder *f, nt_trace *trace)
{
    nt_error err;
    nt_spools *spools = nt_spools_open(f->path, trace);
    if (nt_spools_read(spools, &err) != NT_OK)
        fail_msg("%s", err.what);
    nt_spools_close(spools);
}

static void test_whole(void **state)
{
    const folder *f = *state;
    bytes *b = nt_alloc(sizeof *b);
    nt_trace t = {0};
    make(b);
    write_file(f, b->data, b->count);
    read_folder(f, &t);
    assert_int_equal(t.process_count, 1);
    assert_int_equal(t.process[0].pid, 77);
    assert_string_equal(t.name[t.process[0].name], "./program");
    assert_true(t.process[0].used_cuda && t.process[0].ended);
    assert_int_equal(t.process[0].lost_bytes, 0);
    assert_int_equal(t.process[0].graph_launches, 1);
    assert_int_equal(t.process[0].memory_peak_bytes, 800); /* before 64 was released */
    assert_int_equal(t.process[0].memory_now_bytes, 700);
    assert_int_equal(t.range_count, 1);
    assert_int_equal(t.range[0].close_ns, 120);
    assert_int_equal(t.work_count, 2);
    assert_int_equal(t.work[0].range, 0);
    assert_int_equal(t.work[0].launch_ns, 110);
    assert_int_equal(t.work[1].range, -1);
    assert_int_equal(t.work[1].from, NT_MEMORY_PINNED);
    const char *kernel_name = t.name[t.shape[t.work[0].shape].name];
    assert_true(strcmp(kernel_name, "work(float*, int)") == 0 || strcmp(kernel_name, "_Z4workPfi") == 0);
    nt_trace_done(&t);
    free(b);
}

/* Whatever is cut off, what stands before the cut is there and what lies behind the last whole frame is counted. */
static void test_cut_at_every_byte(void **state)
{
    const folder *f = *state;
    bytes *b = nt_alloc(sizeof *b);
    make(b);
    size_t second = b->frame;
    for (size_t count = 0; count < b->count; count++) {
        nt_trace t = {0};
        write_file(f, b->data, count);
        read_folder(f, &t);
        size_t good = count >= second ? second : count >= sizeof(nt_spool_head) ? sizeof(nt_spool_head) : 0;
        assert_int_equal(t.process[0].lost_bytes, count - good);
        assert_int_equal(t.range_count, count >= second ? 1 : 0);
        assert_int_equal(t.work_count, 0);
        nt_trace_done(&t);
    }
    free(b);
}

static void test_every_byte_damaged(void **state)
{
    const folder *f = *state;
    bytes *b = nt_alloc(sizeof *b);
    make(b);
    for (size_t at = 0; at < b->count; at++) {
        nt_trace t = {0};
        b->data[at] = (char)(b->data[at] ^ 0x40);
        write_file(f, b->data, b->count);
        read_folder(f, &t);
        assert_true(t.work_count == 0 || at >= 8); /* the head beyond its magic tells no more than a pid */
        assert_true(at < sizeof(nt_spool_head) || t.process[0].lost_bytes > 0);
        nt_trace_done(&t);
        b->data[at] = (char)(b->data[at] ^ 0x40);
    }
    free(b);
}

/* Records of impossible size, type or id behind a good checksum: written by somebody who knows the format. */
static void test_hostile_records(void **state)
{
    const folder *f = *state;
    static const struct {
        uint32_t type, bytes;
    } heads[] = {{0, 16},
                 {99, 16},
                 {NT_SPOOL_KERNEL, 16},
                 {NT_SPOOL_NAME, 7},
                 {NT_SPOOL_NAME, 0xFFFFFFFF},
                 {NT_SPOOL_MEMORY, 12},
                 {NT_SPOOL_PROBLEM, 0}};
    bytes *b = nt_alloc_zero(1, sizeof *b);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        nt_trace t = {0};
        begin_file(b);
        begin_frame(b);
        nt_spool_record head = {heads[i].type, heads[i].bytes};
        add(b, &head, sizeof head);
        add(b, "01234567", 8);
        end_frame(b);
        write_file(f, b->data, b->count);
        read_folder(f, &t);
        assert_int_equal(t.process[0].lost_bytes, b->count - sizeof(nt_spool_head));
        nt_trace_done(&t);
    }
    nt_trace t = {0};
    begin_file(b);
    begin_frame(b);
    name(b, 0xFFFFFFF0, "far");
    end_frame(b);
    write_file(f, b->data, b->count);
    read_folder(f, &t);
    assert_true(t.process[0].lost_bytes > 0);
    nt_trace_done(&t);
    free(b);
}

static void test_strange_values(void **state)
{
    const folder *f = *state;
    bytes *b = nt_alloc(sizeof *b);
    nt_trace t = {0};
    begin_file(b);
    begin_frame(b);
    shut_range(b, 7, 500); /* from another thread, whose ring was emptied first */
    open_range(b, 7, 3, 400);
    open_range(b, 8, 7, 600);
    shut_range(b, 8, 100); /* the clock went backwards */
    memory(b, 1, UINT64_MAX, 0);
    memory(b, 2, 10, 1);
    nt_spool_kernel k = {.start_ns = UINT64_MAX,
                         .end_ns = 5,
                         .block = {INT32_MAX, INT32_MAX, INT32_MAX},
                         .smem_static_bytes = -5,
                         .name = 12345,
                         .device = 99};
    record(b, NT_SPOOL_KERNEL, &k, sizeof k, "");
    nt_spool_transfer copy = {.start_ns = 1, .end_ns = 2, .bytes = UINT64_MAX, .direction = 99, .from = 99, .to = 99};
    record(b, NT_SPOOL_COPY, &copy, sizeof copy, "");
    end_frame(b);
    write_file(f, b->data, b->count);
    read_folder(f, &t);
    assert_int_equal(t.process[0].lost_bytes, 0);
    assert_int_equal(t.range[0].close_ns, 500);
    assert_int_equal(t.range[0].parent, -1);
    assert_int_equal(t.range[1].parent, 0);
    assert_int_equal(t.range[1].close_ns, NT_UNKNOWN);
    assert_int_equal(t.backwards, 1);
    assert_int_equal(t.process[0].memory_now_bytes, 0);
    assert_int_equal(t.work[0].start_ns, NT_UNKNOWN);
    assert_int_equal(t.shape[0].smem_static_bytes, NT_UNKNOWN);
    assert_string_equal(t.name[t.shape[0].name], "(unnamed)");
    assert_int_equal(t.work[1].bytes, NT_UNKNOWN);
    assert_int_equal(t.work[1].direction, NT_COPY_UNKNOWN);
    nt_trace_done(&t);
    free(b);
}

/* ---- counted launches ---------------------------------------------------------------------------------------------------- */

static void metric(bytes *b, uint32_t number, const char *text)
{
    record(b, NT_SPOOL_METRIC, &(nt_spool_metric){.number = number}, sizeof(nt_spool_metric), text);
}

static void counting(bytes *b, uint32_t correlation, uint32_t outer)
{
    nt_spool_counting c = {.time_ns = 5, .correlation = correlation, .outer = outer};
    record(b, NT_SPOOL_COUNTING, &c, sizeof c, "");
}

static void counted(bytes *b, uint32_t first_metric, uint32_t count, const double *values, uint32_t there)
{
    nt_spool_counted c = {
        .time_ns = 6, .correlation = 9, .name = 2, .passes = 3, .first_metric = first_metric, .count = count};
    char body[sizeof c + 8 * sizeof *values];
    memcpy(body, &c, sizeof c);
    memcpy(body + sizeof c, values, there * sizeof *values);
    record(b, NT_SPOOL_COUNTED, body, sizeof c + there * sizeof *values, "");
}

/* A counted launch that was recorded in each of its passes is one; another launch recorded twice stays two. */
static void test_counted(void **state)
{
    const folder *f = *state;
    static const double values[] = {50.5, INFINITY, 7};
    bytes *b = nt_alloc(sizeof *b);
    nt_trace t = {0};
    begin_file(b);
    begin_frame(b);
    name(b, 2, "work");
    metric(b, 1, "occupancy_pct\t%\tsm__warps");
    metric(b, 2, "odd\t\t");
    metric(b, 3, "seven\tbytes\tx.sum");
    counting(b, 9, 8);
    counting(b, 3, 3);
    for (int i = 0; i < 3; i++) {
        kernel(b, 9, 200, 300);
        kernel(b, 8, 200, 300);
        kernel(b, 3, 200, 300);
    }
    kernel(b, 10, 400, 500);
    kernel(b, 10, 500, 600);
    counted(b, 1, 3, values, 3);
    record(b, NT_SPOOL_UNCOUNTED, &(nt_spool_uncounted){.reason = NT_SPOOL_UNCOUNTED_DISTURBED},
           sizeof(nt_spool_uncounted), "");
    record(b, NT_SPOOL_UNCOUNTED, &(nt_spool_uncounted){.reason = 77}, sizeof(nt_spool_uncounted), "");
    record(b, NT_SPOOL_COUNT_PROBLEM, &(nt_spool_number){.value = 26}, sizeof(nt_spool_number), "taking them");
    end_frame(b);
    write_file(f, b->data, b->count);
    read_folder(f, &t);
    assert_int_equal(t.process[0].lost_bytes, 0);
    assert_int_equal(t.work_count, 5);
    assert_int_equal(t.metric_count, 3);
    assert_int_equal(t.metric[1].counter, -1);
    assert_string_equal(t.name[t.metric[2].unit], "bytes");
    assert_int_equal(t.counted_count, 1);
    assert_int_equal(t.counted[0].passes, 3);
    assert_string_equal(t.name[t.counted[0].name], "work");
    assert_true(t.value[0] == 50.5 && isnan(t.value[1]) && t.value[2] == 7);
    assert_int_equal(t.process[0].uncounted[NT_UNCOUNTED_DISTURBED], 1);
    assert_int_equal(t.process[0].count_problem, 26);
    assert_string_equal(t.process[0].count_problem_text, "taking them");
    nt_trace_done(&t);
    free(b);
}

/* Values for metrics that were not told, more or fewer of them than it says, metrics without their three parts. */
static void test_counted_wrongly(void **state)
{
    const folder *f = *state;
    static const double values[8] = {1};
    static const struct {
        const char *metric;
        uint32_t first, count, there;
    } rows[] = {{"a\tb\tc", 2, 1, 1}, {"a\tb\tc", 1, 2, 2}, {"a\tb\tc", 1, 1, 0},
                {"a\tb\tc", 1, 1, 2}, {"a\tb\tc", 0, 1, 1}, {"a\tb\tc", 1, UINT32_MAX, 1},
                {"a\tb", 1, 1, 1},    {"", 1, 1, 1},        {"a\tb\tc", 1, 300, 8}};
    bytes *b = nt_alloc(sizeof *b);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        nt_trace t = {0};
        begin_file(b);
        begin_frame(b);
        metric(b, 1, rows[i].metric);
        counted(b, rows[i].first, rows[i].count, values, rows[i].there);
        end_frame(b);
        write_file(f, b->data, b->count);
        read_folder(f, &t);
        if (t.counted_count > 0 || t.process[0].lost_bytes == 0)
            fail_msg("row %zu was taken", i);
        nt_trace_done(&t);
    }
    free(b);
}

/* Read while it is written: nothing twice, nothing missed, also of a frame that comes in two halves. */
static void test_growing(void **state)
{
    const folder *f = *state;
    bytes *b = nt_alloc(sizeof *b);
    nt_trace t = {0};
    nt_error err;
    make(b);
    nt_spools *spools = nt_spools_open(f->path, &t);
    size_t cuts[] = {0, 10, b->frame + 40, b->frame + 60, b->count};
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        FILE *file = fopen(f->file, "a");
        size_t from = i > 0 ? cuts[i - 1] : 0;
        assert_int_equal(fwrite(b->data + from, 1, cuts[i] - from, file), cuts[i] - from);
        fclose(file);
        assert_int_equal(nt_spools_read(spools, &err), NT_OK);
        assert_int_equal(nt_spools_read(spools, &err), NT_OK);
        assert_int_equal(t.process_count, 1);
        assert_int_equal(t.work_count, i == 4 ? 2 : 0);
    }
    nt_spools_close(spools);
    assert_int_equal(t.process[0].lost_bytes, 0);
    nt_trace_done(&t);
    free(b);
}

static void test_others_in_the_folder(void **state)
{
    const folder *f = *state;
    char link[128], other[128];
    nt_trace t = {0};
    write_file(f, "not a spool at all, but longer than its head would be", 53);
    snprintf(link, sizeof link, "%s/link.spool", f->path);
    snprintf(other, sizeof other, "%s/other.txt", f->path);
    assert_int_equal(symlink("/etc/passwd", link), 0);
    FILE *file = fopen(other, "w");
    fclose(file);
    read_folder(f, &t);
    assert_int_equal(t.process_count, 1); /* a link is not followed */
    assert_true(t.process[0].lost_bytes > 0);
    assert_int_equal(t.process[0].pid, NT_UNKNOWN);
    nt_trace_done(&t);
    unlink(other);
    nt_error err;
    nt_spools *spools = nt_spools_open("/nonexistent/folder", &t);
    assert_int_equal(nt_spools_read(spools, &err), NT_IO);
    assert_non_null(strstr(err.what, "/nonexistent/folder"));
    nt_spools_close(spools);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cut_at_every_byte, setup, teardown),
        cmocka_unit_test_setup_teardown(test_every_byte_damaged, setup, teardown),
        cmocka_unit_test_setup_teardown(test_hostile_records, setup, teardown),
        cmocka_unit_test_setup_teardown(test_strange_values, setup, teardown),
        cmocka_unit_test_setup_teardown(test_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(test_counted_wrongly, setup, teardown),
        cmocka_unit_test_setup_teardown(test_growing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_others_in_the_folder, setup, teardown),
    };
    return cmocka_run_group_tests_name("spool", tests, NULL, NULL);
}
