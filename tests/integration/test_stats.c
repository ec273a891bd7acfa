/* The figures of a session and of its paths, on a real server: they agree with what the program did, and with their text. What each of
 * them counts is in fakes/test_driver_stats. */
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "refused.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum { SESSION_MS = 3000, THREADS = 4, ROUNDS = 50 };

static ts_client *client;
static pdk_stats stats;

static void begin(void) { client = ts_bench_client(SESSION_MS); }

static void read_stats(pdk_session *session) {
    stats = (pdk_stats)PDK_STATS_INIT;
    ck_assert_int_eq(pdk_session_stats(session, &stats), PDK_OK);
}

/* The number of a sample in the text. */
static double sample(const char *text, const char *name) {
    char *line = g_strconcat("\n", name, " ", NULL);
    const char *found = strstr(text, line);
    ck_assert_msg(found != NULL, "no sample %s", name);
    double value = g_ascii_strtod(found + strlen(line), NULL);
    g_free(line);
    return value;
}

static struct {
    pdk_lock *lock;
    gint handed_over;
} shared;

static void *take_turns(void *user) {
    for (int i = 0; i < ROUNDS; i++) {
        pdk_hold *hold = NULL;
        if (pdk_lock_acquire(shared.lock, PDK_FOREVER, &hold) != PDK_OK)
            abort();
        if (pdk_hold_handover(hold) > 0)
            g_atomic_int_inc(&shared.handed_over);
        if (pdk_hold_release(hold) != PDK_OK)
            abort();
    }
    return user;
}

static struct {
    pdk_semaphore *semaphore;
    gint granted;
} permits;

static void *take_permits(void *user) {
    for (int i = 0; i < ROUNDS / 5; i++) {
        pdk_hold *hold = NULL;
        if (pdk_semaphore_acquire(permits.semaphore, 1, PDK_FOREVER, &hold) != PDK_OK)
            abort();
        if (pdk_hold_handover(hold) == 0)
            g_atomic_int_inc(&permits.granted);
        if (pdk_hold_release(hold) != PDK_OK)
            abort();
    }
    return user;
}

/* Threads hand their place in its queue on, and each permit is granted by the servers. */
START_TEST(a_permit_is_never_handed_over) {
    pthread_t threads[THREADS];
    ck_assert_int_eq(pdk_semaphore_new(client->session, ts_fresh_path(), 1, NULL, &permits.semaphore), PDK_OK);
    permits.granted = 0;
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, take_permits, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    read_stats(client->session);
    ck_assert_int_eq(permits.granted, THREADS * (ROUNDS / 5));
    ck_assert_uint_eq(stats.claims_granted, (uint64_t)permits.granted);
    ck_assert_uint_eq(stats.handovers, 0);
    ck_assert_uint_eq(pdk_session_stats_paths(client->session), 0); /* nobody has asked for any */
    pdk_semaphore_unref(permits.semaphore);
}
END_TEST

enum { PATHS = 3 };

static pdk_session *open_with_paths(void) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *session = NULL;
    options.session_timeout_ms = SESSION_MS;
    options.stats_paths = PATHS;
    ck_assert_int_eq(pdk_session_open(ts_bench_server(), &options, &session), PDK_OK);
    return session;
}

static void close_it(pdk_session *session) {
    ck_assert_int_eq(pdk_session_close(session, ts_patience(5000)), PDK_OK);
    pdk_session_unref(session);
}

static void lock_once(pdk_session *session, const char *path) {
    pdk_lock *lock = NULL;
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_lock_new(session, path, NULL, &lock), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(lock, ts_patience(5000), &hold), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    pdk_lock_unref(lock);
}

/* The figures of the one row with that recipe and path. */
static pdk_stats row(pdk_session *session, const char *recipe, const char *path) {
    pdk_stats found = PDK_STATS_INIT;
    unsigned rows = 0;
    for (size_t i = 0; i < pdk_session_stats_paths(session); i++) {
        const char *its_recipe, *its_path;
        pdk_stats one = PDK_STATS_INIT;
        ck_assert_int_eq(pdk_session_stats_path(session, i, &one, &its_recipe, &its_path), PDK_OK);
        if (strcmp(its_recipe, recipe) == 0 && strcmp(its_path, path) == 0) {
            found = one;
            rows++;
        }
    }
    ck_assert_msg(rows == 1, "%u rows of %s %s", rows, recipe, path);
    return found;
}

