/* SPDX-License-Identifier: Apache-2.0 */
/* The job: work that runs once per period across a fleet, as a distributed cron has it.
 *
 *     begin ──► the hold of a run ──work──► finish(outcome)
 *        └────► PDK_SKIPPED: the last runs, and when the next one may begin
 *
 * Every process of the fleet begins the job when it thinks that it is time, by its own clock. At
 * most one of them runs it in each period. All times are the servers' times: the clocks of the
 * fleet may be hours apart. The record of the last runs stands in a persistent znode,
 * <path>/record, which only the holder of the lock <path>/lock changes, by compare-and-set.
 *
 * Periods count from 1970-01-01 00:00 UTC by the servers' clocks: with an hour they begin on the
 * hour, with a day at midnight. at_ms moves them, and zone makes days of them as the clocks of a
 * place show them. A schedule, as cron has it, names the ends of the periods instead. A run belongs
 * to the period in which it started. A period should not end when the fleet asks: of two processes
 * that ask, one just before and one just after the end, both run. So let at_ms be an hour at which
 * nobody asks, or set at_least_ms.
 *
 * The runner has a hold, as of a lock. Nobody else runs while it is valid. A run stands for at most
 * at_most_ms. Then its hold is lost as PDK_REASON_OVERDUE, and another run may begin: at once, if
 * the runner hears of it and lets go. If the runner is stopped or cut off, the servers keep its
 * node until its session ends. So it keeps the others out for at_most_ms and the session timeout,
 * at the longest. A runner that loses its hold, that dies, or that releases its hold without
 * pdk_job_finish, leaves a run that is shown as PDK_JOB_DIED.
 *
 * Assumptions, beyond those of every hold: nobody else writes to the record or deletes it.
 * at_least_ms is as exact as the clocks of the servers agree, since a new leader has another clock.
 * A period runs at most once even where the clocks do not agree: a clock that is behind the record
 * only makes the next run later.
 *
 * Ownership: a job is reference counted, and has a reference to its session. Any thread may make
 * every call. The calls that block answer PDK_WRONG_THREAD in a callback. */
#ifndef PADDOCK_JOB_H
#define PADDOCK_JOB_H

#include <paddock/answer.h>
#include <paddock/hold.h>
#include <paddock/session.h>
#include <stddef.h>

PDK_BEGIN_DECLS

typedef struct pdk_job pdk_job;

/* The run that may follow one that died. */
typedef enum pdk_job_retry {
    /* The next period's run: no period has two runs, whatever became of the first. */
    PDK_JOB_RETRY_NEXT_PERIOD = 0,
    /* Another run, as soon as somebody begins; not before at_least_ms. */
    PDK_JOB_RETRY_AT_ONCE = 1,
} pdk_job_retry;

/* The options of a job. Fill with PDK_JOB_OPTIONS_INIT, then change the options that you need. A
 * struct of an older, smaller size is accepted. A newer, larger one is accepted when everything
 * unknown to this library is zero. The durations are 0 to 315,576,000,000 ms (ten years). The
 * options of the run that is in the record decide when the next run may start: give all processes
 * of a job the same. Where they differ the log says so, as a warning. */
