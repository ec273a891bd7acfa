/* The arguments of pdk_session_open: host lists, options out of range, options that this build cannot serve, and the effect of
 * good ones. Sizes of structs, and members that several have, tests/input plays. */
#include <check.h>
#include <glib.h>
#include <paddock/paddock.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "refused.h"
#include "ts_check.h"
#include "ts_support.h"
#include "zk/calls.h"

static ts_ensemble *server;

#define UNTOUCHED ((void *)&server)

static void begin(void) {
    static const ts_ensemble_options options = {.max_session_ms = 6000};
    server = ts_ensemble_start(&options);
    ck_assert_ptr_nonnull(server);
}

static void end(void) { ts_ensemble_stop(server); }

static pdk_session *open_with(const pdk_session_options *options) {
    pdk_session *s = NULL;
    pdk_status status = pdk_session_open(ts_ensemble_hosts(server), options, &s);
    ck_assert_msg(status == PDK_OK, "%s", pdk_last_error());
    return s;
}

static void close_session(pdk_session *s) {
    ck_assert_int_eq(pdk_session_close(s, 5000), PDK_OK);
    pdk_session_unref(s);
}

static void refused_open(const pdk_session_options *options, pdk_status status, const char *word) {
    pdk_session *out = UNTOUCHED;
    refused(pdk_session_open(ts_ensemble_hosts(server), options, &out), status, word);
    ck_assert_ptr_eq(out, UNTOUCHED);
}

START_TEST(the_macro_holds_the_documented_defaults) {
    const pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    const pdk_lock_options lock = PDK_LOCK_OPTIONS_INIT;
    ck_assert_uint_eq(options.size, sizeof options);
    ck_assert_int_eq(options.session_timeout_ms, 15000);
    ck_assert_int_eq(options.connect_timeout_ms, 10000);
    ck_assert_int_eq(options.request_timeout_ms, 5000);
    ck_assert_int_eq(options.server_tick_ms, 0);
    ck_assert_int_eq(options.touch_hops, 1);
    ck_assert_int_eq(options.dispatch, PDK_DISPATCH_THREAD);
    ck_assert_int_eq(options.log_level, PDK_LOG_INFO);
    ck_assert_ptr_null(options.digest);
    ck_assert_ptr_null(options.digest_file);
    ck_assert_ptr_null(options.tls_file);
    ck_assert_ptr_null(options.on_event);
    ck_assert_ptr_null(options.on_log);
    ck_assert_int_eq(options.token_base, 0);
    ck_assert_uint_eq(lock.size, sizeof lock);
    ck_assert_int_eq(lock.naming, PDK_NAMING_CURATOR);
    ck_assert_int_eq(lock.max_handovers, 256);
    ck_assert_int_eq(lock.max_handover_ms, 100);
    ck_assert_int_eq(lock.reentrant, 0);
    const pdk_rwlock_options rwlock = PDK_RWLOCK_OPTIONS_INIT;
    const pdk_semaphore_options semaphore = PDK_SEMAPHORE_OPTIONS_INIT;
    ck_assert_int_eq(rwlock.naming, PDK_NAMING_CURATOR);
    ck_assert(rwlock.size == sizeof rwlock && semaphore.size == sizeof semaphore);
    ck_assert(rwlock.max_handovers == 256 && semaphore.max_handovers == 256);
    ck_assert(rwlock.max_handover_ms == 100 && semaphore.max_handover_ms == 100);
}
END_TEST

