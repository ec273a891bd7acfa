/* A thousand members join while three watchers look, and a link is cut meanwhile: every view is judged, and there
 * are few of them. */
#include <string.h>

#include "groups.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

/* A sanitizer on a busy machine keeps a session busy for longer than a short lease lasts. */
enum { SESSION_MS = 20000, MEMBERS = 1000, SESSIONS = 4, WATCHERS = 3, LONG_MS = 60000 };

static const char *server(void) { return ts_bench_server(); }

static struct {
    const char *path;
    ts_client *clients[SESSIONS], *looking[WATCHERS];
    watch *watches[WATCHERS];
    pdk_member *members[MEMBERS];
} it;

static void make_it(void) {
    it.path = ts_fresh_path();
    for (int i = 0; i < SESSIONS; i++)
        it.clients[i] = ts_bench_client(SESSION_MS);
    for (int i = 0; i < WATCHERS; i++) {
        it.looking[i] = ts_bench_client(SESSION_MS);
        it.watches[i] = watch_begin(it.looking[i], it.path);
    }
}

static void assert_count(size_t count) {
    for (int i = 0; i < WATCHERS; i++) {
        ck_assert_msg(watch_wait_count(it.watches[i], count, ts_patience(LONG_MS)), "%zu members, not %zu",
                      pdk_group_view_count(watch_newest(it.watches[i])), count);
        ck_assert_str_eq(watch_problem(it.watches[i]), "");
    }
}

static void join(int from, int to) {
    for (int i = from; i < to; i++) {
        g_autofree char *text = g_strdup_printf("%d", i);
        it.members[i] = member_join(it.clients[i % SESSIONS], it.path, text);
    }
}

static bool is_told(const pdk_group_view *view, int64_t token) {
    for (size_t i = 0; i < pdk_group_view_count(view); i++)
        if (pdk_group_view_member(view, i)->token == token)
            return true;
    return false;
}

/* The link of every fourth one is cut in the middle of it, for longer than their session lasts. They know before anybody else does. */
START_TEST(a_storm_with_a_cut) {
    enum { CUT = 3, CUT_MS = 6000 };
    bool valid = true;
    make_it();
    it.clients[CUT] = ts_bench_client(CUT_MS);
    assert_count(0);
    join(0, MEMBERS / 2);
    pdk_hold *hold = member_hold(it.members[CUT]);
    const int64_t end = ts_now_ms() + ts_patience(LONG_MS);
    while (!is_told(watch_newest(it.watches[0]), pdk_hold_token(hold)) && ts_now_ms() < end)
        ts_sleep_ms(1);
    ts_proxy_set_mode(it.clients[CUT]->proxy, TS_BLACKHOLE);
    join(MEMBERS / 2, MEMBERS);
    while (is_told(watch_newest(it.watches[0]), pdk_hold_token(hold)) && ts_now_ms() < end) {
        valid = pdk_hold_is_valid(hold);
        ts_sleep_ms(1);
    }
    ck_assert(!valid);
    assert_count(MEMBERS - MEMBERS / SESSIONS);
    ts_proxy_heal_discard(it.clients[CUT]->proxy);
    assert_count(MEMBERS); /* those of before, and those that joined meanwhile */
    ck_assert(ts_wait_children(server(), it.path, MEMBERS, ts_patience(LONG_MS)));
    for (int i = 0; i < WATCHERS; i++)
        ck_assert_int_lt(watch_views(it.watches[i]), MEMBERS); /* coalesced */
    ts_proxy_zero(it.looking[0]->proxy);
    const int views = watch_views(it.watches[0]);
    ck_assert_int_eq(pdk_member_set_data(it.members[MEMBERS / 2], "new", 3, ts_patience(LONG_MS)), PDK_OK);
    for (int i = 0; i < 500 && watch_views(it.watches[0]) == views; i++)
        ts_sleep_ms(10);
    ck_assert_uint_eq(pdk_group_view_changes(watch_newest(it.watches[0])), 1);
    ck_assert_uint_eq(ts_proxy_count(it.looking[0]->proxy, TS_OP_GET_DATA),
                      1); /* the one that has changed; and no list */
    ck_assert_uint_eq(ts_proxy_count(it.looking[0]->proxy, TS_OP_GET_CHILDREN), 0);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("group_storm");
    TCase *storm = ts_bench_case(suite, "storm");
    tcase_add_test(storm, a_storm_with_a_cut);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
