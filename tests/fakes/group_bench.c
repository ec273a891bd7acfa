#include "group_bench.h"

#include "session/session.h"
#include "session/supervise.h"
#include "sim_client.h"

#include <string.h>

struct driver_user *const group_one = &driver_users[0], *const group_two = &driver_users[1];
struct group_fault group_fault;
struct group group;

static bool refuses(const struct pdk__request *request) {
    if (request->kind != group_fault.kind || !strstr(request->path, group_fault.part))
        return false;
    group_fault.seen++;
    if (group_fault.refuse > 0) {
        group_fault.refuse--;
        return true;
    }
    if (group_fault.code != 0)
        sim_answer_about(platform_ensemble, sim_client_session(&group_one->rival->process), request->path,
                         group_fault.code, group_fault.executed);
    if (!group_fault.always)
        group_fault.code = 0;
    if (group_fault.act)
        group_fault.act();
    group_fault.act = NULL;
    return false;
}

void group_arm(enum pdk__op_kind kind, const char *part) {
    memset(&group_fault, 0, sizeof group_fault);
    group_fault.kind = kind;
    group_fault.part = part;
    driver_refuses = refuses;
}

void group_step(void) { ck_assert(sim_step(&platform_agenda, INT64_MAX - 1)); }

void group_step_until_seen(void) {
    for (const int64_t until = platform_agenda.now + 60 * SECOND; group_fault.seen == 0; group_step())
        ck_assert_msg(platform_agenda.now < until, "no such request: kind %d", (int)group_fault.kind);
}

/* ---- in a process */

static void on_view(pdk_group_view *view, void *user) {
    (void)user;
    group.views++;
    group.count = pdk_group_view_count(view);
    group.exact = pdk_group_view_is_exact(view);
    group.inexact += !group.exact;
    for (size_t i = 0; i < group.count; i++)
        group.status = pdk_group_view_member(view, i)->status;
}

static void on_free(void *user) {
    (void)user;
    group.freed++;
}

void group_watch_in(void *subject, void *user) {
    (void)user;
    ck_assert_int_eq(
        pdk_group_watch(((struct rival *)subject)->session, "/group", on_view, NULL, on_free, &group.watcher), PDK_OK);
}

void group_join_in(void *subject, void *member) {
    ck_assert_int_eq(pdk_group_join(((struct rival *)subject)->session, "/group", "one", 3, NULL, member), PDK_OK);
}

void group_reopen_in(void *subject, void *user) {
    pdk_session *s = ((struct rival *)subject)->session;
    (void)user;
    pdk__lock(s);
    pdk__session_reopen(s, "as a test wants it");
    pdk__unlock(s);
}

void group_stop_in(void *subject, void *user) {
    (void)subject;
    (void)user;
    pdk_group_watcher_close(g_steal_pointer(&group.watcher));
}

void group_close_in(void *subject, void *user) {
    (void)user;
    pdk_session_close(((struct rival *)subject)->session, 0);
}

void group_leave_in(void *subject, void *user) {
    (void)subject;
    (void)user;
    for (int i = 0; i < GROUP_MEMBERS; i++)
        pdk_member_unref(g_steal_pointer(&group.members[i]));
}

void group_call(struct driver_user *u, sim_event_fn fn, void *what) {
    sim_call_in(&u->rival->process, fn, u->rival, what);
}

/* ---- from outside */

void group_begin(int members) {
    driver_begin();
    memset(&group, 0, sizeof group);
    group_arm(PDK__OP_GET, GROUP_DIR);
    for (int i = 0; i < members; i++)
        group_call(group_two, group_join_in, &group.members[i]);
    platform_pass(SECOND);
}

const char *group_node(size_t index) {
    size_t count = 0;
    const char *const *names = sim_tree_children(sim_truth(platform_ensemble), GROUP_DIR, &count);
    ck_assert_uint_lt(index, count);
    char *path = g_strconcat(GROUP_DIR "/", names[index], NULL);
    const char *text = sim_text(&platform_agenda, path);
    g_free(path);
    return text;
}

void group_admin(enum sim_op op, const char *path) {
    const struct sim_packet packet = {.kind = SIM_REQUEST, .op = op, .path = path, .data = "theirs"};
    ck_assert(sim_admin(platform_ensemble, &packet));
}
