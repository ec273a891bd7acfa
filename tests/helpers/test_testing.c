/* Tests of libpaddock-testing by its public functions. What the other programs of this folder test is not repeated here. */
#include <fcntl.h>
#include <glib.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

#include "ts_check.h"
#include "ts_fork.h"
#include "ts_support.h"

static pdk_test_ensemble *servers;

static void start_one(void) {
    servers = pdk_test_ensemble_start(NULL);
    ck_assert_msg(servers != NULL, "%s", pdk_test_last_error());
}

static void stop_all(void) {
    pdk_test_ensemble_stop(servers);
    servers = NULL;
}

/* ---- what is refused, in words */

static void assert_refused(const pdk_test_options *options, const char *words) {
    ck_assert_ptr_null(pdk_test_ensemble_start(options));
    ck_assert_msg(strstr(pdk_test_last_error(), words) != NULL, "%s", pdk_test_last_error());
}

START_TEST(options_are_checked) {
    static const char *const ports[] = {"",  "0",  "-1",    "+1",    " 1",         "1 ",
                                        "x", "1x", "65536", "99999", "4294967297", NULL};
    pdk_test_options options = {.size = sizeof options, .servers = 2};

    assert_refused(&options, "it has to be 1 or 3");
    options = (pdk_test_options){.size = sizeof options, .port = 65536};
    assert_refused(&options, "1 to 65535");
    options = (pdk_test_options){.size = 0};
    assert_refused(&options, "sizeof(pdk_test_options)");
    options = (pdk_test_options){.size = sizeof options + 1};
    assert_refused(&options, "sizeof(pdk_test_options)");
    options = (pdk_test_options){.size = sizeof options, .class_path = "/no/such.jar:/none"};
    assert_refused(&options, "/no/such.jar");
    options = (pdk_test_options){.size = sizeof options, .data = "/proc/none"};
    assert_refused(&options, "/proc/none");
    for (size_t i = 0; i < 5; i++) {
        options = (pdk_test_options){.size = sizeof options};
        (&options.tick_ms)[i] = -1; /* tick_ms to max_session_ms */
        assert_refused(&options, "1 or more");
    }
    for (const char *const *port = ports; *port != NULL; port++) {
        g_autofree char *address = g_strconcat("127.0.0.1:", *port, NULL);

        ck_assert_msg(pdk_test_proxy_start(address) == NULL, "%s", address);
        ck_assert_ptr_nonnull(strstr(pdk_test_last_error(), "ip:port"));
    }
    ck_assert_ptr_null(pdk_test_proxy_start("nonsense"));
    ck_assert_ptr_nonnull(strstr(pdk_test_last_error(), "ip:port"));
    ck_assert_ptr_null(pdk_test_proxy_start("192.0.2.1:80"));
    ck_assert_ptr_nonnull(strstr(pdk_test_last_error(), "192.0.2.1"));
}
END_TEST

/* A caller of a version without class_path and what follows it. */
START_TEST(older_options_are_enough) {
    pdk_test_options options = {.size = offsetof(pdk_test_options, class_path), .class_path = "/not/looked/at"};

    servers = pdk_test_ensemble_start(&options);
    ck_assert_ptr_nonnull(servers);
}
END_TEST

START_TEST(the_class_path_of_the_environment_counts) {
    const char *before = g_getenv("PADDOCK_TEST_CLASSPATH");
    g_autofree char *saved = g_strdup(before);
    pdk_test_options options = {.size = sizeof options,
                                .class_path = "/usr/share/java/zookeeper.jar:/usr/share/java/*"};

    g_setenv("PADDOCK_TEST_CLASSPATH", "/nowhere/*", TRUE);
    assert_refused(NULL, "/nowhere/*");
    servers = pdk_test_ensemble_start(&options); /* the option goes before */
    if (saved != NULL) {
        g_setenv("PADDOCK_TEST_CLASSPATH", saved, TRUE);
    } else {
        g_unsetenv("PADDOCK_TEST_CLASSPATH");
    }
    ck_assert_msg(servers != NULL, "%s", pdk_test_last_error());
}
END_TEST

/* ---- processes */

static bool is_gone(void *pid) { return !ts_alive(*(pid_t *)pid); }

static void *start_in_a_thread(void *unused) {
    (void)unused;
    return pdk_test_ensemble_start(NULL);
}

