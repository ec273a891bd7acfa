/* A lock with a lock-delay in simulated time, where one thing happens at an exact moment. */
#include "platform_bench.h"

#include <string.h>

enum { DELAY_MS = 3000 };

static pdk_stats stats;

static void keep_delay_in(void *subject, void *what) {
    struct rival *r = subject;
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    (void)what;
    options.lock_delay_ms = DELAY_MS;
    options.max_handover_ms = 60000;
    pdk_lock_unref(r->lock);
    ck_assert_int_eq(pdk_lock_new(r->session, "/locks/one", &options, &r->lock), PDK_OK);
}

static void read_in(void *subject, void *what) {
    (void)what;
    stats = (pdk_stats)PDK_STATS_INIT;
    ck_assert_int_eq(pdk_session_stats(((struct rival *)subject)->session, &stats), PDK_OK);
}

static const pdk_stats *stats_of(struct rival *r) {
    sim_call_in(&r->process, read_in, r, NULL);
    return &stats;
}

static void begin(uint64_t seed) {
    platform_end();
    platform_begin(seed);
    for (int i = 0; i < RIVALS; i++) {
        rival_open(&rivals[i]);
        sim_call_in(&rivals[i].process, keep_delay_in, &rivals[i], NULL);
    }
    platform_pass(SECOND);
}

static int pledges(void) {
    size_t count = 0;
    const char *const *names = sim_tree_children(sim_truth(platform_ensemble), "/app/locks/one", &count);
    int found = 0;
    for (size_t i = 0; i < count; i++)
        found += g_str_has_prefix(names[i], "pledge-");
    return found;
}

/* The first dies while it holds, and the second is next. Returns when it has seen that, and has pledged. */
static void first_dies(void) {
    rival_acquire(first, PDK_FOREVER);
    platform_pass(SECOND);
    ck_assert_int_eq(first->status, PDK_OK);
    rival_acquire(second, PDK_FOREVER);
    platform_pass(SECOND);
    sim_dispose(&first->process, rival_gives_back, first, NULL);
    while (pledges() < 2) {
        ck_assert_uint_eq(second->answers, 0);
        platform_pass(10 * SIM_MS);
    }
}

static int64_t whole_delay(void) { return DELAY_MS * SIM_MS + DELAY_MS * SIM_MS / 16; }

/* ---- hand-overs */

START_TEST(a_grant_that_is_handed_over_is_counted) {
    begin(1);
    for (int i = 0; i < 3; i++)
        rival_acquire(first, PDK_FOREVER);
    for (unsigned i = 0; i < 3; i++) {
        platform_pass(SECOND);
        ck_assert_uint_eq(stats_of(first)->claims_granted, i + 1);
        ck_assert_uint_eq(stats.handovers, i);
        rival_release(first);
    }
    platform_pass(SECOND);
    ck_assert_uint_eq(stats_of(first)->handovers, 2);
}
END_TEST

static pdk_claim *given_up;

static void refused(pdk_status status, pdk_hold *hold, void *user) {
    ck_assert_int_eq(status, PDK_CANCELED);
    ck_assert_ptr_null(hold);
    pdk_claim_unref(g_steal_pointer((pdk_claim **)user));
}

static void acquire_in(void *subject, void *what) {
    ck_assert_int_eq(pdk_lock_acquire_async(((struct rival *)subject)->lock, PDK_FOREVER, refused, what, what), PDK_OK);
}

static void cancel_in(void *subject, void *what) {
    (void)subject;
    ck_assert_int_eq(pdk_claim_cancel(*(pdk_claim **)what), PDK_OK);
}

/* Who waits for the end of a delay gives up. The next thread gets its place, but no grant was handed over. */
START_TEST(a_place_that_is_handed_on_is_not_counted) {
    begin(1);
    rival_acquire(first, PDK_FOREVER);
    platform_pass(SECOND);
    sim_call_in(&second->process, acquire_in, second, &given_up);
    rival_acquire(second, PDK_FOREVER);
    platform_pass(SECOND);
    sim_dispose(&first->process, rival_gives_back, first, NULL);
    platform_pass(2 * TIMEOUT);
    ck_assert_ptr_nonnull(given_up);
    sim_call_in(&second->process, cancel_in, second, &given_up);
    platform_pass(TIMEOUT + whole_delay());
    ck_assert_ptr_null(given_up);
    ck_assert_int_eq(second->status, PDK_OK);
    ck_assert_uint_eq(stats_of(second)->claims_granted, 1);
    ck_assert_uint_eq(stats.handovers, 0);
    rival_release(second);
}
END_TEST

