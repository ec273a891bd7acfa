/*
 * One of the processes that take turns: four threads, one session, one lock.
 *
 *     worker LETTER HOSTS SESSION-MS RESOURCE-SOCKET STAGE-SOCKET
 *
 * Each thread, again and again: acquire, write a line to the resource with the token, work a little, release. It tells the
 * stage from when to when it knew that the hold was valid: both ends are moments at which pdk_hold_valid said yes.
 *
 * On the stage's cue the next holder lingers: it keeps the lock until another cue comes. This is the one to be killed, or
 * to be stopped past its session. It plays the naive program: woken up, it writes with its token without asking. Beside
 * it, the main thread asks pdk_hold_valid of that hold every few milliseconds, as a careful program would.
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

enum { THREADS = 4, TURN_US = 1000, ASK_MS = 3, SLEPT_MS = 1000, LINE_MS = 500 };

struct player {
    pthread_t thread;
    char who[8];
    int resource; /* socket */
    int64_t seq;
};

static struct player players[THREADS];
static int stage; /* socket */
static pdk_lock *lock;
static atomic_bool stopping;
static atomic_bool linger_wanted;

/* The hold that is lingered on. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pdk_hold *hold; /* a reference, or NULL */
    const char *who;
    int cue;   /* 0: none yet */
    bool lost; /* its LOST callback has run */
    int64_t asked_ns;
} lingering = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void tell(struct report report, const char *who, const pdk_hold *hold, const char *word) {
    snprintf(report.who, sizeof report.who, "%s", who);
    snprintf(report.word, sizeof report.word, "%s", word);
    if (hold) {
        report.token = pdk_hold_token(hold);
        report.handover = pdk_hold_handover(hold);
    }
    if (!channel_send(stage, &report, sizeof report))
        _exit(EXIT_FAILURE); /* the play is over */
}

static void trouble(const char *who, pdk_status status) {
    fprintf(stderr, "demo: %s: %s: %s\n", who, pdk_status_name(status), pdk_error_text());
    tell((struct report){.kind = REPORT_TROUBLE, .number = status}, who, NULL, pdk_status_name(status) + 4);
}

/* True when the resource wrote it; else *largest is the token that it has seen. */
static bool write_line(struct player *player, const pdk_hold *hold, int64_t *largest) {
    char text[64];
    int size = snprintf(text, sizeof text, "%" PRId64 " %" PRIu32 " %s %" PRId64, pdk_hold_token(hold),
                        pdk_hold_handover(hold), player->who, ++player->seq);

    if (!channel_send(player->resource, text, (size_t)size) ||
        channel_receive(player->resource, text, sizeof text) == 0)
        _exit(EXIT_FAILURE);
    if (largest)
        sscanf(text, "refused %" SCNd64, largest);
    return strncmp(text, "written", 7) == 0;
}

static void on_lost(pdk_hold *hold, pdk_reason reason, void *user) {
    const struct player *player = user;
    tell((struct report){.kind = REPORT_LOST}, player->who, hold, pdk_reason_name(reason));
    pthread_mutex_lock(&lingering.mutex);
    lingering.lost = lingering.lost || hold == lingering.hold;
    pthread_cond_broadcast(&lingering.changed);
    pthread_mutex_unlock(&lingering.mutex);
}

/* Hold on until the cue. Killed meanwhile, or stopped; then the naive write. */
static void linger(struct player *player, pdk_hold *hold, int64_t from) {
    write_line(player, hold, NULL);
    pthread_mutex_lock(&lingering.mutex);
    lingering.hold = pdk_hold_ref(hold);
    lingering.who = player->who;
    lingering.cue = 0;
    lingering.lost = false;
    lingering.asked_ns = from;
    tell((struct report){.kind = REPORT_LINGERS, .from_ns = from, .until_ns = from}, player->who, hold, "");
    while (lingering.cue == 0)
        pthread_cond_wait(&lingering.changed, &lingering.mutex);
    bool write = lingering.cue == CUE_WRITE;
    pthread_mutex_unlock(&lingering.mutex);

    if (write) {
        int64_t largest = 0;
        bool written = write_line(player, hold, &largest); /* should have asked pdk_hold_valid(hold) */
        tell((struct report){.kind = REPORT_NAIVE, .number = largest}, player->who, hold,
             written ? "written" : "refused");
    }
    pthread_mutex_lock(&lingering.mutex);
    while (write && !lingering.lost && lingering.cue != CUE_QUIT) /* no callback would start after the release */
        pthread_cond_wait(&lingering.changed, &lingering.mutex);
    pdk_hold_unref(lingering.hold);
    lingering.hold = NULL;
    pthread_mutex_unlock(&lingering.mutex);
}

