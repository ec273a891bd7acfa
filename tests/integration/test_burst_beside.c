/* Thousands of claims at once beside a hold of the same session: renewals go ahead of them, so the hold keeps its
 * lease. */
#include <glib.h>
#include <stdatomic.h>

#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

enum { CLAIMS = 3000, SAMPLE_MS = 2, PATIENCE_MS = 60000, SECOND_MS = 1000 };

static struct {
    atomic_int granted, answered;
    pdk_hold *holds[CLAIMS];
} it;

static void on_answer(pdk_status status, pdk_hold *hold, void *unused) {
    (void)unused;
    if (status == PDK_OK)
        it.holds[atomic_fetch_add(&it.granted, 1)] = hold;
    atomic_fetch_add(&it.answered, 1);
}

static void claim_all(pdk_rwlock *lock, int claims) {
    atomic_store(&it.granted, 0);
    atomic_store(&it.answered, 0);
    for (int i = 0; i < claims; i++)
        ck_assert_int_eq(pdk_rwlock_acquire_read_async(lock, PDK_FOREVER, on_answer, NULL, NULL), PDK_OK);
}

/* Until all are answered. */
static int64_t least_left(const pdk_hold *hold, int claims) {
    const int64_t end = ts_now_ms() + ts_patience(PATIENCE_MS);
    int64_t least = INT64_MAX;

    while (atomic_load(&it.answered) < claims && ts_now_ms() < end) {
        least = MIN(least, pdk_hold_remaining_ms(hold));
        ts_sleep_ms(SAMPLE_MS);
    }
    ck_assert_int_eq(atomic_load(&it.answered), claims);
    return least;
}

START_TEST(a_hold_keeps_its_lease_beside_a_burst) {
    static const int timeouts_ms[] = {2000, 4000};
    const int session_ms = (int)ts_patience(timeouts_ms[_i]);                /* longer, where a renewal takes longer */
    const int claims = (int)(CLAIMS / (ts_patience(SECOND_MS) / SECOND_MS)); /* fewer, where each takes longer */
    ts_client *client = ts_bench_client(session_ms);
    pdk_hold *hold = ts_bench_acquire(ts_lock(client, "/burst/beside"), PATIENCE_MS);
    pdk_rwlock *lock;

    ck_assert_int_eq(pdk_rwlock_new(client->session, "/burst/reads", NULL, &lock), PDK_OK);
    claim_all(lock, claims);
    int64_t least = least_left(hold, claims);
    ck_assert_msg(pdk_hold_is_valid(hold), "lost");
    ck_assert_int_eq(atomic_load(&it.granted), claims);
    ck_assert_msg(least >= session_ms / 8, "%d ms of lease left at one time", (int)least);
    for (int i = 0; i < claims; i++)
        ck_assert_int_eq(pdk_hold_release(it.holds[i]), PDK_OK);
    ck_assert_int_eq(pdk_session_flush(client->session, ts_patience(PATIENCE_MS)), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    pdk_rwlock_unref(lock);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("burst_beside");
    TCase *tcase = ts_bench_case(suite, "burst_beside");

    tcase_add_loop_test(tcase, a_hold_keeps_its_lease_beside_a_burst, 0, 2);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
