#include "cli/report_source.h"

#include <math.h>

#include "cli/present.h"
#include "cli/stored_spec.h"

static void work(const nt_problem *problem, double *flop, double *bytes)
{
    const nt_layer *layer = nt_layer_find(problem->layer);
    nt_extents extents;
    *flop = *bytes = NAN;
    if (layer != NULL && layer->extents(problem, &extents, NULL) == NT_OK) {
        *flop = extents.flop;
        *bytes = extents.bytes;
    }
}

/* What a batch brings to a device and takes away: weights are there already. */
void nt_report_moved(const nt_problem *problem, double *in_bytes, double *out_bytes)
{
    const nt_layer *layer = nt_layer_find(problem->layer);
    nt_extents extents;
    *in_bytes = *out_bytes = NAN;
    if (layer == NULL || layer->extents(problem, &extents, NULL) != NT_OK || extents.buffer_bytes > 0)
        return;
    *in_bytes = (double)extents.in * (double)nt_dtype_bytes(nt_precisions[problem->precision].in);
    *out_bytes = (double)extents.out * (double)nt_dtype_bytes(nt_precisions[problem->precision].out);
}

nt_report_source nt_report_source_of(nt_reader *reader, const char *database)
{
    nt_stored_specs_load(reader);
    return (nt_report_source){
        .reader = reader, .database = database, .work = work, .moved = nt_report_moved, .shape = nt_present_shape};
}

nt_result_filter nt_report_filter(const nt_args *args)
{
    return (nt_result_filter){
        .device = nt_args_text(args, "device", NULL),
        .layer = nt_args_text(args, "layer", NULL),
        .shape = nt_args_text(args, "shape", NULL),
        .precision = nt_args_text(args, "precision", NULL),
        .kernel = nt_args_text(args, "kernel", NULL),
        .batch = nt_args_integer(args, "batch", 0),
        .run = nt_args_integer(args, "run", 0),
    };
}
