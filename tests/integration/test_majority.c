/* Majorities: as many locks as are needed, of ensembles that are independent, as one hold. It goes on while enough are left, takes the
 * lost ones again, and is lost in time. However it or a claim of it ends, nothing is left. There are five ensembles of one server each,
 * and members who have a session to each of them, through proxies of their own. */
#include <glib.h>
#include <paddock/set.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "ts_bench.h"
#include "ts_check.h"
#include "ts_clock.h"
#include "ts_observer.h"
#include "ts_support.h"

enum {
    ENSEMBLES = 5,
    NEED = 3,
    SESSION_MS = 4000,
    LONG_MS = 10000,
    PATIENCE_MS = 15000,
    CLOSE_MS = 5000,
    TICK_MS = 500
};

/* Members live until ts_paddock_clear. */
struct member {
    ts_client *client[ENSEMBLES];
    char *path[ENSEMBLES]; /* the number of the ensemble is part of it: so the first is taken first */
    pdk_lock *lock[ENSEMBLES];
    pdk_right right[ENSEMBLES]; /* the lock of each */
    pdk_set_options options;    /* need is NEED */
};

static ts_ensemble *ensembles[ENSEMBLES];
static bool down[ENSEMBLES];
static GSList *members;

static void stop_servers(void) {
    for (int i = 0; i < ENSEMBLES; i++)
        ts_ensemble_stop(g_steal_pointer(&ensembles[i]));
}

static void start_servers(void) {
    const ts_ensemble_options options = {.nodes = 1, .tick_ms = TICK_MS};
    if (ensembles[0])
        return;
    for (int i = 0; i < ENSEMBLES; i++) {
        ensembles[i] = ts_ensemble_start(&options);
        ck_assert_ptr_nonnull(ensembles[i]);
    }
    atexit(stop_servers);
}

/* Gives back one of its locks. It has none afterwards. */
static void member_drop_lock(struct member *m, int i) { pdk_lock_unref(g_steal_pointer(&m->lock[i])); }

static void drop_locks(gpointer member) {
    for (int i = 0; i < ENSEMBLES; i++)
        member_drop_lock(member, i);
}

static void clear(void) {
    g_slist_free_full(g_steal_pointer(&members), drop_locks);
    ts_paddock_clear();
    for (int i = 0; i < ENSEMBLES; i++)
        if (down[i]) {
            ck_assert(ts_ensemble_restart(ensembles[i], 0));
            down[i] = false;
        }
}

static const char *majority_server(int i) { return ts_ensemble_host(ensembles[i], 0); }

static void majority_server_down(int i) {
    ts_ensemble_kill(ensembles[i], 0);
    down[i] = true;
}

/* With locks on paths that begin with that one. Options: NULL, or for each session. */
static struct member *member_of(const char *path, const int session_ms[ENSEMBLES], const pdk_session_options *options) {
    struct member *m = g_new0(struct member, 1);
    ts_paddock_keep(m, g_free);
    pdk_session_options o = PDK_SESSION_OPTIONS_INIT;
    if (options)
        o = *options;
    o.server_tick_ms = TICK_MS;
    o.open_in_background = 1; /* some may be down */
    m->options = (pdk_set_options)PDK_SET_OPTIONS_INIT;
    m->options.need = NEED;
    m->options.patience_ms = 2000; /* for a machine that is busy */
    for (int i = 0; i < ENSEMBLES; i++) {
        o.session_timeout_ms = session_ms[i];
        m->client[i] = ts_client_open_with(majority_server(i), NULL, &o);
        ck_assert_ptr_nonnull(m->client[i]);
        m->path[i] = g_strdup_printf("%s-%d", path, i);
        ts_paddock_keep(m->path[i], g_free);
        ck_assert_int_eq(pdk_lock_new(m->client[i]->session, m->path[i], NULL, &m->lock[i]), PDK_OK);
        m->right[i] = pdk_right_lock(m->lock[i]);
    }
    members = g_slist_prepend(members, m);
    return m;
}