typedef struct pdk_job_options {
    /* sizeof(pdk_job_options), in bytes. */
    size_t size;
    /* The period, in ms. Default 0: there are no periods, and at_least_ms alone decides. */
    int64_t every_ms;
    /* No other run starts for so long after the start of a run, in ms, whether that finished or
     * died. Default 0. */
    int64_t at_least_ms;
    /* A run stands for at most so long, in ms. A runner that is stopped or cut off keeps the others
     * out for up to the session timeout longer. Default 0: as long as its hold is valid. */
    int64_t at_most_ms;
    /* A pdk_job_retry: which run may follow one that died. Default PDK_JOB_RETRY_NEXT_PERIOD. */
    int32_t retry;
    /* How many runs the record keeps, this one included: 1 to 100. Default 16. */
    int32_t history;
    /* The identity that others see of the runs: UTF-8, 1 to 1024 bytes, of which the record has up
     * to 128. Copied. Default NULL: the session's identity. */
    const char *identity;
    /* When a period ends and the next one begins, in ms after the multiple of every_ms since 1970:
     * 0 to every_ms - 1. Default 0. With a zone it counts from midnight there, as clocks show it:
     * 5,400,000 is half past one. Clocks that are put forward may never show it; then it is the
     * first moment after the gap. If they show it twice, it is the first of the two. */
    int64_t at_ms;
    /* The time zone, whose days the periods are: a name of the system's database, as
     * "Europe/Berlin", or an offset, as "+01:00". Then every_ms is a whole number of days, of
     * 86,400,000 ms each, though a day there may have an hour more or less. Copied. Default NULL:
     * UTC, and every_ms is any number. */
    const char *zone;
    /* The times at which a period ends and the next one begins, in place of every_ms and at_ms,
     * which are 0 then: a cron expression of five fields, as crontab(5) has it, such as "30 2 * *
     * *", or one of its names, such as "@daily". Clocks of the zone show these times, or of UTC
     * without one. Several times in a gap of the clocks are one, the first moment after it, and of
     * a time that they show twice the first counts. Copied. Default NULL: no schedule. */
    const char *schedule;
} pdk_job_options;

#define PDK_JOB_OPTIONS_INIT                                                                       \
    {sizeof(pdk_job_options), 0, 0, 0, PDK_JOB_RETRY_NEXT_PERIOD, 16, NULL, 0, NULL, NULL}

/* The same by a function, for languages that cannot use the macro. Does not wait.
 *   size  the sizeof of the caller
 *
 *   PDK_OK       options has the defaults
 *   PDK_INVALID  options is NULL, or no version has that size */
PDK_API pdk_status pdk_job_options_init(pdk_job_options *options, size_t size);

/* The state of a run. */
typedef enum pdk_job_state {
    PDK_JOB_RUNNING = 0,  /* its lock node stands */
    PDK_JOB_FINISHED = 1, /* pdk_job_finish has told its outcome */
    PDK_JOB_DIED = 2,     /* its lock node is gone, and it has told no outcome */
} pdk_job_state;

/* A run, as the record has it. Valid as long as the pdk_job_runs. The library makes it; it may get
 * more fields at its end. Moments are in ms since 1970 by the servers' clocks. */
typedef struct pdk_job_run {
    /* The token of its hold: larger for a later run. */
    int64_t token;
    /* When it started. */
    int64_t start_ms;
    /* When it finished; 0 if it has not. */
    int64_t end_ms;
    /* The earliest start of the next run, if this one finishes. */
    int64_t next_ms;
    /* Until when it may stand; 0: there is no limit. */
    int64_t until_ms;
    /* The identity of the runner. Another program may have written it: escape it before it reaches
     * a terminal. */
    const char *who;
    /* Its state. */
    pdk_job_state state;
    /* The outcome that pdk_job_finish was given; 0 if it was not called. */
    int32_t outcome;
} pdk_job_run;

/* The last runs of a job, newest first. It never changes, and needs no session any more. */
typedef struct pdk_job_runs pdk_job_runs;

/* The number of runs; 0 for NULL, or for a job that has never run. Any thread may call it; it does
 * not wait. */
PDK_API size_t pdk_job_runs_count(const pdk_job_runs *runs);
/* A run: 0 is the newest. NULL for an index of count or more, and for NULL. Any thread may call it;
 * it does not wait. */
PDK_API const pdk_job_run *pdk_job_runs_run(const pdk_job_runs *runs, size_t index);
/* Frees them. NULL is allowed. Does not wait. */
PDK_API void pdk_job_runs_free(pdk_job_runs *runs);

/* Make a job. Does not wait.
 *   path     absolute, printable UTF-8, at most 500 bytes with the chroot. No empty, "." or ".."
 *            segment, and not "/". Without a chroot, not /zookeeper or below it. Its lock and its
 *            record stand below it.
 *   options  or NULL for the defaults. Copied.
 *
 *   PDK_OK  *out is the job, with one reference that pdk_job_unref gives back
 *   Common  PDK_INVALID, CLOSED, AUTH, FORKED */
