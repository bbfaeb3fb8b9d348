/* report_source.h: a database as plots and reports want it, with what the layers know. */
#ifndef NT_REPORT_SOURCE_H
#define NT_REPORT_SOURCE_H

#include "cli/options.h"
#include "reports/result.h"

nt_report_source nt_report_source_of(nt_reader *reader, const char *database);

/* Bytes that a problem's inputs and outputs have: what goes to a device and comes back. NAN when unknown. */
void nt_report_moved(const nt_problem *problem, double *in_bytes, double *out_bytes);

/* Rows of a command's options that choose what a plot or report is of; nt_report_filter reads what they were given. */
#define NT_REPORT_FILTER_OPTIONS                                                                                       \
    {.name = "device",                                                                                                 \
     .kind = NT_OPTION_TEXT,                                                                                           \
     .argument = "NAME",                                                                                               \
     .help = "only this device: a part of its name, its UUID, cpu or cuda"},                                           \
        {.name = "layer", .kind = NT_OPTION_TEXT, .argument = "LAYER", .help = "only this layer"},                     \
        {.name = "shape", .kind = NT_OPTION_TEXT, .argument = "SHAPE", .help = "only this shape, such as 64x56x56"},   \
        {.name = "batch",                                                                                              \
         .kind = NT_OPTION_INTEGER,                                                                                    \
         .argument = "N",                                                                                              \
         .min = 1,                                                                                                     \
         .max = INT32_MAX,                                                                                             \
         .help = "only this batch"},                                                                                   \
        {.name = "precision", .kind = NT_OPTION_TEXT, .argument = "NAME", .help = "only this precision"},              \
        {.name = "kernel", .kind = NT_OPTION_TEXT, .argument = "NAME", .help = "only this kernel"},                    \
    {                                                                                                                  \
        .name = "run", .kind = NT_OPTION_INTEGER, .argument = "N", .min = 1, .max = INT64_MAX, .help = "only this run" \
    }

nt_result_filter nt_report_filter(const nt_args *args);

#endif
