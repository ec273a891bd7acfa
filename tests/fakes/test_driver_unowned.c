/* Who asks after the owner of a node that is in the way, and gets no answer, or a refusal: a try for a lock, a claim for permits. And
 * what is remembered of nodes that no session owns. */
#include "group_bench.h"
#include "session/ops.h"
#include "session/session.h"
#include "session/unowned.h"
#include "session/watches.h"

#include <string.h>

enum { NEVER = 0, QUOTA = -125 };

static const char lock_node[] = "/app/locks/lock/plain-lock-0000000000",
                  lease_node[] = "/app/locks/permits/leases/plain-lease-0000000000";

static struct {
    pdk_status status;
    pdk_hold *hold;
    int32_t answers, granted;
} tried;

static void on_answer(pdk_status status, pdk_hold *hold, void *user) {
    (void)user;
    tried.answers++;
    tried.granted += status == PDK_OK;
    tried.status = status;
    tried.hold = hold;
}

/* ---- in the process of the first */

static void try_in(void *subject, void *what) {
    (void)what;
    ck_assert_int_eq(pdk_lock_acquire_async(((struct driver_user *)subject)->lock, 0, on_answer, NULL, NULL), PDK_OK);
}

static void want_all_permits_in(void *subject, void *timeout_ms) {
    struct driver_user *u = subject;
    ck_assert_int_eq(pdk_semaphore_acquire_async(u->semaphore, 2, *(const int64_t *)timeout_ms, on_answer, NULL, NULL),
                     PDK_OK);
}

static void release_in(void *subject, void *what) {
    (void)subject;
    (void)what;
    ck_assert_int_eq(pdk_hold_release(g_steal_pointer(&tried.hold)), PDK_OK);
}

static void in_first(sim_event_fn fn, void *what) { sim_call_in(&group_one->rival->process, fn, group_one, what); }

/* ---- the node in the way */

static void done(pdk_session *s, void *user, const struct pdk__reply *reply) {
    (void)s;
    (void)user;
    ck_assert(!reply || reply->result == PDK__OK);
}

static void create_in(void *subject, void *path) {
    pdk_session *s = ((struct driver_user *)subject)->rival->session;
    pdk__lock(s);
    ck_assert(pdk__send(s, (struct pdk__request){.kind = PDK__OP_CREATE, .path = path, .data = "", .named = true}, done,
                        NULL));
    pdk__unlock(s);
}

/* Nobody's, or the second session's. Its directory stands while the second one holds. */
static void make(const char *path, bool somebodys) {
    if (somebodys)
        sim_call_in(&group_two->rival->process, create_in, group_two, (void *)path);
    else
        group_admin(SIM_OP_CREATE, path);
    platform_pass(SECOND / 10);
}

static void begin(const char *path, bool somebodys) {
    driver_begin();
    memset(&tried, 0, sizeof tried);
    if (path == lock_node)
        driver_want_lock(group_two);
    else
        driver_want_permits(group_two, 2, PDK_FOREVER);
    platform_pass(SECOND);
    make(path, somebodys);
    driver_release_all(group_two);
    platform_pass(SECOND / 2);
    group_arm(PDK__OP_WATCH, path);
}

/* ---- what goes wrong with the question */

static const struct fault {
    int32_t code; /* NEVER: it is answered */
    bool refused; /* it is not sent */
    bool full;    /* the session has no room for its watch */
    bool reopens; /* the handle goes before the answer comes */
    pdk_status nobodys;
} faults[] = {
    {NEVER, false, false, false, PDK_OK},         {NEVER, true, false, false, PDK_BUSY}, /* it may be somebody's */
    {NEVER, false, true, false, PDK_BUSY},        {GROUP_LOST, false, false, false, PDK_OK},
    {GROUP_NOT_NOW, false, false, false, PDK_OK}, {GROUP_NO_NODE, false, false, false, PDK_OK},
    {QUOTA, false, false, false, PDK_OK},         {GROUP_NOT_ALLOWED, false, false, false, PDK_BUSY},
    {NEVER, false, false, true, PDK_OK},
};