START_TEST(each_path_has_figures_of_its_own) {
    pdk_session *session = open_with_paths();
    char *turns = g_strdup(ts_fresh_path()), *both = g_strdup(ts_fresh_path());
    pthread_t threads[THREADS];
    pdk_rwlock *rwlock = NULL;
    pdk_hold *hold = NULL, *none = NULL;
    ck_assert_int_eq(pdk_lock_new(session, turns, NULL, &shared.lock), PDK_OK);
    shared.handed_over = 0;
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, take_turns, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    read_stats(session);
    ck_assert_uint_eq(stats.claims_granted, THREADS * ROUNDS);
    ck_assert_uint_eq(stats.handovers, (uint64_t)shared.handed_over);
    ck_assert_uint_gt(stats.handovers, 0);
    ck_assert_int_eq(pdk_rwlock_new(session, both, NULL, &rwlock), PDK_OK);
    ck_assert_int_eq(pdk_rwlock_acquire_read(rwlock, ts_patience(5000), &hold), PDK_OK);
    pdk_hold_detach_thread(hold);
    ck_assert_int_eq(pdk_rwlock_acquire_write(rwlock, 0, &none), PDK_BUSY);
    pdk_stats lock = row(session, "lock", turns), reader = row(session, "rwlock_read", both),
              writer = row(session, "rwlock_write", both);
    ck_assert_uint_eq(lock.claims_granted, THREADS * ROUNDS);
    ck_assert_uint_eq(lock.wait_time.count, THREADS * ROUNDS);
    ck_assert_uint_eq(lock.hold_time.count, THREADS * ROUNDS);
    ck_assert_uint_eq(lock.handovers, (uint64_t)shared.handed_over);
    ck_assert_uint_eq(lock.claims_waiting + lock.holds + lock.session_timeout_us, 0);
    ck_assert_uint_eq(reader.holds, 1);
    ck_assert_uint_eq(writer.claims_busy, 1);
    ck_assert_uint_eq(writer.claims_waiting + writer.holds, 0);
    pdk_lock_unref(shared.lock);
    ck_assert_int_eq(pdk_session_close(session, ts_patience(5000)), PDK_OK); /* the hold that is left is lost */
    reader = row(session, "rwlock_read", both);
    ck_assert_uint_eq(reader.lost_closed, 1);
    ck_assert_uint_eq(reader.holds, 0);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_LOST);
    pdk_rwlock_unref(rwlock);
    pdk_session_unref(session);
    g_free(turns);
    g_free(both);
}
END_TEST

START_TEST(paths_beyond_the_number_share_their_figures) {
    pdk_session *session = open_with_paths();
    char *first = g_strdup(ts_fresh_path());
    size_t length = 0, needed = 0;
    lock_once(session, first);
    for (int i = 1; i < PATHS + 2; i++)
        lock_once(session, ts_fresh_path());
    lock_once(session, first);
    ck_assert_uint_eq(pdk_session_stats_paths(session), PATHS + 1);
    ck_assert_int_eq(pdk_session_stats_path(session, 0, &stats, NULL, NULL), PDK_OK);
    refused(pdk_session_stats_path(session, PATHS + 1, &stats, NULL, NULL), PDK_INVALID, "index");
    ck_assert_uint_eq(row(session, "lock", first).claims_granted, 2);
    ck_assert_uint_eq(row(session, "lock", "").claims_granted, 2);
    ck_assert_int_eq(pdk_session_stats_text(session, NULL, 0, &length), PDK_OK);
    char *text = g_malloc(length + 100),
         *name = g_strdup_printf("paddock_path_holds{recipe=\"lock\",path=\"%s\"}", first);
    refused(pdk_session_stats_text(session, text, length / 2, &needed), PDK_LIMIT, "size");
    ck_assert_uint_gt(needed, length / 2);
    ck_assert_int_eq(pdk_session_stats_text(session, text, length + 100, &length), PDK_OK);
    ck_assert_uint_eq(strlen(text), length);
    ck_assert(sample(text, "paddock_claims_total{result=\"granted\"}") == PATHS + 3);
    ck_assert(sample(text, name) == 0);
    ck_assert(sample(text, "paddock_path_claims_total{recipe=\"lock\",path=\"\",result=\"granted\"}") == 2);
    g_free(name);
    g_free(text);
    g_free(first);
    close_it(session);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("stats");
    TCase *cases = ts_bench_case(suite, "stats");
    tcase_add_checked_fixture(cases, begin, NULL);
    tcase_add_test(cases, a_permit_is_never_handed_over);
    tcase_add_test(cases, each_path_has_figures_of_its_own);
    tcase_add_test(cases, paths_beyond_the_number_share_their_figures);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
