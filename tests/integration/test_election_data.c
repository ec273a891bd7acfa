/* What a leader publishes during its term: who reads it, who is told, and that nobody sees it in another term; from callbacks and
 * services; what may not be published, or read. */
#include <glib.h>
#include <string.h>

#include "elections.h"
#include "refused.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_record.h"
#include "ts_support.h"

enum { SESSION_MS = 2000, SLOW_MS = 20000, PATIENCE_MS = 10000 };

/* Under ts_record_lock: what an observer of data was told, as "anna anna=one -": identity and data, or nobody. */
struct watch {
    GString *told;
    char *newest;
    int64_t token;
};

static char *shown(const pdk_contenders *leader) {
    size_t size = 0;
    const void *data = pdk_contenders_data(leader, 0, &size);
    if (pdk_contenders_count(leader) == 0)
        return g_strdup("-");
    return data ? g_strdup_printf("%s=%.*s", pdk_contenders_identity(leader, 0), (int)size, (const char *)data)
                : g_strdup(pdk_contenders_identity(leader, 0));
}

static void data_watch_note(const pdk_contenders *leader, void *user) {
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

static struct watch *data_watch_begin(pdk_election *election, pdk_observer **observer) {
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

static void assert_newest(struct watch *w, const char *newest) {
    struct wanted wanted = {w, newest};
    if (!ts_wait_until(is_newest, &wanted, ts_patience(PATIENCE_MS)))
        ck_abort_msg("not told of %s, but: %s", newest, w->told->str);
}

/* ---- a leader */

static struct {
    ts_client *client, *other;
    const char *path;
    pdk_election *election; /* of the client */
    pdk_election *seen;     /* of the other one, which looks */
    record *candidate;
    pdk_hold *hold; /* of the candidate's newest term */
} led;

static void lead_with(const pdk_election_options *options) {
    led.client = ts_bench_client(SESSION_MS);
    led.other = ts_bench_client(SLOW_MS);
    led.path = ts_fresh_path();
    led.election = election_with(led.client, led.path, options);
    led.seen = election_with(led.other, led.path, options);
    led.candidate = candidate_elected(led.election);
    led.hold = pdk_hold_ref(record_hold(led.candidate)); /* the record's own goes with the next term */
    ts_paddock_keep(led.hold, (void (*)(void *))pdk_hold_unref);
}

static void lead(void) {
    pdk_election_options options = PDK_ELECTION_OPTIONS_INIT;
    options.identity = "anna";
    lead_with(&options);
}

/* The client looks itself; nobody leads yet. */
static void stand_alone(ts_client *client) {
    led.client = led.other = client;
    led.path = ts_fresh_path();
    led.election = led.seen = election_on(client, led.path, "anna");
}

static pdk_status publish(const char *text) {
    return pdk_election_publish(led.election, led.hold, text, text ? strlen(text) : 0, ts_patience(PATIENCE_MS));
}

static void assert_seen(const char *wanted) {
    pdk_contenders *list = NULL;
    ck_assert_int_eq(pdk_election_leader(led.seen, ts_patience(PATIENCE_MS), &list), PDK_OK);
    g_autofree char *is = shown(list);
    ck_assert_str_eq(is, wanted);
    pdk_contenders_free(list);
}

START_TEST(it_is_read_and_told_and_changed) {
    pdk_observer *observer = NULL;
    lead();
    struct watch *w = data_watch_begin(led.seen, &observer);
    record *plain = observer_begin(led.seen);
    assert_newest(w, "anna");
    assert_seen("anna");
    ck_assert_int_eq(publish("one"), PDK_OK);
    assert_newest(w, "anna=one");
    assert_seen("anna=one");
    ck_assert_int_eq(publish("two"), PDK_OK);
    ck_assert_int_eq(publish("two"), PDK_OK);
    assert_newest(w, "anna=two");
    ck_assert_int_eq(publish(""), PDK_OK);
    assert_newest(w, "anna=");
    ck_assert_int_eq(publish(NULL), PDK_OK);
    assert_newest(w, "anna");
    assert_seen("anna");
    ck_assert_int_eq(w->token, pdk_hold_token(led.hold));
    ts_record_lock();
    ck_assert_str_eq(w->told->str, "anna anna=one anna=two anna= anna"); /* each change once */
    ts_record_unlock();
    pdk_observer_close(observer);
    g_autofree char *leaders = record_leaders(plain);
    ck_assert_str_eq(leaders, "anna"); /* the leader is the same for who wants no data */
}
END_TEST

START_TEST(any_bytes_up_to_the_limit) {
    size_t size = 0;
    pdk_contenders *list = NULL;
    lead();
    g_autofree char *most = g_malloc(PDK_ELECTION_DATA_MAX + 1);
    for (size_t i = 0; i <= PDK_ELECTION_DATA_MAX; i++)
        most[i] = (char)(i * 7);
    ck_assert_uint_eq(pdk_election_data_max(), PDK_ELECTION_DATA_MAX);
    refused(pdk_election_publish(led.election, led.hold, most, PDK_ELECTION_DATA_MAX + 1, PATIENCE_MS), PDK_LIMIT,
            "size");
    ck_assert_int_eq(pdk_election_publish(led.election, led.hold, most, PDK_ELECTION_DATA_MAX, PATIENCE_MS), PDK_OK);
    ck_assert_int_eq(pdk_election_list(led.seen, PATIENCE_MS, &list), PDK_OK);
    ck_assert_str_eq(pdk_contenders_identity(list, 0), "anna");
    ck_assert_mem_eq(pdk_contenders_data(list, 0, &size), most, PDK_ELECTION_DATA_MAX);
    ck_assert_uint_eq(size, PDK_ELECTION_DATA_MAX);
    ck_assert_ptr_null(pdk_contenders_data(list, 1, &size));
    ck_assert_uint_eq(size, 0);
    ck_assert_ptr_null(pdk_contenders_data(NULL, 0, NULL));
    pdk_contenders_free(list);
}
END_TEST

/* The next term begins without data, the leader's own too. */
START_TEST(it_ends_with_the_term) {
    pdk_observer *observer = NULL;
    lead();
    struct watch *w = data_watch_begin(led.seen, &observer);
    record *next = candidate_join(led.seen);
    ck_assert_int_eq(publish("one"), PDK_OK);
    assert_newest(w, "anna=one");
    ck_assert_int_eq(pdk_election_resign(led.election), PDK_OK);
    refused(publish("late"), PDK_NOT_HELD, led.path);
    assert_told(next, ELECTED, 1);
    assert_newest(w, "anna"); /* both have the identity */
    ck_assert_int_ne(w->token, pdk_hold_token(led.hold));
    ck_assert_int_eq(pdk_election_resign(led.seen), PDK_OK);
    assert_told(led.candidate, ELECTED, 2);
    assert_seen("anna");
    led.hold = record_hold(led.candidate);
    ck_assert_int_eq(publish("again"), PDK_OK);
    assert_newest(w, "anna=again");
    pdk_observer_close(observer);
}
END_TEST

/* ---- trouble */

/* The write, or its answer, is lost. The next connection tells. */
START_TEST(a_lost_write_is_found_or_written_again) {
    lead();
    for (int i = 0; i < 2; i++) {
        g_autofree char *text = g_strdup_printf("try %d", i);
        g_autofree char *seen = g_strdup_printf("anna=%s", text);
        ts_proxy_arm(led.client->proxy, TS_OP_SET_DATA, i == 0 ? TS_LOSE_REQUEST : TS_LOSE_REPLY, TS_PASS);
        ck_assert_int_eq(publish(text), PDK_OK);
        assert_seen(seen);
    }
    /* Two writes whose answers are lost: whichever landed is ours. */
    ts_proxy_arm(led.client->proxy, TS_OP_SET_DATA, TS_LOSE_REPLY, TS_BLACKHOLE);
    refused(pdk_election_publish(led.election, led.hold, "landed", 6, 100), PDK_UNAVAILABLE, led.path);
    refused(pdk_election_publish(led.election, led.hold, "not sent", 8, 100), PDK_UNAVAILABLE, led.path);
    ts_proxy_heal(led.client->proxy);
    ck_assert_int_eq(publish("last"), PDK_OK);
    assert_seen("anna=last");
}
END_TEST

START_TEST(somebody_else_writes) {
    lead();
    ck_assert_int_eq(publish("one"), PDK_OK);
    ck_assert_int_eq(ts_set(ts_bench_server(), pdk_hold_node(led.hold), "stranger"), 0);
    refused(publish("two"), PDK_REPLACED, led.path);
    assert_seen("stranger");
    ck_assert_int_eq(publish("two"), PDK_OK);
    assert_seen("anna=two");
    ck_assert_int_eq(ts_set(ts_bench_server(), pdk_hold_node(led.hold), "__REVOKE__"), 0); /* not for a znode of ours */
    refused(publish("three"), PDK_REPLACED, led.path);
    ck_assert_int_eq(ts_delete(ts_bench_server(), pdk_hold_node(led.hold)), 0);
    refused(publish("three"), PDK_LOST, led.path);
}
END_TEST

static void on_asked(pdk_hold *hold, const char *who, int64_t until_ms, void *user) {
    (void)hold;
    (void)until_ms;
    ck_assert_str_eq(who, "op");
    g_atomic_int_inc((gint *)user);
}

static bool was_asked(void *user) { return g_atomic_int_get((gint *)user) > 0; }

/* A wish stands in front of the identity. It takes nothing away, and is not lost. */
START_TEST(a_leader_is_asked_to_let_go) {
    static gint asked;
    pdk_observer *observer = NULL;
    lead();
    record *plain = observer_begin(led.seen);
    struct watch *w = data_watch_begin(led.seen, &observer);
    ck_assert_int_eq(publish("one"), PDK_OK);
    assert_newest(w, "anna=one");
    for (int i = 0; i < 3; i++) {
        g_autofree char *text = g_strdup_printf("after %d", i);
        g_autofree char *seen = g_strdup_printf("anna=%s", text);
        g_atomic_int_set(&asked, 0);
        if (i == 0)
            ck_assert_int_eq(pdk_hold_on_request(led.hold, on_asked, &asked, NULL), PDK_OK);
        ck_assert_int_eq(pdk_session_request_release(led.other->session, led.path, NULL, "op", 1000, PATIENCE_MS),
                         PDK_OK);
        assert_seen(i == 0 ? "anna=one" : i == 1 ? "anna=after 0" : "anna=after 1");
        ck_assert_int_eq(publish(text), PDK_OK);
        assert_seen(seen);
        ck_assert(ts_wait_until(was_asked, &asked, ts_patience(PATIENCE_MS)));
    }
    assert_newest(w, "anna=after 2");
    pdk_observer_close(observer);
    g_autofree char *leaders = record_leaders(plain);
    ck_assert_str_eq(leaders, "anna"); /* a wish is no other leader */
}
END_TEST

/* ---- others; test_answers.c has the calls that do not wait */

static void serve(pdk_term *term, void *status) {
    g_atomic_int_set((gint *)status, pdk_election_publish(led.election, pdk_term_hold(term), "served", 6, PATIENCE_MS));
    while (!pdk_term_is_ending(term))
        ts_sleep_ms(5);
}

static bool is_ok(void *status) { return g_atomic_int_get((gint *)status) == PDK_OK; }

START_TEST(a_service_publishes) {
    static gint status;
    pdk_service *service = NULL;
    status = -1;
    stand_alone(ts_bench_client(SESSION_MS));
    ck_assert_int_eq(pdk_service_start(led.election, serve, &status, NULL, &service), PDK_OK);
    ck_assert(ts_wait_until(is_ok, &status, ts_patience(PATIENCE_MS)));
    assert_seen("anna=served");
    ck_assert_int_eq(pdk_service_close(service, PATIENCE_MS), PDK_OK);
    pdk_service_unref(service);
}
END_TEST

/* kazoo reads the whole as text. */
START_TEST(with_kazoos_naming_it_is_text) {
    pdk_election_options options = PDK_ELECTION_OPTIONS_INIT;
    options.identity = "anna";
    options.naming = PDK_NAMING_KAZOO;
    lead_with(&options);
    ck_assert_int_eq(publish("gr\xc3\xbcn"), PDK_OK);
    assert_seen("anna=gr\xc3\xbcn");
    refused(publish("gr\xfcn"), PDK_INVALID, "UTF-8");
    ck_assert_int_eq(publish(NULL), PDK_OK);
    assert_seen("anna");
    ck_assert_int_eq(publish("gr\xc3\xbcn"), PDK_OK);
    assert_seen("anna=gr\xc3\xbcn");
}
END_TEST

/* As the tokens of holds: with what the session puts before them. */
START_TEST(tokens_have_their_generation) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_observer *observer = NULL;
    options.token_base = pdk_token_base_above(1);
    stand_alone(ts_client_open_with(ts_bench_server(), NULL, &options));
    record *plain = observer_begin(led.seen);
    struct watch *w = data_watch_begin(led.seen, &observer);
    led.candidate = candidate_elected(led.election);
    led.hold = record_hold(led.candidate);
    ck_assert(record_wait_leader(plain, "anna", PATIENCE_MS));
    assert_newest(w, "anna");
    ck_assert_int_gt(pdk_hold_token(led.hold), options.token_base);
    ck_assert_int_eq(record_leader_token(plain), pdk_hold_token(led.hold));
    ck_assert_int_eq(w->token, pdk_hold_token(led.hold));
    pdk_observer_close(observer);
}
END_TEST

START_TEST(a_leader_that_may_not_be_read) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_observer *observer = NULL;
    options.digest = "user:secret";
    options.access = PDK_ACCESS_CREATOR;
    options.accept_unprotected = 1; /* the directory is open */
    led.client = ts_client_open_with(ts_bench_server(), NULL, &options);
    led.other = ts_bench_client(SLOW_MS);
    led.path = ts_fresh_path();
    led.election = election_on(led.client, led.path, "anna");
    led.seen = election_on(led.other, led.path, NULL);
    ck_assert_int_eq(ts_create(ts_bench_server(), led.path, "", TS_PERSISTENT, NULL), 0);
    led.candidate = candidate_elected(led.election);
    led.hold = record_hold(led.candidate);
    struct watch *w = data_watch_begin(led.seen, &observer);
    record *plain = observer_begin(led.seen);
    assert_newest(w, "");
    ck_assert_int_eq(w->token, 0);
    ck_assert(record_wait_leader(plain, "", ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(publish("secret"), PDK_OK);
    ts_sleep_ms(100);
    assert_newest(w, "");
    pdk_observer_close(observer);
}
END_TEST

START_TEST(bad_input_is_refused) {
    lead();
    pdk_hold *other = ts_bench_acquire(ts_lock(led.client, "/t/other-than-election"), PATIENCE_MS);
    refused(pdk_election_publish(led.election, other, "", 0, 0), PDK_INVALID, "hold");
    refused(pdk_election_publish(led.seen, led.hold, "", 0, 0), PDK_INVALID, "hold");
    pdk_hold_release(other);
    assert_seen("anna");
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("election_data");
    TCase *tcase = ts_bench_case(suite, "election_data");
    tcase_add_test(tcase, it_is_read_and_told_and_changed);
    tcase_add_test(tcase, any_bytes_up_to_the_limit);
    tcase_add_test(tcase, it_ends_with_the_term);
    tcase_add_test(tcase, a_lost_write_is_found_or_written_again);
    tcase_add_test(tcase, somebody_else_writes);
    tcase_add_test(tcase, a_leader_is_asked_to_let_go);
    tcase_add_test(tcase, a_service_publishes);
    tcase_add_test(tcase, with_kazoos_naming_it_is_text);
    tcase_add_test(tcase, tokens_have_their_generation);
    tcase_add_test(tcase, a_leader_that_may_not_be_read);
    tcase_add_test(tcase, bad_input_is_refused);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