/* With one session timeout. */
static struct member *member_new(const char *path, int session_ms, const pdk_session_options *options) {
    const int each[ENSEMBLES] = {session_ms, session_ms, session_ms, session_ms, session_ms};
    return member_of(path, each, options);
}

/* Cuts, silences or heals its links to the ensembles from..from+count-1. */
static void member_links(const struct member *m, int from, int count, ts_proxy_mode mode) {
    for (int i = from; i < from + count; i++) {
        if (mode == TS_PASS)
            ts_proxy_heal(m->client[i]->proxy);
        else
            ts_proxy_set_mode(m->client[i]->proxy, mode);
    }
}

static pdk_status member_acquire(struct member *m, int64_t timeout_ms, pdk_set **out) {
    return pdk_set_acquire(m->right, ENSEMBLES, timeout_ms, &m->options, out);
}

/* How many parts of it are valid now. */
static int parts_held(const pdk_set *held) {
    int count = 0;
    for (int i = 0; i < pdk_set_count(held); i++)
        count += pdk_hold_is_valid(pdk_set_part(held, i));
    return count;
}

static pdk_set *member_take(struct member *m) {
    pdk_set *held = NULL;
    pdk_status status = member_acquire(m, ts_patience(PATIENCE_MS), &held);
    ck_assert_msg(status == PDK_OK, "acquire: %s: %s", pdk_status_name(status), pdk_last_error());
    ck_assert(pdk_set_is_valid(held));
    ck_assert_int_ge(parts_held(held), m->options.need);
    return held;
}

static pdk_status start_member(void *recipe, int64_t timeout_ms, pdk_set_acquired_fn fn, void *user,
                               pdk_set_claim **out) {
    const struct member *m = recipe;
    return pdk_set_acquire_async(m->right, ENSEMBLES, timeout_ms, &m->options, fn, user, out);
}

static pdk_status block_member(void *recipe, int64_t timeout_ms, pdk_set **out) {
    return member_acquire(recipe, timeout_ms, out);
}

static ts_answer *member_async(struct member *m, int64_t timeout_ms) {
    return ts_answer_start_set(start_member, m, timeout_ms);
}
static ts_answer *member_thread(struct member *m, int64_t timeout_ms) {
    return ts_answer_block_set(block_member, m, timeout_ms);
}

struct parts_wanted {
    const pdk_set *held;
    int count;
};

static bool are_held(void *user) {
    const struct parts_wanted *wanted = user;
    return parts_held(wanted->held) == wanted->count;
}

static void parts_wait(const pdk_set *held, int count) {
    struct parts_wanted wanted = {held, count};
    ck_assert_msg(ts_wait_until(are_held, &wanted, ts_patience(PATIENCE_MS)), "%d parts are held instead of %d",
                  parts_held(held), count);
}

/* Waits until the path has so many nodes in each ensemble. */
static void majority_nodes(const char *path, int count) {
    for (int i = 0; i < ENSEMBLES; i++) {
        g_autofree char *below = g_strdup_printf("%s-%d", path, i);
        ck_assert_msg(down[i] || ts_wait_children(majority_server(i), below, count, ts_patience(PATIENCE_MS)),
                      "%s: %d nodes instead of %d", below, ts_child_count(majority_server(i), below), count);
    }
}

/* ---- all are up */

START_TEST(granted_with_enough_and_completed) {
    const char *path = ts_fresh_path();
    struct member *m = member_new(path, SESSION_MS, NULL);
    pdk_set *held = member_take(m);
    parts_wait(held, ENSEMBLES); /* the rest comes in the background */
    majority_nodes(path, 1);
    ck_assert_int_eq(pdk_set_count(held), ENSEMBLES);
    for (int i = 0; i < ENSEMBLES; i++) {
        ck_assert_str_eq(pdk_set_part_path(held, i), m->path[i]);
        ck_assert_int_gt(pdk_hold_token(pdk_set_part(held, i)), 0);
    }
    ck_assert_int_eq(pdk_set_reason(held), PDK_REASON_NONE);
    ck_assert_int_eq(pdk_set_release(held), PDK_OK);
    majority_nodes(path, 0);
}
END_TEST

