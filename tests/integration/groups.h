/* Groups under test. A watch keeps the views that one watcher was told, and judges each as it comes. Members and watches
 * live until ts_paddock_clear. Every function may be called from any thread. */
#ifndef GROUPS_H
#define GROUPS_H

#include "elections.h"

/* A new member, with the text as its data; with callbacks into a record of elections.h (ELECTED: joined, DEPOSED: lost).
 * Both fail the test when the call is refused. */
pdk_member *member_join(const ts_client *client, const char *path, const char *text);
pdk_member *member_join_recorded(const ts_client *client, const char *path, const char *text, record *r);
/* A member that is registered. */
pdk_member *member_joined(const ts_client *client, const char *path, const char *text);
/* Waits until it is registered. The hold is a reference of the test support's. */
pdk_hold *member_hold(pdk_member *member);

typedef struct watch watch;

watch *watch_begin(const ts_client *client, const char *path);
/* Calls act after each view has been judged, where callbacks run. Set it before the first view, or between two. */
void watch_act(watch *w, void (*act)(watch *w, void *user), void *user);
void watch_stop(watch *w);
int watch_views(watch *w);
int watch_freed(watch *w);
/* The newest view; it stays until ts_paddock_clear. NULL before the first. */
pdk_group_view *watch_newest(watch *w);
/* What no watcher may be told, in words: "" when all was well. Each view has the next number. Its members have an order.
 * What is said to have changed makes it of the view before. No member gets older data, and none comes back. */
const char *watch_problem(watch *w);
/* The data of the members, oldest first, as "a,b,c"; "!NO_PERMISSION" where there are none. g_free. */
char *watch_text(watch *w);
/* Waits until an exact view has this text; until a view has so many members. */
bool watch_wait(watch *w, const char *text, int64_t timeout_ms);
bool watch_wait_count(watch *w, size_t count, int64_t timeout_ms);

#define assert_watch(w, text)                                                                                          \
    do {                                                                                                               \
        const bool told_ = watch_wait(w, text, ts_patience(6000));                                                     \
        g_autofree char *is_ = watch_text(w);                                                                          \
        ck_assert_msg(told_, "the group is '%s', not '%s'", is_, text);                                                \
        ck_assert_str_eq(watch_problem(w), "");                                                                        \
    } while (0)

#endif
