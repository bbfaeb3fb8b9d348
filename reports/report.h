/* report.h: everything that a database says, as HTML, Markdown, CSV or JSON, from the same read model. The same
 * database gives the same bytes. */
#ifndef NT_REPORT_H
#define NT_REPORT_H

#include <stdio.h>

#include "reports/answers.h"

/* What a format's writer is given. HTML and Markdown need answers; CSV and JSON hold every row as well. */
typedef struct nt_report {
    const nt_result *result;
    const nt_answer *answers; /* one a group of the result */
    const nt_result_filter *filter;
    bool no_gnuplot; /* out: pictures were left out because there is none */
} nt_report;

typedef struct nt_report_format {
    const char *name;   /* html */
    const char *suffix; /* .html */
    nt_status (*write)(nt_report *report, FILE *out, nt_error *err);
} nt_report_format;

extern const nt_report_format nt_report_formats[];
extern const int nt_report_format_count;

/* By a name, or where that is NULL by the end of a path. NT_USAGE names the formats. */
nt_status nt_report_format_find(const char *name, const char *path, const nt_report_format **out, nt_error *err);

/* Reads the database and writes a report. */
nt_status nt_report_write(const nt_report_source *source, const nt_result_filter *filter,
                          const nt_report_format *format, FILE *out, bool *no_gnuplot, nt_error *err);

nt_status nt_report_html(nt_report *report, FILE *out, nt_error *err);
nt_status nt_report_markdown(nt_report *report, FILE *out, nt_error *err);
nt_status nt_report_csv(nt_report *report, FILE *out, nt_error *err);
nt_status nt_report_json(nt_report *report, FILE *out, nt_error *err);

#endif
