/*
 * A leader that publishes its progress, and its observers, on event loops that never wait.
 *
 *     election_data HOSTS        such as 127.0.0.1:2181; start several
 * A line of input is a step of the leader. The end of input ends the program.
 */
#include <err.h>
#include <paddock/paddock.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pdk_election *election;
static pdk_hold *term; /* our reference, while we lead */

static void check(pdk_status status) {
    if (status != PDK_OK)
        errx(EXIT_FAILURE, "%s: %s", pdk_status_name(status), pdk_last_error());
}

/* Other programs wrote the data: print them with care. */
static void told(const pdk_contenders *leader, void *user) {
    size_t size = 0;
    const char *data = pdk_contenders_data(leader, 0, &size);
    (void)user;
    printf("leader %lld:", (long long)pdk_contenders_token(leader, 0));
    for (size_t i = 0; i < size; i++)
        putchar(data[i] < ' ' || data[i] > '~' ? '?' : data[i]);
    printf("\n");
}

static void published(pdk_status status, void *user) {
    (void)user;
    if (status != PDK_LOST) /* so is the term */
        check(status);
}

static void publish(const char *line) {
    check(pdk_election_publish_async(election, term, line, strcspn(line, "\n"), 5000, published, NULL));
}

static void elected(pdk_hold *hold, void *user) {
    (void)user;
    term = pdk_hold_ref(hold);
    publish("ready");
}

static void deposed(pdk_reason reason, void *user) {
    (void)user;
    printf("we do not lead any more (%s)\n", pdk_reason_name(reason));
    pdk_hold_unref(term);
    term = NULL;
}

int main(int argc, char **argv) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_election_callbacks callbacks = {sizeof callbacks, elected, deposed, NULL, NULL, NULL, NULL};
    char line[256] = "";
    pdk_session *session;
    pdk_observer *observer;
    setvbuf(stdout, NULL, _IOLBF, 0);
    setvbuf(stdin, NULL, _IONBF, 0); /* poll would not see a line that waits in a buffer */
    options.dispatch = PDK_DISPATCH_MANUAL;
    options.open_in_background = 1;
    check(pdk_session_open(argc > 1 ? argv[1] : "127.0.0.1:2181", &options, &session));
    check(pdk_election_new(session, "/examples/data", NULL, &election));
    check(pdk_election_observe_data(election, told, NULL, NULL, &observer));
    check(pdk_election_join(election, &callbacks));
    struct pollfd polled[] = {{.fd = pdk_session_fd(session), .events = POLLIN}, {.fd = 0, .events = POLLIN}};
    while (poll(polled, 2, -1) > 0 && (!polled[1].revents || fgets(line, sizeof line, stdin))) {
        check(pdk_session_dispatch(session, NULL));
        if (polled[1].revents && term)
            publish(line);
    }
    pdk_observer_close(observer);
    pdk_election_unref(election); /* leaves */
    check(pdk_session_close(session, 2000));
    pdk_session_unref(session);
}
