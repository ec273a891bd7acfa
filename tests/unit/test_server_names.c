/* The names of servers: what is known of each, whatever its look-ups come to. And the resolver, which looks them up. */
#include <dlfcn.h>
#include <errno.h>
#include <glib.h>
#include <netdb.h>
#include <paddock/status.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "ts_check.h"
#include "ts_clock.h"
#include "zk/resolver.h"
#include "zk/servers.h"

#define PATIENCE_MS 20000

static struct pdk__names *names;
static unsigned begun; /* look-ups that the test has to end, by bits */
static bool no_thread;

static void make(const char *text) {
    struct pdk__hosts *hosts = NULL;
    ck_assert_msg(pdk__hosts_parse(text, &hosts) == PDK_OK, "%s: %s", text, pdk_last_error());
    names = pdk__names_new(hosts);
    pdk__hosts_free(hosts);
    begun = 0;
    no_thread = false;
}

static void drop(void) {
    pdk__names_unref(names);
    names = NULL;
}

static bool begin(struct pdk__names *of, unsigned index, const char *name) {
    ck_assert_ptr_eq(of, names);
    ck_assert_int_eq(name[0], 'a' + (int)index);
    begun |= no_thread ? 0 : 1U << index;
    return !no_thread;
}

static void ask(unsigned expected) {
    begun = 0;
    pdk__names_look_up(names, begin);
    ck_assert_uint_eq(begun, expected);
}

static void found(unsigned index, const char *addresses, const char *why) {
    char **list = addresses ? g_strsplit(addresses, ",", -1) : NULL;
    pdk__names_found(names, index, (const char *const *)list, why);
    g_strfreev(list);
}

static void listed(pdk_status expected, const char *servers, const char *why) {
    char *given = NULL, *said = NULL;
    ck_assert_int_eq(pdk__names_list(names, &given, &said), expected);
    ck_assert_pstr_eq(given, servers);
    ck_assert_pstr_eq(said, why);
    g_free(given);
    g_free(said);
}

START_TEST(a_name_that_hangs_holds_up_no_other) {
    make("a:1,b:2,c:3");
    ask(7);
    listed(PDK_UNAVAILABLE, NULL, "a: its look-up has no answer yet");
    found(2, "10.0.0.3", NULL);
    listed(PDK_OK, "10.0.0.3:3", NULL);
    ck_assert_uint_eq(pdk__names_awaited(names), 2);
    found(1, "10.0.0.2", NULL);
    listed(PDK_OK, "10.0.0.2:2,10.0.0.3:3,10.0.0.2:2", NULL);
    ask(6); /* the first has one under way */
    found(1, "10.0.0.2", NULL);
    found(2, "10.0.0.3", NULL);
    struct pdk__names *kept = names;
    drop();
    names = kept; /* the look-up that hangs has a reference */
    found(0, "10.0.0.1", NULL);
    names = NULL;
}
END_TEST

START_TEST(a_name_that_fails_keeps_its_addresses_and_is_tried_again) {
    make("a:1,b:2");
    ask(3);
    found(0, "10.0.0.1", NULL);
    found(1, NULL, "nobody knows it");
    listed(PDK_OK, "10.0.0.1:1", "b: nobody knows it");
    ask(3);
    found(0, NULL, "the resolver is down");
    found(1, "10.0.0.2", NULL);
    listed(PDK_OK, "10.0.0.1:1,10.0.0.2:2,10.0.0.1:1", "a: the resolver is down");
    ask(3);
    found(0, "10.0.0.7", NULL);
    found(1, "", NULL); /* an answer without an address is none */
    listed(PDK_OK, "10.0.0.2:2,10.0.0.7:1,10.0.0.2:2", "b: it has no address");
    drop();
}
END_TEST

START_TEST(another_order_makes_the_same_list) {
    make("a:1");
    ask(1);
    found(0, "10.0.0.3,10.0.0.1,10.0.0.2", NULL);
    listed(PDK_OK, "10.0.0.1:1,10.0.0.2:1,10.0.0.3:1", NULL);
    ask(1);
    found(0, "10.0.0.2,10.0.0.3,10.0.0.1,10.0.0.2", NULL);
    listed(PDK_OK, "10.0.0.1:1,10.0.0.2:1,10.0.0.3:1", NULL);
    drop();
}
END_TEST

START_TEST(without_any_address_the_reason_is_told) {
    make("a:1,b:2");
    listed(PDK_RESOLVE, NULL, NULL); /* nobody has asked */
    ask(3);
    found(0, NULL, "nobody knows it");
    listed(PDK_UNAVAILABLE, NULL, "b: its look-up has no answer yet");
    found(1, NULL, NULL);
    listed(PDK_RESOLVE, NULL, "a: nobody knows it");
    no_thread = true;
    ask(0);
    listed(PDK_RESOLVE, NULL, "a: no thread was to be had for its look-up");
    drop();
}
END_TEST

/* ---- by the system's resolver */

static bool is_answered(void *unused) {
    (void)unused;
    return pdk__names_awaited(names) == 0;
}

static void resolve(const char *text) {
    make(text);
    pdk__names_look_up(names, pdk__resolve);
    ck_assert(ts_wait_until(is_answered, NULL, PATIENCE_MS));
}