START_TEST(session_numbers_out_of_range_are_refused_by_name) {
    static const struct {
        size_t at;
        const char *name;
        int32_t wrong[4];
    } fields[] = {
        {offsetof(pdk_session_options, session_timeout_ms), "session_timeout_ms", {399, 600001, 0, -1}},
        {offsetof(pdk_session_options, connect_timeout_ms), "connect_timeout_ms", {0, -1, -2, INT32_MIN}},
        {offsetof(pdk_session_options, request_timeout_ms), "request_timeout_ms", {0, -1, -2, INT32_MIN}},
        {offsetof(pdk_session_options, server_tick_ms), "server_tick_ms", {-1, -2, -1000, INT32_MIN}},
        {offsetof(pdk_session_options, touch_hops), "touch_hops", {0, 3, -1, INT32_MAX}},
        {offsetof(pdk_session_options, dispatch), "dispatch", {-1, 2, 3, INT32_MAX}},
        {offsetof(pdk_session_options, log_level), "log_level", {0, 5, -1, INT32_MAX}},
        {offsetof(pdk_session_options, open_in_background), "open_in_background", {-1, 2, 3, INT32_MAX}},
        {offsetof(pdk_session_options, stats_paths), "stats_paths", {-1, 1001, 1002, INT32_MAX}},
        {offsetof(pdk_session_options, access), "access", {-1, 5, 6, INT32_MAX}},
        {offsetof(pdk_session_options, accept_unprotected), "accept_unprotected", {-1, 2, 3, INT32_MAX}},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(fields); i++) {
        for (size_t j = 0; j < G_N_ELEMENTS(fields[i].wrong); j++) {
            pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
            memcpy((char *)&options + fields[i].at, &fields[i].wrong[j], sizeof(int32_t));
            refused_open(&options, PDK_INVALID, fields[i].name);
        }
    }
}
END_TEST

START_TEST(a_token_base_is_what_the_function_gives) {
    static const int64_t generation = (int64_t)1 << 48, most = (int64_t)1 << 62;
    static const int64_t wrong[] = {-1, 1, 1000, INT64_MAX, INT64_MIN, ((int64_t)1 << 62) + ((int64_t)1 << 48)};
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        options.token_base = wrong[i];
        refused_open(&options, PDK_INVALID, "token_base");
    }
    ck_assert_int_eq(pdk_token_base_above(0), generation);
    ck_assert_int_eq(pdk_token_base_above(generation - 1), generation);
    ck_assert_int_eq(pdk_token_base_above(generation), 2 * generation);
    ck_assert_int_eq(pdk_token_base_above(most - 1), most);
    ck_assert_int_eq(pdk_token_base_above(most), 0);
    ck_assert_ptr_nonnull(strstr(pdk_last_error(), "highest"));
    ck_assert_int_eq(pdk_token_base_above(-1), 0);
    options.token_base = most;
    pdk_session *s = open_with(&options);
    pdk_lock *lock = NULL;
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_lock_new(s, "/options/base", NULL, &lock), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(lock, 5000, &hold), PDK_OK);
    ck_assert_int_gt(pdk_hold_token(hold), most);
    ck_assert_int_ge(pdk_session_token_seen(s), pdk_hold_token(hold));
    ck_assert_int_eq(pdk_session_check_sequencer(s, pdk_hold_sequencer(hold), 5000), PDK_OK);
    ck_assert_int_eq(pdk_hold_release(hold), PDK_OK);
    pdk_lock_unref(lock);
    close_session(s);
}
END_TEST

START_TEST(session_texts_out_of_range_are_refused_by_name) {
    char *label = g_strnfill(65, 'l');
    char *secret = g_strnfill(1025, ':');
    const char *const digests[] = {"", "user", ":password", secret};
    memset(secret, 'u', 4);
    static const char *const labels[] = {"\xff", "caf\xe9"};
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.label = label;
    refused_open(&options, PDK_INVALID, "label");
    for (size_t i = 0; i < G_N_ELEMENTS(labels); i++) {
        options.label = labels[i];
        refused_open(&options, PDK_INVALID, "label");
    }
    options.label = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(digests); i++) {
        options.digest = digests[i];
        refused_open(&options, PDK_INVALID, "digest");
    }
    g_free(secret);
    g_free(label);
}
END_TEST

