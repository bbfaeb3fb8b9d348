/* command_line.h: the command line as it was typed, quoted for a shell: for run records and for what to type next. */
#ifndef NT_COMMAND_LINE_H
#define NT_COMMAND_LINE_H

void nt_command_line_set(int argc, char **argv);
const char *nt_command_line(void); /* "nntune sweep conv3x3 --batch 1,4" */

/* Its words, [*count], as the program was given them. */
char *const *nt_command_line_words(int *count);

/* The same program with other words, on the same database: "build/nntune best --db t.db". Valid until the next call. */
const char *nt_command_line_with(const char *words, const char *database);

#endif
