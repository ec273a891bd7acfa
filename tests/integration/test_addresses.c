/* Servers that move to other addresses while there is no connection. This test resolves names itself: the executable's
 * getaddrinfo replaces the C library's. */
#include <arpa/inet.h>
#include <check.h>
#include <glib.h>
#include <netdb.h>
#include <netinet/in.h>
#include <paddock/paddock.h>
#include <stdatomic.h>
#include <string.h>

#include "ts_check.h"
#include "ts_support.h"

static atomic_int lookups;
static atomic_int
    moves_at; /* from this look-up on, the name means 127.0.0.1; before, it means an address without a server */
static ts_ensemble *server;

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **out) {
    (void)hints;
    struct addrinfo *info = g_new0(struct addrinfo, 1);
    struct sockaddr_in *address = g_new0(struct sockaddr_in, 1);
    if (strcmp(name, "movable") == 0)
        name = atomic_fetch_add(&lookups, 1) >= atomic_load(&moves_at) ? "127.0.0.1" : "127.0.0.77";
    address->sin_family = AF_INET;
    address->sin_port =
        htons(service ? (uint16_t)g_ascii_strtoull(service, NULL, 10) : 0); /* the client library uses it so */
    inet_pton(AF_INET, name, &address->sin_addr);
    info->ai_family = AF_INET;
    info->ai_addr = (struct sockaddr *)address;
    info->ai_addrlen = sizeof *address;
    *out = info;
    return 0;
}

void freeaddrinfo(struct addrinfo *info) {
    g_free(info->ai_addr);
    g_free(info);
}

static void start(void) { server = ts_ensemble_start(NULL); }
static void stop(void) { ts_ensemble_stop(server); }

static char *movable_hosts(void) { return g_strdup_printf("movable%s", strrchr(ts_ensemble_host(server, 0), ':')); }

START_TEST(the_first_connection_finds_servers_that_moved) {
    atomic_store(&lookups, 0);
    atomic_store(&moves_at, 1);
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.connect_timeout_ms = 40000;
    options.session_timeout_ms = 2000;
    char *hosts = movable_hosts();
    pdk_session *session = NULL;
    pdk_status status = pdk_session_open(hosts, &options, &session);
    g_free(hosts);
    ck_assert_msg(status == PDK_OK, "%s: %s", pdk_status_name(status), pdk_last_error());
    ck_assert_int_ge(atomic_load(&lookups), 2);
    ck_assert_int_eq(pdk_session_close(session, 5000), PDK_OK);
    pdk_session_unref(session);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("addresses");
    TCase *test_case = tcase_create("addresses");
    tcase_add_unchecked_fixture(test_case, start, stop);
    tcase_add_test(test_case, the_first_connection_finds_servers_that_moved);
    suite_add_tcase(suite, test_case);
    return ts_run_suite(suite);
}
