/* nvrtc_log.c: see nvrtc_log.h. The lines read look like this:
 *     ptxas         .     288 bytes stack frame, 308 bytes spill stores, 376 bytes spill loads
 *     ptxas info    : Used 32 registers, used 1 barriers, 256 bytes smem, 380 bytes cmem[0]
 * Shared memory is named only where there is some, so a 'Used' line without it means 0. */
#include "device/nvrtc_log.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/record.h"

/* The number that stands before `words` within [line, end); NT_UNKNOWN when the words are not there. */
static int64_t number_before(const char *line, const char *end, const char *words)
{
    const char *at = memmem(line, (size_t)(end - line), words, strlen(words));
    if (at == NULL)
        return NT_UNKNOWN;
    const char *digit = at;
    while (digit > line && isdigit((unsigned char)digit[-1]))
        digit--;
    return digit == at ? NT_UNKNOWN : strtoll(digit, NULL, 10);
}

/* NT_UNKNOWN is the smallest integer, so the maximum with a known number is that number. */
static void raise_to(int64_t *most, int64_t value)
{
    if (value > *most)
        *most = value;
}

static const char *line_end(const char *line)
{
    const char *end = strchr(line, '\n');
    return end != NULL ? end : line + strlen(line);
}

nt_nvrtc_usage nt_nvrtc_log_usage(const char *log)
{
    nt_nvrtc_usage usage = {NT_UNKNOWN, NT_UNKNOWN, NT_UNKNOWN};
    for (const char *line = log; *line != '\0';) {
        const char *end = line_end(line);
        int64_t registers = number_before(line, end, " registers");
        if (registers != NT_UNKNOWN) {
            int64_t smem = number_before(line, end, " bytes smem");
            raise_to(&usage.registers, registers);
            raise_to(&usage.smem_static_bytes, smem == NT_UNKNOWN ? 0 : smem);
        }
        int64_t stores = number_before(line, end, " bytes spill stores");
        int64_t loads = number_before(line, end, " bytes spill loads");
        if (stores != NT_UNKNOWN && loads != NT_UNKNOWN)
            raise_to(&usage.spill_bytes, stores + loads);
        line = *end == '\n' ? end + 1 : end;
    }
    return usage;
}

static bool has_text(const char *line, const char *end)
{
    while (line < end && isspace((unsigned char)*line))
        line++;
    return line < end;
}

/* Matches "error:" of the front end, "ptxas error   :" and "ptxas fatal   :", but not "-Werror". */
static bool is_error(const char *line, const char *end)
{
    size_t length = (size_t)(end - line);
    return memmem(line, length, "error:", 6) != NULL || memmem(line, length, "ptxas error", 11) != NULL ||
           memmem(line, length, "ptxas fatal", 11) != NULL || memmem(line, length, "catastrophic error", 18) != NULL;
}

bool nt_nvrtc_log_error(const char *log, char *out, size_t capacity)
{
    const char *chosen = NULL, *chosen_end = NULL;
    bool found = false;
    for (const char *line = log; *line != '\0';) {
        const char *end = line_end(line);
        bool error = is_error(line, end);
        if (error || (chosen == NULL && has_text(line, end))) {
            chosen = line;
            chosen_end = end;
        }
        found = error;
        if (found)
            break;
        line = *end == '\n' ? end + 1 : end;
    }
    out[0] = '\0';
    if (chosen == NULL)
        return false;
    size_t length = (size_t)(chosen_end - chosen);
    while (length > 0 && isspace((unsigned char)chosen[length - 1]))
        length--;
    if (length >= capacity)
        length = capacity - 1;
    memcpy(out, chosen, length);
    out[length] = '\0';
    return found;
}
