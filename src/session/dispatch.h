/* The outbox: callbacks that are due, run one at a time on the session's own thread or by pdk_session_dispatch. */
#ifndef PDK_SESSION_DISPATCH_H
#define PDK_SESSION_DISPATCH_H

#include <glib.h>
#include <paddock/session.h>
#include <pthread.h>
#include <stdbool.h>

/* The most log lines that wait for the log callback. Further ones are dropped, and counted. */
#define PDK__LOG_LINES_MAX 1000

struct pdk__outbox {
    pthread_mutex_t lock; /* innermost: code under any other lock may log */
    pthread_cond_t changed;
    GQueue due;
    bool manual;
    bool busy;   /* a callback is running */
    bool silent; /* no callback starts any more */
    int fd;      /* manual: readable while something is due */
    unsigned log_lines, log_dropped;
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
/* Run one callback. false: none is due, or another thread runs one. */
bool pdk__outbox_run_one(pdk_session *s);
/* Is this thread inside a callback of any session? */
bool pdk__in_callback(void);
/* Is this thread inside a callback of this session? */
bool pdk__in_callback_of(pdk_session *s);
/* No callback starts once this has returned. Those that are due are dropped. Not under the monitor. */
void pdk__outbox_silence(pdk_session *s);
bool pdk__outbox_is_silent(pdk_session *s);
/* Wait until nothing is due or running, or until the moment. true: nothing is. Not under the monitor. */
bool pdk__outbox_drain(pdk_session *s, int64_t until);

/* Write a log line, if the level is logged. Under the monitor or not. */
__attribute__((format(printf, 3, 4))) void pdk__log(pdk_session *s, int level, const char *format, ...);
void pdk__log_text(pdk_session *s, int level, const char *text);

#endif
