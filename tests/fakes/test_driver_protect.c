/* Access control lists whose questions cannot be sent, or whose answers are lost or refused. Every list of these servers lets
 * everybody do everything. */
#include "driver_bench.h"
#include "session/access.h"
#include "session/protect.h"
#include "session/session.h"
#include "sim_client.h"

#include <paddock/guarded.h>
#include <string.h>

enum { MANY = 10001 };

#define DIR "/app/dir"
#define OWN "/app/own"

/* What the session's own choice is: as the servers' lists, for the creator alone, or for a user whom they do not name. */
static const pdk_access_entry everybody = {PDK_PERMISSION_ALL, "world", "anyone"},
                              creator = {PDK_PERMISSION_ALL, "auth", ""},
                              nobody = {PDK_PERMISSION_ALL, "digest", "a:b"};

static pdk_session *s;
static int warnings;

static void count_warnings(pdk_log_level level, const char *text, void *user) {
    (void)user;
    warnings += level == PDK_LOG_WARN && strstr(text, "access control list") != NULL;
}

static void begin(const pdk_access_entry *choice) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = TIMEOUT_MS;
    options.server_tick_ms = TICK / SIM_MS;
    options.access = PDK_ACCESS_LIST;
    options.access_list = choice;
    options.access_count = 1;
    options.on_log = count_warnings;
    warnings = 0;
    platform_admin(SIM_OP_CREATE, "/app");
    platform_admin(SIM_OP_CREATE, DIR);
    platform_admin(SIM_OP_CREATE, OWN);
    first->session = s = platform_open(&options);
    platform_pass(SECOND);
}

static int64_t token_of(const char *path) { return platform_node(path)->stat.czxid; }

/* The next request of the session about that path is answered with the code. */
static void answer(const char *path, int32_t code) {
    sim_answer_about(platform_ensemble, sim_client_session(&first->process), path, code, false);
}

/* What it finds, and whether it asks. */
static void judge(const char *own, enum pdk__protection expected, bool asks) {
    pdk__lock(s);
    uint64_t before = s->requests;
    enum pdk__protection found = pdk__protect_judge(s, DIR, token_of(DIR), 0, own);
    uint64_t sent = s->requests - before;
    pdk__unlock(s);
    ck_assert_int_eq(found, expected);
    ck_assert_uint_eq(sent, asks);
}

static void judge_in_time(const char *own, enum pdk__protection expected, bool asks) {
    platform_pass(SECOND);
    judge(own, expected, asks);
}

START_TEST(one_question_at_a_time) {
    begin(&everybody);
    judge(NULL, PDK__PROTECTION_ASKED, true);
    judge(NULL, PDK__PROTECTION_ASKED, false);
    judge_in_time(NULL, PDK__PROTECTED, false);
    rival_reopen(first);
    judge_in_time(NULL, PDK__PROTECTION_ASKED, true);
}
END_TEST

START_TEST(what_cannot_be_asked_is_not_known) {
    begin(&everybody);
    platform_refuse(PDK__OP_ACL, 1);
    judge(NULL, PDK__PROTECTION_UNKNOWN, false);
    platform_block(first, true);
    platform_pass(TIMEOUT);
    judge(NULL, PDK__PROTECTION_UNKNOWN, false); /* without a connection */
    platform_block(first, false);
    platform_pass(2 * TIMEOUT);
    judge(NULL, PDK__PROTECTION_ASKED, true);
    judge_in_time(NULL, PDK__PROTECTED, false);
}
END_TEST

START_TEST(a_list_that_may_not_be_read_protects_nothing) {
    begin(&everybody);
    answer(DIR, _i ? QUOTA_CODE : NOT_ALLOWED_CODE);
    judge(NULL, PDK__PROTECTION_ASKED, true);
    judge_in_time(NULL, PDK__UNPROTECTED, false);
    pdk__lock(s);
    g_autofree char *words = pdk__protect_words(s, DIR);
    pdk__unlock(s);
    ck_assert_msg(strstr(words, DIR " cannot be read") && strstr(words, _i ? "QUOTA" : "NOAUTH"), "%s", words);
}
END_TEST

/* What the servers call the creator is read from a node of ours, once. It may be everybody. */
START_TEST(the_creators_name_is_asked_for) {
    static const struct {
        int32_t code;
        enum pdk__protection then;
        bool asks;
    } answers[] = {{0, PDK__PROTECTED, false},
                   {NOT_ALLOWED_CODE, PDK__UNPROTECTED, false},
                   {QUOTA_CODE, PDK__PROTECTION_ASKED, true},
                   {NO_NODE_CODE, PDK__PROTECTION_ASKED, true}};
    begin(&creator);
    judge(NULL, PDK__PROTECTION_ASKED, true);
    judge_in_time(NULL, PDK__UNPROTECTED, false); /* there is no certificate whose name were to be learnt */
    platform_refuse(PDK__OP_ACL, 1);
    judge(OWN, PDK__PROTECTION_UNKNOWN, false);
    if (answers[_i].code != 0)
        answer(OWN, answers[_i].code);
    judge(OWN, PDK__PROTECTION_ASKED, true);
    judge(OWN, PDK__PROTECTION_ASKED, false);
    judge_in_time(OWN, answers[_i].then, answers[_i].asks);
}
END_TEST

