/* A lock with a lock-delay in simulated time, where one thing happens at an exact moment. */
#include "platform_bench.h"

#include <paddock/revoke.h>
#include <string.h>

enum { DELAY_MS = 3000 };

#define QUEUE "/app/locks/one"
#define WHOLE_DELAY (DELAY_MS * SIM_MS + DELAY_MS * SIM_MS / 16)

static pdk_stats stats_of(struct rival *r) {
    pdk_stats stats = PDK_STATS_INIT;
    ck_assert_int_eq(pdk_session_stats(r->session, &stats), PDK_OK);
    return stats;
}

static void begin(uint64_t seed) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    options.lock_delay_ms = DELAY_MS;
    options.max_handover_ms = 60000;
    platform_end();
    platform_begin(seed);
    for (int i = 0; i < RIVALS; i++) {
        rival_open(&rivals[i]);
        pdk_lock_unref(rivals[i].lock);
        ck_assert_int_eq(pdk_lock_new(rivals[i].session, "/locks/one", &options, &rivals[i].lock), PDK_OK);
    }
    platform_pass(SECOND);
}

static int by_number(const void *a, const void *b) {
    return strcmp(strrchr(*(const char *const *)a, '-'), strrchr(*(const char *const *)b, '-'));
}

/* The paths of the contenders, in the order of the queue, or of the pledges. */
static GPtrArray *nodes(const char *kind) {
    GPtrArray *paths = g_ptr_array_new();
    for (size_t i = 0; i < platform_children(QUEUE); i++)
        if (strstr(platform_child(QUEUE, i), kind))
            g_ptr_array_add(paths, (void *)platform_child(QUEUE, i));
    g_ptr_array_sort(paths, by_number);
    return paths;
}

static GPtrArray *contenders(void) { return nodes("/_c_"); }
static GPtrArray *pledges(void) { return nodes("/pledge-"); }

static guint count_pledges(void) {
    g_autoptr(GPtrArray) paths = pledges();
    return paths->len;
}

static void acquire(struct rival *r) {
    rival_acquire(r, PDK_FOREVER);
    platform_pass(SECOND);
}

static void kill_first(void) { sim_dispose(&first->process, rival_gives_back, first, NULL); }

/* The first dies while it holds, and the second is next. Returns when that has seen it, and has pledged. */
static void first_dies(void) {
    acquire(first);
    ck_assert_int_eq(first->status, PDK_OK);
    acquire(second);
    kill_first();
    for (; count_pledges() < 2; platform_pass(10 * SIM_MS))
        ck_assert_uint_eq(second->answers, 0);
}

/* ---- hand-overs */

START_TEST(a_grant_that_is_handed_over_is_counted) {
    begin(1);
    for (int i = 0; i < 3; i++)
        rival_acquire(first, PDK_FOREVER);
    for (unsigned i = 0; i < 3; i++) {
        platform_pass(SECOND);
        ck_assert_uint_eq(stats_of(first).claims_granted, i + 1);
        ck_assert_uint_eq(stats_of(first).handovers, i);
        rival_release(first);
    }
}
END_TEST

static void refused(pdk_status status, pdk_hold *hold, void *count) {
    ck_assert_int_eq(status, PDK_CANCELED);
    ck_assert_ptr_null(hold);
    ++*(int *)count;
}

/* Who waits for the end of a delay gives up. The next thread gets its place, but no grant was handed over. */
START_TEST(a_place_that_is_handed_on_is_not_counted) {
    pdk_claim *claim;
    int count = 0;
    begin(1);
    acquire(first);
    ck_assert_int_eq(pdk_lock_acquire_async(second->lock, PDK_FOREVER, refused, &count, &claim), PDK_OK);
    acquire(second);
    kill_first();
    platform_pass(2 * TIMEOUT);
    ck_assert_int_eq(pdk_claim_cancel(claim), PDK_OK);
    pdk_claim_unref(claim);
    platform_pass(TIMEOUT + WHOLE_DELAY);
    ck_assert_int_eq(count, 1);
    ck_assert_int_eq(second->status, PDK_OK);
    ck_assert_uint_eq(stats_of(second).claims_granted, 1);
    ck_assert_uint_eq(stats_of(second).handovers, 0);
}
END_TEST

