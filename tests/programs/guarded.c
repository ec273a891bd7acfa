/*
 * A guarded znode on three servers. In each round a holder writes, its write is held up on the way, and the holder is deposed
 * meanwhile: its session ends, its lock node is deleted, or its link is cut. Another one is granted and opens. Then the write
 * of the first one goes on its way. A judge reads the znode by itself.
 */
#include <glib.h>
#include <paddock/paddock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ts_clock.h>
#include <ts_support.h>

enum { HEADER = 72, SESSION_MS = 30000, SHORT_MS = 2000, PATIENCE_MS = 30000 };

enum way { EXPIRE, DELETE, CUT, LOSE, WAYS };
static const char *const way_names[WAYS] = {"expired", "lock node deleted", "link cut", "answer lost, then deleted"};

static int rounds = 200;
static gboolean naive; /* the judge must notice a bare write */

struct player {
    ts_proxy *proxy;
    pdk_session *session;
    pdk_lock *lock;
    pdk_hold *hold;
    pdk_guarded *guarded;
    const char *path, *text;
    const char *server;
    pdk_status status; /* of its late write */
};

static ts_ensemble *servers;
static int wrong, counts[WAYS], landed_early, told_lost;

static void need(pdk_status status, const char *what) {
    if (status == PDK_OK)
        return;
    fprintf(stderr, "guarded: %s: %s: %s\n", what, pdk_status_name(status), pdk_last_error());
    abort();
}

static struct player *player_new(int server, int session_ms, const char *lock, const char *path, const char *text) {
    struct player *p = g_new0(struct player, 1);
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = session_ms;
    p->path = path;
    p->text = text;
    p->server = ts_ensemble_host(servers, server);
    p->proxy = ts_proxy_start(p->server);
    need(pdk_session_open(ts_proxy_address(p->proxy), &options, &p->session), "session");
    need(pdk_lock_new(p->session, lock, NULL, &p->lock), "lock");
    need(pdk_lock_acquire(p->lock, PATIENCE_MS, &p->hold), "acquire");
    need(pdk_guarded_open(p->hold, path, PATIENCE_MS, &p->guarded), "open");
    return p;
}

static void player_free(struct player *p) {
    pdk_guarded_close(p->guarded);
    pdk_hold_release(p->hold);
    pdk_lock_unref(p->lock);
    pdk_session_close(p->session, PATIENCE_MS);
    pdk_session_unref(p->session);
    ts_proxy_stop(p->proxy);
    g_free(p);
}

static pdk_status put(struct player *p, const char *text) {
    pdk_status status = pdk_guarded_write(p->guarded, text, strlen(text), PATIENCE_MS);
    return status == PDK_ABSENT ? pdk_guarded_create(p->guarded, text, strlen(text), PATIENCE_MS) : status;
}

static void *write_late(void *user) {
    struct player *p = user;
    if (naive) { /* what a program without guarded znodes does */
        bool valid = pdk_hold_is_valid(p->hold);
        g_usleep(300000);
        p->status = valid && ts_set(p->server, p->path, p->text) == 0 ? PDK_OK : PDK_LOST;
        return NULL;
    }
    p->status = put(p, p->text);
    return NULL;
}

static bool node_has(const char *path, const char *text) {
    g_autofree char *data = NULL;
    int length = 0;
    return ts_get(ts_ensemble_hosts(servers), path, &data, &length, NULL) == 0 &&
           (length >= HEADER ? strcmp(data + HEADER, text) == 0 : strcmp(data, text) == 0);
}

/* From here on another one may be granted. */
static void depose(struct player *p, enum way way) {
    ts_session_key key;
    if (way == EXPIRE && ts_proxy_last_session(p->proxy, &key))
        wrong += ts_expire_session(ts_ensemble_host(servers, 0), &key) != 0;
    if (way == DELETE || way == LOSE)
        wrong += ts_delete(ts_ensemble_hosts(servers), pdk_hold_node(p->hold)) != 0;
    /* CUT: its session runs out by itself */
}

static void judge(int round, enum way way, const struct player *a, const struct player *b, const char *text) {
    bool fine = node_has(b->path, text) && (a->status == PDK_LOST || a->status == PDK_OK);
    if (fine)
        return;
    wrong++;
    printf("round %d (%s): WRONG: the older holder was told %s, and the node has not what the newer one knows\n", round,
           way_names[way], pdk_status_name(a->status));
}

static void play(int round) {
    enum way way = (enum way)g_random_int_range(0, naive ? CUT : WAYS); /* a bare write does not use the link */
    g_autofree char *lock = g_strdup_printf("/g/lock%d", round), *path = g_strdup_printf("/g/node%d", round);
    struct player *a = player_new(g_random_int_range(0, 3), way == CUT ? SHORT_MS : SESSION_MS, lock, path, "late");
    need(put(a, "first"), "first write");
    counts[way]++;
    if (way == LOSE)
        ts_proxy_arm(a->proxy, TS_OP_SET_DATA, g_random_boolean() ? TS_LOSE_REPLY : TS_LOSE_REQUEST, TS_BLACKHOLE);
    else if (!naive)
        ts_proxy_set_mode(a->proxy, TS_BLACKHOLE);
    GThread *thread = g_thread_new("late", write_late, a);
    g_usleep((gulong)g_random_int_range(0, 30000));
    depose(a, way);
    struct player *b = player_new(g_random_int_range(0, 3), SESSION_MS, lock, path, "b");
    char seen[16] = "";
    size_t size = 0;
    need(pdk_guarded_read(b->guarded, seen, sizeof seen - 1, &size, PATIENCE_MS), "get");
    landed_early += strcmp(seen, "late") == 0; /* before the newer one opened: allowed */
    if (g_random_boolean()) {
        need(put(b, "newer"), "newer write");
        g_strlcpy(seen, "newer", sizeof seen);
    }
    if (way == CUT)
        ts_proxy_heal_discard(a->proxy);
    else
        ts_proxy_heal(a->proxy); /* what was held goes on its way, late */
    g_thread_join(thread);
    told_lost += a->status == PDK_LOST;
    judge(round, way, a, b, seen);
    need(put(b, "last"), "last write");
    judge(round, way, a, b, "last");
    player_free(a);
    player_free(b);
}

int main(int argc, char **argv) {
    const GOptionEntry entries[] = {
        {"rounds", 0, 0, G_OPTION_ARG_INT, &rounds, "how many rounds; 200", "N"},
        {"naive", 0, 0, G_OPTION_ARG_NONE, &naive, "the first holder writes without a guard: the judge must notice",
         NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    };
    g_autoptr(GOptionContext) context = g_option_context_new("- holders that write late to a guarded znode");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, NULL) || rounds < 1)
        return 2;
    servers = ts_ensemble_start(&(ts_ensemble_options){.nodes = 3, .tick_ms = 200});
    if (!servers)
        return EXIT_FAILURE;
    for (int round = 0; round < rounds; round++)
        play(round);
    ts_ensemble_stop(servers);
    for (int way = 0; way < WAYS; way++)
        printf("%-28s %d\n", way_names[way], counts[way]);
    printf("%d rounds on three servers: %d late writers were told LOST, %d writes landed before the newer holder "
           "opened: %s\n",
           rounds, told_lost, landed_early, wrong ? "FAILED" : "none after it");
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
