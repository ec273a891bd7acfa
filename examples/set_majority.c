/*
 * Works under a majority of locks, one in each of several separate ensembles. It goes on while most of them answer.
 *
 *     set_majority HOSTS HOSTS HOSTS        one argument for each ensemble, such as zk-a:2181 zk-b:2181 zk-c:2181
 * One ensemble with three or five servers is the better majority. Take several where they exist, and none of them may
 * be a single point of failure: docs/recipes/majority.md.
 */
#include <paddock/paddock.h>
#include <stdio.h>
#include <unistd.h>

enum { MOST = 9 };

static pdk_session *session[MOST];
static pdk_lock *lock[MOST];
static pdk_right rights[MOST];

static int failed(const char *what, pdk_status status) {
    fprintf(stderr, "set_majority: %s: %s: %s\n", what, pdk_status_name(status), pdk_last_error());
    return 1;
}

/* An ensemble that is down must not keep the program from starting. */
static pdk_status open_one(int i, const char *hosts) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    char path[64];
    options.session_timeout_ms = 4000;
    options.open_in_background = 1;
    snprintf(path, sizeof path, "/examples/report-%d", i); /* the paths make the order in which they are taken */
    pdk_status status = pdk_session_open(hosts, &options, &session[i]);
    if (status == PDK_OK)
        status = pdk_lock_new(session[i], path, NULL, &lock[i]);
    rights[i] = pdk_right_lock(lock[i]);
    return status;
}

static int held(const pdk_set *set) {
    int count = 0;
    for (int i = 0; i < pdk_set_count(set); i++)
        count += pdk_hold_is_valid(pdk_set_part(set, i)); /* a missing or lost part does not count */
    return count;
}

/* Eight seconds of work, in small steps. It stops as soon as too few are held. */
static pdk_status work(const pdk_set *set) {
    int before = 0;
    for (int step = 0; step < 800; step++) {
        if (!pdk_set_is_valid(set))
            return PDK_LOST;
        if (held(set) != before)
            printf("working: %d of %d are held\n", before = held(set), pdk_set_count(set));
        usleep(10000);
    }
    return PDK_OK;
}

int main(int argc, char **argv) {
    pdk_set_options options = PDK_SET_OPTIONS_INIT;
    pdk_set *set = NULL;
    int count = argc - 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    pdk_status status = count >= 3 && count <= MOST ? PDK_OK : PDK_INVALID;
    for (int i = 0; i < count && status == PDK_OK; i++)
        status = open_one(i, argv[i + 1]);
    if (status != PDK_OK)
        return failed("open", status);
    options.need = count / 2 + 1; /* any two majorities share a lock */
    status = pdk_set_acquire(rights, (size_t)count, 30000, &options, &set);
    if (status != PDK_OK)
        return failed("acquire", status);
    status = work(set);
    pdk_set_release(set);
    for (int i = 0; i < count; i++) {
        pdk_lock_unref(lock[i]);
        pdk_session_close(session[i], 2000);
        pdk_session_unref(session[i]);
    }
    printf("%s\n", status == PDK_OK ? "done" : "lost");
    return status != PDK_OK;
}
