/* What every call makes of bad input, as the comment of each function in the headers promises it: NULL for an argument, a negative
 * time, a closed session, the parent's handles in a forked child, a callback that must not block. Each row is played for each
 * function: the status, an error text that names the function and the argument, outputs that stay as they are, no callback, no
 * request to a server. A function whose arguments nobody has fails, and so does a status that no comment promises. */
#include <check.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "played.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_fork.h"
#include "ts_support.h"

/* ---- NULL, and times */

static void play_null(const struct row *row, size_t at) {
    const struct parameter *p = &row->parameters[at];
    const bool begun = g_str_has_suffix(row->name, "_init") || g_str_equal(p->type, "pdk_stats *");
    const char *name = begun ? "the struct" : p->name;
    union value values[MOST_PARAMETERS];
    if (!begin(row, values))
        return;
    if (p->kind == FUNCTION)
        values[at].function = NULL;
    else
        values[at].pointer = NULL;
    if (row->returns == ANSWERS)
        assert_refused(row, values, PDK_INVALID, p->name, name);
    else
        assert_nothing(row, row->call(values), p->name, "NULL");
}

START_TEST(null_is_refused) {
    world_make();
    for (const struct row *row = rows; row < rows + rows_count; row++)
        for (size_t at = 0; at < row->count; at++)
            if (!row->parameters[at].may_be_null)
                play_null(row, at);
    assert_none_wrong();
    ck_assert_int_eq(world_requests(), 0);
    world_assert_whole();
}
END_TEST

/* One more reference is the object, which outlives it. */
static void play_reference(const struct row *row) {
    g_autofree char *object = g_strndup(row->name, strlen(row->name) - strlen("_ref"));
    g_autofree char *unref = g_strconcat(object, "_unref", NULL);
    union value values[MOST_PARAMETERS];
    if (!begin(row, values))
        return;
    if (row->call(values) != (int64_t)(intptr_t)values[0].pointer)
        complain(row, "an object", "another value");
    row_of(unref)->call(values);
}

static void play_references(void) {
    for (const struct row *row = rows; row < rows + rows_count; row++)
        if (g_str_has_suffix(row->name, "_ref"))
            play_reference(row);
}

START_TEST(references) {
    world_make();
    play_references();
    assert_none_wrong();
    world_assert_whole();
}
END_TEST

START_TEST(negative_times) {
    static const int64_t times[] = {-2, -1000, INT64_MIN};
    union value values[MOST_PARAMETERS];
    world_make();
    for (const struct row *row = rows; row < rows + rows_count; row++)
        for (size_t at = 0; at < row->count; at++)
            for (size_t i = 0; row->parameters[at].is_time && i < G_N_ELEMENTS(times) && begin(row, values); i++) {
                values[at].number = times[i];
                assert_refused(row, values, PDK_INVALID, "a negative time", row->parameters[at].name);
            }
    assert_none_wrong();
    ck_assert_int_eq(world_requests(), 0);
    world_assert_whole();
}
END_TEST

/* ---- paths */

/* Of a znode: those of files end otherwise. */
static bool is_path(const struct row *row, const struct parameter *p) {
    return g_str_equal(p->type, "const char *") && g_str_equal(p->name, "path") &&
           !g_str_equal(row->name, "pdk_fence_open");
}

static void play_path(const struct row *row, size_t at, const char *path) {
    union value values[MOST_PARAMETERS];
    if (!begin(row, values))
        return;
    values[at].pointer = (void *)path;
    assert_refused(row, values, PDK_INVALID, path, "path");
}

START_TEST(malformed_paths) {
    static const char *const paths[] = {
        "",          "a",
        "a/b",       "./a",
        "/",         "//",
        "/a//b",     "/a/",
        "/.",        "/..",
        "/a/./b",    "/a/../b",
        "/a/..",     "/zookeeper",
        "/a\n",      "/a\x1b[2J",
        "/a\x1f",    "/a\x7f",
        "/\xff",     "/a\xc2\x85",
        "/caf\xe9",  "/zookeeper/quota",
        "/\xc0\xaf", "/\xed\xa0\x80",
    };
    world_make();
    for (const struct row *row = rows; row < rows + rows_count; row++)
        for (size_t at = 0; at < row->count; at++) {
            if (!is_path(row, &row->parameters[at]))
                continue;
            for (size_t i = 0; i < G_N_ELEMENTS(paths); i++)
                play_path(row, at, paths[i]);
            play_path(row, at, path_of((row->parameters[at].longest ? row->parameters[at].longest : 512) + 1));
        }
    assert_none_wrong();
    ck_assert_int_eq(world_requests(), 0);
    world_assert_whole();
}
END_TEST

/* ---- a closed session */

/* A call that promises neither is about no session. */
static bool is_of_a_session(const struct row *row) { return promises(row, PDK_CLOSED) || promises(row, PDK_FORKED); }

static bool takes_user_free(const struct row *row) {
    for (size_t at = 0; at < row->count; at++)
        if (g_str_equal(row->parameters[at].name, "user_free"))
            return true;
    return false;
}

static int accepted; /* the number of calls that took one: it runs once for each, and for no call that was refused */

static void play_closed(const struct row *row, const union value *values, bool in_callback) {
    const bool both = in_callback && promises(row, PDK_WRONG_THREAD); /* and either may be the answer */
    world_lend(row);
    if (promises(row, PDK_CLOSED) && !both && (in_callback || !g_str_equal(row->name, "pdk_session_close"))) {
        assert_refused(row, values, PDK_CLOSED, "closed", "closed");
        return;
    }
    const pdk_status got = (pdk_status)row->call(values);
    accepted += got == PDK_OK && takes_user_free(row);
    if (!promises(row, got) || got == PDK_FORKED ||
        (both ? got == PDK_OK : got == PDK_CLOSED || got == PDK_WRONG_THREAD))
        complain(row, "closed", pdk_status_name(got));
}

