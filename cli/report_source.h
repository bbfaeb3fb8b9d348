/* report_source.h: a database as plots and reports want it, with what the layers know. */
#ifndef NT_REPORT_SOURCE_H
#define NT_REPORT_SOURCE_H

#include "cli/options.h"
#include "reports/result.h"

nt_report_source nt_report_source_of(nt_reader *reader, const char *database);

/* Bytes that a problem's inputs and outputs have: what goes to a device and comes back. NAN when unknown. */
void nt_report_moved(const nt_problem *problem, double *in_bytes, double *out_bytes);

/* From the options device, layer, shape, batch, precision, kernel and run. */
nt_result_filter nt_report_filter(const nt_args *args);

#endif
