/* A holder is asked to let go: it hears who asks and until when, and nothing is forced. Or its znode is deleted by an operator, and only if it
 * is still the one that was meant. */
#include <glib.h>
#include <string.h>

#include "refused.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_record.h"
#include "ts_rwlock.h"
#include "ts_support.h"

/* ---- what a hold is told; the support owns the record */

typedef struct asked {
    int count, freed;
    char *who;
    int64_t until_ms;
    bool lets_go;
} asked;

static void on_asked(pdk_hold *hold, const char *who, int64_t until_ms, void *user) {
    asked *a = user;
    ts_record_lock();
    a->count++;
    g_free(a->who);
    a->who = g_strdup(who);
    a->until_ms = until_ms;
    bool lets_go = a->lets_go;
    a->lets_go = false;
    ts_record_unlock();
    if (lets_go)
        pdk_hold_release(hold);
}

static void on_freed(void *user) {
    asked *a = user;
    ts_record_lock();
    a->freed++;
    ts_record_unlock();
}

static void asked_free(void *what) {
    asked *a = what;
    g_free(a->who);
    g_free(a);
}

static asked *asked_watch(pdk_hold *hold) {
    asked *a = g_new0(asked, 1);
    ts_paddock_keep(a, asked_free);
    ck_assert_int_eq(pdk_hold_on_request(hold, on_asked, a, on_freed), PDK_OK);
    return a;
}

/* The next time its callback releases the hold. */
static void asked_let_go(asked *a) {
    ts_record_lock();
    a->lets_go = true;
    ts_record_unlock();
}

static bool asked_wait(asked *a, int count, int64_t timeout_ms) {
    return ts_record_reaches(&a->count, count, timeout_ms);
}
static int asked_count(asked *a) { return ts_record_count(&a->count); }
static int64_t asked_until_ms(asked *a) { return ts_record_number(&a->until_ms); }
static bool asked_wait_freed(asked *a, int64_t timeout_ms) { return ts_record_reaches(&a->freed, 1, timeout_ms); }
static int asked_freed(asked *a) { return ts_record_count(&a->freed); }

static char *asked_who(asked *a) {
    ts_record_lock();
    char *who = g_strdup(a->who);
    ts_record_unlock();
    return who;
}

/* ---- asked */

enum { SESSION_MS = 20000, PATIENCE_MS = 10000, A_WHILE_MS = 300 };

static const char *server(void) { return ts_bench_server(); }

static struct {
    const char *path;
    ts_client *holder, *asker;
    pdk_hold *hold;
    char *node;
    const char *name; /* the end of its path */
} it;

static void two_clients(void) {
    it.path = ts_fresh_path();
    it.holder = ts_bench_client(SESSION_MS);
    it.asker = ts_bench_client(SESSION_MS);
}

static void hold_it(void) {
    two_clients();
    it.hold = ts_bench_acquire(ts_lock(it.holder, it.path), PATIENCE_MS);
    g_free(it.node);
    it.node = ts_hold_node(it.hold);
    it.name = strrchr(it.node, '/') + 1;
}

static pdk_status ask(const char *node, const char *who, int64_t within_ms) {
    return pdk_session_request_release(it.asker->session, it.path, node, who, within_ms, ts_patience(PATIENCE_MS));
}

static void assert_asked(asked *a, int count, const char *who) {
    ck_assert(asked_wait(a, count, ts_patience(PATIENCE_MS)));
    g_autofree char *said = asked_who(a);
    ck_assert_str_eq(said, who);
}

