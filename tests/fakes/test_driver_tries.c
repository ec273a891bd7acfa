/* A try looks whether somebody is there, as of now, before it writes anything. */
#include "driver_bench.h"
#include "session/session.h"

static struct driver_user *const one = &driver_users[0], *const two = &driver_users[1];

/* The requests of the first process, by kind. Those of a kind that is refused are counted, and not sent. */
static struct {
    int32_t seen[PDK__OP_SYNC + 1], refuse;
    enum pdk__op_kind refused;
} requests;

static bool count(const struct pdk__request *request) {
    bool refuse = requests.refuse > 0 && request->kind == requests.refused;
    requests.seen[request->kind]++;
    requests.refuse -= refuse;
    return refuse;
}

static void begin(void) {
    driver_begin();
    memset(&requests, 0, sizeof requests);
    driver_refuses = count;
}

static void on_acquired(pdk_status status, pdk_hold *hold, void *user) {
    struct driver_user *u = user;
    u->answered++;
    u->status = status;
    if (hold)
        u->holds[u->holds_count++] = hold;
}

static void try_in(void *subject, void *what) {
    struct driver_user *u = subject;
    (void)what;
    ck_assert_int_eq(pdk_lock_acquire_async(u->lock, 0, on_acquired, u, NULL), PDK_OK);
}

static void want_in(void *subject, void *what) {
    struct driver_user *u = subject;
    (void)what;
    ck_assert_int_eq(pdk_lock_acquire_async(u->lock, PDK_FOREVER, on_acquired, u, NULL), PDK_OK);
}

static void in(struct driver_user *u, sim_event_fn fn) { sim_call_in(&u->rival->process, fn, u, NULL); }

static int32_t writes(void) {
    return requests.seen[PDK__OP_CREATE] + requests.seen[PDK__OP_DELETE] + requests.seen[PDK__OP_MKDIR];
}

START_TEST(a_try_that_finds_somebody_writes_nothing) {
    enum { TRIES = 10 };
    begin();
    driver_want_lock(two);
    platform_pass(SECOND);
    memset(&requests, 0, sizeof requests);
    for (int i = 0; i < TRIES; i++) {
        in(one, try_in);
        platform_pass(100 * SIM_MS);
        ck_assert_int_eq(one->status, PDK_BUSY);
    }
    ck_assert_int_eq(one->answered, TRIES);
    ck_assert_int_eq(writes(), 0);
    ck_assert_int_eq(requests.seen[PDK__OP_SYNC], TRIES);
    ck_assert_int_eq(requests.seen[PDK__OP_LIST], TRIES);
    ck_assert_uint_eq(driver_nodes(), 1);
    driver_release_all(two);
    platform_pass(SECOND);
    in(one, try_in);
    platform_pass(100 * SIM_MS);
    ck_assert_int_eq(one->status, PDK_OK);
    ck_assert_int_eq(requests.seen[PDK__OP_CREATE], 1);
    driver_release_all(one);
    platform_pass(SECOND);
    ck_assert_uint_eq(driver_nodes(), 0);
}
END_TEST

/* A claim that waits needs a node, whether it was first or came while the try looked. */
START_TEST(who_waits_does_not_look) {
    begin();
    driver_want_lock(two);
    platform_pass(SECOND);
    in(one, want_in);
    platform_pass(100 * SIM_MS);
    ck_assert_int_eq(requests.seen[PDK__OP_SYNC], 0);
    begin();
    driver_want_lock(two);
    platform_pass(SECOND);
    in(one, try_in);
    in(one, want_in);
    platform_pass(100 * SIM_MS);
    ck_assert_int_eq(one->answered, 1);
    ck_assert_int_eq(one->status, PDK_BUSY);
    ck_assert_uint_eq(driver_nodes(), 2);
    driver_release_all(two);
    platform_pass(SECOND);
    ck_assert_int_eq(one->answered, 2);
    ck_assert_int_eq(one->status, PDK_OK);
}
END_TEST

START_TEST(a_look_that_cannot_be_sent_is_sent_later) {
    static const enum pdk__op_kind kinds[] = {PDK__OP_SYNC, PDK__OP_LIST};
    for (int i = 0; i < 2; i++) {
        begin();
        driver_want_lock(two);
        platform_pass(SECOND);
        requests.refused = kinds[i];
        requests.refuse = 3;
        in(one, try_in);
        platform_pass(SECOND);
        ck_assert_int_eq(requests.refuse, 0);
        ck_assert_int_eq(one->status, PDK_BUSY);
        ck_assert_int_eq(writes(), 0);
    }
}
END_TEST

/* The sync was lost with its connection, and the list goes out on the next one: that may be an old server's. */
START_TEST(a_list_without_its_sync_does_not_count) {
    begin();
    driver_want_lock(two);
    platform_pass(SECOND);
    requests.refused = PDK__OP_LIST;
    requests.refuse = INT32_MAX;
    platform_block(one->rival, true);
    in(one, try_in);
    platform_pass(TIMEOUT * 3 / 4);
    ck_assert_int_eq(requests.seen[PDK__OP_SYNC], 1);
    ck_assert_str_eq(one->rival->events->str, "connected suspended");
    requests.refuse = 0;
    platform_block(one->rival, false);
    platform_pass(SECOND);
    ck_assert_int_eq(requests.seen[PDK__OP_SYNC], 2);
    ck_assert_int_eq(one->answered, 1);
    ck_assert_int_eq(one->status, PDK_BUSY);
    ck_assert_int_eq(writes(), 0);
}
END_TEST

/* Its server was cut off before the holder left. What it shows is old. */
START_TEST(an_old_list_makes_no_try_busy) {
    uint32_t cut_off = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        platform_end();
        platform_begin(seed);
        rival_open(first);
        rival_open(second);
        rival_acquire(second, PDK_FOREVER);
        platform_pass(SECOND);
        int32_t server = sim_client_server(&first->process);
        if (server == sim_leader(platform_ensemble) || server == sim_client_server(&second->process))
            continue;
        cut_off++;
        platform_pass((int64_t)seed * 17 * SIM_MS); /* a renewal under way would hold the look up */
        for (int32_t i = 0; i < 3; i++)
            if (i != server) {
                sim_net_block(&platform_net, server, i, true);
                sim_net_block(&platform_net, i, server, true);
            }
        rival_release(second);
        platform_pass(10 * SIM_MS);
        rival_acquire(first, 0);
        platform_pass(5 * SECOND);
        ck_assert_int_eq(first->status, PDK_OK);
        ck_assert_ptr_nonnull(first->hold);
    }
    ck_assert_uint_ge(cut_off, 3);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_tries");
    TCase *cases = tcase_create("driver_tries");
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_test(cases, a_try_that_finds_somebody_writes_nothing);
    tcase_add_test(cases, who_waits_does_not_look);
    tcase_add_test(cases, a_look_that_cannot_be_sent_is_sent_later);
    tcase_add_test(cases, a_list_without_its_sync_does_not_count);
    tcase_add_test(cases, an_old_list_makes_no_try_busy);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
