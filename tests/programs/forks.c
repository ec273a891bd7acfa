/*
 * forks [--forks N] [--may-be-refused] HOSTS: a process whose threads use sessions, GLib's lists and the local time without a pause is
 * forked N times. Each child opens a session, has a lock and closes. None may hang, or have another answer.
 *
 * --may-be-refused: of the static library. A child may be told that GLib's allocator does not answer.
 * Exit status: 0 when it is so, 1 when not.
 */
#include <glib.h>
#include <paddock/paddock.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { AT_ONCE = 8, PATIENCE_S = 60, REFUSED = 2, HUNG = 3 };

static const char *hosts;
static pdk_session *session;

static void *use_sessions(void *user) {
    pdk_lock *lock = NULL;
    pdk_hold *hold = NULL;
    if (pdk_lock_new(session, "/forks/parent", NULL, &lock) != PDK_OK)
        return NULL;
    while (pdk_lock_acquire(lock, 60000, &hold) == PDK_OK)
        pdk_hold_release(hold);
    return user;
}

static void *use_lists(void *user) {
    for (;;) {
        GQueue queue = G_QUEUE_INIT;
        for (int i = 0; i < 2000; i++)
            g_queue_push_tail(&queue, user);
        g_queue_clear(&queue);
    }
    return NULL;
}

static void *use_time(void *user) {
    for (;;) {
        time_t now = time(NULL);
        struct tm local;
        localtime_r(&now, &local);
    }
    return user;
}

static int have_a_lock(void) {
    pdk_session *own = NULL;
    pdk_lock *lock = NULL;
    pdk_hold *hold = NULL;
    char path[32];
    pdk_status status = pdk_session_open(hosts, NULL, &own);
    if (status != PDK_OK)
        return status == PDK_SYSTEM && strstr(pdk_last_error(), "GLib's allocator") ? REFUSED : 1;
    snprintf(path, sizeof path, "/forks/child%d", (int)getpid() % AT_ONCE);
    bool fine = pdk_lock_new(own, path, NULL, &lock) == PDK_OK && pdk_lock_acquire(lock, 30000, &hold) == PDK_OK &&
                pdk_hold_release(hold) == PDK_OK;
    pdk_lock_unref(lock);
    fine = pdk_session_close(own, 30000) == PDK_OK && fine;
    pdk_session_unref(own);
    return fine ? 0 : 1;
}

static void begin(void *(*use)(void *user)) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, use, &session) == 0)
        pthread_detach(thread);
}

static bool start_one(void) {
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGALRM, SIG_DFL);
        alarm(PATIENCE_S);
        _exit(have_a_lock());
    }
    g_usleep(2000);
    return pid > 0;
}

/* counts: by exit status; HUNG: by a signal. */
static bool await_one(int counts[HUNG + 1]) {
    int status;
    if (wait(&status) < 0)
        return false;
    counts[WIFEXITED(status) ? MIN(WEXITSTATUS(status), REFUSED) : HUNG]++;
    return true;
}

int main(int argc, char **argv) {
    gint forks = 100, counts[HUNG + 1] = {0};
    gboolean may_be_refused = FALSE;
    const GOptionEntry entries[] = {
        {"forks", 0, 0, G_OPTION_ARG_INT, &forks, "how many; 100", "N"},
        {"may-be-refused", 0, 0, G_OPTION_ARG_NONE, &may_be_refused, "a child may be", NULL},
        {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
    g_autoptr(GOptionContext) context = g_option_context_new("HOSTS");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, NULL) || argc != 2) {
        fputs("usage: forks [--forks N] [--may-be-refused] HOSTS\n", stderr);
        return 2;
    }
    hosts = argv[1];
    if (pdk_session_open(hosts, NULL, &session) != PDK_OK) {
        fprintf(stderr, "forks: %s\n", pdk_last_error());
        return 1;
    }
    begin(use_sessions);
    begin(use_lists);
    begin(use_time);
    for (int started = 0, running = 0; started < forks || running > 0;)
        if (started < forks && running < AT_ONCE && start_one())
            started++, running++;
        else if (await_one(counts))
            running--;
    printf("%d forks: %d had a lock, %d were refused, %d hung, %d failed\n", forks, counts[0], counts[REFUSED],
           counts[HUNG], counts[1]);
    fflush(stdout);
    _exit(counts[0] + (may_be_refused ? counts[REFUSED] : 0) == forks ? 0 : 1); /* the threads go on until then */
}
