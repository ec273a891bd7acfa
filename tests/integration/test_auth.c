/* Credentials and access control: which ACL our nodes have, which clients they keep out, which nodes of others keep us
 * out, and a node whose deletion is refused for good. */
#include <check.h>
#include <glib.h>
#include <paddock/paddock.h>
#include <string.h>

#include "event_log.h"
#include "refused.h"
#include "ts_check.h"
#include "ts_support.h"

#define OURS "app:canary-3f9c"
#define THEIRS "other:sparrow"
#define SECRET "canary-3f9c"
#define NO_AUTH (-102)

static ts_ensemble *server;
static struct event_log event_log;

static void begin(void) {
    server = ts_ensemble_start(NULL);
    ck_assert_ptr_nonnull(server);
}

static void end(void) { ts_ensemble_stop(server); }

static void set_up(void) { event_log_init(&event_log); }

/* No session logs the password, at the most talkative level. */
static void tear_down(void) {
    ck_assert_int_eq(event_log_lines_with(&event_log, SECRET), 0);
    ck_assert_ptr_null(strstr(pdk_last_error(), SECRET));
    event_log_clear(&event_log);
}

static pdk_session *open_with(const char *digest, pdk_access access, const pdk_access_entry *list, int32_t count) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *s = NULL;
    event_log_attach(&event_log, &options);
    options.digest = digest;
    options.access = access;
    options.access_list = list;
    options.access_count = count;
    options.session_timeout_ms = 4000;
    ck_assert_int_eq(pdk_session_open(ts_ensemble_proxied_hosts(server), &options, &s), PDK_OK);
    event_log_keep(&event_log, s);
    return s;
}

static pdk_session *open_as(const char *digest) { return open_with(digest, PDK_ACCESS_DEFAULT, NULL, 0); }

static void close_session(pdk_session *s) {
    ck_assert_int_eq(pdk_session_close(s, 5000), PDK_OK);
    pdk_session_unref(s);
}

static pdk_status try_lock(pdk_session *s, const char *path, pdk_hold **hold) {
    pdk_lock *lock = NULL;
    ck_assert_int_eq(pdk_lock_new(s, path, NULL, &lock), PDK_OK);
    pdk_status status = pdk_lock_acquire(lock, 10000, hold);
    pdk_lock_unref(lock);
    return status;
}

static ts_observer *observer_as(const char *digest) {
    ts_observer *o = ts_observer_open(ts_ensemble_hosts(server));
    ck_assert_ptr_nonnull(o);
    if (digest)
        ck_assert_int_eq(ts_observer_auth(o, "digest", digest), 0);
    return o;
}

/* ---- our nodes keep others out */

/* Only its creator may change the node. `read` is the code that somebody who reads it gets. */
static void check_kept_out(const char *digest, const char *node, int read) {
    ts_observer *o = observer_as(digest);
    g_autofree char *dir = g_path_get_dirname(node), *sibling = g_strconcat(dir, "/x-lock-", NULL), *data = NULL;
    ck_assert_int_eq(ts_observer_get(o, node, &data, NULL, NULL), read);
    ck_assert(read != 0 || strchr(data, ':'));
    ck_assert_int_eq(ts_observer_set(o, node, "x"), NO_AUTH);
    ck_assert_int_eq(ts_observer_delete(o, node), NO_AUTH);
    ck_assert_int_eq(ts_observer_set_acl(o, node, TS_PERM_ALL, "world", "anyone"), NO_AUTH);
    ck_assert_int_eq(ts_observer_create(o, sibling, "x", TS_EPHEMERAL | TS_SEQUENTIAL, NULL), NO_AUTH);
    ts_observer_close(o);
}

/* What a session with these credentials learns of the holder: whether its sequencer stands. */
static void check_learns(const char *digest, const pdk_hold *hold, int read) {
    pdk_session *s = open_as(digest);
    ck_assert_int_eq(pdk_session_check_sequencer(s, pdk_hold_sequencer(hold), 5000),
                     read == 0 ? PDK_OK : PDK_NO_PERMISSION);
    close_session(s);
}

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
    return id;
}

