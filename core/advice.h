/* advice.h: why a trial is as fast as it is, in one or two sentences with their numbers. Pure.
 *
 * Each rule is a row of a table: it looks at a trial's resources, its roofline and its counters, and either speaks or
 * stays silent. A rule whose inputs are unknown is silent: absent counters never make an accusation. */
#ifndef NT_ADVICE_H
#define NT_ADVICE_H

#include "core/occupancy.h"
#include "core/roofline.h"
#include "core/store.h"

typedef struct nt_advice_input {
    const nt_device_info *device;
    const nt_trial *trial;
    const nt_counter *counters; /* names as in the database: a view's column or the metric's own name */
    size_t counter_count;
    double flop, bytes; /* of one execution of the problem, as the layer counts them; NAN when unknown */
} nt_advice_input;

enum { NT_ADVICE_MOST = 2 };

typedef struct nt_advice {
    int count;
    struct {
        const char *rule;   /* id of the row: spills, uncoalesced, ... */
        char sentence[320]; /* without a line break, with a full stop */
    } line[NT_ADVICE_MOST];
} nt_advice;

/* The most important sentences, at most NT_ADVICE_MOST; none for a trial that is not ok. */
void nt_advice_of(const nt_advice_input *input, nt_advice *out);

/* Every rule by itself, for listings and tests: false and an empty sentence when it is silent. */
int nt_advice_rule_count(void);
const char *nt_advice_rule_name(int rule);
const char *nt_advice_rule_meaning(int rule);
bool nt_advice_rule_speaks(int rule, const nt_advice_input *input, char *sentence, size_t capacity);

/* Value of a counter by any of its names (the view's column first); NAN when it is not there. */
double nt_counter_value(const nt_counter *counters, size_t count, const char *name);

#endif
