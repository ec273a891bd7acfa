/* See exits.h. */
#include "exits.h"

#include <glib.h>

#include "ts_support.h"

enum { CASES_MAX = 8 * EXIT_WAYS };

const char *const exit_way_names[] = {"timeout", "cancel", "unref", "try"};
const char *const exit_failure_names[] = {"reset", "silence, late delivery", "silence, loss", "long silence"};

static struct {
    const exit_row *row;
    exit_case all[CASES_MAX];
    int count;
} batch;

/* ---- the steps ---- */

/* A claim's time, and a request's: on a slow machine a claim needs more to be where its link shall fail. */
static int64_t claim_ms(void) { return MIN(ts_patience(EXITS_CLAIM_MS), EXITS_SESSION_MS / 2); }

static void set_up(exit_case *c, ts_client *holder) {
    const recipe *r = batch.row->r;
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = EXITS_SESSION_MS;
    options.request_timeout_ms = (int32_t)claim_ms();
    options.dispatch = c->at->granted ? PDK_DISPATCH_MANUAL : PDK_DISPATCH_THREAD;
    c->p = (struct pair){.r = r, .path = ts_fresh_path(), .client = {holder}};
    c->p.client[1] = ts_client_open_with(ts_bench_server(), NULL, &options);
    assert_exit(c, c->p.client[1] != NULL);
    batch.row->prepare(c);
    g_autofree char *below = g_strconcat(c->p.path, r->below, NULL);
    c->p.against[0] = recipe_at(r->against, holder, below);
    c->p.object[1] = r->make(c->p.client[1], c->p.path);
    if (c->at->behind && c->ahead == NULL && !c->at->alone) {
        c->ahead = pair_obstruct(&c->p, 0);
        recipe_await_nodes(r, c->p.path, r->against->held + c->at->foreign); /* its place in the queue is gone */
    }
    if (c->at->in_front) {
        const int nodes = recipe_nodes(c->p.path);
        c->front = recipe_async(r, recipe_at(r, holder, c->p.path), PDK_FOREVER);
        recipe_await_waits(r, c->front, c->p.path, nodes);
    }
}

static ts_proxy_mode mode_of(const exit_case *c) { return c->failure == EXIT_RESET ? TS_CUT : TS_BLACKHOLE; }

/* Waits until the claim is in the queue, or decided. */
static void await_position(exit_case *c, pdk_status wanted) {
    const int64_t end = ts_now_ms() + ts_patience(2000);
    int32_t ahead;

    while (ts_answer_position(c->answer, &ahead) != wanted) {
        assert_exit(c, ts_now_ms() < end);
        ts_sleep_ms(1);
    }
}

/* Waits until every request of the claim is answered. */
static void await_silence(exit_case *c) {
    const int64_t end = ts_now_ms() + ts_patience(claim_ms());
    ts_proxy_counters counters;

    do {
        assert_exit(c, ts_now_ms() < end);
        ts_sleep_ms(10);
        ts_proxy_read(c->p.client[1]->proxy, &counters);
    } while (counters.requests != counters.replies);
}

/* Waits until it stands where it waits, and knows it: a set has been in other queues before. */
static void await_queued(exit_case *c) {
    await_position(c, PDK_OK);
    if (c->p.r->start_set != NULL) {
        recipe_await_waits(c->p.r, c->answer, c->p.path, c->p.r->against->held);
        await_position(c, PDK_OK);
    }
}

static void leave_front(exit_case *c) { assert_exit(c, ts_answer_cancel(g_steal_pointer(&c->front)) == PDK_OK); }

static void poke(exit_case *c) {
    if (c->front != NULL) {
        leave_front(c);
    } else if (batch.row->poke != NULL && c->at->look_again) {
        batch.row->poke(c);
    } else {
        pair_admit(&c->p, 0, g_steal_pointer(&c->ahead));
    }
}

/* Brings the claim into its state, and the link down. */
static void enter(exit_case *c) {
    ts_proxy *proxy = c->p.client[1]->proxy;

    if (c->at->opcode != 0 && !c->at->after_poke) {
        ts_proxy_arm(proxy, c->at->opcode, c->at->loss, c->at->second ? TS_CUT : mode_of(c));
    }
    const int64_t begun = ts_now_ms();
    c->answer = recipe_async(c->p.r, c->p.object[1],
                             c->way == EXIT_BY_TRY       ? 0
                             : c->way == EXIT_BY_TIMEOUT ? claim_ms()
                                                         : 60000);
    c->asked = ts_now_ms();
    if (c->at->after_poke) {
        await_queued(c);
        await_silence(c);
        ts_proxy_arm(proxy, c->at->opcode, c->at->loss, c->at->second ? TS_CUT : mode_of(c));
        poke(c);
    }
    if (c->at->opcode != 0) {
        assert_exit(c, ts_proxy_wait_fired(proxy, ts_patience(2000)));
    } else {
        if (c->at->granted) {
            await_position(c, PDK_NOT_HELD);
        } else {
            await_queued(c);
        }
        ts_proxy_set_mode(proxy, mode_of(c));
    }
    if (c->at->second) {
        ts_proxy_arm(proxy, c->at->second, TS_LOSE_REPLY, mode_of(c));
        ts_proxy_heal(proxy);
        assert_exit(c, ts_proxy_wait_fired(proxy, ts_patience(2000)));
    }
    c->late = ts_now_ms() >= begun + claim_ms();
}

