/* Terms, of a candidate with callbacks and of a service: the hold of a term, how each term ends, and resigning; and how both leave, in
 * every state: no callback runs that is not due, and no node is left. */
#include <string.h>

#include "services.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

/* A session is short where its end is waited for. No other one is lost, however busy the machine is. */
enum { SESSION_MS = 3000, SLOW_MS = 20000, SOON_MS = 2000 };

static const char *server(void) { return ts_bench_server(); }

/* ---- a candidate, or a service */

enum kind { CANDIDATE, SERVICE, KINDS };

struct office {
    pdk_election *election;
    record *r;
    test_service *s; /* NULL: a candidate */
};

static struct {
    const char *path;
    ts_client *client;
    struct office o;
} it;

static struct office stand(int kind, const ts_client *client, const char *identity, enum behaviour behaviour) {
    struct office o = {.election = election_on(client, it.path, identity)};
    o.s = kind == SERVICE ? test_service_run(o.election, behaviour, NULL, NULL) : NULL;
    o.r = o.s ? test_service_record(o.s) : candidate_join(o.election);
    return o;
}

static void make_it(int session_ms) {
    it.path = ts_fresh_path();
    it.client = ts_bench_client(session_ms);
}

static bool leads(const struct office *o, int terms) {
    const int64_t patience_ms = ts_patience(2 * SESSION_MS);
    return o->s ? test_service_wait_runs(o->s, terms, patience_ms) : record_wait(o->r, ELECTED, terms, patience_ms);
}

static void elect_it(int kind, int session_ms, enum behaviour behaviour) {
    make_it(session_ms);
    it.o = stand(kind, it.client, "it", behaviour);
    ck_assert(leads(&it.o, 1));
}

static int terms_of(const struct office *o) { return record_count(o->r, o->s ? STARTED : ELECTED); }
static pdk_hold *hold_of(const struct office *o) { return o->s ? test_service_hold(o->s) : record_hold(o->r); }

static pdk_status resign(const struct office *o) {
    return o->s ? pdk_service_resign(test_service_handle(o->s)) : pdk_election_resign(o->election);
}

static pdk_status leave(const struct office *o) {
    return o->s ? pdk_service_close(test_service_handle(o->s), ts_patience(5000)) : pdk_election_leave(o->election);
}

static void it_leaves(void) { ck_assert_int_eq(leave(&it.o), PDK_OK); }

/* What it was told: the reason for which each term has ended, and "+" for the one that goes on. */
static void assert_terms(const struct office *o, const char *terms) {
    g_auto(GStrv) words = g_strsplit(terms, " ", -1);
    g_autoptr(GString) wanted = g_string_new(NULL);
    int ended = 0;
    for (int i = 0; words[i]; i++) {
        g_string_append_printf(wanted, "%s%s", i ? " " : "", o->s ? "started" : "elected");
        if (strcmp(words[i], "+") != 0) {
            g_string_append_printf(wanted, " %s:%s", o->s ? "stopped" : "deposed", words[i]);
            ended++;
        }
    }
    assert_told(o->r, o->s ? STOPPED : DEPOSED, ended);
    assert_history(o->r, wanted->str);
    ck_assert_str_eq(o->s ? test_service_problem(o->s) : "", "");
}

/* It has left the queue in order, nothing is told any more, and others can lead. */
static void assert_clean(void) {
    record_silence(it.o.r);
    if (!it.o.s)
        ck_assert_int_eq(pdk_election_leave(it.o.election), PDK_NOT_HELD);
    ck_assert_int_eq(resign(&it.o), PDK_NOT_HELD);
    ck_assert_int_eq(pdk_session_flush(it.client->session, ts_patience(5000)), PDK_OK);
    ck_assert(ts_wait_children(server(), it.path, 0, ts_patience(SOON_MS)));
    candidate_elected(it.o.election);
    ck_assert_int_eq(pdk_election_leave(it.o.election), PDK_OK);
    ck_assert_int_eq(record_late(it.o.r), 0);
}

/* ---- a term */

