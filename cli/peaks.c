#include "cli/peaks.h"

#include "autotune/child.h"
#include "autotune/lock.h"
#include "core/json.h"

enum { OPEN_MS = 120000 };

static nt_status reply_of(const json_t *reply, nt_device_info *info, nt_error *err)
{
    const char *what = nt_json_get_text(reply, "what"), *hint = nt_json_get_text(reply, "hint");
    if (nt_json_get_int(reply, "status") == NT_OK)
        return nt_json_to_device(json_object_get(reply, "device"), info, err);
    nt_fail(err, NT_FAILED, "%s", what != NULL ? what : "the device worker failed without a reason");
    return nt_hint(err, "%s", hint != NULL ? hint : "");
}

/* Opening the device measures what is not known yet. */
static nt_status open_device(nt_device_info *info, nt_error *err)
{
    nt_child worker = {0};
    json_t *reply = NULL;
    nt_status status = nt_child_start(&worker, "--device-worker", nt_device_kind_name(info->kind), false, err);
    if (status == NT_OK)
        status = nt_channel_send(&worker.channel, json_pack("{s:s}", "op", "open"), err);
    if (status == NT_OK)
        status = nt_channel_receive(&worker.channel, OPEN_MS, &reply, err);
    if (status == NT_OK)
        status = reply_of(reply, info, err);
    json_decref(reply);
    nt_child_kill(&worker);
    return status;
}

nt_status nt_peaks_measure(nt_device_info *info, nt_error *err)
{
    nt_lock lock;
    nt_status status = nt_lock_try(info->uuid, &lock, err);
    if (status != NT_OK)
        return status;
    status = open_device(info, err);
    nt_lock_release(&lock);
    return status;
}