PDK_API PDK_MUST_USE pdk_status pdk_job_new(pdk_session *session, const char *path,
                                            const pdk_job_options *options, pdk_job **out);
/* One more reference. Returns job; NULL is allowed. Does not wait. */
PDK_API pdk_job *pdk_job_ref(pdk_job *job);
/* Gives a reference back. A run goes on: its hold is the caller's. NULL is allowed. Does nothing in
 * the child of a fork. Does not wait. */
PDK_API void pdk_job_unref(pdk_job *job);

/* Begin a run, if there may be one now. Blocks, at most timeout_ms, or the session's
 * request_timeout_ms if that is longer. It never waits for another's run to end. Four round trips,
 * two of them writes; three, and no write, where a run stands.
 *   hold  set on PDK_OK: pdk_job_finish ends it
 *   runs  NULL, or set on PDK_SKIPPED, to be freed with pdk_job_runs_free: the runs in the record
 *
 *   PDK_OK             this process runs the job now. *hold is valid until it is lost
 *   PDK_SKIPPED        a run stands, or this period had its run, or at_least_ms has not passed. The
 *                      error text says which of these
 *   PDK_BUSY           others asked at the same time, for all of timeout_ms
 *   PDK_LOST           the hold was lost before the run was recorded for certain: nothing runs. The
 *                      record may show it as died
 *   PDK_UNAVAILABLE    no server confirmed it in time, or this thread ran too late: nothing runs.
 *                      The record may show a run that died
 *   PDK_DAMAGED        the znode of the record has something else; the error text says where
 *   PDK_UNSUPPORTED    the record is of a later version of the library; or the server refuses a
 *                      node
 *   PDK_NO_PERMISSION  an access control list forbids it
 *   PDK_UNPROTECTED    strangers may change the lock's directory, the record or its parent:
 *                      access.h, "Existing nodes"
 *   PDK_LIMIT          a limit of the session is reached, as for a lock; or the versions of the
 *                      record are used up
 *   PDK_MISMATCH       <path>/lock has a lock-delay, by a node "delay" below it
 *   PDK_EXHAUSTED      the sequence numbers of the lock are used up
 *   PDK_REWOUND        the servers were wiped or restored: see pdk_session_token_seen
 *   PDK_CANCELED       this thread was interrupted (interrupt.h)
 *   Common             PDK_INVALID, CLOSED, AUTH, FORKED, WRONG_THREAD */
PDK_API PDK_MUST_USE pdk_status pdk_job_acquire(pdk_job *job, int64_t timeout_ms, pdk_hold **hold,
                                                pdk_job_runs **runs);

/* The answer of pdk_job_acquire_async.
 *   status  one that pdk_job_acquire answers, but for PDK_CANCELED and PDK_WRONG_THREAD
 *   hold    not NULL exactly when status is PDK_OK. The callback owns it: pdk_job_finish or
 *           pdk_job_finish_async ends it
 *   runs    not NULL exactly when status is PDK_SKIPPED: the runs in the record. The callback owns
 *           them, and frees them with pdk_job_runs_free, now or later
 *   user    as it was given. The library never frees it.
 *
 * For the thread, the calls that are allowed inside and the last call see answer.h. A hold that no
 * callback gets is released. */
typedef void (*pdk_job_acquired_fn)(pdk_status status, pdk_hold *hold, pdk_job_runs *runs,
                                    void *user);

/* Begin a run, if there may be one now, without waiting, as pdk_job_acquire does: the answer goes
 * to fn, once, as a callback (answer.h). Any thread may call it, also in a callback. The call has a
 * reference to the job. A hold that was lost before fn runs is PDK_LOST.
 *
 *   PDK_OK       fn will be called. It gets the hold, or a status of pdk_job_acquire
 *   Common       PDK_INVALID, CLOSED, AUTH, FORKED
 * On an error fn is never called. */
