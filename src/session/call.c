#include "session/call.h"

#include "base/text.h"
#include "session/blocking.h"
#include "session/chores.h"
#include "session/close.h"

#include <stddef.h>

pdk_status pdk__call_waits(struct pdk__call *c, struct pdk__waiters *on, int64_t until) {
    c->on = on;
    c->until = MIN(until, c->deadline);
    return PDK__WAITS;
}

pdk_status pdk__call_waits_for(struct pdk__call *c, struct pdk__waiters *on) {
    c->on = on;
    c->until = INT64_MAX;
    return PDK__WAITS;
}

bool pdk__call_has_thread(const struct pdk__call *c) { return !c->link.data; }

bool pdk__call_is_late(const struct pdk__call *c) { return pdk__now(c->s) >= c->deadline; }

struct pdk__call pdk__call_make(const struct pdk__call_kind *kind, pdk_session *s, const char *name,
                                int64_t timeout_ms) {
    return (struct pdk__call){.kind = kind, .s = s, .name = name, .timeout_ms = timeout_ms};
}

pdk_status pdk__call_check_fn(const char *name, bool has_fn) {
    return has_fn ? PDK_OK : pdk__fail(PDK_INVALID, "%s: fn: NULL", name);
}

static void call_tell(struct pdk__call *c, pdk_status status) {
    if (c->kind->tell)
        c->kind->tell(c, status);
    else if (c->answered)
        c->answered(status, c->user);
}

static void call_begin(struct pdk__call *c) {
    if (c->kind->begin)
        c->kind->begin(c);
}

static void call_leave(struct pdk__call *c) {
    if (c->kind->leave)
        c->kind->leave(c);
}

/* ---- a thread waits */

static void left_locked(void *user) { call_leave(user); }

static void left(void *user) {
    struct pdk__call *c = user;
    c->kind->free(c);
}

static pdk_status wait_over(struct pdk__call *c) {
    struct pdk__leave when_left = {.locked = left_locked, .after = left, .user = c};
    pdk_status status;
    c->deadline = pdk__deadline(c->s, c->timeout_ms);
    pdk__leave_push(&when_left);
    pdk__lock(c->s);
    call_begin(c);
    while ((status = c->kind->step(c)) == PDK__WAITS)
        pdk__wait(c->s, c->on, c->until);
    call_leave(c);
    pdk__unlock(c->s);
    pdk__leave_pop();
    return status;
}

pdk_status pdk__call_wait(struct pdk__call *c) {
    pdk_status status = pdk__may_block(c->s, c->name, c->timeout_ms);
    if (status == PDK_OK) {
        status = wait_over(c);
        call_tell(c, status);
    }
    c->kind->free(c);
    return status;
}

/* ---- a callback */

static void told(void *user) {
    struct pdk__call *c = user;
    if (c->status != PDK_OK)
        pdk__fail(c->status, "%s", c->text);
    call_tell(c, c->status);
}

static void dropped(void *user) {
    struct pdk__call *c = user;
    pdk_session *s = c->s;
    char *text = c->text;
    c->kind->free(c);
    g_free(text);
    pdk__session_unref(s);
}

static void over(struct pdk__call *c, pdk_status status) {
    pdk_session *s = c->s;
    c->status = status;
    c->text = status == PDK_OK ? NULL : g_strdup(pdk_last_error());
    g_queue_unlink(&s->monitor.all.sleepers, &c->link);
    call_leave(c);
    pdk__later(s, told, dropped, c); /* taken: a session ends all calls before it goes silent */
}

static void step(struct pdk__call *c) {
    pdk_session *s = c->s;
    pdk__sleep_off(c->on, &c->sleeper);
    pdk_status status = c->kind->step(c);
    if (status != PDK__WAITS) {
        over(c, status);
        return;
    }
    pdk__sleep_on(c->on, &c->sleeper);
    pdk__alarm_set(s, &c->alarm, c->until);
}

static void call_on_alarm(pdk_session *s, void *user) {
    (void)s;
    step(user);
}

static struct pdk__call *call_of(struct pdk__sleeper *sleeper) {
    return (struct pdk__call *)((char *)sleeper - offsetof(struct pdk__call, sleeper));
}

static void woken(struct pdk__sleeper *sleeper) {
    struct pdk__call *c = call_of(sleeper);
    int64_t now = pdk__now(c->s);
    if (!c->alarm.position || c->alarm.at > now)
        pdk__alarm_set(c->s, &c->alarm, now);
}

static void begin_alone(struct pdk__call *c) {
    pdk_session *s = c->s;
    pdk__assert_locked(s);
    pdk__session_ref(s);
    c->deadline = pdk__deadline(s, c->timeout_ms);
    c->sleeper.woken = woken;
    c->alarm = (struct pdk__alarm){.ring = call_on_alarm, .user = c};
    c->link.data = &c->sleeper;
    g_queue_push_tail_link(&s->monitor.all.sleepers, &c->link);
}

void pdk__call_go(struct pdk__call *c) {
    begin_alone(c);
    pdk__alarm_set(c->s, &c->alarm, pdk__now(c->s));
}

pdk_status pdk__call_start(struct pdk__call *c) {
    pdk_session *s = c->s;
    pdk_status status = pdk__check_call(s, c->name, c->timeout_ms);
    if (status == PDK_OK) {
        pdk__lock(s);
        status = pdk__session_usable(s, c->name);
        if (status == PDK_OK) {
            call_begin(c);
            begin_alone(c);
            step(c); /* here, as a thread that waits does: or the timer's thread would have to be woken for it */
        }
        pdk__chores_run_and_unlock(s);
    }
    if (status != PDK_OK)
        c->kind->free(c);
    return status;
}

bool pdk__calls_end(pdk_session *s) {
    pdk__assert_locked(s);
    for (guint n = pdk__slice(s); n > 0 && s->monitor.all.sleepers.head; n--) {
        struct pdk__call *c = call_of(s->monitor.all.sleepers.head->data);
        pdk__alarm_off(&c->alarm);
        step(c);
        assert(s->monitor.all.sleepers.head != &c->link); /* no step waits any more */
    }
    return !s->monitor.all.sleepers.head;
}
