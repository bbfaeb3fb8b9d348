/* json.h: records as JSON and back: the one place that knows their names. Used for messages between processes, lines on
 * stdout, the params column and exports.
 *
 * Names are those of the database's contract views. NAN and NT_UNKNOWN are null, an empty text is null, an infinity is
 * the largest finite number of its sign (JSON has none), bytes that are not UTF-8 become '?'. Keys come in a fixed
 * order; readers take any order, ignore keys that they do not know, and read an absent key as unknown unless a record
 * is meaningless without it. A reader that fails gives NT_CORRUPT, names the key, what stood there and what is right,
 * and leaves nothing to free. */
#ifndef NT_JSON_H
#define NT_JSON_H

#include <jansson.h>

#include "core/record.h"
#include "core/store.h"

/* ---- values ----------------------------------------------------------------------------------------------------- */

json_t *nt_json_real(double value);
json_t *nt_json_int(int64_t value);
json_t *nt_json_text(const char *text); /* NULL or "" is null */

double nt_json_get_real(const json_t *object, const char *key);      /* NAN when absent, null or not a number */
int64_t nt_json_get_int(const json_t *object, const char *key);      /* NT_UNKNOWN likewise, and for a real */
const char *nt_json_get_text(const json_t *object, const char *key); /* NULL likewise; lives as long as the object */

/* One line without spaces; reals with 17 significant digits, so that they read back as the same double. Free the
 * result. */
char *nt_json_dump(const json_t *json);
/* dump, then drops the reference. */
char *nt_json_dump_done(json_t *json);
/* A whole text; anything after the value is an error. */
nt_status nt_json_parse(const char *text, json_t **out, nt_error *err);

/* ---- records ---------------------------------------------------------------------------------------------------- */

/* {"layer":"conv3x3","shape":"c=64,k=64,h=56,w=56","batch":8,"precision":"fp32","layout":"nhwc","fill":"normal"} */
json_t *nt_json_problem(const nt_problem *problem);
nt_status nt_json_to_problem(const json_t *json, nt_problem *out, nt_error *err);

/* {"tile_m":64,"stages":2,"swizzle":true}: every parameter, in table order. Dumped, it is a trial's params_json. */
json_t *nt_json_config(const nt_param *params, const nt_config *config);
nt_status nt_json_to_config(const json_t *json, const nt_param *params, int count, nt_config *out, nt_error *err);

json_t *nt_json_device(const nt_device_info *device);
nt_status nt_json_to_device(const json_t *json, nt_device_info *out, nt_error *err);

json_t *nt_json_artefact(const nt_artefact *artefact);
nt_status nt_json_to_artefact(const json_t *json, nt_artefact *out, nt_error *err);

/* {"launches_per_sample":20,"sample_ns":[...]} */
json_t *nt_json_samples(const nt_samples *samples);
nt_status nt_json_to_samples(const json_t *json, nt_samples *out, nt_error *err);

/* Flat: the problem's keys, then kernel, params (an object), outcome, times, ... "samples" is the count as in the view,
 * "sample_ns" the array. Lossless when params_json came from nt_json_config. */
json_t *nt_json_trial(const nt_trial *trial);
nt_status nt_json_to_trial(const json_t *json, nt_trial *out, nt_error *err);

/* options as an object, device nested. */
json_t *nt_json_run(const nt_run *run);
nt_status nt_json_to_run(const json_t *json, nt_run *out, nt_error *err);

json_t *nt_json_error(const nt_error *error);
nt_status nt_json_to_error(const json_t *json, nt_error *out, nt_error *err);

/* A row of a view. Columns that are booleans or JSON in a trial (converged, params) are so here as well. */
json_t *nt_json_row(const nt_row *row);

#endif
