/* Who may do what with our nodes, by the options access and access_list: what others may read of a holder, and who is kept out. */
#include <check.h>
#include <glib.h>
#include <paddock/paddock.h>
#include <string.h>

#include "refused.h"
#include "ts_bench.h"
#include "ts_check.h"
#include "ts_support.h"

#define OURS "app:canary-3f9c"
#define THEIRS "other:sparrow"
#define NO_AUTH (-102)

enum { SESSION_MS = 3000 };

/* As ZooKeeper's scheme "digest" names a user. g_free. */
static char *digest_id(const char *credentials) {
    guint8 hash[20];
    gsize size = sizeof hash;
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA1);
    g_checksum_update(sum, (const guchar *)credentials, -1);
    g_checksum_get_digest(sum, hash, &size);
    g_checksum_free(sum);
    char *base64 = g_base64_encode(hash, size);
    char *id = g_strdup_printf("%.*s:%s", (int)strcspn(credentials, ":"), credentials, base64);
    g_free(base64);
    ts_paddock_keep(id, g_free);
    return id;
}

static pdk_session *open_in(bool accept, const char *digest, pdk_access access, const pdk_access_entry *list,
                            int32_t count) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.digest = digest;
    options.session_timeout_ms = SESSION_MS;
    options.access = access;
    options.access_list = list;
    options.access_count = count;
    options.accept_unprotected = accept;
    const ts_client *client = ts_client_open_with(ts_bench_server(), NULL, &options);
    ck_assert_ptr_nonnull(client);
    return client->session;
}

static pdk_session *open_as(const char *digest, pdk_access access, const pdk_access_entry *list, int32_t count) {
    return open_in(false, digest, access, list, count);
}

/* A directory that all may queue in, and who knows it. */
static const char *open_directory(void) {
    const char *path = ts_fresh_path();
    ts_observer *o = ts_observer_open(ts_bench_server());
    int code = ts_observer_create(o, "/t", "", TS_PERSISTENT, NULL);
    ck_assert(code == 0 || code == -110);
    ck_assert_int_eq(ts_observer_create(o, path, "", TS_PERSISTENT, NULL), 0);
    ts_observer_close(o);
    return path;
}

static pdk_lock *lock_at(pdk_session *s, const char *path) {
    pdk_lock *lock = NULL;
    ck_assert_int_eq(pdk_lock_new(s, path, NULL, &lock), PDK_OK);
    ts_paddock_keep(lock, (void (*)(void *))(void *)pdk_lock_unref);
    return lock;
}

static pdk_status holder(pdk_lock *lock) {
    pdk_contenders *list = NULL;
    pdk_status status = pdk_lock_holder(lock, 5000, &list);
    if (status == PDK_OK)
        ck_assert_uint_eq(pdk_contenders_count(list), 1);
    pdk_contenders_free(list);
    return status;
}

/* What a session with these credentials may learn of the holder: who it is, and whether its sequencer stands. */
static void others_may_read(const char *digest, const char *path, const pdk_hold *hold, pdk_status expected) {
    pdk_session *s = open_as(digest, PDK_ACCESS_OPEN, NULL, 0);
    ck_assert_int_eq(holder(lock_at(s, path)), expected);
    ck_assert_int_eq(pdk_session_check_sequencer(s, pdk_hold_sequencer(hold), 5000), expected);
}

/* The code that somebody who reads, or writes, the node of the hold gets. */
static void check_node(const char *digest, const pdk_hold *hold, int read, int write) {
    ts_observer *o = ts_observer_open(ts_bench_server());
    char *node = ts_hold_node(hold), *data = NULL;
    if (digest)
        ck_assert_int_eq(ts_observer_auth(o, "digest", digest), 0);
    ck_assert_int_eq(ts_observer_get(o, node, &data, NULL, NULL), read);
    ck_assert_int_eq(ts_observer_set(o, node, "x"), write);
    ts_observer_close(o);
    g_free(data);
    g_free(node);
}

