/* A group in simulated time: three processes with two sessions each have members that come, change their data and go, and watchers. Links
 * are cut and slow, servers lag, answers are lost, requests are refused, sessions end, and an administrator deletes members and makes nodes
 * that are none.
 *
 *     slot ──join──► membership ──joined(hold)──► a node, in truth ──► views of each watcher
 *       ▲               │ ▲   lost(reason): registers anew │
 *       └──── leave ────┘ └────────────────────────────────┘
 *
 * What watchers are told is judged by group_truth.c, and that no member ever has two nodes. A hold is not valid any more when its node
 * goes. When all is quiet each member has exactly one node, with the data that were set last, and each watcher has been told all of it. */
#include "group_truth.h"
#include "sim_thread.h"
#include "trouble.h"

#include <string.h>

#define DIR "/app/g/group"

enum { SESSIONS = 2, SLOTS = 4, RUN_MS = 30000 };

/* One membership, from join until no callback of it can come. */
struct membership {
    struct slot *slot;
    pdk_member *member; /* a reference; NULL: left */
    pdk_hold *hold;     /* a reference; NULL: lost, or not joined yet */
    int64_t invalid_since;
    bool setting, freed;
    pdk_status set; /* the newest one that is over */
    char data[32];  /* "process.slot.membership.write" */
    unsigned number, writes;
};

static struct slot {
    int process, number;
    pdk_session *session;
    struct membership *now; /* NULL: outside */
    pdk_group_watcher *watcher;
    struct truth_told *told;
} slots[RIVALS][SLOTS];

static GPtrArray *memberships;
static unsigned joins, losses, sets, unsure;
static const char *wrong_set; /* the judge asserts, not the thread */

/* ---- in a process: members */

static void on_joined(pdk_hold *hold, void *user) {
    struct membership *m = user;
    ck_assert(!m->freed && !m->hold);
    m->hold = pdk_hold_ref(hold);
    m->invalid_since = 0;
    joins++;
}

static void on_lost(pdk_reason reason, void *user) {
    struct membership *m = user;
    ck_assert(!m->freed && m->hold);
    ck_assert(!pdk_hold_is_valid(m->hold));
    ck_assert(reason != PDK_REASON_NONE || !m->member);
    losses += reason != PDK_REASON_NONE;
    pdk_hold_unref(g_steal_pointer(&m->hold));
}

static void on_failed(pdk_status status, void *user) {
    (void)user;
    ck_abort_msg("a member failed: %s", pdk_status_name(status));
}

static void on_free(void *user) {
    struct membership *m = user;
    must(!m->freed, "it is freed twice", m->data);
    m->freed = true;
    pdk_hold_unref(g_steal_pointer(&m->hold)); /* of a loss that is told to nobody, as its process has ended */
}

static void next_data(struct membership *m) {
    g_snprintf(m->data, sizeof m->data, "%d.%d.%u.%u", m->slot->process, m->slot->number, m->number, ++m->writes);
}

static void join_in(void *subject, void *what) {
    struct slot *slot = subject;
    pdk_member_callbacks calls = PDK_MEMBER_CALLBACKS_INIT;
    struct membership *m = g_new0(struct membership, 1);
    (void)what;
    g_ptr_array_add(memberships, m);
    *m = (struct membership){.slot = slot, .number = memberships->len, .set = PDK_OK};
    next_data(m);
    calls.joined = on_joined;
    calls.lost = on_lost;
    calls.failed = on_failed;
    calls.user_free = on_free;
    calls.user = m;
    slot->now = m;
    ck_assert_int_eq(pdk_group_join(slot->session, "/g/group", m->data, strlen(m->data), &calls, &m->member), PDK_OK);
}

static void leave_in(void *subject, void *what) {
    struct slot *slot = subject;
    struct membership *m = g_steal_pointer(&slot->now);
    (void)what;
    pdk_member_unref(g_steal_pointer(&m->member));
}

struct setting {
    struct membership *m;
    pdk_member *member;
    int64_t timeout_ms;
};

static void set_by_thread(void *user) {
    struct setting *c = user;
    struct membership *m = c->m;
    char data[sizeof m->data];
    g_strlcpy(data, m->data, sizeof data);
    m->set = pdk_member_set_data(c->member, data, strlen(data), c->timeout_ms);
    m->setting = false;
    sets += m->set == PDK_OK;
    unsure += m->set == PDK_UNAVAILABLE;
    if (m->set != PDK_OK && m->set != PDK_UNAVAILABLE && (m->set != PDK_NOT_HELD || m->member))
        wrong_set = pdk_status_name(m->set);
    if (m->set == PDK_OK && !truth_has_had(data))
        wrong_set = "PDK_OK, and no server has it";
    pdk_member_unref(c->member);
    g_free(c);
}

static void set_in(void *subject, void *timeout_ms) {
    struct membership *m = subject;
    struct setting *c = g_new(struct setting, 1);
    *c = (struct setting){m, pdk_member_ref(m->member), *(const int64_t *)timeout_ms};
    next_data(m);
    m->setting = true;
    sim_thread_start(&rivals[m->slot->process].process, set_by_thread, c);
}

