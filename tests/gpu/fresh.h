/* fresh.h: every ok trial of a database once more, on inputs that the sweep never saw. */
#ifndef FRESH_H
#define FRESH_H

#include "tests/gpu/judge.h"

/* Figures: trials checked (at least `least`), wrong ones by the tool's verification and by the judge's own sums. */
void judge_fresh(judge *j, const char *db, double least);

#endif
