/* Which sockets are shut down as a connection is given up. A stranger's may be among them; one to no server of ours is not. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ts_bench.h"
#include "ts_check.h"
#include "ts_clock.h"
#include "ts_ports.h"
#include "zk/servers.h"
#include "zk/sockets.h"

enum { LONG_MS = 1000000, CALLS = 10000 };

static struct {
    char *server, *other, *foreign, *both; /* foreign is not among both */
    int ports[2], listening[2];
    zhandle_t *handle;
    GHashTable *own; /* the dials of a handle */
    GArray *sockets; /* of the test */
} it;

static void ignore(zhandle_t *handle, int type, int state, const char *path, void *user) {
    (void)handle;
    (void)type;
    (void)state;
    (void)path;
    (void)user;
}

static bool is_connected(void *handle) { return zoo_state(handle) == ZOO_CONNECTED_STATE; }

static zhandle_t *connect_handle(const char *servers) {
    zhandle_t *handle = zookeeper_init(servers, ignore, 10000, NULL, NULL, 0);
    ck_assert_ptr_nonnull(handle);
    return handle;
}

static char *listen_at(int index) {
    int port;
    it.ports[index] = ts_port_reserve("127.0.0.1", &port);
    ck_assert_int_ge(it.ports[index], 0);
    it.listening[index] = ts_port_listen("127.0.0.1", port);
    ck_assert_int_ge(it.listening[index], 0);
    return g_strdup_printf("127.0.0.1:%d", port);
}

static void set_up(void) {
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    it.server = g_strdup(ts_bench_server());
    it.other = listen_at(0);
    it.foreign = listen_at(1);
    it.both = g_strjoin(",", it.server, it.other, NULL);
    it.own = pdk__sockets_dials_new();
    it.sockets = g_array_new(FALSE, FALSE, sizeof(int));
    it.handle = connect_handle(it.server);
    ck_assert(ts_wait_until(is_connected, it.handle, ts_patience(5000)));
}

static void clear(void) {
    pdk__sockets_forget(it.handle);
    zookeeper_close(it.handle);
    g_hash_table_destroy(it.own);
    for (guint i = 0; i < it.sockets->len; i++)
        close(g_array_index(it.sockets, int, i));
    g_array_unref(it.sockets);
    for (int i = 0; i < 2; i++) {
        close(it.listening[i]);
        close(it.ports[i]);
    }
    g_free(it.server);
    g_free(it.other);
    g_free(it.foreign);
    g_free(it.both);
}

static int new_socket(int type) {
    int fd = socket(AF_INET, type, 0);
    ck_assert_int_ge(fd, 0);
    g_array_append_val(it.sockets, fd);
    return fd;
}

/* A socket that exec would inherit, as those of the client library. */
static int connect_to(const char *address, int type) {
    char ip[64];
    int port, fd = new_socket(type);
    ck_assert(ts_address_split(address, ip, &port));
    struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons((in_port_t)port)};
    ck_assert_int_eq(inet_pton(AF_INET, ip, &peer.sin_addr), 1);
    ck_assert_int_eq(connect(fd, (const struct sockaddr *)&peer, sizeof peer), 0);
    return fd;
}