START_TEST(a_server_outlives_the_thread_that_started_it) {
    pthread_t thread;
    void *started = NULL;
    pid_t pid;

    ck_assert_int_eq(pthread_create(&thread, NULL, start_in_a_thread, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, &started), 0);
    servers = started;
    ck_assert_ptr_nonnull(servers);
    pid = pdk_test_ensemble_pid(servers, 0);
    ck_assert(!ts_wait_until(is_gone, &pid, 300));
    pdk_test_ensemble_kill(servers, 0);
    ck_assert(pdk_test_ensemble_restart(servers, 0));
    ck_assert(!pdk_test_ensemble_restart(servers, 0));
    ck_assert_ptr_nonnull(strstr(pdk_test_last_error(), "runs already"));
    ck_assert(pdk_test_ensemble_wait_ready(servers, 20000));
}
END_TEST

START_TEST(a_server_ends_with_a_killed_program) {
    int ends[2];
    pid_t program, server = 0;
    bool gone;

    ck_assert_int_eq(pipe(ends), 0);
    program = ts_fork();
    if (program == 0) {
        pdk_test_ensemble *mine = pdk_test_ensemble_start(NULL);
        const pid_t pid = mine == NULL ? -1 : pdk_test_ensemble_pid(mine, 0);

        if (write(ends[1], &pid, sizeof pid) == (ssize_t)sizeof pid) {
            pause();
        }
        _exit(1);
    }
    ck_assert(ts_fd_readable(ends[0], 60000));
    ck_assert_int_eq(read(ends[0], &server, sizeof server), sizeof server);
    ck_assert_int_gt(server, 0);
    ck_assert(ts_alive(server));
    ts_kill(program);
    gone = ts_wait_until(is_gone, &server, 10000);
    if (!gone) {
        kill(server, SIGKILL); /* nothing is left, whatever the verdict */
    }
    ck_assert(gone);
    close(ends[0]);
    close(ends[1]);
}
END_TEST

START_TEST(a_paused_server_is_silent) {
    ck_assert(pdk_test_ensemble_pause(servers, 0));
    ck_assert_int_eq(pdk_test_ensemble_leader(servers), -1); /* it waits for 2 s */
    ck_assert(pdk_test_ensemble_resume(servers, 0));
    ck_assert(pdk_test_ensemble_wait_ready(servers, 20000));
    ck_assert_int_eq(pdk_test_ensemble_wait_leader(servers, -1, 20000), 0);
    pdk_test_ensemble_kill(servers, 0);
    ck_assert(!pdk_test_ensemble_pause(servers, 0));
    ck_assert(!pdk_test_ensemble_resume(servers, 0));
}
END_TEST

START_TEST(a_wrong_number_ends_the_program) {
    const pid_t program = ts_fork();

    if (program == 0) {
        const struct rlimit no_core = {0, 0};

        setrlimit(RLIMIT_CORE, &no_core);
        close(STDERR_FILENO);
        pdk_test_ensemble_host(servers, 1);
        _exit(0);
    }
    ck_assert_int_gt(ts_wait(program, 20000), 128);
}
END_TEST

/* ---- a session that is ended from outside */

static _Atomic int state;

static void watch(zhandle_t *zh, int type, int new_state, const char *path, void *user) {
    (void)zh;
    (void)path;
    (void)user;
    if (type == ZOO_SESSION_EVENT) {
        atomic_store(&state, new_state);
    }
}

static bool state_is(void *wanted) { return atomic_load(&state) == *(int *)wanted; }

START_TEST(a_session_is_expired_by_its_id) {
    int connected = ZOO_CONNECTED_STATE, expired = ZOO_EXPIRED_SESSION_STATE;
    zhandle_t *zh;
    int64_t id;

    ck_assert(!pdk_test_ensemble_expire(servers, 4711));
    ck_assert_ptr_nonnull(strstr(pdk_test_last_error(), "0x1267"));
    zh = zookeeper_init(pdk_test_ensemble_proxied_hosts(servers), watch, 6000, NULL, NULL, 0);
    ck_assert_ptr_nonnull(zh);
    ck_assert(ts_wait_until(state_is, &connected, 20000));
    id = zoo_client_id(zh)->client_id;
    ck_assert_msg(pdk_test_ensemble_expire(servers, id), "%s", pdk_test_last_error());
    ck_assert(ts_wait_until(state_is, &expired, 20000));
    zookeeper_close(zh);
    ck_assert_int_eq(pdk_test_proxy_get_mode(pdk_test_ensemble_proxy(servers, 0)), PDK_TEST_PASS);
    ck_assert(!pdk_test_ensemble_expire(servers, id));
    ck_assert_ptr_nonnull(strstr(pdk_test_last_error(), "over already"));
}
END_TEST

/* ---- threads that are cancelled */

enum { CANCELLATIONS = 400 };

