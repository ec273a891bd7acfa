/* Revocation in simulated time: three processes take turns at a lock, and ask each other to let go, or break each other's holds, while
 * links are cut, answers are lost and requests are refused.
 *
 *     asker ── pdk_session_request_release ──► SET, committed: a wish of one node ──► on_asked of a hold on that node, once a wish
 *     asker ── pdk_session_break ─────► DELETE, committed: of the node with that token alone ──► lost
 *
 * The judge sees what the servers commit. Wishes stand in the first node of the queue, ahead of its identity, and are told to no hold
 * on another node, nor handed over with it. Nothing is forced: without faults no hold is lost but for its broken node, and then for that reason. */
#include "contest.h"
#include "core/names.h"
#include "core/revocation.h"
#include "sim_thread.h"

#include <inttypes.h>
#include <string.h>

#define LOCK "/r/lock"

enum { WORKERS = 3, ASKERS = 2 };

/* A node of the queue, from its creation on. */
struct node {
    char *identity;
    int64_t token;
    bool gone, broken;
    int64_t asked_at;   /* the newest wish; 0: none */
    GHashTable *wishes; /* who: how often it was written, less how often it was told */
    bool told;          /* of the newest wish */
    bool heard;         /* of any wish: it is not handed over then */
};

static struct member {
    pdk_session *session, *asks;
    pdk_lock *lock;
} members[RIVALS];

/* One call of pdk_session_request_release or pdk_session_break, in a thread. */
static struct asker {
    int process;
    bool busy, breaks;
    char who[32], node[512];
    int64_t token, timeout_ms;
} askers[RIVALS][ASKERS];

static GHashTable *nodes;    /* path: struct node */
static GHashTable *holders;  /* sessions that have made nodes */
static GHashTable *breaking; /* "path token": that were named to pdk_session_break */
static unsigned asked, told, broken, gone, wrong_tokens;
static const char *wrong; /* what a thread has found: the judge asserts */
static bool faulty;

static struct node *node_of(const char *path) { return g_hash_table_lookup(nodes, path); }

static void node_free(void *of) {
    struct node *node = of;
    g_free(node->identity);
    g_hash_table_destroy(node->wishes);
    g_free(node);
}

/* ---- what is committed */

/* Holders and askers have sessions of their own. */
static bool is_askers(int64_t session) { return session != 0 && !g_hash_table_contains(holders, &session); }

static bool is_first(const char *path) {
    GHashTableIter all;
    gpointer other, of;
    struct pdk__name name, another;
    pdk__name_parse(strrchr(path, '/') + 1, &name);
    g_hash_table_iter_init(&all, nodes);
    while (g_hash_table_iter_next(&all, &other, &of)) {
        pdk__name_parse(strrchr(other, '/') + 1, &another);
        if (!((const struct node *)of)->gone && pdk__sequence_compare(another.sequence, name.sequence) < 0)
            return false;
    }
    return true;
}

static void on_wish(const struct sim_txn *txn) {
    struct node *node = node_of(txn->path);
    struct pdk__revocation r;
    must(is_askers(txn->session), "somebody else than an asker writes to it", txn->path);
    must(node && pdk__revocation_read(txn->data, strlen(txn->data), &r), "no wish is written to it", txn->path);
    must(is_first(txn->path), "it is asked, and does not hold", txn->path);
    must(strlen(node->identity) == r.identity_size && memcmp(node->identity, r.identity, r.identity_size) == 0,
         "it is asked, and its identity is gone", txn->path);
    char *who = g_strndup(r.who, r.who_size);
    g_hash_table_insert(node->wishes, who,
                        GINT_TO_POINTER(GPOINTER_TO_INT(g_hash_table_lookup(node->wishes, who)) + 1));
    node->asked_at = platform_agenda.now;
    node->told = false;
    asked++;
}

static void on_deleted(const struct sim_txn *txn) {
    struct node *node = node_of(txn->path);
    if (!node)
        return;
    node->gone = true;
    if (!is_askers(txn->session))
        return;
    g_autofree char *named = g_strdup_printf("%s %" PRId64, txn->path, node->token);
    must(g_hash_table_contains(breaking, named), "it is broken, and another token was named", txn->path);
    node->broken = true;
    broken++;
}

static gboolean goes(gpointer path, gpointer of, gpointer session) {
    const struct sim_node *there = sim_tree_find(sim_truth(platform_ensemble), path);
    (void)session;
    ((struct node *)of)->gone = !there;
    return FALSE;
}