static void fill_in(void *subject, void *what) {
    pdk_session *s = ((struct driver_user *)subject)->rival->session;
    pdk__lock(s);
    s->watched_bytes += *(const size_t *)what;
    pdk__unlock(s);
}

static void fill(size_t bytes) { in_first(fill_in, &bytes); }

/* One call, with the fault. true: its question was sent. */
static void ask(const struct fault *fault, sim_event_fn fn, void *what) {
    group_fault.code = fault->code;
    group_fault.refuse = fault->refused;
    if (fault->full)
        fill(PDK__WATCHED_BYTES_MAX);
    in_first(fn, what);
    if (fault->reopens) {
        group_step_until_seen();
        group_call(group_one, group_reopen_in, NULL);
    }
    platform_pass(fault->reopens ? 2 * TIMEOUT : SECOND);
    if (fault->full)
        fill((size_t)-PDK__WATCHED_BYTES_MAX);
    ck_assert(fault->full ? group_fault.seen == 0 : group_fault.seen > 0);
}

static void check_answer(pdk_status expected) {
    ck_assert_int_eq(tried.answers, 1);
    ck_assert_str_eq(pdk_status_name(tried.status), pdk_status_name(expected));
    if (tried.hold)
        in_first(release_in, NULL);
    platform_pass(SECOND);
    ck_assert_uint_eq(driver_nodes(), 1);
}

START_TEST(a_try_behind_nobodys_node) {
    begin(lock_node, false);
    ask(&faults[_i], try_in, NULL);
    check_answer(faults[_i].nobodys);
}
END_TEST

/* Whatever happens to the question, it is not taken for nobody's. */
START_TEST(a_try_behind_somebody) {
    begin(lock_node, true);
    ask(&faults[_i], try_in, NULL);
    check_answer(PDK_BUSY);
}
END_TEST

/* Meanwhile somebody else in the process wants to wait: its node goes behind the other one. */
START_TEST(a_claim_that_waits_joins_a_try) {
    begin(lock_node, true);
    in_first(try_in, NULL);
    group_step_until_seen();
    driver_want_lock(group_one);
    platform_pass(SECOND);
    ck_assert_str_eq(pdk_status_name(tried.status), "PDK_BUSY");
    ck_assert_uint_eq(group_one->answered, 0);
    ck_assert_uint_eq(driver_nodes(), 2);
    group_admin(SIM_OP_DELETE, lock_node);
    platform_pass(SECOND);
    ck_assert_uint_eq(group_one->granted, 1);
}
END_TEST

START_TEST(a_try_that_is_cancelled_as_it_asks) {
    begin(lock_node, false);
    in_first(try_in, NULL);
    group_step_until_seen();
    driver_drop_lock(group_one);
    platform_pass(SECOND);
    check_answer(PDK_CANCELED);
    ck_assert_uint_eq(group_one->rival->session->entries.length, 0);
}
END_TEST

/* ---- permits: of the two, nobody's lease takes one */

START_TEST(a_try_behind_nobodys_lease) {
    int64_t timeout_ms = 0;
    begin(lease_node, false);
    ask(&faults[_i], want_all_permits_in, &timeout_ms);
    check_answer(faults[_i].nobodys);
}
END_TEST

START_TEST(a_try_behind_somebodys_lease) {
    int64_t timeout_ms = 0;
    begin(lease_node, true);
    ask(&faults[_i], want_all_permits_in, &timeout_ms);
    check_answer(PDK_BUSY);
}
END_TEST

static void check_that_it_waits(void) {
    ck_assert_int_eq(tried.answers, 0);
    group_admin(SIM_OP_DELETE, lease_node);
    platform_pass(SECOND);
    ck_assert_int_eq(tried.granted, 1);
    in_first(release_in, NULL);
    platform_pass(SECOND);
    ck_assert_uint_eq(driver_nodes(), 0);
}

/* What could not be asked is asked at the next look, once per session timeout. */
START_TEST(who_waits_for_permits_asks_again) {
    int64_t timeout_ms = PDK_FOREVER;
    begin(lease_node, false);
    ask(&faults[_i], want_all_permits_in, &timeout_ms);
    if (faults[_i].code == GROUP_NOT_ALLOWED) {
        check_that_it_waits();
        return;
    }
    platform_pass(2 * TIMEOUT);
    check_answer(faults[_i].full ? PDK_LIMIT : PDK_OK);
}
END_TEST

