#include "published.h"

#include <string.h>

#include "ts_bench.h"
#include "ts_check.h"
#include "ts_record.h"
#include "ts_support.h"

static char *shown(const pdk_contenders *leader) {
    size_t size = 0;
    const void *data = pdk_contenders_data(leader, 0, &size);
    if (pdk_contenders_count(leader) == 0)
        return g_strdup("-");
    return data ? g_strdup_printf("%s=%.*s", pdk_contenders_identity(leader, 0), (int)size, (const char *)data)
                : g_strdup(pdk_contenders_identity(leader, 0));
}

void data_watch_note(const pdk_contenders *leader, void *user) {
    struct watch *w = user;
    ts_record_lock();
    g_free(w->newest);
    w->newest = shown(leader);
    w->token = pdk_contenders_token(leader, 0);
    g_string_append_printf(w->told, "%s%s", w->told->len > 0 ? " " : "", w->newest);
    ts_record_unlock();
}

static void watch_free(void *user) {
    struct watch *w = user;
    g_string_free(w->told, TRUE);
    g_free(w->newest);
    g_free(w);
}

static struct watch *watch_new(void) {
    struct watch *w = g_new0(struct watch, 1);
    w->told = g_string_new("");
    ts_paddock_keep(w, watch_free);
    return w;
}

struct watch *data_watch_begin(pdk_election *election, pdk_observer **observer) {
    struct watch *w = watch_new();
    ck_assert_int_eq(pdk_election_observe_data(election, data_watch_note, w, NULL, observer), PDK_OK);
    return w;
}

struct wanted {
    struct watch *w;
    const char *newest;
};

static bool is_newest(void *user) {
    const struct wanted *wanted = user;
    ts_record_lock();
    bool is = g_strcmp0(wanted->w->newest, wanted->newest) == 0;
    ts_record_unlock();
    return is;
}

void assert_newest(struct watch *w, const char *newest) {
    struct wanted wanted = {w, newest};
    if (!ts_wait_until(is_newest, &wanted, ts_patience(PATIENCE_MS)))
        ck_abort_msg("not told of %s, but: %s", newest, w->told->str);
}

/* ---- a leader */

struct published_it led;

void lead_with(const pdk_election_options *options) {
    led.client = ts_bench_client(SESSION_MS);
    led.other = ts_bench_client(SLOW_MS);
    led.path = ts_fresh_path();
    led.election = election_with(led.client, led.path, options);
    led.seen = election_with(led.other, led.path, options);
    led.candidate = candidate_elected(led.election);
    led.hold = pdk_hold_ref(record_hold(led.candidate)); /* the record's own goes with the next term */
    ts_paddock_keep(led.hold, (void (*)(void *))pdk_hold_unref);
}

void lead(void) {
    pdk_election_options options = PDK_ELECTION_OPTIONS_INIT;
    options.identity = "anna";
    lead_with(&options);
}

pdk_status publish(const char *text) {
    return pdk_election_publish(led.election, led.hold, text, text ? strlen(text) : 0, ts_patience(PATIENCE_MS));
}

void assert_seen(const char *wanted) {
    pdk_contenders *list = NULL;
    ck_assert_int_eq(pdk_election_leader(led.seen, ts_patience(PATIENCE_MS), &list), PDK_OK);
    g_autofree char *is = shown(list);
    ck_assert_str_eq(is, wanted);
    pdk_contenders_free(list);
}

/* ---- without waiting */

void published_answered(pdk_status status, void *answer) {
    struct published_answer *a = answer;
    a->status = status;
    g_atomic_int_inc(&a->count);
}

bool published_is_answered(void *answer) { return g_atomic_int_get(&((struct published_answer *)answer)->count) > 0; }
