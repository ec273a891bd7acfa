/* A loss or an end that falls between a grant and what it starts: nothing is started, written or told then. */
#include "driver_bench.h"
#include "session/session.h"

#include <paddock/guarded.h>
#include <paddock/leader.h>
#include <paddock/revoke.h>
#include <string.h>

/* Longer than a lease, and less long than a session. */
#define LONG (1700 * SIM_MS)
#define STEP (SIM_MS / 4)

static void hold_up(void) { driver_hold_up(LONG); }

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

static void delete_lock_node(void) { platform_admin(SIM_OP_DELETE, platform_child(keeper->lock, 0)); }

/* Whoever comes next would believe a record that was written then. */
static void writes_no_record(void (*happens)(void)) {
    deeds_begin();
    make_record();
    driver_arm(PDK__OP_GET, "/record");
    deed_start(keeper->acquire);
    driver_step_until_seen();
    driver_arm(PDK__OP_SET, "/record");
    happens();
    deed_await();
    ck_assert_str_eq(pdk_status_name(deeds.status), "PDK_LOST");
    ck_assert_uint_eq(fault.seen, 0);
    deeds_end();
}

START_TEST(a_hold_that_has_ended_writes_no_record) {
    keeper = &keepers[_i];
    writes_no_record(hold_up);
    writes_no_record(delete_lock_node);
}
END_TEST

/* ---- what stands on a hold that ends meanwhile */

static pdk_guarded *guarded;

static pdk_status open_guarded(void) { return pdk_guarded_open(deeds.hold, "/guarded", PDK_FOREVER, &guarded); }
static pdk_status create_guarded(void) { return pdk_guarded_create(guarded, "text", 4, PDK_FOREVER); }
static pdk_status publish(void) { return pdk_election_publish(one->election, deeds.hold, NULL, 0, PDK_FOREVER); }
static pdk_status lead(void) { return pdk_election_wait(one->election, PDK_FOREVER, &deeds.hold); }

static pdk_status read_guarded(void) {
    char room[16];
    size_t size;
    return pdk_guarded_read(guarded, room, sizeof room, &size, PDK_FOREVER);
}

static const struct work {
    const char *name;
    pdk_status (*before[3])(void); /* each has to succeed */
    pdk_status (*act)(void);
} works[] = {{"open", {deed_lock}, open_guarded},
             {"read", {deed_lock, open_guarded, create_guarded}, read_guarded},
             {"publish", {lead}, publish}};

