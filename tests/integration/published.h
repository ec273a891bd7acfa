/* A leader that publishes data, who looks, and an observer of data. All of it lives until ts_paddock_clear. */
#ifndef PUBLISHED_H
#define PUBLISHED_H

#include "elections.h"

enum { SESSION_MS = 2000, SLOW_MS = 20000, PATIENCE_MS = 10000 };

/* Under ts_record_lock: what an observer of data was told, as "anna anna=one -": identity and data, or nobody. */
struct watch {
    GString *told;
    char *newest;
    int64_t token;
};
struct watch *data_watch_begin(pdk_election *election, pdk_observer **observer);
/* The callback itself, for a struct watch. */
void data_watch_note(const pdk_contenders *leader, void *watch);
/* Waits for it. */
void assert_newest(struct watch *w, const char *newest);

extern struct published_it {
    ts_client *client, *other;
    const char *path;
    pdk_election *election; /* of the client */
    pdk_election *seen;     /* of the other one, which looks */
    record *candidate;
    pdk_hold *hold; /* of the candidate's newest term */
} led;

/* The client leads; as "anna". */
void lead_with(const pdk_election_options *options);
void lead(void);
/* Publishes the text; NULL: takes away what there is. */
pdk_status publish(const char *text);
/* By pdk_election_leader of the other client. */
void assert_seen(const char *wanted);

/* A pdk_answered_fn for a struct published_answer. */
struct published_answer {
    gint count;
    pdk_status status;
};
void published_answered(pdk_status status, void *answer);
/* For ts_wait_until. */
bool published_is_answered(void *answer);

#endif
