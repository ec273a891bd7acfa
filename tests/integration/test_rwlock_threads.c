/* Threads and sessions read, write and downgrade one read/write lock as fast as they can. */
#include <glib.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "ts_bench.h"
#include "ts_check.h"
#include "ts_rwlock.h"
#include "ts_support.h"

enum { SESSION_MS = 6000, TURNS = 50, THREADS = 6, OBJECTS = 3 };

static const char *server(void) { return ts_bench_server(); }

static struct {
    pdk_rwlock *locks[OBJECTS];
    atomic_int readers, writers;     /* inside now */
    atomic_int faults, failed;       /* both at once, or two writers; calls that were refused */
    atomic_int together, downgraded; /* how often a reader met another; how often a hold was downgraded */
    _Atomic int64_t newest_writer;
} work;

static void fault_if(bool fault) { atomic_fetch_add(&work.faults, fault); }

/* Keeps the largest token of a writer. Writers come in the order of their tokens, and a reader's token is larger. */
static void check_token(const pdk_hold *hold, bool writes) {
    const int64_t token = pdk_hold_token(hold);

    fault_if(atomic_load(&work.newest_writer) > token);
    if (writes) {
        atomic_store(&work.newest_writer, token);
    }
}

static void write_and_perhaps_read(pdk_hold *hold, bool downgrades) {
    fault_if(atomic_fetch_add(&work.writers, 1) != 0);
    fault_if(atomic_load(&work.readers) != 0);
    check_token(hold, true);
    ts_sleep_ms(1);
    fault_if(atomic_load(&work.readers) != 0);
    if (downgrades) {
        atomic_fetch_add(&work.readers, 1); /* from here on it is a reader */
        atomic_fetch_sub(&work.writers, 1);
        atomic_fetch_add(&work.failed, pdk_hold_downgrade(hold) != PDK_OK);
        atomic_fetch_add(&work.downgraded, 1);
        for (int i = 0; i < 4; i++) {
            fault_if(pdk_hold_sequencer(hold) == NULL || pdk_hold_sequencer(hold)[0] == '\0');
            fault_if(atomic_load(&work.writers) != 0);
            ts_sleep_ms(1);
        }
        atomic_fetch_sub(&work.readers, 1);
    } else {
        atomic_fetch_sub(&work.writers, 1);
    }
}

static void read_on(pdk_hold *hold) {
    atomic_fetch_add(&work.together, atomic_fetch_add(&work.readers, 1) > 0);
    fault_if(atomic_load(&work.writers) != 0);
    check_token(hold, false);
    ts_sleep_ms(1);
    fault_if(atomic_load(&work.writers) != 0);
    atomic_fetch_sub(&work.readers, 1);
}

static void *work_main(void *number) {
    const int me = GPOINTER_TO_INT(number);
    pdk_rwlock *lock = work.locks[me % OBJECTS];

    for (int i = 0; i < TURNS; i++) {
        const bool writes = (i + me) % 3 == 0, downgrades = (i + me) % 2;
        pdk_hold *hold = NULL;

        if ((writes ? pdk_rwlock_acquire_write : pdk_rwlock_acquire_read)(lock, 60000, &hold) != PDK_OK) {
            atomic_fetch_add(&work.failed, 1);
            break;
        }
        if (writes) {
            write_and_perhaps_read(hold, downgrades);
        } else {
            read_on(hold);
        }
        atomic_fetch_add(&work.failed, pdk_hold_release(hold) != PDK_OK);
    }
    return NULL;
}

START_TEST(readers_and_writers_never_meet) {
    const char *path = ts_fresh_path();
    pdk_rwlock_options options = PDK_RWLOCK_OPTIONS_INIT;
    pthread_t threads[THREADS];

    memset(&work, 0, sizeof work);
    options.max_handovers = _i ? 0 : 256;
    for (int i = 0; i < OBJECTS; i++) { /* two in one session */
        static ts_client *client;
        client = i == 2 ? client : ts_bench_client(SESSION_MS);
        work.locks[i] = ts_rwlock_with(client, path, &options);
    }
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work_main, GINT_TO_POINTER(i)), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    ck_assert_int_eq(atomic_load(&work.faults), 0);
    ck_assert_int_eq(atomic_load(&work.failed), 0);
    ck_assert_int_gt(atomic_load(&work.together), 0);
    ck_assert_int_gt(atomic_load(&work.downgraded), 0);
    ck_assert(ts_wait_children(server(), path, 0, ts_patience(2000)));
}
END_TEST

typedef struct {
    pdk_hold *hold;
    atomic_bool stop;
    atomic_int asked, wrong;
} asker;

static void *ask_main(void *user) {
    asker *it = user;

    while (!atomic_load(&it->stop)) {
        const char *text = pdk_hold_sequencer(it->hold);
        atomic_fetch_add(&it->wrong, text == NULL || !g_str_has_prefix(text, "pdk1 /"));
        atomic_fetch_add(&it->asked, 1);
    }
    return NULL;
}

/* The text changes while another thread reads it. */
START_TEST(the_sequencer_is_read_meanwhile) {
    pdk_rwlock *lock = ts_rwlock(ts_bench_client(SESSION_MS), ts_fresh_path());

    for (int round = 0; round < 50; round++) {
        asker it = {.hold = ts_bench_write(lock, 5000)};
        pthread_t thread;

        ck_assert_int_eq(pthread_create(&thread, NULL, ask_main, &it), 0);
        while (atomic_load(&it.asked) == 0) {
            sched_yield();
        }
        const pdk_status status = pdk_hold_downgrade(it.hold);
        const int64_t end = ts_now_ms() + ts_patience(3000);
        while (status == PDK_OK && !strstr(pdk_hold_sequencer(it.hold), "shared/") && ts_now_ms() < end) {
            ts_sleep_ms(1);
        }
        atomic_store(&it.stop, true);
        pthread_join(thread, NULL);
        ck_assert_int_eq(status, PDK_OK);
        ck_assert_int_eq(atomic_load(&it.wrong), 0);
        ck_assert_int_eq(pdk_hold_release(it.hold), PDK_OK);
    }
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("rwlock_threads");
    TCase *tcase = ts_bench_case(suite, "rwlock_threads");

    tcase_add_loop_test(tcase, readers_and_writers_never_meet, 0, 2);
    tcase_add_test(tcase, the_sequencer_is_read_meanwhile);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
