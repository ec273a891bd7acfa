/*
 * Several processes of a program, each of which knows the leader.
 *
 *     election_observer [NAME] HOSTS        such as anna 127.0.0.1:2181; start several
 *
 * Each is a candidate with callbacks. It also observes the election, so that it can send its work to the leader. A line
 * of input makes it leave, and the next line makes it join again. The end of input ends the program.
 */
#include <paddock/paddock.h>
#include <stdio.h>
#include <stdlib.h>

static void check(const char *what, pdk_status status) {
    if (status != PDK_OK) {
        fprintf(stderr, "election_observer: %s: %s: %s\n", what, pdk_status_name(status), pdk_last_error());
        exit(EXIT_FAILURE);
    }
}

/* Other clients wrote the identity, so it is not printed on a terminal as it is. */
static void leader(const char *identity, int64_t token, void *user) {
    (void)user;
    if (!identity) {
        printf("nobody leads\n");
        return;
    }
    for (const char *c = identity; *c; c++)
        putchar(*c < ' ' || *c > '~' ? '?' : *c);
    printf(" leads, token %lld\n", (long long)token);
}

/* Start leading here, and stop in deposed, which runs exactly once. We do not queue again before deposed has
 * returned. */
static void elected(pdk_hold *hold, void *user) {
    (void)user;
    printf("we lead, for %lld ms at the least\n", (long long)pdk_hold_remaining_ms(hold));
}

static void deposed(pdk_reason reason, void *user) {
    (void)user;
    printf("we do not lead any more (%s)\n", pdk_reason_name(reason));
}

static void failed(pdk_status status, void *user) {
    (void)user;
    printf("we are no candidate any more: %s\n", pdk_status_text(status));
}

int main(int argc, char **argv) {
    pdk_election_options options = PDK_ELECTION_OPTIONS_INIT;
    pdk_election_callbacks callbacks = PDK_ELECTION_CALLBACKS_INIT;
    pdk_session *session;
    pdk_election *election;
    pdk_observer *observer;
    setvbuf(stdout, NULL, _IOLBF, 0);
    options.identity = argc > 2 ? argv[1] : NULL; /* NULL: host:pid */
    callbacks.elected = elected;
    callbacks.deposed = deposed;
    callbacks.failed = failed;
    check("open", pdk_session_open(argc > 1 ? argv[argc - 1] : "127.0.0.1:2181", NULL, &session));
    check("election", pdk_election_new(session, "/examples/leader", &options, &election));
    check("observe", pdk_election_observe(election, leader, NULL, NULL, &observer));
    check("join", pdk_election_join(election, &callbacks));
    while (getchar() != EOF)
        if (pdk_election_leave(election) != PDK_OK) /* NOT_HELD: we had left */
            check("join", pdk_election_join(election, &callbacks));

    pdk_observer_close(observer);
    pdk_election_unref(election);                     /* leaves */
    check("close", pdk_session_close(session, 2000)); /* runs callbacks that are due: deposed, if we led */
    pdk_session_unref(session);
    return EXIT_SUCCESS;
}
