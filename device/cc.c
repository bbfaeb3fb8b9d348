/* cc.c: compiling for the cpu device with the system's C compiler.
 *
 * Each compile has a scratch folder in the cache for the source, the result and the compiler's temporary files, a
 * deadline and a memory limit (NNTUNE_COMPILE_BYTES, 4 GiB). A non-zero exit is a verdict on the source and is
 * remembered; a deadline or a killed compiler is not. */
#include "device/cc.h"

#include "core/mem.h"
#include "core/paths.h"
#include "device/cache.h"
#include "device/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* No relaxed mathematics: only contraction to fused multiply-add, which is at least as exact. Undefined symbols are
 * errors here and not at load. Nobody reads warnings, but -w would silence those that options make errors of, too. */
#define COMMON "-O3 -march=native -std=gnu11 -ffp-contract=fast -fno-math-errno -fno-semantic-interposition -fPIC"
#define QUIET  " -w"
#define LINK   "-shared -Wl,-z,defs"
enum { MAX_WORDS = 512, IDENTITY_DEADLINE_S = 20 };

/* ---- which compiler -------------------------------------------------------------------------------------------------- */

static bool find_command(const char *command, nt_cc *out)
{
    char first[NT_PATH_BYTES];
    size_t length = strcspn(command, " ");
    memset(out, 0, sizeof *out);
    if (length == 0 || length >= sizeof first)
        return false;
    memcpy(first, command, length);
    first[length] = '\0';
    char *to = out->words;
    for (const char *at = command + length; *at != '\0';) {
        at += strspn(at, " ");
        size_t word = strcspn(at, " ");
        if (word == 0)
            break;
        if (to + word + 1 > out->words + sizeof out->words)
            return false;
        memcpy(to, at, word); /* the rest of `words` is zero */
        to += word + 1;
        at += word;
        out->word_count++;
    }
    return nt_program_find(first, out->path, sizeof out->path);
}

nt_status nt_cc_find(nt_cc *out, nt_error *err)
{
    const char *own = getenv("NNTUNE_CC");
    if (own != NULL && own[0] != '\0') {
        if (find_command(own, out))
            return NT_OK;
        nt_fail(err, NT_NO_DEVICE, "NNTUNE_CC is '%.200s', which is no program in PATH", own);
        return nt_hint(err, "set NNTUNE_CC to a C compiler, for example gcc, or unset it");
    }
    const char *const candidates[] = {getenv("CC"), "cc", "gcc", "clang"};
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++)
        if (candidates[i] != NULL && find_command(candidates[i], out))
            return NT_OK;
    nt_fail(err, NT_NO_DEVICE, "no C compiler: the cpu device needs cc, gcc or clang in PATH, or named by NNTUNE_CC");
    return nt_hint(err, "install one: apt-get install gcc libc6-dev");
}

/* ---- calling it ------------------------------------------------------------------------------------------------------- */

typedef struct command {
    const char *argv[MAX_WORDS + 1];
    int count;
    bool too_long;
} command;

static void add_word(command *to, const char *word)
{
    if (to->count == MAX_WORDS)
        to->too_long = true;
    else
        to->argv[to->count++] = word;
}

static void add_compiler(command *to, const nt_cc *cc)
{
    add_word(to, cc->path);
    const char *word = cc->words;
    for (int i = 0; i < cc->word_count; i++, word += strlen(word) + 1)
        add_word(to, word);
}

/* Splits `text` at blanks in place. */
static void add_words(command *to, char *text)
{
    for (char *word = strtok_r(text, " ", &text); word != NULL; word = strtok_r(NULL, " ", &text))
        add_word(to, word);
}

static int64_t memory_limit_bytes(void)
{
    const char *text = getenv("NNTUNE_COMPILE_BYTES");
    long long value;
    return text != NULL && nt_parse_i64(text, &value) && value > 0 ? value : (int64_t)4 << 30;
}

/* The first line that names an error, else the first line at all. What the linker misses comes before the line in which
 * the compiler only says that the linker failed. */
static void first_error(const char *output, char *out, size_t capacity)
{
    static const char *const marks[] = {
        "undefined reference", "undefined symbol", "error:", "Error:", "out of memory", ""};
    out[0] = '\0';
    for (size_t m = 0; m < sizeof marks / sizeof marks[0]; m++)
        for (const char *line = output; *line != '\0';) {
            size_t length = strcspn(line, "\n");
            if (length > 0 && length < 4096 && memmem(line, length, marks[m], strlen(marks[m])) != NULL) {
                snprintf(out, capacity, "%.*s", (int)length, line);
                return;
            }
            line += length + (line[length] == '\n');
        }
}

