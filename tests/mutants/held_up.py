"""Mutants of what a process believes that was held up while it waited: its timers have not rung yet.

name: (file, judge and its options, [(text, its replacement)…]); see mutants.
"""

MUTANTS = {
    "election: a term that has lapsed is waited for": ("recipes/candidacy.c", "held_up first", [
        ("    if (c->holding && !pdk_hold_is_valid(c->hold))\n"
         "        pdk__hold_lose(c->hold, PDK_REASON_LEASE);",
         "    if (false)\n"
         "        pdk__hold_lose(c->hold, PDK_REASON_LEASE);")]),
    "a hold that has lapsed is released as if it stood": ("src/grant/hold.c", "held_up first", [
        ("    if (!kept) { /* it has lapsed unnoticed: on_lost",
         "    if (hold->latest < 0) { /* it has lapsed unnoticed: on_lost")]),
    "a hold that has lapsed has no reason": ("src/grant/hold.c", "held_up first", [
        ("    if (!hold->ended && !pdk_hold_is_valid(hold)) /* the timer", "    if (false) /* the timer")]),
    "a try is kept out by a grant that has lapsed": ("src/grant/queue.c", "held_up first", [
        ("    pdk__queue_check(queue);\n" "    assert_in_step(queue);\n" "    insert", "    insert")]),
    "set: one that has lapsed is released as if it stood": ("recipes/set.c", "held_up first", [
        ("    if (!kept) { /* it has lapsed unnoticed: on_lost is not called any more */\n"
         "        set_lose",
         "    if (false) { /* it has lapsed unnoticed: on_lost is not called any more */\n"
         "        set_lose")]),
    "guardian: a command that stands still gets TERM alone": ("command/guardian.c", "paddock_loss Loss.test_stopped_gets_cont_after_term", [
        ("&& ends(g, number)))", "&& ends(g, number) && !g->told))")]),
    "guardian: it waits until a keeper that stands still has read": ("command/guardian.c", "paddock_terminal Keys.test_stops_without_end", [
        (" && unread <= UNREAD)", ")")]),
    "elect: a check that took too long has succeeded": ("command/hooks.c", "paddock_elect Hooks.test_a_check_that_ends_well_too_late", [
        ("bool healthy = news.kind == CMD_GONE && news.number == 0 && !h->late;",
         "bool healthy = news.kind == CMD_GONE && news.number == 0;")]),
    "elect: /leader believes a lease that its work does not have": ("command/endpoint.c", "paddock_elect Listen.test_hangs", [
        (" && cmd_now_ms() < atomic_load(&endpoint->moments->term_at) &&\n"
         "           !atomic_load(&endpoint->moments->over);",
         ";")]),
    "fence: who was held up after a look raises the mark": ("src/fence/cell.c", "fence_turns", [
        ("        if ((to.top == from.top && to.handover == from.handover) || cell_exchange(cell, &from, &to))\n"
         "            return PDK_OK;",
         "        if (to.top != from.top || to.handover != from.handover)\n"
         "            (void)cell_exchange(cell, &from, &to);\n"
         "        return PDK_OK;")]),
}
