/* host_facts.c: see host_facts.h. */
#include "profiler/host_facts.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/paths.h"
#include "core/str.h"

enum { FILE_BYTES = 1 << 16, CAP_SYS_ADMIN_BIT = 21 };

/* The whole file, or NULL; free it. */
static char *read_text(const char *root, const char *path)
{
    char full[512], *text = NULL;
    size_t bytes;
    snprintf(full, sizeof full, "%s%s", root, path);
    return nt_read_file(full, FILE_BYTES, &text, &bytes, NULL) == NT_OK ? text : NULL;
}

static bool exists(const char *root, const char *path)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    return access(full, F_OK) == 0;
}

static bool mentions(const char *text, const char *word)
{
    return text != NULL && strcasestr(text, word) != NULL;
}

/* "Linux version 6.1.0-13-amd64 (debian..." gives the third word. */
static void read_kernel(const char *root, nt_host_facts *out)
{
    char *text = read_text(root, "/proc/version");
    if (text != NULL)
        sscanf(text, "%*s %*s %127s", out->kernel);
    out->wsl = mentions(text, "microsoft") || exists(root, "/dev/dxg");
    free(text);
}

static void read_container(const char *root, nt_host_facts *out)
{
    static const struct {
        const char *word, *name;
    } signs[] = {{"kubepods", "kubernetes"},   {"docker", "docker"}, {"libpod", "podman"},
                 {"containerd", "containerd"}, {"/lxc", "lxc"},      {"slurm", "slurm job"}};
    char *groups = read_text(root, "/proc/1/cgroup");
    if (exists(root, "/.dockerenv"))
        nt_copy(out->container, sizeof out->container, "docker");
    if (exists(root, "/run/.containerenv"))
        nt_copy(out->container, sizeof out->container, "podman");
    for (size_t i = 0; i < sizeof signs / sizeof signs[0] && out->container[0] == '\0'; i++)
        if (mentions(groups, signs[i].word))
            nt_copy(out->container, sizeof out->container, signs[i].name);
    free(groups);
}

static void read_capability(const char *root, nt_host_facts *out)
{
    char *text = read_text(root, "/proc/self/status");
    const char *line = text != NULL ? strstr(text, "\nCapEff:") : NULL;
    out->admin = line != NULL ? (int)(strtoull(line + strlen("\nCapEff:"), NULL, 16) >> CAP_SYS_ADMIN_BIT & 1) : -1;
    free(text);
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  ..." : the first word that looks like a version. */
static void read_module(const char *root, nt_host_facts *out)
{
    char *text = read_text(root, "/proc/driver/nvidia/version");
    char *rest = text != NULL ? strstr(text, "Module") : NULL;
    for (char *word = rest != NULL ? strtok_r(rest, " \t\n", &rest) : NULL; word != NULL;
         word = strtok_r(NULL, " \t\n", &rest))
        if (isdigit((unsigned char)word[0]) && strchr(word, '.') != NULL) {
            nt_copy(out->module, sizeof out->module, word);
            break;
        }
    free(text);
    out->counters_admin_only = -1;
    text = read_text(root, "/proc/driver/nvidia/params");
    const char *rule = text != NULL ? strstr(text, "RmProfilingAdminOnly:") : NULL;
    if (rule != NULL)
        out->counters_admin_only = atoi(rule + strlen("RmProfilingAdminOnly:")) != 0;
    free(text);
}

static void note_holder(const char *root, const char *pid, nt_host_facts *out)
{
    static const char *const tools[] = {"nv-hostengine", "dcgm-exporter", "ncu",
                                        "nsys",          "nsys-agent",    "dcgmproftester"};
    char path[300];
    snprintf(path, sizeof path, "/proc/%s/comm", pid);
    char *name = read_text(root, path);
    if (name == NULL)
        return;
    name[strcspn(name, "\n")] = '\0';
    for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++) {
        size_t length = strlen(out->holders);
        if (strncmp(name, tools[i], 15) == 0 && strlen(name) == strnlen(tools[i], 15)) /* comm holds 15 letters */
            snprintf(out->holders + length, sizeof out->holders - length, "%s%s (%s)", length > 0 ? ", " : "", name,
                     pid);
    }
    free(name);
}

static void read_holders(const char *root, nt_host_facts *out)
{
    char path[512];
    snprintf(path, sizeof path, "%s/proc", root);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        if (isdigit((unsigned char)entry->d_name[0]))
            note_holder(root, entry->d_name, out);
    if (folder != NULL)
        closedir(folder);
}

void nt_host_facts_read(const char *root, nt_host_facts *out)
{
    memset(out, 0, sizeof *out);
    read_kernel(root, out);
    read_container(root, out);
    read_capability(root, out);
    read_module(root, out);
    read_holders(root, out);
}
