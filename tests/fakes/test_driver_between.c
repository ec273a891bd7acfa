/* A loss or an end that falls between a grant and what it starts: nothing is started, written or told then. */
#include "deeds.h"
#include "session/chores.h"
#include "session/session.h"
#include "session/supervise.h"
#include "sim_thread.h"

#include <paddock/guarded.h>
#include <paddock/leader.h>
#include <paddock/revoke.h>
#include <string.h>

/* Longer than a lease, and less long than a session. */
#define LONG (1700 * SIM_MS)
#define STEP (SIM_MS / 4)

static const struct driver_user *const one = &driver_users[0];

/* ---- between the look at a record and its write */

static const struct keeper {
    const char *directory, *lock, *record;
    pdk_status (*acquire)(void);
} keepers[] = {{"/app/leased", "/app/leased/lock", "/app/leased/record", deed_lease},
               {"/app/job", "/app/job/lock", "/app/job/record", deed_job}},
  *keeper;

/* It is empty, so the first look is followed by a write. */
static void make_record(void) {
    const char *const paths[] = {"/app", keeper->directory, keeper->record};
    for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
        const struct sim_packet packet = {.kind = SIM_REQUEST, .op = SIM_OP_CREATE, .path = paths[i], .data = ""};
        sim_admin(platform_ensemble, &packet);
        platform_pass(100 * SIM_MS);
    }
}

static void delete_lock_node(void) {
    size_t count = 0;
    const char *const *names = sim_tree_children(sim_truth(platform_ensemble), keeper->lock, &count);
    ck_assert_uint_eq(count, 1);
    g_autofree char *path = g_strconcat(keeper->lock, "/", names[0], NULL);
    group_admin(SIM_OP_DELETE, sim_text(&platform_agenda, path));
}

static void hold_up(void) { deed_hold_up(LONG); }

/* Whoever comes next would believe a record that was written then. */
static void writes_no_record(void (*happens)(void)) {
    deeds_begin();
    make_record();
    group_arm(PDK__OP_GET, "/record");
    deed_start(keeper->acquire);
    group_step_until_seen();
    group_arm(PDK__OP_SET, "/record");
    happens();
    deed_await();
    ck_assert_str_eq(pdk_status_name(deeds.status), "PDK_LOST");
    ck_assert_uint_eq(group_fault.seen, 0);
    deeds_end();
}

START_TEST(a_lease_that_is_over_writes_no_record) {
    keeper = &keepers[_i];
    writes_no_record(hold_up);
}
END_TEST

START_TEST(a_lock_node_that_is_gone_writes_no_record) {
    keeper = &keepers[_i];
    writes_no_record(delete_lock_node);
}
END_TEST

/* ---- what stands on a hold that ends meanwhile */

static pdk_guarded *guarded;
static pdk_election *office;

static pdk_status take(void) { return pdk_lock_acquire(deeds.lock, PDK_FOREVER, &deeds.hold); }
static pdk_status open_guarded(void) { return pdk_guarded_open(deeds.hold, "/guarded", PDK_FOREVER, &guarded); }
static pdk_status create_guarded(void) { return pdk_guarded_create(guarded, "text", 4, PDK_FOREVER); }
static pdk_status publish(void) { return pdk_election_publish(office, deeds.hold, NULL, 0, PDK_FOREVER); }
static pdk_status lead(void) { return pdk_election_wait(office, PDK_FOREVER, &deeds.hold); }

static pdk_status read_guarded(void) {
    char room[16];
    size_t size;
    return pdk_guarded_read(guarded, room, sizeof room, &size, PDK_FOREVER);
}

static void join_in(void *rival, void *unused) {
    (void)unused;
    ck_assert_int_eq(pdk_election_new(((struct rival *)rival)->session, "/office", NULL, &office), PDK_OK);
    ck_assert_int_eq(pdk_election_join(office, NULL), PDK_OK);
}

static void leave_in(void *rival, void *unused) {
    (void)rival;
    (void)unused;
    pdk_guarded_close(g_steal_pointer(&guarded));
    pdk_election_unref(g_steal_pointer(&office));
}

static const struct work {
    const char *name;
    pdk_status (*before[3])(void); /* each has to succeed */
    pdk_status (*act)(void);
} works[] = {{"open", {take}, open_guarded},
             {"read", {take, open_guarded, create_guarded}, read_guarded},
             {"publish", {lead}, publish}};

/* false: it was over before. */
static bool ends_after(const struct work *work, int64_t after) {
    deeds_begin();
    group_call(group_one, join_in, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(work->before) && work->before[i]; i++)
        ck_assert_int_eq(deed(work->before[i]), PDK_OK);
    deed_start(work->act);
    platform_pass(after);
    bool meanwhile = !deeds.over;
    if (meanwhile)
        deed_hold_up(LONG);
    deed_await();
    ck_assert_msg(deeds.status == PDK_OK || deeds.status == PDK_LOST, "%s: %s", work->name,
                  pdk_status_name(deeds.status));
    ck_assert_msg(deeds.status == PDK_LOST || !meanwhile, "%s, held up after %d us: the hold had ended", work->name,
                  (int)(after / 1000));
    group_call(group_one, leave_in, NULL);
    deeds_end();
    return meanwhile;
}

