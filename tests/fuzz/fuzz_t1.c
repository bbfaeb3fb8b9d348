/* fuzz_t1.c: any bytes as a T1 file; what is read must come back equal as JSON. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/t1.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    nt_t1 t1;
    nt_error err = {0};
    nt_status status = nt_t1_parse("fuzz", (const char *)data, size, &t1, &err);
    if (status != NT_OK) {
        if (err.what[0] == '\0')
            abort(); /* every failure is explained */
        return 0;
    }
    json_t *again = nt_t1_json(&t1);
    if (!json_equal(again, t1.root))
        abort();
    json_decref(again);
    nt_t1_done(&t1);
    return 0;
}
