/* space_model.h: a space before it is searched: the values of each parameter, the constraints compiled, the names they
 * may use. Between the space*.c files; others include space.h. */
#ifndef NT_SPACE_MODEL_H
#define NT_SPACE_MODEL_H

#include "autotune/space.h"

/* One parameter: the values kept, as indices into the row's list. A digit counts the values kept. */
typedef struct nt_space_axis {
    int count;
    uint16_t *listed;     /* [count] digit to index in the row */
    int *digit;           /* index in the row to digit; -1 where not kept */
    nt_expr_value *value; /* [count] by digit */
    uint64_t weight;      /* of a digit in a configuration's number */
} nt_space_axis;

typedef struct nt_space_constraint {
    nt_expr *expr;
    const char *why; /* NULL for --where */
    uint64_t params; /* bit per parameter that it uses */
    bool off;        /* left out of a search */
    int64_t pruned;
} nt_space_constraint;

typedef struct nt_space_model {
    const nt_kernel *kernel;
    nt_shape shape; /* holds the names of its extents */
    int axis_count, constraint_count, symbol_count;
    nt_space_axis axis[NT_MAX_PARAMS];
    nt_space_constraint *constraint;
    uint64_t total;
    /* Parameters first, in the row's order; then the problem and the device, whose values are fixed. */
    const char *name[NT_EXPR_MAX_SYMBOLS];
    nt_expr_value value[NT_EXPR_MAX_SYMBOLS];
} nt_space_model;

/* The model must stay where it is: names point into it. */
nt_status nt_space_model_init(nt_space_model *model, const nt_kernel *kernel, const nt_problem *problem,
                              const nt_device_info *device, const nt_narrowing *narrowing, int narrowing_count,
                              const char *where, nt_error *err);
void nt_space_model_done(nt_space_model *model);

/* In which order parameters take their values, and what is tested when: test[first[d]] up to test[first[d + 1]] are the
 * constraints that are complete as soon as the first d parameters of the order have values. */
typedef struct nt_space_plan {
    int order[NT_MAX_PARAMS];
    int *test;
    int first[NT_MAX_PARAMS + 2];
    uint64_t below[NT_MAX_PARAMS + 1]; /* combinations of the parameters not yet assigned at depth d */
} nt_space_plan;

void nt_space_plan_init(nt_space_plan *plan, const nt_space_model *model);
void nt_space_plan_done(nt_space_plan *plan);
/* Tests what is complete at this depth, and charges all below to the first constraint that does not hold. */
bool nt_space_survives(nt_space_model *model, const nt_space_plan *plan, int depth);

/* Numbers of the legal configurations, in no order. */
typedef struct nt_space_codes {
    uint32_t *narrow; /* one of the two, by the size of model->total */
    uint64_t *wide;
    size_t count, capacity;
} nt_space_codes;

typedef struct nt_space_limits {
    uint64_t legal; /* configurations to hold */
    uint64_t work;  /* values to try on the way */
} nt_space_limits;

typedef enum nt_space_ending { NT_SPACE_COMPLETE, NT_SPACE_TOO_MANY, NT_SPACE_TOO_LONG } nt_space_ending;

/* Fills codes and the constraints' `pruned`. *sorted: the numbers came in ascending order. */
nt_space_ending nt_space_search(nt_space_model *model, nt_space_limits limits, nt_space_codes *codes, bool *sorted);
/* Whether any combination satisfies the constraints that are not off; true where the work limit ends the search. */
bool nt_space_exists(nt_space_model *model, uint64_t work);
nt_space_rejection nt_space_count_alone(const nt_space_model *model, int constraint);

/* Fills the error for a space without a legal configuration. Turns constraints off. */
nt_status nt_space_fail_empty(nt_space_model *model, nt_error *err);
/* "'rows <= h' (a work item has no more rows than the image; h=56)": the constraint as messages show it. */
void nt_space_show_constraint(const nt_space_model *model, int constraint, nt_str *out);

#endif