START_TEST(what_is_done_under_a_hold_ends_with_it) {
    int64_t after = STEP;
    while (ends_after(&works[_i], after))
        after += STEP;
    ck_assert_int_gt(after, 4 * STEP);
}
END_TEST

/* ---- before a callback is told */

static bool is_due(void) { return !pdk__outbox_is_empty(&group_one->rival->session->outbox); }

static uint64_t granted(void) { return group_one->rival->session->stats.counts.claims_granted; }

static void step_until_granted(void) {
    for (uint64_t before = granted(); granted() == before; group_step())
        ;
}

static void resign_in(void *rival, void *status) {
    (void)rival;
    *(pdk_status *)status = pdk_election_resign(one->election);
}

/* Nobody hears of a term that is over by then, nor of its end. The next one is told. */
START_TEST(a_term_that_is_over_is_not_told) {
    driver_begin();
    driver_join(&driver_users[0]);
    step_until_granted();
    ck_assert_uint_eq(one->elected, 0);
    deed_hold_up(LONG);
    uint64_t before = granted();
    while (granted() == before && one->deposed == 0 && one->elected == 0)
        group_step();
    ck_assert_uint_eq(one->elected, 0);
    ck_assert_uint_eq(one->deposed, 0);
    platform_pass(4 * SECOND);
    ck_assert_uint_eq(one->elected, 1);
    ck_assert_uint_eq(one->deposed, 0);
}
END_TEST

START_TEST(a_term_is_not_resigned_before_it_is_told) {
    pdk_status status = PDK_OK;
    driver_begin();
    driver_join(&driver_users[0]);
    step_until_granted();
    group_call(group_one, resign_in, &status);
    ck_assert_str_eq(pdk_status_name(status), "PDK_NOT_HELD");
    platform_pass(SECOND);
    ck_assert_uint_eq(one->elected, 1);
    group_call(group_one, resign_in, &status);
    ck_assert_int_eq(status, PDK_OK);
}
END_TEST

static int told;

static void on_leader(const char *identity, int64_t token, void *unused) {
    (void)identity;
    (void)token;
    (void)unused;
    told++;
}

static void observe_in(void *rival, void *observer) {
    (void)rival;
    ck_assert_int_eq(pdk_election_observe(one->election, on_leader, NULL, NULL, observer), PDK_OK);
}

static void close_observer_in(void *rival, void *observer) {
    (void)rival;
    pdk_observer_close(observer);
}

START_TEST(an_observer_that_is_closed_is_not_told) {
    pdk_observer *observer = NULL;
    driver_begin();
    told = 0;
    group_call(group_one, observe_in, &observer);
    while (!is_due())
        group_step();
    group_call(group_one, close_observer_in, observer);
    platform_pass(SECOND);
    ck_assert_int_eq(told, 0);
}
END_TEST

static int64_t until;

static void on_asked(pdk_hold *hold, const char *who, int64_t until_ms, void *unused) {
    (void)hold;
    (void)who;
    (void)unused;
    until = until_ms;
    told++;
}

static void listen_in(void *rival, void *unused) {
    (void)rival;
    (void)unused;
    ck_assert_int_eq(pdk_hold_on_request(deeds.hold, on_asked, NULL, NULL), PDK_OK);
}

static void on_answered(pdk_status status, void *unused) {
    (void)unused;
    ck_assert_int_eq(status, PDK_OK);
}

static void ask_in(void *rival, void *unused) {
    (void)unused;
    ck_assert_int_eq(pdk_session_request_release_async(((struct rival *)rival)->session, "/one", NULL, "two", 1000,
                                                       5000, on_answered, NULL),
                     PDK_OK);
}

static void lose_in(void *rival, void *unused) {
    (void)rival;
    (void)unused;
    pdk_hold_release(pdk_hold_ref(deeds.hold));
}

START_TEST(a_hold_that_has_ended_hears_no_wish) {
    deeds_begin();
    told = 0;
    ck_assert_int_eq(deed(take), PDK_OK);
    group_call(group_one, listen_in, NULL);
    platform_pass(SECOND);
    group_call(group_two, ask_in, NULL);
    while (!is_due())
        group_step();
    group_call(group_one, lose_in, NULL);
    platform_pass(SECOND);
    ck_assert_int_eq(told, 0);
    deeds_end();
}
END_TEST

/* It counts from when it was written, however late that is read. */
START_TEST(a_wish_has_its_moment_from_its_writing) {
    deeds_begin();
    told = 0;
    ck_assert_int_eq(deed(take), PDK_OK);
    group_call(group_one, listen_in, NULL);
    platform_pass(SECOND);
    deed_hold_answers_back();
    group_call(group_two, ask_in, NULL);
    platform_pass(250 * SIM_MS);
    deed_let_answers_come();
    platform_pass(SECOND);
    ck_assert_int_eq(told, 1);
    size_t count = 0;
    const char *const *names = sim_tree_children(sim_truth(platform_ensemble), "/app/one", &count);
    ck_assert_uint_eq(count, 1);
    g_autofree char *path = g_strconcat("/app/one/", names[0], NULL);
    ck_assert_int_eq(until, sim_tree_find(sim_truth(platform_ensemble), path)->stat.mtime_ms + 1000);
    deeds_end();
}
END_TEST

