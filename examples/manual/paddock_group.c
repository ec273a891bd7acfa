/* Join a group with an address as data, and print each view of its
 * members. */
#include <paddock/paddock.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(pdk_status status) {
    if (status == PDK_OK)
        return;
    fprintf(stderr, "%s\n", pdk_last_error());
    exit(1);
}

/* On the session's own thread: at first with all members, then with
 * each change. */
static void on_view(pdk_group_view *view, void *user) {
    size_t count = pdk_group_view_count(view);

    printf("view %d\n", (int)pdk_group_view_number(view));
    for (size_t i = 0; i < count; i++) {
        const pdk_member_info *one = pdk_group_view_member(view, i);
        printf("  %.*s\n", (int)one->size, (const char *)one->data);
    }
    if (count > 0)
        sem_post(user);
}

int main(int argc, char **argv) {
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    const char *address = "10.0.0.7:8080";
    pdk_session *session;
    pdk_member *member;
    pdk_group_watcher *watcher;
    sem_t seen;

    sem_init(&seen, 0, 0);
    must(pdk_session_open(hosts, NULL, &session));
    must(pdk_group_join(session, "/manual/workers", address,
                        strlen(address), NULL, &member));
    must(pdk_group_watch(session, "/manual/workers", on_view, &seen,
                         NULL, &watcher));
    sem_wait(&seen);

    pdk_group_watcher_close(watcher);
    must(pdk_member_leave(member));
    pdk_member_unref(member);
    must(pdk_session_close(session, 2000));
    pdk_session_unref(session);
    return 0;
}
