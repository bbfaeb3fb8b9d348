#include "core/status.h"

#include <stdarg.h>
#include <stdio.h>

const char *nt_status_text(nt_status status)
{
    static const char *const text[] = {
#define X(name, words, code) [NT_##name] = (words),
        NT_STATUS_MAP(X)
#undef X
    };
    return (unsigned)status < NT_STATUS_COUNT ? text[status] : "unknown status";
}

int nt_status_exit_code(nt_status status)
{
    static const int codes[] = {
#define X(name, words, code) [NT_##name] = (code),
        NT_STATUS_MAP(X)
#undef X
    };
    return (unsigned)status < NT_STATUS_COUNT ? codes[status] : 1;
}

nt_status nt_fail(nt_error *err, nt_status status, const char *format, ...)
{
    if (err == NULL)
        return status;
    va_list args;
    va_start(args, format);
    vsnprintf(err->what, sizeof err->what, format, args);
    va_end(args);
    err->status = status;
    err->hint[0] = '\0';
    return status;
}

nt_status nt_hint(nt_error *err, const char *format, ...)
{
    if (err == NULL)
        return NT_FAILED;
    va_list args;
    va_start(args, format);
    vsnprintf(err->hint, sizeof err->hint, format, args);
    va_end(args);
    return err->status;
}
