/*
 * An operator breaks the hold of a worker that does not work any more: the hold that the operator looked at, and no
 * other.
 *
 *     revocation_break HOSTS        such as 127.0.0.1:2181
 *
 * First end its process, or cut it off from the resource (docs/operations.md). The command is `paddock break`.
 */
#include <paddock/paddock.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

static const char path[] = "/examples/import";

static void check(const char *what, pdk_status status, pdk_status wanted) {
    if (status != wanted) {
        fprintf(stderr, "revocation_break: %s: %s: %s\n", what, pdk_status_name(status), pdk_last_error());
        exit(EXIT_FAILURE);
    }
}

static pdk_session *begin(const char *hosts, pdk_lock **lock) {
    pdk_session *session;
    check("open", pdk_session_open(hosts, NULL, &session), PDK_OK);
    check("lock", pdk_lock_new(session, path, NULL, lock), PDK_OK);
    return session;
}

static void end(pdk_session *session, pdk_lock *lock) {
    pdk_lock_unref(lock);
    check("close", pdk_session_close(session, 2000), PDK_OK);
    pdk_session_unref(session);
}

int main(int argc, char **argv) {
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    pdk_lock *of_worker, *of_operator;
    pdk_session *worker = begin(hosts, &of_worker), *office = begin(hosts, &of_operator);
    pdk_contenders *list;
    pdk_hold *hold, *next;
    char node[600];
    setvbuf(stdout, NULL, _IOLBF, 0);
    check("the worker acquires", pdk_lock_acquire(of_worker, 30000, &hold), PDK_OK);

    /* List the holder. A person looks at it, and decides. */
    check("holder", pdk_lock_holder(of_operator, 5000, &list), PDK_OK);
    int64_t token = pdk_contenders_token(list, 0);
    snprintf(node, sizeof node, "%s/%s", path, pdk_contenders_node(list, 0));
    pdk_contenders_free(list);

    check("another one", pdk_session_break(office, node, token + 1, 5000, NULL), PDK_GONE);
    printf("with another token nothing is deleted\n");
    check("break", pdk_session_break(office, node, token, 5000, NULL), PDK_OK);
    check("the operator acquires", pdk_lock_acquire(of_operator, 30000, &next), PDK_OK);
    printf("broken, and granted to the next one with a larger token: %s\n",
           pdk_hold_token(next) > token ? "yes" : "no");

    /* This worker has a connection, so it hears of the loss, maybe after that grant. A worker that is cut off hears
     * when its lease is over. */
    poll(&(struct pollfd){.fd = pdk_hold_fd(hold), .events = POLLIN}, 1, 10000);
    printf("the worker has lost it: %s\n", pdk_reason_name(pdk_hold_reason(hold)));
    check("release", pdk_hold_release(hold), PDK_LOST);
    check("release", pdk_hold_release(next), PDK_OK);
    end(worker, of_worker);
    end(office, of_operator);
    return EXIT_SUCCESS;
}
