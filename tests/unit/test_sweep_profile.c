/* test_sweep_profile.c: counters in a sweep, with a counter worker of the test's own: what becomes of a trial that
 * fails under the counters, told or not, and of the others of its batch. Needs python3, which plays the worker. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "autotune/sweep.h"
#include "core/json.h"
#include "scratch.h"

#include "array_sink.h"

enum { TRIALS = 40, MOST_WARNINGS = 32 };

static array_sink *sink;
static nt_sweep_result result;
static nt_error err;
static int counted[ARRAY_MOST + 1]; /* by trial: how often its counters were stored */
static char warning[MOST_WARNINGS][600];
static int warnings;

/* Answers as the counter worker does. WORKER_FAULTS holds numbers of trials (counted from the least of the first batch)
 * that end it: told in the reply, or (with WORKER_SILENT) by its death alone. */
static const char worker[] =
    "import json, os, socket, struct, sys\n"
    "s = socket.socket(fileno=3)\n"
    "def get(n):\n"
    "    data = b''\n"
    "    while len(data) < n:\n"
    "        part = s.recv(n - len(data))\n"
    "        if not part: sys.exit(0)\n"
    "        data += part\n"
    "    return data\n"
    "def put(o):\n"
    "    data = json.dumps(o).encode()\n"
    "    s.sendall(struct.pack('<I', len(data)) + data)\n"
    "faults = [int(n) for n in os.environ['WORKER_FAULTS'].split()]\n"
    "while True:\n"
    "    q = json.loads(get(struct.unpack('<I', get(4))[0]))\n"
    "    r = {'op': q['op'], 'status': 0}\n"
    "    if q['op'] == 'open':\n"
    "        r.update(passes=1, source='test', metrics=[{'name': 'occupancy_pct', 'unit': '%'}])\n"
    "    if q['op'] == 'counters':\n"
    "        bad = [i['trial'] for i in q['items'] if i['trial'] in faults]\n"
    "        if bad and os.environ.get('WORKER_SILENT'): os._exit(1)\n"
    "        if bad:\n"
    "            put(dict(r, status=int(os.environ['WORKER_LOST']), what='an illegal address', hint='', "
    "trial=bad[0]))\n"
    "            sys.exit(0)\n"
    "        r.update(counters=[{'trial': i['trial'], 'values': {'occupancy_pct': 50.0}} for i in q['items']])\n"
    "    put(r)\n";

static nt_status take_counters(nt_sink *unused, const nt_counter *counters, int count, nt_error *error)
{
    (void)unused, (void)error;
    for (int i = 0; i < count; i++)
        if (counters[i].trial_id <= ARRAY_MOST && counters[i].value == 50)
            counted[counters[i].trial_id]++;
    return NT_OK;
}

static void take_warning(void *unused, const char *id, const char *text)
{
    (void)unused;
    if (warnings < MOST_WARNINGS)
        snprintf(warning[warnings++], sizeof warning[0], "%s: %s", id, text);
}

static int open_all(void **state)
{
    char path[120], text[700], number[16];
    int failed = scratch_open(state);
    sink = array_sink_new();
    sink->sink.put_counters = take_counters;
    memset(&err, 0, sizeof err);
    memset(counted, 0, sizeof counted);
    warnings = 0;
    snprintf(path, sizeof path, "%s/worker.py", scratch_folder);
    FILE *file = fopen(path, "w");
    if (file == NULL || fputs(worker, file) < 0 || fclose(file) != 0)
        return 1;
    snprintf(text, sizeof text, "[ \"$1\" != --counter-worker ] || exec python3 %s\nexec '%s' \"$@\"", path,
             scratch_program);
    scratch_script(text);
    snprintf(number, sizeof number, "%d", (int)NT_DEVICE_LOST);
    setenv("WORKER_LOST", number, 1);
    setenv("WORKER_FAULTS", "", 1);
    unsetenv("WORKER_SILENT");
    return failed;
}

static int close_all(void **state)
{
    array_sink_free(sink);
    nt_sweep_result_done(&result);
    return scratch_close(state);
}

static bool cannot_run(void)
{
    return scratch_no_program() || system("command -v python3 > /dev/null") != 0;
}

