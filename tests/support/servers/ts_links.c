/*
 * The links between the servers of an ensemble, each through a proxy.
 *
 * One of them needs more than a proxy. An election connection begins with the address at which its sender can be called
 * back. A server with a higher id hangs up and does call back, past every proxy. So that address is rewritten on the
 * way: to that of the proxy that leads from the receiver to the sender.
 */
#include "ts_links.h"

#include <glib.h>
#include <string.h>

#include "ts_proxy_internal.h"
#include "ts_sniff.h"
#include "ts_wire.h"

/* A peer that has just been elected may need a moment until it listens. */
enum { PATIENCE_MS = 300 };

enum { GREETING_ID = 8, GREETING_LENGTH = 16, GREETING_ADDRESS = 20, VERSION_1 = -65536 };

struct ts_links {
    ts_proxy *quorum[TS_NODES][TS_NODES]; /* [from][to] */
    ts_proxy *election[TS_NODES][TS_NODES];
};

/* version (8), server id (8), length (4), "ip:port": replaces the last by `address`. */
static bool rewrite_greeting(GByteArray *bytes, const char *address) {
    GByteArray *changed;
    guint length;

    if (bytes->len < GREETING_ADDRESS) {
        return false;
    }
    length = (guint)ts_get32(bytes->data + GREETING_LENGTH);
    if (ts_get64(bytes->data) != VERSION_1 || length > 256) {
        g_error("an election connection begins in an unknown way: the servers are not the version this is made for");
    }
    if (bytes->len < GREETING_ADDRESS + length) {
        return false;
    }
    changed = g_byte_array_new();
    ts_put_string(changed, address);
    g_byte_array_append(changed, bytes->data + GREETING_ADDRESS + length, bytes->len - GREETING_ADDRESS - length);
    g_byte_array_set_size(bytes, GREETING_LENGTH);
    g_byte_array_append(bytes, changed->data, changed->len);
    g_byte_array_unref(changed);
    return true;
}

static bool start_pair(ts_links *links, const ts_server *servers, int from, int to) {
    g_autofree char *quorum = g_strdup_printf("%s:%d", servers[to].ip, servers[to].quorum_port);
    g_autofree char *election = g_strdup_printf("%s:%d", servers[to].ip, servers[to].election_port);

    links->quorum[from][to] = ts_proxy_start_link(quorum, PATIENCE_MS, NULL);
    links->election[from][to] = ts_proxy_start_link(election, PATIENCE_MS, rewrite_greeting);
    return links->quorum[from][to] != NULL && links->election[from][to] != NULL;
}

/* Calls `each` for every link. */
static void for_links(const ts_links *links, void (*each)(ts_proxy *p, int from, int to, void *user), void *user) {
    for (int from = 0; from < TS_NODES; from++) {
        for (int to = 0; to < TS_NODES; to++) {
            if (from != to) {
                each(links->quorum[from][to], from, to, user);
                each(links->election[from][to], from, to, user);
            }
        }
    }
}

ts_links *ts_links_start(const ts_server servers[TS_NODES]) {
    ts_links *links = g_new0(ts_links, 1);
    bool ok = true;

    for (int i = 0; i < TS_NODES * TS_NODES && ok; i++) {
        const int from = i / TS_NODES;
        const int to = i % TS_NODES;

        ok = from == to || start_pair(links, servers, from, to);
    }
    for (int i = 0; i < TS_NODES * TS_NODES && ok; i++) {
        const int from = i / TS_NODES;
        const int to = i % TS_NODES;

        if (from != to) {
            ts_proxy_set_rewrite_argument(links->election[from][to], ts_proxy_address(links->election[to][from]));
        }
    }
    if (!ok) {
        ts_links_stop(links);
        return NULL;
    }
    return links;
}

static void stop_one(ts_proxy *p, int from, int to, void *unused) {
    (void)from;
    (void)to;
    (void)unused;
    ts_proxy_stop(p);
}

void ts_links_stop(ts_links *links) {
    if (links != NULL) {
        for_links(links, stop_one, NULL);
        g_free(links);
    }
}

char *ts_links_config(const ts_links *links, const ts_server servers[TS_NODES], int i) {
    GString *text = g_string_new(NULL);

    for (int to = 0; to < TS_NODES; to++) {
        const ts_server *s = &servers[to];

        if (to == i) {
            g_string_append_printf(text, "server.%d=%s:%d:%d\n", to + 1, s->ip, s->quorum_port, s->election_port);
        } else { /* a proxy listens on the ip of its target, so both ports have the same one */
            g_string_append_printf(text, "server.%d=%s%s\n", to + 1, ts_proxy_address(links->quorum[i][to]),
                                   strrchr(ts_proxy_address(links->election[i][to]), ':'));
        }
    }
    return g_string_free(text, FALSE);
}

static void silence_if_of(ts_proxy *p, int from, int to, void *node) {
    if (from == *(int *)node || to == *(int *)node) {
        ts_proxy_set_mode(p, TS_BLACKHOLE);
    }
}

void ts_links_isolate(ts_links *links, int i) { for_links(links, silence_if_of, &i); }

static void hang_up_on_peer(ts_proxy *p, int from, int to, void *node) {
    if (from == *(int *)node) {
        ts_proxy_hang_up(p, TS_SERVER_SIDE);
    } else if (to == *(int *)node) {
        ts_proxy_hang_up(p, TS_CLIENT_SIDE);
    }
}

void ts_links_depose(ts_links *links, int i) {
    ts_links_isolate(links, i); /* first: a peer that lost one link must not report it over another */
    for_links(links, hang_up_on_peer, &i);
}

static void heal_one(ts_proxy *p, int from, int to, void *unused) {
    (void)from;
    (void)to;
    (void)unused;
    ts_proxy_heal(p);
}

void ts_links_heal(ts_links *links) { for_links(links, heal_one, NULL); }