static bool is_inherited(int fd) { return (fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0; }

static bool is_shut(int fd) {
    char byte;
    return recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
}

/* The first test: the claims of a process are kept. */
START_TEST(before_any_session_is_connected_nothing_is_shut) {
    int silent = connect_to(it.other, SOCK_STREAM);
    ck_assert_int_eq(send(silent, "x", 1, 0), 1);
    ck_assert_int_eq(pdk__sockets_hurry(it.other, 0), PDK__ZK_STAYS);
    ck_assert(!is_shut(silent));
}
END_TEST

START_TEST(sockets_of_the_same_moment_are_claimed_for_both) {
    int twin = connect_to(it.server, SOCK_STREAM), other = connect_to(it.other, SOCK_STREAM);
    int foreign = connect_to(it.foreign, SOCK_STREAM);
    zhandle_t *unconnected = connect_handle(it.other);
    pdk__sockets_connected(unconnected, it.both); /* it has no peer, so nothing is claimed */
    ck_assert(!is_inherited(twin));
    ck_assert(!is_inherited(other));
    ck_assert(is_inherited(foreign));
    ck_assert_int_eq(pdk__sockets_leave(it.handle, it.both), PDK__ZK_STAYS);
    fcntl(twin, F_SETFD, 0);
    int second = connect_to(it.server, SOCK_STREAM);
    pdk__sockets_connected(it.handle, it.both);
    ck_assert_int_eq(pdk__sockets_leave(unconnected, it.both), PDK__ZK_STAYS);
    ck_assert_int_eq(pdk__sockets_leave(it.handle, it.both), PDK__ZK_LEAVES);
    ck_assert(is_shut(twin));
    ck_assert(is_shut(second));
    ck_assert(!is_shut(other));
    ck_assert(!is_shut(foreign));
    zookeeper_close(unconnected);
}
END_TEST

START_TEST(the_latest_socket_of_a_handle_is_its_own) {
    pdk__sockets_connected(it.handle, it.both);
    int latest = connect_to(it.server, SOCK_STREAM);
    pdk__sockets_connected(it.handle, it.both);
    fcntl(latest, F_SETFD, 0);
    pdk__sockets_connected(it.handle, it.both); /* it is claimed already */
    ck_assert(!is_inherited(latest));
    ck_assert_int_eq(pdk__sockets_leave(it.handle, it.both), PDK__ZK_LEAVES);
    ck_assert(is_shut(latest));
    ck_assert(is_connected(it.handle));
}
END_TEST

START_TEST(a_handle_leaves_alone_what_is_claimed_for_another) {
    pdk__sockets_connected(it.handle, it.both);
    zhandle_t *another = connect_handle(it.server);
    ck_assert(ts_wait_until(is_connected, another, ts_patience(5000)));
    pdk__sockets_connected(another, it.both);
    ck_assert_int_eq(pdk__sockets_leave(another, it.both), PDK__ZK_LEAVES);
    ck_assert(is_connected(it.handle));
    pdk__sockets_forget(another);
    zookeeper_close(another);
}
END_TEST

START_TEST(a_hurry_ends_what_was_sent_something_and_never_answered) {
    int silent = connect_to(it.other, SOCK_STREAM), unused = connect_to(it.foreign, SOCK_STREAM);
    connect_to(it.foreign, SOCK_DGRAM);
    ck_assert_int_eq(send(silent, "x", 1, 0), 1);
    pdk__sockets_connected(it.handle, it.both);
    ck_assert_int_eq(pdk__sockets_hurry(it.other, LONG_MS), PDK__ZK_STAYS);
    ck_assert_int_eq(pdk__sockets_hurry(it.foreign, 0), PDK__ZK_STAYS);
    ck_assert_int_eq(pdk__sockets_hurry(it.server, 0), PDK__ZK_STAYS);
    ck_assert_int_eq(pdk__sockets_hurry(it.other, 0), PDK__ZK_HAS_LEFT);
    ck_assert(is_shut(silent));
    ck_assert(!is_shut(unused));
    ck_assert(is_connected(it.handle));
}
END_TEST

/* ---- dialling */

static atomic_int taken_low, taken_strange; /* duplicates below 3; of what is no socket */
static atomic_bool no_duplicates, no_shutdown;
static const char *no_table, *table; /* a file that is not there; what is in /proc/self/net/tcp6 */

/* Replaces the C library's. */
int fcntl(int fd, int command, ...) {
    va_list arguments;
    int type;
    socklen_t size = sizeof type;
    va_start(arguments, command);
    long argument = va_arg(arguments, long);
    va_end(arguments);
    if (command == F_DUPFD_CLOEXEC) {
        if (atomic_load(&no_duplicates)) {
            errno = EMFILE;
            return -1;
        }
        atomic_fetch_add(&taken_low, argument <= STDERR_FILENO);
        atomic_fetch_add(&taken_strange, getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0);
    }
    return (int)syscall(SYS_fcntl, fd, command, argument);
}

int shutdown(int fd, int how) { return atomic_load(&no_shutdown) ? -1 : (int)syscall(SYS_shutdown, fd, how); }

FILE *fopen(const char *path, const char *mode) {
    FILE *(*next)(const char *, const char *);
    void *symbol = dlsym(RTLD_NEXT, "fopen");
    memcpy(&next, &symbol, sizeof next);
    if (table && g_strcmp0(path, "/proc/self/net/tcp6") == 0)
        return fmemopen((void *)table, strlen(table), mode[0] == 'r' ? "r" : mode);
    return g_strcmp0(path, no_table) == 0 ? NULL : next(path, mode);
}

static int state_of(int fd) {
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    ck_assert_int_eq(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size), 0);
    return info.tcpi_state;
}