/* A later handle may have another name there. */
START_TEST(the_creators_name_is_a_handles) {
    begin(&creator);
    judge(NULL, PDK__PROTECTION_ASKED, true);
    judge_in_time(OWN, PDK__PROTECTION_ASKED, true);
    rival_reopen(first);
    judge_in_time(OWN, PDK__PROTECTION_ASKED, true);
    judge_in_time(OWN, PDK__PROTECTION_ASKED, true); /* the older handle's answer was not taken */
    judge_in_time(OWN, PDK__PROTECTED, false);
}
END_TEST

START_TEST(so_many_lists_are_remembered) {
    begin(&everybody);
    platform_refuse(PDK__OP_ACL, MANY);
    pdk__lock(s);
    for (int i = 0; i < MANY; i++) {
        g_autofree char *path = g_strdup_printf("/app/%d", i);
        ck_assert_int_eq(pdk__protect_judge(s, path, 1, 0, NULL), PDK__PROTECTION_UNKNOWN);
    }
    guint remembered = g_hash_table_size(s->protection.looks);
    pdk__unlock(s);
    ck_assert_uint_eq(remembered, 1);
}
END_TEST

static const char record[] = "/app/later/record";

static enum pdk__protection judge_record(enum pdk__result result) {
    const struct pdk__reply node = {.result = result, .token = 1};
    char *words = NULL;
    pdk__lock(s);
    enum pdk__protection found = pdk__protect_judge_record(s, record, &node, OWN, &words);
    pdk__unlock(s);
    ck_assert_ptr_null(words);
    return found;
}

/* Its parent was not there when its list was asked for, and is, now that the record is read. */
START_TEST(a_record_whose_parent_comes_is_looked_at_again) {
    begin(&everybody);
    pdk__lock(s);
    pdk__protect_look_at_record(s, record);
    pdk__unlock(s);
    platform_pass(SECOND);
    ck_assert_int_eq(judge_record(PDK__NO_NODE), PDK__PROTECTED);
    platform_admin(SIM_OP_CREATE, "/app/later");
    ck_assert_int_eq(judge_record(PDK__OK), PDK__PROTECTION_ASKED);
    platform_refuse(PDK__OP_ACL, 1);
    platform_pass(SECOND);
    ck_assert_int_eq(judge_record(PDK__OK), PDK__PROTECTION_UNKNOWN); /* of the record's own list */
}
END_TEST

START_TEST(who_only_looks_is_warned_once) {
    bool warned = false;
    begin(&nobody);
    for (int i = 0; i < 4; i++) {
        const struct pdk__reply reply = {.result = PDK__OK, .token = token_of(DIR)};
        pdk__lock(s);
        enum pdk__result result = pdk__protect_listed(s, DIR, &reply, &warned);
        pdk__unlock(s);
        ck_assert_int_eq(result, i == 0 ? PDK__NOT_NOW : PDK__NOT_ALLOWED);
        platform_pass(SECOND);
        ck_assert_int_eq(warnings, i > 0);
    }
}
END_TEST

/* ---- a member, which needs no list of its directory but for this */

static void on_failed(pdk_status status, void *failed) { *(pdk_status *)failed = status; }

START_TEST(a_member_is_none_where_strangers_may_change_the_group) {
    pdk_member_callbacks calls_back = PDK_MEMBER_CALLBACKS_INIT;
    pdk_member *member = NULL;
    pdk_status failed = PDK_OK;
    begin(_i ? &nobody : &everybody);
    calls_back.failed = on_failed;
    calls_back.user = &failed;
    ck_assert_int_eq(pdk_group_join(s, "/dir", "one", 3, &calls_back, &member), PDK_OK);
    platform_pass(SECOND);
    ck_assert_str_eq(pdk_status_name(failed), _i ? "PDK_UNPROTECTED" : "PDK_OK");
    ck_assert_uint_eq(platform_children(DIR), !_i);
    pdk_member_unref(member);
    platform_pass(SECOND);
}
END_TEST

/* ---- the lists of a guarded znode and of a record, in calls that block */

enum { PATIENCE_MS = 20000, SHORT_MS = 3000 };

static pdk_lock *guard;
static pdk_lease_lock *lease;
static int64_t timeout_ms;

static pdk_status open_guarded(void) {
    pdk_hold *hold = NULL;
    pdk_guarded *guarded = NULL;
    pdk_status status = pdk_lock_acquire(guard, PATIENCE_MS, &hold);
    if (status == PDK_OK)
        status = pdk_guarded_open(hold, "/kept/guarded", timeout_ms, &guarded);
    pdk_guarded_close(guarded);
    if (hold)
        pdk_hold_release(hold);
    return status;
}

