/* A test that cuts a client off from its server, and then lets it
 * come back. It needs no server: it starts one. Link it with both
 * paddock and paddock-testing. */
#include <paddock/paddock.h>
#include <paddock/testing.h>
#include <stdio.h>
#include <stdlib.h>

static void must(pdk_status status) {
    if (status == PDK_OK)
        return;
    fprintf(stderr, "%s\n", pdk_last_error());
    exit(1);
}

int main(void) {
    pdk_test_ensemble *servers = pdk_test_ensemble_start(NULL);
    pdk_test_proxy *link;
    pdk_session *session;
    pdk_lock *lock;
    pdk_hold *hold;

    if (!servers) {
        fprintf(stderr, "%s\n", pdk_test_last_error());
        return 1;
    }
    link = pdk_test_ensemble_proxy(servers, 0);
    must(pdk_session_open(pdk_test_ensemble_proxied_hosts(servers),
                          NULL, &session));
    must(pdk_lock_new(session, "/lock", NULL, &lock));
    must(pdk_lock_acquire(lock, 5000, &hold));

    pdk_test_proxy_set_mode(link, PDK_TEST_CUT);
    printf("cut off, and %s\n",
           pdk_hold_is_valid(hold) ? "still held" : "lost");
    pdk_test_proxy_heal(link);
    must(pdk_hold_release(hold));

    pdk_lock_unref(lock);
    must(pdk_session_close(session, 5000));
    pdk_session_unref(session);
    pdk_test_ensemble_stop(servers);
    return 0;
}
