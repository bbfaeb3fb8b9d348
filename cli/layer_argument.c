#include "cli/layer_argument.h"

nt_status nt_layer_argument(const char *name, const nt_layer **out, nt_error *err)
{
    const char *names[64];
    nt_str all = {0};
    int count = 0;
    *out = nt_layer_find(name);
    if (*out != NULL)
        return NT_OK;
    for (; count < nt_layer_count && count < 64; count++) {
        names[count] = nt_layers[count]->name;
        nt_str_addf(&all, "%s%s", count > 0 ? ", " : "", names[count]);
    }
    int nearest = nt_nearest(name, names, count);
    nt_fail(err, NT_USAGE, "unknown layer '%s'", name);
    if (nearest >= 0)
        nt_hint(err, "did you mean '%s'? Layers: %s", names[nearest], nt_str_text(&all));
    else
        nt_hint(err, "layers: %s", nt_str_text(&all));
    nt_str_done(&all);
    return NT_USAGE;
}
