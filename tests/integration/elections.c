/* See elections.h. */
#include "elections.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ts_bench.h"
#include "ts_clock.h"
#include "ts_observer.h"
#include "ts_record.h"

struct record {
    GString *history, *leaders;
    char *leader; /* told last */
    int64_t leader_token, token;
    int count[TOLD];
    struct {
        void (*act)(record *r, void *user);
        void *user;
    } acts[TOLD];
    pdk_hold *hold;
    pdk_observer *observer;
    int running, overlapped, silent, late;
};

struct door {
    int open;
};

/* ---- elections */

static void unref_election(void *election) { pdk_election_unref(election); }

pdk_election *election_with(const ts_client *client, const char *path, const pdk_election_options *options) {
    pdk_election *election = NULL;
    if (pdk_election_new(client->session, path, options, &election) != PDK_OK) {
        fprintf(stderr, "pdk_election_new: %s\n", pdk_last_error());
        abort();
    }
    ts_paddock_keep(election, unref_election);
    return election;
}

pdk_election *election_on(const ts_client *client, const char *path, const char *identity) {
    pdk_election_options options = PDK_ELECTION_OPTIONS_INIT;
    options.identity = identity;
    return election_with(client, path, &options);
}

/* ---- records */

static void record_free(void *what) {
    record *r = what;
    pdk_observer_close(r->observer);
    pdk_hold_unref(r->hold);
    g_string_free(r->history, TRUE);
    g_string_free(r->leaders, TRUE);
    g_free(r->leader);
    g_free(r);
}

record *record_new(void) {
    record *r = g_new0(record, 1);
    r->history = g_string_new(NULL);
    r->leaders = g_string_new(NULL);
    ts_paddock_keep(r, record_free);
    return r;
}

void record_act(record *r, enum told what, void (*act)(record *r, void *user), void *user) {
    ts_record_lock();
    r->acts[what].act = act;
    r->acts[what].user = user;
    ts_record_unlock();
}

static void add_word(GString *to, const char *word) {
    g_string_append_printf(to, "%s%s", to->len > 0 ? " " : "", word);
}

/* Records the callback and runs its act. `word` goes into the record's history, unless it is NULL. */
static void tell(record *r, enum told what, const char *word) {
    ts_record_lock();
    r->overlapped = r->overlapped || r->running > 0;
    r->running++;
    r->late += r->silent && what != FREED;
    if (word != NULL)
        add_word(r->history, word);
    r->count[what]++;
    void (*act)(record *, void *) = r->acts[what].act;
    void *user = r->acts[what].user;
    ts_record_unlock();
    if (act != NULL)
        act(r, user);
    ts_record_lock();
    r->running--;
    ts_record_unlock();
}

static void on_elected(pdk_hold *hold, void *user) {
    record *r = user;
    pdk_hold *old;
    ts_record_lock();
    old = r->hold;
    r->hold = pdk_hold_ref(hold);
    r->token = pdk_hold_token(hold);
    ts_record_unlock();
    pdk_hold_unref(old);
    tell(r, ELECTED, "elected");
}

static void on_deposed(pdk_reason reason, void *user) {
    g_autofree char *word = g_strconcat("deposed:", pdk_reason_name(reason), NULL);
    tell(user, DEPOSED, word);
}

void record_failed(pdk_status status, void *user) {
    g_autofree char *word = g_strconcat("failed:", pdk_status_name(status) + strlen("PDK_"), NULL);
    tell(user, FAILED, word);
}

void record_leader(const char *identity, int64_t token, void *user) {
    record *r = user;
    ts_record_lock();
    g_free(r->leader);
    r->leader = g_strdup(identity != NULL ? identity : "-");
    r->leader_token = token;
    add_word(r->leaders, r->leader[0] != '\0' ? r->leader : "''");
    ts_record_unlock();
    tell(r, LEADER, NULL);
}

void record_freed(void *user) { tell(user, FREED, "freed"); }

void record_started(record *r, int64_t token) {
    ts_record_lock();
    r->token = token;
    ts_record_unlock();
    tell(r, STARTED, "started");
}

void record_stopped(record *r, int64_t token, pdk_reason reason) {
    g_autofree char *word = g_strconcat("stopped:", pdk_reason_name(reason), NULL);
    tell(r, STOPPED, token == record_token(r) ? word : "stopped:another-token");
}

