/* The holder's side of a cut. A is a Paddock client that watches its own validity. C is a hand-written client that asks
 * its server whether its node still exists. Both are connected to one server only. */
#include "bare.h"
#include "cut.h"
#include "shared.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <ts_clock.h>
#include <unistd.h>

enum { SAMPLE_US = 50, ASK_MS = 50 };

struct holder {
    struct cut_record *record;
    const char *address, *directory;
    int session_ms;
    _Atomic(pdk_hold *) hold;
    atomic_bool failed;
};

static int fail(struct cut_record *record, const char *what) {
    g_snprintf(record->failure, sizeof record->failure, "%s: %s", what, pdk_last_error());
    return 1;
}

static void on_event(pdk_session_event event, int64_t left_ms, void *user) {
    struct holder *holder = user;
    (void)left_ms;
    if (event == PDK_SESSION_EXPIRED)
        atomic_fetch_add(&holder->record->expired, 1);
}

static void on_lost(pdk_hold *hold, pdk_reason reason, void *user) {
    struct holder *holder = user;
    (void)hold;
    atomic_store(&holder->record->lost_at, ts_now_ns());
    atomic_store(&holder->record->reason, (int)reason);
    atomic_fetch_add(&holder->record->lost_calls, 1);
}

static void on_acquired(pdk_status status, pdk_hold *hold, void *user) {
    struct holder *holder = user;
    if (status != PDK_OK) {
        holder->failed = status != PDK_CLOSED; /* at the end, a claim that was never granted is closed */
        if (holder->failed)
            fail(holder->record, "A: acquire");
        return;
    }
    atomic_store(&holder->record->granted, ts_now_ns());
    pdk_hold_on_lost(hold, on_lost, holder, NULL);
    atomic_store(&holder->hold, hold);
}

/* The thread of C. */
static void *ask_and_record(void *user) {
    struct holder *holder = user;
    struct cut_record *record = holder->record;
    char directory[128];
    g_snprintf(directory, sizeof directory, "%s/bare", holder->directory);
    struct bare *bare = bare_open(holder->address, holder->session_ms);
    if (!bare || !bare_acquire(bare, directory)) {
        holder->failed = true;
        g_strlcpy(record->failure, "C: no lock", sizeof record->failure);
    } else {
        atomic_store(&record->bare_since, ts_now_ns());
    }
    while (!holder->failed && !record->finish) {
        bare_ask(bare);
        ts_sleep_ms(ASK_MS);
        atomic_store(&record->bare_until, bare_believed(bare));
    }
    bare_close(bare);
    return NULL;
}

static bool sample_once(struct cut_record *record, pdk_hold *hold) {
    int64_t before = ts_now_ns();
    if (!pdk_hold_is_valid(hold))
        return false;
    atomic_store(&record->last_valid, before);
    int64_t until = before + pdk_hold_remaining_ms(hold) * 1000000;
    if (until > record->promised)
        atomic_store(&record->promised, until);
    return true;
}

/* Samples A's validity and the edges of its descriptor again and again, until the judging process stops it. */
static void sample(struct holder *holder, pdk_claim *claim) {
    struct cut_record *record = holder->record;
    int edges = epoll_create1(EPOLL_CLOEXEC);
    pdk_hold *hold = NULL;
    bool said_no = false;
    while (!holder->failed && !record->finish) {
        int32_t ahead;
        struct epoll_event event = {.events = EPOLLIN | EPOLLET};
        if (!record->queued && pdk_claim_position(claim, &ahead) != PDK_UNAVAILABLE)
            atomic_store(&record->queued, true);
        if (!hold && (hold = atomic_load(&holder->hold)))
            epoll_ctl(edges, EPOLL_CTL_ADD, pdk_hold_fd(hold), &event);
        if (hold) {
            bool valid = sample_once(record, hold);
            if (valid && said_no)
                atomic_fetch_add(&record->revived, 1);
            said_no = !valid;
            if (epoll_wait(edges, &event, 1, 0) == 1)
                atomic_fetch_add(&record->lost_events, 1);
        }
        g_usleep(SAMPLE_US);
    }
    close(edges);
}

int cut_hold(const char *path, const char *address, const char *directory, int session_ms, bool bare) {
    struct cut_record *record = shared_open(path, sizeof *record);
    struct holder holder = {.record = record, .address = address, .directory = directory, .session_ms = session_ms};
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = session_ms;
    options.on_event = on_event;
    options.on_event_user = &holder;
    pdk_session *session;
    pdk_lock *lock;
    pdk_claim *claim;
    char lock_path[128];
    g_snprintf(lock_path, sizeof lock_path, "%s/lock", directory);
    if (pdk_session_open(address, &options, &session) != PDK_OK)
        return fail(record, "A: open");
    if (pdk_lock_new(session, lock_path, NULL, &lock) != PDK_OK ||
        pdk_lock_acquire_async(lock, PDK_FOREVER, on_acquired, &holder, &claim) != PDK_OK)
        return fail(record, "A: acquire");
    pthread_t believer;
    if (bare)
        pthread_create(&believer, NULL, ask_and_record, &holder);
    sample(&holder, claim);
    if (bare)
        pthread_join(believer, NULL);
    pdk_claim_unref(claim);
    pdk_session_close(session, 1000);
    if (holder.hold)
        pdk_hold_release(holder.hold);
    pdk_lock_unref(lock);
    pdk_session_unref(session);
    return holder.failed;
}