/* ---- a longer lease */

static void on_ensured(pdk_status status, void *user) { atomic_store((atomic_int *)user, (int)status); }

static bool is_told(void *status) { return atomic_load((atomic_int *)status) >= 0; }

static pdk_status ensure(pdk_set *held, int64_t ms, bool blocks) {
    static atomic_int told;
    atomic_store(&told, -1);
    if (blocks)
        return pdk_set_ensure(held, ms);
    pdk_status status = pdk_set_ensure_async(held, ms, on_ensured, &told);
    if (status != PDK_OK)
        return status;
    ck_assert(ts_wait_until(is_told, &told, ts_patience(PATIENCE_MS)));
    return (pdk_status)atomic_load(&told);
}

/* Those that do not answer do not hold it up. _i: blocking. */
START_TEST(ensured) {
    struct member *m = member_new(ts_fresh_path(), SESSION_MS, NULL);
    pdk_set *held = member_take(m);
    ck_assert_int_eq(ensure(held, 2000, _i), PDK_OK);
    parts_wait(held, ENSEMBLES);
    ck_assert_int_eq(ensure(held, 0, _i), PDK_OK);
    ck_assert_int_eq(ensure(held, -1, _i), PDK_INVALID);
    ck_assert_int_eq(ensure(held, 3600000, _i), PDK_INVALID);
    member_links(m, 0, 2, TS_BLACKHOLE);
    ts_sleep_ms(1500);
    int64_t begun = ts_now_ms();
    ck_assert_int_eq(ensure(held, 2500, _i), PDK_OK);
    ck_assert_int_ge(pdk_set_remaining_ms(held), 2000);
    ck_assert_int_lt(ts_now_ms() - begun, ts_patience(1000));
    ck_assert_int_eq(pdk_session_close(m->client[4]->session, 5000), PDK_OK);
    ck_assert_int_eq(ensure(held, 2500, _i), PDK_LOST); /* two of them are too few */
    ck_assert_int_eq(pdk_set_release(held), PDK_LOST);
}
END_TEST

/* Short sessions cannot give so much. As many as are needed must be able to. _i: blocking. */
START_TEST(ensured_beside_short_sessions) {
    static const int two[ENSEMBLES] = {2000, SESSION_MS, 2000, SESSION_MS, SESSION_MS};
    static const int three[ENSEMBLES] = {2000, SESSION_MS, 2000, 2000, SESSION_MS};
    pdk_set *held = member_take(member_of(ts_fresh_path(), two, NULL));
    parts_wait(held, ENSEMBLES);
    ck_assert_int_eq(ensure(held, 2500, _i), PDK_OK);
    ck_assert_int_eq(pdk_set_release(held), PDK_OK);
    held = member_take(member_of(ts_fresh_path(), three, NULL));
    parts_wait(held, ENSEMBLES);
    ck_assert_int_eq(ensure(held, 2500, _i), PDK_INVALID);
    ck_assert_int_eq(pdk_set_release(held), PDK_OK);
}
END_TEST

/* With a request_timeout_ms that is shorter than the lease. */
START_TEST(not_ensured) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.request_timeout_ms = 300;
    struct member *m = member_new(ts_fresh_path(), SESSION_MS, &options);
    pdk_set *held = member_take(m);
    parts_wait(held, ENSEMBLES);
    member_links(m, 0, 3, TS_BLACKHOLE);
    while (pdk_set_remaining_ms(held) > 2000)
        ts_sleep_ms(5);
    ck_assert_int_eq(ensure(held, 2500, _i), PDK_UNAVAILABLE);
    ck_assert(strstr(pdk_last_error(), "request_timeout_ms") || !_i);
    while (pdk_set_is_valid(held))
        ts_sleep_ms(5);
    ck_assert_int_eq(ensure(held, 2500, _i), PDK_LOST);
    ck_assert_int_eq(pdk_set_release(pdk_set_ref(held)), PDK_LOST);
    ck_assert_int_eq(ensure(held, 2500, _i), PDK_NOT_HELD);
    pdk_set_unref(held);
}
END_TEST

