/* gp_linear.h: Cholesky factors of small dense matrices that grow by a row at a time. */
#ifndef NT_GP_LINEAR_H
#define NT_GP_LINEAR_H

#include <stdbool.h>
#include <stddef.h>

/* A = L L^T, L lower triangular. Row i has i + 1 numbers from row[i * (i + 1) / 2]. */
typedef struct nt_cholesky {
    size_t count, capacity; /* rows; numbers there is room for */
    double *packed;
} nt_cholesky;

void nt_cholesky_done(nt_cholesky *factor);
void nt_cholesky_clear(nt_cholesky *factor);
const double *nt_cholesky_row(const nt_cholesky *factor, size_t i);

/* Appends a row and column to A: `row` its count numbers left of the diagonal. False, and nothing changes, when A would
 * not be positive definite. */
bool nt_cholesky_append(nt_cholesky *factor, const double *row, double diagonal);

void nt_cholesky_solve_lower(const nt_cholesky *factor, double *x); /* L x = b in place */
void nt_cholesky_solve_upper(const nt_cholesky *factor, double *x); /* L^T x = b in place */
double nt_cholesky_log_determinant(const nt_cholesky *factor);      /* of A */

/* A^-1, symmetric: out[i * count + j], both halves. `scratch` has room for as many. */
void nt_cholesky_inverse(const nt_cholesky *factor, double *out, double *scratch);

double nt_dot(const double *a, const double *b, size_t n);

#endif