static bool dials(int fd) { return state_of(fd) == TCP_SYN_SENT; }

/* To a server that accepts none any more: its queue is full. */
static int dial(int index) {
    char ip[64];
    int port;
    ck_assert(ts_address_split(index == 0 ? it.other : it.foreign, ip, &port));
    struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons((in_port_t)port)};
    ck_assert_int_eq(inet_pton(AF_INET, ip, &peer.sin_addr), 1);
    int fd = new_socket(SOCK_STREAM | SOCK_NONBLOCK);
    connect(fd, (const struct sockaddr *)&peer, sizeof peer);
    return fd;
}

static void fill(int index) {
    ck_assert_int_eq(listen(it.listening[index], 0), 0);
    connect_to(index == 0 ? it.other : it.foreign, SOCK_STREAM);
}

START_TEST(a_dial_is_given_up_after_its_patience_alone) {
    fill(0);
    int old = dial(0), young;
    ck_assert(dials(old));
    ck_assert_int_eq(pdk__sockets_hurry(it.other, 0), PDK__ZK_STAYS); /* no handshake is silent */
    ck_assert(dials(old));
    ck_assert_int_eq(pdk__sockets_skip(it.own, it.other, 0), PDK__ZK_STAYS); /* it is noted */
    young = dial(0);
    g_usleep(20000);
    ck_assert_int_eq(pdk__sockets_skip(it.own, it.other, LONG_MS), PDK__ZK_STAYS); /* and the young one */
    ck_assert_int_eq(pdk__sockets_skip(it.own, it.server, 0), PDK__ZK_STAYS);
    ck_assert_int_eq(pdk__sockets_skip(it.own, it.other, 0),
                     PDK__ZK_STAYS); /* the look before was at others: noted again */
    int younger = dial(0);
    ck_assert_int_eq(pdk__sockets_skip(it.own, it.other, 0), PDK__ZK_LEAVES);
    ck_assert(!dials(old) && !dials(young));
    ck_assert(dials(younger));
    ck_assert_int_eq(atomic_load(&taken_low), 0);
    ck_assert_int_eq(atomic_load(&taken_strange), 0);
}
END_TEST

START_TEST(a_dial_to_a_server_that_is_gone_is_left_at_the_second_look) {
    char *both = g_strjoin(",", it.other, it.foreign, NULL);
    fill(0);
    fill(1);
    int gone = dial(0), stays = dial(1);
    pdk__sockets_abandon(it.own, both, it.foreign);
    ck_assert(dials(gone)); /* it may be another session's, and be accepted in a moment */
    g_usleep(110000);
    pdk__sockets_abandon(it.own, both, it.foreign);
    ck_assert(!dials(gone));
    ck_assert(dials(stays));
    g_free(both);
}
END_TEST