/* ---- some are cut off */

START_TEST(two_of_five_cut_off_goes_on) {
    const char *path = ts_fresh_path();
    struct member *m = member_new(path, SESSION_MS, NULL);
    pdk_set *held = member_take(m);
    pdk_hold *none = NULL;
    ts_lost *told = ts_lost_watch_set(held, NULL, NULL);
    parts_wait(held, ENSEMBLES);
    int64_t before = pdk_hold_token(pdk_set_part(held, _i));
    member_links(m, _i, 2, TS_BLACKHOLE);
    parts_wait(held, ENSEMBLES - 2);
    ck_assert_int_ge(pdk_set_remaining_ms(held), 0);
    ck_assert_int_eq(pdk_set_ensure(held, 1000), PDK_OK);
    ck_assert(pdk_set_is_valid(held));
    ts_sleep_ms(SESSION_MS + 2 * TICK_MS); /* by now the servers have ended the sessions of the lost parts */
    ck_assert(pdk_set_is_valid(held));
    const pdk_hold *old = pdk_set_part(held, _i);
    ck_assert_int_ne(pdk_hold_reason(old), PDK_REASON_NONE);
    member_links(m, _i, 2, TS_PASS);
    parts_wait(held, ENSEMBLES);
    ck_assert_int_gt(pdk_hold_token(pdk_set_part(held, _i)), before);
    ck_assert(!pdk_hold_is_valid(old));
    ck_assert_int_eq(pdk_hold_token(old), before); /* it lives as long as the whole */
    ck_assert_int_eq(pdk_lock_acquire(m->lock[_i], 1000, &none),
                     PDK_DEADLOCK); /* it belongs to this thread, as before */
    ck_assert_int_eq(ts_lost_count(told), 0);
    ck_assert_int_eq(pdk_set_release(held), PDK_OK);
    majority_nodes(path, 0);
}
END_TEST

/* In time: before anybody else is granted. What is left is released at once. */
START_TEST(three_of_five_cut_off_is_lost) {
    const char *path = ts_fresh_path();
    struct member *m = member_new(path, SESSION_MS, NULL), *other = member_new(path, SESSION_MS, NULL);
    pdk_set *held = member_take(m);
    ts_lost *told = ts_lost_watch_set(held, NULL, NULL);
    parts_wait(held, ENSEMBLES);
    ts_answer *answer = _i ? member_thread(other, PDK_FOREVER) : member_async(other, PDK_FOREVER);
    member_links(m, _i, 3, TS_BLACKHOLE);
    ck_assert(ts_lost_wait(told, ts_patience(PATIENCE_MS)));
    ck_assert(!pdk_set_is_valid(held));
    ck_assert_int_eq(pdk_set_reason(held), PDK_REASON_LEASE);
    ck_assert_int_eq(pdk_set_ensure(held, 0), PDK_LOST);
    ck_assert_int_eq(pdk_set_remaining_ms(held), 0);
    ck_assert(ts_answer_wait(answer, ts_patience(PATIENCE_MS)));
    ck_assert_int_eq(ts_answer_status(answer), PDK_OK);
    ck_assert_int_lt(ts_lost_at_ns(told), ts_answer_at_ns(answer));
    parts_wait(ts_answer_set(answer), ENSEMBLES); /* also those that were not cut off */
    ck_assert_int_eq(pdk_set_release(held), PDK_LOST);
    ck_assert_int_eq(ts_lost_count(told), 1);
    member_links(m, _i, 3, TS_PASS);
    ck_assert_int_eq(ts_answer_release(answer), PDK_OK);
    majority_nodes(path, 0);
}
END_TEST

