/* core_check.h: what the tests of core share: cmocka with its headers, comparing doubles, a folder of their own. */
#ifndef CORE_CHECK_H
#define CORE_CHECK_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* |a - b| <= rel * |b|; equal infinities and two NANs are close. */
#define assert_close(a, b, rel) assert_close_at((a), (b), (rel), #a, __FILE__, __LINE__)

static inline void assert_close_at(double a, double b, double rel, const char *what, const char *file, int line)
{
    if (a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= rel * fabs(b))
        return;
    print_error("%s is %.17g, not %.17g\n", what, a, b);
    _fail(file, line);
}

#define assert_contains(text, part)                                          \
    do {                                                                     \
        if (strstr((text), (part)) == NULL) {                                \
            print_error("\"%s\" does not contain \"%s\"\n", (text), (part)); \
            _fail(__FILE__, __LINE__);                                       \
        }                                                                    \
    } while (0)

#endif
