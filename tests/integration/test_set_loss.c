/* All of several rights, of two sessions: a part is lost, or its session is closed, while the rest is waited for, before the callback, and
 * afterwards. In one session test_deleted.c, test_loss.c and test_recipes_waiting.c do that. */
#include <glib.h>
#include <string.h>

#include "set_bench.h"
#include "ts_check.h"
#include "ts_clock.h"
#include "ts_expire.h"
#include "ts_observer.h"

enum { SESSION_MS = 4000, PATIENCE_MS = 10000 };

/* Two paths, of which "a" comes first, and a session for each. Another client may hold them, too. */
static struct {
    const char *path[2];
    ts_client *client[2], *other;
    pdk_lock *lock[2], *theirs[2];
    struct set *set;
} it;

static ts_client *client_with(pdk_dispatch dispatch) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = SESSION_MS;
    options.dispatch = dispatch;
    return ts_client_open_with(ts_bench_server(), NULL, &options);
}

static void make_with(pdk_dispatch first, pdk_dispatch second) {
    const char *path = ts_fresh_path();
    it.client[0] = client_with(first);
    it.client[1] = client_with(second);
    it.other = ts_bench_client(SESSION_MS);
    for (int i = 0; i < 2; i++) {
        char *below = g_strdup_printf("%s/%c", path, 'a' + i);
        ts_paddock_keep(below, g_free);
        it.path[i] = below;
        it.lock[i] = ts_lock(it.client[i], below);
        it.theirs[i] = ts_lock(it.other, below);
    }
    it.set = set_of(pdk_right_lock(it.lock[1]), pdk_right_lock(it.lock[0]));
}

static void make_it(void) { make_with(PDK_DISPATCH_THREAD, PDK_DISPATCH_THREAD); }

static void nothing_is_left(void) {
    set_children(it.path[0], 0);
    set_children(it.path[1], 0);
}

static void delete_node_of(const pdk_hold *part) {
    ck_assert_int_eq(ts_delete(ts_bench_server(), pdk_hold_node(part)), 0);
}

static bool is_invalid(void *set) { return !pdk_set_is_valid(set); }

/* ---- afterwards */

