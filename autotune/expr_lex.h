/* expr_lex.h: tokens of an expression, for expr_parse.c alone. */
#ifndef NT_EXPR_LEX_H
#define NT_EXPR_LEX_H

#include "autotune/expr_node.h"

typedef enum nt_token {
    NT_TOKEN_END,
    NT_TOKEN_VALUE,
    NT_TOKEN_NAME,
    NT_TOKEN_ERROR,
    /* keywords */
    NT_TOKEN_AND,
    NT_TOKEN_OR,
    NT_TOKEN_NOT,
    NT_TOKEN_IN,
    NT_TOKEN_IF,
    NT_TOKEN_ELSE,
    NT_TOKEN_FOR,
    NT_TOKEN_TRUE,
    NT_TOKEN_FALSE,
    /* signs, longer ones before those they begin with */
    NT_TOKEN_POWER,
    NT_TOKEN_FLOOR_DIVIDE,
    NT_TOKEN_LE,
    NT_TOKEN_GE,
    NT_TOKEN_EQ,
    NT_TOKEN_NE,
    NT_TOKEN_PLUS,
    NT_TOKEN_MINUS,
    NT_TOKEN_TIMES,
    NT_TOKEN_DIVIDE,
    NT_TOKEN_MODULO,
    NT_TOKEN_LT,
    NT_TOKEN_GT,
    NT_TOKEN_OPEN,
    NT_TOKEN_CLOSE,
    NT_TOKEN_OPEN_LIST,
    NT_TOKEN_CLOSE_LIST,
    NT_TOKEN_COMMA,
    NT_TOKEN_COUNT
} nt_token;

typedef struct nt_expr_lexer {
    const char *text;
    char *letters; /* where the next text literal is written */
    nt_error *err;
    size_t at;           /* next byte to read */
    nt_token is;         /* the token read last */
    size_t start, end;   /* its bytes */
    nt_expr_value value; /* of a VALUE */
    bool failed;
} nt_expr_lexer;

/* Reads the next token; ERROR for ever once anything has failed. */
void nt_expr_advance(nt_expr_lexer *lexer);

/* Fills the error with the column of a byte offset. The first error wins. */
void nt_expr_fail_at(nt_expr_lexer *lexer, size_t position, const char *problem, const char *hint);
/* The word at [start, end) as an unknown name, with the nearest of `names` and the list of them. */
void nt_expr_fail_name(nt_expr_lexer *lexer, size_t start, size_t end, const char *kind, const char *const *names,
                       int count);

#endif