static void play_all_closed(bool in_callback) {
    union value values[MOST_PARAMETERS];
    for (const struct row *row = rows; row < rows + rows_count; row++)
        for (size_t way = 0; is_of_a_session(row) && vary(row, way, values); way++)
            play_closed(row, values, in_callback);
}

/* ---- in a callback */

/* What plays there. A callback is called once: `done` is set then. */
struct playing {
    void (*play)(void *user);
    void *user;
    int done;
};

static void on_acquired(pdk_status status, pdk_hold *hold, void *user) {
    struct playing *playing = user;
    if (status != PDK_OK)
        g_string_append(wrong, "no callback");
    else
        playing->play(playing->user);
    if (hold)
        pdk_hold_release(hold);
    g_atomic_int_set(&playing->done, 1);
}

static bool is_done(void *playing) { return g_atomic_int_get(&((struct playing *)playing)->done); }

static void play_in_callback(pdk_session *session, bool dispatches, void (*play)(void *user), void *user) {
    struct playing playing = {.play = play, .user = user};
    pdk_lock *lock = NULL;
    ck_assert_int_eq(pdk_lock_new(session, ts_fresh_path(), NULL, &lock), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire_async(lock, PDK_FOREVER, on_acquired, &playing, NULL), PDK_OK);
    while (dispatches && !is_done(&playing)) {
        ck_assert(ts_fd_readable(pdk_session_fd(session), ts_patience(10000)));
        ck_assert_int_eq(pdk_session_dispatch(session, NULL), PDK_OK);
    }
    ck_assert(ts_wait_until(is_done, &playing, ts_patience(10000)));
    pdk_lock_unref(lock);
}

/* Where the session of the callback is not the one that is dispatched, that call may be made. With no time a checker only looks. */
static void play_what_blocks(void *manual) {
    union value values[MOST_PARAMETERS];
    for (const struct row *row = rows; row < rows + rows_count; row++) {
        const bool may = !manual && g_str_equal(row->name, "pdk_session_dispatch");
        for (size_t way = 0; promises(row, PDK_WRONG_THREAD) && !may && vary(row, way, values); way++)
            if (!g_str_equal(row->name, "pdk_checker_check") || way == 0)
                assert_refused(row, values, PDK_WRONG_THREAD, "in a callback", "callback");
    }
}

START_TEST(in_a_callback) {
    world_make();
    pdk_session *session = _i ? world_manual() : world_session();
    play_in_callback(session, _i, play_what_blocks, _i ? session : NULL);
    assert_none_wrong();
    world_assert_whole();
}
END_TEST

static void play_closed_in_callback(void *unused) {
    (void)unused;
    play_all_closed(true);
}

START_TEST(closed) {
    accepted = 0;
    world_make();
    world_close();
    if (_i == 0)
        play_all_closed(false);
    else
        play_in_callback(ts_bench_client(20000)->session, false, play_closed_in_callback, NULL);
    ck_assert_int_le(world_freed(), accepted);
    assert_none_wrong();
}
END_TEST

/* ---- a forked child */

/* More often than there are references. */
static void play_void(const struct row *row, const union value *values) {
    for (int i = 0; i < 5; i++)
        row->call(values);
}

static void play_in_child(void) {
    play_references();
    for (const struct row *row = rows; row < rows + rows_count; row++) {
        union value values[MOST_PARAMETERS];
        for (size_t way = 0; promises(row, PDK_FORKED) && vary(row, way, values); way++)
            assert_refused(row, values, PDK_FORKED, "forked", "parent process");
        if (promises(row, PDK_FORKED) || !begin(row, values))
            continue;
        if (row->returns == ANSWERS) {
            const pdk_status got = (pdk_status)row->call(values);
            if (!promises(row, got))
                complain(row, "forked", pdk_status_name(got));
        } else if (row->in_child && row->returns == VOID) {
            play_void(row, values);
        } else if (row->in_child) {
            assert_nothing(row, row->call(values), "forked", "parent process");
        }
    }
}

START_TEST(forked) {
    int ends[2], status = -1;
    char text[16000] = "";
    size_t have = 0;
    world_make();
    ck_assert_int_eq(pipe(ends), 0);
    const pid_t pid = ts_fork();
    if (pid == 0) {
        alarm((unsigned)(ts_patience(20000) / 1000)); /* a call that hangs ends the child */
        play_in_child();
        ts_end_child(write(ends[1], wrong->str, wrong->len) == (ssize_t)wrong->len ? 0 : 2);
    }
    close(ends[1]);
    for (ssize_t n; have < sizeof text - 1 && (n = read(ends[0], text + have, sizeof text - 1 - have)) > 0;)
        have += (size_t)n;
    close(ends[0]);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(have == 0, "%.4000s", text);
    ck_assert_int_eq(status, 0);
    assert_none_wrong();
    world_assert_whole();
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("input");
    TCase *all = ts_bench_case(suite, "input");
    tcase_add_checked_fixture(all, played_begin, world_end);
    tcase_add_test(all, null_is_refused);
    tcase_add_test(all, references);
    tcase_add_test(all, negative_times);
    tcase_add_test(all, malformed_paths);
    tcase_add_loop_test(all, in_a_callback, 0, 2);
    tcase_add_loop_test(all, closed, 0, 2);
#ifndef __SANITIZE_THREAD__ /* which cannot follow threads that start after a fork */
    tcase_add_test(all, forked);
#else
    (void)forked;
#endif
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
