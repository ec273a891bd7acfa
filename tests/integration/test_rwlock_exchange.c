/*
 * The exchange of a writer's node for a reader's is interrupted. The connection fails at each of its requests, and then
 * the hold ends in each way it can.
 *
 *     create the reader's node ─► list ─► (stand on it) ─► delete the writer's
 *         ╳ lost, or its answer    ╳                          ╳
 *
 * A reader and a writer of another session wait behind each hold. The reader is granted by the downgrade or by the end
 * of the hold. The writer is granted after both. Nothing is left.
 */
#include <glib.h>
#include <string.h>

#include "ts_bench.h"
#include "ts_check.h"
#include "ts_rwlock.h"
#include "ts_support.h"

enum { SESSION_MS = 3000, CLEAN_MS = 3000 };

/* LATE: data held back is delivered when the link works again. LOST: it is never delivered. */
enum failure { RESET, SILENT_LATE, SILENT_LOST, FAILURES };

static const char *const failure_names[] = {"reset", "silence, late delivery", "silence, loss"};

static const struct moment {
    const char *name;
    int opcode;
    ts_proxy_loss loss;
    bool done; /* the hold stands on the reader's node by then */
} moments[] = {
    {"create lost", TS_OP_CREATE2, TS_LOSE_REQUEST, false},
    {"created, unknown to us", TS_OP_CREATE2, TS_LOSE_REPLY, false},
    {"list lost", TS_OP_GET_CHILDREN, TS_LOSE_REQUEST, false},
    {"listed, unknown to us", TS_OP_GET_CHILDREN, TS_LOSE_REPLY, false},
    {"delete lost", TS_OP_DELETE, TS_LOSE_REQUEST, true},
    {"deleted, unknown to us", TS_OP_DELETE, TS_LOSE_REPLY, true},
};

enum { MOMENTS = G_N_ELEMENTS(moments), CASES = MOMENTS * FAILURES };

/* How the hold ends: not at all; by us; by the clock; by the server; by another client that deletes its node. */
enum end { HEALED, RELEASED, LAPSED, EXPIRED, CLOSED, DELETED, ENDS };

static const char *const end_names[] = {"healed", "released", "lapsed", "expired", "closed", "deleted"};

typedef struct {
    const struct moment *at;
    enum failure failure;
    const char *path;
    ts_client *client;
    pdk_hold *hold; /* two references: the end drops one, the checks use the other */
    ts_lost *lost;
    char *node;
    int64_t token;
    ts_answer *reader, *writer;
} exchange;

static struct {
    enum end end;
    exchange all[CASES];
} batch;

static const char *server(void) { return ts_bench_server(); }

