/* units.c: numbers for people, three significant digits and the unit that keeps the number short. */
#include "core/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct unit {
    double factor;
    const char *name;
} unit;

/* Smallest unit first; the last row ends the list. */
static const unit times[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}, {0, NULL}};
static const unit sizes[] = {{1, "B"},        {0x1p10, "KiB"}, {0x1p20, "MiB"}, {0x1p30, "GiB"},
                             {0x1p40, "TiB"}, {0x1p50, "PiB"}, {0, NULL}};
static const unit rates[] = {{1, "B/s"}, {1e3, "kB/s"}, {1e6, "MB/s"}, {1e9, "GB/s"}, {1e12, "TB/s"}, {0, NULL}};
static const unit flops[] = {{1, "FLOP/s"},     {1e3, "kFLOP/s"},  {1e6, "MFLOP/s"}, {1e9, "GFLOP/s"},
                             {1e12, "TFLOP/s"}, {1e15, "PFLOP/s"}, {0, NULL}};
static const unit counts[] = {{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}, {0, NULL}};

static nt_text unknown(void)
{
    return (nt_text){"-"};
}

static double three_digits(double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.2e", value);
    return strtod(text, NULL);
}

/* Rounds first and chooses the unit then: 999.9 us is 1 ms, never 1000 us. */
static nt_text scaled(double value, const unit *units)
{
    if (!isfinite(value))
        return unknown();
    int at = 0;
    while (units[at + 1].name != NULL && fabs(three_digits(value / units[at + 1].factor)) >= 1)
        at++;
    double shown = value / units[at].factor;
    nt_text text;
    /* 1000 to 1023 KiB, and what is beyond the largest unit, want all their digits and no exponent within reason. */
    const char *format = fabs(shown) >= 999.5 && fabs(shown) < 1e9 ? "%.0f%s%s" : "%.3g%s%s";
    snprintf(text.s, sizeof text.s, format, shown, units[at].name[0] ? " " : "", units[at].name);
    return text;
}

nt_text nt_text_time_ns(double ns)
{
    return scaled(ns, times);
}

nt_text nt_text_bytes(double bytes)
{
    return scaled(bytes, sizes);
}

nt_text nt_text_rate(double bytes_per_s)
{
    return scaled(bytes_per_s, rates);
}

nt_text nt_text_flops(double flop_per_s)
{
    return scaled(flop_per_s, flops);
}

nt_text nt_text_count(double count)
{
    return scaled(count, counts);
}

nt_text nt_text_pct(double pct)
{
    if (!isfinite(pct))
        return unknown();
    nt_text text;
    if (pct > 0 && pct < 0.05)
        return (nt_text){"<0.1 %"}; /* "0.0 %" would say that there is none */
    snprintf(text.s, sizeof text.s, fabs(pct) >= 1e6 ? "%.3g %%" : "%.1f %%", pct);
    return text;
}

nt_text nt_text_duration_s(double seconds)
{
    if (!isfinite(seconds) || seconds < 0)
        return unknown();
    nt_text text;
    double whole = floor(seconds + 0.5);
    if (seconds > 1e12)
        snprintf(text.s, sizeof text.s, "%.3g h", seconds / 3600);
    else if (seconds < 9.95)
        snprintf(text.s, sizeof text.s, "%.2g s", seconds);
    else if (whole < 60)
        snprintf(text.s, sizeof text.s, "%.0f s", whole);
    else if (whole < 3600)
        snprintf(text.s, sizeof text.s, "%.0f min %.0f s", floor(whole / 60), fmod(whole, 60));
    else
        snprintf(text.s, sizeof text.s, "%.0f h %.0f min", floor(whole / 3600), floor(fmod(whole, 3600) / 60));
    return text;
}
