/*
 * One of the processes that share the lock: four threads, one session, one lock.
 *
 *     worker LETTER HOSTS SESSION-MS RESOURCE-SOCKET DEMO-SOCKET
 *
 * Each thread, again and again, acquires, writes a line to the resource with the token, works a little, and releases.
 * It reports from when to when it knew that the hold was valid: at both ends pdk_hold_is_valid said yes.
 *
 * On command the next holder lingers: it keeps the lock until another command comes. This holder will be killed, or
 * stopped for longer than its session. It acts as a naive program: when it wakes, it writes with its token without
 * asking. Meanwhile the main thread asks pdk_hold_is_valid of that hold every few milliseconds, as a careful program
 * would.
 */
#include "channel.h"

#include <inttypes.h>
#include <paddock/paddock.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 4, TURN_US = 1000, ASK_MS = 3, SLEPT_MS = 1000, QUEUE_MS = 500 };

struct worker_thread {
    pthread_t id;
    char who[8];
    int resource; /* socket */
    int64_t seq;
};

static struct worker_thread threads[THREADS];
static int demo; /* socket */
static pdk_lock *lock;
static atomic_bool stopping;
static atomic_bool linger_wanted;

/* The hold of the thread that lingers. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pdk_hold *hold; /* a reference, or NULL */
    const char *who;
    int command; /* 0: none yet */
    bool lost;   /* its LOST callback has run */
    int64_t asked_ns;
} lingering = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void tell(struct report report, const char *who, const pdk_hold *hold, const char *word) {
    report.at_ns = demo_now();
    snprintf(report.who, sizeof report.who, "%s", who);
    snprintf(report.word, sizeof report.word, "%s", word);
    if (hold) {
        report.token = pdk_hold_token(hold);
        report.handover = pdk_hold_handover(hold);
    }
    if (!channel_send(demo, &report, sizeof report))
        _exit(EXIT_FAILURE); /* the demo is gone */
}

static void trouble(const char *who, pdk_status status) {
    fprintf(stderr, "demo: %s: %s: %s\n", who, pdk_status_name(status), pdk_last_error());
    tell((struct report){.kind = REPORT_TROUBLE, .number = status}, who, NULL, pdk_status_name(status) + 4);
}

/* True when the resource wrote the line. Otherwise *largest is the largest token that it has seen. */
static bool write_line(struct worker_thread *thread, const pdk_hold *hold, int64_t *largest) {
    char text[64];
    int size = snprintf(text, sizeof text, "%" PRId64 " %" PRIu32 " %s %" PRId64, pdk_hold_token(hold),
                        pdk_hold_handover(hold), thread->who, ++thread->seq);

    if (!channel_send(thread->resource, text, (size_t)size) ||
        channel_receive(thread->resource, text, sizeof text) == 0)
        _exit(EXIT_FAILURE);
    if (largest)
        sscanf(text, "refused %" SCNd64, largest);
    return strncmp(text, "written", 7) == 0;
}

static void on_lost(pdk_hold *hold, pdk_reason reason, void *user) {
    const struct worker_thread *thread = user;
    tell((struct report){.kind = REPORT_LOST}, thread->who, hold, pdk_reason_name(reason));
    pthread_mutex_lock(&lingering.mutex);
    lingering.lost = lingering.lost || hold == lingering.hold;
    pthread_cond_broadcast(&lingering.changed);
    pthread_mutex_unlock(&lingering.mutex);
}

/* Keeps the lock until a command comes. Meanwhile this process is killed, or stopped. In the second case the naive
 * write follows. */
static void linger(struct worker_thread *thread, pdk_hold *hold, int64_t from) {
    write_line(thread, hold, NULL);
    pthread_mutex_lock(&lingering.mutex);
    lingering.hold = pdk_hold_ref(hold);
    lingering.who = thread->who;
    lingering.command = 0;
    lingering.lost = false;
    lingering.asked_ns = from;
    tell((struct report){.kind = REPORT_LINGERS, .from_ns = from, .until_ns = from}, thread->who, hold, "");
    while (lingering.command == 0)
        pthread_cond_wait(&lingering.changed, &lingering.mutex);
    bool write = lingering.command == COMMAND_WRITE;
    pthread_mutex_unlock(&lingering.mutex);

    if (write) {
        int64_t largest = 0;
        bool written = write_line(thread, hold, &largest); /* it should have asked pdk_hold_is_valid(hold) */
        tell((struct report){.kind = REPORT_NAIVE, .number = largest}, thread->who, hold,
             written ? "written" : "refused");
    }
    pthread_mutex_lock(&lingering.mutex);
    while (write && !lingering.lost &&
           lingering.command != COMMAND_QUIT) /* no callback would start after the release */
        pthread_cond_wait(&lingering.changed, &lingering.mutex);
    pdk_hold_unref(lingering.hold);
    lingering.hold = NULL;
    pthread_mutex_unlock(&lingering.mutex);
}

