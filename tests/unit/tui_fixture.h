/* tui_fixture.h: a made-up snapshot with something in every part, and a screen that looks at it. */
#ifndef NT_TEST_TUI_FIXTURE_H
#define NT_TEST_TUI_FIXTURE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "tui/screen.h"

enum { FIXTURE_TRIALS = 30 };

static inline void fixture_gpu(nt_device_info *device, nt_device_kind kind)
{
    nt_device_info_init(device, kind);
    nt_copy(device->name, sizeof device->name, kind == NT_DEVICE_CUDA ? "NVIDIA H200" : "Example CPU");
    if (kind != NT_DEVICE_CUDA)
        return;
    device->compute_capability = 90;
    device->sm_count = 132;
    device->smem_per_block_bytes = 232448;
    device->smem_per_sm_bytes = 233472;
    device->smem_reserved_bytes = 1024;
    device->regs_per_block = device->regs_per_sm = 65536;
    device->max_threads_per_block = 1024;
    device->max_threads_per_sm = 2048;
    device->max_blocks_per_sm = 32;
    device->warp_size = 32;
}

static inline void fixture_trials(nt_sheet *sheet)
{
    nt_sheet_add_column(sheet, "trial", "trial", NT_SHEET_WHOLE, true);
    nt_sheet_add_column(sheet, "tile_m", "tile_m", NT_SHEET_WHOLE, false);
    nt_sheet_add_column(sheet, "first_time_ns", "time", NT_SHEET_TIME_NS, true);
    nt_sheet_add_column(sheet, "outcome", "outcome", NT_SHEET_TEXT, true);
    nt_sheet_add_column(sheet, "occupancy_limit_pct", "occ%", NT_SHEET_PCT, true);
    nt_sheet_add_column(sheet, "reason", "reason", NT_SHEET_TEXT, false);
    for (int i = 0; i < FIXTURE_TRIALS; i++) {
        nt_sheet_add_row(sheet);
        nt_sheet_set_number(sheet, 0, i + 1);
        nt_sheet_set_number(sheet, 1, 16 << i % 3);
        nt_sheet_set_number(sheet, 2, i % 5 == 4 ? (double)NAN : 1e4 + 1e3 * i);
        nt_sheet_set_text(sheet, 3, i % 5 == 4 ? "compile_failed" : "ok");
        nt_sheet_set_number(sheet, 4, 100.0 / (1 + i % 4));
        nt_sheet_set_text(sheet, 5, i % 5 == 4 ? "300 registers, \"too\" many" : NULL);
    }
}

static inline void fixture_facts(nt_facts *facts, nt_device_kind kind)
{
    facts->has_run = true;
    facts->run = 3;
    fixture_gpu(&facts->device, kind);
    nt_copy(facts->state, sizeof facts->state, "running");
    nt_copy(facts->command, sizeof facts->command, "nntune sweep conv3x3");
    facts->trials = FIXTURE_TRIALS;
    facts->planned = 60;
    facts->outcome[NT_OUTCOME_OK] = 24;
    facts->outcome[NT_OUTCOME_COMPILE_FAILED] = 6;
    facts->elapsed_s = 30;
    facts->eta_s = 31;
    facts->params = 2;
    nt_copy(facts->param[0], sizeof facts->param[0], "tile_m");
    nt_copy(facts->param[1], sizeof facts->param[1], "tile_n");
    facts->varies[0] = facts->varies[1] = true;
    facts->limiter[NT_LIMIT_SMEM] = 20;
    facts->limiter[NT_LIMIT_REGISTERS] = 4;
    facts->limiter_share = 1;
    facts->roof_flop_per_s = 1e14;
    facts->roof_bytes_per_s = 4e12;
    facts->dot_intensity = 30;
    facts->dot_flop_per_s = 4e13;
    for (int i = 0; i < FIXTURE_TRIALS; i++)
        facts->point[facts->points++] = (nt_point){i + 1,
                                                   i % 5 == 4 ? NT_OUTCOME_COMPILE_FAILED : NT_OUTCOME_OK,
                                                   1,
                                                   i % 5 == 4 ? (double)NAN : 1e4 + 1e3 * i,
                                                   100.0 / (1 + i % 4),
                                                   20};
    nt_sheet_add_column(&facts->units, "shape", "shape", NT_SHEET_TEXT, true);
    nt_sheet_add_column(&facts->units, "least_time_ns", "best", NT_SHEET_TIME_NS, true);
    nt_sheet_add_column(&facts->units, "occupancy_limiter", "limiter", NT_SHEET_TEXT, true);
    nt_sheet_add_column(&facts->units, "kernel", "kernel", NT_SHEET_TEXT, true);
    nt_sheet_add_column(&facts->units, "params", "parameters", NT_SHEET_TEXT, true);
    nt_sheet_add_row(&facts->units);
    nt_sheet_set_text(&facts->units, 0, "c=64,k=64,h=56,w=56");
    nt_sheet_set_number(&facts->units, 1, 1e4);
    nt_sheet_set_text(&facts->units, 2, "smem");
    nt_sheet_set_text(&facts->units, 3, "igemm");
    nt_sheet_set_text(&facts->units, 4, "tile_m=16");
    nt_sheet_add_column(&facts->log, "time", "time", NT_SHEET_TEXT, true);
    nt_sheet_add_row(&facts->log);
    nt_sheet_set_text(&facts->log, 0, "12:00:00");
    facts->devices = 1;
    nt_shown_device *device = &facts->live[0];
    nt_copy(device->name, sizeof device->name, "cuda:0");
    nt_copy(device->model, sizeof device->model, "NVIDIA H200");
    device->gauge[0] = (nt_gauge){"occupancy_pct", "occupancy %", "gpm", 61.5, 0.615, NT_SHEET_PCT};
    device->gauge[1] = (nt_gauge){"dram_pct", "DRAM %", "gpm", (double)NAN, (double)NAN, NT_SHEET_PCT};
    device->gauge[2] = (nt_gauge){"power_mw", "power mW", "nvml", 420000, 0.6, NT_SHEET_WHOLE};
    device->gauges = 3;
    nt_sheet_add_column(&device->processes, "pid", "pid", NT_SHEET_WHOLE, true);
    nt_sheet_add_column(&device->processes, "user", "user", NT_SHEET_TEXT, true);
    nt_sheet_add_row(&device->processes);
    nt_sheet_set_number(&device->processes, 0, 4711);
    nt_sheet_set_text(&device->processes, 1, "ada");
}

