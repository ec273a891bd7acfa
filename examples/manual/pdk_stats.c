/* Print how long acquisitions waited, and how near a loss was. */
#include <inttypes.h>
#include <paddock/paddock.h>
#include <stdio.h>
#include <stdlib.h>

static void must(pdk_status status) {
    if (status == PDK_OK)
        return;
    fprintf(stderr, "%s\n", pdk_last_error());
    exit(1);
}

int main(int argc, char **argv) {
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    pdk_stats stats = PDK_STATS_INIT;
    pdk_session *session;
    pdk_lock *lock;

    must(pdk_session_open(hosts, NULL, &session));
    must(pdk_lock_new(session, "/manual/busy", NULL, &lock));
    for (int i = 0; i < 20; i++) {
        pdk_hold *hold;
        must(pdk_lock_acquire(lock, 5000, &hold));
        must(pdk_hold_release(hold));
    }
    must(pdk_session_stats(session, &stats));
    printf("%" PRIu64 " grants; 99 %% came within %" PRIu64 " us\n",
           stats.claims_granted,
           pdk_histogram_quantile_us(&stats.wait_time, 0.99));
    printf("the lease had %" PRId64 " ms left at the least\n",
           stats.lease_least_us / 1000);
    pdk_lock_unref(lock);
    must(pdk_session_close(session, 2000));
    pdk_session_unref(session);
    return 0;
}
