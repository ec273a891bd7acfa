/* See majority_bench.h. */
#include "majority_bench.h"

#include <glib.h>

#include "ts_support.h"

enum { IN_TIME_MS = 15000, TICK_MS = 200, PATIENCE_MS = 2000 };

static ts_ensemble *ensembles[ENSEMBLES];
static bool down[ENSEMBLES];
static GSList *members;

static void stop_servers(void) {
    for (int i = 0; i < ENSEMBLES; i++)
        ts_ensemble_stop(g_steal_pointer(&ensembles[i]));
}

static void start_servers(void) {
    const ts_ensemble_options options = {.nodes = 1, .tick_ms = TICK_MS};
    if (ensembles[0])
        return;
    for (int i = 0; i < ENSEMBLES; i++) {
        ensembles[i] = ts_ensemble_start(&options);
        ck_assert_ptr_nonnull(ensembles[i]);
    }
    atexit(stop_servers);
}

static void drop_locks(gpointer member) {
    for (int i = 0; i < ENSEMBLES; i++)
        member_drop_lock(member, i);
}

static void clear(void) {
    g_slist_free_full(g_steal_pointer(&members), drop_locks);
    ts_paddock_clear();
    for (int i = 0; i < ENSEMBLES; i++)
        if (down[i]) {
            ck_assert(ts_ensemble_restart(ensembles[i], 0));
            down[i] = false;
        }
}

TCase *majority_case(Suite *suite, const char *name) {
    TCase *tcase = tcase_create(name);
    tcase_add_checked_fixture(tcase, start_servers, clear);
    suite_add_tcase(suite, tcase);
    return tcase;
}

const char *majority_server(int i) { return ts_ensemble_host(ensembles[i], 0); }

void majority_server_down(int i) {
    ts_ensemble_kill(ensembles[i], 0);
    down[i] = true;
}

struct member *member_new(const char *path, int session_ms, const pdk_session_options *options) {
    const int each[ENSEMBLES] = {session_ms, session_ms, session_ms, session_ms, session_ms};
    return member_of(path, each, options);
}

struct member *member_of(const char *path, const int session_ms[ENSEMBLES], const pdk_session_options *options) {
    struct member *m = g_new0(struct member, 1);
    ts_paddock_keep(m, g_free);
    pdk_session_options o = PDK_SESSION_OPTIONS_INIT;
    if (options)
        o = *options;
    o.server_tick_ms = TICK_MS;
    o.open_in_background = 1; /* some may be down */
    m->options = (pdk_set_options)PDK_SET_OPTIONS_INIT;
    m->options.need = NEED;
    m->options.patience_ms = PATIENCE_MS; /* for a machine that is busy */
    for (int i = 0; i < ENSEMBLES; i++) {
        o.session_timeout_ms = session_ms[i];
        m->client[i] = ts_client_open_with(majority_server(i), NULL, &o);
        ck_assert_ptr_nonnull(m->client[i]);
        m->path[i] = g_strdup_printf("%s-%d", path, i);
        ts_paddock_keep(m->path[i], g_free);
        ck_assert_int_eq(pdk_lock_new(m->client[i]->session, m->path[i], NULL, &m->lock[i]), PDK_OK);
        m->right[i] = pdk_right_lock(m->lock[i]);
    }
    members = g_slist_prepend(members, m);
    return m;
}

void member_drop_lock(struct member *m, int i) { pdk_lock_unref(g_steal_pointer(&m->lock[i])); }

void member_links(const struct member *m, int from, int count, ts_proxy_mode mode) {
    for (int i = from; i < from + count; i++) {
        if (mode == TS_PASS)
            ts_proxy_heal(m->client[i]->proxy);
        else
            ts_proxy_set_mode(m->client[i]->proxy, mode);
    }
}

pdk_status member_acquire(struct member *m, int64_t timeout_ms, pdk_set **out) {
    return pdk_set_acquire(m->right, ENSEMBLES, timeout_ms, &m->options, out);
}

pdk_set *member_take(struct member *m) {
    pdk_set *held = NULL;
    pdk_status status = member_acquire(m, ts_patience(IN_TIME_MS), &held);
    ck_assert_msg(status == PDK_OK, "acquire: %s: %s", pdk_status_name(status), pdk_last_error());
    ck_assert(pdk_set_is_valid(held));
    ck_assert_int_ge(parts_held(held), m->options.need);
    return held;
}

static pdk_status start(void *recipe, int64_t timeout_ms, pdk_set_acquired_fn fn, void *user, pdk_set_claim **out) {
    const struct member *m = recipe;
    return pdk_set_acquire_async(m->right, ENSEMBLES, timeout_ms, &m->options, fn, user, out);
}

static pdk_status block(void *recipe, int64_t timeout_ms, pdk_set **out) {
    return member_acquire(recipe, timeout_ms, out);
}

ts_answer *member_async(struct member *m, int64_t timeout_ms) { return ts_answer_start_set(start, m, timeout_ms); }
ts_answer *member_thread(struct member *m, int64_t timeout_ms) { return ts_answer_block_set(block, m, timeout_ms); }

int parts_held(const pdk_set *held) {
    int count = 0;
    for (int i = 0; i < pdk_set_count(held); i++)
        count += pdk_hold_is_valid(pdk_set_part(held, i));
    return count;
}

struct parts_wanted {
    const pdk_set *held;
    int count;
};

static bool are_held(void *user) {
    const struct parts_wanted *wanted = user;
    return parts_held(wanted->held) == wanted->count;
}

void parts_wait(const pdk_set *held, int count) {
    struct parts_wanted wanted = {held, count};
    ck_assert_msg(ts_wait_until(are_held, &wanted, ts_patience(IN_TIME_MS)), "%d parts are held instead of %d",
                  parts_held(held), count);
}

void majority_nodes(const char *path, int count) {
    for (int i = 0; i < ENSEMBLES; i++) {
        g_autofree char *below = g_strdup_printf("%s-%d", path, i);
        ck_assert_msg(down[i] || ts_wait_children(majority_server(i), below, count, ts_patience(IN_TIME_MS)),
                      "%s: %d nodes instead of %d", below, ts_child_count(majority_server(i), below), count);
    }
}