static pdk_status take_lease(void) {
    pdk_hold *hold = NULL;
    pdk_status status = pdk_lease_lock_acquire(lease, timeout_ms, &hold);
    if (hold)
        pdk_hold_release(hold);
    return status;
}

static pdk_status (*const calls[])(void) = {open_guarded, take_lease};
static const char *const parents[] = {"/app/kept", "/app/kept/leased"};

static void call(int which, pdk_status expected) {
    ck_assert_str_eq(pdk_status_name(deed(calls[which])), pdk_status_name(expected));
    platform_pass(SECOND);
}

static void begin_calls(int which) {
    pdk_lease_lock_options options = PDK_LEASE_LOCK_OPTIONS_INIT;
    driver_begin();
    timeout_ms = PATIENCE_MS;
    first->session->access.choice = PDK_ACCESS_LIST;
    first->session->access.list = pdk__acl_copy(&everybody, 1).entries;
    first->session->access.count = 1;
    options.secret = "the secret of one";
    ck_assert_int_eq(pdk_lock_new(first->session, "/locks/guard", NULL, &guard), PDK_OK);
    ck_assert_int_eq(pdk_lease_lock_new(first->session, "/kept/leased", &options, &lease), PDK_OK);
    platform_pass(SECOND);
    call(which, PDK_OK);
}

static void end_calls(int which) {
    driver_redirects = NULL;
    fault.code = 0;
    call(which, PDK_OK);
    pdk_lock_unref(guard);
    pdk_lease_lock_unref(lease);
}

static const struct {
    int32_t code; /* 0: so many are not sent */
    int32_t refuse;
    pdk_status status;
} wrongs[] = {{0, 1, PDK_OK},
              {0, 2, PDK_OK},
              {0, 8, PDK_OK},
              {LOST_CODE, 0, PDK_OK},
              {NOT_NOW_CODE, 0, PDK_OK},
              {NO_NODE_CODE, 0, PDK_OK},
              {NOT_ALLOWED_CODE, 0, PDK_UNPROTECTED},
              {QUOTA_CODE, 0, PDK_UNPROTECTED}};

/* _i: of the one, then of the other. It is there already, and a new handle knows no list. What was refused is asked for again by the
 * next call. */
START_TEST(one_question_about_a_list_goes_wrong) {
    const int which = _i % 2, wrong = _i / 2;
    begin_calls(which);
    rival_reopen(first);
    platform_pass(2 * TIMEOUT);
    driver_arm(PDK__OP_ACL, parents[which]);
    fault.code = wrongs[wrong].code;
    fault.refuse = wrongs[wrong].refuse;
    call(which, wrongs[wrong].status);
    ck_assert_uint_gt(fault.seen, 0);
    ck_assert_int_eq(fault.refuse, 0);
    end_calls(which);
}
END_TEST

static const char *redirect(const struct pdk__request *request) { return request->kind == PDK__OP_ACL ? "/" : NULL; }

/* Lists that never fit: they are always another node's. A barrier that is answered with nonsense: it checks nothing that could differ.
 * Each is asked for again, at a pace. */
START_TEST(what_never_fits_is_asked_for_at_a_pace) {
    const int which = _i % 2;
    begin_calls(which);
    timeout_ms = SHORT_MS;
    driver_arm(_i < 2 ? PDK__OP_ACL : PDK__OP_BARRIER, _i < 2 ? "/" : "/locks/guard");
    fault.always = true;
    if (_i < 2)
        driver_redirects = redirect;
    else
        fault.code = BAD_VERSION_CODE;
    call(which, PDK_UNAVAILABLE);
    ck_assert_uint_ge(fault.seen, 4);
    ck_assert_uint_le(fault.seen, 200);
    end_calls(which);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("driver_protect");
    TCase *cases = tcase_create("driver_protect"), *blocking = tcase_create("calls");
    tcase_add_checked_fixture(cases, platform_setup, platform_teardown);
    tcase_add_test(cases, one_question_at_a_time);
    tcase_add_test(cases, what_cannot_be_asked_is_not_known);
    tcase_add_loop_test(cases, a_list_that_may_not_be_read_protects_nothing, 0, 2);
    tcase_add_loop_test(cases, the_creators_name_is_asked_for, 0, 4);
    tcase_add_test(cases, the_creators_name_is_a_handles);
    tcase_add_test(cases, so_many_lists_are_remembered);
    tcase_add_test(cases, a_record_whose_parent_comes_is_looked_at_again);
    tcase_add_test(cases, who_only_looks_is_warned_once);
    tcase_add_loop_test(cases, a_member_is_none_where_strangers_may_change_the_group, 0, 2);
    tcase_add_checked_fixture(blocking, platform_setup, driver_teardown);
    tcase_add_loop_test(blocking, one_question_about_a_list_goes_wrong, 0, 2 * G_N_ELEMENTS(wrongs));
    tcase_add_loop_test(blocking, what_never_fits_is_asked_for_at_a_pace, 0, 3);
    suite_add_tcase(suite, cases);
    suite_add_tcase(suite, blocking);
    return ts_run_suite(suite);
}
