/* top_view.h: how `nntune top` shows frames: aligned lines for people, JSON lines for programs. Append only. */
#ifndef NT_TOP_VIEW_H
#define NT_TOP_VIEW_H

#include <stdio.h>

#include "profiler/live.h"

typedef struct nt_top_view nt_top_view;

/* `gpu`: columns of a GPU, else those of a cpu. Several devices of both kinds share the GPU's. */
nt_top_view *nt_top_view_new(FILE *out, bool gpu, bool bold);
void nt_top_view_frame(nt_top_view *view, const char *device, nt_live_kind source, const nt_live_frame *frame);
void nt_top_view_free(nt_top_view *view); /* NULL allowed */

/* {"type":"live","device":"cuda:0",...} */
json_t *nt_top_frame_json(const char *device, const nt_device_info *info, nt_live_kind source,
                          const nt_live_frame *frame);

#endif
