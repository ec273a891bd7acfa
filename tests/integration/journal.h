/* What a session told its callbacks, kept for the test: the events in order, the lines of log, and whether two callbacks
 * ever ran at once or one ran after the end. A journal is for one session at a time, since callbacks of two may overlap.
 * Every function may be called from any thread. */
#ifndef JOURNAL_H
#define JOURNAL_H

#include <glib.h>
#include <paddock/session.h>
#include <pthread.h>
#include <stdbool.h>

struct journal_entry {
    pdk_session_event event;
    int64_t time_left_ms;
};

struct journal {
    pthread_mutex_t lock;
    GArray *events;   /* of struct journal_entry */
    GPtrArray *lines; /* "W text" and so on: E, W, I, D */
    int running;      /* callbacks, now */
    bool overlapped;  /* two at once */
    bool over;        /* journal_expect_silence was called */
    int late;         /* callbacks begun after that */
    GPtrArray *kept;  /* of sessions: see journal_keep */
};

void journal_init(struct journal *j);
/* Closes the sessions it keeps; others that write to it must be closed. */
void journal_clear(struct journal *j);
/* Sets on_event and on_log, and asks for every line. */
void journal_attach(struct journal *j, pdk_session_options *options);

/* Keeps a reference to the session, which a test that fails leaves open. */
void journal_keep(struct journal *j, pdk_session *s);

/* For further callbacks that are to be watched: at their beginning and end. */
void journal_enter(struct journal *j);
void journal_leave(struct journal *j);

/* Waits until the event was told at least `count` times. */
bool journal_wait(struct journal *j, pdk_session_event event, int count, int64_t timeout_ms);
int journal_count(struct journal *j, pdk_session_event event);
/* "connected suspended restored"; g_free. */
char *journal_story(struct journal *j);
/* The time left told with the last event of this kind, -1 without one. */
int64_t journal_time_left(struct journal *j, pdk_session_event event);

/* How many lines contain `text`. */
int journal_lines_with(struct journal *j, const char *text);
bool journal_wait_line(struct journal *j, const char *text, int64_t timeout_ms);

/* From now on every callback is counted as late. */
void journal_expect_silence(struct journal *j);
int journal_late(struct journal *j);
bool journal_overlapped(struct journal *j);

#endif
