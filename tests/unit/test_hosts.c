/* Host lists: which parse, and which do not and with which words. */
#include <glib.h>
#include <paddock/status.h>
#include <string.h>

#include "ts_check.h"
#include "zk/hosts.h"

static struct pdk__hosts *parse(const char *text) {
    struct pdk__hosts *hosts = NULL;
    pdk_status status = pdk__hosts_parse(text, &hosts);
    ck_assert_msg(status == PDK_OK, "\"%s\": %s", text, pdk_last_error());
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
        ck_assert_msg(g_str_has_prefix(pdk_last_error(), "hosts: "), "\"%s\": %s", shown, pdk_last_error());
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

    char *scope = g_strnfill(250, 'a');
    text = g_strconcat("[1::%", scope, "]:2181", NULL); /* 254, with its percent sign */
    ck_assert_int_eq(pdk__hosts_parse(text, &out), PDK_INVALID);
    g_free(text);
    text = g_strconcat("[1::%", scope + 1, "]:2181", NULL);
    pdk__hosts_free(parse(text));
    g_free(text);
    g_free(scope);

    char *chroot = g_strnfill(512, 'a');
    text = g_strconcat("zk1:2181/", chroot, NULL); /* 513 with its slash */
    ck_assert_int_eq(pdk__hosts_parse(text, &out), PDK_INVALID);
    g_free(text);
    g_free(chroot);
    ck_assert_ptr_null(out);
}
END_TEST

/* Each says what is wrong with which part, and the right form. */
START_TEST(what_is_often_written_is_refused_with_the_right_form) {
    static const struct {
        const char *text, *words;
    } wrong[] = {
        {"h1:2181/app,h2:2181/app", "a comma stands behind the chroot"},
        {"h1:2181/app,h2:2181", "a comma stands behind the chroot"},
        {"h1:2181/app,h2/app", "a comma stands behind the chroot"},
        {"h1:2181/,h2:2181/", "a comma stands behind the chroot"},
        {"zk://h1:2181,h2:2181/app", "a scheme"},
        {"zookeeper://h1:2181", "a scheme"},
        {"h1,h2:2181", "h1 has no port"},
        {"h1:2181,h2", "h2 has no port"},
        {"[::1]", "[::1] has no port"},
        {"h1:2181,", "a comma has no server on one side"},
        {"h1:2181,,h2:2181", "a comma has no server on one side"},
        {"h1:2181 h2:2181", "the name in h1:2181 h2:2181"},
        {"h1:2181;h2:2181", "the name in h1:2181;h2:2181"},
        {"h1 :2181", "the name in h1 :2181"},
        {"h1:70000", "h1:70000 has no port from 1 to 65535"},
        {"h1:zk", "h1:zk has no port"},
        {"h1%eth0:2181", "the name in h1%eth0:2181"}, /* a scope belongs to an address of IPv6 */
        {"[fe80::1%]:2181", "the name in [fe80::1%]:2181"},
        {"[fe80::1%a%b]:2181", "the name in"},
        {"[fe80::!%eth0]:2181", "the name in [fe80::!%eth0]:2181"},
        {"[:2181", "the name in [:2181"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        struct pdk__hosts *out = NULL;
        ck_assert_msg(pdk__hosts_parse(wrong[i].text, &out) == PDK_INVALID, "%s", wrong[i].text);
        ck_assert_msg(strstr(pdk_last_error(), wrong[i].words), "%s: %s", wrong[i].text, pdk_last_error());
        ck_assert_msg(strstr(pdk_last_error(), "\"host:port,host:port/chroot\""), "%s: %s", wrong[i].text,
                      pdk_last_error());
    }
}
END_TEST

START_TEST(an_address_may_have_a_scope) {
    struct pdk__hosts *hosts = parse("[fe80::1%eth0]:2181, [fe80::2%2]:2182/app");
    ck_assert_str_eq(hosts->names[0], "fe80::1%eth0");
    ck_assert_str_eq(hosts->names[1], "fe80::2%2");
    ck_assert_str_eq(hosts->chroot, "/app");
    pdk__hosts_free(hosts);
}
END_TEST

int main(void) {
    return ts_run("hosts", NULL, NULL, a_list_is_taken_apart, an_ipv6_address_stands_in_brackets,
                  a_slash_alone_is_no_chroot, what_does_not_parse_is_invalid_and_says_why,
                  what_is_often_written_is_refused_with_the_right_form, an_address_may_have_a_scope,
                  overlong_lists_and_names_are_invalid, NULL);
}
