"""Mutants that do not keep a pause: between two terms, two runs, two sessions, or before a request is made again.

name: (file, judge and its options, [(text, its replacement)…]); see mutants.
"""

MUTANTS = {
    "delay: who waits clears the broken pledges away first": ("recipes/lock_delay.c", "pauses", [
        ("            pdk__live_query_look_within(&question->query, keeper->delay.until - now);\n",
         "            clear_away(queue), pdk__live_query_look_within(&question->query, keeper->delay.until - now);\n")]),
    "job: at least for is left out of the run": ("recipes/job.c", "pauses", [
        (".least = o->at_least_ms,", ".least = 0,")]),
    "job: the periods count from the ask": ("recipes/job.c", "pauses", [
        ("earliest_start(b, made.start)", "made.start")]),
    "job: asks follow each other at once": ("recipes/job.c", "limits", [
        ("b->last ? b->until : MIN(b->until, now + AGAIN_NS));", "b->last ? b->until : now);")]),
    "a session that was ended is opened at once": ("src/session/supervise.c", "pauses", [
        ("    s->open_after = pdk__now(s) + pdk__pace_next(&s->reopenings, &pdk__pace_repeats, pdk__now(s));",
         "    s->open_after = pdk__now(s);")]),
    "a handle that cannot be opened is opened at once": ("src/session/supervise.c", "pauses", [
        ("    s->open_after = pdk__now(s) + REOPEN_AFTER_NS;", "    s->open_after = pdk__now(s);")]),
    "lease lock: a renewal that fails is made at once": ("recipes/lease_lock_tenure.c", "pauses", [
        ("    rest(t, pdk__now(t->s) + pause);", "    rest(t, pdk__now(t->s) + pause / 1000);")]),
    "record: a change is written again at once": ("recipes/record.c", "pauses", [
        ("pdk__pace_next(&c->pace, &pdk__pace_repeats, pdk__now(s)) : AGAIN_NS;", "0 : AGAIN_NS;")]),
    "guarded: a request that fails is made at once": ("recipes/guarded_steps.c", "pauses", [
        ("return again ? pdk__guarded_pause(c, PDK__GUARDED_AGAIN) : PDK_OK;",
         "return again ? pdk__guarded_pause(c, 1) : PDK_OK;")]),
    "member: data are written again at once": ("recipes/own_data.c", "pauses", [
        ("pdk__now(c->s) + AGAIN_NS);", "pdk__now(c->s) + 1);")]),
    "election: nobody is looked for all the time": ("recipes/election_observer.c", "pauses", [
        ("MIN(observation->query.s->lease.timeout, UNWATCHED_NS)", "1")]),
    "names are looked up all the time": ("src/session/connect.c", "names", [
        ("between(200 * PDK__MS, t / 10, 1000 * PDK__MS) : 5000 * PDK__MS;",
         "between(200 * PDK__MS, t / 10, 1000 * PDK__MS) : 20 * PDK__MS;")]),
    "elect: there is no rest after a term": ("command/elect_work.c", "paddock_elect Terms.test_pause", [
        ("        e->rest_until = cmd_now_ms() + e->pause_ms;", "        e->rest_until = cmd_now_ms();")]),
    "elect: checks follow each other at once": ("command/hooks.c", "paddock_elect Hooks.test_checks_have_a_pace", [
        ("    h->runs = false;\n" "    h->at = cmd_now_ms() + h->every_ms;", "    h->runs = false;\n" "    h->at = 0;")]),
}
