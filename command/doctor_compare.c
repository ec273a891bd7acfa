/* All servers together: equal settings, one ensemble, the leader's clock. */
#include "clock.h"
#include "doctor.h"
#include "words.h"
#include <paddock/contenders.h>
#include <paddock/hold.h>
#include <paddock/lock.h>
#include <string.h>

enum { ACQUIRE_MS = 10000, APART_MS = 1000, VISIBLE_MS = 3000, AHEAD_MS = 2000 };

static void compare_pair(cmd_doctor *d, const cmd_server *a, const cmd_server *b) {
    if (a->tick_ms && b->tick_ms && a->tick_ms != b->tick_ms)
        cmd_doctor_find(d, "unequal", b->address,
                        g_strdup_printf("its tickTime is %d ms, that of %s %d ms", b->tick_ms, a->address, a->tick_ms),
                        "give all servers the same tickTime");
    if (a->min_ms != b->min_ms || a->max_ms != b->max_ms)
        cmd_doctor_find(d, "unequal", b->address,
                        g_strdup_printf("it gives session timeouts from %d to %d ms, and %s from %d to %d ms",
                                        b->min_ms, b->max_ms, a->address, a->min_ms, a->max_ms),
                        "give all servers the same minSessionTimeout and maxSessionTimeout");
    if (a->version && b->version && strcmp(a->version, b->version) != 0)
        cmd_doctor_find(d, "unequal", b->address,
                        g_strdup_printf("it is ZooKeeper %s, and %s is %s", b->version, a->address, a->version),
                        "finish the upgrade");
}

static bool is_mode(const cmd_server *s, const char *mode) { return s->mode && strcmp(s->mode, mode) == 0; }

/* Judge servers that serve nobody. A leader that serves no clients answers as a server without a quorum does. But then
 * the others follow, and none of them leads. */
static void judge_idle(cmd_doctor *d, bool followed, bool led) {
    guint idle = 0;
    for (guint i = 0; i < d->count; i++)
        idle += d->servers[i].serves_nobody;
    for (guint i = 0; i < d->count; i++) {
        const cmd_server *s = &d->servers[i];
        if (s->serves_nobody && followed && !led && idle == 1)
            cmd_doctor_find(
                d, "leader", s->address,
                g_strdup("it serves no clients; the others follow, and none of them leads: so it does"),
                "nothing, where leaderServes=no is meant: clients go on to the next server; otherwise look at "
                "its log");
        else if (s->serves_nobody)
            cmd_doctor_find(d, "silent", s->address, g_strdup("it says that it serves nobody: it has no quorum"),
                            "look at its log, and at the links between the servers");
    }
}

void cmd_doctor_compare(cmd_doctor *d) {
    bool followed = false;
    const cmd_server *first = NULL, *leader = NULL;
    for (guint i = 0; i < d->count; i++) {
        const cmd_server *s = &d->servers[i];
        if (!s->serves)
            continue;
        if (first)
            compare_pair(d, first, s);
        first = first ? first : s;
        if (is_mode(s, "standalone") && d->count > 1)
            cmd_doctor_find(d, "separate", s->address, g_strdup("it is standalone, and the list has several servers"),
                            "list the servers of one ensemble alone, each once");
        if (is_mode(s, "leader") && leader)
            cmd_doctor_find(d, "separate", s->address, g_strdup_printf("it leads, and so does %s", leader->address),
                            "list the servers of one ensemble alone; ask again if a leader was deposed just now");
        leader = is_mode(s, "leader") ? s : leader;
        followed |= is_mode(s, "follower");
    }
    judge_idle(d, followed, leader != NULL);
}

/* A node of ours: the moment of its making by the leader's clock, and two moments of ours around it. */
typedef struct {
    int64_t leader_ms, before_ms, after_ms; /* wall clocks */
    int64_t steady_before_ms, steady_after_ms;
} moment;

