/* A million customers, and 64 locks. Two customers exclude each
 * other only where they have the same stripe. */
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
    pdk_session *session;
    pdk_striped *customers;
    pdk_hold *hold;

    must(pdk_session_open(hosts, NULL, &session));
    must(pdk_striped_new(session, "/manual/customers", 64, NULL,
                         &customers)); /* 64 in every program */
    must(pdk_striped_acquire(customers, "customer 4711", 5000, &hold));
    printf("stripe %d\n", (int)pdk_striped_stripe(customers, hold));
    must(pdk_hold_release(hold));
    pdk_striped_unref(customers);
    must(pdk_session_close(session, 2000));
    pdk_session_unref(session);
    return 0;
}