static void on_committed(void *user, const struct sim_txn *txn) {
    (void)user;
    if (txn->kind == SIM_TXN_CLOSE)
        g_hash_table_foreach_remove(nodes, goes, NULL);
    if (!txn->path || !g_str_has_prefix(txn->path, "/app" LOCK "/") || txn->code != 0)
        return;
    if (txn->kind == SIM_TXN_CREATE) {
        struct node *node = g_new0(struct node, 1);
        *node = (struct node){.identity = g_strdup(txn->data), .token = txn->zxid};
        node->wishes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_hash_table_insert(nodes, g_strdup(txn->path), node);
        g_hash_table_add(holders, g_memdup2(&txn->session, sizeof txn->session));
    } else if (txn->kind == SIM_TXN_SET && txn->mode == SIM_SET_DATA) {
        on_wish(txn);
    } else if (txn->kind == SIM_TXN_DELETE) {
        on_deleted(txn);
    }
}

/* ---- in its process: holders */

static void open_in(void *subject, void *what) {
    struct member *m = &members[*(const int *)subject];
    (void)what;
    *m = (struct member){trouble_open(), trouble_open(), NULL};
    ck_assert_int_eq(pdk_lock_new(m->session, LOCK, NULL, &m->lock), PDK_OK);
}

static void close_in(void *subject, void *what) {
    const struct member *m = &members[*(const int *)subject];
    (void)what;
    pdk_lock_unref(m->lock);
    pdk_session_unref(m->session);
    pdk_session_unref(m->asks);
}

static void ask_in(void *subject, void *what) {
    struct worker *w = subject;
    int64_t ms = one_in(4) ? 700 : PDK_FOREVER;
    (void)what;
    contest_ask(w, ms);
    ck_assert_int_eq(pdk_lock_acquire_async(members[w->process].lock, ms, contest_answer, w, &w->claim), PDK_OK);
}

static void on_asked(pdk_hold *hold, const char *who, int64_t until_ms, void *user) {
    const struct worker *w = user;
    struct node *node = node_of(pdk_hold_node(hold));
    (void)until_ms;
    must(hold == w->hold && w->losses == 0, "it is told of an ask after its end", pdk_hold_node(hold));
    int left = GPOINTER_TO_INT(g_hash_table_lookup(node->wishes, who));
    must(left > 0, "it is told of an ask that was another's, or was told before", who);
    g_hash_table_insert(node->wishes, g_strdup(who), GINT_TO_POINTER(left - 1));
    node->told = node->heard = true;
    told++;
}

static void answered(struct worker *w, pdk_status status) {
    must(faulty || status == PDK_OK || status == PDK_TIMEOUT || status == PDK_CANCELED || status == PDK_UNAVAILABLE,
         "so a claim ends", pdk_status_name(status));
    must(!w->hold || !node_of(pdk_hold_node(w->hold))->heard, "what was asked for is handed over", LOCK);
    if (w->hold)
        ck_assert_int_eq(pdk_hold_on_request(w->hold, on_asked, w, NULL), PDK_OK);
}

static void on_lost(struct worker *w) {
    const char *path = pdk_hold_node(w->hold);
    must(faulty || node_of(path)->broken, "it is lost, and nobody has broken it", path);
    must(faulty || pdk_hold_reason(w->hold) == PDK_REASON_NODE_GONE, "it was broken, and lost for another reason",
         path);
    gone += pdk_hold_reason(w->hold) == PDK_REASON_NODE_GONE;
}

/* ---- in its process: askers */

static void ask_by_thread(void *user) {
    struct asker *a = user;
    pdk_status status = pdk_session_request_release(members[a->process].asks, LOCK, NULL, a->who, 1000, a->timeout_ms);
    if (status != PDK_OK && status != PDK_GONE && status != PDK_UNAVAILABLE && status != PDK_CLOSED)
        wrong = pdk_status_name(status);
    a->busy = false;
}

static void break_by_thread(void *user) {
    struct asker *a = user;
    const struct node *node = node_of(a->node);
    bool was_gone = node->gone;
    pdk_status status =
        pdk_session_break(members[a->process].asks, a->node + strlen("/app"), a->token, a->timeout_ms, NULL);
    if (status == PDK_OK && (a->token != node->token || !node->gone || was_gone))
        wrong = "a break is confirmed, and the node is there, or had another token, or was gone before";
    wrong_tokens += status == PDK_GONE && a->token != node->token;
    a->busy = false;
}

/* The path of a node that stands, or has just gone; NULL: there is none. */
static const char *some_node(void) {
    GHashTableIter all;
    gpointer path, of, found = NULL;
    g_hash_table_iter_init(&all, nodes);
    while (g_hash_table_iter_next(&all, &path, &of))
        if (!((const struct node *)of)->gone ? !found || one_in(2) : one_in(500))
            found = path;
    return found;
}

