/* The words of failures, as the person reads them who is called at night: each names the call, what is wrong, where, and what to do. */
#include <glib.h>
#include <paddock/guarded.h>
#include <paddock/job.h>
#include <paddock/lease_lock.h>
#include <paddock/rwlock.h>
#include <paddock/semaphore.h>
#include <paddock/set.h>
#include <paddock/striped.h>
#include <string.h>

#include "ts_bench.h"
#include "ts_check.h"
#include "ts_observer.h"

enum { SESSION_MS = 6000, WAIT_MS = 10000 };

static struct {
    pdk_session *session;
    pdk_lock *lock;
    pdk_hold *hold;
    const char *path;
} it;

static void keep(void *object, void (*release)(void *)) { ts_paddock_keep(object, release); }

static const char *below(const char *name) {
    char *path = g_strconcat(it.path, name, NULL);
    keep(path, g_free);
    return path;
}

static void put(const char *name, const char *data) {
    ck_assert_int_eq(ts_create(ts_bench_server(), below(name), data, 0, NULL), 0);
}

/* ---- each of them fails */

static pdk_semaphore *semaphore(const char *name) {
    pdk_semaphore *made = NULL;
    ck_assert_int_eq(pdk_semaphore_new(it.session, below(name), 3, NULL, &made), PDK_OK);
    keep(made, (void (*)(void *))pdk_semaphore_unref);
    return made;
}

static pdk_status wrong_permits(void) {
    pdk_hold *hold = NULL;
    put("/slots/leases", "2");
    return pdk_semaphore_acquire(semaphore("/slots"), 1, WAIT_MS, &hold);
}

static pdk_status wrong_permits_in_a_set(void) {
    pdk_set *held = NULL;
    const pdk_right set[] = {pdk_right_lock(ts_lock(ts_bench_client(SESSION_MS), below("/first"))),
                             pdk_right_permits(semaphore("/slots"), 1)};
    put("/slots/leases", "2");
    return pdk_set_acquire(set, 1 + 1, WAIT_MS, NULL, &held);
}

static pdk_status no_permits(void) {
    pdk_hold *hold = NULL;
    put("/slots/leases", "many");
    return pdk_semaphore_acquire(semaphore("/slots"), 1, WAIT_MS, &hold);
}

static pdk_status too_many_permits(void) {
    pdk_set *held = NULL;
    const pdk_right set[] = {pdk_right_lock(it.lock), pdk_right_permits(semaphore("/slots"), 4)};
    return pdk_set_acquire(set, 2, WAIT_MS, NULL, &held);
}

static pdk_status other_stripes(void) {
    pdk_striped *striped = NULL;
    pdk_hold *hold = NULL;
    put("/striped", "7");
    ck_assert_int_eq(pdk_striped_new(it.session, below("/striped"), 8, NULL, &striped), PDK_OK);
    keep(striped, (void (*)(void *))pdk_striped_unref);
    return pdk_striped_acquire(striped, "key", WAIT_MS, &hold);
}

static pdk_status no_stripes(void) {
    pdk_striped *striped = NULL;
    pdk_hold *hold = NULL;
    put("/striped", "seven");
    ck_assert_int_eq(pdk_striped_new(it.session, below("/striped"), 8, NULL, &striped), PDK_OK);
    keep(striped, (void (*)(void *))pdk_striped_unref);
    return pdk_striped_acquire(striped, "key", WAIT_MS, &hold);
}

static pdk_status delayed(const char *record) {
    pdk_lock_options options = PDK_LOCK_OPTIONS_INIT;
    pdk_lock *lock = NULL;
    pdk_hold *hold = NULL;
    options.lock_delay_ms = 1000;
    put("/delayed/delay", record);
    ck_assert_int_eq(pdk_lock_new(it.session, below("/delayed"), &options, &lock), PDK_OK);
    keep(lock, (void (*)(void *))pdk_lock_unref);
    return pdk_lock_acquire(lock, WAIT_MS, &hold);
}

static pdk_status other_delay(void) { return delayed("500"); }
static pdk_status no_delay(void) { return delayed("soon"); }

static pdk_status a_delay_that_is_not_kept(void) {
    pdk_hold *hold = NULL;
    put("/delayed/delay", "500");
    return pdk_lock_acquire(ts_lock(ts_bench_client(SESSION_MS), below("/delayed")), WAIT_MS, &hold);
}

