/* A program that has closed its standard input gets descriptor 0 from us: it is one as any, and closed at the end. */
#include <fcntl.h>
#include <unistd.h>

#include "ts_bench.h"
#include "ts_check.h"
#include "ts_clock.h"

static int open_descriptors(void) {
    int count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static bool is_closed(void *user) {
    (void)user;
    return fcntl(STDIN_FILENO, F_GETFD) < 0;
}

START_TEST(the_first_descriptor_is_given_back) {
    pdk_session *session;
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.dispatch = _i ? PDK_DISPATCH_MANUAL : PDK_DISPATCH_THREAD;
    const int input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10);
    ck_assert_int_ge(input, 10);
    close(STDIN_FILENO);
    const int before = open_descriptors();
    const pdk_status opened = pdk_session_open(ts_bench_server(), &options, &session);
    const bool used = !is_closed(NULL);
    if (opened == PDK_OK) {
        pdk_session_close(session, 5000);
        pdk_session_unref(session);
    }
    const bool closed = ts_wait_until(is_closed, NULL, ts_patience(2000));
    const int after = open_descriptors();
    dup2(input, STDIN_FILENO);
    close(input);
    ck_assert_int_eq(opened, PDK_OK);
    ck_assert(used);
    ck_assert(closed);
    ck_assert_int_eq(after, before);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("descriptors");
    TCase *cases = ts_bench_case(suite, "descriptors");
    tcase_add_loop_test(cases, the_first_descriptor_is_given_back, 0, 2);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