/* ---- some are down from the beginning, or somebody else's */

START_TEST(two_are_down) {
    const char *path = ts_fresh_path();
    majority_server_down(0);
    majority_server_down(3);
    struct member *m = member_new(path, SESSION_MS, NULL);
    m->options.patience_ms = 300;
    int64_t begun = ts_now_ms();
    pdk_set *held = member_take(m);
    pdk_hold *none = NULL;
    ck_assert_int_lt(ts_now_ms() - begun, ts_patience(5000));
    ck_assert_ptr_null(pdk_set_part(held, 0));
    ck_assert(!pdk_hold_is_valid(pdk_set_part(held, 0)));
    ck_assert_int_eq(parts_held(held), 3);
    pdk_set_detach_thread(held); /* the parts that there are */
    ck_assert_int_eq(pdk_lock_acquire(m->lock[4], 200, &none), PDK_TIMEOUT);
    ck_assert_int_eq(pdk_set_release(held), PDK_OK);
    majority_nodes(path, 0);
}
END_TEST

START_TEST(a_try) {
    const char *path = ts_fresh_path();
    struct member *m = member_new(path, SESSION_MS, NULL), *other = member_new(path, SESSION_MS, NULL);
    pdk_set *held = NULL, *none = NULL;
    ck_assert_int_eq(member_acquire(m, 0, &held), PDK_OK);
    parts_wait(held, ENSEMBLES);
    ck_assert_int_eq(member_acquire(other, 0, &none), PDK_BUSY);
    ck_assert_ptr_null(none);
    ck_assert_int_eq(pdk_set_release(held), PDK_OK);
    majority_nodes(path, 0);
    /* somebody has a minority, which is all the same to a try */
    pdk_hold *first = ts_bench_acquire(other->lock[0], 5000), *last = ts_bench_acquire(other->lock[4], 5000);
    ck_assert_int_eq(member_acquire(m, 0, &held), PDK_OK);
    ck_assert_int_eq(parts_held(held), 3);
    pdk_hold_release(first);
    pdk_hold_release(last);
    parts_wait(held, ENSEMBLES);
    ck_assert_int_eq(pdk_set_release(held), PDK_OK);
}
END_TEST

/* ---- how it ends */

static struct member *one;
static const char *its_path;

static void make_it_for(int session_ms) {
    its_path = ts_fresh_path();
    one = member_new(its_path, session_ms, NULL);
}

static void make_it(void) { make_it_for(SESSION_MS); }

/* From now on every round falls short. */
static void no_majority(void) {
    one->options.patience_ms = 50;
    member_links(one, 2, 3, TS_CUT);
}

static void heal(void) { member_links(one, 2, 3, TS_PASS); }

static void await(ts_answer *answer, pdk_status status) {
    ck_assert(ts_answer_wait(answer, ts_patience(PATIENCE_MS)));
    ck_assert_str_eq(pdk_status_name(ts_answer_status(answer)), pdk_status_name(status));
    ck_assert_int_eq(ts_answer_count(answer), 1);
}

/* Another one gets it, and nothing is left. */
static void check_clean(void) {
    struct member *other = member_new(its_path, SESSION_MS, NULL);
    ck_assert_int_eq(pdk_set_release(member_take(other)), PDK_OK);
    majority_nodes(its_path, 0);
}