static pdk_status job(const char *record) {
    pdk_job_options options = PDK_JOB_OPTIONS_INIT;
    pdk_job *made = NULL;
    pdk_hold *hold = NULL;
    options.every_ms = 60000;
    put("/job/record", record);
    ck_assert_int_eq(pdk_job_new(it.session, below("/job"), &options, &made), PDK_OK);
    keep(made, (void (*)(void *))pdk_job_unref);
    return pdk_job_acquire(made, WAIT_MS, &hold, NULL);
}

static pdk_status a_later_job(void) { return job("paddock-job 2\nsomething\n"); }
static pdk_status a_damaged_job(void) { return job("paddock-job 1\nsomething\n"); }
static pdk_status a_damaged_version(void) { return job("paddock-job 2x\nsomething\n"); }

static pdk_status lease_lock(const char *record) {
    pdk_lease_lock_options options = PDK_LEASE_LOCK_OPTIONS_INIT;
    pdk_lease_lock *made = NULL;
    pdk_hold *hold = NULL;
    options.secret = "nobody can guess this";
    put("/lease/record", record);
    ck_assert_int_eq(pdk_lease_lock_new(it.session, below("/lease"), &options, &made), PDK_OK);
    keep(made, (void (*)(void *))pdk_lease_lock_unref);
    return pdk_lease_lock_acquire(made, WAIT_MS, &hold);
}

static pdk_status a_later_lease(void) { return lease_lock("paddock-lease 2\nsomething\n"); }
static pdk_status a_damaged_lease(void) { return lease_lock("paddock-lease 2"); }

static pdk_status guarded(const char *path) {
    pdk_guarded *g = NULL;
    return pdk_guarded_open(it.hold, path, WAIT_MS, &g);
}

static pdk_status the_locks_own_path(void) { return guarded(it.path); }
static pdk_status a_path_above_the_lock(void) {
    char *above = g_path_get_dirname(it.path);
    pdk_status status = guarded(above);
    g_free(above);
    return status;
}

static pdk_status no_guarded_znode(void) {
    put("-data", "theirs");
    return guarded(below("-data"));
}

static pdk_status held_by_this_thread(void) {
    pdk_hold *hold = NULL;
    return pdk_lock_acquire(it.lock, WAIT_MS, &hold);
}

static pdk_status an_impossible_name(void) {
    pdk_lock *lock = NULL;
    return pdk_lock_new(it.session, "/a\xf0\x9f\x90\x8e", NULL, &lock);
}

static pdk_status a_relative_name(void) {
    pdk_lock *lock = NULL;
    return pdk_lock_new(it.session, "orders", NULL, &lock);
}

static pdk_status one_path_twice(void) {
    pdk_set *held = NULL;
    const pdk_right set[] = {pdk_right_lock(it.lock), pdk_right_lock(it.lock)};
    return pdk_set_acquire(set, 2, WAIT_MS, NULL, &held);
}

