/* filter.h: what people type to choose trials: `tile_m=64 occ>50 time<20us outcome!=ok`. Terms are all to hold. Pure.
 */
#ifndef NT_FILTER_H
#define NT_FILTER_H

#include "core/store.h"

/* Reads a text into the terms of a window. `params` are the names of the run's parameters: any other name has to be a
 * column of the view trials or one of its short forms (occ, time, smem). NT_USAGE names the word and what is right, and
 * leaves the window as it was. */
nt_status nt_filter_parse(const char *text, const char *const *params, int param_count, nt_window *out, nt_error *err);

/* A column or parameter by what people call it: for sort keys. */
nt_status nt_filter_name(const char *word, const char *const *params, int param_count, nt_window_key *out,
                         nt_error *err);

/* "occ" of occupancy_limit_pct, or the name itself: for headings. */
const char *nt_filter_short(const char *column);

#endif