static inline void fixture_heat(nt_snapshot *shown)
{
    nt_sheet_add_column(&shown->heat, "tile_m", "tile_m", NT_SHEET_TEXT, true);
    nt_sheet_add_column(&shown->heat, "tile_n", "tile_n", NT_SHEET_TEXT, true);
    nt_sheet_add_column(&shown->heat, "least_time_ns", "time", NT_SHEET_TIME_NS, true);
    for (int i = 0; i < 12; i++) {
        char text[16];
        nt_sheet_add_row(&shown->heat);
        snprintf(text, sizeof text, "%d", 16 << i % 4);
        nt_sheet_set_text(&shown->heat, 0, text);
        snprintf(text, sizeof text, "%d", 32 << i / 4);
        nt_sheet_set_text(&shown->heat, 1, text);
        nt_sheet_set_number(&shown->heat, 2, i == 5 ? (double)NAN : 1e4 + 500 * i);
    }
    shown->want.heat.keys = 2;
    nt_copy(shown->want.heat.key[0].name, sizeof shown->want.heat.key[0].name, "tile_m");
    nt_copy(shown->want.heat.key[1].name, sizeof shown->want.heat.key[1].name, "tile_n");
}

static inline nt_snapshot *fixture_snapshot(nt_device_kind kind)
{
    nt_snapshot *shown = nt_alloc(sizeof *shown);
    nt_snapshot_init(shown);
    fixture_facts(&shown->facts, kind);
    fixture_trials(&shown->trials);
    shown->total = FIXTURE_TRIALS;
    shown->want.window.count = FIXTURE_TRIALS;
    shown->trial.trial = 7;
    shown->trial.use = (nt_block_use){256, 64, 32768, 1};
    nt_sheet_add_column(&shown->trial.sheet, "name", "name", NT_SHEET_TEXT, true);
    nt_sheet_add_column(&shown->trial.sheet, "value", "value", NT_SHEET_TEXT, true);
    nt_sheet_add_row(&shown->trial.sheet);
    nt_sheet_set_text(&shown->trial.sheet, 0, "outcome");
    nt_sheet_set_text(&shown->trial.sheet, 1, "ok");
    shown->trial.samples.count = 4;
    shown->trial.samples.sample_ns = nt_alloc_zero(4, sizeof(double));
    for (int i = 0; i < 4; i++)
        shown->trial.samples.sample_ns[i] = 1000 + 3 * i * i;
    nt_sheet_copy(&shown->trials, &shown->compare);
    fixture_heat(shown);
    return shown;
}

static inline void fixture_screen(nt_screen *screen, nt_view_id view, int width, int height)
{
    nt_screen_init(screen);
    screen->view = view;
    screen->width = width;
    screen->height = height;
    screen->opened = 7;
    screen->tagged[0] = 3;
    screen->tagged[1] = 7;
    screen->tags = 2;
}

#endif
