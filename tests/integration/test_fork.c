/* A forked child and the parent's handles: no call does harm, and the child can open a session of its own. The child reports
 * through a pipe what is wrong. That every call is refused there, tests/input plays. */
#include <check.h>
#include <dlfcn.h>
#include <glib.h>
#include <paddock/paddock.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "event_log.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_fork.h"
#include "ts_support.h"

/* What the parent has when it forks. */
static struct {
    struct event_log event_log;
    pdk_session *session;
    pdk_lock *lock;
    pdk_hold *hold;
} parent;

static void set_up(void) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    memset(&parent, 0, sizeof parent);
    event_log_init(&parent.event_log);
    event_log_attach(&parent.event_log, &options);
    ck_assert_int_eq(pdk_session_open(ts_bench_server(), &options, &parent.session), PDK_OK);
    ck_assert_int_eq(pdk_lock_new(parent.session, "/fork/lock", NULL, &parent.lock), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(parent.lock, 5000, &parent.hold), PDK_OK);
}

static void tear_down(void) {
    pdk_lock_unref(parent.lock);
    pdk_session_close(parent.session, 5000);
    pdk_session_unref(parent.session);
    event_log_clear(&parent.event_log);
}

/* Runs `what` in a forked child, which writes what is wrong. The test passes when it writes nothing and exits
 * normally. */
static void in_child(void (*what)(GString *wrong)) {
    int ends[2];
    char text[4000] = "";
    size_t have = 0;
    ck_assert_int_eq(pipe(ends), 0);
    pid_t pid = ts_fork();
    if (pid == 0) {
        GString *wrong = g_string_new(NULL);
        alarm(20); /* a call that hangs ends the child */
        what(wrong);
        ts_end_child(write(ends[1], wrong->str, wrong->len) == (ssize_t)wrong->len ? 0 : 2);
    }
    ck_assert_int_gt(pid, 0);
    close(ends[1]);
    for (ssize_t n; have < sizeof text - 1 && (n = read(ends[0], text + have, sizeof text - 1 - have)) > 0;)
        have += (size_t)n;
    close(ends[0]);
    int status = 0;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(text[0] == '\0', "in the child: %s", text);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with %d", status);
}

static void expect(GString *wrong, const char *what, bool fine) {
    if (!fine)
        g_string_append_printf(wrong, "%s; ", what);
}

/* The first part of the names of a child's nodes, in shared memory. A session recognizes its nodes by their names, so no two sessions
 * may use the same names. */
static char (*named)[64];
static int child;

static void tell_name(GString *wrong, const pdk_hold *hold) {
    const char *name = g_strrstr(pdk_hold_node(hold), "/_c_");
    expect(wrong, "a name", name != NULL);
    g_strlcpy(named[child], name ? name : "", strlen("/_c_01234567-89ab-4cde-8f01-") + 1);
}

static void open_own(GString *wrong) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *s = NULL;
    pdk_lock *lock = NULL;
    pdk_hold *hold = NULL;
    char *pid = g_strdup_printf(":%d:", (int)getpid());
    options.label = "child";
    if (pdk_session_open(ts_bench_server(), &options, &s) != PDK_OK) {
        g_string_append_printf(wrong, "open: %s", pdk_last_error());
        return;
    }
    expect(wrong, "the child's identity", strstr(pdk_session_identity(s), pid) != NULL);
    expect(wrong, "lock", pdk_lock_new(s, "/fork/lock", NULL, &lock) == PDK_OK);
    expect(wrong, "try of what the parent holds", pdk_lock_acquire(lock, 0, &hold) == PDK_BUSY);
    pdk_lock_unref(lock);
    expect(wrong, "second lock", pdk_lock_new(s, "/fork/child", NULL, &lock) == PDK_OK);
    expect(wrong, "acquire", pdk_lock_acquire(lock, 5000, &hold) == PDK_OK && pdk_hold_is_valid(hold));
    tell_name(wrong, hold);
    expect(wrong, "the parent's hold is valid", !pdk_hold_is_valid(parent.hold));
    expect(wrong, "release", pdk_hold_release(hold) == PDK_OK);
    pdk_lock_unref(lock);
    expect(wrong, "close", pdk_session_close(s, 5000) == PDK_OK);
    pdk_session_unref(s);
    g_free(pid);
}

/* The child has ended, and the parent goes on as before. */
static void check_parent_unharmed(void) {
    pdk_hold *next = NULL;
    ck_assert(pdk_hold_is_valid(parent.hold));
    ck_assert_int_eq(pdk_hold_ensure(parent.hold, 10), PDK_OK);
    ck_assert_int_eq(pdk_session_check_sequencer(parent.session, pdk_hold_sequencer(parent.hold), 5000), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(parent.hold), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(parent.lock, 5000, &next), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(next), PDK_OK);
    ck_assert_int_eq(pdk_session_flush(parent.session, 5000), PDK_OK);
    char *history = event_log_history(&parent.event_log);
    ck_assert_str_eq(history, "connected");
    g_free(history);
}

START_TEST(children_open_sessions_of_their_own) {
    named = mmap(NULL, 2 * sizeof *named, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(named, MAP_FAILED);
    for (child = 0; child < 2; child++)
        in_child(open_own);
    ck_assert_str_ne(named[0], named[1]);
    ck_assert_uint_eq(strlen(named[0]), strlen(named[1]));
    munmap(named, 2 * sizeof *named);
    check_parent_unharmed();
}
END_TEST

/* ---- an allocator whose lock has stayed with a thread of the parent */

static volatile sig_atomic_t hangs;

/* Replaces GLib's. */
__attribute__((visibility("default"))) gpointer g_slice_alloc(gsize size) {
    gpointer (*alloc)(gsize);
    void *symbol = dlsym(RTLD_NEXT, "g_slice_alloc");
    memcpy(&alloc, &symbol, sizeof alloc);
    while (hangs)
        pause();
    return alloc(size);
}

static void count_freed(void *freed) { ++*(int *)freed; }

static void open_while_it_hangs(GString *wrong) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *s = NULL;
    int freed = 0;
    options.on_event_user = options.on_log_user = &freed;
    options.on_event_user_free = options.on_log_user_free = count_freed;
    hangs = 1;
    pdk_status status = pdk_session_open("127.0.0.1:1", &options, &s);
    hangs = 0;
    expect(wrong, "open", status == PDK_SYSTEM && !s);
    expect(wrong, "words", strstr(pdk_last_error(), "allocator") != NULL);
    expect(wrong, "user data", freed == 2);
}

/* The child's session would hang. It is refused instead, and gives back what it was given. */
START_TEST(a_child_whose_allocator_hangs_is_told) {
    in_child(open_while_it_hangs);
    check_parent_unharmed();
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("fork");
    TCase *cases = ts_bench_case(suite, "fork");
    tcase_add_checked_fixture(cases, set_up, tear_down);
#ifndef __SANITIZE_THREAD__ /* which cannot follow threads that start after a fork */
    tcase_add_test(cases, a_child_whose_allocator_hangs_is_told);
    tcase_add_test(cases, children_open_sessions_of_their_own);
#else
    (void)a_child_whose_allocator_hangs_is_told;
    (void)children_open_sessions_of_their_own;
#endif
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
