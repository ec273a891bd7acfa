/*
 * Every path out leaves nothing: in each state of a claim the connection fails, the claim ends in each way it can, and
 * within 2 s after the link is good again no node of ours remains, and the path is of use.
 *
 *     state ──► link fails ──► exit ──► link heals ──► nothing left ──► acquired again
 *
 * All cases of one state run side by side, each with a session and a path of its own.
 */
#include <glib.h>

#include "ts_check.h"
#include "ts_stage.h"
#include "ts_support.h"

enum { SESSION_MS = 3000, CLAIM_MS = 500, CLEAN_MS = 2000 };

enum way { BY_TIMEOUT, BY_CANCEL, BY_UNREF, BY_TRY, WAYS };

static const char *const way_names[] = {"timeout", "cancel", "unref", "try"};

/* LATE: what was under way is delivered after the exit. LOST: it never is. LONG: the session is over by then. */
enum failure { RESET, SILENT_LATE, SILENT_LOST, FAILURES, SILENT_LONG = FAILURES };

static const char *const failure_names[] = {"reset", "silence, late delivery", "silence, loss", "long silence"};

typedef struct {
    const char *name;
    int opcode; /* whose request or reply is lost; 0: the link fails once the claim is there */
    ts_proxy_loss loss;
    int second; /* on the way of recovery, the reply to this one is lost as well; 0: none */
    bool no_directory, behind, granted;
} state;

static const state states[] = {
    {"directory requested", .opcode = TS_OP_CREATE_CONTAINER, .loss = TS_LOSE_REQUEST, .no_directory = true},
    {"directory made, unknown to us", .opcode = TS_OP_CREATE_CONTAINER, .loss = TS_LOSE_REPLY, .no_directory = true},
    {"create lost", .opcode = TS_OP_CREATE2, .loss = TS_LOSE_REQUEST},
    {"created, unknown to us", .opcode = TS_OP_CREATE2, .loss = TS_LOSE_REPLY},
    {"list lost", .opcode = TS_OP_GET_CHILDREN, .loss = TS_LOSE_REQUEST},
    {"listed, unknown to us", .opcode = TS_OP_GET_CHILDREN, .loss = TS_LOSE_REPLY},
    {"recovery: barrier unanswered", .opcode = TS_OP_CREATE2, .loss = TS_LOSE_REPLY, .second = TS_OP_MULTI},
    {"recovery: list unanswered", .opcode = TS_OP_CREATE2, .loss = TS_LOSE_REPLY, .second = TS_OP_GET_CHILDREN},
    {"recovery: owner unanswered", .opcode = TS_OP_CREATE2, .loss = TS_LOSE_REPLY, .second = TS_OP_EXISTS},
    {"watch lost", .opcode = TS_OP_GET_DATA, .loss = TS_LOSE_REQUEST, .behind = true},
    {"watched, unknown to us", .opcode = TS_OP_GET_DATA, .loss = TS_LOSE_REPLY, .behind = true},
    {"waiting", .behind = true},
    {"granted, not delivered", .granted = true},
};

enum { STATES = G_N_ELEMENTS(states), CASES_MAX = 4 * WAYS };

typedef struct {
    const state *at;
    enum way way;
    enum failure failure;
    const char *path;
    ts_client *client;
    pdk_lock *lock; /* ours to unref */
    pdk_hold *ahead;
    ts_answer *answer;
    int64_t began;
} exit_case;

static struct {
    exit_case all[CASES_MAX];
    int count;
} batch;

static const char *server(void) { return ts_stage_server(); }

