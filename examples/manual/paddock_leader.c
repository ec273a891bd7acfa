/* A leader publishes its address, and a client of it reads that. */
#include <paddock/paddock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(pdk_status status) {
    if (status == PDK_OK)
        return;
    fprintf(stderr, "%s\n", pdk_last_error());
    exit(1);
}

int main(int argc, char **argv) {
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    const char *address = "10.0.0.7:8080";
    pdk_session *session;
    pdk_election *election;
    pdk_hold *hold;
    pdk_contenders *leader;
    const char *data;
    size_t size;

    must(pdk_session_open(hosts, NULL, &session));
    must(pdk_election_new(session, "/manual/primary", NULL, &election));
    must(pdk_election_join(election, NULL));
    must(pdk_election_wait(election, PDK_FOREVER, &hold));
    must(pdk_election_publish(election, hold, address, strlen(address),
                              5000));

    must(pdk_election_leader(election, 5000, &leader)); /* anywhere */
    data = pdk_contenders_data(leader, 0, &size);
    if (data)
        printf("the leader is at %.*s\n", (int)size, data);
    pdk_contenders_free(leader);

    pdk_hold_unref(hold);
    pdk_election_unref(election); /* it leaves, too */
    must(pdk_session_close(session, 2000));
    pdk_session_unref(session);
    return 0;
}