static void leave(exit_case *c) {
    const pdk_status expected = c->at->granted ? PDK_NOT_HELD : PDK_OK;

    if (c->way == EXIT_BY_CANCEL) {
        assert_exit(c, ts_answer_cancel(c->answer) == expected);
    } else if (c->way == EXIT_BY_UNREF) {
        c->p.r->unref(g_steal_pointer(&c->p.object[1]));
    } else if (c->at->granted) {
        ts_sleep_ms(c->asked + claim_ms() + 1 - ts_now_ms());
    }
    if (c->at->granted) {
        pdk_session_dispatch(c->p.client[1]->session, NULL);
    }
    assert_exit(c, ts_answer_wait(c->answer, claim_ms() + ts_patience(500)));
}

static bool is_expected(const exit_case *c, pdk_status status) {
    if (c->way == EXIT_BY_CANCEL || c->way == EXIT_BY_UNREF) {
        return status == (c->at->granted ? PDK_OK : PDK_CANCELED); /* too late: the hold is ours to release */
    }
    if (c->way == EXIT_BY_TRY) {
        return status == PDK_UNAVAILABLE || (c->at->granted && status == PDK_TIMEOUT);
    }
    /* A set begins again when the lease of its first parts is over, and then it stands nowhere. A claim that has more time on a slow
     * machine may see that. */
    const bool anew = c->p.r->start_set != NULL && claim_ms() > EXITS_CLAIM_MS;
    return status == (c->at->behind || c->at->in_queue || c->at->granted ? PDK_TIMEOUT : PDK_UNAVAILABLE) ||
           ((c->late || anew) && status == PDK_UNAVAILABLE);
}

static void check_answer(exit_case *c) {
    const pdk_status status = ts_answer_status(c->answer);

    ck_assert_msg(is_expected(c, status), "%s / %s / %s: %s", c->at->name, exit_failure_names[c->failure],
                  exit_way_names[c->way], pdk_status_name(status));
    assert_exit(c, ts_answer_holds(c->answer) == (status == PDK_OK));
    if (status == PDK_OK) {
        const pdk_status released = ts_answer_release(c->answer);
        assert_exit(c, released == PDK_OK || (released == PDK_LOST && c->failure == EXIT_SILENT_LONG));
    }
}

static void heal(exit_case *c) {
    if (c->failure == EXIT_SILENT_LOST) {
        ts_proxy_heal_discard(c->p.client[1]->proxy);
    } else {
        ts_proxy_heal(c->p.client[1]->proxy);
    }
}

/* The same session gets it, and all of it. After a silence it is granted, rightly, with T/16 of the lease left, and a busy machine may
 * be slower than that. */
static void check_usable(exit_case *c, const recipe *r, const char *path) {
    const int64_t end = ts_now_ms() + ts_patience(5000);
    void *object = recipe_at(r, c->p.client[1], path);

    for (;;) {
        ts_answer *held = recipe_now(r, object, 5000);
        assert_exit(c, ts_answer_status(held) == PDK_OK);
        if (recipe_release(r, object, held) == PDK_OK) {
            return;
        }
        assert_exit(c, ts_now_ms() < end);
    }
}

/* The holder ahead has noticed nothing. Its hold ends here. A session that has ended meanwhile may leave what an end without a release
 * leaves. */
static void check_clean(exit_case *c, int64_t until) {
    const int held = (c->ahead != NULL ? c->p.r->against->held : 0) + c->at->foreign;
    const int left = c->failure == EXIT_SILENT_LONG ? c->p.r->left : 0;
    g_autofree char *below = g_strconcat(c->p.path, c->p.r->below, NULL);

    assert_exit(c, c->ahead == NULL || ts_answer_is_valid(c->ahead));
    if (c->front != NULL) {
        leave_front(c);
        until = MAX(until, ts_now_ms() + EXITS_CLEAN_MS); /* its nodes go only now */
    }
    for (int nodes; (nodes = recipe_nodes(c->p.path)) != held && nodes != held + left; ts_sleep_ms(10)) {
        assert_exit(c, ts_now_ms() < until);
    }
    if (c->ahead != NULL) {
        pair_admit(&c->p, 0, g_steal_pointer(&c->ahead));
    }
    if (batch.row->end != NULL) {
        batch.row->end(c);
    }
    check_usable(c, c->p.r, c->p.path);
    check_usable(c, c->p.r->against, below);
    recipe_await_nodes(c->p.r, c->p.path, 0);
    assert_exit(c, ts_answer_count(c->answer) == 1);
}

void exits_run(const exit_row *row) {
    ts_client *holder = ts_bench_client(4 * EXITS_SESSION_MS);
    int64_t longest = 0;

    batch.row = row;
    for (int i = 0; i < batch.count; i++) {
        set_up(&batch.all[i], holder);
    }
    for (int i = 0; i < batch.count; i++) {
        enter(&batch.all[i]);
        if (batch.all[i].failure == EXIT_SILENT_LONG) {
            longest = ts_now_ms() + EXITS_SESSION_MS + 500;
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
    const int64_t until = ts_now_ms() + EXITS_CLEAN_MS;
    for (int i = 0; i < batch.count; i++) {
        check_clean(&batch.all[i], until);
    }
}

void exits_clear(void) {
    for (int i = 0; i < batch.count; i++) {
        if (batch.all[i].p.object[1] != NULL) {
            batch.row->r->unref(g_steal_pointer(&batch.all[i].p.object[1]));
        }
    }
    batch.count = 0;
}

void exits_add(const exit_state *at, enum exit_failure failure) {
    for (int way = 0; way < EXIT_WAYS; way++) {
        if (way == EXIT_BY_TRY && at->behind) {
            continue; /* a try does not wait behind anybody */
        }
        g_assert_cmpint(batch.count, <, CASES_MAX);
        batch.all[batch.count++] = (exit_case){.at = at, .way = (enum exit_way)way, .failure = failure};
    }
}