static pdk_hold *make_node(cmd_doctor *d, pdk_session *session, moment *m) {
    pdk_lock *lock = NULL;
    pdk_hold *hold = NULL;
    pdk_contenders *list = NULL;
    m->before_ms = g_get_real_time() / 1000;
    m->steady_before_ms = cmd_now_ms();
    pdk_status status = pdk_lock_new(session, CMD_DOCTOR_PATH, NULL, &lock);
    if (!status)
        status = pdk_lock_acquire(lock, ACQUIRE_MS, &hold);
    m->after_ms = g_get_real_time() / 1000;
    m->steady_after_ms = cmd_now_ms();
    if (!status)
        status = pdk_lock_list(lock, ACQUIRE_MS, &list);
    m->leader_ms = pdk_contenders_since_ms(list, 0);
    g_autofree char *why = status ? cmd_words(pdk_last_error()) : NULL;
    if (why) /* it begins with the path, as the finding does */
        cmd_doctor_find(
            d, "lock", CMD_DOCTOR_PATH,
            g_strdup(why + (g_str_has_prefix(why, CMD_DOCTOR_PATH ": ") ? strlen(CMD_DOCTOR_PATH ": ") : 0)),
            "clocks were not compared: allow this user to create that node, or end the other doctor");
    pdk_contenders_free(list);
    pdk_lock_unref(lock);
    return hold;
}

/* Look for the node: every server shows it soon, if all are one ensemble. */
static void seek_node(cmd_doctor *d, const char *node) {
    for (guint i = 0; i < d->count; i++) {
        cmd_server *s = &d->servers[i];
        int64_t deadline = cmd_now_ms() + VISIBLE_MS;
        int code = CMD_WIRE_NONODE;
        if (s->serves) { /* the session may be over by now */
            cmd_wire_close(&s->wire);
            if (cmd_wire_open(&s->wire, s->address, d->names.chroot, d->settings->digest, s->granted_ms,
                              d->settings->connect_timeout_ms))
                continue;
        }
        while (s->serves && code == CMD_WIRE_NONODE && cmd_now_ms() < deadline) {
            g_autofree char *data = NULL;
            cmd_stat stat;
            cmd_wire_ask_data(&s->wire, node);
            code = cmd_wire_data(&s->wire, &data, &stat);
            if (code == CMD_WIRE_NONODE)
                g_usleep(50000);
        }
        if (s->serves && code == CMD_WIRE_NONODE)
            cmd_doctor_find(d, "separate", s->address,
                            g_strdup("it does not show a node that another server of the list has"),
                            "list the servers of one ensemble alone; if it is one, this server lags: look at its log");
    }
}

static void judge_clock(cmd_doctor *d, const moment *m) {
    /* The leader's moment lies somewhere between ours. */
    int64_t least = m->before_ms - m->leader_ms, most = m->after_ms - m->leader_ms;
    d->timed = true;
    d->ahead_ms = (least + most) / 2;
    d->server_now_ms = m->leader_ms;
    if (least > AHEAD_MS || most < -AHEAD_MS)
        cmd_doctor_find(
            d, "clock", "clock",
            g_strdup_printf("the clock here is %" G_GINT64_FORMAT " ms before the leader's", (gint64)d->ahead_ms),
            "run NTP on all machines: locks are not harmed, but times that are shown are wrong");
}

static void judge_rate(cmd_doctor *d, const moment *a, const moment *b) {
    int64_t theirs = b->leader_ms - a->leader_ms;
    int64_t least = b->steady_before_ms - a->steady_after_ms, most = b->steady_after_ms - a->steady_before_ms;
    if (theirs >= least - least / 16 - 1 && theirs <= most + most / 16 + 1)
        return;
    cmd_doctor_find(d, "rate", "clock",
                    g_strdup_printf("while %" G_GINT64_FORMAT
                                    " ms went by here, the leader's clock went on by %" G_GINT64_FORMAT,
                                    (gint64)most, (gint64)theirs),
                    "the clocks' rates differ by more than 1/16, or a clock was set just now: ask again; look at the "
                    "virtual machine");
}

void cmd_doctor_clocks(cmd_doctor *d) {
    pdk_session_options options = cmd_settings_session(d->settings);
    pdk_session *session = NULL;
    pdk_hold *hold = NULL;
    moment first = {0}, second = {0};
    options.accept_unprotected = 1; /* nothing is guarded by it */
    if (pdk_session_open(d->settings->servers, &options, &session) == PDK_OK)
        hold = make_node(d, session, &first);
    if (hold) {
        judge_clock(d, &first);
        seek_node(d, pdk_hold_node(hold) + strlen(d->names.chroot));
        int64_t rest = first.steady_after_ms + APART_MS - cmd_now_ms();
        (void)pdk_hold_release(hold);
        g_usleep((gulong)MAX(rest, 0) * 1000);
        hold = make_node(d, session, &second);
        if (hold)
            judge_rate(d, &first, &second);
        (void)pdk_hold_release(hold);
    }
    if (session)
        (void)pdk_session_close(session, 2000);
    pdk_session_unref(session);
}
