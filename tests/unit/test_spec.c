/* test_spec.c: specs of a user's own kernel: what is read, what follows from it (space, options, plan, buffers), and
 * that every mistake is named with its file and key. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "autotune/space.h"
#include "core/json.h"
#include "spec_files.h"

static const char base[] =
    "{\"nntune_spec\": 1, \"name\": \"saxpy\", \"language\": \"c\", \"sources\": [\"saxpy.c\"],"
    " \"sizes\": {\"n\": 1000, \"m\": 3},"
    " \"defines\": {\"WORK\": \"{chunk * 2}\", \"LIMIT\": 7},"
    " \"parameters\": [{\"name\": \"chunk\", \"values\": [16, 64, 256], \"default\": 64},"
    "                  {\"name\": \"fast\", \"values\": [true, false]},"
    "                  {\"name\": \"scale\", \"values\": [1, 0.5]},"
    "                  {\"name\": \"kind\", \"values\": \"['a', 'b']\"},"
    "                  {\"name\": \"items\", \"values\": \"range(1, 4)\", \"use\": \"launch\"}],"
    " \"constraints\": [\"chunk * items <= 256\"],"
    " \"arguments\": [{\"name\": \"x\", \"type\": \"f32\", \"count\": \"n * m + max(chunk)\"},"
    "                 {\"name\": \"y\", \"type\": \"f64\", \"count\": \"n\", \"access\": \"readwrite\","
    "                  \"fill\": \"constant\", \"constant\": 2},"
    "                 {\"name\": \"k\", \"type\": \"u8\", \"count\": 64, \"fill\": \"uniform\", \"low\": 3, \"high\": "
    "5},"
    "                 {\"name\": \"a\", \"type\": \"f64\", \"value\": \"scale * 2.5\"},"
    "                 {\"name\": \"b\", \"type\": \"f32\", \"value\": 0.25},"
    "                 {\"name\": \"n\", \"type\": \"i32\", \"value\": \"-n\"}],"
    " \"kernels\": [{\"entry\": \"first\", \"grid\": [\"(n + chunk - 1) // chunk\", \"m\"]},"
    "               {\"entry\": \"second\", \"grid\": \"items\", \"arguments\": [\"y\", \"n\"]}],"
    " \"reference\": {\"configuration\": {\"chunk\": 16}},"
    " \"tolerance\": {\"relative\": 0.5}, \"flop\": \"2 * n\"}";

static const char source[] = "#include \"part.h\"\nvoid first(float *x) {}\n";

static void write_with(const char *key, const char *value)
{
    json_t *root = json_loads(base, 0, NULL);
    assert_non_null(root);
    if (key != NULL && value == NULL)
        json_object_del(root, key);
    else if (key != NULL) {
        json_error_t where;
        json_t *json = json_loads(value, JSON_DECODE_ANY, &where);
        if (json == NULL)
            fail_msg("%s: %s", value, where.text);
        json_object_set_new(root, key, json);
    }
    char *text = json_dumps(root, 0);
    spec_write("saxpy.json", text);
    spec_write("saxpy.c", source);
    spec_write("part.h", "#define PART 1\n");
    free(text);
    json_decref(root);
}

static const nt_spec *load(void)
{
    write_with(NULL, NULL);
    return spec_load(spec_file("saxpy.json"));
}

static nt_problem problem_of(const nt_spec *spec)
{
    nt_problem problem = {.batch = 1, .precision = spec->precision, .shape = spec->sizes};
    nt_copy(problem.layer, sizeof problem.layer, spec->layer.name);
    return problem;
}

/* ---- what is read ------------------------------------------------------------------------------------------------------- */