static const struct {
    pdk_access access;
    int nobody, theirs;                     /* the codes of reading */
} accesses[] = {{PDK_ACCESS_DEFAULT, 0, 0}, /* contenders watch each other's nodes */
                {PDK_ACCESS_CREATOR_READERS, 0, 0},
                {PDK_ACCESS_CREATOR, NO_AUTH, NO_AUTH},
                {PDK_ACCESS_LIST, NO_AUTH, 0}};

START_TEST(who_may_read_and_who_is_kept_out) {
    g_autofree char *theirs = digest_id(THEIRS), *path = g_strdup_printf("/access/%d", _i);
    pdk_access_entry list[] = {{PDK_PERMISSION_ALL, "auth", ""}, {PDK_PERMISSION_READ, "digest", theirs}};
    const bool listed = accesses[_i].access == PDK_ACCESS_LIST;
    pdk_session *s = open_with(OURS, accesses[_i].access, listed ? list : NULL, listed ? 2 : 0);
    pdk_hold *hold = NULL;
    memset(list, 0, sizeof list); /* it was copied */
    ck_assert_int_eq(try_lock(s, path, &hold), PDK_OK);
    check_kept_out(NULL, pdk_hold_node(hold), accesses[_i].nobody);
    check_kept_out(THEIRS, pdk_hold_node(hold), accesses[_i].theirs);
    check_learns(NULL, hold, accesses[_i].nobody);
    check_learns(THEIRS, hold, accesses[_i].theirs);
    ck_assert(pdk_hold_is_valid(hold));
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    close_session(s);
}
END_TEST

/* The same principal may do all of it. */
START_TEST(the_creator_may_change_its_nodes) {
    pdk_session *s = open_as(OURS), *same = open_as(OURS);
    pdk_hold *hold = NULL, *next = NULL;
    ck_assert_int_eq(try_lock(s, "/ours/lock", &hold), PDK_OK);
    ts_observer *admin = observer_as(OURS);
    ck_assert_int_eq(ts_observer_set(admin, pdk_hold_node(hold), "x"), 0);
    ck_assert_int_eq(ts_observer_delete(admin, pdk_hold_node(hold)), 0);
    ts_observer_close(admin);
    ck_assert(ts_fd_readable(pdk_hold_fd(hold), 10000));
    ck_assert_int_eq(pdk_hold_release(hold), PDK_LOST);

    ck_assert_int_eq(try_lock(same, "/ours/lock", &next), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(next), PDK_OK);
    ck_assert_int_eq(event_log_lines_with(&event_log, "no authentication"), 0);
    close_session(s);
    close_session(same);
}
END_TEST

START_TEST(without_credentials_nodes_are_open_and_a_warning_says_so_once) {
    pdk_session *s = open_as(NULL);
    pdk_hold *hold = NULL;
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(try_lock(s, "/open/lock", &hold), PDK_OK);
        ck_assert_int_eq(ts_delete(ts_ensemble_hosts(server), pdk_hold_node(hold)), 0);
        ck_assert(ts_fd_readable(pdk_hold_fd(hold), 10000));
        ck_assert_int_eq(pdk_hold_release(hold), PDK_LOST);
    }
    ck_assert_int_eq(event_log_lines_with(&event_log, "W no authentication"), 1);
    close_session(s);
}
END_TEST

/* ---- nodes of others keep us out */

static void check_no_permission(pdk_session *s, const char *path) {
    pdk_hold *hold = (pdk_hold *)&server;
    refused(try_lock(s, path, &hold), PDK_NO_PERMISSION, path);
    ck_assert_ptr_eq(hold, (pdk_hold *)&server);
}

