/* t1_table.c: the keys of T1 files as rows. The words are those of the published schema, and of what files hold beyond
 * it where noted. */
#include "core/t1_table.h"

static const char *const param_types[] = {"int", "uint", "float", "bool", "string", NULL};
static const char *const budget_types[] = {"TuningDuration", "ConfigurationCount", "ConfigurationFraction", NULL};
static const char *const levels[] = {"Off", "Error", "Warning", "Info", "Debug", NULL};
static const char *const time_units[] = {"Nanoseconds", "Microseconds", "Milliseconds", "Seconds", NULL};
static const char *const output_formats[] = {"JSON", "XML", NULL};
/* HIP occurs in files; C is ours, for kernels that run on a CPU. */
static const char *const languages[] = {"CUDA", "C", "OpenCL", "Vulkan", "HIP", "Hypertuner", NULL};
static const char *const size_types[] = {"OpenCL", "CUDA", "Vulkan", NULL};
static const char *const argument_types[] = {"bool",    "int8",    "uint8",    "int16",  "uint16",  "int32",  "uint32",
                                             "int64",   "uint64",  "half",     "half2",  "half4",   "half8",  "half16",
                                             "float",   "float2",  "float4",   "float8", "float16", "double", "double2",
                                             "double4", "double8", "double16", "custom", NULL};
static const char *const memory_types[] = {"Scalar", "Vector", "Local", "Symbol", NULL};
static const char *const fill_types[] = {"Constant", "Random", "Generator", "Script", "BinaryRaw", "BinaryHDF", NULL};
static const char *const access_types[] = {"ReadOnly", "WriteOnly", "ReadWrite", NULL};
static const char *const validation_methods[] = {"AbsoluteDifference", "SideBySideComparison",
                                                 "SideBySideRelativeComparison", NULL};