/* It has the answer, and counts again whenever the leases change. */
START_TEST(who_waits_for_permits_behind_somebody) {
    static const char stranger[] = "/app/locks/permits/leases/stranger";
    int64_t timeout_ms = PDK_FOREVER;
    begin(lease_node, true);
    ask(&faults[0], want_all_permits_in, &timeout_ms);
    make(stranger, false);
    group_admin(SIM_OP_DELETE, stranger);
    platform_pass(SECOND / 2);
    ck_assert_uint_eq(group_fault.seen, 1);
    check_that_it_waits();
}
END_TEST

/* ---- what is remembered */

struct asked {
    bool sent, again; /* the second question: whether it is sent as well */
    int answers, empty, unowned;
    bool is; /* it is left out of lists */
};

static void on_asked(pdk_session *s, void *user, const struct pdk__reply *reply, bool unowned) {
    struct asked *asked = user;
    (void)s;
    asked->answers++;
    asked->empty += !reply;
    asked->unowned += unowned;
}

static void ask_twice_in(void *subject, void *what) {
    struct asked *asked = what;
    pdk_session *s = ((struct driver_user *)subject)->rival->session;
    pdk__lock(s);
    asked->sent = pdk__unowned_ask(s, "/app/locks/lock", "plain-lock-0000000000", on_asked, asked);
    asked->again = pdk__unowned_ask(s, "/app/locks/lock", "plain-lock-0000000000", on_asked, asked);
    pdk__unlock(s);
}

static void is_in(void *subject, void *what) {
    pdk_session *s = ((struct driver_user *)subject)->rival->session;
    pdk__lock(s);
    ((struct asked *)what)->is = pdk__unowned_is(s, "/app/locks/lock", "plain-lock-0000000000");
    pdk__unlock(s);
}

static bool is_unowned(struct asked *asked) {
    in_first(is_in, asked);
    return asked->is;
}

/* Two ask at once. Both hear it, and it is nobody's until its watch fires. */
START_TEST(nobodys_node_is_remembered_until_it_goes) {
    struct asked asked = {0};
    begin(lock_node, false);
    in_first(ask_twice_in, &asked);
    ck_assert(asked.sent && asked.again);
    platform_pass(SECOND / 2);
    ck_assert_int_eq(asked.unowned, 2);
    ck_assert(is_unowned(&asked));
    group_admin(SIM_OP_DELETE, lock_node);
    platform_pass(SECOND / 2);
    ck_assert(!is_unowned(&asked));
}
END_TEST

static void ask_in(void *subject, void *what) {
    struct asked *asked = what;
    pdk_session *s = ((struct driver_user *)subject)->rival->session;
    pdk__lock(s);
    asked->sent = pdk__unowned_ask(s, "/app/locks/lock", "plain-lock-0000000000", on_asked, asked);
    pdk__unlock(s);
}

/* The first answer has set the watch. What the second question comes to does not take it away. */
START_TEST(a_second_question_that_fails_forgets_nothing) {
    struct asked asked = {0};
    begin(lock_node, false);
    in_first(ask_in, &asked);
    platform_pass(SECOND / 2);
    ck_assert_int_eq(asked.unowned, 1);
    group_arm(PDK__OP_WATCH, lock_node);
    group_fault.refuse = _i == 0;
    group_fault.code = _i == 0 ? 0 : GROUP_NOT_ALLOWED;
    in_first(ask_in, &asked);
    platform_pass(SECOND / 2);
    ck_assert_int_eq(asked.sent, _i != 0);
    ck_assert_int_eq(asked.unowned, 1);
    ck_assert(is_unowned(&asked));
    group_admin(SIM_OP_DELETE, lock_node);
    platform_pass(SECOND / 2);
    ck_assert(!is_unowned(&asked));
}
END_TEST