/* ---- a grant that has lapsed, in a session that ends */

static void on_hold(pdk_status status, pdk_hold *hold, void *unused) {
    (void)unused;
    ck_assert_ptr_null(hold);
    deeds.status = status;
    deeds.over = true;
}

static void ask_lock_in(void *rival, void *unused) {
    (void)rival;
    (void)unused;
    ck_assert_int_eq(pdk_lock_acquire_async(deeds.lock, PDK_FOREVER, on_hold, NULL, NULL), PDK_OK);
}

static void end_in(void *rival, void *unused) {
    pdk_session *s = ((struct rival *)rival)->session;
    (void)unused;
    pdk__lock(s);
    pdk__session_end(s, PDK_AUTH, "as a test wants it");
    pdk__chores_run_and_unlock(s);
}

START_TEST(a_grant_that_lapsed_is_answered_when_its_session_ends) {
    deeds_begin();
    group_call(group_one, ask_lock_in, NULL);
    step_until_granted();
    deed_hold_up(LONG);
    group_call(group_one, end_in, NULL);
    deed_await();
    ck_assert_str_eq(pdk_status_name(deeds.status), "PDK_AUTH");
    deeds_end();
}
END_TEST

/* ---- a downgrade */

static pdk_rwlock *rwlock;
static pdk_hold *second_hold;

static pdk_status write_lock(void) { return pdk_rwlock_acquire_write(rwlock, PDK_FOREVER, &deeds.hold); }

static void make_rwlock_in(void *rival, void *unused) {
    (void)unused;
    ck_assert_int_eq(pdk_rwlock_new(((struct rival *)rival)->session, "/rw", NULL, &rwlock), PDK_OK);
}

static void on_second(pdk_status status, pdk_hold *hold, void *unused) {
    (void)unused;
    ck_assert_int_eq(status, PDK_OK);
    second_hold = hold;
}

static void write_again_in(void *rival, void *unused) {
    (void)rival;
    (void)unused;
    ck_assert_int_eq(pdk_rwlock_acquire_write_async(rwlock, PDK_FOREVER, on_second, NULL, NULL), PDK_OK);
}

static void downgrade_in(void *rival, void *unused) {
    (void)rival;
    (void)unused;
    ck_assert_int_eq(pdk_hold_downgrade(deeds.hold), PDK_OK);
}

static void drop_rwlock_in(void *rival, void *unused) {
    (void)rival;
    (void)unused;
    pdk_hold_unref(g_steal_pointer(&second_hold));
    pdk_rwlock_unref(g_steal_pointer(&rwlock));
}

static void rwlock_begin(void) {
    deeds_begin();
    group_call(group_one, make_rwlock_in, NULL);
    ck_assert_int_eq(deed(write_lock), PDK_OK);
}

static void rwlock_end(void) {
    group_call(group_one, drop_rwlock_in, NULL);
    deeds_end();
}

/* Others have read beside it since: the next writer of this object has a node, and a token, of its own. */
START_TEST(a_reader_that_was_a_writer_hands_nothing_over) {
    rwlock_begin();
    int64_t token = pdk_hold_token(deeds.hold);
    group_call(group_one, downgrade_in, NULL);
    group_call(group_one, write_again_in, NULL);
    if (_i)
        platform_pass(SECOND);
    group_call(group_one, lose_in, NULL);
    platform_pass(SECOND);
    ck_assert_ptr_nonnull(second_hold);
    ck_assert_int_gt(pdk_hold_token(second_hold), token);
    rwlock_end();
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_between");
    TCase *cases = tcase_create("driver_between");
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_loop_test(cases, a_lease_that_is_over_writes_no_record, 0, G_N_ELEMENTS(keepers));
    tcase_add_loop_test(cases, a_lock_node_that_is_gone_writes_no_record, 0, G_N_ELEMENTS(keepers));
    tcase_add_loop_test(cases, what_is_done_under_a_hold_ends_with_it, 0, G_N_ELEMENTS(works));
    tcase_add_test(cases, a_term_that_is_over_is_not_told);
    tcase_add_test(cases, a_term_is_not_resigned_before_it_is_told);
    tcase_add_test(cases, an_observer_that_is_closed_is_not_told);
    tcase_add_test(cases, a_hold_that_has_ended_hears_no_wish);
    tcase_add_test(cases, a_wish_has_its_moment_from_its_writing);
    tcase_add_test(cases, a_grant_that_lapsed_is_answered_when_its_session_ends);
    tcase_add_loop_test(cases, a_reader_that_was_a_writer_hands_nothing_over, 0, 2);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
