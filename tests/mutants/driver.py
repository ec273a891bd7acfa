"""Mutants of the driver, the shared objects and the recipes, judged by the simulation.

name: (file, judge and its options, [(text, its replacement) or (other file, text, its replacement)…]); see mutants.
"""

SIM = "sim --schedules 20000 --seed 1 --no-shrink --no-vacuity"
RARE = SIM.replace("20000", "300000")
PLAN = "sim --no-shrink --replay tests/sim/regressions/"

MUTANTS = {
    "the lease counts from the reply": ("src/session/ops.c", SIM, [
        ("pdk__renew_answered(s, op->sent,", "pdk__renew_answered(s, pdk__now(s),")]),
    "renewal by a read": ("src/session/ops.c", SIM, [
        ("    default:\n        return false;", "    default:\n        return result == PDK__OK;"),
        ("src/session/renew.c", "{.kind = PDK__OP_BARRIER, .path", "{.kind = PDK__OP_STAT, .path")]),
    "renewal by sync": ("tests/support/sim_client_io.c", SIM, [
        ("[PDK__OP_BARRIER] = SIM_OP_MULTI_CHECK", "[PDK__OP_BARRIER] = SIM_OP_SYNC")]),
    "the lease counts from the newest touch": ("src/core/lease.c", SIM, [
        ("before = l->sent[at] - report_delay(l);", "before = INT64_MAX;")]),
    "the lease is born when it is connected": ("src/session/supervise.c", SIM, [
        ("pdk__lease_negotiated(&s->lease, timeout_ms * PDK__MS);",
         "if (first)\n        pdk__lease_begin(&s->lease, pdk__now(s));\n"
         "    pdk__lease_negotiated(&s->lease, timeout_ms * PDK__MS);")]),
    "validity that revives": ("src/hold.c", SIM, [
        ("while (until > now && until < end_ns", "while (until >= 0 && now > 0 && until < end_ns"),
        ("src/session/renew.c", "pdk__holds_check(s); /* what", "(void)s; /* what")]),
    "what has lapsed is not told before the lease moves": ("src/session/renew.c", SIM, [
        ("pdk__holds_check(s); /* what", "(void)s; /* what")]),
    "no look at the lease when a grant is received": ("src/claim.c", RARE, [
        ("!(in_time && pdk_hold_valid(*hold))", "!in_time")]),
    "granted with any lease": ("src/session/commands.c", SIM, [
        ("event.fresh = pdk__lease_fresh(&s->lease, pdk__now(s));", "event.fresh = s->lease.end != 0;"),
        ("src/claim.c", "!(in_time && pdk_hold_valid(*hold))", "!in_time")]),
    "LOST twice": ("src/hold.c", SIM, [
        ("pdk__hold_tell(hold);\n    pdk__line_ended", "pdk__hold_tell(hold);\n    hold->told = false;\n"
         "    pdk__hold_tell(hold);\n    pdk__line_ended")]),
    "LOST never": ("src/hold.c", SIM, [
        ("pdk__hold_tell(hold);\n    pdk__line_ended", "pdk__line_ended")]),
    "LOST after the release": ("src/hold.c", SIM, [
        ("bool wanted = !hold->released;", "bool wanted = true;")]),
    "LOST when somebody looks": ("src/session/renew.c", SIM, [
        ("(void)user;\n    pdk__holds_check(s);", "(void)user;\n    (void)s;")]),
    "a cancel forgets its node": ("src/session/place.c", SIM, [
        ("pdk__place_tell(place, PDK__LEAVE);", "")]),
    "what was not sent is not sent again": ("src/session/commands.c", SIM, [
        ("if (!send_command(place, command))\n        pdk__alarm_set", "if (!send_command(place, command) && !place)\n"
         "        pdk__alarm_set")]),
    "any session's node is ours": ("src/session/commands.c", SIM, [
        ("reply->owner == place->s->id", "reply->owner != 0"),
        ("src/session/places.c", "g_uuid_string_random()", 'g_strdup("00000000-0000-4000-8000-000000000000")')]),
    "claims are forgotten at expiry": ("src/line.c", SIM, [
        ("        drop_place(line);\n        pdk__line_advance(line);", "        drop_place(line);")]),
    "nobody hears of the reconnect": ("src/session/supervise.c", SIM, [
        ("pdk__places_tell(s, PDK__LINK_UP);", "")]),
    "nobody hears that the lease is fresh": ("src/session/renew.c", SIM, [
        ("pdk__places_tell(s, PDK__FRESH);", "(void)s;")]),
    "a watch that fired is forgotten": ("src/session/place.c", SIM, [
        ("pdk__place_tell(place, PDK__POKE);", ""),
        ("src/session/commands.c", "if (!is_waiting(place) || !place->c.watching)", "if (true)")]),
    "a deadline never passes": ("src/claim.c", SIM, [
        ("pdk__alarm_set(claim->line->s, &claim->alarm, claim->deadline);", "")]),
    "hand-overs all have the same number": ("src/line.c", SIM, [
        ("line->turns.handovers, claim)", "0, claim)")]),
    "a lapsed right is handed over": ("src/line.c", SIM, [
        ("bool again = kept && s->ended == PDK_OK && line->place->c.phase == PDK__HELD && "
         "pdk__lease_fresh(&s->lease, now);", "bool again = s->ended == PDK_OK && line->place->c.phase == PDK__HELD;"),
        ("src/hold.c", "atomic_init(&hold->until, s->lease.end);", "atomic_init(&hold->until, pdk__now(s) + s->lease.timeout);")]),
    "hand-overs without end": ("src/core/turns.c", SIM, [
        ("t->handovers >= t->max_handovers || now - t->since >= t->max_time", "now < t->since")]),
    "no renewal": ("src/session/renew.c", SIM, [
        ("return s->last_proof + (pressed ", "return s->last_proof + 100 * s->lease.timeout + (pressed ")]),
    "everybody on a path is one": ("recipes/lock.c", SIM, [
        ("pdk__blocks_always, \"exclusive\"", "pdk__blocks_never, \"exclusive\""),
        ("struct pdk_lock {\n", "static bool pdk__blocks_never(enum pdk__kind a, enum pdk__kind b) {\n    (void)a;\n"
         "    (void)b;\n    return false;\n}\n\nstruct pdk_lock {\n")]),
    "a stuck number is as good as another": ("src/core/contender.c", PLAN + "equal_numbers.plan", [
        ("if (is_stuck(c->own))", "if (false)")]),
    "a watch is heard of for ever": ("src/session/commands.c", PLAN + "unreadable_predecessor.plan", [
        ("if (!is_waiting(place) || !place->c.watching)", "if (true)")]),
}