/* Its event may be lost with the connection. */
START_TEST(nobodys_node_is_forgotten_with_the_connection) {
    struct asked asked = {0};
    begin(lock_node, false);
    in_first(ask_twice_in, &asked);
    platform_pass(SECOND / 2);
    ck_assert(is_unowned(&asked));
    platform_block(group_one->rival, true);
    platform_pass(TIMEOUT);
    ck_assert(!is_unowned(&asked));
    group_admin(SIM_OP_DELETE, lock_node);
    make(lock_node, true);
    platform_block(group_one->rival, false);
    platform_pass(4 * TIMEOUT);
    in_first(try_in, NULL);
    platform_pass(SECOND);
    ck_assert_str_eq(pdk_status_name(tried.status), "PDK_BUSY");
}
END_TEST

struct noted {
    bool before, after;
};

static void note_in(void *subject, void *what) {
    struct noted *noted = what;
    pdk_session *s = ((struct driver_user *)subject)->rival->session;
    pdk__lock(s);
    size_t bytes = s->watched_bytes;
    s->watched_bytes = PDK__WATCHED_BYTES_MAX;
    noted->before = pdk__unowned_note(s, lock_node);
    s->watched_bytes = bytes;
    noted->after = pdk__unowned_note(s, lock_node) && pdk__unowned_note(s, lock_node);
    pdk__unlock(s);
}

START_TEST(what_cannot_be_watched_is_not_remembered) {
    struct asked asked = {0};
    struct noted noted;
    begin(lock_node, false);
    in_first(note_in, &noted);
    ck_assert(!noted.before);
    ck_assert(noted.after);
    ck_assert(is_unowned(&asked));
}
END_TEST

static void refuse_the_next(void) { group_fault.refuse = 1; }

/* Two ask at once. The second question is not sent, and takes back the watch. Then there is no room for one. */
START_TEST(an_answer_whose_watch_was_taken_back) {
    struct asked asked = {0};
    begin(lock_node, false);
    group_fault.act = refuse_the_next;
    in_first(ask_twice_in, &asked);
    ck_assert(asked.sent && !asked.again);
    fill(PDK__WATCHED_BYTES_MAX);
    platform_pass(SECOND / 2);
    ck_assert_int_eq(asked.answers, 1);
    ck_assert_int_eq(asked.unowned, 0);
    ck_assert(!is_unowned(&asked));
    fill((size_t)-PDK__WATCHED_BYTES_MAX);
}
END_TEST

static void fire_in(void *subject, void *path) {
    pdk_session *s = ((struct driver_user *)subject)->rival->session;
    pdk__lock(s);
    pdk__watches_fired(s, path, PDK__ZK_CHANGED);
    s->watched_bytes += PDK__WATCHED_BYTES_MAX;
    pdk__unlock(s);
}

/* Under the monitor: a request is sent. */
static void make_room(void) { group_one->rival->session->watched_bytes -= PDK__WATCHED_BYTES_MAX; }

static void is_noted_in(void *subject, void *what) {
    pdk_session *s = ((struct driver_user *)subject)->rival->session;
    g_autofree char *dir = g_path_get_dirname(*(char **)what);
    pdk__lock(s);
    if (!pdk__unowned_is(s, dir, *(char **)what + strlen(dir) + 1))
        *(char **)what = NULL;
    pdk__unlock(s);
}

/* The answer to who sets a watch says that the node is nobody's. Meanwhile another watch of the session on it has fired, and others have
 * taken all the room. It lists again, as the watch was for it as well. By then there is room. */
static void lose_room_for(const char *path) {
    const char *noted = path;
    group_step_until_seen();
    in_first(fire_in, (void *)path);
    group_arm(PDK__OP_LIST, "/app/locks/");
    group_fault.act = make_room;
    group_step_until_seen();
    in_first(is_noted_in, (void *)&noted);
    ck_assert_ptr_null(noted);
}

START_TEST(a_waiters_watch_fires_as_it_is_set) {
    begin(lock_node, false);
    driver_want_lock(group_one);
    lose_room_for(lock_node);
    platform_pass(2 * TIMEOUT);
    ck_assert_uint_eq(group_one->granted, 1);
}
END_TEST

