/* top_run.h: the facts of a run between the files that keep them up to date; cli/top_feed.h is what others see. */
#ifndef NT_TOP_RUN_H
#define NT_TOP_RUN_H

#include <sys/types.h>

#include "cli/top_feed.h"

struct nt_top_run {
    nt_reader *reader;
    nt_facts facts;
    int64_t asked; /* run; 0: the newest */
    bool ended;    /* its record says so */
    char host[128];
    double started_unix_s, ended_unix_s, total_s;
    int64_t version;
    bool seen;                 /* version is one */
    bool behind;               /* there were more new trials than one look reads */
    double alive_s;            /* when the sweep was last known to be there, monotonic */
    int64_t told_s;            /* whole seconds of the run told last */
    int64_t last;              /* trial read last */
    int followed;              /* trials that the last look read */
    int64_t limited;           /* limiters are counted up to this trial */
    int64_t begin;             /* limiters are counted from it on */
    nt_outcome latest_outcome; /* of the last trial */
    double latest_ns;
    nt_str latest_params;
    char first_value[NT_PARAMS][48];
    ino_t inode;       /* of the file that was opened */
    char trouble[256]; /* what is wrong with the database; "" when nothing */
    /* playing */
    double speed, play_from_s, until_unix_s;
};

/* ---- top_follow.c ------------------------------------------------------------------------------------------------- */

/* Reads the trials that are new: points, parameters, failures, the latest. */
nt_status nt_top_follow(nt_top_run *r, nt_error *err);
/* Counts the limiters of a slice of the trials that are not counted yet. */
nt_status nt_top_count_limiters(nt_top_run *r, nt_error *err);

#endif