static void a_spec_is_a_layer_and_a_kernel(void **state)
{
    (void)state;
    const nt_spec *spec = load();
    assert_ptr_equal(nt_layer_find("user:saxpy"), &spec->layer);
    assert_ptr_equal(nt_kernel_find("user:saxpy", NT_DEVICE_CPU, "first+second"), &spec->kernel);
    assert_ptr_equal(nt_spec_of("user:saxpy"), spec);
    assert_null(nt_spec_of("conv3x3"));
    nt_shape shape;
    assert_int_equal(spec->layer.parse_shape("n=5", &shape, NULL), NT_OK);
    assert_int_equal(nt_shape_get(&shape, "n"), 5);
    assert_int_equal(nt_shape_get(&shape, "m"), 3);
    nt_error err;
    assert_int_equal(spec->layer.parse_shape("q=5", &shape, &err), NT_USAGE);
    assert_string_equal(err.what, "user:saxpy has no size 'q'");
    assert_string_equal(err.hint, "sizes and their values in the spec: n=1000,m=3");
    assert_int_equal(spec->layer.parse_shape("n=relu", &shape, &err), NT_USAGE); /* a word of other layers' shapes */
    assert_string_equal(err.what, "'relu' is not a size for n (a whole number from 1)");
    nt_spec_forget_all();
    assert_null(nt_layer_find("user:saxpy"));
    assert_null(nt_kernel_find("user:saxpy", NT_DEVICE_CPU, "first+second"));
}

static void its_space_is_that_of_its_parameters(void **state)
{
    (void)state;
    const nt_spec *spec = load();
    nt_problem problem = problem_of(spec);
    nt_device_info device;
    nt_space *space;
    nt_config config;
    nt_device_info_init(&device, NT_DEVICE_CPU);
    assert_int_equal(nt_space_build(&spec->kernel, &problem, &device, NULL, 0, NULL, &space, NULL), NT_OK);
    assert_int_equal(nt_space_total(space), 3 * 2 * 2 * 2 * 3);
    assert_int_equal(nt_space_size(space), (3 + 3 + 1) * 8); /* 16 and 64 with 1, 2, 3 items, 256 with 1 */
    nt_space_free(space);
    nt_kernel_default_config(&spec->kernel, &config);
    nt_str options = {0};
    nt_kernel_options(&spec->kernel, &problem, &config, &options);
    assert_non_null(strstr(nt_str_text(&options), " -Dchunk=64 -Dfast=1 -Dscale=1 -Dkind=a -DWORK=128 -DLIMIT=7 -I"));
    assert_null(strstr(nt_str_text(&options), "items"));
    nt_str_done(&options);
}

static void its_plan_is_the_chain(void **state)
{
    (void)state;
    const nt_spec *spec = load();
    nt_problem problem = problem_of(spec);
    nt_config config;
    nt_plan plan;
    double a;
    nt_kernel_default_config(&spec->kernel, &config);
    config.index[2] = 0; /* reals ascend as listed: 1, 0.5 */
    assert_int_equal(spec->kernel.plan(&problem, &config, NULL, &plan, NULL), NT_OK);
    assert_int_equal(plan.stage_count, 2);
    const nt_stage *first = &plan.stage[0], *second = &plan.stage[1];
    assert_string_equal(first->entry, "nntune_0_first");
    assert_int_equal(first->grid[0], 16);
    assert_int_equal(first->grid[1], 3);
    assert_int_equal(first->arg_count, 6);
    assert_int_equal(first->arg[0].role, NT_ROLE_USER);
    assert_int_equal(first->arg[2].role, NT_ROLE_USER + 2);
    memcpy(&a, &first->arg[3].value, sizeof a);
    assert_true(a == 2.5);
    assert_int_equal(first->arg[4].kind, NT_ARG_F32);
    assert_true(first->arg[4].real == 0.25f);
    assert_int_equal(first->arg[5].value, -1000);
    assert_string_equal(second->entry, "nntune_1_second");
    assert_int_equal(second->grid[0], 1);
    assert_int_equal(second->arg_count, 2);
    assert_int_equal(second->arg[0].role, NT_ROLE_USER + 1);
}

