"""Mutants of limits that count from an answer, or from a later moment, instead of from the sending or the call: at the first time, and
each time after that.

name: (file, judge and its options, [(text, its replacement)…]); see mutants.
"""

MUTANTS = {
    "lease lock: a renewal counts from its answer": ("recipes/lease_lock_tenure.c", "limits", [
        ("        renewed(t);\n" "    else", "        t->handed = pdk__now(s), renewed(t);\n" "    else")]),
    "lease lock: it counts from when its thread runs": ("recipes/lease_lock.c", "limits", [
        ("&t->mine, t->change.handed);", "&t->mine, pdk__now(t->call.s));")]),
    "lease lock: it lasts as long as its record by any clock": ("recipes/lease_lock_tenure.c", "limits", [
        ("    return handed + duration - duration / 16 - 50 * PDK__MS;", "    return handed + duration;")]),
    "job: at most for counts from when its thread runs": ("recipes/job.c", "limits", [
        ("b->change.handed + o->at_most_ms", "pdk__now(b->call.s) + o->at_most_ms")]),
    "job: an ask lasts as long as a request": ("recipes/job.c", "limits", [
        ("    b->until = pdk__deadline(s, timeout_ms);", "    b->until = pdk__deadline(s, ask_ms(s, timeout_ms));")]),
    "a claim that comes back has its whole time again": ("src/grant/claim.c", "limits", [
        ("        if (in_time && s->ended == PDK_OK) {\n"
         "            claim_queue_up(claim);",
         "        if (in_time && s->ended == PDK_OK) {\n"
         "            if (claim->deadline != INT64_MAX)\n"
         "                claim->deadline += pdk__now(s) - claim->since;\n"
         "            claim_queue_up(claim);")]),
    "hand-overs last from the newest one": ("src/grant/queue.c", "limits", [
        ("    case PDK__HANDOVER_HERE:\n", "    case PDK__HANDOVER_HERE:\n" "        queue->handovers.since = now;\n")]),
    "a handshake counts from the second look that finds none": ("src/session/silence.c", "silence", [
        ("pdk__lease_dialled(&s->lease, silence->idle_at, now);", "pdk__lease_dialled(&s->lease, now, now);")]),
    "a handshake counts from when a server was left": ("src/session/silence.c", "silence", [
        ("pdk__lease_dialled(&s->lease, from, pdk__now(s));",
         "(void)from, pdk__lease_dialled(&s->lease, pdk__now(s), pdk__now(s));")]),
    "a server's silence counts from the newest request": ("src/session/silence.c", "silence", [
        ("    if (s->silence.since != 0)\n"
         "        return;\n"
         "    s->silence.since = pdk__now(s);",
         "    s->silence.since = pdk__now(s);")]),
    "a session is given up so long after its connection": ("src/session/connect.c", "delay_steps", [
        ("s->suspended_at + GIVE_UP_AFTER", "s->connected_at + GIVE_UP_AFTER")]),
    "asked: a wish counts from when it is read": ("src/grant/grant.c", "between", [
        ("pdk__revocation_until(&r, reply->mtime_ms);", "pdk__revocation_until(&r, g_get_real_time() / 1000);")]),
    "set: each round has time of its own": ("recipes/set_taking.c", "held_up wait", [
        ("    pdk__majority_anew(&t->m);\n"
         "    if",
         "    pdk__majority_anew(&t->m);\n"
         "    if (t->deadline != INT64_MAX)\n"
         "        t->deadline = MAX(t->deadline, pdk__now(taking_session_of(&t->rights[0])) + 1000 * PDK__MS);\n"
         "    if")]),
    "majority: silence counts from when it is found": ("recipes/set_taking.c", "parts", [
        ("        r->silent_since = s->lease.end;", "        r->silent_since = r->silent_since > 0 ? r->silent_since : now;")]),
    "the command: a lease counts from after it was read": ("command/lease.c", "command_lease", [
        ("    int64_t now = cmd_now_ms(); /* ahead of what is left: we may be held up in between */\n"
         "    int64_t remaining = cmd_keeper_remaining_ms(keeper);",
         "    int64_t remaining = cmd_keeper_remaining_ms(keeper);\n"
         "    int64_t now = cmd_now_ms();")]),
}
