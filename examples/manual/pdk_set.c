/* Move money between two accounts. Both locks are held, or none, and
 * nobody deadlocks, in whichever order accounts are named. */
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
    pdk_lock *from, *to;
    pdk_set *set;

    must(pdk_session_open(hosts, NULL, &session));
    must(pdk_lock_new(session, "/manual/accounts/7", NULL, &from));
    must(pdk_lock_new(session, "/manual/accounts/3", NULL, &to));
    pdk_right rights[] = {pdk_right_lock(from), pdk_right_lock(to)};
    must(pdk_set_acquire(rights, 2, 5000, NULL, &set));
    printf("account 7 is written with token %s, 3 with %s\n",
           pdk_hold_token_text(pdk_set_part(set, 0)),
           pdk_hold_token_text(pdk_set_part(set, 1)));
    must(pdk_set_release(set));

    pdk_lock_unref(from);
    pdk_lock_unref(to);
    must(pdk_session_close(session, 2000));
    pdk_session_unref(session);
    return 0;
}
