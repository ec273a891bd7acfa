/* See permits.h. */
#include "permits.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ts_support.h"

enum { IN_TIME_MS = 5000 };

static const char *server(void) { return ts_bench_server(); }

static void unref_semaphore(void *semaphore) { pdk_semaphore_unref(semaphore); }

pdk_semaphore *permits_with(const ts_client *client, const char *path, int32_t permits,
                            const pdk_semaphore_options *options) {
    pdk_semaphore *semaphore;

    if (pdk_semaphore_new(client->session, path, permits, options, &semaphore) != PDK_OK) {
        fprintf(stderr, "pdk_semaphore_new: %s\n", pdk_last_error());
        abort();
    }
    ts_paddock_keep(semaphore, unref_semaphore);
    return semaphore;
}

pdk_semaphore *permits_at(const ts_client *client, const char *path, int32_t permits) {
    return permits_with(client, path, permits, NULL);
}

/* ---- acquiring ---- */

typedef struct {
    pdk_semaphore *semaphore;
    int32_t count;
} wish;

static wish *wish_new(pdk_semaphore *semaphore, int32_t count) {
    wish *w = g_new(wish, 1);

    *w = (wish){semaphore, count};
    ts_paddock_keep(w, g_free);
    return w;
}

static pdk_status start(void *recipe, int64_t timeout_ms, pdk_acquired_fn fn, void *user, pdk_claim **out) {
    const wish *w = recipe;

    return pdk_semaphore_acquire_async(w->semaphore, w->count, timeout_ms, fn, user, out);
}

static pdk_status block(void *recipe, int64_t timeout_ms, pdk_hold **out) {
    const wish *w = recipe;

    return pdk_semaphore_acquire(w->semaphore, w->count, timeout_ms, out);
}

ts_answer *permits_async(pdk_semaphore *semaphore, int32_t count, int64_t timeout_ms) {
    return ts_answer_start(start, wish_new(semaphore, count), timeout_ms);
}

ts_answer *permits_thread(pdk_semaphore *semaphore, int32_t count, int64_t timeout_ms) {
    return ts_answer_block(block, wish_new(semaphore, count), timeout_ms);
}

pdk_hold *permits_take(pdk_semaphore *semaphore, int32_t count) {
    pdk_hold *hold = NULL;
    const pdk_status status = pdk_semaphore_acquire(semaphore, count, ts_patience(IN_TIME_MS), &hold);

    ck_assert_msg(status == PDK_OK, "acquire: %s: %s", pdk_status_name(status), pdk_last_error());
    ck_assert(pdk_hold_is_valid(hold));
    return hold;
}

void permits_await_ahead(ts_answer *answer, int32_t ahead) {
    const int64_t end = ts_now_ms() + ts_patience(IN_TIME_MS);
    int32_t now = -1;
    pdk_status status;

    while ((status = ts_answer_position(answer, &now)) != PDK_OK || now != ahead) {
        ck_assert_msg(status == PDK_OK || status == PDK_UNAVAILABLE, "decided, while it should have %d ahead", ahead);
        ck_assert_msg(ts_now_ms() < end, "%d ahead instead of %d", now, ahead);
        ts_sleep_ms(1);
    }
}

void permits_await_grant(ts_answer *answer) {
    ck_assert_msg(ts_answer_wait(answer, ts_patience(IN_TIME_MS)), "not granted");
    ck_assert_str_eq(pdk_status_name(ts_answer_status(answer)), pdk_status_name(PDK_OK));
    ck_assert(pdk_hold_is_valid(ts_answer_hold(answer)));
}

void permits_await_status(ts_answer *answer, pdk_status status) {
    ck_assert_msg(ts_answer_wait(answer, ts_patience(IN_TIME_MS)), "not answered");
    ck_assert_str_eq(pdk_status_name(ts_answer_status(answer)), pdk_status_name(status));
    ck_assert_ptr_null(ts_answer_hold(answer));
}

/* ---- what the server has ---- */

static int children_of(const char *path, const char *dir) {
    g_autofree char *full = g_strconcat(path, dir, NULL);

    return MAX(ts_child_count(server(), full), 0);
}

static bool wait_children(const char *path, const char *dir, int count) {
    g_autofree char *full = g_strconcat(path, dir, NULL);

    return ts_wait_children(server(), full, count, ts_patience(IN_TIME_MS));
}

int permits_taken(const char *path) { return children_of(path, "/leases"); }
bool permits_wait_taken(const char *path, int count) { return wait_children(path, "/leases", count); }
bool permits_wait_queued(const char *path, int count) { return wait_children(path, "/locks", count); }

void permits_assert_none(const char *path) {
    ck_assert_msg(permits_wait_queued(path, 0), "%d nodes are left in the queue", children_of(path, "/locks"));
    ck_assert_msg(permits_wait_taken(path, 0), "%d leases are left", permits_taken(path));
}

static int by_sequence(const void *a, const void *b) {
    const char *x = *(char *const *)a, *y = *(char *const *)b;

    return strcmp(x + strlen(x) - 10, y + strlen(y) - 10);
}

char *permits_node(const char *path, const char *dir, unsigned rank) {
    g_autofree char *full = g_strdup_printf("%s/%s", path, dir);
    g_auto(GStrv) names = ts_children(server(), full, NULL);
    const guint count = names == NULL ? 0 : g_strv_length(names);

    if (rank >= count) {
        return NULL;
    }
    qsort(names, count, sizeof names[0], by_sequence);
    return g_strdup_printf("%s/%s", full, names[rank]);
}

char *permits_leases(const char *path) { return g_strconcat(path, "/leases", NULL); }
