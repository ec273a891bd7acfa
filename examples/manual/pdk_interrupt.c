/* Control-C ends the wait for the lock, and not the program. */
#include <paddock/paddock.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static void must(pdk_status status) {
    if (status == PDK_OK)
        return;
    fprintf(stderr, "%s\n", pdk_last_error());
    exit(1);
}

static pdk_interrupt *interrupt;

static void on_signal(int number) {
    (void)number;
    pdk_interrupt_raise(interrupt); /* safe in a signal handler */
}

int main(int argc, char **argv) {
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    pdk_session *session;
    pdk_lock *lock;
    pdk_hold *hold;
    pdk_status status;

    must(pdk_interrupt_new(&interrupt));
    must(pdk_interrupt_attach(interrupt)); /* to this thread */
    signal(SIGINT, on_signal);
    must(pdk_session_open(hosts, NULL, &session));
    must(pdk_lock_new(session, "/manual/patience", NULL, &lock));
    status = pdk_lock_acquire(lock, PDK_FOREVER, &hold);
    if (status == PDK_CANCELED) {
        printf("then not\n");
    } else {
        must(status);
        printf("held\n");
        must(pdk_hold_release(hold));
    }
    pdk_lock_unref(lock);
    must(pdk_session_close(session, 2000));
    pdk_session_unref(session);
    signal(SIGINT, SIG_DFL);
    pdk_interrupt_detach();
    pdk_interrupt_unref(interrupt);
    return 0;
}
