/* strategies.c: every search strategy, from the list in strategy.h, and finding one by its word. */
#include "autotune/strategy.h"

#include <string.h>

const nt_strategy *const nt_strategies[] = {
#define X(name) &nt_strategy_##name,
    NT_STRATEGY_MAP(X)
#undef X
};
const int nt_strategy_count = sizeof nt_strategies / sizeof nt_strategies[0];

nt_status nt_strategy_find(const char *name, const nt_strategy **out, nt_error *err)
{
    const char *names[sizeof nt_strategies / sizeof nt_strategies[0]];
    *out = NULL;
    for (int i = 0; i < nt_strategy_count; i++) {
        names[i] = nt_strategies[i]->name;
        if (name == NULL || strcmp(names[i], name) == 0) {
            *out = nt_strategies[i];
            return NT_OK;
        }
    }
    int nearest = nt_nearest(name, names, nt_strategy_count);
    nt_str hint = {0};
    if (nearest >= 0)
        nt_str_addf(&hint, "did you mean '%s'? ", names[nearest]);
    nt_str_add(&hint, "strategies:");
    for (int i = 0; i < nt_strategy_count; i++)
        nt_str_addf(&hint, "%s %s", i == 0 ? "" : ",", names[i]);
    nt_fail(err, NT_USAGE, "unknown strategy '%s'", name);
    nt_hint(err, "%s", nt_str_text(&hint));
    nt_str_done(&hint);
    return NT_USAGE;
}
