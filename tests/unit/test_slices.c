/* GLib's slice allocator, whose lock another thread has in the moment of a fork: the child is told, and does not hang. */
#include <check.h>
#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/slices.h"
#include "ts_check.h"
#include "ts_fork.h"

enum { FORKS_MOST = 20000, PATIENCE_S = 15 };

static atomic_bool over;

static void *use_lists(void *unused) {
    while (!atomic_load(&over)) {
        GQueue queue = G_QUEUE_INIT;
        for (int i = 0; i < 2000; i++)
            g_queue_push_tail(&queue, &over);
        g_queue_clear(&queue);
    }
    return unused;
}

static int ask_in_child(void) {
    int status = -1;
    pid_t pid = ts_fork();
    ck_assert(pid >= 0);
    if (pid == 0) {
        alarm(PATIENCE_S);
        _exit(pdk__slices_work() ? 0 : 1);
    }
    ck_assert(waitpid(pid, &status, 0) == pid);
    ck_assert_msg(WIFEXITED(status), "a child hangs");
    return WEXITSTATUS(status);
}

START_TEST(a_process_that_never_forked_is_told_that_they_work) { ck_assert(pdk__slices_work()); }
END_TEST

START_TEST(a_child_is_told_and_does_not_hang) {
    pthread_t threads[2];
    int forks = 0, told = 0;
    ck_assert(pdk__slices_work());
    ck_assert_int_eq(ask_in_child(), 0);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, use_lists, NULL), 0);
    while (told == 0 && forks++ < FORKS_MOST)
        told = ask_in_child();
    atomic_store(&over, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    ck_assert(pdk__slices_work());
    if (!glib_check_version(2, 76, 0)) /* it has no slices */
        ck_assert_int_eq(told, 0);
    else
        ck_assert_msg(told == 1, "GLib's lock was never held in %d forks: this test proves nothing", forks);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("slices");
    TCase *cases = tcase_create("slices");
    tcase_add_test(cases, a_process_that_never_forked_is_told_that_they_work);
/* ThreadSanitizer cannot follow threads that start after a fork. With gcc 14's AddressSanitizer a child hangs, on Debian 13,
 * whose GLib has no slices: the plain build plays it there. */
#if !defined __SANITIZE_THREAD__ && (!defined __SANITIZE_ADDRESS__ || !GLIB_CHECK_VERSION(2, 76, 0))
    tcase_add_test(cases, a_child_is_told_and_does_not_hang);
#else
    (void)a_child_is_told_and_does_not_hang;
#endif
    suite_add_tcase(suite, cases);
    return suite;
}

/* The tests run without slices, so that sanitizers see each allocation. This one is about them. */
int main(int argc, char **argv) {
    (void)argc;
    if (g_getenv("G_SLICE")) {
        g_unsetenv("G_SLICE");
        execv("/proc/self/exe", argv);
        return 1;
    }
    return ts_run_suite(make_suite());
}
