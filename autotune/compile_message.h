/* compile_message.h: a compile request and its result as messages, and the child that answers them. */
#ifndef NT_COMPILE_MESSAGE_H
#define NT_COMPILE_MESSAGE_H

#include <jansson.h>

#include "autotune/pool.h"

json_t *nt_compile_request_json(const nt_compile_request *request);

/* Texts point into `message`, which must live as long as the request. */
nt_status nt_compile_request_parse(const json_t *message, nt_compile_request *out, nt_error *err);

json_t *nt_compile_result_json(const nt_pool_result *result);
nt_status nt_compile_result_parse(const json_t *message, nt_pool_result *out, nt_error *err);

#endif