static int count_errors(const char *output)
{
    int count = 0;
    for (const char *at = output; (at = strstr(at, "error: ")) != NULL; at++)
        count++;
    return count;
}

static nt_status judge(const nt_program_end *end, const nt_compile_request *request, nt_error *err)
{
    char line[900];
    if (end->timed_out) {
        nt_fail(err, NT_TIMED_OUT, "compiling %s was stopped after %.0f s", request->name, request->deadline_s);
        return NT_TIMED_OUT;
    }
    if (end->exit_code == 0)
        return NT_OK;
    first_error(nt_str_text(&end->output), line, sizeof line);
    if (end->exit_code < 0)
        return nt_fail(err, NT_FAILED, "the C compiler was killed by signal %d while it compiled %s %s", end->signal,
                       request->name, line);
    if (strstr(line, "No space left on device") != NULL || strstr(line, "Disk quota exceeded") != NULL) {
        nt_fail(err, NT_IO, "%s", line);
        return nt_hint(err, "make room, or name another directory in NNTUNE_CACHE_DIR");
    }
    int more = strstr(line, "error: ") != NULL ? count_errors(nt_str_text(&end->output)) - 1 : 0;
    if (more > 0)
        nt_fail(err, NT_COMPILE_FAILED, "%s (and %d more)", line, more);
    else
        nt_fail(err, NT_COMPILE_FAILED, "%s", line[0] != '\0' ? line : "the C compiler failed and said nothing");
    if (strstr(line, "out of memory") != NULL || strstr(line, "memory exhausted") != NULL)
        nt_hint(err, "a compile may take %lld MiB; NNTUNE_COMPILE_BYTES changes that",
                (long long)(memory_limit_bytes() >> 20));
    return NT_COMPILE_FAILED;
}

/* Not nt_write_file: a sync would cost more than the compile on some disks, and nobody reads this after a power cut. */
static nt_status write_source(const char *path, const nt_str *source, nt_error *err)
{
    FILE *file = fopen(path, "we");
    bool written = file != NULL && fwrite(source->data, 1, source->length, file) == source->length;
    if (file != NULL && fclose(file) == 0 && written)
        return NT_OK;
    nt_fail(err, NT_IO, "cannot write %s: %s", path, strerror(errno));
    return nt_hint(err, "make room, or name another directory in NNTUNE_CACHE_DIR");
}

/* Runs the compiler over the request's source with these flags; the result lies in folder/result. */
static nt_status call(const nt_compile_request *request, const char *flags, const char *folder, const char *result,
                      nt_error *err)
{
    nt_cc cc;
    nt_str source = {0}, words = {0};
    char source_path[NT_PATH_BYTES + 32], result_path[NT_PATH_BYTES + 32];
    nt_status status = nt_cc_find(&cc, err);
    if (status != NT_OK)
        return status;
    snprintf(source_path, sizeof source_path, "%s/kernel.c", folder);
    snprintf(result_path, sizeof result_path, "%s/%s", folder, result);
    /* Messages name the kernel and not a file that is gone by then. */
    nt_str_addf(&source, "#line 1 \"%s.c\"\n%s", request->name, request->source);
    const char *options = request->options != NULL ? request->options : "";
    nt_str_addf(&words, COMMON "%s %s %s", strstr(options, "-Werror") != NULL ? "" : QUIET, flags, options);
    status = write_source(source_path, &source, err);
    if (status == NT_OK) {
        command *line = nt_alloc_zero(1, sizeof *line);
        add_compiler(line, &cc);
        add_words(line, words.data);
        const char *const rest[] = {"-o", result_path, source_path, "-lm"};
        for (size_t i = 0; i < sizeof rest / sizeof rest[0]; i++)
            add_word(line, rest[i]);
        nt_program_end end = {0};
        nt_program program = {line->argv, folder, request->deadline_s, memory_limit_bytes()};
        status = line->too_long
                     ? nt_fail(err, NT_FAILED, "%s has more than %d compiler options", request->name, MAX_WORDS)
                     : nt_program_run(&program, &end, err);
        if (status == NT_OK)
            status = judge(&end, request, err);
        nt_str_done(&end.output);
        free(line);
    }
    nt_str_done(&source);
    nt_str_done(&words);
    return status;
}

/* Compiles in a scratch folder and reads the result. `vanished`: the folder was taken away meanwhile, so the compiler's
 * complaint says nothing about the source. */