/* `where` stands behind the path of the test, or is NULL: then the path itself is not in the words. */
static const struct row {
    pdk_status (*fails)(void);
    pdk_status status;
    const char *call, *what, *where, *fix;
} rows[] = {
    {wrong_permits, PDK_MISMATCH, "pdk_semaphore_acquire: ", "\"2\" permits, not 3", "/slots/leases",
     "the same number everywhere"},
    {wrong_permits_in_a_set, PDK_MISMATCH, "pdk_set_acquire: ", "\"2\" permits, not 3", "/slots",
     "the same number everywhere"},
    {no_permits, PDK_DAMAGED, "pdk_semaphore_acquire: ", "\"many\", which is no number", "/slots/leases",
     "write 3 there while nobody"},
    {too_many_permits, PDK_INVALID, "pdk_set_acquire: ", "count is 4", "/slots", "from 1 to 3"},
    {too_many_permits, PDK_INVALID, "pdk_set_acquire: ", "rights[1]", "/slots", "from 1 to 3"},
    {other_stripes, PDK_MISMATCH, "pdk_striped_acquire: ", "\"7\" stripes, not 8", "/striped",
     "the same number everywhere"},
    {no_stripes, PDK_DAMAGED, "pdk_striped_acquire: ", "\"seven\", which is no number", "/striped",
     "write 8 there while nobody"},
    {other_delay, PDK_MISMATCH, "pdk_lock_acquire: ", "\"500\" ms of lock-delay, not 1000", "/delayed/delay",
     "the same number everywhere"},
    {no_delay, PDK_DAMAGED, "pdk_lock_acquire: ", "\"soon\", which is no number of ms", "/delayed/delay",
     "write 1000 there while nobody"},
    {a_delay_that_is_not_kept, PDK_MISMATCH, "pdk_lock_acquire: ", "has a lock-delay", "/delayed", "use the same one"},
    {a_later_job, PDK_UNSUPPORTED, "pdk_job_acquire: ", "of a later version", "/job/record", "use that one here"},
    {a_damaged_job, PDK_DAMAGED, "pdk_job_acquire: ", "no record of a job, or was damaged", "/job/record",
     "Deleting it forgets all runs"},
    {a_damaged_version, PDK_DAMAGED, "pdk_job_acquire: ", "no record of a job, or was damaged", "/job/record",
     "look at its data"},
    {a_later_lease, PDK_UNSUPPORTED, "pdk_lease_lock_acquire: ", "of a later version", "/lease/record",
     "use that one here"},
    {a_damaged_lease, PDK_DAMAGED, "pdk_lease_lock_acquire: ", "was damaged", "/lease/record",
     "Deleting it forgets for whom"},
    {the_locks_own_path, PDK_INVALID, "pdk_guarded_open: path: ", "where the lock's own nodes stand", "",
     "of another path"},
    {a_path_above_the_lock, PDK_INVALID, "pdk_guarded_open: path: ", "where the lock's own nodes stand", NULL,
     "of another path"},
    {no_guarded_znode, PDK_REPLACED, "pdk_guarded_open: ", "never was a guarded znode", "-data", "guard another path"},
    {held_by_this_thread, PDK_DEADLOCK, "pdk_lock_acquire: ", "this thread holds it", "", "release it first"},
    {an_impossible_name, PDK_INVALID, "pdk_lock_new: path: ", "that no server takes", NULL, "above U+FFFF"},
    {a_relative_name, PDK_INVALID, "pdk_lock_new: path: ", "is relative", NULL, "begin with a slash: \"orders\""},
    {one_path_twice, PDK_INVALID, "pdk_set_acquire: ", "rights[0] and rights[1]", "", "name each path once"},
};

START_TEST(each_names_what_and_where_and_the_fix) {
    const struct row *row = &rows[_i];
    it.path = ts_fresh_path();
    const ts_client *client = ts_bench_client(SESSION_MS);
    it.session = client->session;
    it.lock = ts_lock(client, it.path);
    it.hold =
        row->fails == too_many_permits || row->fails == one_path_twice ? NULL : ts_bench_acquire(it.lock, WAIT_MS);
    pdk_status status = row->fails();
    const char *text = pdk_last_error();
    ck_assert_msg(status == row->status, "%s instead of %s: %s", pdk_status_name(status), pdk_status_name(row->status),
                  text);
    ck_assert_msg(g_str_has_prefix(text, row->call), "“%s” does not begin with “%s”", text, row->call);
    ck_assert_msg(strstr(text, row->what), "“%s” does not say “%s”", text, row->what);
    ck_assert_msg(!row->where || strstr(text, below(row->where)), "“%s” does not name “%s%s”", text, it.path,
                  row->where);
    ck_assert_msg(strstr(text, row->fix), "“%s” does not say “%s”", text, row->fix);
    pdk_hold_release(it.hold);
}
END_TEST

/* A status is told where there are no other words: it names no single recipe. */
START_TEST(a_status_fits_all_recipes) {
    static const char *const of_one[] = {"permit", "semaphore", "lock", "guarded", "claim", "in line", "election"};
    for (int status = 0; status <= PDK_UNPROTECTED; status++) {
        const char *text = pdk_status_text((pdk_status)status);
        ck_assert_int_ge((int)strlen(text), 7);
        for (size_t i = 0; i < G_N_ELEMENTS(of_one); i++)
            ck_assert_msg(!strstr(text, of_one[i]), "%s: %s", pdk_status_name((pdk_status)status), text);
    }
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("words");
    TCase *all = ts_bench_case(suite, "words");
    tcase_add_loop_test(all, each_names_what_and_where_and_the_fix, 0, G_N_ELEMENTS(rows));
    tcase_add_test(all, a_status_fits_all_recipes);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
