/* Which access control list a session's nodes get. */
#include "session/access.h"
#include "ts_check.h"
#include "zk/acl.h"

#include <glib.h>

static struct pdk__access access_of(pdk_access choice, const char *digest, const char *tls) {
    pdk_session_options options = PDK_SESSION_OPTIONS_INIT;
    options.access = choice;
    options.digest = digest;
    options.tls = tls;
    ck_assert_int_eq(pdk__access_check(&options), PDK_OK);
    return pdk__access_copy(&options);
}

/* The creator is the user alone, unless there is a certificate as well: then the servers say who it is. */
START_TEST(who_the_creator_is) {
    static const pdk_access choices[] = {PDK_ACCESS_CREATOR, PDK_ACCESS_CREATOR_READERS};
    for (int i = 0; i < 2; i++) {
        struct pdk__access user = access_of(choices[i], "app:secret", NULL),
                           both = access_of(choices[i], "app:secret", "c"),
                           certificate = access_of(choices[i], NULL, "c");
        ck_assert_int_eq(user.choice, PDK_ACCESS_LIST);
        ck_assert_int_eq(user.count, i + 1);
        ck_assert_str_eq(user.list[0].scheme, "digest");
        ck_assert(!pdk__access_names_creator(&user));
        ck_assert_int_eq(both.choice, choices[i]);
        ck_assert(pdk__access_names_creator(&both));
        ck_assert_int_eq(certificate.choice, choices[i]);
        pdk__access_free(&user);
        pdk__access_free(&both);
        pdk__access_free(&certificate);
    }
}
END_TEST

START_TEST(what_the_client_library_is_given) {
    static const pdk_access_entry listed = {PDK_PERMISSION_READ, "ip", "10.0.0.1"};
    static const struct {
        pdk_access access;
        int32_t count;
        const char *scheme, *last;
    } lists[] = {{PDK_ACCESS_OPEN, 1, "world", "world"},
                 {PDK_ACCESS_CREATOR, 1, "auth", "auth"},
                 {PDK_ACCESS_CREATOR_READERS, 2, "auth", "world"},
                 {PDK_ACCESS_LIST, 1, "ip", "ip"}};
    for (size_t i = 0; i < G_N_ELEMENTS(lists); i++) {
        const struct pdk__zk_config config = {.access = lists[i].access, .access_list = &listed, .access_count = 1};
        struct ACL_vector acl = pdk__acl_make(&config);
        ck_assert_int_eq(acl.count, lists[i].count);
        ck_assert_str_eq(acl.data[0].id.scheme, lists[i].scheme);
        ck_assert_int_eq(acl.data[0].perms,
                         lists[i].access == PDK_ACCESS_LIST ? PDK_PERMISSION_READ : PDK_PERMISSION_ALL);
        ck_assert_str_eq(acl.data[acl.count - 1].id.scheme, lists[i].last);
        pdk__acl_free(&acl);
    }
}
END_TEST

int main(void) { return ts_run("access", NULL, NULL, who_the_creator_is, what_the_client_library_is_given, NULL); }
