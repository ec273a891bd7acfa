/* The words that an operator reads: the library's words without its names (command/words.c), and the line of a wait
 * (command/waiting_words.c). */
#include "../../command/say.h"
#include "../../command/status.h"
#include "../../command/waiting.h"
#include "../../command/words.h"
#include "base/text.h"
#include "ts_check.h"
#include <string.h>

static char *said;

void cmd_error(const char *format, ...) {
    va_list arguments;
    g_free(said);
    va_start(arguments, format);
    said = g_strdup_vprintf(format, arguments);
    va_end(arguments);
}

static const struct {
    const char *text, *words;
} texts[] = {
    {"pdk_lock_new: path: is relative: begin with a slash: \"a\"", "path: is relative: begin with a slash: \"a\""},
    {"/a: no server has confirmed it", "/a: no server has confirmed it"},
    {"pdk_session_break: /a/x: no server answered within timeout_ms (10000)",
     "/a/x: no server answered within 10000 ms"},
    {"pdk_job_finish: /a: no server answered within timeout_ms", "/a: no server answered in time"},
    {"pdk_hold_ensure: /a/x: no renewal within request_timeout_ms", "/a/x: no renewal in time"},
    {"hosts: no server answered within connect_timeout_ms (300 ms); 127.0.0.1:1: refused",
     "no server answered within 300 ms; 127.0.0.1:1: refused"},
    {"hosts: empty; write more", "servers: empty; write more"},
    {"hosts: the server is no ZooKeeper, and more", "the server is no ZooKeeper, and more"},
    {"pdk_session_break: node: x is no contender's name", "x is no contender's name"},
    {"pdk_session_check_sequencer: text: not a sequencer; pass what pdk_hold_sequencer returned",
     "not a sequencer; it is PADDOCK_SEQUENCER, as one word, in quotes"},
    {"the negotiated session timeout of 400 ms is too short to keep a lease, which takes 950 ms; raise "
     "session_timeout_ms "
     "(400), the servers' maxSessionTimeout, which is 20 tickTime by default, or set server_tick_ms to their tickTime, "
     "where that is small",
     "the session timeout of 400 ms, as the servers give it, is too short for a lease, which takes 950 ms: ask for "
     "more "
     "(--session-timeout, 400 ms now), or raise the servers' maxSessionTimeout"},
    {"options: label is longer than 64 bytes or not UTF-8", "--label is longer than 64 bytes or not UTF-8"},
    {"options: identity is empty, longer than 1024 bytes, or not UTF-8",
     "--id is empty, longer than 1024 bytes, or not UTF-8"},
    {"options: token_base is 5, and no multiple of 2^48; pass what pdk_token_base_above returned",
     "--token-base is 5, and no multiple of 2^48 (docs/fencing.md says which number)"},
    {"options: at_ms is 7; from 0, and less than every_ms", "--at is 7 ms; from 0, and less than --every"},
    {"options: at_least_ms is -1; from 0 to 9", "--at-least is -1 ms; from 0 to 9"},
    {"if it is meant, set accept_unprotected (docs/secure-configuration.md)",
     "if it is meant, give --accept-unprotected (docs/secure-configuration.md)"},
    {"pdk_job_acquire: /x/a/lock: the access control list of /x/a/lock lets b in",
     "the access control list of /x/a/lock lets b in"},
    {"pdk_lock_list: /a: a limit would be crossed", "/a: more contenders stand there than can be shown (5000)"},
    {"give all the same every_ms, at_ms, zone and schedule", "give all the same --every, --at and --tz"},
    {"pdk_set_acquire_async: rights[0] and rights[1] are both on /a: name each path once", "/a: name each path once"},
    {"pdk_job_acquire: there is no ZooKeeper session now; PDK_SESSION_REOPENED tells when there is one",
     "there is no ZooKeeper session now"},
    {"/s/locks: /s/leases says that there are \"2\" permits", "/s/leases says that there are \"2\" permits"},
    {"hidden from sessions without PDK_PERMISSION_ADMIN", "hidden from sessions without the permission ADMIN"},
    {"zookeeper_init: no thread or descriptor was to be had", "no thread or descriptor was to be had"},
    {"the server refused the credentials; check the digest option, and more",
     "the server refused the credentials; check --digest-file, and more"},
    {"\xff pdk_lock_new: \xfe", "\xff \xfe"},
};

START_TEST(the_librarys_names_are_left_out) {
    g_autofree char *words = cmd_words(texts[_i].text);
    ck_assert_str_eq(words, texts[_i].words);
}
END_TEST

