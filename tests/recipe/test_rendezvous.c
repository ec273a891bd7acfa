/* The rendezvous on a real server: when it opens, who counts, and what a call leaves behind. */
#include <check.h>
#include <glib.h>
#include <string.h>

#include "rendezvous.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

/* SOON_MS is less than a session timeout, after which a lost watch would be made good. */
enum { SESSION_MS = 3000, LONG_MS = 30000, SOON_MS = 2000, NO_NODE = -101 };

static const char *server(void) { return ts_bench_server(); }

/* ---- participants */

struct place {
    pdk_session *session;
    const char *path;
    int32_t participants;
};

static pdk_status block(void *user, int64_t timeout_ms, pdk_hold **out) {
    const struct place *place = user;
    return rendezvous_enter(place->session, place->path, place->participants, timeout_ms, out);
}

/* On a thread of its own. */
static ts_answer *enter(const ts_client *client, const char *path, int32_t participants, int64_t timeout_ms) {
    struct place *place = g_new(struct place, 1);

    *place = (struct place){client->session, path, participants};
    ts_paddock_keep(place, g_free);
    return ts_answer_block(block, place, timeout_ms);
}

static void assert_answer(ts_answer *answer, pdk_status expected) {
    ck_assert_msg(ts_answer_wait(answer, ts_patience(SOON_MS)), "no answer");
    ck_assert_str_eq(pdk_status_name(ts_answer_status(answer)), pdk_status_name(expected));
}

#define assert_present(path, count) ck_assert(ts_wait_children(server(), path, count, ts_patience(SOON_MS)))

/* Nobody gets through for a while. */
static void assert_shut(ts_answer *const *answers, int count) {
    ts_sleep_ms(150);
    for (int i = 0; i < count; i++) {
        ck_assert_int_eq(ts_answer_count(answers[i]), 0);
    }
}

/* ---- when it opens */

START_TEST(it_opens_at_n) {
    const char *path = ts_fresh_path();
    ts_answer *answers[4];

    for (int i = 0; i < 4; i++) {
        assert_shut(answers, i);
        answers[i] = enter(ts_bench_client(SESSION_MS), path, 4, LONG_MS);
        assert_present(path, i + 1);
    }
    for (int i = 0; i < 4; i++) {
        assert_answer(answers[i], PDK_OK);
        ck_assert(pdk_hold_is_valid(ts_answer_hold(answers[i])));
    }
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(ts_answer_release(answers[i]), PDK_OK);
        assert_present(path, 3 - i);
    }
}
END_TEST

/* n - 1 wait until the deadline, and leave nothing. */
START_TEST(the_deadline) {
    const char *path = ts_fresh_path();
    const int64_t began = ts_now_ms();
    ts_answer *answers[2];

    for (int i = 0; i < 2; i++) {
        answers[i] = enter(ts_bench_client(SESSION_MS), path, 3, 700);
    }
    for (int i = 0; i < 2; i++) {
        assert_answer(answers[i], PDK_TIMEOUT);
        ck_assert_int_ge(ts_answer_at_ns(answers[i]) / 1000000 - began, 700);
        ck_assert_ptr_null(ts_answer_hold(answers[i]));
    }
    ck_assert_int_le(ts_now_ms() - began, 700 + ts_patience(SOON_MS));
    assert_present(path, 0);
}
END_TEST

START_TEST(a_try_does_not_wait) {
    const char *path = ts_fresh_path();
    const ts_client *client = ts_bench_client(SESSION_MS);
    pdk_hold *hold = NULL;

    ck_assert_int_eq(rendezvous_enter(client->session, path, 2, 0, &hold), PDK_BUSY);
    ck_assert_ptr_null(hold);
    ck_assert_msg(g_str_has_suffix(pdk_last_error(), "too few are present"), "%s", pdk_last_error());
    assert_present(path, 0);
    ts_answer *other = enter(client, path, 2, LONG_MS);
    assert_present(path, 1);
    ck_assert_int_eq(rendezvous_enter(client->session, path, 2, 0, &hold), PDK_OK);
    assert_answer(other, PDK_OK);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}
END_TEST