#define assert_case(c, truth)                                                                                          \
    ck_assert_msg(truth, "%s / %s / %s: %s", (c)->at->name, failure_names[(c)->failure], way_names[(c)->way], #truth)

/* ---- the steps ---- */

static void set_up(exit_case *c, ts_client *keeper) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;

    options.session_timeout_ms = SESSION_MS;
    options.request_timeout_ms = CLAIM_MS;
    options.dispatch = c->at->granted ? PDK_DISPATCH_MANUAL : PDK_DISPATCH_THREAD;
    c->path = ts_fresh_path();
    c->client = ts_client_open_with(server(), NULL, &options);
    assert_case(c, c->client != NULL);
    assert_case(c, c->at->no_directory || ts_create(server(), c->path, "", TS_PERSISTENT, NULL) == 0);
    assert_case(c, pdk_lock_new(c->client->session, c->path, NULL, &c->lock) == PDK_OK);
    if (c->at->behind) {
        c->ahead = ts_stage_acquire(ts_lock(keeper, c->path), 5000);
    }
}

static ts_proxy_mode mode_of(const exit_case *c) { return c->failure == RESET ? TS_CUT : TS_BLACKHOLE; }

/* Until the claim is in line, or decided. */
static void await_position(exit_case *c, pdk_status wanted) {
    const int64_t end = ts_now_ms() + CLAIM_MS;
    int32_t ahead;

    while (pdk_claim_position(ts_answer_claim(c->answer), &ahead) != wanted) {
        assert_case(c, ts_now_ms() < end);
        ts_sleep_ms(1);
    }
}

/* Brings the claim into its state, and the link down. */
static void enter(exit_case *c) {
    ts_proxy *proxy = c->client->proxy;

    if (c->at->opcode != 0) {
        ts_proxy_arm(proxy, c->at->opcode, c->at->loss, c->at->second ? TS_CUT : mode_of(c));
    }
    c->began = ts_now_ms();
    c->answer = ts_acquire_async(c->lock, c->way == BY_TRY ? 0 : c->way == BY_TIMEOUT ? CLAIM_MS : 60000);
    if (c->at->opcode != 0) {
        assert_case(c, ts_proxy_wait_fired(proxy, ts_patience(2000)));
    } else {
        await_position(c, c->at->granted ? PDK_NOT_HELD : PDK_OK);
        ts_proxy_set_mode(proxy, mode_of(c));
    }
    if (c->at->second) {
        ts_proxy_arm(proxy, c->at->second, TS_LOSE_REPLY, mode_of(c));
        ts_proxy_heal(proxy);
        assert_case(c, ts_proxy_wait_fired(proxy, ts_patience(2000)));
    }
}

static void leave(exit_case *c) {
    const pdk_status expected = c->at->granted ? PDK_NOT_HELD : PDK_OK;

    if (c->way == BY_CANCEL) {
        assert_case(c, pdk_claim_cancel(ts_answer_claim(c->answer)) == expected);
    } else if (c->way == BY_UNREF) {
        pdk_lock_unref(g_steal_pointer(&c->lock));
    } else if (c->at->granted) {
        ts_sleep_ms(c->began + CLAIM_MS + 1 - ts_now_ms());
    }
    if (c->at->granted) {
        pdk_session_dispatch(c->client->session, NULL);
    }
    assert_case(c, ts_answer_wait(c->answer, CLAIM_MS + ts_patience(500)));
}

static bool is_expected(const exit_case *c, pdk_status status) {
    if (c->way == BY_CANCEL || c->way == BY_UNREF) {
        return status == (c->at->granted ? PDK_OK : PDK_CANCELED); /* too late, and the hold is ours to release */
    }
    if (c->way == BY_TRY) {
        return status == PDK_UNAVAILABLE || (c->at->granted && status == PDK_TIMEOUT);
    }
    return status == (c->at->behind || c->at->granted ? PDK_TIMEOUT : PDK_UNAVAILABLE);
}

static void check_answer(exit_case *c) {
    const pdk_status status = ts_answer_status(c->answer);

    ck_assert_msg(is_expected(c, status), "%s / %s / %s: %s", c->at->name, failure_names[c->failure], way_names[c->way],
                  pdk_status_name(status));
    assert_case(c, (ts_answer_hold(c->answer) != NULL) == (status == PDK_OK));
    if (status == PDK_OK) {
        const pdk_status released = ts_answer_release(c->answer);
        assert_case(c, released == PDK_OK || (released == PDK_LOST && c->failure == SILENT_LONG));
    }
}