static void use_lock(struct worker_thread *thread, pdk_hold *hold) {
    if (!pdk_hold_is_valid(hold))
        return;
    int64_t from = demo_now(), until = from;
    pdk_hold_on_lost(hold, on_lost, thread, NULL);
    if (atomic_exchange(&linger_wanted, false)) {
        linger(thread, hold, from);
        return;
    }
    write_line(thread, hold, NULL);
    usleep(TURN_US);
    int64_t now = demo_now(); /* taken before the question: a hold that is valid now was valid all the time */
    if (pdk_hold_is_valid(hold))
        until = now;
    tell((struct report){.kind = REPORT_HELD, .from_ns = from, .until_ns = until}, thread->who, hold, "");
}

static void *work(void *user) {
    struct worker_thread *thread = user;

    while (!atomic_load(&stopping)) {
        pdk_hold *hold = NULL;
        pdk_status status = pdk_lock_acquire(lock, QUEUE_MS, &hold);

        if (status == PDK_TIMEOUT || status == PDK_UNAVAILABLE)
            continue; /* another thread holds for long, or the server does not answer: queue again */
        if (status != PDK_OK) {
            trouble(thread->who, status);
            break;
        }
        use_lock(thread, hold);
        status = pdk_hold_release(hold);
        if (status != PDK_OK && status != PDK_LOST)
            trouble(thread->who, status);
    }
    return NULL;
}

/* Asks the hold that lingers, and reports the answer. A long time since the last question means that we were
 * stopped. */
static void ask(void) {
    pthread_mutex_lock(&lingering.mutex);
    if (lingering.hold) {
        int64_t now = demo_now();
        int64_t slept_ms = (now - lingering.asked_ns) / 1000000;
        bool valid = pdk_hold_is_valid(lingering.hold);

        lingering.asked_ns = now;
        if (slept_ms > SLEPT_MS)
            tell((struct report){.kind = REPORT_WOKE, .number = slept_ms}, lingering.who, lingering.hold,
                 valid ? "yes" : "no");
        if (valid)
            tell((struct report){.kind = REPORT_BEAT, .until_ns = now}, lingering.who, lingering.hold, "");
    }
    pthread_mutex_unlock(&lingering.mutex);
}

static void execute(char command) {
    if (command == COMMAND_LINGER) {
        atomic_store(&linger_wanted, true);
        return;
    }
    if (command == COMMAND_QUIT) {
        atomic_store(&stopping, true);
        atomic_store(&linger_wanted, false);
    }
    pthread_mutex_lock(&lingering.mutex);
    lingering.command = command;
    pthread_cond_broadcast(&lingering.changed);
    pthread_mutex_unlock(&lingering.mutex);
}

/* The main thread: executes commands, and asks the hold that lingers. */
static void follow_commands(void) {
    char command = 0;

    while (command != COMMAND_QUIT) {
        struct pollfd polled = {.fd = demo, .events = POLLIN};
        int ready = poll(&polled, 1, ASK_MS);

        ask(); /* first, so that it is the first thing that happens here after a stop */
        if (ready > 0) {
            if (channel_receive(demo, &command, 1) == 0)
                _exit(EXIT_FAILURE);
            execute(command);
        }
    }
}

static void on_event(pdk_session_event event, int64_t time_left_ms, void *user) {
    (void)time_left_ms;
    if (event == PDK_SESSION_EXPIRED || event == PDK_SESSION_REOPENED)
        tell((struct report){.kind = REPORT_SESSION}, user, NULL,
             event == PDK_SESSION_EXPIRED ? "expired" : "reopened");
}

int main(int argc, char **argv) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_lock_options lock_options = PDK_LOCK_OPTIONS_INIT;
    pdk_session *session = NULL;

    if (argc != 6) {
        fprintf(stderr, "usage: worker LETTER HOSTS SESSION-MS RESOURCE-SOCKET DEMO-SOCKET\n");
        return 2;
    }
    demo = channel_connect(argv[5]);
    options.session_timeout_ms = (int32_t)strtol(argv[3], NULL, 10);
    options.label = argv[1];
    options.on_event = on_event;
    options.on_event_user = argv[1];
    lock_options.max_handovers = 15;
    pdk_status status = pdk_session_open(argv[2], &options, &session);
    if (status == PDK_OK)
        status = pdk_lock_new(session, "/demo/lock", &lock_options, &lock);
    if (status != PDK_OK) {
        trouble(argv[1], status);
        return EXIT_FAILURE;
    }
    tell((struct report){.kind = REPORT_HELLO}, argv[1], NULL, "");
    for (int i = 0; i < THREADS; i++) {
        snprintf(threads[i].who, sizeof threads[i].who, "%c%c", argv[1][0], "1234"[i]);
        threads[i].resource = channel_connect(argv[4]);
        pthread_create(&threads[i].id, NULL, work, &threads[i]);
    }
    follow_commands();
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i].id, NULL);
    pdk_lock_unref(lock);
    status = pdk_session_close(session, 5000);
    if (status != PDK_OK)
        trouble(argv[1], status);
    pdk_session_unref(session);
    return status == PDK_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