START_TEST(the_hold_of_a_term) {
    ts_stat stat;
    elect_it(_i, SLOW_MS, RETURNS_WHEN_TOLD);
    pdk_hold *hold = hold_of(&it.o);
    ts_lost *lost = ts_lost_watch(hold);
    g_autofree char *node = ts_hold_node(hold);
    g_autofree char *proof = g_strdup_printf("pdk1 %s leader %" G_GINT64_FORMAT " 0", node, pdk_hold_token(hold));
    ck_assert_int_eq(ts_exists(server(), node, &stat), 0);
    ck_assert_int_eq(pdk_hold_token(hold), stat.czxid);
    ck_assert_uint_eq(pdk_hold_handover(hold), 0);
    ck_assert_str_eq(pdk_hold_sequencer(hold), proof);
    ck_assert_int_eq(pdk_session_check_sequencer(it.client->session, proof, 5000), PDK_OK);
    ck_assert_int_eq(pdk_hold_ensure(hold, 10), PDK_OK);
    ck_assert(!ts_fd_readable(pdk_hold_fd(hold), 0));
    it_leaves();
    ck_assert_int_eq(pdk_hold_reason(hold), PDK_REASON_NONE); /* it outlives the term, and was not lost */
    ck_assert_int_eq(ts_lost_count(lost), 0);
    ck_assert_int_eq(pdk_session_flush(it.client->session, 5000), PDK_OK);
    ck_assert_int_eq(pdk_session_check_sequencer(it.client->session, proof, 5000), PDK_LOST);
}
END_TEST

/* ---- the end of a term */

static void by_resigning(void) { ck_assert_int_eq(resign(&it.o), PDK_OK); }
static void by_releasing(void) { ck_assert_int_eq(pdk_hold_release(pdk_hold_ref(hold_of(&it.o))), PDK_OK); }
static void by_an_admin(void) { delete_node_of(hold_of(&it.o)); }
static void by_expiry(void) { ck_assert_int_eq(ts_expire(it.client->proxy, server()), 0); }

static bool is_over(void *hold) { return !pdk_hold_is_valid(hold); }

static void by_silence(void) {
    ts_proxy_set_mode(it.client->proxy, TS_BLACKHOLE);
    ck_assert(ts_wait_until(is_over, hold_of(&it.o), ts_patience(SESSION_MS + SOON_MS)));
    ck_assert_int_eq(terms_of(&it.o), 1);
    ts_proxy_heal_discard(it.client->proxy);
}

static const struct {
    void (*end)(void);
    const char *terms;
} ends[] = {{by_resigning, "NONE +"},
            {by_releasing, "NONE +"},
            {by_an_admin, "NODE_GONE +"},
            {by_expiry, "EXPIRED +"},
            {by_silence, "LEASE +"}};

/* The function of a service is told to return, and takes its time. Until it has returned, the service does not queue, and no other run
 * begins. Only a term that it resigns is kept meanwhile. */
static void function_returns(bool resigned) {
    ck_assert(test_service_wait_end(it.o.s, ts_patience(SOON_MS)));
    ts_sleep_ms(300);
    ck_assert_int_eq(test_service_runs(it.o.s), 1);
    ck_assert_int_eq(pdk_hold_is_valid(hold_of(&it.o)), resigned);
    if (resigned)
        ck_assert_int_eq(resign(&it.o), PDK_OK);
    else
        ck_assert(ts_wait_children(server(), it.path, 0, ts_patience(2 * SESSION_MS)));
    assert_terms(&it.o, "+");
    test_service_allow_return(it.o.s);
}

/* One end is told of one begin, however the term ends. Then it is a candidate again, and as the only one it leads again. */
START_TEST(every_end_of_a_term) {
    const size_t end = (size_t)_i / KINDS;
    elect_it(_i % KINDS, SESSION_MS, RETURNS_WHEN_ALLOWED);
    pdk_hold *first = pdk_hold_ref(hold_of(&it.o));
    ends[end].end();
    if (it.o.s)
        function_returns(ends[end].end == by_resigning);
    ck_assert_msg(leads(&it.o, 2), "end %d: %s", _i, record_history(it.o.r));
    ts_sleep_ms(100);
    assert_terms(&it.o, ends[end].terms);
    ck_assert(!pdk_hold_is_valid(first));
    ck_assert(pdk_hold_is_valid(hold_of(&it.o)));
    ck_assert_int_gt(pdk_hold_token(hold_of(&it.o)), pdk_hold_token(first));
    ck_assert(ts_wait_children(server(), it.path, 1, SOON_MS));
    pdk_hold_unref(first);
}
END_TEST