START_TEST(an_observers_watch_fires_as_it_is_set) {
    static const char latch_node[] = "/app/locks/office/A-latch-0000000000"; /* ahead */
    driver_begin();
    driver_join(group_two);
    platform_pass(SECOND);
    make(latch_node, false);
    group_arm(PDK__OP_WATCH, latch_node);
    driver_join(group_one);
    lose_room_for(latch_node);
    platform_pass(2 * TIMEOUT);
    ck_assert_str_eq(group_one->leader, "second");
}
END_TEST

/* ---- who is there, asked as the handle goes */

static struct {
    int answers;
    pdk_status status;
    size_t count;
} listed;

static void on_list(pdk_status status, pdk_contenders *list, void *user) {
    (void)user;
    listed.answers++;
    listed.status = status;
    listed.count = list ? pdk_contenders_count(list) : 0;
    pdk_contenders_free(list);
}

static void list_in(void *subject, void *holder) {
    pdk_lock *lock = ((struct driver_user *)subject)->lock;
    ck_assert_int_eq(holder ? pdk_lock_holder_async(lock, 20000, on_list, NULL)
                            : pdk_lock_list_async(lock, 20000, on_list, NULL),
                     PDK_OK);
}

START_TEST(contenders_are_asked_for_again) {
    bool holder = true;
    driver_begin();
    memset(&listed, 0, sizeof listed);
    driver_want_lock(group_two);
    platform_pass(SECOND);
    group_arm(PDK__OP_GET, "/app/locks/lock/");
    in_first(list_in, _i ? &holder : NULL);
    group_step_until_seen();
    group_call(group_one, group_reopen_in, NULL);
    platform_pass(2 * TIMEOUT);
    ck_assert_int_eq(listed.answers, 1);
    ck_assert_str_eq(pdk_status_name(listed.status), "PDK_OK");
    ck_assert_uint_eq(listed.count, 1);
}
END_TEST

/* Servers before 3.5.0 know no containers, later ones show the owner of one as 0, or as it is kept. */
START_TEST(who_owns_a_node) {
    ck_assert(pdk__is_unowned(&(struct pdk__reply){.result = PDK__OK, .owner = 0}));
    ck_assert(pdk__is_unowned(&(struct pdk__reply){.result = PDK__OK, .owner = INT64_MIN}));
    ck_assert(!pdk__is_unowned(&(struct pdk__reply){.result = PDK__OK, .owner = 1}));
    ck_assert(!pdk__is_unowned(&(struct pdk__reply){.result = PDK__NO_NODE, .owner = 0}));
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_unowned");
    TCase *cases = tcase_create("driver_unowned");
    tcase_add_checked_fixture(cases, platform_setup, driver_teardown);
    tcase_add_loop_test(cases, a_try_behind_nobodys_node, 0, G_N_ELEMENTS(faults));
    tcase_add_loop_test(cases, a_try_behind_somebody, 0, G_N_ELEMENTS(faults));
    tcase_add_test(cases, a_claim_that_waits_joins_a_try);
    tcase_add_test(cases, a_try_that_is_cancelled_as_it_asks);
    tcase_add_loop_test(cases, a_try_behind_nobodys_lease, 0, G_N_ELEMENTS(faults));
    tcase_add_loop_test(cases, a_try_behind_somebodys_lease, 0, G_N_ELEMENTS(faults));
    tcase_add_loop_test(cases, who_waits_for_permits_asks_again, 0, G_N_ELEMENTS(faults));
    tcase_add_test(cases, who_waits_for_permits_behind_somebody);
    tcase_add_test(cases, nobodys_node_is_remembered_until_it_goes);
    tcase_add_loop_test(cases, a_second_question_that_fails_forgets_nothing, 0, 2);
    tcase_add_test(cases, nobodys_node_is_forgotten_with_the_connection);
    tcase_add_test(cases, what_cannot_be_watched_is_not_remembered);
    tcase_add_test(cases, an_answer_whose_watch_was_taken_back);
    tcase_add_test(cases, a_waiters_watch_fires_as_it_is_set);
    tcase_add_test(cases, an_observers_watch_fires_as_it_is_set);
    tcase_add_test(cases, who_owns_a_node);
    tcase_add_loop_test(cases, contenders_are_asked_for_again, 0, 2);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
