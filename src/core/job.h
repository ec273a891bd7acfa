/* The record of a job that runs once per period, and the rule of it. All times are ms since 1970 by the servers'
 * clocks.
 *
 *     paddock-job 1
 *     R <token> <start> 0 <least> <every> <most> 0 <node> <who>                 the newest run; R: it has not ended
 *     F <token> <start> <end> <least> <every> <most> <outcome> <node> <who>     F: it has ended
 *     D <token> <start> 0 …                                                     D: it died before the next one began
 *     R <token> <start> 0 <least> <every>@<edge> …                              periods that do not count from 1970
 *
 * Periods end at their edges: one at `edge`, and one each `every` after it. In a time zone days differ in length. There
 * the edge is the end of the period in which the runner handed its start over, and `every` is the length of the next
 * one, since a start is never further from that. So a reader of the record needs no time zone.
 *
 *     asks ──► the record, version v ──and the moment of a write of the asker──► judge
 *                                                         START │ SKIP │ OURS │ OVERTAKEN
 *                          a new first line, naming v ◄─────────┘
 *
 * Nobody knows the moment of a write before it is written. So the znode's mtime is the last time of the newest line: of
 * an R its start, of an F its end. The line itself has the least that this time can be, until the next writer puts the
 * moment into it.
 *
 * A writer has the lock, and a token that is larger than the tokens of all runs before. A holder with a smaller one was
 * overtaken. Every write names the version that was read. So once a newer holder has written, every later write of an
 * older one is turned away.
 */
#ifndef PDK_CORE_JOB_H
#define PDK_CORE_JOB_H

#include "core/names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PDK__JOB_RUNS = 100, PDK__JOB_WHO = 129, PDK__JOB_SIZE = 65536 };
/* Ten years: of each duration. And the last moment: in the year 9999. */
#define PDK__JOB_LONGEST INT64_C(315576000000)
#define PDK__JOB_LATEST INT64_C(253402300799999)

struct pdk__job_run {
    int64_t token;
    int64_t start, end;         /* end: 0 unless it is F */
    int64_t least, every, most; /* the runner's options; 0: none */
    int64_t edge;               /* an end of a period; 0: 1970 */
    int32_t outcome;
    char state;                /* R, F or D */
    char node[PDK__NAME_SIZE]; /* the name of the lock node that it held */
    char who[PDK__JOB_WHO];
};

struct pdk__job_record {
    int count;
    struct pdk__job_run runs[PDK__JOB_RUNS]; /* the newest first */
};

enum pdk__record_kind { PDK__RECORD_FINE, PDK__RECORD_FOREIGN, PDK__RECORD_NEWER };

/* The first line tells: it is the family, and the number of the version, to the byte. NEWER: a later version than 1.
 * All else is FOREIGN: a record that was damaged, or no record. */
enum pdk__record_kind pdk__record_kind_of(const char *data, size_t size, const char *family);
/* Takes any bytes; none is an empty record. mtime: of the znode. FOREIGN: no such record. NEWER: of a later version. */
enum pdk__record_kind pdk__job_parse(const char *data, size_t size, int64_t mtime, struct pdk__job_record *record);
/* The length of the text, which has no NUL after it. */
size_t pdk__job_write(const struct pdk__job_record *record, char text[PDK__JOB_SIZE]);
/* An identity as a record has it: one line, cut. */
void pdk__job_name(const char *identity, char who[PDK__JOB_WHO]);

/* The earliest start of the next run; after a run that died and may be retried at once it is the earlier one. */
int64_t pdk__job_next(const struct pdk__job_run *run, bool at_once);

enum pdk__job_verdict { PDK__JOB_START, PDK__JOB_SKIP, PDK__JOB_OURS, PDK__JOB_OVERTAKEN };
/* The verdict for the holder with this token, whose write was at `now`. */
enum pdk__job_verdict pdk__job_judge(const struct pdk__job_record *record, int64_t token, int64_t now, bool at_once);
/* After START: the run is the newest. At most `keep` stay. */
void pdk__job_start(struct pdk__job_record *record, const struct pdk__job_run *run, int keep);
/* The run of this token ends. START: it is changed. OURS: it has ended before. OVERTAKEN: it is not the newest. */
enum pdk__job_verdict pdk__job_finish(struct pdk__job_record *record, int64_t token, int32_t outcome);

#endif
