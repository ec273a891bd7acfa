/* Access control lists whose questions cannot be sent, or whose answers are lost or refused. Every list of these servers lets
 * everybody do everything. */
#include "driver_bench.h"
#include "session/protect.h"
#include "session/supervise.h"

#include <paddock/group.h>
#include <string.h>

enum { NO_NODE = -101, NO_AUTH = -102, QUOTA = -125, MANY = 10001 };

#define DIR "/app/dir"
#define OWN "/app/own"

/* What the session's own choice is: as the servers' lists, for the creator alone, or for the user of a certificate. */
static const pdk_access_entry everybody = {PDK_PERMISSION_ALL, "world", "anyone"},
                              creator = {PDK_PERMISSION_ALL, "auth", ""};

static pdk_session *s;
static int warnings;

static void count_warnings(pdk_log_level level, const char *text, void *user) {
    (void)user;
    warnings += level == PDK_LOG_WARN && strstr(text, "access control list") != NULL;
}

static void open_in(void *subject, void *what) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = TIMEOUT_MS;
    options.server_tick_ms = TICK / SIM_MS;
    options.access = PDK_ACCESS_LIST;
    options.access_list = what;
    options.access_count = 1;
    options.on_log = count_warnings;
    ((struct rival *)subject)->session = s = platform_open(&options);
}

static void make(const char *path) {
    const struct sim_packet packet = {.kind = SIM_REQUEST, .op = SIM_OP_CREATE, .path = path, .data = ""};
    ck_assert(sim_admin(platform_ensemble, &packet));
}

static void begin(const pdk_access_entry *choice) {
    warnings = 0;
    make("/app");
    make(DIR);
    make(OWN);
    sim_call_in(&first->process, open_in, first, (void *)choice);
    platform_pass(SECOND);
}

static int64_t token_of(const char *path) { return sim_tree_find(sim_truth(platform_ensemble), path)->stat.czxid; }

/* The next request of the session about that path is answered with the code. */
static void answer(const char *path, int32_t code) {
    sim_answer_about(platform_ensemble, sim_client_session(&first->process), path, code, false);
}

/* ---- in the process */

struct judgement {
    const char *own;
    enum pdk__protection found;
    uint64_t sent; /* requests that it took */
};

static void judge_in(void *subject, void *what) {
    struct judgement *j = what;
    (void)subject;
    pdk__lock(s);
    uint64_t before = s->requests;
    j->found = pdk__protect_judge(s, DIR, token_of(DIR), 0, j->own);
    j->sent = s->requests - before;
    pdk__unlock(s);
}

static void reopen_in(void *subject, void *what) {
    (void)subject;
    (void)what;
    pdk__lock(s);
    pdk__session_reopen(s, "as a test wants it");
    pdk__unlock(s);
}

/* ---- from outside */

/* What it finds, and whether it asks. */
static void judge(const char *own, enum pdk__protection expected, bool asks) {
    struct judgement j = {.own = own};
    sim_call_in(&first->process, judge_in, first, &j);
    ck_assert_int_eq(j.found, expected);
    ck_assert_uint_eq(j.sent, asks);
}

static void reopen(void) {
    sim_call_in(&first->process, reopen_in, first, NULL);
    platform_pass(SECOND);
}

START_TEST(one_question_at_a_time) {
    begin(&everybody);
    judge(NULL, PDK__PROTECTION_ASKED, true);
    judge(NULL, PDK__PROTECTION_ASKED, false);
    platform_pass(SECOND);
    judge(NULL, PDK__PROTECTED, false);
    reopen();
    judge(NULL, PDK__PROTECTION_ASKED, true);
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
    platform_pass(SECOND);
    judge(NULL, PDK__PROTECTED, false);
}
END_TEST

static void words_in(void *subject, void *what) {
    (void)subject;
    pdk__lock(s);
    *(char **)what = pdk__protect_words(s, DIR);
    pdk__unlock(s);
}

START_TEST(a_list_that_may_not_be_read_protects_nothing) {
    static const struct {
        int32_t code;
        const char *word;
    } refusals[] = {{NO_AUTH, "NOAUTH"}, {QUOTA, "QUOTA"}};
    char *words;
    begin(&everybody);
    answer(DIR, refusals[_i].code);
    judge(NULL, PDK__PROTECTION_ASKED, true);
    platform_pass(SECOND);
    judge(NULL, PDK__UNPROTECTED, false);
    sim_call_in(&first->process, words_in, first, &words);
    ck_assert_msg(strstr(words, DIR " cannot be read") && strstr(words, refusals[_i].word), "%s", words);
    g_free(words);
}
END_TEST

/* What the servers call the creator is read from a node of ours, once. It may be everybody. */
START_TEST(the_creators_name_is_asked_for) {
    static const struct {
        int32_t code;
        enum pdk__protection then;
        bool asks;
    } answers[] = {{0, PDK__PROTECTED, false},
                   {NO_AUTH, PDK__UNPROTECTED, false},
                   {QUOTA, PDK__PROTECTION_ASKED, true},
                   {NO_NODE, PDK__PROTECTION_ASKED, true}};
    begin(&creator);
    judge(NULL, PDK__PROTECTION_ASKED, true);
    platform_pass(SECOND);
    judge(NULL, PDK__UNPROTECTED, false); /* there is no certificate whose name were to be learnt */
    platform_refuse(PDK__OP_ACL, 1);
    judge(OWN, PDK__PROTECTION_UNKNOWN, false);
    if (answers[_i].code != 0)
        answer(OWN, answers[_i].code);
    judge(OWN, PDK__PROTECTION_ASKED, true);
    judge(OWN, PDK__PROTECTION_ASKED, false);
    platform_pass(SECOND);
    judge(OWN, answers[_i].then, answers[_i].asks);
}
END_TEST