static void heal(exit_case *c) {
    if (c->failure == SILENT_LOST) {
        ts_proxy_heal_discard(c->client->proxy);
    } else {
        ts_proxy_heal(c->client->proxy);
    }
}

/* Nothing is left, and the same session gets the lock: at once, or when the one ahead goes. */
static void check_clean(exit_case *c, int64_t until) {
    pdk_hold *hold = NULL;
    pdk_lock *lock = ts_lock(c->client, c->path);

    assert_case(c, ts_wait_children(server(), c->path, c->ahead != NULL, MAX(until - ts_now_ms(), 1)));
    assert_case(c, c->ahead == NULL || pdk_hold_valid(c->ahead));
    assert_case(c, c->ahead == NULL || pdk_hold_release(c->ahead) == PDK_OK);
    assert_case(c, pdk_lock_acquire(lock, 5000, &hold) == PDK_OK);
    assert_case(c, pdk_hold_release(hold) == PDK_OK);
    assert_case(c, ts_wait_children(server(), c->path, 0, CLEAN_MS));
    assert_case(c, ts_answer_count(c->answer) == 1);
}

static void run_batch(void) {
    ts_client *keeper = ts_stage_client(4 * SESSION_MS);
    int64_t longest = 0;

    for (int i = 0; i < batch.count; i++) {
        set_up(&batch.all[i], keeper);
    }
    for (int i = 0; i < batch.count; i++) {
        enter(&batch.all[i]);
        if (batch.all[i].failure == SILENT_LONG) {
            longest = ts_now_ms() + SESSION_MS + 500;
        }
    }
    for (int i = 0; i < batch.count; i++) {
        leave(&batch.all[i]);
    }
    for (int i = 0; i < batch.count; i++) {
        check_answer(&batch.all[i]);
    }
    ts_sleep_ms(MAX(longest - ts_now_ms(), 0));
    for (int i = 0; i < batch.count; i++) {
        heal(&batch.all[i]);
    }
    const int64_t until = ts_now_ms() + CLEAN_MS;
    for (int i = 0; i < batch.count; i++) {
        check_clean(&batch.all[i], until);
    }
}

static void clear_batch(void) {
    for (int i = 0; i < batch.count; i++) {
        pdk_lock_unref(g_steal_pointer(&batch.all[i].lock));
    }
    batch.count = 0;
}

/* A try does not wait behind anybody. */
static void add(const state *at, enum way way, enum failure failure) {
    if (way != BY_TRY || !at->behind) {
        g_assert_cmpint(batch.count, <, CASES_MAX);
        batch.all[batch.count++] = (exit_case){.at = at, .way = way, .failure = failure};
    }
}

START_TEST(every_exit_from_every_state) {
    for (int failure = 0; failure < FAILURES; failure++) {
        for (int way = 0; way < WAYS; way++) {
            add(&states[_i], (enum way)way, (enum failure)failure);
        }
    }
    run_batch();
}
END_TEST

/* The session is over when the link comes back: its nodes went with it, and what follows is on a new one. */
START_TEST(every_exit_into_a_dead_session) {
    for (size_t i = (size_t)_i; i < STATES; i += 4) {
        for (int way = 0; way < WAYS; way++) {
            add(&states[i], (enum way)way, SILENT_LONG);
        }
    }
    run_batch();
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("exits");
    TCase *tcase = ts_stage_case(suite, "exits");

    tcase_add_checked_fixture(tcase, NULL, clear_batch);
    tcase_add_loop_test(tcase, every_exit_from_every_state, 0, STATES);
    tcase_add_loop_test(tcase, every_exit_into_a_dead_session, 0, 4);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