static void take_turn(struct player *player, pdk_hold *hold) {
    if (!pdk_hold_valid(hold))
        return;
    int64_t from = demo_now(), until = from;
    pdk_hold_on_lost(hold, on_lost, player, NULL);
    if (atomic_exchange(&linger_wanted, false)) {
        linger(player, hold, from);
        return;
    }
    write_line(player, hold, NULL);
    usleep(TURN_US);
    int64_t now = demo_now(); /* before the question: what was valid then was valid all the time */
    if (pdk_hold_valid(hold))
        until = now;
    tell((struct report){.kind = REPORT_HELD, .from_ns = from, .until_ns = until}, player->who, hold, "");
}

static void *play(void *user) {
    struct player *player = user;

    while (!atomic_load(&stopping)) {
        pdk_hold *hold = NULL;
        pdk_status status = pdk_lock_acquire(lock, LINE_MS, &hold);

        if (status == PDK_TIMEOUT || status == PDK_UNAVAILABLE)
            continue; /* somebody holds on for long, or the server does not answer: line up again */
        if (status != PDK_OK) {
            trouble(player->who, status);
            break;
        }
        take_turn(player, hold);
        status = pdk_hold_release(hold);
        if (status != PDK_OK && status != PDK_LOST)
            trouble(player->who, status);
    }
    return NULL;
}

/* Ask the lingering hold, and tell what it said. A long time since the last question means that we were stopped. */
static void ask(void) {
    pthread_mutex_lock(&lingering.mutex);
    if (lingering.hold) {
        int64_t now = demo_now();
        int64_t slept_ms = (now - lingering.asked_ns) / 1000000;
        bool valid = pdk_hold_valid(lingering.hold);

        lingering.asked_ns = now;
        if (slept_ms > SLEPT_MS)
            tell((struct report){.kind = REPORT_WOKE, .number = slept_ms}, lingering.who, lingering.hold,
                 valid ? "yes" : "no");
        if (valid)
            tell((struct report){.kind = REPORT_BEAT, .until_ns = now}, lingering.who, lingering.hold, "");
    }
    pthread_mutex_unlock(&lingering.mutex);
}

static void give_cue(char cue) {
    if (cue == CUE_LINGER) {
        atomic_store(&linger_wanted, true);
        return;
    }
    if (cue == CUE_QUIT) {
        atomic_store(&stopping, true);
        atomic_store(&linger_wanted, false);
    }
    pthread_mutex_lock(&lingering.mutex);
    lingering.cue = cue;
    pthread_cond_broadcast(&lingering.changed);
    pthread_mutex_unlock(&lingering.mutex);
}

/* The main thread: cues, and questions to the hold that is lingered on. */
static void follow_cues(void) {
    char cue = 0;

    while (cue != CUE_QUIT) {
        struct pollfd polled = {.fd = stage, .events = POLLIN};
        int ready = poll(&polled, 1, ASK_MS);

        ask(); /* first, so that after a stop this is the first thing that happens here */
        if (ready > 0) {
            if (channel_receive(stage, &cue, 1) == 0)
                _exit(EXIT_FAILURE);
            give_cue(cue);
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
        fprintf(stderr, "usage: worker LETTER HOSTS SESSION-MS RESOURCE-SOCKET STAGE-SOCKET\n");
        return 2;
    }
    stage = channel_connect(argv[5]);
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
        snprintf(players[i].who, sizeof players[i].who, "%c%c", argv[1][0], "1234"[i]);
        players[i].resource = channel_connect(argv[4]);
        pthread_create(&players[i].thread, NULL, play, &players[i]);
    }
    follow_cues();
    for (int i = 0; i < THREADS; i++)
        pthread_join(players[i].thread, NULL);
    pdk_lock_unref(lock);
    status = pdk_session_close(session, 5000);
    if (status != PDK_OK)
        trouble(argv[1], status);
    pdk_session_unref(session);
    return status == PDK_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
