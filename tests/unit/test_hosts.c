/* Host lists: which parse, which do not and with which words, and the resolver's lists. */
#include <glib.h>
#include <paddock/status.h>
#include <string.h>

#include "ts_check.h"
#include "zk/hosts.h"

static struct pdk__hosts *parse(const char *text) {
    struct pdk__hosts *hosts = NULL;
    pdk_status status = pdk__hosts_parse(text, &hosts);
    ck_assert_msg(status == PDK_OK, "\"%s\": %s", text, pdk_error_text());
    return hosts;
}

START_TEST(a_list_is_taken_apart) {
    struct pdk__hosts *hosts = parse("zk1:2181, zk2.example:65535 ,10.0.0.3:1/app/east");
    ck_assert_uint_eq(hosts->count, 3);
    ck_assert_str_eq(hosts->names[0], "zk1");
    ck_assert_str_eq(hosts->names[1], "zk2.example");
    ck_assert_str_eq(hosts->names[2], "10.0.0.3");
    ck_assert_ptr_null(hosts->names[3]);
    ck_assert_uint_eq(hosts->ports[0], 2181);
    ck_assert_uint_eq(hosts->ports[1], 65535);
    ck_assert_uint_eq(hosts->ports[2], 1);
    ck_assert_str_eq(hosts->chroot, "/app/east");
    pdk__hosts_free(hosts);
}
END_TEST

START_TEST(an_ipv6_address_stands_in_brackets) {
    struct pdk__hosts *hosts = parse("[::1]:2181,[2001:db8::7]:2182");
    ck_assert_str_eq(hosts->names[0], "::1");
    ck_assert_uint_eq(hosts->ports[0], 2181);
    ck_assert_str_eq(hosts->names[1], "2001:db8::7");
    ck_assert_str_eq(hosts->chroot, "");
    pdk__hosts_free(hosts);
}
END_TEST

START_TEST(a_slash_alone_is_no_chroot) {
    struct pdk__hosts *hosts = parse("zk1:2181/");
    ck_assert_str_eq(hosts->chroot, "");
    pdk__hosts_free(hosts);
}
END_TEST

START_TEST(a_copy_is_independent) {
    struct pdk__hosts *hosts = parse("zk1:2181,zk2:2182/app");
    struct pdk__hosts *copy = pdk__hosts_copy(hosts);
    pdk__hosts_free(hosts);
    ck_assert_uint_eq(copy->count, 2);
    ck_assert_str_eq(copy->names[1], "zk2");
    ck_assert_uint_eq(copy->ports[1], 2182);
    ck_assert_str_eq(copy->chroot, "/app");
    pdk__hosts_free(copy);
    pdk__hosts_free(NULL);
}
END_TEST

START_TEST(what_does_not_parse_is_invalid_and_says_why) {
    static const char *const wrong[] = {
        "",
        " ",
        ",",
        ":",
        "/",
        "/app",
        "zk1",
        "zk1:",
        ":2181",
        "zk1:2181,",
        ",zk1:2181",
        "zk1:2181,,zk2:2181",
        "zk1:0",
        "zk1:65536",
        "zk1:-1",
        "zk1:+1",
        "zk1:2181x",
        "zk1:0x10",
        "zk1:99999999999999999999",
        "zk1: 2181",
        "zk1:2 1",
        "zk 1:2181",
        "zk1\t:2181,a b:1",
        "[]:2181",
        "[::1:2181",
        "::1]:2181",
        "[::1]",
        "[::1]2181",
        "a@b:2181",
        "zk1%25:2181",
        "zk1;zk2:2181",
        "zk1:2181;zk2:2181",
        "zk1:2181//app",
        "zk1:2181/app/",
        "zk1:2181/a/../b",
        "zk1:2181/./a",
        "zk1:2181/zookeeper",
        "zk1:2181/zookeeper/x",
        "zk1:2181/a\x01",
        "zk1:2181/\xff",
        "zk1:2181/a//b",
        "zk\x01:2181",
        "zk\x7f:2181",
        "\x1b[31mzk:2181",
        "zk\xff:2181",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        struct pdk__hosts *untouched = (struct pdk__hosts *)&wrong;
        char *shown = g_strescape(wrong[i], NULL);
        pdk_status status = pdk__hosts_parse(wrong[i], &untouched);
        ck_assert_msg(status == PDK_INVALID, "\"%s\": %s", shown, pdk_status_name(status));
        ck_assert_msg(untouched == (struct pdk__hosts *)&wrong, "\"%s\"", shown);
        ck_assert_msg(g_str_has_prefix(pdk_error_text(), "hosts: "), "\"%s\": %s", shown, pdk_error_text());
        g_free(shown);
    }
    struct pdk__hosts *out = NULL;
    ck_assert_int_eq(pdk__hosts_parse(NULL, &out), PDK_INVALID);
}
END_TEST

