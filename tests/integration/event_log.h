/* The callbacks of a session, recorded for the test: the events in order, the log lines, whether two callbacks ran at
 * the same time, and whether one ran after the end. An event log is for one session at a time, since callbacks of two
 * sessions may overlap. Every function may be called from any thread. */
#ifndef EVENT_LOG_H
#define EVENT_LOG_H

#include <glib.h>
#include <paddock/session.h>
#include <pthread.h>
#include <stdbool.h>

struct event_log_entry {
    pdk_session_event event;
    int64_t time_left_ms;
};

struct event_log {
    pthread_mutex_t lock;
    GArray *events;   /* of struct event_log_entry */
    GPtrArray *lines; /* "W text" and so on: E, W, I, D */
    int running;      /* callbacks that run now */
    bool overlapped;  /* two ran at the same time */
    bool over;        /* event_log_expect_silence was called */
    int late;         /* callbacks that began after that */
    GPtrArray *kept;  /* sessions: see event_log_keep */
};

void event_log_init(struct event_log *e);
/* Closes the sessions that it keeps. The test closes the others that write to it. */
void event_log_clear(struct event_log *e);
/* Sets on_event and on_log, and asks for every log line. */
void event_log_attach(struct event_log *e, pdk_session_options *options);

/* Keeps a reference to the session, because a failed test leaves it open. */
void event_log_keep(struct event_log *e, pdk_session *s);

/* For further callbacks that are to be counted: call these at their beginning and at their end. */
void event_log_enter(struct event_log *e);
void event_log_leave(struct event_log *e);

/* Waits until the event was told at least `count` times. */
bool event_log_wait(struct event_log *e, pdk_session_event event, int count, int64_t timeout_ms);
int event_log_count(struct event_log *e, pdk_session_event event);
/* "connected suspended restored"; g_free. */
char *event_log_history(struct event_log *e);
/* The time left that was told with the last event of this kind; -1 without one. */
int64_t event_log_time_left(struct event_log *e, pdk_session_event event);

/* How many log lines contain `text`. */
int event_log_lines_with(struct event_log *e, const char *text);
bool event_log_wait_line(struct event_log *e, const char *text, int64_t timeout_ms);

/* From now on every callback counts as late. */
void event_log_expect_silence(struct event_log *e);
int event_log_late(struct event_log *e);
bool event_log_overlapped(struct event_log *e);

#endif
