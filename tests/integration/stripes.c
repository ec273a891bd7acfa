/* See stripes.h. */
#include "stripes.h"

#include <glib.h>
#include <string.h>

#include "ts_clock.h"
#include "ts_support.h"

struct made {
    const ts_client *client;
    const char *path;
    pdk_striped *striped;
};
static struct made made[16];

static void unref_striped(void *of) {
    struct made *m = of;
    pdk_striped_unref(m->striped);
    *m = (struct made){0};
}

pdk_striped *striped_at(ts_client *client, const char *path) {
    unsigned free = 0;
    for (unsigned i = 0; i < G_N_ELEMENTS(made); i++)
        if (made[i].client == client && made[i].path == path)
            return made[i].striped;
    while (made[free].client)
        ck_assert_uint_lt(++free, G_N_ELEMENTS(made));
    struct made *m = &made[free];
    *m = (struct made){client, path, NULL};
    ck_assert_int_eq(pdk_striped_new(client->session, path, N, NULL, &m->striped), PDK_OK);
    ts_paddock_keep(m, unref_striped);
    return m->striped;
}

static pdk_status start_any(void *striped, int64_t timeout_ms, pdk_acquired_fn fn, void *user, pdk_claim **out) {
    return pdk_striped_acquire_any_async(striped, timeout_ms, fn, user, out);
}

ts_answer *any_async(pdk_striped *striped, int64_t timeout_ms) {
    return ts_answer_start(start_any, striped, timeout_ms);
}

static pdk_status start_lock(void *lock, int64_t timeout_ms, pdk_acquired_fn fn, void *user, pdk_claim **out) {
    return pdk_lock_acquire_async(lock, timeout_ms, fn, user, out);
}

static void unref_lock(void *lock) { pdk_lock_unref(lock); }

ts_answer *stripe_async(pdk_striped *striped, int32_t stripe, int64_t timeout_ms) {
    pdk_lock *lock = NULL;
    ck_assert_int_eq(pdk_striped_lock(striped, stripe, &lock), PDK_OK);
    ts_paddock_keep(lock, unref_lock);
    return ts_answer_start(start_lock, lock, timeout_ms);
}

int stripes_queued(const char *path, int32_t stripe) {
    g_autofree char *dir = g_strdup_printf("%s/%04d", path, stripe);
    return MAX(ts_child_count(ts_bench_server(), dir), 0);
}

char *stripes_last_node(const char *path, int32_t stripe) {
    g_autofree char *dir = g_strdup_printf("%s/%04d", path, stripe);
    g_auto(GStrv) names = ts_children(ts_bench_server(), dir, NULL);
    const char *last = NULL;
    for (char **name = names; *name; name++)
        if (!last || strcmp(*name + strlen(*name) - 10, last + strlen(last) - 10) > 0)
            last = *name;
    ck_assert_ptr_nonnull(last);
    return g_strdup_printf("%s/%s", dir, last);
}

void stripes_await(const char *path, int standing, int any) {
    g_autofree char *front = g_strconcat(path, "/any", NULL);
    const int64_t end = ts_now_ms() + ts_patience(5000);
    for (;;) {
        int stand = 0, wait = MAX(ts_child_count(ts_bench_server(), front), 0);
        for (int32_t i = 0; i < N; i++)
            stand += stripes_queued(path, i);
        if (stand == standing && wait == any)
            return;
        ck_assert_msg(ts_now_ms() < end, "%d nodes in the stripes, %d in any; %d and %d were expected", stand, wait,
                      standing, any);
        ts_sleep_ms(5);
    }
}

void stripes_assert_none(const char *path) { stripes_await(path, 0, 0); }