static nt_status sweep(void)
{
    static const nt_sweep_events events = {.warning = take_warning};
    static const char *const metric = "occupancy_pct";
    nt_sweep_options options = {.layer = "conv3x3",
                                .device = NT_DEVICE_FAKE,
                                .shape = {"4x7x7"},
                                .shape_count = 1,
                                .batch = {1},
                                .batch_count = 1,
                                .precision = {NT_FP32},
                                .precision_count = 1,
                                .budget = {.trials = TRIALS},
                                .seed = 3,
                                .ci_rel = 0.005,
                                .max_error = 0.01,
                                .compile_children = 2,
                                .profile = NT_PROFILE_ALL,
                                .metric = {metric},
                                .metric_count = 1,
                                .command = "test"};
    return nt_sweep_run(&options, &sink->sink, &events, &result, &err);
}

/* Trials that are ok, have counters or not as the list says. */
static void expect_all_but(const char *without)
{
    int ok = 0;
    char word[16];
    for (int i = 0; i < sink->trial_count; i++) {
        const nt_trial *trial = &sink->trials[i];
        if (trial->outcome != NT_OUTCOME_OK)
            continue;
        ok++;
        snprintf(word, sizeof word, " %d ", (int)trial->id);
        bool wanted = strstr(without, word) == NULL;
        if (wanted != (counted[trial->id] > 0))
            fail_msg("trial %d has %d counters", (int)trial->id, counted[trial->id]);
    }
    assert_true(ok > 20);
    assert_string_equal(sink->end_state, "done");
}

/* Numbers of ok trials, of which faults are chosen: the same sweep is run once before. */
static int ok_trial(int n)
{
    for (int i = 0; i < sink->trial_count; i++)
        if (sink->trials[i].outcome == NT_OUTCOME_OK && n-- == 0)
            return (int)sink->trials[i].id;
    return -1;
}

/* Of those, that are ok this time too: a time near three times the best may be abandoned or not. */
static int faults_met(const char *faults)
{
    int met = 0;
    char word[16];
    for (int i = 0; i < sink->trial_count; i++) {
        snprintf(word, sizeof word, " %d ", (int)sink->trials[i].id);
        met += sink->trials[i].outcome == NT_OUTCOME_OK && strstr(faults, word) != NULL;
    }
    return met;
}

static void run_with_faults(char faults[40])
{
    assert_int_equal(sweep(), NT_OK);
    expect_all_but("");
    assert_int_equal(warnings, 0);
    snprintf(faults, 40, " %d %d %d ", ok_trial(3), ok_trial(11), ok_trial(17));
    setenv("WORKER_FAULTS", faults, 1);
    array_sink_free(sink);
    sink = array_sink_new();
    sink->sink.put_counters = take_counters;
    memset(counted, 0, sizeof counted);
    nt_sweep_result_done(&result);
    assert_int_equal(sweep(), NT_OK);
}

static void test_a_fault_that_is_told(void **state)
{
    (void)state;
    char faults[40];
    if (cannot_run())
        skip();
    run_with_faults(faults);
    expect_all_but(faults);
    assert_true(warnings > 0);
    assert_int_equal(warnings, faults_met(faults));
    for (int i = 0; i < warnings; i++) {
        char trial[16];
        snprintf(trial, sizeof trial, " %d ", atoi(warning[i] + strlen("counter-fault: trial ")));
        assert_non_null(strstr(faults, trial));
        assert_non_null(strstr(warning[i], "an illegal address"));
    }
    assert_false(result.interrupted_by != 0);
}

static void test_a_fault_that_ends_the_worker(void **state)
{
    (void)state;
    char faults[40];
    if (cannot_run())
        skip();
    setenv("WORKER_SILENT", "1", 1);
    run_with_faults(faults);
    expect_all_but(faults);
    assert_true(warnings > 0);
    assert_int_equal(warnings, faults_met(faults));
    assert_non_null(strstr(warning[0], "counter-fault: trial "));
}

/* Where every launch fails, counting ends with one line of advice and the sweep as ever. */
static void test_faults_everywhere(void **state)
{
    (void)state;
    char faults[4000] = " ";
    if (cannot_run())
        skip();
    for (int i = 1; i < 500; i++)
        snprintf(faults + strlen(faults), 8, "%d ", i);
    setenv("WORKER_FAULTS", faults, 1);
    assert_int_equal(sweep(), NT_OK);
    expect_all_but(faults);
    assert_true(warnings > 0 && warnings < 12);
    assert_non_null(strstr(warning[warnings - 1], "no-counters: "));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_fault_that_is_told),
        TEST(test_a_fault_that_ends_the_worker),
        TEST(test_faults_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
