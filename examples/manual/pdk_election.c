/* Be a candidate, lead for three steps, and give the leadership to
 * the next candidate. */
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
    pdk_election *election;
    pdk_hold *hold;

    must(pdk_session_open(hosts, NULL, &session));
    must(pdk_election_new(session, "/manual/leader", NULL, &election));
    must(pdk_election_join(election, NULL)); /* or with callbacks */
    must(pdk_election_wait(election, PDK_FOREVER, &hold));
    for (int step = 1; step <= 3 && pdk_hold_is_valid(hold); step++)
        printf("leading, step %d, with token %s\n", step,
               pdk_hold_token_text(hold));
    pdk_hold_unref(hold); /* a release would resign */
    must(pdk_election_leave(election));

    pdk_election_unref(election);
    must(pdk_session_close(session, 2000));
    pdk_session_unref(session);
    return 0;
}
