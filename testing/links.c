/*
 * The links between the servers of an ensemble, each through a proxy.
 *
 * An election connection needs more than a proxy. It begins with the address at which its sender can be called back. A
 * server with a higher id hangs up and does call back, past every proxy. So that address is replaced on the way, by the
 * address of the proxy that leads from the receiver to the sender.
 */
#include "links.h"

#include <glib.h>
#include <string.h>

#include "proxy_internal.h"
#include "sniff.h"
#include "wire.h"

/* A peer that has just been elected may need a moment until it listens. */
enum { PATIENCE_MS = 300 };

enum { GREETING_ID = 8, GREETING_LENGTH = 16, GREETING_ADDRESS = 20, VERSION_1 = -65536 };

struct pdk__test_links {
    pdk_test_proxy *quorum[PDK__TEST_NODES][PDK__TEST_NODES]; /* [from][to] */
    pdk_test_proxy *election[PDK__TEST_NODES][PDK__TEST_NODES];
};

/* version (8), server id (8), length (4), "ip:port": replaces the last by `address`. */
static bool rewrite_greeting(GByteArray *bytes, const char *address) {
    GByteArray *changed;
    guint length;

    if (bytes->len < GREETING_ADDRESS) {
        return false;
    }
    length = (guint)pdk__test_get32(bytes->data + GREETING_LENGTH);
    if (pdk__test_get64(bytes->data) != VERSION_1 || length > 256) {
        g_warning("paddock-testing: an election connection begins in an unknown way; servers of this version of "
                  "ZooKeeper may reach each other past the links that are silenced");
        return true;
    }
    if (bytes->len < GREETING_ADDRESS + length) {
        return false;
    }
    changed = g_byte_array_new();
    pdk__test_put_string(changed, address);
    g_byte_array_append(changed, bytes->data + GREETING_ADDRESS + length, bytes->len - GREETING_ADDRESS - length);
    g_byte_array_set_size(bytes, GREETING_LENGTH);
    g_byte_array_append(bytes, changed->data, changed->len);
    g_byte_array_unref(changed);
    return true;
}

static bool start_pair(pdk__test_links *links, const pdk__test_server *servers, int from, int to) {
    g_autofree char *quorum = g_strdup_printf("%s:%d", servers[to].ip, servers[to].quorum_port);
    g_autofree char *election = g_strdup_printf("%s:%d", servers[to].ip, servers[to].election_port);

    links->quorum[from][to] = pdk__test_proxy_start_link(quorum, PATIENCE_MS, NULL);
    links->election[from][to] = pdk__test_proxy_start_link(election, PATIENCE_MS, rewrite_greeting);
    return links->quorum[from][to] != NULL && links->election[from][to] != NULL;
}

/* Calls `each` for every link. */
static void for_links(const pdk__test_links *links, void (*each)(pdk_test_proxy *p, int from, int to, void *user),
                      void *user) {
    for (int from = 0; from < PDK__TEST_NODES; from++) {
        for (int to = 0; to < PDK__TEST_NODES; to++) {
            if (from != to) {
                each(links->quorum[from][to], from, to, user);
                each(links->election[from][to], from, to, user);
            }
        }
    }
}

pdk__test_links *pdk__test_links_start(const pdk__test_server servers[PDK__TEST_NODES]) {
    pdk__test_links *links = g_new0(pdk__test_links, 1);
    bool ok = true;

    for (int i = 0; i < PDK__TEST_NODES * PDK__TEST_NODES && ok; i++) {
        const int from = i / PDK__TEST_NODES;
        const int to = i % PDK__TEST_NODES;

        ok = from == to || start_pair(links, servers, from, to);
    }
    for (int i = 0; i < PDK__TEST_NODES * PDK__TEST_NODES && ok; i++) {
        const int from = i / PDK__TEST_NODES;
        const int to = i % PDK__TEST_NODES;

        if (from != to) {
            pdk__test_proxy_set_rewrite_argument(links->election[from][to],
                                                 pdk_test_proxy_address(links->election[to][from]));
        }
    }
    if (!ok) {
        pdk__test_links_stop(links);
        return NULL;
    }
    return links;
}

static void stop_one(pdk_test_proxy *p, int from, int to, void *unused) {
    (void)from;
    (void)to;
    (void)unused;
    pdk_test_proxy_stop(p);
}

void pdk__test_links_stop(pdk__test_links *links) {
    if (links != NULL) {
        for_links(links, stop_one, NULL);
        g_free(links);
    }
}

char *pdk__test_links_config(const pdk__test_links *links, const pdk__test_server servers[PDK__TEST_NODES], int i) {
    GString *text = g_string_new(NULL);

    for (int to = 0; to < PDK__TEST_NODES; to++) {
        const pdk__test_server *s = &servers[to];

        if (to == i) {
            g_string_append_printf(text, "server.%d=%s:%d:%d\n", to + 1, s->ip, s->quorum_port, s->election_port);
        } else { /* a proxy listens on the ip of its target, so both ports have the same one */
            g_string_append_printf(text, "server.%d=%s%s\n", to + 1, pdk_test_proxy_address(links->quorum[i][to]),
                                   strrchr(pdk_test_proxy_address(links->election[i][to]), ':'));
        }
    }
    return g_string_free(text, FALSE);
}

static void silence_if_of(pdk_test_proxy *p, int from, int to, void *node) {
    if (from == *(int *)node || to == *(int *)node) {
        pdk_test_proxy_set_mode(p, PDK_TEST_SILENT);
    }
}

void pdk__test_links_isolate(pdk__test_links *links, int i) { for_links(links, silence_if_of, &i); }

static void hang_up_on_peer(pdk_test_proxy *p, int from, int to, void *node) {
    if (from == *(int *)node) {
        pdk__test_proxy_hang_up(p, PDK__TEST_SERVER_SIDE);
    } else if (to == *(int *)node) {
        pdk__test_proxy_hang_up(p, PDK__TEST_CLIENT_SIDE);
    }
}

void pdk__test_links_depose(pdk__test_links *links, int i) {
    pdk__test_links_isolate(links, i); /* first: a peer that lost one link must not report it over another */
    for_links(links, hang_up_on_peer, &i);
}

static void heal_one(pdk_test_proxy *p, int from, int to, void *unused) {
    (void)from;
    (void)to;
    (void)unused;
    pdk_test_proxy_heal(p);
}

void pdk__test_links_heal(pdk__test_links *links) { for_links(links, heal_one, NULL); }