/* false: it was over before. */
static bool ends_after(const struct work *work, int64_t after) {
    deeds_begin();
    driver_join(one);
    for (size_t i = 0; i < G_N_ELEMENTS(work->before) && work->before[i]; i++)
        ck_assert_int_eq(deed(work->before[i]), PDK_OK);
    deed_start(work->act);
    platform_pass(after);
    bool meanwhile = !deeds.over;
    if (meanwhile)
        hold_up();
    deed_await();
    ck_assert_msg(deeds.status == PDK_LOST || (deeds.status == PDK_OK && !meanwhile),
                  "%s, held up after %d us: %s, though the hold had ended", work->name, (int)(after / 1000),
                  pdk_status_name(deeds.status));
    pdk_guarded_close(g_steal_pointer(&guarded));
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

static void step_until_due(void) {
    while (pdk__outbox_is_empty(&first->session->outbox))
        platform_step();
}

static uint64_t granted(void) { return first->session->stats.counts.claims_granted; }

static void step_until_granted(void) {
    for (uint64_t before = granted(); granted() == before; platform_step())
        ;
}

/* Nobody hears of a term that is over by then, nor of its end. The next one is told. */
START_TEST(a_term_that_is_over_is_not_told) {
    driver_begin();
    driver_join(one);
    step_until_granted();
    ck_assert_uint_eq(one->elected, 0);
    hold_up();
    uint64_t before = granted();
    while (granted() == before && one->deposed == 0 && one->elected == 0)
        platform_step();
    ck_assert_uint_eq(one->elected + one->deposed, 0);
    platform_pass(4 * SECOND);
    ck_assert_uint_eq(one->elected, 1);
    ck_assert_uint_eq(one->deposed, 0);
}
END_TEST

START_TEST(a_term_is_not_resigned_before_it_is_told) {
    driver_begin();
    driver_join(one);
    step_until_granted();
    ck_assert_str_eq(pdk_status_name(pdk_election_resign(one->election)), "PDK_NOT_HELD");
    platform_pass(SECOND);
    ck_assert_uint_eq(one->elected, 1);
    ck_assert_int_eq(pdk_election_resign(one->election), PDK_OK);
}
END_TEST

static int told;
static int64_t until;

static void on_leader(const char *identity, int64_t token, void *unused) {
    (void)identity;
    (void)token;
    (void)unused;
    told++;
}

START_TEST(an_observer_that_is_closed_is_not_told) {
    pdk_observer *observer = NULL;
    driver_begin();
    told = 0;
    ck_assert_int_eq(pdk_election_observe(one->election, on_leader, NULL, NULL, &observer), PDK_OK);
    step_until_due();
    pdk_observer_close(observer);
    platform_pass(SECOND);
    ck_assert_int_eq(told, 0);
}
END_TEST

static void on_asked(pdk_hold *hold, const char *who, int64_t until_ms, void *unused) {
    (void)hold;
    (void)who;
    (void)unused;
    until = until_ms;
    told++;
}

static void on_answered(pdk_status status, void *unused) {
    (void)unused;
    ck_assert_int_eq(status, PDK_OK);
}

/* _i: the wish is read late. It has its moment from its writing. Else the hold ends before it is told, and it is not. */
START_TEST(a_hold_hears_of_a_wish) {
    deeds_begin();
    told = 0;
    ck_assert_int_eq(deed(deed_lock), PDK_OK);
    ck_assert_int_eq(pdk_hold_on_request(deeds.hold, on_asked, NULL, NULL), PDK_OK);
    platform_pass(SECOND);
    if (_i)
        driver_hold_answers_back();
    ck_assert_int_eq(
        pdk_session_request_release_async(second->session, "/one", NULL, "two", 1000, 5000, on_answered, NULL), PDK_OK);
    if (_i) {
        platform_pass(250 * SIM_MS);
        driver_let_answers_come();
    } else {
        step_until_due();
        deed_give_back();
    }
    platform_pass(SECOND);
    ck_assert_int_eq(told, _i);
    if (_i)
        ck_assert_int_eq(until, platform_node(platform_child("/app/one", 0))->stat.mtime_ms + 1000);
    deeds_end();
}
END_TEST

/* ---- a grant that has lapsed, in a session that ends */

START_TEST(a_grant_that_lapsed_is_answered_when_its_session_ends) {
    struct answer answer = {0};
    deeds_begin();
    ck_assert_int_eq(pdk_lock_acquire_async(deeds.lock, PDK_FOREVER, answered, &answer, NULL), PDK_OK);
    step_until_granted();
    hold_up();
    deed_end_session();
    platform_pass(SECOND);
    ck_assert_uint_eq(answer.count, 1);
    ck_assert_str_eq(pdk_status_name(answer.status), "PDK_AUTH");
    deeds_end();
}
END_TEST

/* ---- a downgrade */

/* Others have read beside it since: the next writer of this object has a node, and a token, of its own. */
START_TEST(a_reader_that_was_a_writer_hands_nothing_over) {
    struct answer writer = {0}, next = {0};
    driver_begin();
    ck_assert_int_eq(pdk_rwlock_acquire_write_async(one->rwlock, PDK_FOREVER, answered, &writer, NULL), PDK_OK);
    while (!writer.hold) /* a hand-over has its time from the grant */
        platform_step();
    int64_t token = pdk_hold_token(writer.hold);
    ck_assert_int_eq(pdk_hold_downgrade(writer.hold), PDK_OK);
    ck_assert_int_eq(pdk_rwlock_acquire_write_async(one->rwlock, PDK_FOREVER, answered, &next, NULL), PDK_OK);
    if (_i)
        platform_pass(SECOND);
    answer_release(&writer);
    platform_pass(SECOND);
    ck_assert_ptr_nonnull(next.hold);
    ck_assert_int_gt(pdk_hold_token(next.hold), token);
    answer_release(&next);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("driver_between");
    TCase *cases = tcase_create("driver_between");
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_loop_test(cases, a_hold_that_has_ended_writes_no_record, 0, G_N_ELEMENTS(keepers));
    tcase_add_loop_test(cases, what_is_done_under_a_hold_ends_with_it, 0, G_N_ELEMENTS(works));
    tcase_add_test(cases, a_term_that_is_over_is_not_told);
    tcase_add_test(cases, a_term_is_not_resigned_before_it_is_told);
    tcase_add_test(cases, an_observer_that_is_closed_is_not_told);
    tcase_add_loop_test(cases, a_hold_hears_of_a_wish, 0, 2);
    tcase_add_test(cases, a_grant_that_lapsed_is_answered_when_its_session_ends);
    tcase_add_loop_test(cases, a_reader_that_was_a_writer_hands_nothing_over, 0, 2);
    suite_add_tcase(suite, cases);
    return ts_run_suite(suite);
}