/* Two of three have left by the time the fourth comes: the rendezvous is open. */
START_TEST(it_stays_open) {
    const char *path = ts_fresh_path();
    const ts_client *client = ts_bench_client(SESSION_MS);
    ts_answer *answers[3];
    pdk_hold *hold = NULL;

    for (int i = 0; i < 3; i++) {
        answers[i] = enter(client, path, 3, LONG_MS);
    }
    for (int i = 0; i < 3; i++) {
        assert_answer(answers[i], PDK_OK);
        ck_assert_int_eq(i == 0 ? PDK_OK : ts_answer_release(answers[i]), PDK_OK);
    }
    assert_present(path, 1);
    ck_assert_int_eq(rendezvous_enter(client->session, path, 3, 0, &hold), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}
END_TEST

/* The second hears of its own node only when the first has passed, and left. */
START_TEST(a_slow_participant_gets_in_after_the_others_have_left) {
    const char *path = ts_fresh_path();
    const ts_client *slow = ts_bench_client(SESSION_MS);
    ts_answer *fast = enter(ts_bench_client(SESSION_MS), path, 2, LONG_MS);

    assert_present(path, 1);
    ts_proxy_set_mode(slow->proxy, TS_BLACKHOLE_DOWN);
    ts_answer *late = enter(slow, path, 2, LONG_MS);
    assert_answer(fast, PDK_OK);
    ck_assert_int_eq(ts_answer_release(fast), PDK_OK);
    assert_present(path, 1);
    ck_assert_int_eq(ts_answer_count(late), 0);
    ts_proxy_heal(slow->proxy);
    assert_answer(late, PDK_OK);
    ck_assert_int_eq(ts_answer_release(late), PDK_OK);
}
END_TEST

/* ---- who counts */

/* Two of three; one is expired and cannot come back: it does not count. Then it can, enters again, and the rendezvous opens. */
START_TEST(an_expired_participant_does_not_count) {
    const char *path = ts_fresh_path();
    const ts_client *victim = ts_bench_client(SESSION_MS), *other = ts_bench_client(SESSION_MS);
    ts_answer *patient = enter(other, path, 3, LONG_MS), *killed = enter(victim, path, 3, LONG_MS);
    pdk_hold *hold = NULL;

    assert_present(path, 2);
    ts_proxy_set_mode(victim->proxy, TS_CUT);
    ck_assert_int_eq(ts_expire(victim->proxy, server()), 0);
    assert_present(path, 1);
    ck_assert_int_eq(rendezvous_enter(other->session, path, 3, 500, &hold), PDK_TIMEOUT);
    ck_assert_int_eq(ts_answer_count(patient) + ts_answer_count(killed), 0);
    ts_proxy_heal(victim->proxy);
    assert_present(path, 2);
    ck_assert_int_eq(rendezvous_enter(other->session, path, 3, LONG_MS, &hold), PDK_OK);
    assert_answer(patient, PDK_OK);
    assert_answer(killed, PDK_OK);
    ck_assert_int_eq(ts_expire(victim->proxy, server()), 0); /* which is the end of a presence */
    ck_assert(ts_wait_event(victim, PDK_SESSION_EXPIRED, 2, ts_patience(SESSION_MS)));
    ck_assert_int_eq(ts_answer_release(killed), PDK_LOST);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    assert_present(path, 1);
}
END_TEST

/* Other nodes do not count, also a contender of another recipe. */
START_TEST(strangers) {
    static const char *const names[] = {"stranger", "_c_7d9b3a1e-0000-4000-8000-000000000000-latch-0000000000"};
    const char *path = ts_fresh_path();
    pdk_hold *hold = NULL;

    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *node = g_strdup_printf("%s/%s", path, names[i]);
        ck_assert_int_eq(ts_create(server(), node, "", TS_PERSISTENT, NULL), 0);
    }
    ck_assert_int_eq(rendezvous_enter(ts_bench_client(SESSION_MS)->session, path, 2, 400, &hold), PDK_TIMEOUT);
    assert_present(path, 2);
}
END_TEST

/* ---- what is lost on the way */

static const struct loss {
    int32_t participants;
    int opcode;
    ts_proxy_loss loss;
} losses[] = {
    {2, TS_OP_CREATE2, TS_LOSE_REQUEST}, {2, TS_OP_CREATE2, TS_LOSE_REPLY},    {2, TS_OP_GET_DATA, TS_LOSE_REQUEST},
    {2, TS_OP_GET_DATA, TS_LOSE_REPLY},  {1, TS_OP_SET_DATA, TS_LOSE_REQUEST}, {1, TS_OP_SET_DATA, TS_LOSE_REPLY},
};