/* One row a line. RECORD is the struct that the table is about. */
/* clang-format off */
#define ROW(key_, kind_, member_) .key = key_, .kind = NT_T1_##kind_, .offset = offsetof(RECORD, member_)
#define LIST(key_, member_, rows_) \
    ROW(key_, LIST, member_), .rows = rows_, .bytes = sizeof *((RECORD *)0)->member_, .count_offset = offsetof(RECORD, member_##_count)
#define END {.key = NULL, .offset = offsetof(RECORD, extra)}

#define RECORD nt_t1_param
static const nt_t1_row param_rows[] = {
    {ROW("Name", TEXT, name), .needed = true},
    {ROW("Type", TEXT, type), .needed = true, .words = param_types},
    {ROW("Values", VALUES, values), .needed = true},
    {ROW("Default", ANY, dflt)},
    END};
#undef RECORD

#define RECORD nt_t1_condition
static const nt_t1_row condition_rows[] = {
    {ROW("Parameters", EXPRS, params), .needed = true},
    {ROW("Expression", TEXT, expression), .needed = true},
    END};
#undef RECORD

#define RECORD nt_t1_space
static const nt_t1_row space_rows[] = {
    {LIST("TuningParameters", param, param_rows), .needed = true},
    {LIST("Conditions", condition, condition_rows)},
    END};
#undef RECORD

#define RECORD nt_t1_attribute
static const nt_t1_row attribute_rows[] = {
    {ROW("Name", TEXT, name), .needed = true},
    {ROW("Value", ANY, value), .needed = true},
    END};
#undef RECORD

#define RECORD nt_t1_search
static const nt_t1_row search_rows[] = {
    {ROW("Name", TEXT, name), .needed = true},
    {LIST("Attributes", attribute, attribute_rows)},
    END};
#undef RECORD

#define RECORD nt_t1_budget
static const nt_t1_row budget_rows[] = {
    {ROW("Type", TEXT, type), .needed = true, .words = budget_types},
    {ROW("BudgetValue", EXPR, value), .needed = true},
    END};
#undef RECORD

#define RECORD nt_t1_general
static const nt_t1_row general_rows[] = {
    {ROW("BenchmarkName", TEXT, benchmark_name)},
    {ROW("FormatVersion", INT, format_version)},
    {ROW("LoggingLevel", TEXT, logging_level), .words = levels},
    {ROW("TimeUnit", TEXT, time_unit), .words = time_units},
    {ROW("OutputFile", TEXT, output_file)},
    {ROW("OutputFormat", TEXT, output_format), .words = output_formats},
    {ROW("Objective", TEXT, objective)},
    {ROW("Minimize", FLAG, minimize)},
    END};
#undef RECORD

#define RECORD nt_t1_size
static const nt_t1_row size_rows[] = {
    {ROW("X", EXPR, x), .needed = true},
    {ROW("Y", EXPR, y)},
    {ROW("Z", EXPR, z)},
    END};
#undef RECORD

#define RECORD nt_t1_argument
static const nt_t1_row argument_rows[] = {
    {ROW("Name", TEXT, name)},
    {ROW("Type", TEXT, type), .needed = true, .words = argument_types},
    {ROW("MemoryType", TEXT, memory_type), .needed = true, .words = memory_types},
    {ROW("MemType", TEXT, mem_type)},
    {ROW("AccessType", TEXT, access_type), .words = access_types},
    {ROW("FillType", TEXT, fill_type), .words = fill_types},
    {ROW("FillValue", EXPR, fill_value)},
    {ROW("Size", EXPR, size)},
    {ROW("TypeSize", INT, type_size)},
    {ROW("DataSource", TEXT, data_source)},
    {ROW("RandomSeed", INT, random_seed)},
    {ROW("Output", FLAG, output), .number = true},
    END};
#undef RECORD

#define RECORD nt_t1_reference
static const nt_t1_row reference_rows[] = {
    {ROW("Name", TEXT, name), .needed = true},
    {ROW("TargetName", TEXT, target_name), .needed = true},
    {ROW("FillType", TEXT, fill_type), .needed = true, .words = fill_types},
    {ROW("FillValue", EXPR, fill_value)},
    {ROW("DataSource", TEXT, data_source)},
    {ROW("RandomSeed", INT, random_seed)},
    {ROW("ValidationMethod", TEXT, validation_method), .words = validation_methods},
    {ROW("ValidationThreshold", EXPR, validation_threshold)},
    END};
#undef RECORD

#define RECORD nt_t1_kernel
static const nt_t1_row kernel_rows[] = {
    {ROW("Language", TEXT, language), .needed = true, .words = languages},
    {ROW("BenchmarkName", TEXT, benchmark_name)},
    {ROW("KernelName", TEXT, kernel_name), .needed = true},
    {ROW("KernelFile", TEXT, kernel_file), .needed = true},
    {ROW("GlobalSizeType", TEXT, global_size_type), .words = size_types},
    {ROW("GlobalSize", OBJECT, global_size), .needed = true, .rows = size_rows},
    {ROW("LocalSize", OBJECT, local_size), .needed = true, .rows = size_rows},
    {ROW("GridDivX", EXPRS, grid_div_x)},
    {ROW("GridDivY", EXPRS, grid_div_y)},
    {ROW("GridDivZ", EXPRS, grid_div_z)},
    {ROW("ProblemSize", EXPRS, problem_size)},
    {ROW("SharedMemory", EXPR, shared_memory)},
    {ROW("CompilerOptions", EXPRS, compiler_options)},
    {ROW("Profiling", FLAG, profiling)},
    {ROW("SimulationInput", TEXT, simulation_input)},
    {ROW("Device", ANY, device)},
    {LIST("Arguments", argument, argument_rows)},
    {LIST("ReferenceArguments", reference, reference_rows)},
    END};
#undef RECORD

#define RECORD nt_t1
const nt_t1_row nt_t1_rows[] = {
    {ROW("ConfigurationSpace", OBJECT, space), .needed = true, .rows = space_rows},
    {ROW("KernelSpecification", OBJECT, kernel), .needed = true, .rows = kernel_rows},
    {ROW("Search", OBJECT, search), .rows = search_rows, .present_offset = offsetof(RECORD, has_search)},
    {LIST("Budget", budget, budget_rows)},
    {ROW("General", OBJECT, general), .rows = general_rows, .present_offset = offsetof(RECORD, has_general)},
    END};
#undef RECORD
