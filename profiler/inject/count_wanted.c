/* count_wanted.c: see count_wanted.h. The expression is tried once for each kernel's name. */
#include "profiler/inject/count_wanted.h"

#include <dlfcn.h>
#include <pthread.h>
#include <regex.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/spool_format.h"

enum { SLOTS = 1 << 12, MOST_KERNELS = SLOTS / 2, MOST_IN_VAIN = 3 };

nt_count_wishes nt_count_wish;

static regex_t expression;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static nt_counted_kernel kernels[SLOTS];
static int kernel_count;

/* ---- what is asked for ------------------------------------------------------------------------------------------------ */

/* name TAB unit TAB CUPTI's name [blank another], a line each. Cuts the text up. */
static bool take_metric(char *line)
{
    nt_count_wanted *metric = &nt_count_wish.metric[nt_count_wish.metric_count];
    char *rest = line, *names = NULL;
    metric->name = strsep(&rest, "\t");
    metric->unit = strsep(&rest, "\t");
    names = rest;
    for (int i = 0; i < NT_COUNT_SPELLINGS && names != NULL; i++)
        metric->spelling[i] = strsep(&names, " ");
    if (metric->unit == NULL || metric->spelling[0] == NULL || nt_count_wish.metric_count + 1 > NT_COUNT_MOST_METRICS)
        return false;
    nt_count_wish.metric_count++;
    return true;
}

bool nt_count_wish_read(void)
{
    const char *regex = getenv(NT_COUNT_REGEX_VARIABLE), *list = getenv(NT_COUNT_METRICS_VARIABLE);
    const char *launches = getenv(NT_COUNT_LAUNCHES_VARIABLE);
    if (regex == NULL || list == NULL || regcomp(&expression, regex, REG_EXTENDED | REG_NOSUB) != 0)
        return false;
    char *text = strdup(list); /* kept: the metrics point into it */
    nt_count_wish.metric_count = 0;
    nt_count_wish.launches = launches != NULL ? (unsigned)strtoul(launches, NULL, 10) : 0;
    for (char *line;
         text != NULL && nt_count_wish.metric_count < NT_COUNT_MOST_METRICS && (line = strsep(&text, "\n")) != NULL;)
        take_metric(line);
    return nt_count_wish.metric_count > 0 && nt_count_wish.launches > 0;
}

/* ---- kernels ------------------------------------------------------------------------------------------------------------ */

/* The C++ runtime has it, if this process has the C++ runtime; else the name as it is must do. */
static char *readable_name(const char *name)
{
    char *(*demangle)(const char *, char *, size_t *, int *) = NULL;
    int status = -1;
    void *symbol = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    if (symbol == NULL) {
        void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
        symbol = library != NULL ? dlsym(library, "__cxa_demangle") : NULL;
    }
    memcpy(&demangle, &symbol, sizeof symbol);
    return demangle != NULL && strncmp(name, "_Z", 2) == 0 ? demangle(name, NULL, NULL, &status) : NULL;
}

static bool matches(const char *name)
{
    if (regexec(&expression, name, 0, NULL, 0) == 0)
        return true;
    char *readable = readable_name(name);
    bool found = readable != NULL && regexec(&expression, readable, 0, NULL, 0) == 0;
    free(readable);
    return found;
}

static nt_counted_kernel *find(const char *name)
{
    uint64_t hash = 14695981039346656037u;
    for (const char *at = name; *at != '\0'; at++)
        hash = (hash ^ (unsigned char)*at) * 1099511628211u;
    for (uint64_t at = hash;; at++) {
        nt_counted_kernel *kernel = &kernels[at % SLOTS];
        if (kernel->name != NULL && strcmp(kernel->name, name) == 0)
            return kernel;
        if (kernel->name != NULL)
            continue;
        if (kernel_count >= MOST_KERNELS || (kernel->name = strdup(name)) == NULL)
            return NULL;
        kernel_count++;
        kernel->chosen = matches(name);
        kernel->left = nt_count_wish.launches;
        return kernel;
    }
}

nt_counted_kernel *nt_count_kernel(const char *name)
{
    if (name == NULL)
        return NULL;
    pthread_mutex_lock(&lock);
    nt_counted_kernel *kernel = find(name);
    bool counted = kernel != NULL && kernel->chosen && kernel->left > 0;
    if (counted)
        kernel->left--;
    pthread_mutex_unlock(&lock);
    return counted ? kernel : NULL;
}

void nt_count_give_back(nt_counted_kernel *kernel, bool in_vain)
{
    pthread_mutex_lock(&lock);
    if (!in_vain || kernel->given_back < MOST_IN_VAIN * nt_count_wish.launches)
        kernel->left++;
    kernel->given_back += in_vain;
    pthread_mutex_unlock(&lock);
}

void nt_count_wish_forget(void)
{
    pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    lock = fresh;
}