static void its_buffers_have_sizes_and_contents(void **state)
{
    (void)state;
    const nt_spec *spec = load();
    nt_problem problem = problem_of(spec);
    nt_extents extents;
    int64_t counts[NT_SPEC_ARGUMENTS];
    assert_int_equal(spec->layer.extents(&problem, &extents, NULL), NT_OK);
    assert_int_equal(nt_spec_counts(spec, &problem, counts, NULL), NT_OK);
    assert_int_equal(counts[0], 3256);
    assert_int_equal(extents.buffer_bytes, 13056 + 8192 + 256); /* each begins at a multiple of 256 */
    assert_true(extents.flop == 2000);
    assert_true(extents.bytes == 3256 * 4 + 2 * 8000 + 64); /* y is read and written */
    double y[1000];
    uint8_t k[64], again[64], other[64];
    unsigned seen = 0;
    assert_int_equal(nt_spec_fill_buffer(spec, 1, 1, 1000, y, NULL), NT_OK);
    assert_true(y[0] == 2 && y[999] == 2);
    nt_spec_fill_buffer(spec, 2, 1, 64, k, NULL);
    nt_spec_fill_buffer(spec, 2, 1, 64, again, NULL);
    nt_spec_fill_buffer(spec, 2, 2, 64, other, NULL);
    assert_memory_equal(k, again, 64);
    assert_memory_not_equal(k, other, 64);
    for (int i = 0; i < 64; i++)
        seen |= 1U << k[i];
    assert_int_equal(seen, 1U << 3 | 1U << 4 | 1U << 5);
    assert_true(spec->argument[1].relative == 0.5);
    assert_true(spec->argument[1].absolute == 0); /* a tolerance says both */
}

/* ---- files -------------------------------------------------------------------------------------------------------------- */

static void write_npy(const char *name, const char *descr, const char *shape, const void *data, size_t bytes)
{
    char file[4096], header[200];
    int length =
        snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n", descr, shape);
    memcpy(file, "\x93NUMPY\x01\x00", 8);
    file[8] = (char)length;
    file[9] = 0;
    memcpy(file + 10, header, (size_t)length);
    memcpy(file + 10 + length, data, bytes);
    assert_int_equal(nt_write_file(spec_file(name), file, 10 + (size_t)length + bytes, NULL), NT_OK);
}

static void buffers_are_filled_from_files(void **state)
{
    (void)state;
    const float x[] = {1, 2, 3, 4};
    const double y[] = {5, 6, 7, 8};
    double expected[4];
    float got[4];
    write_npy("x.npy", "<f4", "(2, 2)", x, sizeof x);
    assert_int_equal(nt_write_file(spec_file("y.raw"), y, sizeof y, NULL), NT_OK);
    json_t *root = json_loads(base, 0, NULL);
    json_object_set_new(root, "arguments",
                        json_loads("[{\"name\": \"x\", \"type\": \"f32\", \"count\": 4, \"file\": \"x.npy\"},"
                                   "{\"name\": \"y\", \"type\": \"f64\", \"count\": 4, \"access\": \"write\"}]",
                                   0, NULL));
    json_object_set_new(root, "kernels", json_loads("[{\"entry\": \"first\"}]", 0, NULL));
    json_object_set_new(root, "reference", json_loads("{\"files\": {\"y\": \"y.raw\"}}", 0, NULL));
    char *text = json_dumps(root, 0);
    write_with(NULL, NULL);
    spec_write("saxpy.json", text);
    const nt_spec *spec = spec_load(spec_file("saxpy.json"));
    assert_int_equal(nt_spec_fill_buffer(spec, 0, 1, 4, got, NULL), NT_OK);
    assert_memory_equal(got, x, sizeof x);
    assert_int_equal(nt_spec_expected(spec, 1, 4, expected, NULL), NT_OK);
    assert_memory_equal(expected, y, sizeof y);
    nt_spec_forget_all();

    static const struct {
        const char *descr, *says;
        size_t bytes;
    } bad[] = {{"<f8", "holds elements of type <f8, not f32", 16},
               {"<f4", "holds 12 bytes of data, not the 4 elements", 12}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        nt_error err;
        write_npy("x.npy", bad[i].descr, "(4,)", x, bad[i].bytes);
        assert_int_equal(nt_spec_load(spec_file("saxpy.json"), &spec, &err), NT_USAGE);
        if (strstr(err.what, bad[i].says) == NULL || strstr(err.what, "arguments[0].file") == NULL)
            fail_msg("no '%s' in: %s", bad[i].says, err.what);
    }
    free(text);
    json_decref(root);
}