/* ---- in a process: watchers */

static void on_view(pdk_group_view *view, void *user) {
    const struct slot *slot = user;
    must(slot->told != NULL, "a watcher that was stopped is told", DIR);
    truth_judge(slot->told, view);
}

static void watch_in(void *subject, void *what) {
    struct slot *slot = subject;
    (void)what;
    slot->told = truth_told_new();
    ck_assert_int_eq(pdk_group_watch(slot->session, "/g/group", on_view, slot, NULL, &slot->watcher), PDK_OK);
}

static void stop_in(void *subject, void *what) {
    struct slot *slot = subject;
    (void)what;
    pdk_group_watcher_close(g_steal_pointer(&slot->watcher));
    truth_told_free(g_steal_pointer(&slot->told));
}

/* ---- holds */

static void is_valid_in(void *subject, void *valid) { *(bool *)valid = pdk_hold_is_valid(subject); }

static bool is_valid(const struct membership *m) {
    bool valid;
    sim_call_in(&rivals[m->slot->process].process, is_valid_in, m->hold, &valid);
    return valid;
}

static void on_gone(const char *path) {
    for (guint i = 0; i < memberships->len; i++) {
        const struct membership *m = memberships->pdata[i];
        must(!m->hold || strcmp(pdk_hold_node(m->hold), path) != 0 || trouble_deleted(path) || !is_valid(m),
             "it goes while its hold is valid", path);
    }
}

/* A valid hold has its node; one that is not valid is lost before long. */
static void judge(void) {
    must(!wrong_set, "so is a set of what nobody else writes", wrong_set);
    for (guint i = 0; i < memberships->len; i++) {
        struct membership *m = memberships->pdata[i];
        if (!m->hold)
            continue;
        if (is_valid(m)) {
            const char *node = pdk_hold_node(m->hold);
            must(truth_data(node) || trouble_deleted(node), "its hold is valid, and it is not there", node);
        } else {
            m->invalid_since = m->invalid_since ? m->invalid_since : platform_agenda.now;
            must(platform_agenda.now < m->invalid_since + SECOND / 2, "its member is not told that it is none",
                 pdk_hold_node(m->hold));
        }
    }
}

/* ---- a run */

/* By name alone: also those that are no members. */
static void deletable(GPtrArray *paths) {
    trouble_children(DIR, paths);
    for (guint i = paths->len; i > 0; i--)
        if (!strstr(paths->pdata[i - 1], "-member-"))
            g_ptr_array_remove_index(paths, i - 1);
}

static const struct trouble trouble = {
    .deletes = 200,
    .refuses = 60,
    .loses = 30,
    .cuts = 200,
    .blocks = 1500,
    .slows = 500,
    .lags = 200,
    .kinds = {PDK__OP_CREATE, PDK__OP_LIST, PDK__OP_WATCH, PDK__OP_BARRIER, PDK__OP_SET, PDK__OP_GET},
    .kinds_count = 6,
    .deletable = deletable};

/* Persistent nodes that bear a member's name, and others. */
static void make_strange_node(void) {
    struct sim_packet *packet = sim_alloc(&platform_agenda, sizeof *packet);
    g_autofree char *path =
        g_strdup_printf(DIR "/_c_00000000-0000-4000-8000-%012d-%s-", one_of(1000000), one_in(2) ? "member" : "lock");
    *packet = (struct sim_packet){.kind = SIM_REQUEST,
                                  .op = SIM_OP_CREATE,
                                  .mode = SIM_SEQUENTIAL,
                                  .path = sim_text(&platform_agenda, path),
                                  .data = "strange"};
    if (trouble_children(DIR, NULL) < 20)
        sim_admin(platform_ensemble, packet);
}

static void do_something(struct slot *slot) {
    struct sim_process *p = &rivals[slot->process].process;
    int64_t timeout_ms = one_in(2) ? 200 : 20000;
    if (!slot->now && one_in(50))
        sim_call_in(p, join_in, slot, NULL);
    else if (slot->now && one_in(400))
        sim_call_in(p, leave_in, slot, NULL);
    else if (slot->now && !slot->now->setting && one_in(50))
        sim_call_in(p, set_in, slot->now, &timeout_ms);
    if (slot->number < SESSIONS && one_in(slot->watcher ? 1500 : 20))
        sim_call_in(p, slot->watcher ? stop_in : watch_in, slot, NULL);
}

static void pass(const struct trouble *wrong) {
    trouble_pass(wrong);
    judge();
}

static void open_in(void *subject, void *what) {
    const int i = *(const int *)subject;
    pdk_session *sessions[SESSIONS];
    (void)what;
    for (int k = 0; k < SESSIONS; k++)
        sessions[k] = trouble_open();
    for (int k = 0; k < SLOTS; k++)
        slots[i][k] = (struct slot){.process = i, .number = k, .session = sessions[k % SESSIONS]};
}

