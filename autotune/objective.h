/* objective.h: what a sweep makes as small or as large as it can: the time of one execution, its energy, or an
 * expression over the metrics of a trial.
 *
 * `time` is time_ns, `energy` energy_mj, `edp` (the energy-delay product) energy_mj * time_ns. Any expression of expr.h
 * over the names below does; `max:` before it asks for the largest value. Values are to be positive: what is searched
 * is their ratio. Energy and power are measured over a second or more. */
#ifndef NT_OBJECTIVE_H
#define NT_OBJECTIVE_H

#include "core/record.h"

typedef struct nt_objective nt_objective;

/* A metric by its name, as the view `trials` spells it; NAN: unknown. */
typedef double nt_metric_fn(void *context, const char *name);

/* NULL gives `time`. NT_USAGE names the column that is wrong and the names there are. */
nt_status nt_objective_parse(const char *text, nt_objective **out, nt_error *err);
void nt_objective_free(nt_objective *objective); /* NULL allowed */

const char *nt_objective_text(const nt_objective *objective); /* as given */
bool nt_objective_is_time(const nt_objective *objective);
bool nt_objective_needs_energy(const nt_objective *objective); /* or power: trials are to be a second long */

/* NAN: a metric is unknown, or the expression has no value for these. */
double nt_objective_value(const nt_objective *objective, nt_metric_fn *metric, void *context);
double nt_objective_of_trial(const nt_objective *objective, const nt_trial *trial);
/* As if the trial's time were this one: at the same power its energy goes with it. */
double nt_objective_at_time(const nt_objective *objective, const nt_trial *trial, double time_ns);

/* The smaller the better, as ratios compare: the value, or with `max:` its inverse. NAN unless the value is positive.
 */
double nt_objective_score(const nt_objective *objective, double value);

/* The first metric of the objective that the trial does not know; NULL: it knows all. */
const char *nt_objective_missing(const nt_objective *objective, const nt_trial *trial);

#endif