/* A header, a tolerance and data change a kernel; another value of a parameter does not, but it is another file. */
static void hashes_follow_what_shapes_results(void **state)
{
    (void)state;
    char kernel[NT_KEY_BYTES], file[NT_KEY_BYTES], other[NT_KEY_BYTES];
    const nt_spec *spec = load();
    nt_kernel_hash(&spec->kernel, NULL, kernel);
    nt_copy(file, sizeof file, spec->hash);
    assert_ptr_equal(spec_load(spec_file("saxpy.json")), spec); /* once for all */
    assert_int_equal(nt_spec_load_same(spec_file("saxpy.json"), file, NULL), NT_OK);

    nt_spec_forget_all();
    write_with(
        "parameters",
        "[{\"name\": \"chunk\", \"values\": [16, 32]}, {\"name\": \"items\", \"values\": [1], \"use\": \"launch\"},"
        "{\"name\": \"scale\", \"values\": [0.5]}]");
    spec = spec_load(spec_file("saxpy.json"));
    nt_kernel_hash(&spec->kernel, NULL, other);
    assert_string_equal(other, kernel);
    assert_string_not_equal(spec->hash, file);
    nt_error err;
    assert_int_equal(nt_spec_load_same(spec_file("saxpy.json"), file, &err), NT_FAILED);
    assert_non_null(strstr(err.what, "was changed while it was in use"));

    nt_spec_forget_all();
    write_with(NULL, NULL);
    spec_write("part.h", "#define PART 2\n");
    spec = spec_load(spec_file("saxpy.json"));
    nt_kernel_hash(&spec->kernel, NULL, other);
    assert_string_not_equal(other, kernel);

    nt_spec_forget_all();
    write_with("tolerance", "{\"relative\": 0.25}");
    spec = spec_load(spec_file("saxpy.json"));
    nt_kernel_hash(&spec->kernel, NULL, other);
    assert_string_not_equal(other, kernel);
}

