/* bars.h: the bars' entry points, for the table in main.c. */
#ifndef BARS_H
#define BARS_H

#include "tests/gpu/judge.h"

void judge_bar_rate(judge *j);
void judge_bar_speed(judge *j);
void judge_bar_time(judge *j);
void judge_bar_ties(judge *j);
void judge_bar_faults(judge *j);
void judge_bar_odd(judge *j);
void judge_bar_occupancy(judge *j);
void judge_bar_halves(judge *j);

/* One of the processes that bar_time.c compares: measures the trials (ids separated by commas) of OUT/time.db and
 * prints a line for each. With `records` it times them under CUPTI and prints the records' durations too. */
int judge_time_child(judge *j, const char *trials, bool records);

#endif
