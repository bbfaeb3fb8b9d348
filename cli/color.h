/* color.h: whether output may carry bold and colours: --color, then NO_COLOR, then whether it goes to a terminal.
 * Letters always say the same; colour only repeats it. */
#ifndef NT_COLOR_H
#define NT_COLOR_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/options.h"

bool nt_color_wanted(const nt_args *args, FILE *out);

#define NT_BOLD  "\033[1m"
#define NT_PLAIN "\033[0m"

#endif