static void close_in(void *subject, void *what) {
    const int i = *(const int *)subject;
    (void)what;
    for (int k = 0; k < SLOTS; k++)
        if (slots[i][k].watcher)
            stop_in(&slots[i][k], NULL);
    for (int k = 0; k < SESSIONS; k++)
        pdk_session_unref(slots[i][k].session);
}

static void begin(guint seed) {
    trouble_begin(seed);
    memberships = g_ptr_array_new_with_free_func(g_free);
    joins = losses = sets = unsure = 0;
    wrong_set = NULL;
    truth_begin(DIR, on_gone);
    for (int i = 0; i < RIVALS; i++)
        sim_call_in(&rivals[i].process, open_in, &i, NULL);
    platform_pass(SECOND);
}

static bool for_all(bool (*is_fine)(struct slot *slot)) {
    bool all = true;
    for (int i = 0; i < RIVALS; i++)
        for (int k = 0; k < SLOTS; k++)
            all = is_fine(&slots[i][k]) && all;
    return all;
}

static void wait_for(bool (*is_fine)(struct slot *slot), const char *what) {
    for (int64_t until = platform_agenda.now + 30 * SECOND; !for_all(is_fine); pass(NULL))
        must(platform_agenda.now < until, what, DIR);
}

static bool has_set(struct slot *slot) { return !slot->now || !slot->now->setting; }

static bool is_registered(struct slot *slot) {
    const struct membership *m = slot->now;
    g_autofree char *own = m ? g_strdup_printf("%d.%d.%u.", slot->process, slot->number, m->number) : NULL;
    return !m || (m->hold && truth_members(own) == 1);
}

static bool is_told(struct slot *slot) { return !slot->told || truth_is_told(slot->told); }

static bool sets_again(struct slot *slot) {
    int64_t timeout_ms = PDK_FOREVER;
    if (!slot->now)
        return true;
    if (slot->now->set == PDK_OK) /* the newest data stand, whatever came in between */
        ck_assert_str_eq(truth_data(pdk_hold_node(slot->now->hold)), slot->now->data);
    sim_call_in(&rivals[slot->process].process, set_in, slot->now, &timeout_ms);
    return true;
}

static bool leaves(struct slot *slot) {
    if (slot->now)
        sim_call_in(&rivals[slot->process].process, leave_in, slot, NULL);
    return true;
}

static bool all_are_members(struct slot *slot) {
    size_t present = 0;
    (void)slot;
    for (int i = 0; i < RIVALS; i++)
        for (int k = 0; k < SLOTS; k++)
            present += slots[i][k].now ? 1 : 0;
    return truth_members("") == present;
}

static bool nobody_is_there(struct slot *slot) {
    (void)slot;
    return truth_members("") == 0;
}

/* Each member has one node, with its data, and all know of it; then all leave. */
static void come_to_rest(void) {
    trouble_heal();
    wait_for(has_set, "a set does not return");
    wait_for(is_registered, "a member has no node, or two");
    for_all(sets_again);
    wait_for(has_set, "a set for ever does not return");
    wait_for(all_are_members, "a node is left of one that has left");
    wait_for(is_told, "a watcher is not told what stands");
    for_all(leaves);
    wait_for(nobody_is_there, "a node is left");
    wait_for(is_told, "a watcher is not told that all have left");
    for (guint i = 0; i < memberships->len; i++)
        ck_assert(((const struct membership *)memberships->pdata[i])->freed);
}

static void end(void) {
    for (int i = 0; i < RIVALS; i++)
        sim_call_in(&rivals[i].process, close_in, &i, NULL);
    truth_end();
    g_ptr_array_unref(memberships);
    trouble_end();
}

static bool plays(struct slot *slot) {
    do_something(slot);
    return true;
}

static void run(guint seed, bool faults) {
    begin(seed);
    for (int i = 0; i < RUN_MS / TROUBLE_STEP_MS; i++) {
        for_all(plays);
        if (one_in(300))
            make_strange_node();
        pass(faults ? &trouble : NULL);
    }
    come_to_rest();
    ck_assert_uint_gt(joins, 40);
    ck_assert_uint_gt(sets, 100);
    ck_assert_uint_gt(truth_count.views, 200);
    ck_assert_uint_gt(truth_count.changed, 200);
    ck_assert_uint_gt(truth_count.left, 100);
    ck_assert(faults ? losses > 5 && unsure > 5 : losses == 0 && unsure == 0);
    ck_assert(!faults || (trouble_count.lost > 50 && trouble_count.refused > 20 && trouble_count.blocked > 0));
    end();
}

START_TEST(members_and_watchers) { run((guint)_i + 1, false); }
END_TEST

START_TEST(members_and_watchers_while_everything_fails) { run((guint)_i + 100, true); }
END_TEST

static Suite *make_suite(void) {
    Suite *suite = suite_create("driver_group_play");
    TCase *cases = tcase_create("driver_group_play");
    tcase_add_checked_fixture(cases, platform_setup, platform_teardown);
    tcase_add_loop_test(cases, members_and_watchers, 0, 3);
    tcase_add_loop_test(cases, members_and_watchers_while_everything_fails, 0, trouble_seeds(24));
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void) { return ts_run_suite(make_suite()); }