/* _i: which part. */
START_TEST(a_part_is_lost) {
    const int lost = _i;
    make_it();
    pdk_set *held = set_take(it.set);
    ts_lost *told = ts_lost_watch_set(held, NULL, NULL);
    const int fd = pdk_set_fd(held);
    ck_assert(!ts_fd_readable(fd, 0));
    delete_node_of(pdk_set_part(held, lost));
    ck_assert(ts_wait_until(is_invalid, held, ts_patience(PATIENCE_MS)));
    ck_assert(ts_lost_wait(told, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(ts_lost_reason(told), PDK_REASON_NODE_GONE);
    ck_assert(ts_fd_readable(fd, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(pdk_set_reason(held), PDK_REASON_NODE_GONE);
    ck_assert_int_eq(pdk_hold_reason(pdk_set_part(held, !lost)), PDK_REASON_NONE);
    ck_assert(pdk_hold_is_valid(pdk_set_part(held, !lost))); /* until the release */
    ck_assert_int_eq(pdk_set_ensure(held, 0), PDK_LOST);
    ck_assert_int_eq(pdk_set_remaining_ms(held), 0);
    ck_assert_int_eq(pdk_set_release(held), PDK_LOST);
    ck_assert(strstr(pdk_last_error(), "NODE_GONE"));
    nothing_is_left();
    ck_assert_int_eq(ts_lost_count(told), 1);
    ck_assert_int_eq(ts_lost_freed(told), 1);
}
END_TEST

/* A session of it is closed. _i: which one. */
START_TEST(a_hold_and_a_closed_session) {
    make_it();
    pdk_set *held = set_take(it.set);
    ts_lost *told = ts_lost_watch_set(held, NULL, NULL);
    ck_assert_int_eq(pdk_session_close(it.client[_i]->session, PATIENCE_MS), PDK_OK);
    ck_assert(!pdk_set_is_valid(held));
    ck_assert(ts_lost_wait(told, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(ts_lost_reason(told), PDK_REASON_CLOSED);
    ck_assert_int_eq(pdk_set_release(held), PDK_LOST);
    nothing_is_left();
}
END_TEST

/* The word of the loss is on its way when the hold is released, or its last reference is given back. */
START_TEST(released_as_it_is_lost) {
    make_with(PDK_DISPATCH_THREAD, PDK_DISPATCH_MANUAL);
    pdk_set *held = set_take(it.set);
    ts_lost *told = ts_lost_watch_set(held, NULL, NULL);
    delete_node_of(pdk_set_part(held, 0));
    ck_assert(ts_wait_until(is_invalid, held, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(ts_lost_count(told), 0); /* nobody dispatches the session of the part */
    if (_i)
        pdk_set_unref(held);
    else
        ck_assert_int_eq(pdk_set_release(held), PDK_LOST);
    ck_assert_int_eq(pdk_session_dispatch(it.client[1]->session, NULL), PDK_OK);
    ck_assert(ts_lost_wait_freed(told, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(ts_lost_freed(told), 1);
    nothing_is_left();
}
END_TEST

START_TEST(a_cut_ends_the_lease_of_all) {
    make_it();
    pdk_set *held = set_take(it.set);
    ts_proxy_set_mode(it.client[1]->proxy, TS_BLACKHOLE);
    while (pdk_set_is_valid(held)) {
        const int64_t whole = pdk_set_remaining_ms(held), cut = pdk_hold_remaining_ms(pdk_set_part(held, 0));
        ck_assert_int_le(whole, cut + 50);
        ts_sleep_ms(5);
    }
    ck_assert_int_eq(pdk_set_reason(held), PDK_REASON_LEASE);
    ck_assert(pdk_hold_is_valid(pdk_set_part(held, 1)));
    pdk_set_release(held);
    ts_proxy_heal(it.client[1]->proxy);
    nothing_is_left();
}
END_TEST

/* ---- before it is received */

static void dispatch(int which) { ck_assert_int_eq(pdk_session_dispatch(it.client[which]->session, NULL), PDK_OK); }

static bool dispatch_first_until_it_asks_for_the_second(void *unused) {
    (void)unused;
    dispatch(0);
    return ts_child_count(ts_bench_server(), it.path[1]) == 1;
}

/* The result is for the first session, which is not dispatched any more. */
static bool dispatch_second_until_decided(void *claim) {
    int32_t ahead = 0;
    dispatch(1);
    return pdk_set_claim_position(claim, &ahead) == PDK_NOT_HELD;
}

static bool dispatch_first_until_gone(void *node) {
    dispatch(0);
    return ts_exists(ts_bench_server(), node, NULL) != 0;
}

static bool dispatch_until_answered(void *answer) {
    dispatch(0);
    dispatch(1);
    return ts_answer_count(answer) > 0;
}

static char *node_at(const char *path) {
    g_auto(GStrv) names = ts_children(ts_bench_server(), path, NULL);
    ck_assert_uint_eq(g_strv_length(names), 1);
    return g_strconcat(path, "/", names[0], NULL);
}

/* The callback is due in the first session. */
static ts_answer *undelivered(int64_t timeout_ms) {
    make_with(PDK_DISPATCH_MANUAL, PDK_DISPATCH_MANUAL);
    const int64_t patience = ts_patience(PATIENCE_MS);
    ts_answer *answer = set_async(it.set, timeout_ms);
    ck_assert(ts_wait_until(dispatch_first_until_it_asks_for_the_second, NULL, patience));
    ck_assert(ts_wait_until(dispatch_second_until_decided, ts_answer_set_claim(answer), patience));
    ck_assert_int_eq(ts_answer_count(answer), 0);
    return answer;
}

/* What is left of it goes although nobody hears of the loss where it happened. _i: a try, which meets nothing of it. */
START_TEST(lost_before_it_is_received) {
    const int64_t patience = ts_patience(PATIENCE_MS);
    ts_answer *answer = undelivered(_i ? 0 : PDK_FOREVER);
    g_autofree char *kept = node_at(it.path[0]), *lost = node_at(it.path[1]);
    dispatch(1);
    ck_assert(!ts_fd_readable(pdk_session_fd(it.client[1]->session), 0));
    ck_assert_int_eq(ts_delete(ts_bench_server(), lost), 0);
    ck_assert(ts_fd_readable(pdk_session_fd(it.client[1]->session), patience));
    ck_assert(ts_wait_until(dispatch_first_until_gone, kept, patience));
    ck_assert(ts_wait_until(dispatch_until_answered, answer, patience));
    set_await(answer, PDK_OK);
    ck_assert(pdk_set_is_valid(ts_answer_set(answer)));
    ck_assert_int_eq(ts_answer_release(answer), PDK_OK);
    nothing_is_left();
}
END_TEST

/* The session is closed at once. The rest of the set is in the other one. */
START_TEST(a_dropped_callback) {
    ts_answer *answer = undelivered(PDK_FOREVER);
    pdk_session_close(it.client[0]->session, 0);
    set_children(it.path[1], 0);
    ck_assert_int_eq(ts_answer_count(answer), 0);
}
END_TEST

/* The callback runs so late that the grant has lapsed: all is taken anew. _i: or its time is over. */
START_TEST(a_late_callback) {
    ts_answer *answer = undelivered(_i ? 2 * SESSION_MS : PDK_FOREVER);
    ts_proxy_set_mode(it.client[0]->proxy, TS_BLACKHOLE);
    ts_sleep_ms(2 * SESSION_MS);
    ts_proxy_heal_discard(it.client[0]->proxy);
    ck_assert(ts_wait_until(dispatch_until_answered, answer, ts_patience(PATIENCE_MS)));
    set_await(answer, _i ? PDK_TIMEOUT : PDK_OK);
    ck_assert(_i || pdk_set_is_valid(ts_answer_set(answer)));
}
END_TEST

/* ---- while the rest is waited for */

/* _i & 1: which of the sessions; & 2: a thread is blocked. */
START_TEST(a_closed_session) {
    make_it();
    pdk_hold *second = ts_bench_acquire(it.theirs[1], 5000);
    ts_answer *answer = _i & 2 ? set_thread(it.set, PDK_FOREVER) : set_async(it.set, PDK_FOREVER);
    set_children(it.path[0], 1);
    set_children(it.path[1], 2);
    ck_assert_int_eq(pdk_session_close(it.client[_i & 1]->session, PATIENCE_MS), PDK_OK);
    set_await(answer, PDK_CLOSED);
    set_children(it.path[0], 0);
    set_children(it.path[1], 1);
    ck_assert_int_eq(pdk_hold_release(second), PDK_OK);
}
END_TEST

/* The object of a part that it holds: the hold stays as it is. */
START_TEST(a_dropped_object) {
    pdk_lock *own = NULL;
    make_it();
    ck_assert_int_eq(pdk_lock_new(it.client[0]->session, it.path[0], NULL, &own), PDK_OK);
    pdk_hold *second = ts_bench_acquire(it.theirs[1], 5000);
    ts_answer *answer = set_async(set_of(pdk_right_lock(it.lock[1]), pdk_right_lock(own)), PDK_FOREVER);
    set_children(it.path[1], 2);
    pdk_lock_unref(own);
    ck_assert_int_eq(pdk_hold_release(second), PDK_OK);
    set_await(answer, PDK_OK);
    ck_assert_int_eq(ts_answer_release(answer), PDK_OK);
    nothing_is_left();
}
END_TEST

/* What it had is lost: it queues for all of it again. _i: a thread is blocked. */
START_TEST(lost_while_it_waits) {
    make_it();
    pdk_hold *second = ts_bench_acquire(it.theirs[1], 5000);
    ts_answer *answer = _i ? set_thread(it.set, PDK_FOREVER) : set_async(it.set, PDK_FOREVER);
    set_children(it.path[0], 1);
    set_children(it.path[1], 2);
    g_autofree char *older = node_at(it.path[0]);
    ts_answer *first = ts_acquire_async(it.theirs[0], PDK_FOREVER);
    set_children(it.path[0], 2);
    ck_assert_int_eq(ts_delete(ts_bench_server(), older), 0);
    ck_assert(ts_answer_wait(first, ts_patience(PATIENCE_MS)));
    set_children(it.path[0], 2); /* it is back, behind the other one */
    set_children(it.path[1], 1); /* and has left what comes later in the order */
    ck_assert_int_eq(pdk_hold_release(second), PDK_OK);
    ts_sleep_ms(100);
    ck_assert_int_eq(ts_answer_count(answer), 0);
    ck_assert_int_eq(ts_answer_release(first), PDK_OK);
    set_await(answer, PDK_OK);
    ck_assert(pdk_set_is_valid(ts_answer_set(answer)));
    ck_assert_int_eq(ts_answer_release(answer), PDK_OK);
    nothing_is_left();
}
END_TEST

/* The session of what it holds is dispatched by nobody, so nothing wakes the thread that waits in the other one. */
START_TEST(a_thread_looks_by_itself) {
    make_with(PDK_DISPATCH_THREAD, PDK_DISPATCH_MANUAL);
    /* the other way round: what comes first is in the session that nobody dispatches */
    pdk_lock *first = ts_lock(it.client[1], it.path[0]), *last = ts_lock(it.client[0], it.path[1]);
    pdk_hold *second = ts_bench_acquire(it.theirs[1], 5000);
    ts_answer *answer = set_thread(set_of(pdk_right_lock(last), pdk_right_lock(first)), PDK_FOREVER);
    set_children(it.path[1], 2);
    ck_assert_int_eq(ts_expire(it.client[1]->proxy, ts_bench_server()), 0);
    set_children(it.path[0], 1); /* it took that again */
    set_children(it.path[1], 2);
    ck_assert_int_eq(pdk_hold_release(second), PDK_OK);
    set_await(answer, PDK_OK);
    ck_assert_int_eq(ts_answer_release(answer), PDK_OK);
    nothing_is_left();
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("set_loss");
    TCase *all = ts_bench_case(suite, "set_loss");
    tcase_add_loop_test(all, a_part_is_lost, 0, 2);
    tcase_add_loop_test(all, a_hold_and_a_closed_session, 0, 2);
    tcase_add_loop_test(all, released_as_it_is_lost, 0, 2);
    tcase_add_loop_test(all, lost_before_it_is_received, 0, 2);
    tcase_add_test(all, a_cut_ends_the_lease_of_all);
    tcase_add_test(all, a_dropped_callback);
    tcase_add_loop_test(all, a_late_callback, 0, 2);
    tcase_add_loop_test(all, a_closed_session, 0, 4);
    tcase_add_test(all, a_dropped_object);
    tcase_add_loop_test(all, lost_while_it_waits, 0, 2);
    tcase_add_test(all, a_thread_looks_by_itself);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
