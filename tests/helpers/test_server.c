/* Tests of tests/support: processes, one server, the observer. */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ts_check.h"
#include "ts_fork.h"
#include "ts_support.h"
#include "ts_tempdir.h"
#include "ts_wire.h"

static ts_ensemble *server;

static void start_server(void) {
    server = ts_ensemble_start(NULL);
    ck_assert_ptr_nonnull(server);
}

static void stop_server(void) {
    ts_ensemble_stop(server);
    server = NULL;
}

static int count_entries(const char *path) {
    DIR *folder = opendir(path);
    int count = 0;

    while (folder != NULL && readdir(folder) != NULL) {
        count++;
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return count;
}

/* ---- processes ---- */

START_TEST(a_child_is_spawned_and_waited_for) {
    const char *const argv[] = {"sh", "-c", "echo hello; exit 7", NULL};
    char text[16] = {0};
    int out = -1;
    const pid_t pid = ts_spawn(argv, &out);

    ck_assert_int_gt(pid, 0);
    ck_assert(ts_fd_readable(out, 5000));
    ck_assert_int_eq(read(out, text, sizeof text - 1), 6);
    ck_assert_str_eq(text, "hello\n");
    ck_assert_int_eq(ts_wait(pid, 5000), 7);
    ck_assert(!ts_alive(pid));
    close(out);
}
END_TEST

START_TEST(a_missing_program_exits_with_127) {
    const char *const argv[] = {"/no/such/program", NULL};

    ck_assert_int_eq(ts_wait(ts_spawn(argv, NULL), 5000), 127);
}
END_TEST

START_TEST(a_paused_child_does_nothing) {
    const char *const argv[] = {"sh", "-c", "while echo x; do sleep 0.01; done", NULL};
    char text[4096];
    int out = -1;
    const pid_t pid = ts_spawn(argv, &out);

    ck_assert(ts_fd_readable(out, 5000));
    ck_assert(ts_pause(pid));
    ck_assert(ts_alive(pid));
    ck_assert_int_eq(ts_wait(pid, 50), -1);
    while (ts_fd_readable(out, 100)) { /* its sleep may still have written nothing: echo is the shell's own */
        ck_assert_int_gt(read(out, text, sizeof text), 0);
    }
    ck_assert(!ts_fd_readable(out, 200));
    ck_assert(ts_resume(pid));
    ck_assert(ts_fd_readable(out, 5000));
    ck_assert(ts_pause(pid));
    ts_kill(pid); /* a paused one too */
    ck_assert(!ts_alive(pid));
    ck_assert(!ts_pause(pid));
    close(out);
}
END_TEST

START_TEST(nobody_else_gets_a_signal) {
    const char *const argv[] = {"sh", "-c", "sleep 60 & echo $!; read wait", NULL};
    char text[32] = "";
    int out = -1;
    const pid_t parent = ts_spawn(argv, &out);

    ck_assert(ts_fd_readable(out, 5000));
    ck_assert_int_gt(read(out, text, sizeof text - 1), 0);
    const pid_t other = atoi(text); /* lives, and is no child of ours: as a child's number that was given away */
    ts_kill(other);
    ck_assert(!ts_pause(other));
    ck_assert(ts_alive(other));
    ck_assert_int_eq(kill(other, SIGKILL), 0);
    ts_kill(parent);
    close(out);
}
END_TEST

START_TEST(a_child_inherits_no_descriptors) {
    const char *const argv[] = {"sh", "-c", "ls /proc/self/fd | wc -l", NULL};
    char text[16] = {0};
    int out = -1;
    const int leaked = dup(0); /* not close-on-exec */
    const pid_t pid = ts_spawn(argv, &out);

    ck_assert(ts_fd_readable(out, 5000));
    ck_assert_int_gt(read(out, text, sizeof text - 1), 0);
    ck_assert_int_eq(ts_wait(pid, 5000), 0);
    ck_assert_int_eq(atoi(text), 4); /* 0, 1, 2 and ls's own */
    close(leaked);
    close(out);
}
END_TEST

static bool never(void *user) {
    (*(int *)user)++;
    return false;
}

START_TEST(waiting_ends_in_time) {
    const int64_t before = ts_now_ns();
    int calls = 0;

    ck_assert(!ts_wait_until(never, &calls, 50));
    ck_assert_int_gt(calls, 1);
    ck_assert_int_ge(ts_now_ns() - before, 50000000);
    ck_assert_int_lt(ts_now_ns() - before, 2000000000);
}
END_TEST

/* ---- folders for data ---- */

static char *base;

static void make_base(void) { base = g_dir_make_tmp("paddock-folders-XXXXXX", NULL); }

static void remove_base(void) {
    const char *const argv[] = {"rm", "-rf", base, NULL};

    ck_assert_int_eq(ts_wait(ts_spawn(argv, NULL), 5000), 0);
    g_clear_pointer(&base, g_free);
}

/* Of a folder below the base, as old as the world. */
static void make_old_folder(const char *name, const char *file, const char *text) {
    g_autofree char *folder = g_build_filename(base, name, NULL);
    g_autofree char *path = g_build_filename(folder, file, NULL);
    const struct timespec old[] = {{.tv_sec = 1}, {.tv_sec = 1}};

    ck_assert_int_eq(g_mkdir_with_parents(folder, 0700), 0);
    ck_assert(g_file_set_contents(path, text, -1, NULL));
    ck_assert_int_eq(utimensat(AT_FDCWD, folder, old, 0), 0);
}

static bool is_there(const char *name, const char *file) {
    g_autofree char *path = g_build_filename(base, name, file, NULL);

    return g_file_test(path, G_FILE_TEST_EXISTS);
}

/* What a killed program has left, with a file in it: its name. */
static char *leave_a_folder(void) {
    int ends[2];
    char path[1024] = {0};
    pid_t program;

    ck_assert_int_eq(pipe(ends), 0);
    program = ts_fork();
    if (program == 0) {
        const char *mine = ts_tempdir_path(ts_tempdir_below(base));
        g_autofree char *file = g_build_filename(mine, "data", NULL);

        if (g_file_set_contents(file, "x", 1, NULL) && write(ends[1], mine, strlen(mine)) > 0) {
            pause();
        }
        _exit(1);
    }
    ck_assert(ts_fd_readable(ends[0], 20000));
    ck_assert_int_gt(read(ends[0], path, sizeof path - 1), 0);
    ts_kill(program);
    close(ends[0]);
    close(ends[1]);
    return g_path_get_basename(path);
}

/* By its name, its age and its owner it could be one of ours. */
START_TEST(a_folder_of_the_users_own_stays) {
    ts_tempdir *dir;

    make_old_folder("paddock-test-thesis", "thesis.tex", "a year's work");
    make_old_folder("paddock-test-notes", ".paddock-test-servers", "what this file means\n");
    make_old_folder("paddock-test-empty", ".paddock-test-servers", "");
    dir = ts_tempdir_below(base);
    ck_assert_ptr_nonnull(dir);
    ck_assert(is_there("paddock-test-thesis", "thesis.tex"));
    ck_assert(is_there("paddock-test-notes", ".paddock-test-servers"));
    ck_assert(is_there("paddock-test-empty", ".paddock-test-servers"));
    ts_tempdir_free(dir);
}
END_TEST

START_TEST(what_a_killed_program_has_left_is_removed) {
    g_autofree char *name = leave_a_folder();
    ts_tempdir *dir;

    ck_assert(is_there(name, "data"));
    dir = ts_tempdir_below(base);
    ck_assert_ptr_nonnull(dir);
    ck_assert(!is_there(name, NULL));
    ts_tempdir_free(dir);
}
END_TEST

START_TEST(a_folder_in_use_stays) {
    ts_tempdir *first = ts_tempdir_below(base), *second = ts_tempdir_below(base);

    ck_assert(g_file_test(ts_tempdir_path(first), G_FILE_TEST_IS_DIR));
    ck_assert(g_file_test(ts_tempdir_path(second), G_FILE_TEST_IS_DIR));
    ts_tempdir_free(first);
    ck_assert(g_file_test(ts_tempdir_path(second), G_FILE_TEST_IS_DIR));
    ts_tempdir_free(second);
}
END_TEST

/* A link to a folder that could be removed, a link in one that is, and a link instead of a marker. */
START_TEST(no_link_is_followed) {
    g_autofree char *left = leave_a_folder(), *name = g_strconcat("kept-", left, NULL), *swept = NULL, *inside = NULL;
    g_autofree char *from = g_build_filename(base, left, NULL), *kept = g_build_filename(base, name, NULL);
    g_autofree char *link_to_it = g_build_filename(base, "paddock-test-link", NULL);
    g_autofree char *marker = g_build_filename(kept, ".paddock-test-servers", NULL);
    g_autofree char *linked = g_build_filename(base, "paddock-test-marked", ".paddock-test-servers", NULL);
    ts_tempdir *dir;

    ck_assert_int_eq(rename(from, kept), 0); /* a name that no sweep looks at */
    ck_assert_int_eq(symlink(kept, link_to_it), 0);
    make_old_folder("paddock-test-marked", "own", "x");
    ck_assert_int_eq(symlink(marker, linked), 0);
    swept = leave_a_folder();
    inside = g_build_filename(base, swept, "out", NULL);
    ck_assert_int_eq(symlink(kept, inside), 0);
    dir = ts_tempdir_below(base);
    ck_assert_ptr_nonnull(dir);
    ck_assert(!is_there(swept, NULL));
    ck_assert(is_there(name, "data"));
    ck_assert(is_there("paddock-test-link", "data"));
    ck_assert(is_there("paddock-test-marked", "own"));
    ts_tempdir_free(dir);
}
END_TEST

/* ---- one server ---- */

/* A joined thread may stay listed for a moment. */
static bool has_threads(void *count) { return count_entries("/proc/self/task") == *(int *)count; }

START_TEST(a_server_leaves_nothing) {
    ts_ensemble_options options = {.tick_ms = 200};
    const char *const lines[] = {"autopurge.purgeInterval=0", NULL};
    g_autofree char *folder = NULL;
    g_autofree char *host = NULL;
    int64_t before;
    int descriptors, threads;

    ts_proxy_stop(ts_proxy_start("127.0.0.1:1")); /* a sanitizer adds a thread of its own to the process's first */
    descriptors = count_entries("/proc/self/fd");
    threads = count_entries("/proc/self/task");
    before = ts_now_ns();
    options.config_lines = lines;
    server = ts_ensemble_start(&options);
    ck_assert_ptr_nonnull(server);
    ck_assert_int_lt(ts_now_ns() - before, INT64_C(20000000000));
    host = g_strdup(ts_ensemble_host(server, 0));
    folder = g_path_get_dirname(ts_ensemble_log(server, 0));
    ck_assert(g_file_test(folder, G_FILE_TEST_IS_DIR));
    ck_assert_int_eq(ts_ensemble_mode(server, 0), TS_MODE_STANDALONE);
    ck_assert_int_eq(ts_ensemble_leader(server), 0);
    stop_server();
    ck_assert(!g_file_test(folder, G_FILE_TEST_EXISTS));
    ck_assert_int_eq(ts_mode(host), TS_MODE_DOWN);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
    ck_assert_int_eq(errno, ECHILD);
    ck_assert_int_eq(count_entries("/proc/self/fd"), descriptors);
    ck_assert(ts_wait_until(has_threads, &threads, 2000));
}
END_TEST

START_TEST(a_server_that_cannot_start_is_reported) {
    const char *const lines[] = {"tickTime=nonsense", NULL};
    const ts_ensemble_options options = {.config_lines = lines};

    ck_assert_ptr_null(ts_ensemble_start(&options));
}
END_TEST

START_TEST(a_killed_server_comes_back_with_its_data) {
    const char *hosts = ts_ensemble_hosts(server);

    ck_assert_int_eq(ts_create(hosts, "/kept", "data", TS_PERSISTENT, NULL), 0);
    ts_ensemble_kill(server, 0);
    ck_assert_int_eq(ts_ensemble_pid(server, 0), 0);
    ck_assert_int_eq(ts_ensemble_mode(server, 0), TS_MODE_DOWN);
    ck_assert_int_eq(ts_exists(hosts, "/kept", NULL), TS_CONNECTION_LOSS);
    ck_assert(ts_ensemble_restart(server, 0));
    ck_assert(ts_ensemble_wait_ready(server, 20000));
    ck_assert_int_eq(ts_exists(hosts, "/kept", NULL), 0);
}
END_TEST

/* ---- the observer ---- */

START_TEST(nodes_are_made_read_and_deleted) {
    const char *hosts = ts_ensemble_hosts(server);
    g_autofree char *name = NULL;
    g_autofree char *data = NULL;
    g_auto(GStrv) names = NULL;
    ts_stat stat;
    int length, rc;

    ck_assert_int_eq(ts_create(hosts, "/a/b/c", "one", TS_PERSISTENT, &name), 0);
    ck_assert_str_eq(name, "/a/b/c");
    ck_assert_int_eq(ts_create(hosts, "/a/b/c", "two", TS_PERSISTENT, NULL), TS_NODE_EXISTS);
    ck_assert_int_eq(ts_set(hosts, "/a/b/c", "three"), 0);
    ck_assert_int_eq(ts_get(hosts, "/a/b/c", &data, &length, &stat), 0);
    ck_assert_str_eq(data, "three");
    ck_assert_int_eq(length, 5);
    ck_assert_int_eq(stat.version, 1);
    ck_assert_int_gt(stat.mzxid, stat.czxid);
    ck_assert_int_eq(ts_create(hosts, "/a/b/README", "", TS_PERSISTENT, NULL), 0);
    names = ts_children(hosts, "/a/b", &rc);
    ck_assert_int_eq(rc, 0);
    ck_assert_uint_eq(g_strv_length(names), 2);
    ck_assert_str_eq(names[0], "README");
    ck_assert_str_eq(names[1], "c");
    ck_assert_int_eq(ts_delete(hosts, "/a/b/README"), 0);
    ck_assert_int_eq(ts_delete(hosts, "/a/b/README"), TS_NO_NODE);
    ck_assert_int_eq(ts_child_count(hosts, "/a/b"), 1);
    ck_assert_int_eq(ts_delete_tree(hosts, "/a"), 0);
    ck_assert_ptr_null(ts_children(hosts, "/a", &rc));
    ck_assert_int_eq(rc, TS_NO_NODE);
    ck_assert(ts_wait_children(hosts, "/a", 0, 0));
    ck_assert(!ts_wait_children(hosts, "/a", 1, 20));
}
END_TEST

START_TEST(ephemeral_nodes_live_with_their_session) {
    const char *hosts = ts_ensemble_hosts(server);
    ts_observer *o = ts_observer_open(hosts);
    g_autofree char *first = NULL;
    g_autofree char *second = NULL;
    ts_stat stat;

    ck_assert_ptr_nonnull(o);
    ck_assert_int_eq(ts_create(hosts, "/e", "", TS_PERSISTENT, NULL), 0);
    ck_assert_int_eq(ts_observer_create(o, "/e/n-", "", TS_EPHEMERAL | TS_SEQUENTIAL, &first), 0);
    ck_assert_int_eq(ts_observer_create(o, "/e/n-", "", TS_EPHEMERAL | TS_SEQUENTIAL, &second), 0);
    ck_assert_str_eq(first, "/e/n-0000000000");
    ck_assert_str_eq(second, "/e/n-0000000001");
    ck_assert_int_eq(ts_exists(hosts, first, &stat), 0);
    ck_assert_int_eq(stat.ephemeral_owner, ts_observer_session(o));
    ck_assert_int_eq(ts_ephemeral_count(ts_ensemble_host(server, 0)), 2);
    ck_assert_int_eq(ts_session_count(ts_ensemble_host(server, 0)), 1);
    ck_assert_int_eq(ts_watch_count(ts_ensemble_host(server, 0)), 0);
    ts_observer_close(o);
    ck_assert_int_eq(ts_child_count(hosts, "/e"), 0);
    ck_assert_int_eq(ts_session_count(ts_ensemble_host(server, 0)), 0);
}
END_TEST

START_TEST(an_acl_shuts_others_out) {
    const char *hosts = ts_ensemble_hosts(server);
    ts_observer *o = ts_observer_open(hosts);

    ck_assert_int_eq(ts_observer_auth(o, "digest", "user:secret"), 0);
    ck_assert_int_eq(ts_observer_create(o, "/mine", "", TS_PERSISTENT, NULL), 0);
    ck_assert_int_eq(ts_observer_set_acl(o, "/mine", TS_PERM_ALL, "auth", ""), 0);
    ck_assert_int_eq(ts_set(hosts, "/mine", "x"), -102);
    ck_assert_int_eq(ts_observer_set(o, "/mine", "x"), 0);
    ck_assert_int_eq(ts_observer_set_acl(o, "/mine", TS_PERM_ALL, "world", "anyone"), 0);
    ck_assert_int_eq(ts_delete(hosts, "/mine"), 0);
    ts_observer_close(o);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("test support");
    TCase *processes = tcase_create("processes");
    TCase *folders = tcase_create("folders");
    TCase *alone = tcase_create("server");
    TCase *served = tcase_create("observer");

    tcase_add_test(processes, a_child_is_spawned_and_waited_for);
    tcase_add_test(processes, a_missing_program_exits_with_127);
    tcase_add_test(processes, a_paused_child_does_nothing);
    tcase_add_test(processes, nobody_else_gets_a_signal);
    tcase_add_test(processes, a_child_inherits_no_descriptors);
    tcase_add_test(processes, waiting_ends_in_time);
    suite_add_tcase(suite, processes);
    tcase_add_checked_fixture(folders, make_base, remove_base);
    tcase_add_test(folders, a_folder_of_the_users_own_stays);
    tcase_add_test(folders, what_a_killed_program_has_left_is_removed);
    tcase_add_test(folders, a_folder_in_use_stays);
    tcase_add_test(folders, no_link_is_followed);
    suite_add_tcase(suite, folders);
    tcase_add_test(alone, a_server_leaves_nothing);
    tcase_add_test(alone, a_server_that_cannot_start_is_reported);
    suite_add_tcase(suite, alone);
    tcase_add_unchecked_fixture(served, start_server, stop_server);
    tcase_add_test(served, nodes_are_made_read_and_deleted);
    tcase_add_test(served, ephemeral_nodes_live_with_their_session);
    tcase_add_test(served, an_acl_shuts_others_out);
    tcase_add_test(served, a_killed_server_comes_back_with_its_data);
    suite_add_tcase(suite, served);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