/* The callback may come later than the ask, and let go. */
START_TEST(the_holder_hears_who_and_until_when) {
    ts_stat stat;
    hold_it();
    ck_assert_int_eq(ask(NULL, "the nightly job", 5000), PDK_OK);
    ts_sleep_ms(A_WHILE_MS);
    asked *a = asked_watch(it.hold);
    assert_asked(a, 1, "the nightly job");
    ck_assert_int_eq(ts_get(server(), it.node, NULL, NULL, &stat), 0);
    ck_assert_int_eq(asked_until_ms(a), stat.mtime + 5000);
    ck_assert_int_eq(ask(NULL, NULL, 0), PDK_OK);
    assert_asked(a, 2, pdk_session_identity(it.asker->session));
    ck_assert_int_eq(asked_until_ms(a), 0);
    ck_assert(pdk_hold_is_valid(it.hold));
    asked_let_go(a);
    ts_answer *next = ts_acquire_async(ts_lock(it.asker, it.path), PATIENCE_MS);
    ck_assert_int_eq(ask(it.name, "now", 0), PDK_OK);
    ts_assert_granted(next);
    assert_asked(a, 3, "now");
    ck_assert(asked_wait_freed(a, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(asked_count(a), 3);
    ck_assert_int_eq(asked_freed(a), 1);
    ck_assert_int_eq(ts_answer_release(next), PDK_OK);
}
END_TEST

/* As Curator's Revoker does: its message names nobody, and replaces the identity. A wish is whatever a stranger writes: its name acts on no
 * terminal. */
START_TEST(messages_of_others_are_heard) {
    static const char hostile[] = "__REVOKE__ 0 \xc2\x9b"
                                  "2J\xe2\x80\xae\xff!\n";
    hold_it();
    asked *a = asked_watch(it.hold);
    ck_assert_int_eq(ts_set(server(), it.node, "nothing of that kind"), 0);
    ck_assert_int_eq(ts_set(server(), it.node, "__REVOKE__"), 0);
    assert_asked(a, 1, "");
    ck_assert_int_eq(asked_until_ms(a), 0);
    pdk_contenders *list = NULL;
    ck_assert_int_eq(pdk_lock_list(ts_lock(it.asker, it.path), PATIENCE_MS, &list), PDK_OK);
    ck_assert_str_eq(pdk_contenders_identity(list, 0), "__REVOKE__");
    pdk_contenders_free(list);
    ck_assert_int_eq(ask(NULL, "me", 0), PDK_OK);
    assert_asked(a, 2, "me");
    ck_assert_int_eq(ts_set(server(), it.node, hostile), 0);
    assert_asked(a, 3, "\\u{009b}2J\\u{202e}\\xff!");
    pdk_hold_release(it.hold);
}
END_TEST

/* Curator compares the whole data. */
START_TEST(a_stranger_gets_curators_message) {
    g_autofree char *data = NULL, *node = NULL;
    const char *path = it.path = ts_fresh_path();
    it.asker = ts_bench_client(SESSION_MS);
    g_autofree char *theirs = g_strconcat(path, "/_c_01234567-89ab-4def-8123-456789abcdef-lock-", NULL);
    ck_assert_int_eq(ts_bench_stranger(theirs, "10.0.0.1", TS_SEQUENTIAL, &node), 0);
    g_autofree char *foreign = g_strconcat(path, "/zzz", NULL), *latch = g_strconcat(path, "/x-latch-0000000000", NULL);
    ck_assert_int_eq(ts_create(server(), foreign, "", TS_PERSISTENT, NULL), 0);
    ck_assert_int_eq(ts_create(server(), latch, "", TS_PERSISTENT, NULL), 0);
    ck_assert_int_eq(ask(NULL, "me", 5000), PDK_OK);
    ck_assert_int_eq(ts_get(server(), node, &data, NULL, NULL), 0);
    ck_assert_str_eq(data, "__REVOKE__");
    ck_assert_int_eq(ts_delete_tree(server(), path), 0);
}
END_TEST

START_TEST(all_readers_are_asked_and_no_writer_behind_them) {
    two_clients();
    pdk_rwlock *lock = ts_rwlock(it.holder, it.path);
    pdk_hold *one = ts_bench_read(lock, PATIENCE_MS), *two = ts_bench_read(ts_rwlock(it.asker, it.path), PATIENCE_MS);
    asked *first = asked_watch(one), *second = asked_watch(two);
    ck_assert_int_eq(ask(NULL, "nobody yet", 0), PDK_OK);
    assert_asked(first, 1, "nobody yet");
    assert_asked(second, 1, "nobody yet");
    ts_answer *writer = ts_write_async(lock, PATIENCE_MS);
    ts_await_queued(writer);
    ck_assert_int_eq(ask(NULL, "a writer", 0), PDK_OK);
    assert_asked(first, 2, "a writer");
    assert_asked(second, 2, "a writer");
    pdk_hold_release(one);
    pdk_hold_release(two);
    ts_assert_granted(writer);
    asked *last = asked_watch(ts_answer_hold(writer));
    ts_sleep_ms(A_WHILE_MS);
    ck_assert_int_eq(asked_count(last), 0);
    ck_assert_int_eq(ask(NULL, "a reader", 0), PDK_OK);
    assert_asked(last, 1, "a reader");
    ck_assert_int_eq(ts_answer_release(writer), PDK_OK);
}
END_TEST

/* A named node: here of one that waits. It hears of it once it holds. */
START_TEST(one_that_waits_hears_later) {
    pdk_contenders *list = NULL;
    hold_it();
    pdk_lock *lock = ts_lock(it.asker, it.path);
    ts_answer *next = ts_acquire_async(lock, PATIENCE_MS);
    ck_assert(ts_wait_children(server(), it.path, 2, PATIENCE_MS));
    ck_assert_int_eq(pdk_lock_list(lock, PATIENCE_MS, &list), PDK_OK);
    ck_assert_int_eq(ask(pdk_contenders_node(list, 1), "me", 0), PDK_OK);
    pdk_contenders_free(list);
    pdk_hold_release(it.hold);
    ts_assert_granted(next);
    assert_asked(asked_watch(ts_answer_hold(next)), 1, "me");
    ck_assert_int_eq(ts_answer_release(next), PDK_OK);
}
END_TEST

/* Threads hand a lock over for a minute, but not one that somebody else asked for. */
START_TEST(what_is_asked_for_is_not_handed_over) {
    two_clients();
    pdk_lock *lock = ts_lock_of_long_handovers(it.holder, it.path);
    pdk_hold *hold = ts_bench_acquire(lock, PATIENCE_MS);
    ts_answer *thread = ts_acquire_async(lock, PATIENCE_MS), *other;
    other = ts_acquire_async(ts_lock(it.asker, it.path), PATIENCE_MS);
    ck_assert(ts_wait_children(server(), it.path, 2, PATIENCE_MS));
    asked *a = asked_watch(hold);
    ck_assert_int_eq(ask(NULL, "other", 0), PDK_OK);
    assert_asked(a, 1, "other");
    pdk_hold_release(hold);
    ts_assert_granted(other);
    ck_assert_int_eq(ts_answer_count(thread), 0);
    ck_assert_int_eq(ts_answer_release(other), PDK_OK);
    ts_assert_granted(thread);
    asked *next = asked_watch(ts_answer_hold(thread));
    ts_sleep_ms(A_WHILE_MS);
    ck_assert_int_eq(asked_count(next), 0);
    ck_assert_int_eq(ts_answer_release(thread), PDK_OK);
}
END_TEST

/* Each hold of a reentrant lock is told, with a callback of its own. */
START_TEST(every_hold_of_the_grant_is_told) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    options.reentrant = 1;
    it.path = ts_fresh_path();
    it.asker = ts_bench_client(SESSION_MS);
    pdk_lock *lock = ts_lock_with(it.asker, it.path, &options);
    pdk_hold *one = ts_bench_acquire(lock, PATIENCE_MS), *two = ts_bench_acquire(lock, PATIENCE_MS);
    asked *first = asked_watch(one);
    ck_assert_int_eq(ask(NULL, "me", 0), PDK_OK);
    assert_asked(first, 1, "me");
    assert_asked(asked_watch(two), 1, "me");
    pdk_hold_release(two);
    pdk_hold_release(one);
    ck_assert(asked_wait_freed(first, ts_patience(PATIENCE_MS)));
}
END_TEST

/* The ask comes over while the holder has no connection: it hears of it afterwards, once. */
START_TEST(a_holder_that_was_cut_off_hears_afterwards) {
    hold_it();
    asked *a = asked_watch(it.hold);
    ck_assert_int_eq(ask(NULL, "one", 0), PDK_OK);
    assert_asked(a, 1, "one");
    ts_proxy_set_mode(it.holder->proxy, TS_CUT);
    ck_assert(ts_wait_event(it.holder, PDK_SESSION_SUSPENDED, 1, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(ask(NULL, "two", 0), PDK_OK);
    ck_assert_int_eq(ask(NULL, "three", 0), PDK_OK);
    ts_proxy_heal(it.holder->proxy);
    assert_asked(a, 2, "three");
    ts_proxy_reset(it.holder->proxy);
    ck_assert(ts_wait_event(it.holder, PDK_SESSION_RESTORED, 2, ts_patience(PATIENCE_MS)));
    ts_sleep_ms(A_WHILE_MS);
    ck_assert_int_eq(asked_count(a), 2);
    pdk_hold_release(it.hold);
}
END_TEST

static void *ask_thread(void *user) {
    (void)user;
    return GINT_TO_POINTER(ask(NULL, "me", 0));
}

/* The request waits on its way while something happens; then it arrives. */
static pdk_status ask_meanwhile(int request, void (*happens)(void)) {
    ts_proxy_arm(it.asker->proxy, request, TS_LOSE_REQUEST, TS_BLACKHOLE);
    GThread *thread = g_thread_new("ask", ask_thread, NULL);
    ck_assert(ts_proxy_wait_fired(it.asker->proxy, ts_patience(PATIENCE_MS)));
    happens();
    ts_proxy_heal(it.asker->proxy);
    return GPOINTER_TO_INT(g_thread_join(thread));
}

static void write_it(void) { ck_assert_int_eq(ts_set(server(), it.node, "written meanwhile"), 0); }

static void let_go(void) {
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
    ck_assert(ts_wait_children(server(), it.path, 0, PATIENCE_MS));
}

static void close_asker(void) { ck_assert_int_eq(pdk_session_close(it.asker->session, PATIENCE_MS), PDK_OK); }

/* It writes only over what it has read, and asks who holds now. */
START_TEST(what_happens_meanwhile_is_seen) {
    g_autofree char *data = NULL;
    hold_it();
    asked *a = asked_watch(it.hold);
    ck_assert_int_eq(ask_meanwhile(TS_OP_SET_DATA, write_it), PDK_OK);
    assert_asked(a, 1, "me");
    ck_assert_int_eq(ts_get(server(), it.node, &data, NULL, NULL), 0);
    ck_assert_str_eq(data, "__REVOKE__ 0 me\nwritten meanwhile");
    ck_assert_int_eq(ask_meanwhile(TS_OP_GET_DATA, let_go), PDK_GONE);
    hold_it();
    ck_assert_int_eq(ask_meanwhile(TS_OP_GET_DATA, close_asker), PDK_CLOSED);
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
}
END_TEST

/* The session's identity may have what no wish may: it becomes spaces. */
START_TEST(a_label_is_made_harmless) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    hold_it();
    options.label = "a\tb";
    it.asker = ts_client_open_with(server(), NULL, &options);
    ck_assert_ptr_nonnull(it.asker);
    asked *a = asked_watch(it.hold);
    ck_assert_int_eq(ask(NULL, NULL, 0), PDK_OK);
    ck_assert(asked_wait(a, 1, ts_patience(PATIENCE_MS)));
    g_autofree char *who = asked_who(a);
    ck_assert_msg(g_str_has_suffix(who, ":a b"), "%s", who);
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
}
END_TEST

/* The fewest of a few tries: a renewal may come in between. */
static uint64_t rounds_of(ts_proxy *proxy, const char *node) {
    uint64_t fewest = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        ts_proxy_counters counters;
        ts_proxy_zero(proxy);
        ck_assert_int_eq(ask(node, "me", 0), PDK_OK);
        ts_sleep_ms(50);
        ts_proxy_read(proxy, &counters);
        fewest = MIN(fewest, counters.rounds);
    }
    return fewest;
}

/* docs/revocation.md has these numbers. */
START_TEST(what_it_costs) {
    hold_it();
    asked *a = asked_watch(it.hold);
    ck_assert_uint_eq(rounds_of(it.asker->proxy, NULL), 3);
    ck_assert_uint_eq(rounds_of(it.asker->proxy, it.name), 2);
    ck_assert_uint_eq(rounds_of(it.holder->proxy, NULL), 1);
    ck_assert(asked_wait(a, 1, ts_patience(PATIENCE_MS)));
    pdk_hold_release(it.hold);
}
END_TEST

START_TEST(nobody_is_there) {
    hold_it();
    pdk_hold_release(it.hold);
    ck_assert(ts_wait_children(server(), it.path, 0, PATIENCE_MS));
    refused(ask(NULL, NULL, 0), PDK_GONE, "nobody");
    refused(ask(it.name, NULL, 0), PDK_GONE, it.name);
    it.path = ts_fresh_path();
    refused(ask(NULL, NULL, 0), PDK_GONE, "nobody");
}
END_TEST

/* ---- broken */

static pdk_status break_it(const char *node, int64_t token, pdk_contenders **out) {
    return pdk_session_break(it.asker->session, node, token, ts_patience(PATIENCE_MS), out);
}

static void assert_broken(void) {
    ck_assert(ts_fd_readable(pdk_hold_fd(it.hold), ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(pdk_hold_reason(it.hold), PDK_REASON_NODE_GONE);
    ck_assert_int_eq(ts_child_count(server(), it.path), 0);
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_LOST);
}

START_TEST(the_holder_loses_and_who_it_was_is_told) {
    pdk_contenders *before = NULL, *list = NULL;
    hold_it();
    ck_assert_int_eq(pdk_lock_holder(ts_lock(it.asker, it.path), PATIENCE_MS, &before), PDK_OK);
    ck_assert_int_eq(ask(NULL, "operator", 0), PDK_OK);
    asked *a = asked_watch(it.hold);
    ck_assert_int_eq(break_it(it.node, pdk_hold_token(it.hold), &list), PDK_OK);
    ck_assert_uint_eq(pdk_contenders_count(list), 1);
    ck_assert_str_eq(pdk_contenders_identity(list, 0), pdk_contenders_identity(before, 0));
    ck_assert_str_eq(pdk_contenders_node(list, 0), strrchr(it.node, '/') + 1);
    ck_assert_int_eq(pdk_contenders_session(list, 0), pdk_session_id(it.holder->session));
    ck_assert_int_eq(pdk_contenders_token(list, 0), pdk_hold_token(it.hold));
    ck_assert_int_gt(pdk_contenders_since_ms(list, 0), 0);
    ck_assert(!pdk_contenders_is_shared(list, 0));
    pdk_contenders_free(before);
    pdk_contenders_free(list);
    assert_broken();
    ck_assert(asked_wait_freed(a, ts_patience(PATIENCE_MS)));
}
END_TEST

START_TEST(another_token_deletes_nothing) {
    hold_it();
    int64_t token = pdk_hold_token(it.hold);
    refused(break_it(it.node, token + 1, NULL), PDK_GONE, "token");
    refused(break_it(it.node, token - 1, NULL), PDK_GONE, "token");
    ck_assert_int_eq(ts_child_count(server(), it.path), 1);
    ck_assert(pdk_hold_is_valid(it.hold));
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
    ck_assert(ts_wait_children(server(), it.path, 0, PATIENCE_MS));
    refused(break_it(it.node, token, NULL), PDK_GONE, it.node);
}
END_TEST

static void *call_break(void *list) { return GINT_TO_POINTER(break_it(it.node, pdk_hold_token(it.hold), list)); }

/* The holder lets go while the delete is on its way. It never arrives, so the next one finds nothing to delete: that is what
 * was wanted. */
START_TEST(the_owner_may_be_faster) {
    pdk_contenders *list = NULL;
    hold_it();
    pdk_hold_ref(it.hold);
    ts_proxy_arm(it.asker->proxy, TS_OP_DELETE, TS_LOSE_REQUEST, TS_BLACKHOLE);
    GThread *thread = g_thread_new("break", call_break, &list);
    ck_assert(ts_proxy_wait_fired(it.asker->proxy, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
    ck_assert(ts_wait_children(server(), it.path, 0, PATIENCE_MS));
    ts_proxy_heal_discard(it.asker->proxy);
    ck_assert_int_eq(GPOINTER_TO_INT(g_thread_join(thread)), PDK_OK);
    ck_assert_uint_eq(pdk_contenders_count(list), 1);
    pdk_contenders_free(list);
    pdk_hold_unref(it.hold);
}
END_TEST

/* ---- the ways out */

static void never(pdk_hold *hold, const char *who, int64_t until_ms, void *user) {
    (void)hold;
    (void)who;
    (void)until_ms;
    (void)user;
}

START_TEST(bad_input_is_refused) {
    hold_it();
    pdk_session *s = it.asker->session;
    int64_t token = pdk_hold_token(it.hold);
    g_autofree char *longest = g_strnfill(1024, 'w'), *longer = g_strnfill(1025, 'w');
    refused(pdk_session_request_release(s, it.path, "", NULL, 0, 1), PDK_INVALID, "node");
    refused(pdk_session_request_release(s, it.path, "zzz", NULL, 0, 1), PDK_INVALID, "node");
    refused(pdk_session_request_release(s, it.path, longest, NULL, 0, 1), PDK_INVALID, "node");
    refused(pdk_session_request_release(s, it.path, "a/b-lock-0000000000", NULL, 0, 1), PDK_INVALID, "node");
    refused(ask(NULL, "", 0), PDK_INVALID, "who");
    refused(ask(NULL, "a\nb", 0), PDK_INVALID, "who");
    refused(ask(NULL, "\xff", 0), PDK_INVALID, "who");
    refused(ask(NULL, longer, 0), PDK_INVALID, "who");
    refused(ask(NULL, NULL, -1), PDK_INVALID, "within_ms");
    refused(ask(NULL, NULL, INT64_C(1000000000000000)), PDK_INVALID, "within_ms");
    ck_assert_int_eq(ask(NULL, longest, INT64_C(999999999999999)), PDK_OK);
    refused(break_it("node", token, NULL), PDK_INVALID, "path");
    refused(break_it("/node", token, NULL), PDK_INVALID, "path");
    refused(break_it("/a/x-lock-0000000001", token, NULL), PDK_INVALID, "UUID");
    refused(break_it("/a/0123456789abcdef0123456789abcdef", token, NULL), PDK_INVALID, "UUID");
    g_autofree char *much = g_strconcat("/a/", longest, NULL);
    refused(break_it(much, token, NULL), PDK_INVALID, "UUID");
    refused(break_it(it.node, 0, NULL), PDK_INVALID, "token");
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
}
END_TEST

START_TEST(one_callback_per_hold_and_none_after_the_release) {
    hold_it();
    pdk_hold *other = ts_bench_acquire(ts_lock(it.asker, ts_fresh_path()), PATIENCE_MS);
    ck_assert_int_eq(pdk_hold_on_request(other, never, NULL, NULL), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(other), PDK_OK);
    asked *a = asked_watch(it.hold);
    refused(pdk_hold_on_request(it.hold, never, NULL, NULL), PDK_INVALID, "already");
    pdk_hold_ref(it.hold);
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
    refused(pdk_hold_on_request(it.hold, never, NULL, NULL), PDK_NOT_HELD, "released");
    ck_assert_int_eq(asked_freed(a), 0);
    pdk_hold_unref(it.hold);
    ck_assert_int_eq(asked_freed(a), 1);
}
END_TEST

START_TEST(a_wish_that_was_read_goes_with_the_session) {
    hold_it();
    ck_assert_int_eq(ask(NULL, NULL, 0), PDK_OK);
    ts_sleep_ms(A_WHILE_MS); /* the holder has read it */
    ck_assert_int_eq(pdk_session_close(it.holder->session, ts_patience(PATIENCE_MS)), PDK_OK);
    asked *a = asked_watch(it.hold);
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_LOST);
    ck_assert_int_eq(asked_count(a), 0);
    ck_assert_int_eq(asked_freed(a), 1);
}
END_TEST

/* A persistent node with a contender's name, and with a child. */
START_TEST(what_the_server_refuses_is_told) {
    g_autofree char *node = NULL;
    ts_stat stat;
    it.path = ts_fresh_path();
    it.asker = ts_bench_client(SESSION_MS);
    g_autofree char *name = g_strconcat(it.path, "/_c_01234567-89ab-4def-8123-456789abcdef-lock-", NULL);
    ck_assert_int_eq(ts_create(server(), name, "", TS_SEQUENTIAL, &node), 0);
    g_autofree char *child = g_strconcat(node, "/child", NULL);
    ck_assert_int_eq(ts_create(server(), child, "", TS_PERSISTENT, NULL), 0);
    ck_assert_int_eq(ts_exists(server(), node, &stat), 0);
    refused(break_it(node, stat.czxid, NULL), PDK_UNSUPPORTED, "ZNOTEMPTY");
    ck_assert_int_eq(ts_delete_tree(server(), it.path), 0);
}
END_TEST

/* Who may not write may not ask, and who may not delete may not break. */
START_TEST(access_control_is_obeyed) {
    hold_it();
    ts_observer *o = ts_observer_open(server());
    ck_assert_int_eq(ts_observer_set_acl(o, it.node, TS_PERM_READ | TS_PERM_ADMIN, "world", "anyone"), 0);
    refused(ask(NULL, NULL, 0), PDK_NO_PERMISSION, it.node);
    ck_assert_int_eq(ts_observer_set_acl(o, it.node, TS_PERM_ADMIN, "world", "anyone"), 0);
    refused(ask(it.name, NULL, 0), PDK_NO_PERMISSION, it.node);
    refused(break_it(it.node, pdk_hold_token(it.hold), NULL), PDK_NO_PERMISSION, it.node);
    ck_assert_int_eq(ts_observer_set_acl(o, it.path, TS_PERM_ADMIN, "world", "anyone"), 0);
    refused(ask(NULL, NULL, 0), PDK_NO_PERMISSION, it.path);
    ck_assert_int_eq(ts_observer_set_acl(o, it.path, TS_PERM_ALL, "world", "anyone"), 0);
    ts_observer_close(o);
    ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("asked");
    TCase *all = ts_bench_case(suite, "asked");
    tcase_add_test(all, the_holder_hears_who_and_until_when);
    tcase_add_test(all, messages_of_others_are_heard);
    tcase_add_test(all, a_stranger_gets_curators_message);
    tcase_add_test(all, all_readers_are_asked_and_no_writer_behind_them);
    tcase_add_test(all, one_that_waits_hears_later);
    tcase_add_test(all, what_is_asked_for_is_not_handed_over);
    tcase_add_test(all, every_hold_of_the_grant_is_told);
    tcase_add_test(all, a_holder_that_was_cut_off_hears_afterwards);
    tcase_add_test(all, what_happens_meanwhile_is_seen);
    tcase_add_test(all, a_label_is_made_harmless);
    tcase_add_test(all, what_it_costs);
    tcase_add_test(all, nobody_is_there);
    tcase_add_test(all, the_holder_loses_and_who_it_was_is_told);
    tcase_add_test(all, another_token_deletes_nothing);
    tcase_add_test(all, the_owner_may_be_faster);
    tcase_add_test(all, bad_input_is_refused);
    tcase_add_test(all, one_callback_per_hold_and_none_after_the_release);
    tcase_add_test(all, a_wish_that_was_read_goes_with_the_session);
    tcase_add_test(all, what_the_server_refuses_is_told);
    tcase_add_test(all, access_control_is_obeyed);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