START_TEST(the_session_that_tells_is_closed) {
    make_it();
    pdk_set *held = member_take(one);
    ts_lost *told = ts_lost_watch_set(held, NULL, NULL);
    parts_wait(held, ENSEMBLES);
    if (_i) { /* its part is missing, or on its way */
        member_links(one, 0, 1, TS_CUT);
        parts_wait(held, ENSEMBLES - 1);
        member_links(one, 0, 1, TS_PASS);
    }
    ck_assert_int_eq(pdk_session_close(one->client[0]->session, CLOSE_MS), PDK_OK);
    ck_assert(!pdk_set_is_valid(held));
    ck_assert_int_eq(pdk_set_reason(held), PDK_REASON_CLOSED);
    ck_assert_int_eq(ts_lost_count(told), 1);
    for (int i = 1; i < ENSEMBLES; i++)
        ck_assert(ts_wait_children(majority_server(i), one->path[i], 0, ts_patience(PATIENCE_MS))); /* at once */
    ck_assert_int_eq(pdk_set_release(held), PDK_LOST);
    check_clean();
}
END_TEST

static void close_one(int i) { ck_assert_int_eq(pdk_session_close(one->client[i]->session, CLOSE_MS), PDK_OK); }

static void never(pdk_status status, pdk_set *held, void *user) {
    (void)held;
    (void)user;
    ck_abort_msg("answered: %s", pdk_status_name(status));
}

static void expect_closed(int which) {
    pdk_set *held = NULL;
    ck_assert_int_eq(member_acquire(one, 5000, &held), PDK_CLOSED);
    ck_assert_ptr_null(held);
    ck_assert(strstr(pdk_last_error(), one->path[which]));
    ck_assert_int_eq(pdk_set_acquire_async(one->right, ENSEMBLES, 5000, &one->options, never, NULL, NULL), PDK_CLOSED);
}

/* Their rights are left out, as long as there are enough others. */
START_TEST(closed_before) {
    make_it();
    for (int i = 1; i < 3; i++) {
        close_one(i);
        pdk_set *held = member_take(one);
        parts_wait(held, ENSEMBLES - i);
        ck_assert_ptr_null(pdk_set_part(held, i));
        ck_assert_int_eq(pdk_set_release(held), PDK_OK);
        ts_answer *answer = member_async(one, PDK_FOREVER);
        await(answer, PDK_OK);
        ck_assert_int_eq(ts_answer_release(answer), PDK_OK);
    }
    close_one(3);
    expect_closed(3);
    make_it();
    close_one(0); /* which would tell of the result */
    expect_closed(0);
    check_clean();
}
END_TEST

/* Nothing is to expire, also on a slow machine. */
START_TEST(closed_meanwhile) {
    make_it_for(LONG_MS);
    struct member *other = member_new(its_path, LONG_MS, NULL);
    pdk_hold *first = ts_bench_acquire(other->lock[0], 5000);
    ts_answer *answer = _i ? member_thread(one, PDK_FOREVER) : member_async(one, PDK_FOREVER);
    ck_assert(ts_wait_children(majority_server(0), one->path[0], 2, ts_patience(PATIENCE_MS)));
    for (int i = 1; i < 3; i++)
        ck_assert_int_eq(pdk_session_close(one->client[i]->session, CLOSE_MS), PDK_OK);
    pdk_hold_release(first);
    await(answer, PDK_OK);
    const pdk_set *held = ts_answer_set(answer);
    ck_assert_int_eq(parts_held(held), 3);
    ck_assert_ptr_null(pdk_set_part(held, 1));
    ck_assert_int_eq(ts_answer_release(answer), PDK_OK);
    check_clean();
}
END_TEST

/* ---- a callback that comes too late */

static void dispatch(int from) {
    for (int i = from; i < ENSEMBLES; i++)
        pdk_session_dispatch(one->client[i]->session, NULL);
}

/* The first tells of the result. It is needed until the second is left out. */
static bool dispatch_until_decided(void *claim) {
    int32_t ahead;
    dispatch(ts_child_count(majority_server(2), one->path[2]) == 1 ? 1 : 0);
    return pdk_set_claim_position(claim, &ahead) == PDK_NOT_HELD;
}

