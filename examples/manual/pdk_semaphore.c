/* At most three imports run at a time in all of the fleet. A large
 * one counts as two. */
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
    pdk_semaphore *imports;
    pdk_hold *hold;

    must(pdk_session_open(hosts, NULL, &session));
    must(pdk_semaphore_new(session, "/manual/imports", 3, NULL,
                           &imports)); /* 3 in every program */
    must(pdk_semaphore_acquire(imports, 2, 60000, &hold));
    printf("importing much, with two permits of three\n");
    must(pdk_hold_release(hold)); /* both of them */
    pdk_semaphore_unref(imports);
    must(pdk_session_close(session, 2000));
    pdk_session_unref(session);
    return 0;
}