/* ---- a delay that ends while the lease is over */

/* The second is granted that long after the delay and the trouble were over, at the latest, and nobody waits for it anew. */
static void assert_granted(int64_t seen, int64_t healed) {
    int64_t by = MAX(seen + whole_delay(), healed) + TIMEOUT / 4;
    while (second->answers == 0 && platform_agenda.now < by)
        platform_pass(5 * SIM_MS);
    ck_assert_msg(second->answers == 1, "not granted %ld ms after the delay was over",
                  (platform_agenda.now - seen - whole_delay()) / SIM_MS);
    ck_assert_int_eq(second->status, PDK_OK);
    ck_assert_uint_eq(stats_of(second)->grants_lapsed, 0);
    ck_assert_int_ge(platform_agenda.now, seen + DELAY_MS * SIM_MS);
}

/* Its writes are not sent for a while: it is connected, and its lease is over. */
START_TEST(the_lease_is_over_with_a_connection) {
    begin((uint64_t)_i + 1);
    first_dies();
    int64_t seen = platform_agenda.now;
    platform_pass(SECOND + _i * 50 * SIM_MS);
    platform_refuse(PDK__OP_BARRIER, INT32_MAX);
    platform_pass(whole_delay());
    ck_assert_uint_eq(second->answers, 0);
    platform_refuse(PDK__OP_BARRIER, 0);
    assert_granted(seen, platform_agenda.now);
    rival_release(second);
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
        int64_t healed = platform_agenda.now;
        if (second->answers > 0)
            continue;
        platform_pass(TIMEOUT / 4);
        if (strstr(second->events->str, "expired"))
            continue;
        times++;
        assert_granted(seen, MAX(healed, platform_agenda.now));
    }
    ck_assert_int_gt(times, 5);
}
END_TEST

/* ---- another node of the one that waits */

static int by_number(const void *one, const void *other) {
    return strcmp(strrchr(*(const char *const *)one, '-'), strrchr(*(const char *const *)other, '-'));
}

/* Paths, in the order of the queue. */
static GPtrArray *contenders(void) {
    GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
    size_t count = 0;
    const char *const *names = sim_tree_children(sim_truth(platform_ensemble), "/app/locks/one", &count);
    for (size_t i = 0; i < count; i++)
        if (g_str_has_prefix(names[i], "_c_"))
            g_ptr_array_add(paths, g_strconcat("/app/locks/one/", names[i], NULL));
    g_ptr_array_sort(paths, by_number);
    return paths;
}

static void delete_contenders(guint count) {
    g_autoptr(GPtrArray) paths = contenders();
    ck_assert_uint_eq(paths->len, count);
    for (guint i = 0; i < count; i++) {
        const struct sim_packet packet = {
            .kind = SIM_REQUEST, .op = SIM_OP_DELETE, .path = sim_text(&platform_agenda, paths->pdata[i]), .data = ""};
        ck_assert(sim_admin(platform_ensemble, &packet));
    }
}

static bool is_pledged(const char *path) {
    size_t count = 0;
    const char *const *names = sim_tree_children(sim_truth(platform_ensemble), "/app/locks/one", &count);
    bool found = false;
    for (size_t i = 0; i < count; i++)
        found = found || (g_str_has_prefix(names[i], "pledge-") && g_str_has_suffix(names[i], strrchr(path, '-')));
    return found;
}

