/*
 * A test with a ZooKeeper of its own: a holder is cut off from all servers. It sees its loss in time, before the next
 * one may work. docs/testing.md has more.
 */
#include <paddock/paddock.h>
#include <paddock/testing.h>
#include <stdio.h>
#include <stdlib.h>

static void check(const char *what, bool good, const char *why) {
    printf("%s: %s%s\n", what, good ? "ok" : "FAILED: ", good ? "" : why);
    if (!good)
        exit(EXIT_FAILURE); /* the servers end with this process */
}

static pdk_lock *lock_through(const char *hosts, pdk_session **session) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_lock *lock = NULL;
    options.session_timeout_ms = 3000;
    check("a session opens", pdk_session_open(hosts, &options, session) == PDK_OK, pdk_last_error());
    check("a lock", pdk_lock_new(*session, "/jobs/backup", NULL, &lock) == PDK_OK, pdk_last_error());
    return lock;
}

static void close_all(pdk_lock *lock, pdk_session *session) {
    pdk_lock_unref(lock);
    pdk_session_close(session, 5000);
    pdk_session_unref(session);
}

int main(void) {
    pdk_test_options options = {.size = sizeof options, .servers = 3, .tick_ms = 200};
    pdk_session *near = NULL, *far = NULL;
    pdk_hold *first = NULL, *next = NULL;
    pdk_test_ensemble *servers = pdk_test_ensemble_start(&options);
    check("three servers", servers != NULL, pdk_test_last_error());
    pdk_lock *cut_off = lock_through(pdk_test_ensemble_proxied_hosts(servers), &far);
    pdk_lock *other = lock_through(pdk_test_ensemble_hosts(servers), &near);

    check("the first holds", pdk_lock_acquire(cut_off, 10000, &first) == PDK_OK, pdk_last_error());
    for (int i = 0; i < pdk_test_ensemble_size(servers); i++)
        pdk_test_proxy_set_mode(pdk_test_ensemble_proxy(servers, i), PDK_TEST_SILENT);
    check("the next waits for it", pdk_lock_acquire(other, 20000, &next) == PDK_OK, pdk_last_error());
    check("the first knew before", !pdk_hold_is_valid(first), "two valid holds");
    check("a token that grows", pdk_hold_token(next) > pdk_hold_token(first), "an older token");
    pdk_hold_release(next);

    /* Two of three servers are enough, once they have a leader. */
    pdk_test_ensemble_kill(servers, pdk_test_ensemble_wait_leader(servers, -1, 10000));
    check("without the leader", pdk_lock_acquire(other, 30000, &next) == PDK_OK, pdk_last_error());
    pdk_hold_release(next);

    for (int i = 0; i < pdk_test_ensemble_size(servers); i++)
        pdk_test_proxy_heal(pdk_test_ensemble_proxy(servers, i));
    pdk_hold_release(first);
    close_all(cut_off, far);
    close_all(other, near);
    pdk_test_ensemble_stop(servers);
    return EXIT_SUCCESS;
}
