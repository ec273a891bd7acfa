/* What a well-formed answer of a server is: each field, at the ends of its range and beyond. */
#include <glib.h>
#include <string.h>

#include "ts_check.h"
#include "zk/answers.h"

#define TOO_LARGE (INT64_C(1) << 62)

static const struct Stat good = {.czxid = 7, .mzxid = 8, .pzxid = 9, .ctime = 1, .mtime = 2, .dataLength = 3};

static struct Stat altered[32];
static size_t alterations;

static struct Stat *another(void) {
    altered[alterations] = good;
    return &altered[alterations++];
}

/* The good stat, with another number in one field. */
#define FIELD(type, member)                                                                                            \
    static const struct Stat *with_##member(type number) {                                                             \
        struct Stat *stat = another();                                                                                 \
        stat->member = number;                                                                                         \
        return stat;                                                                                                   \
    }
FIELD(int64_t, czxid)
FIELD(int64_t, mzxid)
FIELD(int64_t, pzxid)
FIELD(int64_t, ctime)
FIELD(int64_t, mtime)
FIELD(int32_t, dataLength)
FIELD(int32_t, numChildren)
FIELD(int32_t, version)

START_TEST(stats) {
    const struct {
        const struct Stat *stat;
        bool is;
    } all[] = {
        {&good, true},
        {NULL, false},
        {&(struct Stat){.pzxid = -1}, true}, /* the root, without a child */
        {&(struct Stat){.pzxid = -2}, false},
        {with_pzxid(-1), false},
        {with_czxid(-1), false},
        {with_czxid(TOO_LARGE), false},
        {with_mzxid(6), false},
        {with_mzxid(-1), false},
        {with_mzxid(TOO_LARGE), false},
        {with_pzxid(6), false},
        {with_pzxid(TOO_LARGE), false},
        {with_ctime(-1), false},
        {with_ctime(INT64_MAX), false},
        {with_mtime(-1), false},
        {with_mtime(INT64_MAX), false},
        {with_dataLength(-1), false},
        {with_numChildren(-1), false},
        {with_version(-1), true},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        ck_assert_msg(pdk__answer_is_stat(all[i].stat) == all[i].is, "row %zu", i);
}
END_TEST

START_TEST(data) {
    const struct {
        const char *value;
        int length;
        const struct Stat *stat;
        bool is;
    } all[] = {
        {"abc", 3, &good, true},
        {"abc", 2, &good, false},
        {"abc", -1, &good, false},
        {"abc", 3, NULL, false},
        {NULL, -1, with_dataLength(0), true},
        {NULL, 0, with_dataLength(0), true},
        {NULL, 1, with_dataLength(0), false},
        {NULL, -2, with_dataLength(0), false},
        {NULL, -1, &good, false},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        ck_assert_msg(pdk__answer_is_data(all[i].value, all[i].length, all[i].stat) == all[i].is, "row %zu", i);
}
END_TEST

/* ---- creates */

enum { SESSION = 77 };

static const struct Stat new_node = {.czxid = 7, .mzxid = 7, .pzxid = 7, .ephemeralOwner = SESSION};

static bool is_created(const char *asked, bool named, const char *path, const struct Stat *stat, const char *name) {
    const struct pdk__request create = {.kind = PDK__OP_CREATE, .path = asked, .named = named};
    const char *found = NULL;
    bool is = pdk__answer_is_created(&create, SESSION, path, stat, &found);
    if (is)
        ck_assert_str_eq(found, name);
    return is;
}

START_TEST(creates) {
    static const char asked[] = "/a/x-lock-";
    g_autofree char *longest = g_strnfill(118, 'n'), *path = g_strconcat("/", longest, NULL),
                    *made = g_strconcat(path, "0000000001", NULL);
    ck_assert(is_created(asked, false, "/a/x-lock-0000000042", &new_node, "x-lock-0000000042"));
    ck_assert(is_created(asked, false, "/a/x-lock--000000042", &new_node, "x-lock--000000042"));
    ck_assert(is_created(asked, false, "/a/x-lock--2147483648", &new_node, "x-lock--2147483648"));
    ck_assert(is_created("/a/n", true, "/a/n", &new_node, "n"));
    ck_assert(!is_created(asked, false, NULL, &new_node, ""));
    ck_assert(!is_created(asked, false, "/a/x-lock-0000000042", NULL, ""));
    ck_assert(!is_created(asked, false, "/b/x-lock-0000000042", &new_node, ""));
    ck_assert(!is_created(asked, false, asked, &new_node, ""));
    ck_assert(!is_created(asked, false, "/a/x-lock-000000042", &new_node, ""));
    ck_assert(!is_created(asked, false, "/a/x-lock-00000000042", &new_node, ""));
    ck_assert(!is_created(asked, false, "/a/x-lock--21474836480", &new_node, ""));
    ck_assert(!is_created(asked, false, "/a/x-lock-000000004x", &new_node, ""));
    ck_assert(!is_created("/a/n", true, "/a/nn", &new_node, ""));
    ck_assert(!is_created("/a/", true, "/a/", &new_node, ""));
    ck_assert(!is_created(path, false, made, &new_node, ""));
    const struct Stat *const others[] = {
        &(struct Stat){.ephemeralOwner = SESSION, .pzxid = -1},
        &(struct Stat){.czxid = 7, .mzxid = 8, .pzxid = 7, .ephemeralOwner = SESSION},
        &(struct Stat){.czxid = 7, .mzxid = 7, .pzxid = 8, .ephemeralOwner = SESSION},
        &(struct Stat){.czxid = 7, .mzxid = 7, .pzxid = 7, .ephemeralOwner = SESSION + 1},
        &(struct Stat){.czxid = 7, .mzxid = 7, .pzxid = 7, .ephemeralOwner = SESSION, .numChildren = 1},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
        ck_assert_msg(!is_created(asked, false, "/a/x-lock-0000000042", others[i], ""), "row %zu", i);
}
END_TEST

START_TEST(paths_events_and_sessions) {
    const struct pdk__request request = {.path = "/a"};
    ck_assert(pdk__answer_is_path(&request, "/a"));
    ck_assert(!pdk__answer_is_path(&request, "/b"));
    ck_assert(!pdk__answer_is_path(&request, NULL));
    const int known[] = {ZOO_CREATED_EVENT, ZOO_DELETED_EVENT, ZOO_CHANGED_EVENT, ZOO_CHILD_EVENT};
    for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
        ck_assert(pdk__answer_is_event(known[i], "/a"));
    ck_assert(!pdk__answer_is_event(99, "/a"));
    ck_assert(!pdk__answer_is_event(ZOO_CHILD_EVENT, NULL));
    ck_assert(!pdk__answer_is_event(ZOO_CHILD_EVENT, "a"));
    ck_assert(pdk__answer_is_session(-1, 1));
    ck_assert(pdk__answer_is_session(1, 86400000));
    ck_assert(!pdk__answer_is_session(0, 1));
    ck_assert(!pdk__answer_is_session(1, 0));
    ck_assert(!pdk__answer_is_session(1, 86400001));
}
END_TEST

START_TEST(lists) {
    char *names[] = {(char *)"a", (char *)"lock-0000000001"};
    char *const bad[] = {NULL, (char *)"", (char *)"a/b", (char *)".", (char *)".."};
    ck_assert(pdk__answer_is_list(&(struct String_vector){2, names}));
    ck_assert(pdk__answer_is_list(&(struct String_vector){0, NULL}));
    ck_assert(!pdk__answer_is_list(NULL));
    ck_assert(!pdk__answer_is_list(&(struct String_vector){-1, names}));
    ck_assert(!pdk__answer_is_list(&(struct String_vector){1, NULL}));
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        names[1] = bad[i];
        ck_assert_msg(!pdk__answer_is_list(&(struct String_vector){2, names}), "row %zu", i);
    }
}
END_TEST

START_TEST(access_lists) {
    struct ACL entries[] = {{1, {(char *)"world", (char *)"anyone"}}, {31, {(char *)"digest", (char *)"a:b"}}};
    ck_assert(pdk__answer_is_acl(&(struct ACL_vector){2, entries}));
    ck_assert(pdk__answer_is_acl(&(struct ACL_vector){0, NULL}));
    ck_assert(!pdk__answer_is_acl(NULL));
    ck_assert(!pdk__answer_is_acl(&(struct ACL_vector){-1, entries}));
    ck_assert(!pdk__answer_is_acl(&(struct ACL_vector){1, NULL}));
    entries[1].id.id = NULL;
    ck_assert(!pdk__answer_is_acl(&(struct ACL_vector){2, entries}));
    entries[1].id.scheme = NULL;
    ck_assert(!pdk__answer_is_acl(&(struct ACL_vector){2, entries}));
}
END_TEST

int main(void) {
    return ts_run("answers", NULL, NULL, stats, data, creates, paths_events_and_sessions, lists, access_lists, NULL);
}