void record_callbacks(record *r, pdk_election_callbacks *out) {
    *out = (pdk_election_callbacks)PDK_ELECTION_CALLBACKS_INIT;
    out->elected = on_elected;
    out->deposed = on_deposed;
    out->failed = record_failed;
    out->user = r;
}

int record_count(record *r, enum told what) { return ts_record_count(&r->count[what]); }

bool record_wait(record *r, enum told what, int count, int64_t timeout_ms) {
    return ts_record_reaches(&r->count[what], count, timeout_ms);
}

static char *copy_of(const GString *text) {
    char *copy;
    ts_record_lock();
    copy = g_strdup(text->str);
    ts_record_unlock();
    return copy;
}

char *record_history(record *r) { return copy_of(r->history); }
char *record_leaders(record *r) { return copy_of(r->leaders); }

bool record_wait_leader(record *r, const char *identity, int64_t timeout_ms) {
    const int64_t end = ts_now_ms() + timeout_ms;
    for (int told = 0;; told = record_count(r, LEADER)) {
        ts_record_lock();
        const bool reached = g_strcmp0(r->leader, identity) == 0;
        ts_record_unlock();
        if (reached || ts_now_ms() >= end)
            return reached;
        record_wait(r, LEADER, told + 1, 20);
    }
}

int64_t record_leader_token(record *r) { return ts_record_number(&r->leader_token); }
int64_t record_token(record *r) { return ts_record_number(&r->token); }
bool record_running(record *r) { return ts_record_count(&r->running) > 0; }
bool record_overlapped(record *r) { return ts_record_count(&r->overlapped); }
int record_late(record *r) { return ts_record_count(&r->late); }

pdk_hold *record_hold(record *r) {
    pdk_hold *hold;
    ts_record_lock();
    hold = r->hold;
    ts_record_unlock();
    return hold;
}

void record_silence(record *r) {
    ts_record_lock();
    r->silent = 1;
    ts_record_unlock();
}

/* ---- candidates and observers */

static record *join(pdk_election *election, pdk_leader_fn leader) {
    pdk_election_callbacks callbacks;
    record *r = record_new();
    record_callbacks(r, &callbacks);
    callbacks.leader = leader;
    const pdk_status status = pdk_election_join(election, &callbacks);
    ck_assert_msg(status == PDK_OK, "join: %s: %s", pdk_status_name(status), pdk_last_error());
    return r;
}

record *candidate_join(pdk_election *election) { return join(election, NULL); }
record *candidate_join_with_leaders(pdk_election *election) { return join(election, record_leader); }

record *candidate_elected(pdk_election *election) {
    record *r = candidate_join(election);
    ck_assert_msg(record_wait(r, ELECTED, 1, ts_patience(5000)), "not elected");
    return r;
}

record *observer_begin(pdk_election *election) {
    record *r = record_new();
    const pdk_status status = pdk_election_observe(election, record_leader, r, record_freed, &r->observer);
    ck_assert_msg(status == PDK_OK, "observe: %s: %s", pdk_status_name(status), pdk_last_error());
    return r;
}

void observer_stop(record *r) { pdk_observer_close(g_steal_pointer(&r->observer)); }

/* ---- manual dispatch */

ts_client *manual_client(int session_timeout_ms) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = session_timeout_ms;
    options.dispatch = PDK_DISPATCH_MANUAL;
    ts_client *client = ts_client_open_with(ts_bench_server(), NULL, &options);
    ck_assert_ptr_nonnull(client);
    return client;
}

bool manual_wait(const ts_client *client, record *r, enum told what, int count, int64_t timeout_ms) {
    const int64_t end = ts_now_ms() + timeout_ms;
    while (record_count(r, what) < count && ts_now_ms() < end) {
        ts_fd_readable(pdk_session_fd(client->session), 10);
        if (pdk_session_dispatch(client->session, NULL) != PDK_OK)
            break;
    }
    return record_count(r, what) >= count;
}

/* ---- doors */

door *door_new(void) {
    door *d = g_new0(door, 1);
    ts_paddock_keep(d, g_free);
    return d;
}

void door_open(door *d) {
    ts_record_lock();
    d->open = 1;
    ts_record_unlock();
}

/* A failed test leaves the door closed. Then the wait ends by itself. */
void at_door(record *r, void *d) {
    (void)r;
    ts_record_reaches(&((door *)d)->open, 1, 8000);
}

void delete_node_of(const pdk_hold *hold) {
    g_autofree char *node = ts_hold_node(hold);
    ck_assert_int_eq(ts_delete(ts_bench_server(), node), 0);
}
