/* demangle.h: names of C++ kernels as their authors wrote them. */
#ifndef NT_DEMANGLE_H
#define NT_DEMANGLE_H

/* The readable form of a mangled name, a copy of any other text. The C++ runtime does it, where this machine has one:
 * elsewhere mangled names stay as they are. Free the result. */
char *nt_demangle(const char *name);

#endif