static bool dispatch_until_answered(void *answer) {
    dispatch(0);
    return ts_answer_count(answer) > 0;
}

/* Enough of them were granted in time, so what the second had to say is not the answer. _i: it was silent; or its session was closed. */
START_TEST(a_late_callback) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.dispatch = PDK_DISPATCH_MANUAL;
    its_path = ts_fresh_path();
    one = member_new(its_path, SESSION_MS, &options);
    one->options.patience_ms = (int32_t)ts_patience(200);
    if (_i)
        member_links(one, 1, 1, TS_CUT);
    else
        close_one(1);
    ts_answer *answer = member_async(one, ts_patience(3000));
    const int64_t late = ts_now_ms() + ts_patience(3000);
    ck_assert(ts_wait_until(dispatch_until_decided, ts_answer_set_claim(answer), ts_patience(PATIENCE_MS)));
    ck_assert_int_lt(ts_now_ms(), late);
    ck_assert_int_eq(ts_answer_count(answer), 0);
    ts_sleep_ms(late - ts_now_ms() + 100);
    ck_assert(ts_wait_until(dispatch_until_answered, answer, ts_patience(PATIENCE_MS)));
    await(answer, PDK_TIMEOUT);
    check_clean();
}
END_TEST

/* ---- objects that are dropped */

START_TEST(a_lock_is_dropped_while_it_is_held) {
    make_it();
    pdk_set *held = member_take(one);
    parts_wait(held, ENSEMBLES);
    member_drop_lock(one, 1);
    ck_assert_int_eq(parts_held(held), ENSEMBLES);
    ck_assert_int_eq(ts_delete(majority_server(1), pdk_hold_node(pdk_set_part(held, 1))), 0);
    parts_wait(held, ENSEMBLES - 1);
    ts_sleep_ms(300);
    ck_assert_int_eq(parts_held(held), ENSEMBLES - 1); /* it is not taken again */
    ck_assert(pdk_set_is_valid(held));
    ck_assert_int_eq(pdk_set_release(held), PDK_OK);
    check_clean();
}
END_TEST

START_TEST(locks_are_dropped_while_it_waits) {
    make_it();
    struct member *other = member_new(its_path, SESSION_MS, NULL);
    pdk_set *held = member_take(other);
    ts_answer *answer = member_async(one, PDK_FOREVER);
    ck_assert(ts_wait_children(majority_server(0), one->path[0], 2, ts_patience(PATIENCE_MS)));
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(ts_answer_count(answer), 0);
        member_drop_lock(one, i);
        ts_sleep_ms(100); /* it goes on to the next */
    }
    await(answer, PDK_CANCELED);
    ck_assert_int_eq(pdk_set_release(held), PDK_OK);
    check_clean();
}
END_TEST

/* ---- threads and claims */

static void *acquire(void *unused) {
    pdk_set *held = NULL;
    (void)unused;
    member_acquire(one, PDK_FOREVER, &held);
    return NULL;
}

/* Cancels a thread that has run for so long. */
static void cancel_after(int64_t ms, void *(*fn)(void *user), void *user) {
    pthread_t thread;
    void *result = NULL;
    ck_assert_int_eq(pthread_create(&thread, NULL, fn, user), 0);
    ts_sleep_ms(ms);
    ck_assert_int_eq(pthread_cancel(thread), 0);
    ck_assert_int_eq(pthread_join(thread, &result), 0);
    ck_assert_ptr_eq(result, PTHREAD_CANCELED);
}

START_TEST(a_thread_is_cancelled_in_a_queue) {
    make_it();
    pdk_set *held = member_take(member_new(its_path, SESSION_MS, NULL));
    cancel_after(1000, acquire, NULL);
    pdk_set_release(held);
    check_clean();
}
END_TEST

static void *wait_for_more(void *set) {
    pdk_set_ensure(set, 1600); /* it waits: the links are silent */
    return NULL;
}