/* ---- a delay that ends while the lease is over */

/* The second is granted that long after the delay and the trouble were over, at the latest, and nobody waits for it anew. */
static void assert_granted(int64_t seen, int64_t healed) {
    int64_t by = MAX(seen + WHOLE_DELAY, healed) + TIMEOUT / 4;
    while (second->answers == 0 && platform_agenda.now < by)
        platform_pass(5 * SIM_MS);
    ck_assert_msg(second->answers == 1, "not granted %ld ms after the delay was over",
                  (platform_agenda.now - seen - WHOLE_DELAY) / SIM_MS);
    ck_assert_int_eq(second->status, PDK_OK);
    ck_assert_uint_eq(stats_of(second).grants_lapsed, 0);
    ck_assert_int_ge(platform_agenda.now, seen + DELAY_MS * SIM_MS);
}

/* Its writes are not sent for a while: it is connected, and its lease is over. */
START_TEST(the_lease_is_over_with_a_connection) {
    begin((uint64_t)_i + 1);
    first_dies();
    int64_t seen = platform_agenda.now;
    platform_pass(SECOND + _i * 50 * SIM_MS);
    platform_refuse(PDK__OP_BARRIER, INT32_MAX);
    platform_pass(WHOLE_DELAY);
    ck_assert_uint_eq(second->answers, 0);
    platform_refuse(PDK__OP_BARRIER, 0);
    assert_granted(seen, platform_agenda.now);
}
END_TEST

/* Its link is silent for longer than its lease, and less long than its session, around the end of the delay. */
START_TEST(the_lease_is_over_when_it_is_connected_again) {
    int times = 0;
    for (int64_t begins = 1000; begins < 3000; begins += 50) {
        begin((uint64_t)begins);
        first_dies();
        int64_t seen = platform_agenda.now;
        platform_pass(begins * SIM_MS);
        platform_block(second, true);
        platform_pass(1900 * SIM_MS);
        platform_block(second, false);
        if (second->answers > 0)
            continue;
        platform_pass(TIMEOUT / 4);
        if (strstr(second->events->str, "expired"))
            continue;
        times++;
        assert_granted(seen, platform_agenda.now);
    }
    ck_assert_int_gt(times, 5);
}
END_TEST

/* ---- another node of the one that waits */

static void delete_contenders(guint count) {
    g_autoptr(GPtrArray) paths = contenders();
    ck_assert_uint_eq(paths->len, count);
    for (guint i = 0; i < count; i++)
        platform_admin(SIM_OP_DELETE, paths->pdata[i]);
}

/* The second came when one pledge was broken, and counts its delay. Then the holder's node is deleted, and its own. */
START_TEST(a_new_node_has_a_pledge_of_its_own) {
    begin(1);
    acquire(first);
    delete_contenders(1);
    platform_pass(SECOND);
    rival_release(first);
    acquire(first);
    platform_pass(SECOND);
    rival_acquire(second, PDK_FOREVER);
    while (first->answers < 2)
        platform_pass(10 * SIM_MS);
    delete_contenders(2);
    while (second->answers == 0)
        platform_pass(10 * SIM_MS);
    ck_assert_int_eq(second->status, PDK_OK);
    g_autoptr(GPtrArray) node = contenders();
    g_autoptr(GPtrArray) pledged = pledges();
    bool found = false;
    ck_assert_uint_eq(node->len, 1);
    for (guint i = 0; i < pledged->len; i++)
        found = found || by_number(&pledged->pdata[i], &node->pdata[0]) == 0;
    ck_assert(found);
    rival_release(second);
    platform_pass(SECOND);
    ck_assert_uint_eq(count_pledges(), 0);
}
END_TEST

/* ---- an ask, of one that waits for the end of a delay */

static struct {
    int told, answers;
    char who[32];
} wish;

static void on_asked(pdk_hold *hold, const char *who, int64_t until_ms, void *user) {
    (void)hold;
    (void)until_ms;
    (void)user;
    wish.told++;
    g_strlcpy(wish.who, who, sizeof wish.who);
}