/* The second came when one pledge was broken, and counts its delay. Then the holder's node is deleted, and its own. */
START_TEST(a_new_node_has_a_pledge_of_its_own) {
    begin(1);
    rival_acquire(first, PDK_FOREVER);
    platform_pass(SECOND);
    delete_contenders(1);
    platform_pass(SECOND);
    rival_release(first);
    rival_acquire(first, PDK_FOREVER);
    platform_pass(2 * SECOND);
    rival_acquire(second, PDK_FOREVER);
    while (first->answers < 2)
        platform_pass(10 * SIM_MS);
    delete_contenders(2);
    while (second->answers == 0)
        platform_pass(10 * SIM_MS);
    ck_assert_int_eq(second->status, PDK_OK);
    g_autoptr(GPtrArray) paths = contenders();
    ck_assert_uint_eq(paths->len, 1);
    ck_assert(is_pledged(paths->pdata[0]));
    rival_release(second);
    platform_pass(SECOND);
    ck_assert_int_eq(pledges(), 0);
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

static void hear_in(void *subject, void *what) {
    (void)what;
    ck_assert_int_eq(pdk_hold_on_request(((struct rival *)subject)->hold, on_asked, NULL, NULL), PDK_OK);
}

static void on_answered(pdk_status status, void *user) {
    (void)user;
    ck_assert_int_eq(status, PDK_OK);
    wish.answers++;
}

static void ask_in(void *subject, void *what) {
    (void)what;
    ck_assert_int_eq(pdk_session_request_release_async(((struct rival *)subject)->session, "/locks/one", NULL, "third",
                                                       1000, 5000, on_answered, NULL),
                     PDK_OK);
}

/* As Curator does it, to one that is not first. */
static void ask_second_in_line(void) {
    size_t count = 0;
    const char *const *names = sim_tree_children(sim_truth(platform_ensemble), "/app/locks/one", &count), *last = NULL;
    for (size_t i = 0; i < count; i++)
        if (g_str_has_prefix(names[i], "_c_") && (!last || strcmp(strrchr(names[i], '-'), strrchr(last, '-')) > 0))
            last = names[i];
    ck_assert_ptr_nonnull(last);
    g_autofree char *path = g_strconcat("/app/locks/one/", last, NULL);
    const struct sim_packet packet = {
        .kind = SIM_REQUEST, .op = SIM_OP_SET, .path = sim_text(&platform_agenda, path), .data = "__REVOKE__"};
    ck_assert(sim_admin(platform_ensemble, &packet));
    platform_pass(10 * SIM_MS);
}

/* The second is granted, hears of the wish once, and its node is not handed over. */
static void assert_told(const char *who) {
    platform_pass(whole_delay() + TIMEOUT);
    ck_assert_int_eq(second->status, PDK_OK);
    ck_assert_uint_eq(second->answers, 1);
    sim_call_in(&second->process, hear_in, second, NULL);
    platform_pass(TIMEOUT);
    ck_assert_int_eq(wish.told, 1);
    ck_assert_str_eq(wish.who, who);
    int64_t token = second->token;
    rival_acquire(second, PDK_FOREVER);
    rival_release(second);
    platform_pass(SECOND);
    ck_assert_uint_eq(second->answers, 2);
    ck_assert_int_ne(second->token, token);
    ck_assert_uint_eq(stats_of(second)->handovers, 0);
    ck_assert_int_eq(wish.told, 1);
    rival_release(second);
}

START_TEST(an_ask_during_the_delay_is_told) {
    begin(1);
    memset(&wish, 0, sizeof wish);
    first_dies();
    platform_pass(SECOND);
    sim_call_in(&rivals[2].process, ask_in, &rivals[2], NULL);
    platform_pass(SECOND);
    ck_assert_int_eq(wish.answers, 1);
    ck_assert_uint_eq(second->answers, 0);
    assert_told("third");
}
END_TEST

START_TEST(an_ask_before_the_delay_is_told) {
    begin(1);
    memset(&wish, 0, sizeof wish);
    rival_acquire(first, PDK_FOREVER);
    platform_pass(SECOND);
    rival_acquire(second, PDK_FOREVER);
    platform_pass(SECOND);
    ask_second_in_line();
    sim_dispose(&first->process, rival_gives_back, first, NULL);
    platform_pass(TIMEOUT);
    ck_assert_uint_eq(second->answers, 0);
    assert_told("");
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_delay_steps");
    TCase *cases = tcase_create("driver_delay_steps");
    tcase_add_checked_fixture(cases, platform_setup, platform_teardown);
    tcase_add_test(cases, a_grant_that_is_handed_over_is_counted);
    tcase_add_test(cases, a_place_that_is_handed_on_is_not_counted);
    tcase_add_loop_test(cases, the_lease_is_over_with_a_connection, 0, 8);
    tcase_add_test(cases, the_lease_is_over_when_it_is_connected_again);
    tcase_add_test(cases, a_new_node_has_a_pledge_of_its_own);
    tcase_add_test(cases, an_ask_during_the_delay_is_told);
    tcase_add_test(cases, an_ask_before_the_delay_is_told);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