START_TEST(a_thread_is_cancelled_in_ensure) {
    make_it();
    pdk_set *held = member_take(one);
    member_links(one, 0, 5, TS_BLACKHOLE);
    while (pdk_set_remaining_ms(held) > 1500)
        ts_sleep_ms(5);
    cancel_after(200, wait_for_more, held);
    member_links(one, 0, 5, TS_PASS);
    pdk_set_release(held);
    check_clean();
}
END_TEST

static pdk_interrupt *interrupt;

static pdk_status acquire_with_interrupt(void *unused, int64_t timeout_ms, pdk_set **out) {
    (void)unused;
    pdk_interrupt_attach(interrupt);
    pdk_status status = member_acquire(one, timeout_ms, out);
    pdk_interrupt_detach();
    return status;
}

/* Between two rounds nothing of it is in any queue. */
enum { CLOSED, CLOSED_UNDER_A_THREAD, CANCELLED, THREAD_CANCELLED, INTERRUPTED, ENDS };

START_TEST(ended_between_rounds) {
    int32_t ahead;
    make_it();
    no_majority();
    if (_i == THREAD_CANCELLED) {
        cancel_after(1500, acquire, NULL);
    } else if (_i == INTERRUPTED) {
        ck_assert_int_eq(pdk_interrupt_new(&interrupt), PDK_OK);
        ts_answer *answer = ts_answer_block_set(acquire_with_interrupt, NULL, PDK_FOREVER);
        ts_sleep_ms(1500);
        pdk_interrupt_raise(interrupt);
        await(answer, PDK_CANCELED);
        pdk_interrupt_unref(interrupt);
    } else {
        ts_answer *answer =
            _i == CLOSED_UNDER_A_THREAD ? member_thread(one, PDK_FOREVER) : member_async(one, PDK_FOREVER);
        ts_sleep_ms(1500); /* by now the pauses are long */
        ck_assert(_i != CANCELLED || ts_answer_position(answer, &ahead) == PDK_UNAVAILABLE);
        if (_i == CANCELLED)
            ck_assert_int_eq(ts_answer_cancel(answer), PDK_OK);
        else
            close_one(0);
        await(answer, _i == CANCELLED ? PDK_CANCELED : PDK_CLOSED);
    }
    heal();
    check_clean();
}
END_TEST

static TCase *add_case(Suite *suite, const char *name) {
    TCase *tcase = tcase_create(name);
    tcase_add_checked_fixture(tcase, start_servers, clear);
    suite_add_tcase(suite, tcase);
    return tcase;
}

static Suite *make_suite(void) {
    Suite *suite = suite_create("majority");
    TCase *all = add_case(suite, "held"), *ends = add_case(suite, "ends");
    tcase_add_test(all, granted_with_enough_and_completed);
    tcase_add_loop_test(all, ensured, 0, 2);
    tcase_add_loop_test(all, ensured_beside_short_sessions, 0, 2);
    tcase_add_loop_test(all, not_ensured, 0, 2);
    tcase_add_loop_test(all, two_of_five_cut_off_goes_on, 0, 2);
    tcase_add_loop_test(all, three_of_five_cut_off_is_lost, 0, 2);
    tcase_add_test(all, two_are_down);
    tcase_add_test(all, a_try);
    tcase_add_loop_test(ends, the_session_that_tells_is_closed, 0, 2);
    tcase_add_test(ends, closed_before);
    tcase_add_loop_test(ends, closed_meanwhile, 0, 2);
    tcase_add_loop_test(ends, a_late_callback, 0, 2);
    tcase_add_test(ends, a_lock_is_dropped_while_it_is_held);
    tcase_add_test(ends, locks_are_dropped_while_it_waits);
    tcase_add_test(ends, a_thread_is_cancelled_in_a_queue);
    tcase_add_test(ends, a_thread_is_cancelled_in_ensure);
    tcase_add_loop_test(ends, ended_between_rounds, 0, ENDS);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