START_TEST(we_cannot_use_a_directory_of_others) {
    pdk_session *owner = open_as(OURS), *other = open_as(THEIRS), *nobody = open_as(NULL);
    pdk_hold *hold = NULL;
    pdk_lock *lock = NULL;
    pdk_contenders *list = NULL;
    ck_assert_int_eq(try_lock(owner, "/closed/lock", &hold), PDK_OK);
    check_no_permission(other, "/closed/lock");
    check_no_permission(nobody, "/closed/lock");
    check_no_permission(nobody, "/closed/missing"); /* we cannot create it */
    ck_assert_int_eq(ts_child_count(ts_ensemble_hosts(server), "/closed/lock"), 1);
    ck_assert_int_eq(pdk_lock_new(nobody, "/closed/lock", NULL, &lock), PDK_OK);
    ck_assert_int_eq(pdk_lock_holder(lock, 5000, &list), PDK_OK); /* everybody may read */
    ck_assert_uint_eq(pdk_contenders_count(list), 1);
    ck_assert_int_eq(pdk_contenders_token(list, 0), pdk_hold_token(hold));
    pdk_contenders_free(list);
    ck_assert_int_eq(pdk_session_check_sequencer(nobody, pdk_hold_sequencer(hold), 5000), PDK_OK);
    pdk_lock_unref(lock);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    close_session(owner);
    close_session(other);
    close_session(nobody);
}
END_TEST

static void refused_with(const char *digest, int32_t access, const pdk_access_entry *list, int32_t count,
                         const char *word) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *s = NULL;
    options.digest = digest;
    options.access = access;
    options.access_list = list;
    options.access_count = count;
    refused(pdk_session_open(ts_ensemble_hosts(server), &options, &s), PDK_INVALID, word);
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

/* ---- across reconnects and new sessions */