/* A later one may have another name there. */
START_TEST(the_creators_name_is_a_handles) {
    begin(&creator);
    judge(NULL, PDK__PROTECTION_ASKED, true);
    platform_pass(SECOND);
    judge(OWN, PDK__PROTECTION_ASKED, true);
    reopen();
    judge(OWN, PDK__PROTECTION_ASKED, true);
    platform_pass(SECOND);
    judge(OWN, PDK__PROTECTION_ASKED, true); /* the older handle's answer was not taken */
    platform_pass(SECOND);
    judge(OWN, PDK__PROTECTED, false);
}
END_TEST

static void judge_many_in(void *subject, void *what) {
    (void)subject;
    pdk__lock(s);
    for (int i = 0; i < MANY; i++) {
        char *path = g_strdup_printf("/app/%d", i);
        ck_assert_int_eq(pdk__protect_judge(s, path, 1, 0, NULL), PDK__PROTECTION_UNKNOWN);
        g_free(path);
    }
    *(guint *)what = g_hash_table_size(s->protection.looks);
    pdk__unlock(s);
}

START_TEST(so_many_lists_are_remembered) {
    guint remembered = 0;
    begin(&everybody);
    platform_refuse(PDK__OP_ACL, MANY);
    sim_call_in(&first->process, judge_many_in, first, &remembered);
    ck_assert_uint_eq(remembered, 1);
}
END_TEST

/* ---- records */

static const char record[] = "/app/later/record";

static void look_at_record_in(void *subject, void *what) {
    (void)subject;
    (void)what;
    pdk__lock(s);
    pdk__protect_look_at_record(s, record);
    pdk__unlock(s);
}

struct record_judgement {
    enum pdk__result result;
    enum pdk__protection found;
};

static void judge_record_in(void *subject, void *what) {
    struct record_judgement *j = what;
    const struct pdk__reply node = {.result = j->result, .token = 1};
    char *words = NULL;
    (void)subject;
    pdk__lock(s);
    j->found = pdk__protect_judge_record(s, record, &node, OWN, &words);
    pdk__unlock(s);
    ck_assert_ptr_null(words);
}

static enum pdk__protection judge_record(enum pdk__result result) {
    struct record_judgement j = {.result = result};
    sim_call_in(&first->process, judge_record_in, first, &j);
    return j.found;
}

/* Its parent was not there when its list was asked for, and is, now that the record is read. */
START_TEST(a_record_whose_parent_comes_is_looked_at_again) {
    begin(&everybody);
    sim_call_in(&first->process, look_at_record_in, first, NULL);
    platform_pass(SECOND);
    ck_assert_int_eq(judge_record(PDK__NO_NODE), PDK__PROTECTED);
    make("/app/later");
    ck_assert_int_eq(judge_record(PDK__OK), PDK__PROTECTION_ASKED);
    platform_refuse(PDK__OP_ACL, 1);
    platform_pass(SECOND);
    ck_assert_int_eq(judge_record(PDK__OK), PDK__PROTECTION_UNKNOWN); /* of the record's own list */
}
END_TEST

/* ---- who only looks */

struct listing {
    bool warned;
    enum pdk__result result;
};

static void list_in(void *subject, void *what) {
    struct listing *l = what;
    const struct pdk__reply reply = {.result = PDK__OK, .token = token_of(DIR)};
    (void)subject;
    pdk__lock(s);
    l->result = pdk__protect_listed(s, DIR, &reply, &l->warned);
    pdk__unlock(s);
}

START_TEST(who_only_looks_is_warned_once) {
    struct listing l = {.warned = false};
    static const pdk_access_entry nobody = {PDK_PERMISSION_ALL, "digest", "a:b"};
    begin(&nobody);
    sim_call_in(&first->process, list_in, first, &l);
    ck_assert_int_eq(l.result, PDK__NOT_NOW);
    platform_pass(SECOND);
    for (int i = 0; i < 3; i++) {
        sim_call_in(&first->process, list_in, first, &l);
        ck_assert_int_eq(l.result, PDK__NOT_ALLOWED);
        platform_pass(SECOND);
        ck_assert_int_eq(warnings, 1);
    }
}
END_TEST

/* ---- a member, which needs no list of its directory but for this */

static pdk_status failed;

static void on_failed(pdk_status status, void *user) {
    (void)user;
    failed = status;
}

static void join_in(void *subject, void *what) {
    pdk_member_callbacks calls_back = PDK_MEMBER_CALLBACKS_INIT;
    (void)subject;
    calls_back.failed = on_failed;
    ck_assert_int_eq(pdk_group_join(s, "/dir", "one", 3, &calls_back, what), PDK_OK);
}

static void leave_in(void *subject, void *what) {
    (void)subject;
    pdk_member_unref(*(pdk_member **)what);
}

START_TEST(a_member_is_none_where_strangers_may_change_the_group) {
    static const pdk_access_entry nobody = {PDK_PERMISSION_ALL, "digest", "a:b"};
    pdk_member *member = NULL;
    size_t count = 0;
    failed = PDK_OK;
    begin(_i ? &nobody : &everybody);
    sim_call_in(&first->process, join_in, first, &member);
    platform_pass(SECOND);
    ck_assert_str_eq(pdk_status_name(failed), _i ? "PDK_UNPROTECTED" : "PDK_OK");
    sim_tree_children(sim_truth(platform_ensemble), DIR, &count);
    ck_assert_uint_eq(count, !_i);
    sim_call_in(&first->process, leave_in, first, &member);
    platform_pass(SECOND);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_protect");
    TCase *cases = tcase_create("driver_protect");
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
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
