#include "cli/deploy_number.h"

int64_t nt_deploy_number_at(const nt_deploy_number *n, int64_t batch)
{
    if (n->step == 0)
        return n->base;
    int64_t value = n->base + n->scale * (int64_t)(((__int128)n->step * batch + n->divisor - 1) / n->divisor);
    return value < n->most ? value : n->most;
}

static bool holds(const nt_deploy_series *s, const nt_deploy_number *n)
{
    for (int i = 0; i < s->count; i++)
        if (nt_deploy_number_at(n, s->batch[i]) != s->value[i])
            return false;
    return true;
}

void nt_deploy_add_factor(int64_t *list, int *count, int64_t value)
{
    if (value < 1 || value > INT32_MAX || *count == NT_DEPLOY_FACTORS)
        return;
    for (int i = 0; i < *count; i++)
        if (list[i] == value)
            return;
    list[(*count)++] = value;
}

/* base + step x n, from two points of `s`, which must hold at all. */
static bool fit_line(const nt_deploy_series *s, const nt_deploy_series *all, int64_t most, nt_deploy_number *out)
{
    if (s->count < 2)
        return false;
    int64_t rise = s->value[1] - s->value[0], run = s->batch[1] - s->batch[0];
    if (rise % run != 0 || rise / run < 0)
        return false;
    int64_t step = rise / run;
    *out = (nt_deploy_number){s->value[0] - step * s->batch[0], 1, step, 1, most};
    return holds(all, out);
}

static bool fit_ceiling(const nt_deploy_series *s, const nt_deploy_series *all, const nt_deploy_factors *f,
                        int64_t most, nt_deploy_number *out)
{
    for (int i = 0; i < f->step_count; i++)
        for (int j = 0; j < f->divisor_count; j++) {
            nt_deploy_number n = {0, 1, f->step[i], f->divisor[j], INT64_MAX};
            int64_t tiles = nt_deploy_number_at(&n, s->batch[0]);
            n.scale = tiles > 0 ? s->value[0] / tiles : 0;
            n.most = most;
            if (n.scale > 0 && holds(all, &n)) {
                *out = n;
                return true;
            }
        }
    return false;
}

/* Grids of blocks that stay on the device end at as many as it holds: only the points below tell how they grow. */
static bool fit_limited(const nt_deploy_series *s, const nt_deploy_factors *f, nt_deploy_number *out)
{
    nt_deploy_series below = {0};
    int64_t most = s->value[0];
    for (int i = 1; i < s->count; i++)
        most = s->value[i] > most ? s->value[i] : most;
    for (int i = 0; i < s->count; i++)
        if (s->value[i] < most) {
            below.batch[below.count] = s->batch[i];
            below.value[below.count++] = s->value[i];
        }
    return below.count > 0 && (fit_line(&below, s, most, out) || fit_ceiling(&below, s, f, most, out));
}

bool nt_deploy_number_fit(const nt_deploy_series *s, const nt_deploy_factors *f, nt_deploy_number *out)
{
    *out = nt_deploy_constant(s->value[0]);
    return holds(s, out) || (s->count > 1 && (fit_line(s, s, INT64_MAX, out) || fit_ceiling(s, s, f, INT64_MAX, out) ||
                                              fit_limited(s, f, out)));
}
