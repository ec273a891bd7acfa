/* Tests of tests/support/servers: three servers whose links can be silenced. */
#include <check.h>
#include <dirent.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ts_check.h"
#include "ts_support.h"
#include "ts_wire.h"

enum { TICK_MS = 500, SYNC_LIMIT = 8, NODES = 3 };

static ts_ensemble *ensemble;

static void start_ensemble(void) {
    const ts_ensemble_options options = {.nodes = NODES, .tick_ms = TICK_MS, .sync_limit = SYNC_LIMIT};
    int64_t took = ts_now_ns();

    ensemble = ts_ensemble_start(&options);
    took = ts_now_ns() - took;
    ck_assert_ptr_nonnull(ensemble);
    printf("three servers were ready after %.3f s\n", (double)took / 1e9);
    ck_assert_int_lt(took, INT64_C(30000000000));
}

static void stop_ensemble(void) {
    ts_ensemble_stop(ensemble);
    ensemble = NULL;
}

/* The inodes of a process's sockets. */
static void add_sockets(GHashTable *inodes, pid_t pid) {
    g_autofree char *path = g_strdup_printf("/proc/%d/fd", (int)pid);
    DIR *folder = opendir(path);
    struct dirent *entry;
    char target[64];

    ck_assert_ptr_nonnull(folder);
    while ((entry = readdir(folder)) != NULL) {
        const ssize_t size = readlinkat(dirfd(folder), entry->d_name, target, sizeof target - 1);

        if (size > 0) {
            target[size] = '\0';
            if (g_str_has_prefix(target, "socket:[")) {
                g_hash_table_add(inodes, GUINT_TO_POINTER((guint)strtoul(target + strlen("socket:["), NULL, 10)));
            }
        }
    }
    closedir(folder);
}

/* Adds "local port > remote port" for each established connection of these sockets. */
static void add_connections(GHashTable *connections, GHashTable *inodes, const char *table) {
    g_autofree char *text = NULL;
    g_auto(GStrv) lines = NULL;

    ck_assert(g_file_get_contents(table, &text, NULL, NULL));
    lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line != NULL; line++) {
        unsigned local, remote, status, inode;

        if (sscanf(*line, "%*d: %*[0-9A-F]:%x %*[0-9A-F]:%x %x %*s %*s %*s %*d %*d %u", &local, &remote, &status,
                   &inode) == 4 &&
            status == 1 && g_hash_table_contains(inodes, GUINT_TO_POINTER(inode))) {
            g_hash_table_add(connections, g_strdup_printf("%u>%u", local, remote));
        }
    }
}

START_TEST(no_server_talks_to_another_past_the_proxies) {
    g_autoptr(GHashTable) inodes = g_hash_table_new(NULL, NULL);
    g_autoptr(GHashTable) connections = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    GHashTableIter all;
    gpointer key;

    /* Election: 3 connections. Quorum: 2. Each has one end at a server on either side of its proxy. The servers serve before
     * the last of them is made, and the kernel's table may lack a line that moves while it is read. */
    for (int64_t end = ts_now_ms() + 10000; g_hash_table_size(connections) < 10 && ts_now_ms() < end; ts_sleep_ms(50)) {
        g_hash_table_remove_all(inodes);
        g_hash_table_remove_all(connections);
        for (int i = 0; i < NODES; i++) {
            add_sockets(inodes, ts_ensemble_pid(ensemble, i));
        }
        add_connections(connections, inodes, "/proc/net/tcp");
        add_connections(connections, inodes, "/proc/net/tcp6");
    }
    ck_assert_uint_ge(g_hash_table_size(connections), 10);
    g_hash_table_iter_init(&all, connections);
    while (g_hash_table_iter_next(&all, &key, NULL)) {
        g_auto(GStrv) ports = g_strsplit(key, ">", 2);
        g_autofree char *other_end = g_strdup_printf("%s>%s", ports[1], ports[0]);

        ck_assert(!g_hash_table_contains(connections, other_end));
    }
}
END_TEST

START_TEST(every_node_serves_directly_and_through_its_proxy) {
    const char *all = ts_ensemble_hosts(ensemble);
    const int leader = ts_ensemble_leader(ensemble);

    ck_assert_int_ge(leader, 0);
    ck_assert_int_eq(ts_create(all, "/seen", "", TS_PERSISTENT, NULL), 0);
    for (int i = 0; i < NODES; i++) {
        ck_assert_int_eq(ts_exists(ts_ensemble_host(ensemble, i), "/seen", NULL), 0);
        ck_assert_int_eq(ts_exists(ts_ensemble_proxied_host(ensemble, i), "/seen", NULL), 0);
        ck_assert_int_eq(ts_ensemble_mode(ensemble, i), i == leader ? TS_MODE_LEADER : TS_MODE_FOLLOWER);
    }
    ck_assert_int_eq(ts_delete(ts_ensemble_proxied_hosts(ensemble), "/seen"), 0);
}
END_TEST

/* True once node i no longer serves. */
static bool serves_no_more(void *node) { return ts_ensemble_mode(ensemble, *(int *)node) < TS_MODE_STANDALONE; }