static const char *explain(const char *subject, pdk_status status, const char *text, int result) {
    (void)pdk__fail(status, "%s", text);
    ck_assert_int_eq(cmd_explain(subject, status), result);
    return said;
}

/* The path is there once, and a refusal of permission is called so. */
START_TEST(the_subject_is_named_once) {
    ck_assert_str_eq(explain("/a", PDK_UNAVAILABLE, "pdk_lock_acquire: /a: late", CMD_UNAVAILABLE), "/a: late");
    ck_assert_str_eq(explain("/a", PDK_UNAVAILABLE, "late", CMD_UNAVAILABLE), "/a: late");
    ck_assert_str_eq(explain(NULL, PDK_INVALID, "late", CMD_USAGE), "late");
    ck_assert_str_eq(explain(NULL, PDK_NO_PERMISSION, "/b: refused", CMD_DENIED), "/b: permission denied: refused");
    ck_assert_str_eq(explain("/a", PDK_NO_PERMISSION, "/a: ZNOAUTH(-102)", CMD_DENIED),
                     "/a: permission denied: ZNOAUTH(-102)");
    ck_assert_str_eq(explain("/a", PDK_NO_PERMISSION, "it is refused", CMD_DENIED),
                     "/a: permission denied: it is refused");
    ck_assert_str_eq(explain("/a", PDK_NO_PERMISSION, "pdk_lock_new: /chroot/a/locks: refused", CMD_DENIED),
                     "/chroot/a/locks: permission denied: refused");
    ck_assert_str_eq(explain("/a", PDK_NO_PERMISSION, "/b: refused", CMD_DENIED), "/a: permission denied: /b: refused");
    ck_assert_str_eq(explain("/a", PDK_NO_PERMISSION, "/b: /a is refused", CMD_DENIED),
                     "permission denied: /b: /a is refused");
    ck_assert_str_eq(explain("/a", PDK_NO_PERMISSION, "in /chroot/a: refused", CMD_DENIED),
                     "permission denied: in /chroot/a: refused");
    ck_assert_str_eq(explain("/a", PDK_CLOSED, "", CMD_UNAVAILABLE), "/a: the session is closed");
    g_clear_pointer(&said, g_free);
    ck_assert_int_eq(cmd_explain("/a", PDK_OK), CMD_OK);
    ck_assert_ptr_null(said);
}
END_TEST

static const struct {
    const char *words;
    cmd_waiting_state state;
} lines[] = {
    {"waiting for /a", {.path = "/a", .ahead = -1}},
    {"waiting for /a, 3 ahead", {.path = "/a", .ahead = 3}},
    {"waiting for /a: held by web3:1500 for 12 s, 2 ahead",
     {.path = "/a", .who = "web3:1500", .held_ms = 12999, .ahead = 2, .looked = true}},
    {"waiting for /a: held by web3:1500 and 2 more for 2 min, 1 ahead",
     {.path = "/a", .who = "web3:1500", .more = 2, .held_ms = 179999, .ahead = 1, .looked = true}},
    {"waiting for /a: held by one that gives no name for 119 s",
     {.path = "/a", .who = "", .held_ms = 119999, .ahead = 0, .looked = true}},
    {"waiting for /a, /b: /b is held by x for 0 s, 1 ahead",
     {.path = "/a, /b", .part = "/b", .who = "x", .held_ms = -5, .ahead = 1, .looked = true}},
    {"waiting for /a: held by x for 3 h", {.path = "/a", .who = "x", .held_ms = 3 * 3600000, .looked = true}},
    {"waiting for /a: held by x for 2 days", {.path = "/a", .who = "x", .held_ms = 2 * 86400000, .looked = true}},
    {"waiting for /a: free", {.path = "/a", .looked = true}},
    {"waiting for /a: free, when its lock-delay is over", {.path = "/a", .looked = true, .delayed = true}},
    {"waiting for /a: no server answers",
     {.path = "/a", .trouble = "no server answers", .who = "x", .ahead = 2, .looked = true}},
};

START_TEST(the_line_of_a_wait) {
    g_autofree char *words = cmd_waiting_words(&lines[_i].state);
    ck_assert_str_eq(words, lines[_i].words);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("command_words");
    TCase *cases = tcase_create("command_words");
    tcase_add_loop_test(cases, the_librarys_names_are_left_out, 0, G_N_ELEMENTS(texts));
    tcase_add_test(cases, the_subject_is_named_once);
    tcase_add_loop_test(cases, the_line_of_a_wait, 0, G_N_ELEMENTS(lines));
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
