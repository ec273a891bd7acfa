/* A program without descriptor 0, 1 or 2: no socket and no file of ours gets the number, and with it the program's words. */
#include <check.h>
#include <fcntl.h>
#include <glib.h>
#include <paddock/paddock.h>
#include <stdatomic.h>
#include <unistd.h>

#include "ts_bench.h"
#include "ts_check.h"
#include "ts_clock.h"
#include "ts_support.h"

static int open_descriptors(void) {
    int count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static int kept[3];

/* A set of 0, 1 and 2. */
static void close_some(int closed) {
    for (int fd = 0; fd < 3; fd++) {
        kept[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 10);
        if (closed & 1 << fd)
            close(fd);
    }
}

static void restore(void) {
    for (int fd = 0; fd < 3; fd++) {
        dup2(kept[fd], fd);
        close(kept[fd]);
    }
}

static bool is_nothing(int fd) {
    char link[32], target[32] = "";
    g_snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    return readlink(link, target, sizeof target - 1) > 0 && g_str_equal(target, "/dev/null");
}

static void speak(int closed) {
    for (int fd = 0; fd < 3; fd++)
        if (closed & 1 << fd)
            (void)!write(fd, "perror: words of the program\n", 29);
}

static atomic_int troubles;

static void on_event(pdk_session_event event, int64_t time_left_ms, void *user) {
    (void)time_left_ms;
    (void)user;
    if (event != PDK_SESSION_CONNECTED && event != PDK_SESSION_CLOSED)
        atomic_fetch_add(&troubles, 1);
}

struct user {
    pdk_session *session;
    pdk_lock *lock;
    pdk_hold *hold;
    pdk_status opened, acquired, closed;
    int session_fd, hold_fd;
};

static void work(struct user *user, int closed, pdk_session_options *options) {
    user->opened = pdk_session_open(ts_bench_server(), options, &user->session);
    for (int i = 0; i < 20 && user->opened == PDK_OK; i++) {
        pdk_hold *hold = NULL;
        speak(closed);
        if (i == 0)
            user->opened = pdk_lock_new(user->session, "/descriptors/lock", NULL, &user->lock);
        user->acquired = pdk_lock_acquire(user->lock, 5000, &hold);
        speak(closed);
        if (user->acquired != PDK_OK)
            break;
        user->hold_fd = pdk_hold_fd(hold);
        pdk_hold_release(hold);
    }
    user->session_fd = pdk_session_fd(user->session);
}

/* Words are written to each of the three, as perror does, and the session does not notice. */
START_TEST(words_never_reach_a_session) {
    const int closed = _i % 7 + 1;
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    struct user user = {.hold_fd = -1};
    bool nothing = true;
    atomic_store(&troubles, 0);
    options.dispatch = _i < 7 ? PDK_DISPATCH_THREAD : PDK_DISPATCH_MANUAL;
    options.on_event = on_event;
    const int before = open_descriptors();
    close_some(closed);
    work(&user, closed, &options);
    for (int fd = 0; fd < 3; fd++)
        nothing = nothing && (is_nothing(fd) || !(closed & 1 << fd));
    if (user.lock)
        pdk_lock_unref(user.lock);
    user.closed = pdk_session_close(user.session, 5000);
    pdk_session_unref(user.session);
    const bool stays = nothing && (!(closed & 1) || is_nothing(0));
    restore();
    ck_assert_int_eq(user.opened, PDK_OK);
    ck_assert_int_eq(user.acquired, PDK_OK);
    ck_assert_int_eq(user.closed, PDK_OK);
    ck_assert_int_eq(atomic_load(&troubles), 0);
    ck_assert(nothing);
    ck_assert(stays); /* as the header says */
    ck_assert_int_gt(user.hold_fd, 2);
    if (options.dispatch == PDK_DISPATCH_MANUAL)
        ck_assert_int_gt(user.session_fd, 2);
    ck_assert_int_eq(open_descriptors(), before);
}
END_TEST

/* Closed while a session is open: what is made later on stands above 2 all the same. */
START_TEST(a_descriptor_of_later_stands_above) {
    pdk_session *session = NULL;
    pdk_lock *lock = NULL;
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_session_open(ts_bench_server(), NULL, &session), PDK_OK);
    ck_assert_int_eq(pdk_lock_new(session, "/descriptors/later", NULL, &lock), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(lock, 5000, &hold), PDK_OK);
    close_some(7);
    const int fd = pdk_hold_fd(hold);
    const bool closed = fcntl(0, F_GETFD) < 0 && fcntl(1, F_GETFD) < 0 && fcntl(2, F_GETFD) < 0;
    restore();
    ck_assert_int_gt(fd, 2);
    ck_assert(closed);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    pdk_lock_unref(lock);
    ck_assert_int_eq(pdk_session_close(session, 5000), PDK_OK);
    pdk_session_unref(session);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("descriptors");
    TCase *cases = ts_bench_case(suite, "descriptors");
    tcase_add_loop_test(cases, words_never_reach_a_session, 0, 14);
    tcase_add_test(cases, a_descriptor_of_later_stands_above);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