static void begin_break_in(void *subject, void *what) {
    struct asker *a = subject;
    const char *path = what;
    g_strlcpy(a->node, path, sizeof a->node);
    a->token = node_of(path)->token + (one_in(3) ? 1 - 2 * one_of(2) : 0);
    a->timeout_ms = 3000;
    a->busy = a->breaks = true;
    g_hash_table_add(breaking, g_strdup_printf("%s %" PRId64, path, a->token));
    sim_thread_start(&rivals[a->process].process, break_by_thread, a);
}

static void begin_ask_in(void *subject, void *what) {
    struct asker *a = subject;
    (void)what;
    g_snprintf(a->who, sizeof a->who, "asker %d, %u", a->process, (unsigned)one_of(1000000));
    a->timeout_ms = one_in(3) ? 300 : 5000;
    a->busy = true;
    sim_thread_start(&rivals[a->process].process, ask_by_thread, a);
}

/* ---- a run */

static void judge_in(void *subject, void *what) {
    const struct worker *w = subject;
    const char *path = pdk_hold_node(w->hold);
    const struct node *node = node_of(path);
    bool valid = pdk_hold_is_valid(w->hold);
    *(int *)what += valid && !node->broken;
    must(faulty || !valid || node->gone || node->told || node->asked_at == 0 ||
             platform_agenda.now < MAX(node->asked_at, w->asked_at) + SECOND / 5,
         "it is not told that it was asked", path);
}

static void judge(void) {
    int inside = 0;
    must(!wrong, "so a call ends", wrong);
    for (int i = 0; i < RIVALS; i++)
        for (int k = 0; k < WORKERS; k++)
            if (workers[i][k].hold)
                sim_call_in(&rivals[i].process, judge_in, &workers[i][k], &inside);
    must(inside <= 1, "two valid holds", LOCK);
}

static const struct contest turns = {
    .workers = WORKERS,
    .gives_back = 60,
    .trouble = {.refuses = 60,
                .loses = 60,
                .cuts = 150,
                .blocks = 1500,
                .lags = 200,
                .kinds = {PDK__OP_CREATE, PDK__OP_LIST, PDK__OP_GET, PDK__OP_SET, PDK__OP_SYNC, PDK__OP_DELETE},
                .kinds_count = 6},
    .open = open_in,
    .close = close_in,
    .ask = ask_in,
    .answered = answered,
    .lost = on_lost,
    .judge = judge,
};

/* Each asker that is free may ask, or break. false: all are free. */
static bool ask(bool goes_on) {
    bool busy = false;
    for (int i = 0; i < RIVALS; i++)
        for (int k = 0; k < ASKERS; k++) {
            struct asker *a = &askers[i][k];
            const char *path = goes_on && !a->busy && one_in(300) ? some_node() : NULL;
            if (path)
                sim_call_in(&rivals[i].process, begin_break_in, a, (void *)(uintptr_t)path);
            else if (goes_on && !a->busy && one_in(30))
                sim_call_in(&rivals[i].process, begin_ask_in, a, NULL);
            busy |= a->busy;
        }
    return busy;
}

static void run(guint seed, bool faults) {
    faulty = faults;
    asked = told = broken = gone = wrong_tokens = 0;
    wrong = NULL;
    memset(members, 0, sizeof members);
    memset(askers, 0, sizeof askers);
    for (int i = 0; i < RIVALS * ASKERS; i++)
        askers[i / ASKERS][i % ASKERS].process = i / ASKERS;
    nodes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, node_free);
    breaking = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    holders = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    contest_begin(&turns, seed);
    sim_observe(platform_ensemble, on_committed, NULL, NULL);
    for (int i = 0; i < 40000 / TROUBLE_STEP_MS; i++) {
        ask(true);
        contest_play(TROUBLE_STEP_MS, faults);
    }
    contest_rest();
    for (int64_t until = platform_agenda.now + 10 * SECOND; ask(false); platform_pass(SIM_MS))
        must(platform_agenda.now < until, "a call does not return", LOCK);
    ck_assert_uint_gt(asked, 100);
    ck_assert_uint_gt(told, faults ? 20 : 100);
    ck_assert_uint_gt(broken, 5);
    ck_assert(faults || gone > 3);
    ck_assert_uint_gt(wrong_tokens, 1);
    sim_observe(platform_ensemble, NULL, NULL, NULL);
    contest_end();
    g_hash_table_destroy(nodes);
    g_hash_table_destroy(breaking);
    g_hash_table_destroy(holders);
}

START_TEST(asks_and_breaks) { run((guint)_i + 1, false); }
END_TEST

START_TEST(asks_and_breaks_while_everything_fails) { run((guint)_i + 100, true); }
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_asked");
    TCase *cases = tcase_create("driver_asked");
    tcase_add_checked_fixture(cases, platform_setup, platform_teardown);
    tcase_add_loop_test(cases, asks_and_breaks, 0, 4);
    tcase_add_loop_test(cases, asks_and_breaks_while_everything_fails, 0, trouble_seeds(16));
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
