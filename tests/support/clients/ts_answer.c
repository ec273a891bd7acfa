/* See ts_answer.h. */
#include "ts_answer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ts_clock.h"
#include "ts_record.h"

struct ts_answer {
    ts_block_fn block;
    ts_block_set_fn block_set;
    void *recipe;
    int64_t timeout_ms;
    pthread_t thread;
    bool threaded;
    atomic_int tid; /* 0 until the thread is about to make its call */
    pdk_claim *claim;
    pdk_set_claim *set_claim;
    int count;
    int status; /* a pdk_status */
    pdk_hold *hold;
    pdk_set *set;
    int64_t at_ns;
};

static GPtrArray *answers;

static void answer_came(ts_answer *a, pdk_status status, pdk_hold *hold, pdk_set *set) {
    ts_record_lock();
    a->count++;
    a->status = status;
    a->hold = hold;
    a->set = set;
    a->at_ns = ts_now_ns();
    ts_record_unlock();
}

static void on_acquired(pdk_status status, pdk_hold *hold, void *user) { answer_came(user, status, hold, NULL); }
static void on_set_acquired(pdk_status status, pdk_set *set, void *user) { answer_came(user, status, NULL, set); }

static void answer_blocking(ts_answer *a) {
    pdk_hold *hold = NULL;
    pdk_set *set = NULL;
    pdk_status status;

    g_assert(a->block != NULL || a->block_set != NULL);
    if (a->block_set != NULL)
        status = a->block_set(a->recipe, a->timeout_ms, &set);
    else
        status = a->block(a->recipe, a->timeout_ms, &hold);
    answer_came(a, status, hold, set);
}

static void *block_main(void *user) {
    ts_answer *a = user;

    atomic_store(&a->tid, gettid());
    answer_blocking(a);
    return NULL;
}

static ts_answer *answer_new(void) {
    ts_answer *a = g_new0(ts_answer, 1);

    a->status = PDK_SYSTEM;
    ts_record_keep(&answers, a);
    return a;
}

ts_answer *ts_answer_start(ts_start_fn start, void *recipe, int64_t timeout_ms) {
    ts_answer *a = answer_new();
    const pdk_status status = start(recipe, timeout_ms, on_acquired, a, &a->claim);

    if (status != PDK_OK) {
        on_acquired(status, NULL, a);
    }
    return a;
}

ts_answer *ts_answer_start_set(ts_start_set_fn start, void *what, int64_t timeout_ms) {
    ts_answer *a = answer_new();
    const pdk_status status = start(what, timeout_ms, on_set_acquired, a, &a->set_claim);

    if (status != PDK_OK) {
        on_set_acquired(status, NULL, a);
    }
    return a;
}

/* The letter of proc(5) behind the name of the thread, which may hold a bracket itself. */
static bool asleep(int tid) {
    g_autofree char *path = g_strdup_printf("/proc/self/task/%d/stat", tid), *stat = NULL;

    if (!g_file_get_contents(path, &stat, NULL, NULL)) {
        return false; /* it has ended, so it has answered */
    }
    const char *bracket = strrchr(stat, ')');
    return bracket != NULL && strncmp(bracket, ") S", 3) == 0;
}

/* A thread that waits for a mutex sleeps as well, but not for long: several looks in a row are asked for. */
static void await_call(ts_answer *a) {
    for (int looks = 0; looks < 3 && ts_answer_count(a) == 0;) {
        const int tid = atomic_load(&a->tid);

        looks = tid != 0 && asleep(tid) ? looks + 1 : 0;
        ts_sleep_ms(1);
    }
}

static ts_answer *answer_block(ts_answer *a) {
    if (pthread_create(&a->thread, NULL, block_main, a) != 0) {
        abort();
    }
    a->threaded = true;
    await_call(a);
    return a;
}

static ts_answer *answer_of(ts_block_fn block, ts_block_set_fn block_set, void *recipe, int64_t timeout_ms) {
    ts_answer *a = answer_new();

    a->block = block;
    a->block_set = block_set;
    a->recipe = recipe;
    a->timeout_ms = timeout_ms;
    return a;
}

ts_answer *ts_answer_block(ts_block_fn block, void *recipe, int64_t timeout_ms) {
    return answer_block(answer_of(block, NULL, recipe, timeout_ms));
}

ts_answer *ts_answer_block_set(ts_block_set_fn block, void *what, int64_t timeout_ms) {
    return answer_block(answer_of(NULL, block, what, timeout_ms));
}

ts_answer *ts_answer_now(ts_block_fn block, void *recipe, int64_t timeout_ms) {
    ts_answer *a = answer_of(block, NULL, recipe, timeout_ms);

    answer_blocking(a);
    return a;
}

ts_answer *ts_answer_now_set(ts_block_set_fn block, void *what, int64_t timeout_ms) {
    ts_answer *a = answer_of(NULL, block, what, timeout_ms);

    answer_blocking(a);
    return a;
}