/* ---- mistakes -------------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *key, *value, *says;
} mistakes[] = {
    {"nntune_spec", "2", "nntune_spec: must be 1"},
    {"name", "\"a b\"", "name: 'a b' must have letters"},
    {"name", NULL, "name: is missing"},
    {"language", "\"opencl\"", "language: 'opencl' is none of c, cuda"},
    {"sources", "[]", "sources: must name at least one file"},
    {"sources", "[\"none.c\"]", "none.c"},
    {"sources", "7", "sources: must be a list of texts"},
    {"sizes", "{}", "sizes: must be an object of at least one size"},
    {"sizes", "{\"n\": 0}", "sizes.n: must be a whole number of 1 or more"},
    {"sizes", "{\"elements\": 5}", "sizes.elements: the name has more than 7 characters"},
    {"sizes", "{\"chunk\": 5}", "sizes.chunk: 'chunk' is the name of another parameter or size"},
    {"sizes", "{\"cc\": 5}", "sizes.cc: 'cc' is the name of a limit of the device"},
    {"parameters", "[]", "parameters: must be a list of at least one parameter"},
    {"parameters", "[{\"name\": \"chunk\", \"values\": []}]", "parameters[0].values: has no value"},
    {"parameters", "[{\"name\": \"chunk\", \"values\": [1, 2, 1]}]", "parameters[0].values: value 3 is there twice"},
    {"parameters", "[{\"name\": \"chunk\", \"values\": [1, \"a\"]}]",
     "parameters[0].values: value 2 is of another kind"},
    {"parameters", "[{\"name\": \"chunk\", \"values\": [\"a b\"]}]", "parameters[0].values: 'a b' has blanks"},
    {"parameters", "[{\"name\": \"chunk\", \"values\": \"range(10 ** 9)\"}]",
     "parameters[0].values: 'range(10 ** 9)' makes no list"},
    {"parameters", "[{\"name\": \"chunk\", \"values\": \"__import__('os')\"}]", "parameters[0].values: column"},
    {"parameters", "[{\"name\": \"chunk\", \"values\": [1], \"default\": 2}]",
     "parameters[0].default: is none of the parameter's values"},
    {"parameters", "[{\"name\": \"c-k\", \"values\": [1]}]", "parameters[0].name: 'c-k' is no name"},
    {"constraints", "[\"chunk <= q\"]", "constraints[0]: column 10 of 'chunk <= q': unknown name 'q'"},
    {"constraints", "[{\"expresion\": \"chunk\"}]",
     "constraints[0].expresion: unknown key; did you mean 'expression'?"},
    {"arguments", "[{\"name\": \"x\", \"type\": \"f32\", \"count\": \"n\"}]",
     "arguments: none has access write or readwrite"},
    {"arguments", "[{\"name\": \"x\", \"type\": \"f33\", \"count\": \"n\"}]",
     "arguments[0].type: 'f33' is none of f64, f32"},
    {"arguments", "[{\"name\": \"x\", \"type\": \"f32\"}]", "arguments[0]: needs either a count"},
    {"arguments", "[{\"name\": \"x\", \"type\": \"f32\", \"count\": \"sm_count\"}]", "arguments[0].count: column 1"},
    {"arguments", "[{\"name\": \"x\", \"type\": \"f32\", \"count\": \"n - 1000\", \"access\": \"write\"}]",
     "arguments: count of x: 'n - 1000' is 0; 1 to"},
    {"arguments", "[{\"name\": \"x\", \"type\": \"f32\", \"count\": \"n\", \"acess\": \"write\"}]",
     "arguments[0].acess: unknown key; did you mean 'access'?"},
    {"arguments", "[{\"name\": \"x\", \"type\": \"u8\", \"count\": 4, \"fill\": \"constant\", \"constant\": 256}]",
     "arguments[0]: values from 0 to 256 do not fit the type u8"},
    {"arguments", "[{\"name\": \"x\", \"type\": \"i32\", \"count\": 4, \"fill\": \"normal\"}]",
     "arguments[0].fill: integers have no normal values"},
    {"kernels", "[]", "kernels: must be a list of 1 to 6 kernels"},
    {"kernels", "[{\"entry\": \"f<1>\"}]", "kernels[0].entry: 'f<1>' is no name of a C function"},
    {"kernels", "[{\"entry\": \"f\", \"arguments\": [\"z\"]}]",
     "kernels[0].arguments: there is no argument 'z'; there are x, y, k, a, b, n"},
    {"kernels", "[{\"entry\": \"f\", \"block\": 4}]", "kernels[0].block: unknown key"},
    {"kernels", "[{\"entry\": \"f\", \"grid\": [1, 1, 1, 1]}]", "kernels[0].grid: has 4 extents"},
    {"reference", NULL, "reference: is missing"},
    {"reference", "{}", "reference: needs one of entry, files and configuration"},
    {"reference", "{\"configuration\": {\"chunk\": 17}}",
     "reference.configuration: parameter chunk is 17, which is not listed"},
    {"reference", "{\"files\": {}}", "reference.files: there is no file for the output 'y'"},
    {"tolerance", "{\"relative\": -1}", "tolerance: is negative"},
    {"tolerance", "{\"relative\": \"x\"}", "tolerance.relative: must be a number"},
    {"flop", "\"2 * q\"", "flop: column 5 of '2 * q': unknown name 'q'"},
    {"defines", "{\"A\": \"{q}\"}", "{q}: column 1 of 'q': unknown name"},
    {"defines", "{\"A\": \"{chunk\"}", "a brace is not closed"},
    {"defines", "{\"A\": \"a b\"}", "defines.A: 'a b' has blanks"},
    {"colour", "1", "colour: unknown key"},
};

static void mistakes_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        const nt_spec *spec;
        nt_error err = {0};
        write_with(mistakes[i].key, mistakes[i].value);
        if (nt_spec_load(spec_file("saxpy.json"), &spec, &err) == NT_OK)
            fail_msg("accepted: %s %s", mistakes[i].key, mistakes[i].value);
        if (strstr(err.what, mistakes[i].says) == NULL || strstr(err.what, "saxpy.json: ") == NULL)
            fail_msg("no '%s' in: %s", mistakes[i].says, err.what);
        assert_null(nt_spec_of("user:saxpy"));
    }
}

static void texts_that_are_no_spec(void **state)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"{\"nntune_spec\": 1", "line 1, column"},
        {"[]", "a spec is a JSON object"},
        {"{}", "is neither a spec of nntune"},
        {"", "line 1, column 0"},
        {"{\"nntune_spec\": 1, \"nntune_spec\": 1}", "duplicate"},
    };
    (void)state;
    nt_error err;
    const nt_spec *spec;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        spec_write("no.json", rows[i].text);
        assert_int_equal(nt_spec_load(spec_file("no.json"), &spec, &err), NT_USAGE);
        if (strstr(err.what, rows[i].says) == NULL)
            fail_msg("no '%s' in: %s", rows[i].says, err.what);
    }
    assert_int_equal(nt_spec_load(spec_file("absent.json"), &spec, &err), NT_USAGE);
    assert_non_null(strstr(err.what, "cannot read the spec"));
}

/* A file cut anywhere is refused and does nothing else. */
static void cut_anywhere(void **state)
{
    (void)state;
    load();
    nt_spec_forget_all();
    for (size_t length = 0; length < sizeof base - 1; length += 7) {
        const nt_spec *spec;
        nt_error err = {0};
        assert_int_equal(nt_write_file(spec_file("saxpy.json"), base, length, NULL), NT_OK);
        assert_int_equal(nt_spec_load(spec_file("saxpy.json"), &spec, &err), NT_USAGE);
    }
}

static void a_grid_of_nothing_is_pruned(void **state)
{
    (void)state;
    nt_config config;
    nt_plan plan;
    nt_error err;
    write_with("kernels", "[{\"entry\": \"first\", \"grid\": \"n // 2000\"}]");
    const nt_spec *spec = spec_load(spec_file("saxpy.json"));
    nt_problem problem = problem_of(spec);
    nt_kernel_default_config(&spec->kernel, &config);
    assert_int_equal(spec->kernel.plan(&problem, &config, NULL, &plan, &err), NT_LAUNCH_FAILED);
    assert_string_equal(err.what, "grid: 'n // 2000' is 0; 1 to 4294967295 are possible");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, spec_files_open, spec_files_close)
    const struct CMUnitTest tests[] = {
        TEST(a_spec_is_a_layer_and_a_kernel),
        TEST(its_space_is_that_of_its_parameters),
        TEST(its_plan_is_the_chain),
        TEST(its_buffers_have_sizes_and_contents),
        TEST(buffers_are_filled_from_files),
        TEST(hashes_follow_what_shapes_results),
        TEST(mistakes_are_named),
        TEST(texts_that_are_no_spec),
        TEST(cut_anywhere),
        TEST(a_grid_of_nothing_is_pruned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