START_TEST(overlong_lists_and_names_are_invalid) {
    struct pdk__hosts *out = NULL;
    GString *list = g_string_new("zk1:2181");
    while (list->len <= 8192)
        g_string_append(list, ",zk1:2181");
    ck_assert_int_eq(pdk__hosts_parse(list->str, &out), PDK_INVALID);
    g_string_free(list, TRUE);

    char *name = g_strnfill(254, 'a');
    char *text = g_strconcat(name, ":2181", NULL);
    ck_assert_int_eq(pdk__hosts_parse(text, &out), PDK_INVALID);
    pdk__hosts_free(parse(text + 1)); /* 253 are a name */
    g_free(text);
    g_free(name);

    char *chroot = g_strnfill(512, 'a');
    text = g_strconcat("zk1:2181/", chroot, NULL); /* 513 with its slash */
    ck_assert_int_eq(pdk__hosts_parse(text, &out), PDK_INVALID);
    g_free(text);
    g_free(chroot);
    ck_assert_ptr_null(out);
}
END_TEST

static char *resolve(const char *text) {
    struct pdk__hosts *hosts = parse(text);
    char *servers = NULL, *why = NULL;
    pdk_status status = pdk__hosts_resolve(hosts, &servers, &why);
    ck_assert_msg(status == PDK_OK, "%s: %s", text, why);
    ck_assert_ptr_null(why);
    pdk__hosts_free(hosts);
    return servers;
}

static void check_resolves(const char *text, const char *expected) {
    char *servers = resolve(text);
    ck_assert_str_eq(servers, expected);
    g_free(servers);
}

START_TEST(the_number_of_addresses_is_odd) {
    check_resolves("127.0.0.1:1", "127.0.0.1:1");
    check_resolves("127.0.0.1:1,127.0.0.2:2", "127.0.0.1:1,127.0.0.2:2,127.0.0.1:1");
    check_resolves("127.0.0.1:1,127.0.0.2:2,127.0.0.3:3", "127.0.0.1:1,127.0.0.2:2,127.0.0.3:3");
    check_resolves("127.0.0.1:1,127.0.0.1:2,127.0.0.1:3,127.0.0.1:4",
                   "127.0.0.1:1,127.0.0.1:2,127.0.0.1:3,127.0.0.1:4,127.0.0.1:1");
}
END_TEST

START_TEST(an_address_named_twice_is_taken_once) {
    check_resolves("127.0.0.1:1,127.0.0.1:1", "127.0.0.1:1");
    check_resolves("127.0.0.1:1,127.0.0.1:1,127.0.0.2:1", "127.0.0.1:1,127.0.0.2:1,127.0.0.1:1");
}
END_TEST

START_TEST(ipv6_addresses_keep_their_colons) { check_resolves("[::1]:2181", "::1:2181"); }
END_TEST

START_TEST(a_name_resolves_to_numbers) {
    char *servers = resolve("localhost:7");
    char **list = g_strsplit(servers, ",", -1);
    ck_assert_uint_eq(g_strv_length(list) % 2, 1);
    for (char **server = list; *server; server++) {
        *strrchr(*server, ':') = '\0';
        ck_assert_msg(g_hostname_is_ip_address(*server), "%s", *server);
    }
    g_strfreev(list);
    g_free(servers);
}
END_TEST

START_TEST(a_name_without_an_address_does_not_spoil_the_others) {
    check_resolves("nowhere.invalid:1,127.0.0.1:2", "127.0.0.1:2");
}
END_TEST

START_TEST(no_address_at_all_is_told_with_the_name) {
    struct pdk__hosts *hosts = parse("nowhere.invalid:1,noplace.invalid:2");
    char *servers = NULL, *why = NULL;
    ck_assert_int_eq(pdk__hosts_resolve(hosts, &servers, &why), PDK_RESOLVE);
    ck_assert_ptr_null(servers);
    ck_assert_msg(why && strstr(why, "nowhere.invalid"), "%s", why);
    g_free(why);
    pdk__hosts_free(hosts);
}
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("hosts");
    TCase *cases = tcase_create("hosts");
    tcase_add_test(cases, a_list_is_taken_apart);
    tcase_add_test(cases, an_ipv6_address_stands_in_brackets);
    tcase_add_test(cases, a_slash_alone_is_no_chroot);
    tcase_add_test(cases, a_copy_is_independent);
    tcase_add_test(cases, what_does_not_parse_is_invalid_and_says_why);
    tcase_add_test(cases, overlong_lists_and_names_are_invalid);
    tcase_add_test(cases, the_number_of_addresses_is_odd);
    tcase_add_test(cases, an_address_named_twice_is_taken_once);
    tcase_add_test(cases, ipv6_addresses_keep_their_colons);
    tcase_add_test(cases, a_name_resolves_to_numbers);
    tcase_add_test(cases, a_name_without_an_address_does_not_spoil_the_others);
    tcase_add_test(cases, no_address_at_all_is_told_with_the_name);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