static void do_leader(void) { pdk_test_ensemble_leader(servers); }
static void do_wait_ready(void) { pdk_test_ensemble_wait_ready(servers, 10000); }
static void do_wait_leader(void) { pdk_test_ensemble_wait_leader(servers, -1, 10000); }
static void do_pause(void) {
    pdk_test_ensemble_pause(servers, 0);
    pdk_test_ensemble_resume(servers, 0);
}
static void do_heal(void) { pdk_test_ensemble_heal(servers); }
static void do_expire(void) { pdk_test_ensemble_expire(servers, 1); }
static void do_proxy(void) {
    pdk_test_proxy *proxy = pdk_test_proxy_start(pdk_test_ensemble_host(servers, 0));
    pdk_test_proxy_stop(proxy);
}
static void do_cut(void) {
    pdk_test_proxy *proxy = pdk_test_ensemble_proxy(servers, 0);
    pdk_test_proxy_set_mode(proxy, PDK_TEST_CUT);
    pdk_test_proxy_heal(proxy);
    pdk_test_proxy_reset(proxy);
    pdk_test_proxy_set_delay(proxy, 0, 0);
    pdk_test_proxy_get_mode(proxy);
}

static const struct {
    const char *name;
    void (*act)(void);
} acts[] = {{"leader", do_leader},
            {"wait_ready", do_wait_ready},
            {"wait_leader", do_wait_leader},
            {"pause", do_pause},
            {"heal", do_heal},
            {"expire", do_expire},
            {"proxy", do_proxy},
            {"cut", do_cut}};

static void *act_until_cancelled(void *user) {
    void (*act)(void);
    memcpy(&act, user, sizeof act);
    for (;;) {
        act();
        pthread_testcancel(); /* between two rounds, where it harms nobody */
    }
    return NULL;
}

static int open_descriptors(void) {
    int count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* In the middle of any call: nothing stays locked, and nothing open. */
START_TEST(a_cancelled_thread_keeps_nothing) {
    const int before = open_descriptors();
    for (int i = 0; i < CANCELLATIONS; i++) {
        const size_t n = (size_t)i % G_N_ELEMENTS(acts);
        void (*act)(void) = acts[n].act;
        struct timespec until;
        pthread_t thread;
        ck_assert_int_eq(pthread_create(&thread, NULL, act_until_cancelled, (void *)&act), 0);
        g_usleep((gulong)g_random_int_range(0, 4000));
        pthread_cancel(thread);
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 30;
        ck_assert_msg(pthread_timedjoin_np(thread, NULL, &until) == 0, "%s: the thread did not end", acts[n].name);
    }
    ck_assert(pdk_test_ensemble_resume(servers, 0));
    ck_assert(pdk_test_ensemble_wait_ready(servers, 20000));
    ck_assert_int_eq(pdk_test_proxy_get_mode(pdk_test_ensemble_proxy(servers, 0)), PDK_TEST_PASS);
    ck_assert_int_eq(open_descriptors(), before);
}
END_TEST

/* The thread may have time for another round. */
static void start_once(void) {
    if (servers == NULL)
        start_one();
}

/* Of a start, which has half a server then, and of a stop. */
START_TEST(a_start_is_not_cancelled_half_way) {
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        void (*act)(void) = i ? stop_all : start_once;
        void *result;
        ck_assert_int_eq(pthread_create(&thread, NULL, act_until_cancelled, (void *)&act), 0);
        g_usleep(i ? 1000 : 300000);
        pthread_cancel(thread);
        ck_assert_int_eq(pthread_join(thread, &result), 0);
        ck_assert((servers != NULL) == (i == 0));
    }
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("libpaddock-testing");
    TCase *start = tcase_create("start"), *one = tcase_create("one");

    tcase_add_checked_fixture(start, NULL, stop_all);
    tcase_add_test(start, options_are_checked);
    tcase_add_test(start, older_options_are_enough);
    tcase_add_test(start, the_class_path_of_the_environment_counts);
    tcase_add_test(start, a_server_outlives_the_thread_that_started_it);
    tcase_add_test(start, a_server_ends_with_a_killed_program);
    tcase_add_test(start, a_start_is_not_cancelled_half_way);
    suite_add_tcase(suite, start);
    tcase_add_checked_fixture(one, start_one, stop_all);
    tcase_add_test(one, a_paused_server_is_silent);
    tcase_add_test(one, a_wrong_number_ends_the_program);
    tcase_add_test(one, a_session_is_expired_by_its_id);
    tcase_add_test(one, a_cancelled_thread_keeps_nothing);
    suite_add_tcase(suite, one);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