START_TEST(the_creator_alone) {
    const char *path = open_directory();
    pdk_session *s = open_in(true, OURS, PDK_ACCESS_CREATOR, NULL, 0);
    pdk_session *same = open_in(true, OURS, PDK_ACCESS_CREATOR, NULL, 0);
    pdk_session *other = open_in(true, THEIRS, PDK_ACCESS_CREATOR, NULL, 0);
    pdk_hold *hold = ts_bench_acquire(lock_at(s, path), 5000);
    check_node(NULL, hold, NO_AUTH, NO_AUTH);
    check_node(THEIRS, hold, NO_AUTH, NO_AUTH);
    others_may_read(OURS, path, hold, PDK_OK);
    others_may_read(THEIRS, path, hold, PDK_NO_PERMISSION);
    others_may_read(NULL, path, hold, PDK_NO_PERMISSION);
    /* Who may not read the node ahead is granted all the same. */
    ts_answer *waiter = ts_acquire_async(lock_at(other, path), PDK_FOREVER);
    ck_assert(ts_wait_children(ts_bench_server(), path, 2, ts_patience(5000)));
    ts_answer *after = ts_acquire_async(lock_at(same, path), PDK_FOREVER);
    ck_assert(ts_wait_children(ts_bench_server(), path, 3, ts_patience(5000)));
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ck_assert(ts_answer_wait(waiter, ts_patience(3 * SESSION_MS)));
    ck_assert_int_eq(ts_answer_status(waiter), PDK_OK);
    ck_assert_int_eq(ts_answer_release(waiter), PDK_OK);
    ck_assert(ts_answer_wait(after, ts_patience(3 * SESSION_MS)));
    check_node(OURS, ts_answer_hold(after), 0, 0);
}
END_TEST

START_TEST(a_list) {
    const char *path = ts_fresh_path();
    char *theirs = digest_id(THEIRS);
    pdk_access_entry list[] = {{PDK_PERMISSION_ALL, "auth", ""}, {PDK_PERMISSION_READ, "digest", theirs}};
    pdk_session *s = open_as(OURS, PDK_ACCESS_LIST, list, 2);
    memset(list, 0, sizeof list); /* it was copied */
    pdk_hold *hold = ts_bench_acquire(lock_at(s, path), 5000);
    check_node(THEIRS, hold, 0, NO_AUTH);
    check_node(NULL, hold, NO_AUTH, NO_AUTH);
    others_may_read(THEIRS, path, hold, PDK_OK);
    others_may_read(NULL, path, hold, PDK_NO_PERMISSION);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
}
END_TEST

/* ---- refused */

static void refused_with(const char *digest, int32_t access, const pdk_access_entry *list, int32_t count,
                         const char *word) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *s = NULL;
    options.digest = digest;
    options.access = access;
    options.access_list = list;
    options.access_count = count;
    refused(pdk_session_open(ts_bench_server(), &options, &s), PDK_INVALID, word);
    ck_assert_ptr_null(s);
}

START_TEST(what_is_no_choice) {
    char *scheme = g_strnfill(65, 's'), *id = g_strnfill(1025, 'i');
    const pdk_access_entry good = {PDK_PERMISSION_READ, "world", "anyone"};
    const pdk_access_entry wrong[] = {{0, "world", "anyone"}, {32, "world", "anyone"}, {1, NULL, "anyone"},
                                      {1, "", "anyone"},      {1, scheme, "anyone"},   {1, "caf\xe9", "anyone"},
                                      {1, "world", NULL},     {1, "world", id}};
    refused_with(NULL, -1, NULL, 0, "access");
    refused_with(NULL, 5, NULL, 0, "access");
    refused_with(NULL, PDK_ACCESS_CREATOR, NULL, 0, "digest");
    refused_with(NULL, PDK_ACCESS_CREATOR_READERS, NULL, 0, "digest");
    refused_with(OURS, PDK_ACCESS_CREATOR, &good, 0, "access_list");
    refused_with(OURS, PDK_ACCESS_OPEN, NULL, 1, "access_list");
    refused_with(OURS, PDK_ACCESS_LIST, NULL, 1, "access_list");
    refused_with(OURS, PDK_ACCESS_LIST, &good, 0, "access_list");
    refused_with(OURS, PDK_ACCESS_LIST, &good, 101, "access_list");
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++)
        refused_with(OURS, PDK_ACCESS_LIST, &wrong[i], 1, "access_list[0]");
    g_free(scheme);
    g_free(id);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("access");
    TCase *cases = ts_bench_case(suite, "access");
    tcase_add_test(cases, the_creator_alone);
    tcase_add_test(cases, a_list);
    tcase_add_test(cases, what_is_no_choice);
    return ts_run_suite(suite);
}
