/* See sides.h. */
#include "sides.h"

#include <glib.h>
#include <string.h>

#include "ts_check.h"
#include "ts_support.h"

struct side sides[RECIPES];

void sides_begin(int session_ms) {
    memset(sides, 0, sizeof sides);
    for (each_side(s))
        pair_begin(&s->p, &recipes[s - sides], session_ms);
}

void sides_hold(int session_ms) {
    sides_begin(session_ms);
    for (each_side(s)) {
        s->held = recipe_take(s->p.r, s->p.object[0]);
        pair_flush(&s->p, 0); /* no node is left of the claim */
        s->lost = ts_lost_watch_answer(s->held);
        ck_assert_ptr_nonnull(s->lost);
        assert_recipe(s->p.r, !ts_fd_readable(ts_answer_fd(s->held), 0));
        s->token = ts_answer_token(s->held);
    }
}

void sides_follow(void) {
    for (each_side(s))
        s->waiter = pair_against(&s->p, 1);
}

void sides_wait(int session_ms, int64_t timeout_ms) {
    sides_begin(session_ms);
    for (each_side(s))
        s->held = pair_obstruct(&s->p, 0);
    for (each_side(s)) {
        const int nodes = recipe_nodes(s->p.path);
        s->waiter = recipe_async(s->p.r, s->p.object[1], timeout_ms);
        recipe_await_waits(s->p.r, s->waiter, s->p.path, nodes);
    }
}

void sides_links(int client, ts_proxy_mode mode) {
    for (each_side(s)) {
        if (mode == TS_PASS)
            ts_proxy_heal(s->p.client[client]->proxy);
        else
            ts_proxy_set_mode(s->p.client[client]->proxy, mode);
        s->cut = ts_now_ns();
        if (mode != TS_PASS && client == 0 && s->held != NULL)
            s->until = s->cut + ts_answer_remaining_ms(s->held) * 1000000;
    }
}

void sides_await_events(pdk_session_event event, int count) {
    for (each_side(s))
        assert_recipe(s->p.r, ts_wait_event(s->p.client[0], event, count, ts_patience(5000)));
}

void sides_assert_kept(void) {
    for (each_side(s)) {
        assert_recipe(s->p.r, ts_answer_is_valid(s->held));
        assert_recipe(s->p.r, ts_lost_count(s->lost) == 0 && !ts_fd_readable(ts_answer_fd(s->held), 0));
        ck_assert_int_eq(ts_events(s->p.client[0], PDK_SESSION_EXPIRED), 0);
    }
}

void sides_release(void) {
    for (each_side(s)) {
        pair_release(&s->p, 0, s->held);
        assert_recipe(s->p.r, ts_lost_wait_freed(s->lost, ts_patience(500)) && ts_lost_count(s->lost) == 0);
    }
}

void sides_assert_lost(pdk_reason reason, int64_t within_ms) {
    for (each_side(s)) {
        const recipe *r = s->p.r;
        ck_assert_msg(ts_fd_readable(ts_answer_fd(s->held), within_ms), "%s: the descriptor is not readable", r->name);
        assert_recipe(r, !ts_answer_is_valid(s->held));
        ck_assert_msg(ts_lost_wait(s->lost, ts_patience(SIDES_SCHEDULING_MS)), "%s: no LOST callback", r->name);
        ck_assert_msg(ts_lost_reason(s->lost) == reason && ts_answer_reason(s->held) == reason, "%s: lost by %s, %s",
                      r->name, pdk_reason_name(ts_lost_reason(s->lost)), pdk_reason_name(ts_answer_reason(s->held)));
        assert_recipe(r, ts_answer_remaining_ms(s->held) == 0);
        assert_recipe(r, ts_answer_ensure(s->held, 0) != PDK_OK);
        assert_recipe(r, ts_answer_token(s->held) == s->token);
    }
    ts_sleep_ms(150);
    for (each_side(s)) {
        const recipe *r = s->p.r;
        assert_recipe(r, ts_fd_readable(ts_answer_fd(s->held), 0));
        assert_recipe(r, !ts_answer_is_valid(s->held));
        assert_recipe(r, recipe_release(r, s->p.object[0], s->held) == PDK_LOST);
        assert_recipe(r, ts_lost_wait_freed(s->lost, ts_patience(SIDES_SCHEDULING_MS)));
        assert_recipe(r, ts_lost_count(s->lost) == 1);
        assert_recipe(r, ts_lost_freed(s->lost) == 1 && !ts_lost_freed_early(s->lost));
    }
}

void sides_assert_followed(void) {
    for (each_side(s)) {
        recipe_await(s->p.r->against, s->waiter, PDK_OK);
        assert_recipe(s->p.r, ts_lost_reason(s->lost) != PDK_REASON_LEASE || ts_answer_at_ns(s->waiter) >= s->until);
        pair_admit(&s->p, 1, s->waiter);
    }
    for (each_side(s))
        recipe_await_nodes(s->p.r, s->p.path, 0);
}
