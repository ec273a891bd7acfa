/* The outbox: callbacks that are due, run one at a time on the session's own thread or by pdk_session_dispatch. */
#ifndef PDK_SESSION_DISPATCH_H
#define PDK_SESSION_DISPATCH_H

#include <glib.h>
#include <paddock/session.h>
#include <paddock/stats.h>
#include <pthread.h>
#include <stdbool.h>

/* The most log lines that wait for the log callback. Further ones are dropped, and counted. */
#define PDK__LOG_LINES_MAX 1000

/* Callbacks that are due run in this order, and first come first served within a kind. A loss waits for no more than
 * the one callback that is running. */
enum pdk__due { PDK__DUE_LOSS, PDK__DUE_CALLBACK, PDK__DUE_LINE, PDK__DUE_KINDS };

/* Lines that are alike: of one format, and no detail (DEBUG). A server, or a link, may bring about any number of them,
 * so this many are logged at once, and then one a second. The next one that is logged says how many were left out. */
enum { PDK__LOG_ALIKE_MAX = 100, PDK__LOG_FORMATS = 64 };

struct pdk__log_alike {
    const char *format; /* NULL: an empty slot */
    int64_t since;      /* lines leaked until then are taken off `level` */
    unsigned level, left_out;
};

struct pdk__outbox {
    pthread_mutex_t lock; /* innermost: code under any other lock may log */
    pthread_cond_t changed;
    GQueue due[PDK__DUE_KINDS];
    bool manual;
    bool busy;   /* a callback is running */
    bool silent; /* no callback starts any more */
    int fd;      /* manual: readable while something is due, and for good once it is silent */
    unsigned log_lines, log_dropped;
    struct pdk__log_alike log_alike[PDK__LOG_FORMATS];
    uint64_t log_dropped_ever;
    int64_t delay; /* the longest, in ns, that a callback was due before it began */
    pdk_log_fn on_log;
    void *on_log_user;
    int log_level;
};

pdk_status pdk__outbox_init(pdk_session *s, const pdk_session_options *options);
void pdk__outbox_clear(pdk_session *s);

/* Have run(user), then drop(user), called where callbacks run. If the session goes silent before, drop(user) alone is
 * called. false: the session is silent already, and neither is called. Under the monitor or not. run and drop take
 * their own locks. */
bool pdk__later(pdk_session *s, void (*run)(void *user), void (*drop)(void *user), void *user);
/* The same for a loss, and for callbacks that must come before it: ahead of all else. */
bool pdk__later_first(pdk_session *s, void (*run)(void *user), void (*drop)(void *user), void *user);
/* Have fn(user) called outside of all monitors, among the callbacks of that kind. It must be nothing that a user sees.
 * false: as above. */
bool pdk__later_outside(pdk_session *s, enum pdk__due kind, void (*fn)(void *user), void *user);
/* Is nothing due? Under its lock. */
bool pdk__outbox_is_empty(const struct pdk__outbox *o);
/* Run one callback. false: none is due, or another thread runs one, or this thread is a child that the callback forked:
 * it must touch the session no more. */
bool pdk__outbox_run_one(pdk_session *s);
/* Is this thread inside a callback of any session, or of the client library? */
bool pdk__in_callback(void);
/* Is this thread inside a callback of this session? */
bool pdk__in_callback_of(pdk_session *s);
/* With manual dispatch, was every reference to the session itself given back? Then callbacks that become due would
 * never run, and they may have the last references to the session. So the connector drops them. */
bool pdk__nobody_dispatches(const pdk_session *s);
/* Drop the callbacks that are due. Not under the monitor. */
void pdk__outbox_drop(pdk_session *s);
/* No callback starts once this has returned. Callbacks that are due are dropped, and the descriptor stays readable. Not
 * under the monitor. */
void pdk__outbox_silence(pdk_session *s);
bool pdk__outbox_is_silent(pdk_session *s);
/* Wait until nothing is due or running, or until the moment. true: nothing is. Not under the monitor. */
bool pdk__outbox_drain(pdk_session *s, int64_t until);
/* Wait until it is silent and nothing is running, or until the moment. true: it is. Not under the monitor. */
bool pdk__outbox_await_silence(pdk_session *s, int64_t until);

/* Its figures: callbacks that are due and have not begun, the longest delay, lines dropped. The delay is reset. Under
 * the monitor or not. */
void pdk__outbox_read(pdk_session *s, pdk_stats *stats);
void pdk__outbox_forget_delay(pdk_session *s);

/* Write a log line, if the level is logged. Under the monitor or not. */
__attribute__((format(printf, 3, 4))) void pdk__log(pdk_session *s, int level, const char *format, ...);
void pdk__log_text(pdk_session *s, int level, const char *text);

#endif