static void check_resolves(const char *text, const char *expected) {
    resolve(text);
    listed(PDK_OK, expected, NULL);
    drop();
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

START_TEST(numbers_are_known_at_once) {
    make("[::1]:2181,127.0.0.1:1,[fe80::1%lo]:2181");
    ck_assert(pdk__names_are_numbers(names));
    pdk__names_look_up(names, pdk__resolve);
    ck_assert_uint_eq(pdk__names_awaited(names), 0);
    listed(PDK_OK, "127.0.0.1:1,::1:2181,fe80::1%lo:2181", NULL);
    drop();
    make("127.0.0.1:1,localhost:1");
    ck_assert(!pdk__names_are_numbers(names));
    drop();
}
END_TEST

START_TEST(what_is_a_number) {
    static const char *const numbers[] = {"10.0.0.1", "::1", "fe80::1%eth0",
                                          "fe80::1%a-scope-that-is-longer-than-any-address-is"};
    static const char *const texts[] = {"zk1", "10.0.0", "1:2", "a-name-that-is-longer-than-any-address-is.example.org",
                                        "zk1%a-scope-that-is-longer-than-any-address-is"};
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
        ck_assert_msg(pdk__name_is_number(numbers[i]), "%s", numbers[i]);
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        ck_assert_msg(!pdk__name_is_number(texts[i]), "%s", texts[i]);
}
END_TEST

START_TEST(a_scope_that_is_no_interface_is_told) {
    resolve("[fe80::1%nosuch0]:2181");
    char *servers = NULL, *why = NULL;
    ck_assert_int_eq(pdk__names_list(names, &servers, &why), PDK_RESOLVE);
    ck_assert_msg(g_str_has_prefix(why, "fe80::1%nosuch0: "), "%s", why);
    g_free(why);
    drop();
}
END_TEST

START_TEST(a_name_resolves_to_numbers) {
    char *servers = NULL, *why = NULL;
    resolve("localhost:7");
    ck_assert_int_eq(pdk__names_list(names, &servers, &why), PDK_OK);
    char **list = g_strsplit(servers, ",", -1);
    ck_assert_uint_eq(g_strv_length(list) % 2, 1);
    for (char **server = list; *server; server++) {
        *strrchr(*server, ':') = '\0';
        ck_assert_msg(g_hostname_is_ip_address(*server), "%s", *server);
    }
    g_strfreev(list);
    g_free(servers);
    drop();
}
END_TEST

START_TEST(a_name_without_an_address_does_not_spoil_the_others) {
    resolve("nowhere.invalid:1,127.0.0.1:2");
    char *servers = NULL, *why = NULL;
    ck_assert_int_eq(pdk__names_list(names, &servers, &why), PDK_OK);
    ck_assert_str_eq(servers, "127.0.0.1:2");
    ck_assert_msg(g_str_has_prefix(why, "nowhere.invalid: "), "%s", why);
    g_free(servers);
    g_free(why);
    drop();
}
END_TEST

/* ---- a system that has nothing to spare: these stand before the C library's */

static bool no_threads, no_descriptors;

__attribute__((visibility("default"))) int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                                                          void *(*main)(void *user), void *user) {
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    void *symbol = dlsym(RTLD_NEXT, "pthread_create");
    memcpy(&create, &symbol, sizeof create);
    return no_threads ? EAGAIN : create(thread, attributes, main, user);
}

__attribute__((visibility("default"))) int getaddrinfo(const char *name, const char *service,
                                                       const struct addrinfo *hints, struct addrinfo **out) {
    int (*get)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    void *symbol = dlsym(RTLD_NEXT, "getaddrinfo");
    memcpy(&get, &symbol, sizeof get);
    errno = EMFILE;
    return no_descriptors ? EAI_SYSTEM : get(name, service, hints, out);
}

static void check_fails(const char *why) {
    resolve("localhost:7");
    listed(PDK_RESOLVE, NULL, why);
    drop();
    no_threads = no_descriptors = false;
    check_resolves("127.0.0.1:1", "127.0.0.1:1");
}

START_TEST(a_look_up_without_a_thread) {
    no_threads = true;
    check_fails("localhost: no thread was to be had for its look-up");
}
END_TEST

START_TEST(a_look_up_that_the_system_refuses) {
    g_autofree char *why = g_strconcat("localhost: ", g_strerror(EMFILE), NULL);
    no_descriptors = true;
    check_fails(why);
}
END_TEST

/* ---- zoo_set_servers */

START_TEST(some_lists_are_the_same_for_the_client_library) {
    ck_assert(pdk__servers_seem_same("10.0.0.1:1", "10.0.0.1:2"));
    ck_assert(pdk__servers_seem_same("10.0.0.1:1,10.0.0.2:1,10.0.0.1:1", "10.0.0.1:1,10.0.0.2:1,10.0.0.3:1"));
    ck_assert(!pdk__servers_seem_same("10.0.0.1:1,10.0.0.2:1,10.0.0.3:1", "10.0.0.1:1,10.0.0.2:1,10.0.0.1:1"));
    ck_assert(!pdk__servers_seem_same("10.0.0.1:1", "10.0.0.1:1,10.0.0.2:1,10.0.0.1:1"));
    ck_assert(!pdk__servers_seem_same("::1:1", "::2:1"));
}
END_TEST

int main(void) {
    return ts_run("server_names", NULL, NULL, a_name_that_hangs_holds_up_no_other,
                  a_name_that_fails_keeps_its_addresses_and_is_tried_again, another_order_makes_the_same_list,
                  without_any_address_the_reason_is_told, the_number_of_addresses_is_odd,
                  an_address_named_twice_is_taken_once, numbers_are_known_at_once, what_is_a_number,
                  a_scope_that_is_no_interface_is_told, a_look_up_without_a_thread, a_look_up_that_the_system_refuses,
                  a_name_resolves_to_numbers, a_name_without_an_address_does_not_spoil_the_others,
                  some_lists_are_the_same_for_the_client_library, NULL);
}