/* The next candidate leads. The one that resigned is behind all others in the queue. */
START_TEST(resigning_hands_over_and_queues_at_the_end) {
    static const char *const names[] = {"anna", "bruno", "clara"};
    struct office all[3];
    pdk_contenders *list = NULL;
    int64_t last = 0;
    make_it(SLOW_MS);
    for (int i = 0; i < 3; i++) {
        all[i] = stand(_i, ts_bench_client(SLOW_MS), names[i], RETURNS_WHEN_TOLD);
        ck_assert(ts_wait_children(server(), it.path, i + 1, 5000));
    }
    for (int turn = 0; turn < 4; turn++) {
        ck_assert(leads(&all[turn % 3], turn / 3 + 1));
        ck_assert_int_gt(record_token(all[turn % 3].r), last);
        last = record_token(all[turn % 3].r);
        for (int i = 1; i < 3; i++)
            ck_assert_int_eq(resign(&all[(turn + i) % 3]), PDK_NOT_HELD); /* it does not lead */
        ck_assert_int_eq(resign(&all[turn % 3]), PDK_OK);
        ck_assert(leads(&all[(turn + 1) % 3], (turn + 1) / 3 + 1));
        ck_assert(ts_wait_children(server(), it.path, 3, ts_patience(SOON_MS)));
        ck_assert_int_eq(pdk_election_list(all[0].election, 5000, &list), PDK_OK);
        ck_assert_uint_eq(pdk_contenders_count(list), 3);
        for (int i = 0; i < 3; i++)
            ck_assert_str_eq(pdk_contenders_identity(list, (size_t)i), names[(turn + 1 + i) % 3]);
        pdk_contenders_free(list);
    }
    assert_terms(&all[0], "NONE NONE");
}
END_TEST

/* ---- leaving, in every state */

/* Nothing exists yet; the directory, or the node, exists, and we do not know it. */
START_TEST(before_it_is_queued) {
    static const int replies[] = {0, TS_OP_CREATE_CONTAINER, TS_OP_CREATE2};
    const int reply = replies[_i / KINDS];
    make_it(SLOW_MS);
    if (reply)
        ts_proxy_arm(it.client->proxy, reply, TS_LOSE_REPLY, TS_BLACKHOLE);
    else
        ts_proxy_set_mode(it.client->proxy, TS_BLACKHOLE);
    it.o = stand(_i % KINDS, it.client, NULL, RETURNS_WHEN_TOLD);
    ck_assert(!reply || ts_proxy_wait_fired(it.client->proxy, ts_patience(5000)));
    const int64_t before = ts_now_ms();
    it_leaves(); /* it does not wait for the network */
    ck_assert_int_lt(ts_now_ms() - before, ts_patience(200));
    ts_proxy_heal_discard(it.client->proxy);
    assert_history(it.o.r, "");
    assert_clean();
}
END_TEST

START_TEST(while_waiting) {
    make_it(SLOW_MS);
    struct office other = stand(CANDIDATE, ts_bench_client(SLOW_MS), NULL, RETURNS_WHEN_TOLD);
    ck_assert(leads(&other, 1));
    it.o = stand(_i, it.client, NULL, RETURNS_WHEN_TOLD);
    ck_assert(ts_wait_children(server(), it.path, 2, 5000));
    it_leaves();
    ck_assert(ts_wait_children(server(), it.path, 1, SOON_MS));
    ck_assert(pdk_hold_is_valid(hold_of(&other)));
    ck_assert_int_eq(leave(&other), PDK_OK);
    assert_history(it.o.r, "");
    assert_clean();
}
END_TEST

/* The link may be down. Leaving does not wait for it, and the node is deleted when the link is up again. */
START_TEST(while_leading) {
    const bool is_cut = _i / KINDS;
    elect_it(_i % KINDS, SLOW_MS, RETURNS_WHEN_TOLD);
    pdk_hold *hold = hold_of(&it.o);
    if (is_cut)
        ts_proxy_set_mode(it.client->proxy, TS_BLACKHOLE);
    const int64_t before = ts_now_ms();
    it_leaves();
    ck_assert_int_le(ts_now_ms() - before, ts_patience(200));
    ck_assert(!pdk_hold_is_valid(hold));
    ck_assert_int_eq(pdk_hold_reason(hold), PDK_REASON_NONE);
    assert_terms(&it.o, "NONE");
    if (is_cut) {
        ck_assert_int_eq(ts_child_count(server(), it.path), 1);
        ts_proxy_heal(it.client->proxy);
    }
    assert_clean();
    assert_terms(&it.o, "NONE");
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("term");
    TCase *tcase = ts_bench_case(suite, "term");
    tcase_add_loop_test(tcase, the_hold_of_a_term, 0, KINDS);
    tcase_add_loop_test(tcase, every_end_of_a_term, 0, KINDS * (int)G_N_ELEMENTS(ends));
    tcase_add_loop_test(tcase, resigning_hands_over_and_queues_at_the_end, 0, KINDS);
    tcase_add_loop_test(tcase, before_it_is_queued, 0, KINDS * 3);
    tcase_add_loop_test(tcase, while_waiting, 0, KINDS);
    tcase_add_loop_test(tcase, while_leading, 0, KINDS * 2);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
