/* gp_judge.h: the worth of candidates, and the choice among them. */
#ifndef NT_GP_JUDGE_H
#define NT_GP_JUDGE_H

#include "autotune/gp_field.h"

/* What all candidates are measured by. */
typedef struct nt_gp_judgement {
    double deviation; /* of the values as a whole */
    double best;      /* value of the fastest sample */
    double works;     /* share of samples that did */
    double log_cost;  /* mean */
} nt_gp_judgement;

nt_gp_judgement nt_gp_judgement_of(const nt_gp_field *field);
double nt_gp_judged(const nt_gp_field *field, const nt_gp_judgement *judgement, size_t candidate);

typedef enum nt_gp_choice {
    NT_GP_ANYWHERE,            /* the highest expected improvement */
    NT_GP_NEAR_BY_IMPROVEMENT, /* the same among those that differ in one feature from the fastest sample */
    NT_GP_NEAR_BY_MEAN,        /* the fastest expected among those */
    NT_GP_BY_MEAN              /* the fastest expected of all */
} nt_gp_choice;

/* Chances count by how likely the candidate is to work, and by its cost where that counts. The candidate is gone
 * afterwards. False: none is left. Where NT_GP_ANYWHERE finds an improvement of no more than exp(least_promise)
 * deviations of the values expected, it takes NT_GP_BY_MEAN instead; -INFINITY: never. */
bool nt_gp_field_choose(nt_gp_field *field, nt_gp_choice choice, double least_promise, nt_random *random,
                        uint64_t *position);

#endif