PDK_API PDK_MUST_USE pdk_status pdk_job_acquire_async(pdk_job *job, int64_t timeout_ms,
                                                      pdk_job_acquired_fn fn, void *user);

/* Tell the outcome of a run, and release its hold. Blocks, at most timeout_ms; two round trips.
 *   hold     of pdk_job_acquire of this job
 *   outcome  0 or more, for the record; by custom 0 is a success
 *
 *   PDK_OK  the record has it, and the hold is released with its reference
 * After any other answer the hold is still the caller's to release:
 *   PDK_LOST         the hold was lost, or another run came, before the outcome was confirmed: the
 *                    run is shown as died, unless a write whose answer was lost has told its
 *                    outcome
 *   PDK_NOT_HELD     the hold was released
 *   PDK_REPLACED     somebody without the lock has written or deleted the record
 *   PDK_UNAVAILABLE  no server confirmed it in time. Calling again is safe
 *   PDK_LIMIT        the versions of the record are used up
 *   PDK_DAMAGED, PDK_UNSUPPORTED, PDK_NO_PERMISSION, PDK_UNPROTECTED  as for pdk_job_acquire
 *   Common           PDK_INVALID, CLOSED, AUTH, FORKED, WRONG_THREAD */
PDK_API pdk_status pdk_job_finish(pdk_job *job, pdk_hold *hold, int32_t outcome,
                                  int64_t timeout_ms);

/* Tell the outcome of a run without waiting, as pdk_job_finish does: the answer goes to fn, once,
 * as a callback (answer.h). Any thread may call it, also in a callback. The hold is released just
 * before fn gets PDK_OK, with its reference, unless you have released it meanwhile. If fn is never
 * called, it is still yours.
 *
 *   PDK_OK       fn will be called. It gets a status of pdk_job_finish
 *   Common       PDK_INVALID, CLOSED, AUTH, FORKED
 * On an error fn is never called. */
PDK_API pdk_status pdk_job_finish_async(pdk_job *job, pdk_hold *hold, int32_t outcome,
                                        int64_t timeout_ms, pdk_answered_fn fn, void *user);

/* Read the record of a job: its last runs. Blocks, at most timeout_ms. It is as new as the
 * session's server. One round trip; two while a run stands, and three where one has just died.
 *   path  of the job
 *   runs  set on PDK_OK, to be freed with pdk_job_runs_free. A job that never ran has none
 *
 *   PDK_OK             *runs has them
 *   PDK_DAMAGED        the znode of the record has something else
 *   PDK_UNSUPPORTED    the record is of a later version of the library
 *   PDK_NO_PERMISSION  an access control list forbids to read it
 *   PDK_UNAVAILABLE    no server answered in time
 *   Common             PDK_INVALID, CLOSED, AUTH, FORKED, WRONG_THREAD */
PDK_API pdk_status pdk_job_history(pdk_session *session, const char *path, int64_t timeout_ms,
                                   pdk_job_runs **runs);

/* The answer of pdk_job_history_async.
 *   status  one that pdk_job_history answers
 *   runs    not NULL exactly when status is PDK_OK. The callback owns them, and frees them with
 *           pdk_job_runs_free, now or later.
 *   user    as it was given. The library never frees it.
 *
 * For the thread, the calls that are allowed inside and the last call see answer.h. */
typedef void (*pdk_job_runs_fn)(pdk_status status, pdk_job_runs *runs, void *user);

/* Read the record of a job without waiting, as pdk_job_history does: the answer goes to fn, once,
 * as a callback (answer.h). Any thread may call it, also in a callback.
 *
 *   PDK_OK  fn will be called. It gets the runs, or a status of pdk_job_history
 *   Common  PDK_INVALID, CLOSED, AUTH, FORKED
 * On an error fn is never called. */
PDK_API pdk_status pdk_job_history_async(pdk_session *session, const char *path, int64_t timeout_ms,
                                         pdk_job_runs_fn fn, void *user);

PDK_END_DECLS

#endif
