/* A function that runs while we lead, on a thread of its own, and
 * returns when the term ends. */
#include <paddock/paddock.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

static void must(pdk_status status) {
    if (status == PDK_OK)
        return;
    fprintf(stderr, "%s\n", pdk_last_error());
    exit(1);
}

static void lead(pdk_term *term, void *user) {
    struct pollfd end = {pdk_term_fd(term), POLLIN, 0};

    (void)user;
    printf("leading with token %s\n",
           pdk_hold_token_text(pdk_term_hold(term)));
    while (!pdk_term_is_ending(term))
        poll(&end, 1, 100); /* a step, or the end of the term */
    printf("not leading any more\n");
}

int main(int argc, char **argv) {
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    pdk_session *session;
    pdk_election *election;
    pdk_service *service;

    must(pdk_session_open(hosts, NULL, &session));
    must(pdk_election_new(session, "/manual/service", NULL, &election));
    must(pdk_service_start(election, lead, NULL, NULL, &service));
    poll(NULL, 0, 300); /* the program's other work */
    must(pdk_service_close(service, PDK_FOREVER)); /* lead returned */

    pdk_service_unref(service);
    pdk_election_unref(election);
    must(pdk_session_close(session, 2000));
    pdk_session_unref(session);
    return 0;
}
