/* Thousands of members of one group, and watchers: group_storm [--members N] [--sessions N] [--watchers N] HOSTS
 *
 *     all join at once, while watchers look ─► one more watcher comes ─► members change ─► a session's members leave ─► all leave
 *
 * Each view that a watcher is told must have the next number, and must be made of the one before by its differences. At the end of
 * each step the view is exact, and has whoever is there. The figures are printed. */
#include "figures.h"

#include <malloc.h>
#include <paddock/paddock.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <ts_clock.h>
#include <ts_requests.h>
#include <ts_support.h>

#define PATH "/groups/storm"

enum { SESSION_MS = 30000, LIMIT_MS = 300000, CHANGES = 20, DATA_SIZE = 64 };

struct client {
    ts_proxy *proxy;
    pdk_session *session;
};

struct watching {
    struct client client;
    pdk_group_watcher *watcher;
    _Atomic uint64_t views, changed;
    _Atomic size_t count;
    atomic_bool exact;
};

static int members = 10000, sessions = 20, watchers = 3;
static const char *hosts;
static struct client *clients;
static struct watching *watches; /* one more than --watchers: the late one */
static pdk_member **all;
static atomic_int registered, wrong;

static void check(pdk_status status, const char *what) {
    if (status == PDK_OK)
        return;
    fprintf(stderr, "group_storm: %s: %s: %s\n", what, pdk_status_name(status), pdk_last_error());
    exit(EXIT_FAILURE);
}

static void complain(const char *what) {
    fprintf(stderr, "group_storm: %s\n", what);
    atomic_fetch_add(&wrong, 1);
}

static struct client client_new(void) {
    struct client c = {.proxy = ts_proxy_start(hosts)};
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = SESSION_MS;
    if (!c.proxy)
        exit(EXIT_FAILURE);
    check(pdk_session_open(ts_proxy_address(c.proxy), &options, &c.session), "open");
    return c;
}

static void client_end(struct client *c) {
    check(pdk_session_close(c->session, LIMIT_MS), "close");
    pdk_session_unref(c->session);
    ts_proxy_stop(c->proxy);
}

/* ---- what watchers are told */

static void on_view(pdk_group_view *view, void *user) {
    struct watching *w = user;
    const pdk_member_info *before, *after;
    size_t count = atomic_load(&w->count);
    if (pdk_group_view_number(view) != atomic_load(&w->views) + 1)
        complain("a view has another number");
    for (size_t i = 0; pdk_group_view_change(view, i, &before, &after); i++) {
        count = count + (before == NULL) - (after == NULL);
        if (before && after)
            atomic_fetch_add(&w->changed, 1);
    }
    if (count != pdk_group_view_count(view))
        complain("the differences do not make the view");
    atomic_store(&w->exact, pdk_group_view_is_exact(view));
    atomic_store(&w->count, count);
    atomic_fetch_add(&w->views, 1);
}

static void watch(struct watching *w) {
    w->client = client_new();
    check(pdk_group_watch(w->client.session, PATH, on_view, w, NULL, &w->watcher), "watch");
}

/* Until the first `n` watchers have a view that is as wanted. */
static void await(int n, size_t count, uint64_t changed) {
    const int64_t until = ts_now_ms() + LIMIT_MS;
    for (int i = 0; i < n; i++) {
        struct watching *w = &watches[i];
        while (atomic_load(&w->views) == 0 || atomic_load(&w->count) != count || atomic_load(&w->changed) < changed ||
               !atomic_load(&w->exact)) {
            if (ts_now_ms() > until) {
                complain("a watcher does not come to the view that it should have");
                return;
            }
            ts_sleep_ms(1);
        }
    }
}

/* ---- figures */

static double seconds_since(int64_t ns) { return (double)(ts_now_ns() - ns) / 1e9; }

static void print_traffic(const char *who, struct client *c) {
    ts_proxy_counters counted;
    ts_proxy_read(c->proxy, &counted);
    printf("    %s: %lu creates, %lu lists, %lu reads, %lu barriers; %.1f MB received\n", who,
           (unsigned long)ts_proxy_count(c->proxy, TS_OP_CREATE2),
           (unsigned long)ts_proxy_count(c->proxy, TS_OP_GET_CHILDREN),
           (unsigned long)ts_proxy_count(c->proxy, TS_OP_GET_DATA),
           (unsigned long)ts_proxy_count(c->proxy, TS_OP_MULTI), (double)counted.bytes_down / 1e6);
}

static void zero_all(void) {
    for (int i = 0; i < sessions; i++)
        ts_proxy_zero(clients[i].proxy);
    for (int i = 0; i < watchers; i++)
        ts_proxy_zero(watches[i].client.proxy);
}