/* The participant has one node, which counts once. It passes only when the mark is there. */
START_TEST(a_lost_request_or_reply) {
    const struct loss *lost = &losses[_i];
    const char *path = ts_fresh_path();
    const ts_client *client = ts_bench_client(SESSION_MS);
    g_autofree char *mark = NULL;

    ck_assert_int_eq(ts_create(server(), path, "", TS_PERSISTENT, NULL), 0);
    ts_proxy_arm(client->proxy, lost->opcode, lost->loss, TS_PASS);
    ts_answer *answer = enter(client, path, lost->participants, LONG_MS);
    ck_assert(ts_proxy_wait_fired(client->proxy, ts_patience(SOON_MS)));
    if (lost->participants == 2) {
        assert_present(path, 1);
        assert_shut(&answer, 1);
        assert_answer(enter(ts_bench_client(SESSION_MS), path, 2, LONG_MS), PDK_OK);
    }
    assert_answer(answer, PDK_OK);
    assert_present(path, lost->participants);
    ck_assert_int_eq(ts_get(server(), path, &mark, NULL, NULL), 0);
    ck_assert_str_eq(mark, "open");
}
END_TEST

/* ---- what is refused */

START_TEST(bad_input) {
    const ts_client *client = ts_bench_client(SESSION_MS);
    pdk_session *s = client->session;
    pdk_hold *hold = NULL;
    const struct {
        pdk_session *session;
        const char *path;
        int32_t participants;
        int64_t timeout_ms;
        pdk_hold **out;
        const char *text;
    } cases[] = {
        {NULL, "/g", 2, 0, &hold, "rendezvous_enter: session: NULL"},
        {s, NULL, 2, 0, &hold, "rendezvous_enter: path: NULL"},
        {s, "/g", 2, 0, NULL, "rendezvous_enter: out: NULL"},
        {s, "g", 2, 0, &hold, "rendezvous_enter: path: is relative"},
        {s, "/g", 0, 0, &hold, "rendezvous_enter: participants is 0; from 1 to 1000"},
        {s, "/g", 1001, 0, &hold, "rendezvous_enter: participants is 1001; from 1 to 1000"},
        {s, "/g", 2, -2, &hold, "rendezvous_enter: timeout_ms is -2; 0 or more, or PDK_FOREVER"},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        const pdk_status status =
            rendezvous_enter(cases[i].session, cases[i].path, cases[i].participants, cases[i].timeout_ms, cases[i].out);
        ck_assert_str_eq(pdk_status_name(status), "PDK_INVALID");
        ck_assert_msg(g_str_has_prefix(pdk_last_error(), cases[i].text), "%s", pdk_last_error());
        ck_assert_ptr_null(hold);
    }
    ck_assert_int_eq(ts_exists(server(), "/g", NULL), NO_NODE);
}
END_TEST

/* The mark may not be written, or the directory not be read: no node is left. */
START_TEST(no_permission) {
    static const int permissions[] = {TS_PERM_ALL & ~TS_PERM_WRITE, TS_PERM_ALL & ~TS_PERM_READ,
                                      TS_PERM_ALL & ~TS_PERM_CREATE};
    const char *path = ts_fresh_path();
    ts_observer *admin = ts_observer_open(server());
    pdk_hold *hold = NULL;

    ck_assert_int_eq(ts_create(server(), path, "", TS_PERSISTENT, NULL), 0);
    ck_assert_int_eq(ts_observer_set_acl(admin, path, permissions[_i], "world", "anyone"), 0);
    const pdk_status status = rendezvous_enter(ts_bench_client(SESSION_MS)->session, path, 1, 5000, &hold);
    ck_assert_str_eq(pdk_status_name(status), "PDK_NO_PERMISSION");
    ck_assert_ptr_null(hold);
    ck_assert_int_eq(ts_observer_set_acl(admin, path, TS_PERM_ALL, "world", "anyone"), 0);
    assert_present(path, 0);
    ts_observer_close(admin);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("rendezvous");
    TCase *tcase = ts_bench_case(suite, "rendezvous");

    tcase_add_test(tcase, it_opens_at_n);
    tcase_add_test(tcase, the_deadline);
    tcase_add_test(tcase, a_try_does_not_wait);
    tcase_add_test(tcase, it_stays_open);
    tcase_add_test(tcase, a_slow_participant_gets_in_after_the_others_have_left);
    tcase_add_test(tcase, an_expired_participant_does_not_count);
    tcase_add_test(tcase, strangers);
    tcase_add_loop_test(tcase, a_lost_request_or_reply, 0, G_N_ELEMENTS(losses));
    tcase_add_test(tcase, bad_input);
    tcase_add_loop_test(tcase, no_permission, 0, 3);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