START_TEST(a_deposed_leader_does_not_know_it) {
    const int old = ts_ensemble_leader(ensemble);
    ts_observer *o = ts_observer_open(ts_ensemble_host(ensemble, old));
    const int64_t cut = ts_now_ns();
    int leader, node = old;
    char **children;

    ck_assert_ptr_nonnull(o);
    ts_ensemble_isolate(ensemble, old);
    /* Silence, not an end: the followers need their syncLimit to notice, and so does the leader. */
    ts_sleep_ms(TICK_MS);
    for (int i = 0; i < NODES; i++) {
        ck_assert_int_eq(ts_ensemble_mode(ensemble, i), i == old ? TS_MODE_LEADER : TS_MODE_FOLLOWER);
    }
    ck_assert_int_eq(ts_observer_auth(o, "ip", ""), 0); /* its clients are still served */
    ts_observer_abandon(o);
    leader = ts_ensemble_wait_leader(ensemble, old, 30000);
    printf("a new leader %.3f s after the cut\n", (double)(ts_now_ns() - cut) / 1e9);
    ck_assert_int_ge(leader, 0);
    ck_assert_int_ne(leader, old);
    ck_assert_int_eq(ts_ensemble_leader(ensemble), leader);
    ck_assert_int_eq(ts_create(ts_ensemble_host(ensemble, leader), "/after", "", TS_PERSISTENT, NULL), 0);
    ck_assert(ts_wait_until(serves_no_more, &node, 30000));
    ts_ensemble_heal(ensemble);
    ck_assert(ts_ensemble_wait_ready(ensemble, 30000));
    children = ts_children(ts_ensemble_host(ensemble, old), "/", NULL);
    ck_assert(g_strv_contains((const char *const *)children, "after"));
    g_strfreev(children);
}
END_TEST

/* The answer of this one connection's server about a node. */
static int exists_for(ts_wire *wire, const char *path) {
    GByteArray *request = g_byte_array_new();
    int rc;

    ts_put_string(request, path);
    ts_put_bool(request, false);
    rc = ts_wire_call(wire, TS_OP_EXISTS, request, NULL);
    g_byte_array_unref(request);
    return rc;
}

START_TEST(while_it_does_not_know_it_another_leads) {
    const int old = ts_ensemble_leader(ensemble);
    ts_wire wire;
    int64_t cut;
    int leader;

    ck_assert_int_eq(ts_wire_open(&wire, ts_ensemble_host(ensemble, old), 6000, NULL), 0);
    cut = ts_now_ns();
    ts_ensemble_depose(ensemble, old);
    leader = ts_ensemble_wait_leader(ensemble, old, 30000);
    printf("another leader %.3f s after the old one was deposed\n", (double)(ts_now_ns() - cut) / 1e9);
    ck_assert_int_ge(leader, 0);
    ck_assert_int_eq(ts_ensemble_mode(ensemble, old), TS_MODE_LEADER);
    ck_assert_int_eq(ts_create(ts_ensemble_host(ensemble, leader), "/deposed", "", TS_PERSISTENT, NULL), 0);
    ck_assert_int_eq(exists_for(&wire, "/deposed"), TS_NO_NODE); /* it answers on the same connection, and is wrong */
    ck_assert_int_eq(ts_ensemble_mode(ensemble, old), TS_MODE_LEADER);
    ts_wire_shut(&wire);
    ts_ensemble_heal(ensemble);
    ck_assert(ts_ensemble_wait_ready(ensemble, 30000)); /* which two leaders are not */
    ck_assert_int_eq(ts_ensemble_mode(ensemble, old), TS_MODE_FOLLOWER);
    ck_assert_int_eq(ts_ensemble_leader(ensemble), leader);
    ck_assert_int_eq(ts_exists(ts_ensemble_host(ensemble, old), "/deposed", NULL), 0);
}
END_TEST

START_TEST(a_cut_follower_serves_stale_reads) {
    const int leader = ts_ensemble_leader(ensemble);
    const int cut = (leader + 1) % NODES;
    ts_wire wire;

    ck_assert_int_eq(ts_wire_open(&wire, ts_ensemble_host(ensemble, cut), 6000, NULL), 0);
    ts_ensemble_isolate(ensemble, cut);
    ck_assert_int_eq(ts_create(ts_ensemble_host(ensemble, leader), "/news", "", TS_PERSISTENT, NULL), 0);
    ck_assert_int_eq(exists_for(&wire, "/news"), TS_NO_NODE); /* it answers, and is wrong */
    ts_ensemble_heal(ensemble);
    ts_wire_shut(&wire);
    ck_assert_int_eq(ts_ensemble_leader(ensemble), leader);
    ck_assert_int_eq(ts_exists(ts_ensemble_host(ensemble, cut), "/news", NULL), 0);
}
END_TEST

START_TEST(a_killed_node_comes_back) {
    const int leader = ts_ensemble_leader(ensemble);

    ts_ensemble_kill(ensemble, leader);
    ck_assert_int_ge(ts_ensemble_wait_leader(ensemble, leader, 30000), 0);
    ck_assert(ts_ensemble_restart(ensemble, leader));
    ck_assert(ts_ensemble_wait_ready(ensemble, 30000));
    ck_assert_int_eq(ts_ensemble_mode(ensemble, leader), TS_MODE_FOLLOWER);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("test support: ensemble");
    TCase *links = tcase_create("links");

    tcase_add_unchecked_fixture(links, start_ensemble, stop_ensemble);
    tcase_add_test(links, no_server_talks_to_another_past_the_proxies);
    tcase_add_test(links, every_node_serves_directly_and_through_its_proxy);
    tcase_add_test(links, a_cut_follower_serves_stale_reads);
    tcase_add_test(links, a_deposed_leader_does_not_know_it);
    tcase_add_test(links, while_it_does_not_know_it_another_leads);
    tcase_add_test(links, a_killed_node_comes_back);
    tcase_add_test(links, no_server_talks_to_another_past_the_proxies); /* nor in later elections */
    suite_add_tcase(suite, links);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