START_TEST(credentials_are_there_after_a_reconnect_and_a_reopen) {
    ts_proxy *proxy = ts_ensemble_proxy(server, 0);
    pdk_session *s = open_as(OURS);
    pdk_hold *hold = NULL;
    ck_assert_int_eq(try_lock(s, "/again/lock", &hold), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ts_proxy_reset(proxy);
    ck_assert(event_log_wait(&event_log, PDK_SESSION_SUSPENDED, 1, 10000));
    ck_assert_int_eq(try_lock(s, "/again/lock", &hold), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ck_assert_int_eq(ts_expire(proxy, ts_ensemble_host(server, 0)), 0);
    ck_assert(event_log_wait(&event_log, PDK_SESSION_REOPENED, 1, 20000));
    ck_assert_int_eq(try_lock(s, "/again/lock", &hold), PDK_OK);
    check_kept_out(THEIRS, pdk_hold_node(hold), 0);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    close_session(s);
}
END_TEST

/* ---- a deletion that is refused for good */

START_TEST(a_node_that_cannot_be_deleted_does_not_block_the_path) {
    const int all_but_delete = TS_PERM_ALL & ~TS_PERM_DELETE;
    pdk_session *s = open_as(OURS), *next = open_as(OURS);
    ts_observer *admin = observer_as(OURS);
    pdk_hold *hold = NULL, *theirs = NULL, *bystander = NULL;
    ck_assert_int_eq(try_lock(s, "/stuck/lock", &hold), PDK_OK);
    ck_assert_int_eq(try_lock(s, "/stuck/bystander", &bystander), PDK_OK);
    int64_t id = pdk_session_id(s);
    ck_assert_int_eq(ts_observer_set_acl(admin, "/stuck/lock", all_but_delete, "world", "anyone"), 0);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK); /* a release never waits for the network */
    ck_assert(event_log_wait(&event_log, PDK_SESSION_REOPENED, 1, 20000));
    ck_assert_int_ne(pdk_session_id(s), id);
    ck_assert(event_log_wait_line(&event_log, "E giving up the ZooKeeper session: /stuck/lock/", 5000));
    ck_assert_int_eq(event_log_lines_with(&event_log, "ZNOAUTH(-102)"), 1);
    ck_assert(!pdk_hold_is_valid(bystander)); /* this is the price */
    ck_assert_int_eq(pdk_hold_reason(bystander), PDK_REASON_EXPIRED);
    ck_assert_int_eq(pdk_hold_release(bystander), PDK_LOST);
    ck_assert(ts_wait_children(ts_ensemble_hosts(server), "/stuck/lock", 0, 5000));

    ck_assert_int_eq(ts_observer_set_acl(admin, "/stuck/lock", TS_PERM_ALL, "auth", ""), 0);
    ck_assert_int_eq(try_lock(next, "/stuck/lock", &theirs), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(theirs), PDK_OK);
    ck_assert_int_eq(try_lock(s, "/stuck/lock", &hold), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    ts_observer_close(admin);
    close_session(s);
    close_session(next);
}
END_TEST

/* ---- credentials that are refused */

/* A server that knows no digests refuses every one. */
START_TEST(refused_credentials_end_the_session) {
    static const char *const properties[] = {"zookeeper.DigestAuthenticationProvider.enabled=false", NULL};
    static const ts_ensemble_options options = {.java_properties = properties};
    ts_ensemble *strict = ts_ensemble_start(&options);
    ck_assert_ptr_nonnull(strict);
    for (int i = 0; i < 5; i++) {
        pdk_session_options o = PDK_SESSION_OPTIONS_INIT;
        pdk_session *s = (pdk_session *)&server;
        event_log_attach(&event_log, &o);
        o.digest = OURS;
        pdk_status status = pdk_session_open(ts_ensemble_hosts(strict), &o, &s);
        if (status == PDK_OK)
            event_log_keep(&event_log, s);
        refused(status, PDK_AUTH, "credentials");
        ck_assert_ptr_eq(s, (pdk_session *)&server);
    }
    ts_ensemble_stop(strict);
}
END_TEST

/* A server that demands SASL closes each session. It is told at once, in words, whatever credentials there are; and a session that
 * was opened in the background ends. */
START_TEST(demanded_authentication_ends_the_session) {
    static const char *const properties[] = {
        "zookeeper.enforce.auth.enabled=true", "zookeeper.enforce.auth.schemes=sasl",
        "zookeeper.authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider", NULL};
    static const ts_ensemble_options options = {.java_properties = properties};
    ts_ensemble *strict = ts_ensemble_start(&options);
    ck_assert_ptr_nonnull(strict);
    for (int i = 0; i < 4; i++) {
        pdk_session_options o = PDK_SESSION_OPTIONS_INIT;
        pdk_session *s = NULL;
        event_log_attach(&event_log, &o);
        o.digest = i % 2 ? OURS : NULL;
        o.open_in_background = i >= 2;
        o.connect_timeout_ms = 60000;
        pdk_status status = pdk_session_open(ts_ensemble_hosts(strict), &o, &s);
        if (i < 2) {
            refused(status, PDK_AUTH, "enforce.auth.schemes");
            continue;
        }
        pdk_hold *hold = NULL;
        ck_assert_int_eq(status, PDK_OK);
        event_log_keep(&event_log, s);
        refused(try_lock(s, "/demanded/lock", &hold), PDK_AUTH, "enforce.auth.schemes");
        close_session(s);
    }
    ck_assert_int_ge(event_log_lines_with(&event_log, "SESSIONCLOSEDREQUIRESASLAUTH(-124)"), 1);
    ts_ensemble_stop(strict);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("auth");
    TCase *cases = tcase_create("auth");
    tcase_add_unchecked_fixture(cases, begin, end);
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_loop_test(cases, who_may_read_and_who_is_kept_out, 0, G_N_ELEMENTS(accesses));
    tcase_add_test(cases, the_creator_may_change_its_nodes);
    tcase_add_test(cases, what_is_no_choice);
    tcase_add_test(cases, without_credentials_nodes_are_open_and_a_warning_says_so_once);
    tcase_add_test(cases, we_cannot_use_a_directory_of_others);
    tcase_add_test(cases, credentials_are_there_after_a_reconnect_and_a_reopen);
    tcase_add_test(cases, a_node_that_cannot_be_deleted_does_not_block_the_path);
    tcase_add_test(cases, refused_credentials_end_the_session);
    tcase_add_test(cases, demanded_authentication_ends_the_session);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
