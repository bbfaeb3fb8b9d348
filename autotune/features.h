/* features.h: candidates as points: one coordinate for each parameter name of all kernels together, and one for the
 * kernel when there are several.
 *
 * A coordinate is a level, an index into the sorted values that the kernels list under that name. Numbers and booleans
 * are ordered, their levels spread evenly from 0 to 1; text is not. A kernel without the parameter has a level of its
 * own there, half way. Names play no other part. */
#ifndef NT_FEATURES_H
#define NT_FEATURES_H

#include "autotune/strategy.h"

enum { NT_MAX_FEATURES = 48 }; /* names beyond it are left out: their values do not tell candidates apart */

typedef uint16_t nt_feature_level(void *context, nt_candidate candidate);

typedef struct nt_feature {
    int levels;
    bool ordered;
    bool derived;    /* from a parameter that has a feature of its own as well */
    float *position; /* [levels], 0 to 1 */
    double shorter;  /* logarithm by which its length is believed to be shorter than others' */
    nt_feature_level *level_of;
    void *context;
} nt_feature;

typedef struct nt_features {
    int count;
    nt_feature feature[NT_MAX_FEATURES];
    int kernel_count;
    struct nt_feature_map *map; /* [kernel_count][count] */
    const nt_space **space;
} nt_features;

/* `aligned_levels`: parameters of whole numbers with so many values or more have a second coordinate, how often 2
 * divides the value, because hardware works in powers of two; 0: none has. */
void nt_features_init(nt_features *features, const nt_strategy_setup *setup, int aligned_levels);
/* One more, ordered, whose level a function gives. */
void nt_features_add(nt_features *features, int levels, double shorter, nt_feature_level *given, void *context);
void nt_features_done(nt_features *features);

void nt_features_of(const nt_features *features, nt_candidate candidate, uint16_t *level); /* [count] */

/* Squared distance of two levels: of their positions, or 1 between different ones that have no order. */
double nt_feature_distance2(const nt_feature *feature, int a, int b);

#endif