static void on_answered(pdk_status status, void *user) {
    (void)user;
    ck_assert_int_eq(status, PDK_OK);
    wish.answers++;
}

/* As Curator does it, to one that is not first. */
static void ask_second_in_line(void) {
    g_autoptr(GPtrArray) paths = contenders();
    const struct sim_packet packet = {
        .kind = SIM_REQUEST, .op = SIM_OP_SET, .path = paths->pdata[paths->len - 1], .data = "__REVOKE__"};
    ck_assert(sim_admin(platform_ensemble, &packet));
}

/* During the delay, or before it. The second is granted, hears of the wish once, and its node is not handed over. */
START_TEST(an_ask_is_told) {
    begin(1);
    memset(&wish, 0, sizeof wish);
    if (_i) {
        acquire(first);
        acquire(second);
        ask_second_in_line();
        kill_first();
        platform_pass(TIMEOUT);
    } else {
        first_dies();
        platform_pass(SECOND);
        ck_assert_int_eq(pdk_session_request_release_async(rivals[2].session, "/locks/one", NULL, "third", 1000, 5000,
                                                           on_answered, NULL),
                         PDK_OK);
        platform_pass(SECOND);
        ck_assert_int_eq(wish.answers, 1);
    }
    ck_assert_uint_eq(second->answers, 0);
    platform_pass(WHOLE_DELAY + TIMEOUT);
    ck_assert_int_eq(second->status, PDK_OK);
    ck_assert_uint_eq(second->answers, 1);
    ck_assert_int_eq(pdk_hold_on_request(second->hold, on_asked, NULL, NULL), PDK_OK);
    platform_pass(TIMEOUT);
    ck_assert_int_eq(wish.told, 1);
    ck_assert_str_eq(wish.who, _i ? "" : "third");
    int64_t token = second->token;
    rival_acquire(second, PDK_FOREVER);
    rival_release(second);
    platform_pass(SECOND);
    ck_assert_uint_eq(second->answers, 2);
    ck_assert_int_ne(second->token, token);
    ck_assert_uint_eq(stats_of(second).handovers, 0);
    ck_assert_int_eq(wish.told, 1);
}
END_TEST

/* ---- the first record of a path */

/* The second keeps no delay, and has listed before the first has made the record. It is granted on an event, without another list. So it
 * goes first, and not behind a holder whose delay it does not know of. */
START_TEST(somebody_who_has_seen_no_record_goes_first) {
    begin(1);
    pdk_lock_unref(second->lock);
    ck_assert_int_eq(pdk_lock_new(second->session, "/locks/one", NULL, &second->lock), PDK_OK);
    platform_refuse(PDK__OP_GET, 1000);
    acquire(first);
    acquire(second);
    ck_assert_uint_eq(first->answers + second->answers, 0);
    platform_refuse(PDK__OP_GET, 0);
    platform_pass(SECOND);
    ck_assert_uint_eq(first->answers, 0);
    ck_assert(rival_is_valid(second));
    rival_release(second);
    platform_pass(SECOND);
    ck_assert(rival_is_valid(first));
    acquire(second);
    ck_assert_str_eq(pdk_status_name(second->status), "PDK_MISMATCH");
}
END_TEST

int main(void) {
    Suite *suite = suite_create("driver_delay_steps");
    TCase *cases = tcase_create("driver_delay_steps");
    tcase_add_checked_fixture(cases, platform_setup, platform_teardown);
    tcase_add_test(cases, a_grant_that_is_handed_over_is_counted);
    tcase_add_test(cases, a_place_that_is_handed_on_is_not_counted);
    tcase_add_loop_test(cases, the_lease_is_over_with_a_connection, 0, 8);
    tcase_add_test(cases, the_lease_is_over_when_it_is_connected_again);
    tcase_add_test(cases, a_new_node_has_a_pledge_of_its_own);
    tcase_add_loop_test(cases, an_ask_is_told, 0, 2);
    tcase_add_test(cases, somebody_who_has_seen_no_record_goes_first);
    suite_add_tcase(suite, cases);
    return ts_run_suite(suite);
}
