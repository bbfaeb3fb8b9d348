/* spec_signature.c: whether a CUDA kernel takes the arguments that the spec gives it. A launch passes addresses of
 * values and nothing checks them: one too few reads what lies behind, an int for a double half of it. So the source
 * ends with assertions about the type of each entry, which the compiler checks with the rest; C needs none, because
 * there a call is generated. The entry of a configuration comes in as a macro, like any parameter. */
#include <stdio.h>
#include <string.h>

#include "autotune/spec_read.h"

/* KIND: 0 integer, 1 real, 2 a type that is not known here (float4, __half, a struct, void), 3 bits of a small real. */
static const char checks[] =
    "\n#ifndef NNTUNE_SIGNATURE\n#define NNTUNE_SIGNATURE\n"
    "template <class T> struct nntune_kind { enum { kind = 2, bytes = 0 }; };\n"
    "template <class T> struct nntune_kind<const T> : nntune_kind<T> {};\n"
    "template <class T> struct nntune_kind<volatile T> : nntune_kind<T> {};\n"
    "template <class T> struct nntune_kind<const volatile T> : nntune_kind<T> {};\n"
    "#define NNTUNE_KIND(T, K) template <> struct nntune_kind<T> { enum { kind = K, bytes = sizeof(T) }; };\n"
    "NNTUNE_KIND(bool, 0) NNTUNE_KIND(char, 0) NNTUNE_KIND(signed char, 0) NNTUNE_KIND(unsigned char, 0)\n"
    "NNTUNE_KIND(short, 0) NNTUNE_KIND(unsigned short, 0) NNTUNE_KIND(int, 0) NNTUNE_KIND(unsigned, 0)\n"
    "NNTUNE_KIND(long, 0) NNTUNE_KIND(unsigned long, 0) NNTUNE_KIND(long long, 0) NNTUNE_KIND(unsigned long long, 0)\n"
    "NNTUNE_KIND(float, 1) NNTUNE_KIND(double, 1)\n"
    "struct nntune_none {};\n"
    "template <int I, class... P> struct nntune_at { typedef nntune_none type; };\n"
    "template <class P, class... Q> struct nntune_at<0, P, Q...> { typedef P type; };\n"
    "template <int I, class P, class... Q> struct nntune_at<I, P, Q...> : nntune_at<I - 1, Q...> {};\n"
    "template <class F> struct nntune_entry;\n"
    "template <class... P> struct nntune_entry<void (*)(P...)> {\n"
    "    enum { count = sizeof...(P) };\n"
    "    template <int I> struct at : nntune_at<I, P...> {};\n"
    "};\n"
    "template <class T, int K, int B> struct nntune_same {\n"
    "    enum { kind = nntune_kind<T>::kind, size = nntune_kind<T>::bytes };\n"
    "    enum { value = kind == 2 || (size == B && (K == 3 ? kind == 0 : kind == K)) };\n"
    "};\n"
    "template <class P, bool Buffer, int K, int B> struct nntune_fits {\n"
    "    enum { value = !Buffer && sizeof(P) == B && nntune_same<P, K, B>::value };\n"
    "};\n"
    "template <class T, bool Buffer, int K, int B> struct nntune_fits<T *, Buffer, K, B> {\n"
    "    enum { value = Buffer && nntune_same<T, K, B>::value };\n"
    "};\n"
    "template <bool Buffer, int K, int B> struct nntune_fits<nntune_none, Buffer, K, B> { enum { value = 1 }; };\n"
    "#endif\n";

static int kind_of(const nt_spec_type *type)
{
    if (type->is_integer)
        return 0;
    return type->bytes >= 4 ? 1 : 3;
}

static void add_quoted(nt_str *out, const char *text)
{
    for (; *text != '\0'; text++)
        nt_str_addf(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
}

static void add_fit(const nt_spec_argument *a, const char *entry, const char *macro, int at, nt_str *out)
{
    bool buffer = a->buffer >= 0;
    nt_str_addf(out,
                "static_assert(nntune_fits<nntune_entry<decltype(&%s)>::at<%d>::type, %s, %d, %zu>::value, \"argument ",
                macro, at, buffer ? "true" : "false", kind_of(a->type), a->type->bytes);
    add_quoted(out, a->name);
    nt_str_addf(out, " (%s%s) does not fit parameter %d of ", buffer ? "buffer of " : "", a->type->name, at + 1);
    add_quoted(out, entry);
    nt_str_add(out, "\");\n");
}

void nt__spec_entry_macro(int index, char *out, size_t capacity)
{
    if (index < 0)
        snprintf(out, capacity, "nntune_reference_entry");
    else
        snprintf(out, capacity, "nntune_entry_%d", index);
}

void nt__spec_add_signature(const nt_spec *spec, const nt_spec_launch *launch, int index, nt_str *out)
{
    char macro[NT_NAME_BYTES];
    nt__spec_entry_macro(index, macro, sizeof macro);
    nt_str_add(out, checks);
    nt_str_add(out, "#line 1 \"arguments of ");
    add_quoted(out, launch->entry);
    nt_str_addf(out,
                " as the spec has them\"\nstatic_assert(nntune_entry<decltype(&%s)>::count == %d, \"the spec gives ",
                macro, launch->argument_count);
    add_quoted(out, launch->entry);
    nt_str_addf(out, " %d argument%s, and it takes another number of them\");\n", launch->argument_count,
                launch->argument_count == 1 ? "" : "s");
    for (int i = 0; i < launch->argument_count; i++)
        add_fit(&spec->argument[launch->argument[i]], launch->entry, macro, i, out);
}