START_TEST(a_dial_that_has_begun_since_the_last_look_is_seen) {
    fill(0);
    int before = dial(0);
    ck_assert(pdk__sockets_dial_anew(it.own, it.other));
    ck_assert(!pdk__sockets_dial_anew(it.own, it.other)); /* another session's may last */
    int after = dial(0);
    ck_assert(pdk__sockets_dial_anew(it.own, it.other));
    ck_assert(!pdk__sockets_dial_anew(it.own, it.foreign));
    ck_assert(dials(before) && dials(after));
}
END_TEST

START_TEST(where_no_descriptor_is_to_be_had_it_may_be_one) {
    fill(0);
    int waits = dial(0);
    ck_assert(pdk__sockets_dial_anew(it.own, it.other));
    int later = dial(0);
    atomic_store(&no_duplicates, true);
    ck_assert(pdk__sockets_dial_anew(it.own, it.other));
    ck_assert_int_eq(pdk__sockets_skip(it.own, it.other, 0), PDK__ZK_STAYS); /* and nothing is shut down */
    atomic_store(&no_duplicates, false);
    ck_assert(dials(waits) && dials(later));
}
END_TEST

/* The server accepts it, or refuses it, between the look at the table and the shutting. */
START_TEST(a_dial_that_ends_by_itself_is_not_given_up) {
    fill(0);
    int waits = dial(0);
    ck_assert_int_eq(pdk__sockets_skip(it.own, it.other, 0), PDK__ZK_STAYS); /* it is noted */
    g_usleep(1000);
    atomic_store(&no_shutdown, true);
    ck_assert_int_eq(pdk__sockets_skip(it.own, it.other, 0), PDK__ZK_STAYS);
    atomic_store(&no_shutdown, false);
    ck_assert_int_eq(pdk__sockets_skip(it.own, it.other, 0), PDK__ZK_LEAVES);
    ck_assert(!dials(waits));
}
END_TEST

/* As where the system has no IPv6, or hides what is in /proc. */
START_TEST(tables_that_are_not_there_have_no_dials) {
    fill(0);
    int waits = dial(0);
    no_table = "/proc/self/net/tcp";
    ck_assert(!pdk__sockets_dial_anew(it.own, it.other));
    no_table = "/proc/self/net/tcp6";
    ck_assert(pdk__sockets_dial_anew(it.own, it.other));
    no_table = NULL;
    ck_assert(dials(waits));
}
END_TEST

/* Over IPv6, whether this system has it or not: the line has the inode of another dial. What is no line of a table is passed over. */
START_TEST(a_line_of_the_table) {
    static const char here[] = "00000000000000000000000001000000";
    static const struct {
        const char *sl, *local, *remote, *server;
        bool found;
    } lines[] = {
        {"0", here, here, "::1:4660", true},
        {"0", here, here, "::1%lo:4660", true}, /* the table has no scopes */
        {"0", here, here, "::1:4661", false},
        {"0", here, here, "::2:4660", false},
        {"0", here, "0000000000000000000000000100000", "::1:4660", false}, /* a digit too few */
        {"0", here, "b c", "::1:4660", false},                             /* the colon is in the next word */
        {"x", here, here, "::1:4660", false},
    };
    struct stat stat;
    fill(0);
    int waits = dial(0);
    ck_assert_int_eq(fstat(waits, &stat), 0);
    for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
        GHashTable *own = pdk__sockets_dials_new();
        g_autofree char *text =
            g_strdup_printf("  sl  local_address\n   %s: %s:8000 %s:1234 02 00000001:00000000 01:00000064 00000000     "
                            "0        0 %lu 2 0000000000000000\n",
                            lines[i].sl, lines[i].local, lines[i].remote, (unsigned long)stat.st_ino);
        table = text;
        ck_assert_msg(pdk__sockets_dial_anew(own, lines[i].server) == lines[i].found, "%zu", i);
        table = NULL;
        g_hash_table_destroy(own);
    }
}
END_TEST

/* ---- requests */

