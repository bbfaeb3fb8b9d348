/* worker.h: the device worker: the child that owns the device's context.
 *
 * It answers one request at a time: identify, open (identity, floor), problem (inputs, references, ring), trial (load,
 * verify, time) and finals (fresh verification, interleaved rounds). A request that loses the device is answered with
 * DEVICE_LOST and ends the worker; a kernel that kills or hangs it costs that trial alone, since the coordinator starts
 * another.
 *
 * Messages, all objects with "op":
 *   identify -> {status, device}: no context is made
 *   open     -> {status, device, floor_ns}
 *   problem  {problem, seed, cache, unchecked, spec, spec_hash} -> {status, ms, slots, slot_bytes}
 *   trial    {kernel, params, artefact, ci_rel, cap_s, abandon_over_ns, settle_over_ns} -> {status, trial}
 *   finals   {rounds, verify, items: [{kernel, params, artefact}]} -> {status, finals: [{right, reason, error_impl,
 *            error_prec, launches, round_ns: []}]}
 * unchecked: inputs without references, for finals that verify nothing because an earlier worker did.
 * status other than 0 comes with "what" and "hint". Unknown times are null. spec: the file of a user's kernel. */
#ifndef NT_WORKER_H
#define NT_WORKER_H

/* Main of `nntune --device-worker PARENT DEVICE`. Returns the exit code. */
int nt_worker_main(const char *parent_pid, const char *device);

#endif