/* Debian's client library supports neither. The call below it is refused as well: no connection without TLS is made. */
START_TEST(options_this_build_cannot_serve_are_refused) {
    const struct pdk__zk_sink sink = {0};
    const struct pdk__zk_config config = {
        .servers = "127.0.0.1:1", .timeout_ms = 4000, .tls = "a,b,c,d", .access = PDK_ACCESS_OPEN, .sink = &sink};
    pdk__zk *zk = NULL;
    ck_assert_int_eq(pdk__zk_client.open(&config, &zk), PDK_UNSUPPORTED);
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.tls = "ca.pem,client.pem,client.key,secret";
    refused_open(&options, PDK_UNSUPPORTED, "tls");
    options.tls = NULL;
}
END_TEST

/* A later version, with one member more. */
struct newer_session_options {
    pdk_session_options known;
    int64_t more;
};

START_TEST(the_label_is_in_the_identity) {
    char *label = g_strnfill(64, 'l');
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    char *plain = g_strdup_printf("%s:%d", host, (int)getpid());
    char *labelled = g_strconcat(plain, ":", label, NULL);

    pdk_session *s = open_with(NULL);
    ck_assert_str_eq(pdk_session_identity(s), plain);
    close_session(s);

    options.label = "";
    s = open_with(&options);
    ck_assert_str_eq(pdk_session_identity(s), plain);
    close_session(s);

    options.label = label;
    s = open_with(&options);
    ck_assert_str_eq(pdk_session_identity(s), labelled);
    memset(label, 'x', 64); /* strings are copied */
    ck_assert_str_eq(pdk_session_identity(s), labelled);
    close_session(s);
    g_free(plain);
    g_free(labelled);
    g_free(label);
}
END_TEST

START_TEST(the_server_clamps_the_timeout) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    pdk_session *s = open_with(&options); /* asks for 15000 */
    ck_assert_int_eq(pdk_session_timeout_ms(s), 6000);

    /* a hold is valid for no longer than that */
    pdk_lock *lock = NULL;
    pdk_hold *hold = NULL;
    ck_assert_int_eq(pdk_lock_new(s, "/o/clamp", NULL, &lock), PDK_OK);
    ck_assert_int_eq(pdk_lock_acquire(lock, 5000, &hold), PDK_OK);
    int64_t remaining = pdk_hold_remaining_ms(hold);
    ck_assert_int_gt(remaining, 0);
    ck_assert_int_lt(remaining, 6000);
    pdk_hold_release(hold);
    pdk_lock_unref(lock);
    close_session(s);
}
END_TEST

/* The servers' least is 1000 ms. */
START_TEST(a_timeout_that_carries_no_lease_is_refused) {
    static const char *const words[] = {"session timeout of 1000 ms", "1994 ms", "session_timeout_ms (400)",
                                        "maxSessionTimeout", "server_tick_ms"};
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.session_timeout_ms = 400;
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        refused_open(&options, PDK_UNSUPPORTED, words[i]);
    options.server_tick_ms = 500;
    refused_open(&options, PDK_UNSUPPORTED, "lower their tickTime");
    options.session_timeout_ms = 1600; /* enough with that tick, and too short without it */
    close_session(open_with(&options));
    options.server_tick_ms = 0;
    refused_open(&options, PDK_UNSUPPORTED, "1600 ms");
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("options");
    TCase *cases = tcase_create("options");
    tcase_add_unchecked_fixture(cases, begin, end);
    tcase_add_test(cases, the_macro_holds_the_documented_defaults);
    tcase_add_test(cases, a_token_base_is_what_the_function_gives);
    tcase_add_test(cases, session_numbers_out_of_range_are_refused_by_name);
    tcase_add_test(cases, session_texts_out_of_range_are_refused_by_name);
    tcase_add_test(cases, options_this_build_cannot_serve_are_refused);
    tcase_add_test(cases, the_label_is_in_the_identity);
    tcase_add_test(cases, the_server_clamps_the_timeout);
    tcase_add_test(cases, a_timeout_that_carries_no_lease_is_refused);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
