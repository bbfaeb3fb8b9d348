/* layer_argument.h: the name of a layer on the command line. */
#ifndef NT_LAYER_ARGUMENT_H
#define NT_LAYER_ARGUMENT_H

#include "kernels/layer.h"

/* NT_USAGE with the nearest and all names. */
nt_status nt_layer_argument(const char *name, const nt_layer **out, nt_error *err);

#endif
