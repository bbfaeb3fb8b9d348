/* cmd_doctor.c: `nntune doctor`: what is here, what works, and what to do about what does not. Exit 0 when hardware
 * counters work, 3 when they do not. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/color.h"
#include "cli/doctor.h"
#include "cli/output.h"
#include "core/json.h"
#include "core/mem.h"

static const char *const finding_names[NT_FINDING_COUNT] = {
    [NT_FOUND_OK] = "ok", [NT_FOUND_NOTE] = "note", [NT_FOUND_BAD] = "bad", [NT_FOUND_NONE] = "none"};

const char *nt_finding_name(nt_finding finding)
{
    return (unsigned)finding < NT_FINDING_COUNT ? finding_names[finding] : "unknown";
}

void nt_doctor_section(nt_doctor *doctor, const char *name)
{
    nt_copy(doctor->section, sizeof doctor->section, name);
}

nt_check *nt_doctor_add(nt_doctor *doctor, const char *name, nt_finding finding, const char *format, ...)
{
    va_list list;
    nt_grow((void **)&doctor->check, &doctor->capacity, doctor->count + 1, sizeof *doctor->check);
    nt_check *check = &doctor->check[doctor->count++];
    *check = (nt_check){.name = name, .finding = finding};
    nt_copy(check->section, sizeof check->section, doctor->section);
    va_start(list, format);
    vsnprintf(check->value, sizeof check->value, format, list);
    va_end(list);
    return check;
}

void nt_doctor_add_error(nt_doctor *doctor, const char *name, nt_finding finding, const nt_error *err)
{
    nt_doctor_add(doctor, name, finding, "%s", err->what);
    nt_doctor_next(doctor, "%s", err->hint);
}

void nt_doctor_next(nt_doctor *doctor, const char *format, ...)
{
    va_list list;
    nt_check *check = &doctor->check[doctor->count - 1];
    va_start(list, format);
    vsnprintf(check->next, sizeof check->next, format, list);
    va_end(list);
}

void nt_doctor_done(nt_doctor *doctor)
{
    free(doctor->check);
    memset(doctor, 0, sizeof *doctor);
}

/* ---- output ------------------------------------------------------------------------------------------------------------ */

static void print_text(const nt_doctor *doctor, bool bold)
{
    const char *section = "";
    for (size_t i = 0; i < doctor->count; i++) {
        const nt_check *c = &doctor->check[i];
        if (strcmp(section, c->section) != 0)
            printf("%s%s%s%s\n", i > 0 ? "\n" : "", bold ? NT_BOLD : "", c->section, bold ? NT_PLAIN : "");
        section = c->section;
        printf("  %-4s  %-15s  %s\n", nt_finding_name(c->finding), c->name, c->value);
        if (c->next[0] != '\0')
            printf("        %-15s  -> %s\n", "", c->next);
    }
    printf("\nhardware counters %s%s\n", doctor->counters_work ? "work" : "do not work: ", doctor->reason);
}

static void print_json(const nt_doctor *doctor)
{
    json_t *document = nt_output_document("doctor"), *checks = json_array();
    for (size_t i = 0; i < doctor->count; i++) {
        const nt_check *c = &doctor->check[i];
        json_array_append_new(checks, json_pack("{s:s, s:s, s:s, s:o, s:o}", "section", c->section, "name", c->name,
                                                "finding", nt_finding_name(c->finding), "value", nt_json_text(c->value),
                                                "next", nt_json_text(c->next)));
    }
    json_object_set_new(document, "counters_work", json_boolean(doctor->counters_work));
    json_object_set_new(document, "reason", nt_json_text(doctor->reason));
    json_object_set_new(document, "checks", checks);
    nt_output_json(document);
}

static nt_status run(const nt_args *args, int *exit_code, nt_error *err)
{
    nt_doctor doctor = {0};
    (void)err;
    nt_host_facts_read("", &doctor.host);
    nt_doctor_system(&doctor);
    nt_doctor_gpu(&doctor);
    nt_doctor_tools(&doctor);
    if (nt_args_flag(args, "json"))
        print_json(&doctor);
    else
        print_text(&doctor, nt_color_wanted(args, stdout));
    if (!doctor.counters_work)
        *exit_code = nt_status_exit_code(NT_NO_DEVICE);
    nt_doctor_done(&doctor);
    return NT_OK;
}

const nt_command nt_command_doctor = {
    .name = "doctor",
    .group = "System",
    .summary = "check what nntune needs and finds here; exit 0 when hardware counters work, 3 when they do not",
    .usage = "",
    .example = "nntune doctor",
    .description =
        "Looks at the driver, CUDA libraries, each GPU's state, the permission to read hardware counters, compilers "
        "and folders. Counters are tried for real: one small kernel is counted and sampling is started and stopped, "
        "unless a sweep is timing. What does not work is shown with its reason and what to do.",
    .uses = NT_USES_JSON | NT_USES_COLOR,
    .run = run,
};