#define assert_case(c, truth)                                                                                          \
    ck_assert_msg(truth, "%s / %s / %s: %s", (c)->at->name, failure_names[(c)->failure], end_names[batch.end], #truth)

/* ---- the steps ---- */

static void set_up(exchange *c, ts_client *behind) {
    c->path = ts_fresh_path();
    c->client = ts_bench_client(SESSION_MS);
    pdk_rwlock *lock = ts_rwlock(c->client, c->path);

    c->hold = ts_bench_write(lock, 5000);
    ts_lost *lost = c->lost = ts_lost_watch(c->hold);
    assert_case(c, lost != NULL);
    c->node = ts_hold_node(c->hold);
    c->token = pdk_hold_token(c->hold);
    c->reader = ts_read_async(ts_rwlock(behind, c->path), 60000);
    ts_await_queued(c->reader);
    c->writer = ts_write_async(ts_rwlock(behind, c->path), 60000);
    ts_await_queued(c->writer);
    pdk_hold_ref(c->hold);
    ts_proxy_arm(c->client->proxy, c->at->opcode, c->at->loss, c->failure == RESET ? TS_CUT : TS_BLACKHOLE);
    assert_case(c, pdk_hold_downgrade(c->hold) == PDK_OK);
}

static bool is_exchanged(const exchange *c) { return strstr(pdk_hold_sequencer(c->hold), " shared/") != NULL; }

static void interrupt(exchange *c) {
    assert_case(c, ts_proxy_wait_fired(c->client->proxy, ts_patience(2000)));
    assert_case(c, pdk_hold_is_valid(c->hold));
    assert_case(c, is_exchanged(c) == c->at->done);
}

static void leave(exchange *c) {
    switch (batch.end) {
    case RELEASED:
        assert_case(c, pdk_hold_release(c->hold) == PDK_OK);
        break;
    case LAPSED:
        assert_case(c, ts_fd_readable(pdk_hold_fd(c->hold), SESSION_MS + ts_patience(500)));
        break;
    case EXPIRED:
        assert_case(c, ts_expire(c->client->proxy, server()) == 0);
        break;
    case CLOSED:
        pdk_session_close(c->client->session, 50);
        break;
    case DELETED: {
        g_autofree char *stands_on = ts_hold_node(c->hold);
        assert_case(c, ts_delete(server(), stands_on) == 0);
        break;
    }
    default:
        break;
    }
}

static void heal(exchange *c) {
    if (c->failure == SILENT_LOST) {
        ts_proxy_heal_discard(c->client->proxy);
    } else {
        ts_proxy_heal(c->client->proxy);
    }
}

static void assert_lost(exchange *c, pdk_reason reason) {
    assert_case(c, ts_lost_wait(c->lost, ts_patience(CLEAN_MS)));
    ck_assert_msg(ts_lost_reason(c->lost) == reason, "%s / %s / %s: %s", c->at->name, failure_names[c->failure],
                  end_names[batch.end], pdk_reason_name(ts_lost_reason(c->lost)));
    assert_case(c, !pdk_hold_is_valid(c->hold));
    assert_case(c, pdk_hold_release(c->hold) == PDK_LOST);
    assert_case(c, ts_lost_count(c->lost) == 1);
}

/* The hold goes on, shared, through all failures. */
static void assert_holds(exchange *c) {
    assert_case(c, ts_answer_wait(c->reader, ts_patience(CLEAN_MS)));
    assert_case(c, ts_wait_children(server(), c->path, 3, ts_patience(CLEAN_MS)));
    g_autofree char *node = ts_hold_node(c->hold);
    assert_case(c, pdk_hold_is_valid(c->hold));
    assert_case(c, is_exchanged(c));
    assert_case(c, pdk_hold_token(c->hold) == c->token);
    assert_case(c, strcmp(node + strlen(node) - 10, c->node + strlen(c->node) - 10) == 0);
    assert_case(c, ts_exists(server(), node, NULL) == 0);
    assert_case(c, ts_exists(server(), c->node, NULL) == -101);
    assert_case(c, pdk_session_check_sequencer(c->client->session, pdk_hold_sequencer(c->hold), 5000) == PDK_OK);
    assert_case(c, ts_answer_count(c->writer) == 0);
    assert_case(c, ts_lost_count(c->lost) == 0);
    assert_case(c, pdk_hold_release(c->hold) == PDK_OK);
}

/* The writer's node is deleted after the reader's was in the queue. A late answer that says so is still true. But when
 * the hold needs a fresh lease, the session looks again. */
static bool may_be_in_time(const exchange *c) {
    return !c->at->done && c->at->loss == TS_LOSE_REPLY && c->failure == SILENT_LATE;
}

static void check_end(exchange *c) {
    switch (batch.end) {
    case HEALED:
        assert_holds(c);
        break;
    case RELEASED:
        assert_case(c, ts_lost_count(c->lost) == 0);
        break;
    case LAPSED:
        assert_lost(c, PDK_REASON_LEASE);
        break;
    case EXPIRED:
        assert_lost(c, PDK_REASON_EXPIRED);
        break;
    case CLOSED:
        assert_lost(c, PDK_REASON_CLOSED);
        break;
    default:
        if (may_be_in_time(c) && !ts_lost_wait(c->lost, ts_patience(300))) {
            assert_holds(c);
        } else {
            assert_lost(c, PDK_REASON_NODE_GONE);
        }
        break;
    }
}

/* The waiters are served in their order, and no node of ours is left. The nodes that we could not delete went with our
 * session. */
static void check_others(exchange *c) {
    const int64_t patience = ts_patience(CLEAN_MS) + (batch.end == CLOSED ? SESSION_MS : 0);

    assert_case(c, ts_answer_wait(c->reader, patience));
    assert_case(c, ts_answer_status(c->reader) == PDK_OK);
    assert_case(c, pdk_hold_is_valid(ts_answer_hold(c->reader)));
    assert_case(c, ts_answer_count(c->writer) == 0);
    assert_case(c, ts_answer_release(c->reader) == PDK_OK);
    assert_case(c, ts_answer_wait(c->writer, patience));
    assert_case(c, ts_answer_status(c->writer) == PDK_OK);
    assert_case(c, ts_wait_children(server(), c->path, 1, patience));
    assert_case(c, ts_answer_release(c->writer) == PDK_OK);
    assert_case(c, ts_wait_children(server(), c->path, 0, patience));
    pdk_hold_unref(g_steal_pointer(&c->hold));
    g_free(g_steal_pointer(&c->node));
}

/* All cases of one kind of end run side by side, because most of them wait. */
START_TEST(every_moment_and_end) {
    ts_client *behind = ts_bench_client(10 * SESSION_MS);

    batch.end = (enum end)_i;
    for (int i = 0; i < CASES; i++) {
        batch.all[i] = (exchange){.at = &moments[i % MOMENTS], .failure = (enum failure)(i / MOMENTS)};
        set_up(&batch.all[i], behind);
        interrupt(&batch.all[i]);
        if (batch.end != LAPSED) {
            leave(&batch.all[i]);
            heal(&batch.all[i]);
        }
    }
    for (int i = 0; i < CASES; i++) {
        if (batch.end == LAPSED) {
            leave(&batch.all[i]);
            heal(&batch.all[i]);
        }
        check_end(&batch.all[i]);
    }
    for (int i = 0; i < CASES; i++) {
        check_others(&batch.all[i]);
    }
}
END_TEST

static void drop_left(void) {
    for (int i = 0; i < CASES; i++) {
        pdk_hold_unref(g_steal_pointer(&batch.all[i].hold));
        g_free(g_steal_pointer(&batch.all[i].node));
    }
}

static Suite *make_suite(void) {
    Suite *suite = suite_create("rwlock_exchange");
    TCase *tcase = ts_bench_case(suite, "rwlock_exchange");

    tcase_add_checked_fixture(tcase, NULL, drop_left);
    tcase_add_loop_test(tcase, every_moment_and_end, 0, ENDS);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
