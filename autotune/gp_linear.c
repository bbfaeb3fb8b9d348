/* gp_linear.c: sums run in eight parts, so that compilers may do them side by side without being allowed to reorder
 * sums in general. */
#include "autotune/gp_linear.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

double nt_dot(const double *a, const double *b, size_t n)
{
    double part[8] = {0};
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (size_t k = 0; k < 8; k++)
            part[k] += a[i + k] * b[i + k];
    for (; i < n; i++)
        part[0] += a[i] * b[i];
    return ((part[0] + part[4]) + (part[1] + part[5])) + ((part[2] + part[6]) + (part[3] + part[7]));
}

void nt_cholesky_done(nt_cholesky *factor)
{
    free(factor->packed);
    *factor = (nt_cholesky){0};
}

void nt_cholesky_clear(nt_cholesky *factor)
{
    factor->count = 0;
}

const double *nt_cholesky_row(const nt_cholesky *factor, size_t i)
{
    return factor->packed + i * (i + 1) / 2;
}

bool nt_cholesky_append(nt_cholesky *factor, const double *row, double diagonal)
{
    size_t n = factor->count, start = n * (n + 1) / 2;
    void *memory = factor->packed;
    nt_grow(&memory, &factor->capacity, start + n + 1, sizeof *factor->packed);
    factor->packed = memory;
    double *own = factor->packed + start;
    memcpy(own, row, n * sizeof *own);
    nt_cholesky_solve_lower(factor, own);
    double rest = diagonal - nt_dot(own, own, n);
    if (!(rest > 0))
        return false;
    own[n] = sqrt(rest);
    factor->count++;
    return true;
}

void nt_cholesky_solve_lower(const nt_cholesky *factor, double *x)
{
    for (size_t i = 0; i < factor->count; i++) {
        const double *row = nt_cholesky_row(factor, i);
        x[i] = (x[i] - nt_dot(row, x, i)) / row[i];
    }
}

/* By rows from the last, so that memory is read in order. */
void nt_cholesky_solve_upper(const nt_cholesky *factor, double *x)
{
    for (size_t i = factor->count; i-- > 0;) {
        const double *row = nt_cholesky_row(factor, i);
        double value = x[i] /= row[i];
        for (size_t j = 0; j < i; j++)
            x[j] -= row[j] * value;
    }
}

double nt_cholesky_log_determinant(const nt_cholesky *factor)
{
    double sum = 0;
    for (size_t i = 0; i < factor->count; i++)
        sum += log(nt_cholesky_row(factor, i)[i]);
    return 2 * sum;
}

/* W = L^-1, a row of it from the rows before; then A^-1 = W^T W, added up a row of W at a time. */
void nt_cholesky_inverse(const nt_cholesky *factor, double *out, double *scratch)
{
    size_t n = factor->count;
    for (size_t i = 0; i < n; i++) {
        const double *row = nt_cholesky_row(factor, i);
        double *own = scratch + i * n;
        memset(own, 0, n * sizeof *own);
        for (size_t k = 0; k < i; k++) {
            const double *before = scratch + k * n;
            double times = row[k];
            for (size_t j = 0; j <= k; j++)
                own[j] -= times * before[j];
        }
        for (size_t j = 0; j < i; j++)
            own[j] /= row[i];
        own[i] = 1 / row[i];
    }
    memset(out, 0, n * n * sizeof *out);
    for (size_t k = 0; k < n; k++) {
        const double *row = scratch + k * n;
        for (size_t i = 0; i <= k; i++) {
            double times = row[i], *to = out + i * n;
            for (size_t j = 0; j <= i; j++)
                to[j] += times * row[j];
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            out[j * n + i] = out[i * n + j];
}
