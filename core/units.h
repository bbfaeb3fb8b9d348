/* units.h: numbers for people: 12.3 us, 4.21 TB/s, 1.2 M, 61 %, 2 min 5 s. Unknown is "-". */
#ifndef NT_UNITS_H
#define NT_UNITS_H

#include <stddef.h>
#include <stdint.h>

typedef struct nt_text {
    char s[32];
} nt_text;

nt_text nt_text_time_ns(double ns);          /* three significant digits: 512 ns, 12.3 us, 1.05 ms, 2.5 s */
nt_text nt_text_duration_s(double seconds);  /* 45 s, 2 min 5 s, 1 h 3 min */
nt_text nt_text_bytes(double bytes);         /* 48 KiB, 141 GB is 131 GiB: binary units */
nt_text nt_text_rate(double bytes_per_s);    /* GB/s, TB/s: decimal */
nt_text nt_text_flops(double flop_per_s);    /* GFLOP/s, TFLOP/s */
nt_text nt_text_pct(double pct);             /* 61.2 % */
nt_text nt_text_count(double count);         /* 950, 12.3 k, 1.2 M */

#endif