static nt_status make_once(const nt_compile_request *request, const char *flags, char **out, size_t *bytes,
                           bool *vanished, nt_error *err)
{
    char folder[NT_PATH_BYTES], path[NT_PATH_BYTES + 32];
    nt_status status = nt_cache_scratch(folder, sizeof folder, err);
    *vanished = false;
    if (status != NT_OK)
        return status;
    status = call(request, flags, folder, "result", err);
    snprintf(path, sizeof path, "%s/result", folder);
    if (status == NT_OK && access(path, R_OK) != 0)
        status = nt_fail(err, NT_FAILED, "the C compiler reported success on %s and wrote nothing", request->name);
    if (status == NT_OK)
        status = nt_read_file(path, (size_t)1 << 30, out, bytes, err);
    *vanished = status != NT_OK && access(folder, F_OK) != 0;
    nt_cache_scratch_done(folder);
    return status;
}

static nt_status make(const nt_compile_request *request, const char *flags, char **out, size_t *bytes, nt_error *err)
{
    bool vanished = true;
    nt_status status = NT_IO;
    for (int attempt = 0; attempt < 3 && vanished; attempt++)
        status = make_once(request, flags, out, bytes, &vanished, err);
    return vanished ? NT_IO : status;
}

/* ---- the backend ------------------------------------------------------------------------------------------------------ */

static nt_status identity(char *out, size_t capacity, nt_error *err)
{
    nt_cc cc;
    command line = {.count = 0};
    nt_status status = nt_cc_find(&cc, err);
    if (status != NT_OK)
        return status;
    add_compiler(&line, &cc);
    add_word(&line, "--version");
    nt_program_end end = {0};
    nt_program program = {line.argv, NULL, IDENTITY_DEADLINE_S, (int64_t)4 << 30};
    status = nt_program_run(&program, &end, err);
    if (status == NT_OK && (end.timed_out || end.exit_code != 0 || end.output.length == 0)) {
        nt_fail(err, NT_NO_DEVICE, "%s --version fails, so it is no usable C compiler", cc.path);
        status = nt_hint(err, "set NNTUNE_CC to a C compiler, for example gcc");
    }
    if (status == NT_OK) {
        /* The words of NNTUNE_CC can change the code as any option can: they are part of the identity, so of the key.
         */
        end.output.data[strcspn(end.output.data, "\n")] = '\0';
        size_t used = (size_t)snprintf(out, capacity, "%s", end.output.data);
        const char *word = cc.words;
        for (int i = 0; i < cc.word_count && used < capacity; i++, word += strlen(word) + 1)
            used += (size_t)snprintf(out + used, capacity - used, " %s", word);
    }
    nt_str_done(&end.output);
    return status;
}

/* An error with a line of the source, or a symbol that nothing defines, comes again on every try. What else stops a
 * compiler (no headers installed, a full disk, no memory, a wrapper that fails) may be gone by the next. */
static bool of_source(const nt_compile_request *request, const char *error)
{
    char place[160];
    snprintf(place, sizeof place, "%s.c:", request->name);
    if (strncmp(error, place, strlen(place)) == 0)
        return strstr(error, "fatal error:") == NULL && strstr(error, "internal compiler error") == NULL;
    return strstr(error, "undefined reference") != NULL || strstr(error, "undefined symbol") != NULL;
}

static void hint_at_compiler(nt_error *err)
{
    nt_cc cc;
    nt_error ignored;
    if (nt_cc_find(&cc, &ignored) == NT_OK)
        nt_hint(err,
                "so said %s; if it lacks headers or a linker: apt-get install gcc libc6-dev; NNTUNE_CC names another",
                cc.path);
}

static nt_status compile(const nt_compile_request *request, nt_compiled *out, nt_error *err)
{
    char *code = NULL;
    nt_error said = {0};
    nt_status status = make(request, LINK, &code, &out->bytes, &said);
    out->forget = status == NT_COMPILE_FAILED && !of_source(request, said.what);
    if ((out->forget || status == NT_FAILED) && said.hint[0] == '\0')
        hint_at_compiler(&said);
    if (status != NT_OK && err != NULL)
        *err = said;
    out->code = (unsigned char *)code;
    out->registers = out->smem_static_bytes = out->spill_bytes = NT_UNKNOWN;
    return status;
}

static nt_status assembly(const nt_compile_request *request, char **out, nt_error *err)
{
    size_t bytes;
    return make(request, "-S", out, &bytes, err);
}

const nt_compile_backend nt_compile_cc = {
    .kind = NT_DEVICE_CPU,
    .suffix = ".so",
    .flags = COMMON QUIET " " LINK " -lm",
    .identity = identity,
    .compile = compile,
    .assembly = assembly,
};