static void count(void *driver, pdk__zk *zk, const struct pdk__reply *reply) {
    (void)zk;
    (void)reply;
    (*(unsigned *)driver)++;
}

static void no_watch(void *driver, pdk__zk *zk, const char *path, enum pdk__zk_event event) {
    (void)driver;
    (void)zk;
    (void)path;
    (void)event;
}

static void no_state(void *driver, pdk__zk *zk, enum pdk__zk_state state, int64_t session_id, int32_t timeout_ms) {
    (void)driver;
    (void)zk;
    (void)state;
    (void)session_id;
    (void)timeout_ms;
}

static void no_log(void *driver, int level, const char *text) {
    (void)driver;
    (void)level;
    (void)text;
}

START_TEST(a_full_queue_takes_no_request_and_answers_all_it_took) {
    static const struct pdk__zk_sink sink = {.reply = count, .watch = no_watch, .state = no_state, .log = no_log};
    unsigned answers = 0, taken = 0;
    struct pdk__zk_config config = {.servers = it.other, .timeout_ms = 10000, .sink = &sink, .driver = &answers};
    pdk__zk *zk = NULL;
    ck_assert_int_eq(pdk__zk_client.open(&config, &zk), PDK_OK);
    while (taken <= CALLS && pdk__zk_client.submit(zk, &(struct pdk__request){.kind = PDK__OP_GET, .path = "/"}))
        taken++;
    ck_assert_uint_eq(taken, CALLS);
    pdk__zk_client.close(zk);
    ck_assert_uint_eq(answers, CALLS);
}
END_TEST

/* Another port of the same address, which the client library would take for what it has (servers.h). */
START_TEST(a_list_of_the_same_addresses_is_taken) {
    int port, held = ts_port_reserve("127.0.0.1", &port);
    ck_assert_int_ge(held, 0);
    char *nowhere = g_strdup_printf("127.0.0.1:%d", port); /* nobody listens there */
    zhandle_t *handle = connect_handle(nowhere);
    ck_assert(pdk__servers_seem_same(nowhere, it.server));
    bool given = false;
    for (int64_t until = ts_now_ms() + ts_patience(20000); !given && ts_now_ms() < until;)
        given = pdk__servers_give(handle, it.own, nowhere, it.server);
    ck_assert(given);
    ck_assert(ts_wait_until(is_connected, handle, ts_patience(20000)));
    ck_assert(!pdk__servers_give(handle, it.own, it.server, nowhere)); /* now it has a connection */
    zookeeper_close(handle);
    g_free(nowhere);
    close(held);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("sockets");
    TCase *cases = ts_bench_case(suite, "sockets");
    tcase_add_checked_fixture(cases, set_up, clear);
    tcase_add_test(cases, before_any_session_is_connected_nothing_is_shut);
    tcase_add_test(cases, sockets_of_the_same_moment_are_claimed_for_both);
    tcase_add_test(cases, the_latest_socket_of_a_handle_is_its_own);
    tcase_add_test(cases, a_handle_leaves_alone_what_is_claimed_for_another);
    tcase_add_test(cases, a_hurry_ends_what_was_sent_something_and_never_answered);
    tcase_add_test(cases, a_dial_is_given_up_after_its_patience_alone);
    tcase_add_test(cases, a_dial_to_a_server_that_is_gone_is_left_at_the_second_look);
    tcase_add_test(cases, a_dial_that_has_begun_since_the_last_look_is_seen);
    tcase_add_test(cases, where_no_descriptor_is_to_be_had_it_may_be_one);
    tcase_add_test(cases, a_dial_that_ends_by_itself_is_not_given_up);
    tcase_add_test(cases, tables_that_are_not_there_have_no_dials);
    tcase_add_test(cases, a_line_of_the_table);
    tcase_add_test(cases, a_list_of_the_same_addresses_is_taken);
    tcase_add_test(cases, a_full_queue_takes_no_request_and_answers_all_it_took);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
