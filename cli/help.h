/* help.h: --help and --version, from the tables of commands and options. */
#ifndef NT_HELP_H
#define NT_HELP_H

#include <stdio.h>

#include "cli/cmd.h"

void nt_help_overview(FILE *out);
void nt_help_command(FILE *out, const nt_command *command); /* starts with an example */
void nt_help_version(FILE *out);

#endif
