#include "member_bench.h"

#include "sim_thread.h"

#include <string.h>

struct member_setting member_settings[2];

static void set_by_thread(void *user) {
    struct member_setting *setting = user;
    setting->status = pdk_member_set_data(group.members[0], setting->text, strlen(setting->text), setting->timeout_ms);
    g_strlcpy(setting->why, pdk_last_error(), sizeof setting->why);
    setting->over = true;
}

static void set_in(void *subject, void *what) {
    sim_thread_start(&((struct rival *)subject)->process, set_by_thread, what);
}

struct member_setting *member_set(int number, const char *text, int64_t timeout_ms) {
    member_settings[number] = (struct member_setting){.text = text, .timeout_ms = timeout_ms, .status = PDK_INVALID};
    group_call(group_one, set_in, &member_settings[number]);
    return &member_settings[number];
}

void member_begin(void) {
    group_begin(0);
    group_call(group_one, group_join_in, &group.members[0]);
    platform_pass(SECOND);
}

void member_assert_data(const char *text) {
    ck_assert_str_eq(sim_tree_find(sim_truth(platform_ensemble), group_node(0))->data, text);
}

void member_assert_set(const struct member_setting *setting, pdk_status status) {
    ck_assert(setting->over);
    ck_assert_str_eq(pdk_status_name(setting->status), pdk_status_name(status));
}

void member_finish(void) {
    driver_refuses = NULL;
    group_call(group_one, group_leave_in, NULL);
    platform_pass(SECOND);
    size_t count = 0;
    sim_tree_children(sim_truth(platform_ensemble), GROUP_DIR, &count);
    ck_assert_uint_eq(count, 0);
}
