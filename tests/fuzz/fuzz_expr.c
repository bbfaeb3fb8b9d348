/* fuzz_expr.c: any text to the evaluator: compiled, and run when it compiles. */
#include <stdlib.h>

#include "autotune/expr.h"
#include "core/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"a", "b", "x", "s", "u"};
    static const nt_expr_value values[] = {{.kind = NT_EXPR_INT, .i = 7},
                                           {.kind = NT_EXPR_INT, .i = -3},
                                           {.kind = NT_EXPR_REAL, .r = 2.5},
                                           {.kind = NT_EXPR_STRING, .s = "way"},
                                           {.kind = NT_EXPR_UNKNOWN, .i = 0}};
    char *text = nt_strndup((const char *)data, size);
    nt_expr *expr = NULL;
    nt_error err;
    if (nt_expr_compile(text, names, 5, &expr, &err) == NT_OK) {
        nt_expr_value value, items[64];
        nt_expr_fault fault;
        size_t count;
        (void)nt_expr_eval(expr, values, &value, &fault);
        (void)nt_expr_test(expr, values, &fault);
        (void)nt_expr_eval_list(expr, values, items, 64, &count, &fault);
    }
    nt_expr_free(expr);
    free(text);
    return 0;
}
