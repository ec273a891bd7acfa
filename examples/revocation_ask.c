/*
 * A holder that lets go early, since somebody else asks it to.
 *
 *     revocation_ask HOSTS        such as 127.0.0.1:2181
 *
 * Both sides are in this program. Elsewhere the asker is a deployment, or `paddock ask /examples/reindex`.
 */
#include <paddock/paddock.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

static const char path[] = "/examples/reindex";
static sem_t asked;

static void check(const char *what, pdk_status status) {
    if (status != PDK_OK) {
        fprintf(stderr, "revocation_ask: %s: %s: %s\n", what, pdk_status_name(status), pdk_last_error());
        exit(EXIT_FAILURE);
    }
}

/* On the session's thread: note it, and return. Others wrote `who`, so it is not printed on a terminal as it is. */
static void on_asked(pdk_hold *hold, const char *who, int64_t until_ms, void *user) {
    (void)hold;
    (void)user;
    printf("asked by ");
    for (const char *c = who; *c; c++)
        putchar(*c < ' ' || *c > '~' ? '?' : *c);
    printf(until_ms > 0 ? ", until a time that it named\n" : "\n");
    sem_post(&asked);
}

static pdk_session *begin(const char *hosts, pdk_lock **lock) {
    pdk_session *session;
    check("open", pdk_session_open(hosts, NULL, &session));
    check("lock", pdk_lock_new(session, path, NULL, lock));
    return session;
}

static void end(pdk_session *session, pdk_lock *lock) {
    pdk_lock_unref(lock);
    check("close", pdk_session_close(session, 2000));
    pdk_session_unref(session);
}

int main(int argc, char **argv) {
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    pdk_lock *of_worker, *of_deployment;
    pdk_session *worker = begin(hosts, &of_worker), *deployment = begin(hosts, &of_deployment);
    pdk_hold *hold, *next;
    sem_init(&asked, 0, 0);
    setvbuf(stdout, NULL, _IOLBF, 0);

    check("the worker acquires", pdk_lock_acquire(of_worker, 30000, &hold));
    check("on_asked", pdk_hold_on_request(hold, on_asked, NULL, NULL));

    check("ask", pdk_session_request_release(deployment, path, NULL, "deploy 1.7", 60000, 5000)); /* forces nothing */

    sem_wait(&asked); /* here: finish the step under way */
    printf("the worker %s it\n", pdk_hold_is_valid(hold) ? "still holds" : "has lost");
    check("release", pdk_hold_release(hold));

    check("the deployment acquires", pdk_lock_acquire(of_deployment, 30000, &next));
    printf("the worker let go, and the deployment has it\n");
    check("release", pdk_hold_release(next));
    end(worker, of_worker);
    end(deployment, of_deployment);
    return EXIT_SUCCESS;
}
