/*
 * Access to the nodes of a lock: its users may do everything, an operator may look and break, and nobody else may do
 * anything.
 *
 *     access_list HOSTS        such as 127.0.0.1:2181
 *
 * A digest goes over the wire in clear unless there is TLS.
 */
#include <paddock/paddock.h>
#include <stdio.h>
#include <stdlib.h>

static void check(const char *what, pdk_status status, pdk_status wanted) {
    if (status != wanted) {
        fprintf(stderr, "access_list: %s: %s: %s\n", what, pdk_status_name(status), pdk_last_error());
        exit(EXIT_FAILURE);
    }
}

/* The list is for nodes that the session makes, and for directories that were missing. */
static const pdk_access_entry list[] = {
    {.permissions = PDK_PERMISSION_ALL, .scheme = "auth", .id = ""}, /* clients with our digest */
    /* printf %s operator:secret | openssl dgst -sha1 -binary | base64 */
    {.permissions = PDK_PERMISSION_READ | PDK_PERMISSION_DELETE,
     .scheme = "digest",
     .id = "operator:7jWRZ6rRChO2XKqMVWLii1hb7YQ="},
};

static pdk_session *open_as(const char *hosts, const char *digest, pdk_lock **lock) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *session;
    options.digest = digest;
    if (digest) {
        options.access = PDK_ACCESS_LIST;
        options.access_list = list;
        options.access_count = sizeof list / sizeof list[0];
    }
    check("open", pdk_session_open(hosts, &options, &session), PDK_OK);
    check("lock", pdk_lock_new(session, "/vault/keys", NULL, lock), PDK_OK);
    return session;
}

static void end(pdk_session *session, pdk_lock *lock) {
    pdk_lock_unref(lock);
    check("close", pdk_session_close(session, 2000), PDK_OK);
    pdk_session_unref(session);
}

int main(int argc, char **argv) {
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    pdk_lock *of_user, *of_admin, *of_stranger;
    pdk_session *user = open_as(hosts, "vault:of the users", &of_user);
    pdk_session *admin = open_as(hosts, "operator:secret", &of_admin);
    pdk_session *stranger = open_as(hosts, NULL, &of_stranger);
    pdk_contenders *who;
    pdk_hold *hold;
    char node[600];
    setvbuf(stdout, NULL, _IOLBF, 0);
    check("acquire", pdk_lock_acquire(of_user, 10000, &hold), PDK_OK);

    check("a stranger acquires", pdk_lock_acquire(of_stranger, 10000, &hold), PDK_NO_PERMISSION);
    check("a stranger looks", pdk_lock_holder(of_stranger, 10000, &who), PDK_NO_PERMISSION);
    printf("a stranger may neither acquire it nor look\n");

    check("the operator acquires", pdk_lock_acquire(of_admin, 10000, &hold), PDK_NO_PERMISSION);
    check("the operator looks", pdk_lock_holder(of_admin, 10000, &who), PDK_OK);
    snprintf(node, sizeof node, "/vault/keys/%s", pdk_contenders_node(who, 0));
    check("the operator breaks it", pdk_session_break(admin, node, pdk_contenders_token(who, 0), 10000, NULL), PDK_OK);
    printf("the operator may not acquire it, and may look and break\n");
    pdk_contenders_free(who);

    pdk_hold_release(hold); /* it was lost, or is about to be */
    end(user, of_user);
    end(admin, of_admin);
    end(stranger, of_stranger);
    return EXIT_SUCCESS;
}