bool ts_answer_wait(ts_answer *a, int64_t timeout_ms) { return ts_record_reaches(&a->count, 1, timeout_ms); }
int ts_answer_count(ts_answer *a) { return ts_record_count(&a->count); }
int64_t ts_answer_at_ns(ts_answer *a) { return ts_record_number(&a->at_ns); }
pdk_claim *ts_answer_claim(ts_answer *a) { return a->claim; }

pdk_status ts_answer_status(ts_answer *a) { return (pdk_status)ts_record_count(&a->status); }

pdk_hold *ts_answer_hold(ts_answer *a) {
    pdk_hold *hold;

    ts_record_lock();
    hold = a->hold;
    ts_record_unlock();
    return hold;
}

pdk_hold *ts_answer_take(ts_answer *a) {
    pdk_hold *hold;

    ts_record_lock();
    hold = g_steal_pointer(&a->hold);
    ts_record_unlock();
    return hold;
}

pdk_set_claim *ts_answer_set_claim(ts_answer *a) { return a->set_claim; }

pdk_set *ts_answer_set(ts_answer *a) {
    pdk_set *set;

    ts_record_lock();
    set = a->set;
    ts_record_unlock();
    return set;
}

static pdk_set *take_set(ts_answer *a) {
    pdk_set *set;

    ts_record_lock();
    set = g_steal_pointer(&a->set);
    ts_record_unlock();
    return set;
}

bool ts_answer_is_valid(ts_answer *a) {
    const pdk_set *set = ts_answer_set(a);

    return set != NULL ? pdk_set_is_valid(set) : pdk_hold_is_valid(ts_answer_hold(a));
}

int64_t ts_answer_remaining_ms(ts_answer *a) {
    pdk_set *set = ts_answer_set(a);

    return set != NULL ? pdk_set_remaining_ms(set) : pdk_hold_remaining_ms(ts_answer_hold(a));
}

pdk_status ts_answer_ensure(ts_answer *a, int64_t ms) {
    pdk_set *set = ts_answer_set(a);

    return set != NULL ? pdk_set_ensure(set, ms) : pdk_hold_ensure(ts_answer_hold(a), ms);
}

pdk_reason ts_answer_reason(ts_answer *a) {
    const pdk_set *set = ts_answer_set(a);

    return set != NULL ? pdk_set_reason(set) : pdk_hold_reason(ts_answer_hold(a));
}

int ts_answer_fd(ts_answer *a) {
    pdk_set *set = ts_answer_set(a);

    return set != NULL ? pdk_set_fd(set) : pdk_hold_fd(ts_answer_hold(a));
}

void ts_answer_detach(ts_answer *a) {
    pdk_set *set = ts_answer_set(a);

    if (set != NULL) {
        pdk_set_detach_thread(set);
    } else {
        pdk_hold_detach_thread(ts_answer_hold(a));
    }
}

const pdk_hold *ts_answer_part(ts_answer *a) {
    const pdk_set *set = ts_answer_set(a);

    return set != NULL ? pdk_set_part(set, 0) : ts_answer_hold(a);
}

int64_t ts_answer_token(ts_answer *a) { return pdk_hold_token(ts_answer_part(a)); }

bool ts_answer_holds(ts_answer *a) { return ts_answer_hold(a) != NULL || ts_answer_set(a) != NULL; }

pdk_status ts_answer_cancel(ts_answer *a) {
    return a->set_claim != NULL ? pdk_set_claim_cancel(a->set_claim) : pdk_claim_cancel(a->claim);
}

pdk_status ts_answer_position(ts_answer *a, int32_t *ahead) {
    return a->set_claim != NULL ? pdk_set_claim_position(a->set_claim, ahead) : pdk_claim_position(a->claim, ahead);
}

pdk_status ts_answer_release(ts_answer *a) {
    pdk_set *set = take_set(a);

    return set != NULL ? pdk_set_release(set) : pdk_hold_release(ts_answer_take(a));
}

void ts_answer_drop(ts_answer *a) {
    pdk_hold_unref(ts_answer_take(a));
    pdk_set_unref(take_set(a));
}

void ts_answer_join(ts_answer *a) {
    if (a->threaded) {
        pthread_join(a->thread, NULL);
    }
    a->threaded = false;
}

static void answer_end(gpointer data, gpointer user) {
    ts_answer *a = data;

    (void)user;
    ts_answer_join(a);
    ts_answer_drop(a);
    pdk_claim_unref(a->claim);
    pdk_set_claim_unref(a->set_claim);
}

static void answer_free(gpointer data, gpointer user) {
    (void)user;
    g_free(data);
}

void ts_answers_end(void) { ts_record_each(answers, answer_end); }
void ts_answers_free(void) { ts_record_free_all(&answers, answer_free); }