static size_t heap(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* ---- the steps */

static void on_joined(pdk_hold *hold, void *user) {
    (void)hold;
    (void)user;
    atomic_fetch_add(&registered, 1);
}

static void join_all(void) {
    pdk_member_callbacks callbacks = PDK_MEMBER_CALLBACKS_INIT;
    char data[DATA_SIZE];
    callbacks.joined = on_joined;
    for (int i = 0; i < members; i++) {
        g_snprintf(data, sizeof data, "10.0.%d.%d:7000 %d", i / 250, i % 250, i);
        check(pdk_group_join(clients[i % sessions].session, PATH, data, sizeof data, &callbacks, &all[i]), "join");
    }
    for (int64_t until = ts_now_ms() + LIMIT_MS; atomic_load(&registered) < members && ts_now_ms() < until;)
        ts_sleep_ms(1);
    if (atomic_load(&registered) != members)
        complain("not all are registered, or one twice");
}

static void storm(void) {
    for (int i = 0; i < watchers; i++)
        watch(&watches[i]);
    await(watchers, 0, 0);
    zero_all();
    const int64_t begun = ts_now_ns();
    join_all();
    const double joined = seconds_since(begun);
    await(watchers, (size_t)members, 0);
    printf("%d members in %d sessions join at once: registered after %.2f s, in the exact views of %d watchers after "
           "%.2f s\n",
           members, sessions, joined, watchers, seconds_since(begun));
    print_traffic("a session of members", &clients[0]);
    for (int i = 0; i < watchers; i++) {
        print_traffic("a watcher", &watches[i].client);
        printf("        told in %lu views\n", (unsigned long)atomic_load(&watches[i].views) - 1);
    }
    if (ts_child_count(hosts, PATH) != members)
        complain("there is not one node a member");
}

static void late_watcher(void) {
    const size_t before = heap();
    const int64_t begun = ts_now_ns();
    watch(&watches[watchers]);
    await(watchers + 1, (size_t)members, 0);
    printf("a watcher that comes later has its view after %.2f s, and %.1f MB of memory for it\n", seconds_since(begun),
           (double)(heap() - before) / 1e6);
    print_traffic("it", &watches[watchers].client);
}

static void change_some(void) {
    g_autoptr(GArray) told = figures_new();
    zero_all();
    for (int i = 0; i < CHANGES; i++) {
        const int64_t begun = ts_now_ns();
        check(pdk_member_set_data(all[(i * 7919) % members], &i, sizeof i, LIMIT_MS), "set");
        await(watchers, (size_t)members, (uint64_t)i + 1);
        figures_add(told, seconds_since(begun) * 1000);
    }
    printf("one member changes: all watchers are told after %.1f ms in the median, %.1f ms at the longest of %d\n",
           figures_median(told), figures_at(told, 1), CHANGES);
    print_traffic("a watcher, of all changes", &watches[0].client);
}

static void leave(int first, int step) {
    for (int i = first; i < members; i += step)
        if (all[i]) {
            check(pdk_member_leave(all[i]), "leave");
            pdk_member_unref(g_steal_pointer(&all[i]));
        }
}

static void leave_all(void) {
    int gone = 0;
    for (int i = 0; i < members; i += sessions)
        gone++;
    int64_t begun = ts_now_ns();
    leave(0, sessions);
    await(watchers, (size_t)(members - gone), CHANGES);
    printf("%d members leave at once: all watchers are told after %.2f s\n", gone, seconds_since(begun));
    begun = ts_now_ns();
    leave(0, 1);
    await(watchers + 1, 0, 0);
    printf("all leave: all watchers are told after %.2f s\n", seconds_since(begun));
    for (int i = 0; i < sessions; i++)
        check(pdk_session_flush(clients[i].session, LIMIT_MS), "flush");
    if (ts_child_count(hosts, PATH) > 0)
        complain("a node is left");
}

int main(int argc, char **argv) {
    const GOptionEntry entries[] = {
        {"members", 0, 0, G_OPTION_ARG_INT, &members, "how many members; 10000", "N"},
        {"sessions", 0, 0, G_OPTION_ARG_INT, &sessions, "in how many sessions; 20", "N"},
        {"watchers", 0, 0, G_OPTION_ARG_INT, &watchers, "how many watch; 3", "N"},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    };
    g_autoptr(GOptionContext) context = g_option_context_new("HOSTS - thousands of members of one group");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, NULL) || argc != 2 || sessions < 1 || members < sessions ||
        watchers < 1)
        return 2;
    hosts = argv[1];
    clients = g_new0(struct client, sessions);
    watches = g_new0(struct watching, watchers + 1);
    all = g_new0(pdk_member *, members);
    for (int i = 0; i < sessions; i++)
        clients[i] = client_new();
    storm();
    late_watcher();
    change_some();
    leave_all();
    for (int i = 0; i <= watchers; i++) {
        pdk_group_watcher_close(watches[i].watcher);
        client_end(&watches[i].client);
    }
    for (int i = 0; i < sessions; i++)
        client_end(&clients[i]);
    g_free(clients);
    g_free(watches);
    g_free(all);
    printf("%s\n", wrong ? "FAILED" : "one node a member, and every view in order");
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
