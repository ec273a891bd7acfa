"""Mutants of a stop, a loss or an end that falls between a grant and what it starts.

name: (file, judge and its options, [(text, its replacement)…]); see mutants.
"""

MUTANTS = {
    "election: a term that is over is told": ("recipes/candidacy.c", "between", [
        ("bool granted = c->place && (candidacy_holds(c) || c->received);", "bool granted = c->place != NULL;")]),
    "election: the end of a term that was not told is told": ("recipes/candidacy.c", "between", [
        ("if (c->calls.lost && c->told)", "if (c->calls.lost)")]),
    "election: a term is resigned before it is told": ("recipes/candidacy.c", "between", [
        ("c && candidacy_holds(c) && c->received ?", "c && candidacy_holds(c) ?")]),
    "election: an observer that was closed is told": ("recipes/election_observer.c", "between", [
        ("bool wanted = !observation->query.stopped;", "bool wanted = true;")]),
    "lease lock: a hold that was lost is given to the callback": ("recipes/lease_lock.c", "held_up hold", [
        ("    if (status == PDK_OK && !pdk__call_has_thread(call) && !pdk_hold_is_valid(t->hold))\n"
         "        status = lost(t);\n",
         "")]),
    "lease lock: its time is over before it is told": ("recipes/lease_lock.c", "held_up hold", [
        ("return lives && pdk_hold_is_valid(t->hold) ? PDK_OK : lost(t);", "return lives ? PDK_OK : lost(t);")]),
    "job: its time is over before it is told": ("recipes/job.c", "held_up hold", [
        ("    return pdk_hold_is_valid(b->hold) ? PDK_OK : lost(b);", "    return PDK_OK;")]),
    "record: it is written though the lock node is gone": ("recipes/record.c", "between", [
        ("    if (status == PDK_OK && q->also.result == PDK__NO_NODE)\n"
         '        return pdk__fail(PDK_LOST, "%s: %s: the lock node is gone", c->call->name, c->path);\n',
         ""),
        ("    if (status == PDK_OK && q->also.result != PDK__OK)\n        return PDK_UNAVAILABLE;", "")]),
    "guarded: it is opened by a hold that has ended meanwhile": ("recipes/guarded_steps.c", "between", [
        ("        if (g->machine.step == PDK__GUARDED_CHECK && pdk__guarded_has_ended(g))\n"
         "            result = PDK__NO_NODE;",
         "        if (false)\n"
         "            result = PDK__NO_NODE;")]),
    "guarded: it is read under a hold that has ended meanwhile": ("recipes/guarded.c", "between", [
        ("    if (pdk__guarded_has_ended(g)) {\n"
         "        pdk__guarded_lose(&g->machine);\n"
         "        status",
         "    if (g->s->ended != PDK_OK) {\n"
         "        pdk__guarded_lose(&g->machine);\n"
         "        status")]),
    "asked: a hold that has ended is told": ("src/grant/wish.c", "between", [
        ("bool wanted = !hold->ended;", "bool wanted = true;")]),
    "a grant that comes after the deadline is received": ("src/grant/claim.c", "held_up wait", [
        ("!(in_time && pdk_hold_is_valid(*hold))", "!pdk_hold_is_valid(*hold)")]),
    "a grant that lapsed queues in a session that has ended": ("src/grant/claim.c", "between", [
        ("        if (in_time && s->ended == PDK_OK) {", "        if (in_time) {")]),
    "semaphore: a lease that is gone is waited for": ("recipes/semaphore_admission.c", "permits", [
        ("    if (entry->c.leaving || entry->c.phase == PDK__GONE || entry->c.dirless) {", "    if (entry->c.dirless) {")]),
    "read/write lock: a reader that was a writer hands over": ("src/grant/grant.c", "between", [
        ("kept && grant->shared == queue->kind.shared);", "kept);")]),
    "member: a set is lost with its registration": ("recipes/group_member.c", "member_data", [
        ("        if (status != PDK_LOST && status != PDK_NOT_HELD)\n"
         "            return status;",
         "        if (status != PDK_NOT_HELD)\n"
         "            return status;")]),
    "elect: the work begins though its lock is over": ("command/work.c", "paddock_elect Terms.test_stopped_between", [
        ("    if (w->lease.end == 0) { /* we were", "    if (false) { /* we were"),
        ("    w->lost = w->lost || !cmd_keeper_is_valid(w->keeper);\n", "")]),
    "elect: the work begins after a gate that was told to end": ("command/elect_work.c", "paddock_elect Hooks.test_a_gate_that_ends_well_when_it_is_told_to", [
        ("!w->refused && !w->lost && !w->too_long && !w->terminated_by && ", "!w->refused && !w->lost && !w->too_long && ")]),
    "elect: the work begins after a gate, though we resign": ("command/elect_work.c", "paddock_elect Hooks.test_a_check_that_fails_during_the_gate", [
        ("!w->asked && !e->resigns && w->status == 0;", "!w->asked && w->status == 0;")]),
    "hold: the session ends while its reader goes on": ("command/guardian.c", "paddock_hold Hold.test_killed", [
        ("if (knows && (charge->commands || await_user(&user, g.secret->timeout_ms)))", "if (knows)")]),
    "striped: a queue that goes stays among those that wait": ("recipes/striped_agreement.c", "striped_connection", [
        ("    if (consent->link.data)\n"
         "        g_queue_unlink(&consent->agreement->waiting, &consent->link);\n"
         "    pdk__agreement_leave",
         "    pdk__agreement_leave")]),
    "service: a function begins though it was stopped": ("recipes/election_service.c", "service", [
        ("bool wanted = !service->stopping && pdk_hold_is_valid(hold);", "bool wanted = pdk_hold_is_valid(hold);")]),
}
