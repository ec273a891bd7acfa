/* Which lock paths are accepted, and with which words the others are refused. fuzz/fuzz_paths.c has any
 * bytes, and asks GLib. */
#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "core/paths.h"
#include "ts_check.h"

static void check_refused(const char *path, const char *words) {
    const char *wrong = pdk__path_error(path, 0);
    char *shown = g_strescape(path, NULL);
    ck_assert_msg(wrong != NULL, "accepted: %s", shown);
    ck_assert_msg(strstr(wrong, words) != NULL, "%s: \"%s\" does not say \"%s\"", shown, wrong, words);
    g_free(shown);
}

static void check_accepted(const char *path) {
    const char *wrong = pdk__path_error(path, 0);
    ck_assert_msg(wrong == NULL, "%s: %s", path, wrong);
}

START_TEST(ordinary_paths_are_accepted) {
    static const char *const paths[] = {
        "/a",        "/locks/orders", "/a b/c",        "/...",           "/.hidden",      "/..x",
        "/a.",       "/a~%s%n",       "/zookeepers",   "/app/zookeeper", "/\xc3\xa4",     "/\xe2\x82\xac",
        "/\xc2\xa0", "/\xe0\xa0\x80", "/\xed\x9f\xbf", "/\xef\xa4\x80",  "/\xef\xbf\xaf",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(paths); i++)
        check_accepted(paths[i]);
}
END_TEST

/* integration/test_path asks a server. */
START_TEST(what_no_server_takes_is_refused) {
    static const char *const paths[] = {"/\xee\x80\x80",     "/a\xef\xa3\xbf/b",  "/\xef\xbf\xb0",    "/\xef\xbf\xbf",
                                        "/\xf0\x9f\x90\x8e", "/\xf0\x90\x80\x80", "/\xf4\x8f\xbf\xbf"};
    for (size_t i = 0; i < G_N_ELEMENTS(paths); i++)
        check_refused(paths[i], "no server takes");
}
END_TEST

START_TEST(relative_paths_are_refused) {
    check_refused("", "relative");
    check_refused("a", "relative");
    check_refused("locks/orders", "relative");
    check_refused("./a", "relative");
    check_refused(" /a", "relative");
}
END_TEST

START_TEST(the_root_and_empty_segments_are_refused) {
    check_refused("/", "root");
    check_refused("//", "empty segment");
    check_refused("//a", "empty segment");
    check_refused("/a//b", "empty segment");
    check_refused("/a/", "empty segment");
    check_refused("/a/b//", "empty segment");
}
END_TEST

START_TEST(relative_segments_are_refused) {
    check_refused("/.", "relative segment");
    check_refused("/..", "relative segment");
    check_refused("/a/./b", "relative segment");
    check_refused("/a/../b", "relative segment");
    check_refused("/a/..", "relative segment");
    check_refused("/../a", "relative segment");
}
END_TEST

START_TEST(zookeepers_own_nodes_are_refused_at_the_root_only) {
    check_refused("/zookeeper", "/zookeeper");
    check_refused("/zookeeper/quota", "/zookeeper");
    ck_assert_ptr_null(pdk__path_error("/zookeeper", strlen("/app"))); /* that is /app/zookeeper */
}
END_TEST

START_TEST(control_characters_are_refused) {
    for (int c = 1; c < 0x20; c++) {
        char path[] = {'/', 'a', (char)c, 'b', '\0'};
        check_refused(path, "control character");
    }
    check_refused("/a\x7f", "control character");
    for (int c = 0x80; c < 0xa0; c++) { /* C1, in two bytes */
        char path[] = {'/', '\xc2', (char)c, '\0'};
        check_refused(path, "control character");
    }
}
END_TEST

START_TEST(what_is_not_utf8_is_refused) {
    static const char *const paths[] = {
        "/\x80",
        "/\xff",
        "/\xfe",
        "/\xc3",
        "/\xc3/a",
        "/\xc0\xaf",
        "/\xc1\xbf",
        "/\xe2\x82",
        "/\xe0\x80\xaf",
        "/\xe0\x9f\xbf",
        "/\xed\xa0\x80",
        "/\xed\xbf\xbf",
        "/\xf0\x80\x80\xaf",
        "/\xf0\x8f\xbf\xbf",
        "/\xf4\x90\x80\x80",
        "/\xf5\x80\x80\x80",
        "/\xf0\x9f\x90",
        "/a\xe2\x28\xa1",
        "/caf\xe9",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(paths); i++)
        check_refused(paths[i], "UTF-8");
}
END_TEST

START_TEST(the_limit_is_512_bytes_chroot_included) {
    char path[600];
    memset(path, 'a', sizeof path);
    path[0] = '/';
    path[512] = '\0';
    ck_assert_ptr_null(pdk__path_error(path, 0));
    ck_assert_ptr_nonnull(strstr(pdk__path_error(path, 1), "512"));
    path[508] = '\0';
    ck_assert_ptr_null(pdk__path_error(path, 4));
    ck_assert_ptr_nonnull(strstr(pdk__path_error(path, 5), "512"));
    path[508] = 'a';
    path[512] = 'a';
    path[513] = '\0';
    check_refused(path, "512");
    char *huge = g_strnfill(1000000, '/');
    ck_assert_ptr_nonnull(pdk__path_error(huge, 0));
    g_free(huge);
}
END_TEST

int main(void) {
    return ts_run("paths", NULL, NULL, ordinary_paths_are_accepted, what_no_server_takes_is_refused,
                  relative_paths_are_refused, the_root_and_empty_segments_are_refused, relative_segments_are_refused,
                  zookeepers_own_nodes_are_refused_at_the_root_only, control_characters_are_refused,
                  what_is_not_utf8_is_refused, the_limit_is_512_bytes_chroot_included, NULL);
}
