/*
 * Workers that know of each other: each has an address and a load, and all see the changes.
 *
 *     group_members ADDRESS HOSTS        such as 10.0.0.7:8080 127.0.0.1:2181; start several, kill one
 *
 * A line of input is the new load. The end of input ends the program. A worker that is cut off learns that it may not
 * be listed any more before others may miss it: it should take no new work then.
 */
#include <paddock/paddock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(const char *what, pdk_status status) {
    if (status != PDK_OK) {
        fprintf(stderr, "group_members: %s: %s: %s\n", what, pdk_status_name(status), pdk_last_error());
        exit(EXIT_FAILURE);
    }
}

/* Other programs wrote the data, so they are not printed on a terminal as they are. */
static void print(const char *what, const pdk_member_info *member) {
    printf("%s ", what);
    for (size_t i = 0; i < member->size; i++) {
        unsigned char c = ((const unsigned char *)member->data)[i];
        putchar(c < ' ' || c > '~' ? '?' : c);
    }
    putchar('\n');
}

static void on_view(pdk_group_view *view, void *user) {
    const pdk_member_info *before, *after;
    (void)user;
    for (size_t i = 0; pdk_group_view_change(view, i, &before, &after); i++)
        print(!after ? "left:" : before ? "changed:" : "joined:", after ? after : before);
    printf("view %llu: %zu workers\n", (unsigned long long)pdk_group_view_number(view), pdk_group_view_count(view));
}

static void joined(pdk_hold *hold, void *user) {
    (void)user;
    printf("we are listed, for %lld ms at the least\n", (long long)pdk_hold_remaining_ms(hold));
}

static void lost(pdk_reason reason, void *user) {
    (void)user;
    printf("we are listed no more (%s)\n", pdk_reason_name(reason));
}

static void failed(pdk_status status, void *user) {
    (void)user;
    printf("we cannot be listed: %s\n", pdk_status_text(status));
}

int main(int argc, char **argv) {
    pdk_member_callbacks callbacks = PDK_MEMBER_CALLBACKS_INIT;
    pdk_session *session;
    pdk_member *member;
    pdk_group_watcher *watcher;
    const char *address = argc > 2 ? argv[1] : "nowhere:0";
    char load[32], data[256];
    setvbuf(stdout, NULL, _IOLBF, 0);
    callbacks.joined = joined;
    callbacks.lost = lost;
    callbacks.failed = failed;
    check("open", pdk_session_open(argc > 1 ? argv[argc - 1] : "127.0.0.1:2181", NULL, &session));
    check("watch", pdk_group_watch(session, "/examples/workers", on_view, NULL, NULL, &watcher));
    check("join", pdk_group_join(session, "/examples/workers", address, strlen(address), &callbacks, &member));
    while (fgets(load, sizeof load, stdin)) {
        load[strcspn(load, "\n")] = '\0';
        int length = snprintf(data, sizeof data, "%s load %s", address, load);
        check("set", pdk_member_set_data(member, data, (size_t)length, 5000)); /* REPLACED: somebody else wrote it */
    }

    pdk_member_unref(member); /* leaves */
    pdk_group_watcher_close(watcher);
    check("close", pdk_session_close(session, 2000));
    pdk_session_unref(session);
    return EXIT_SUCCESS;
}
