"""Mutants of the driver, the shared objects and the recipes, judged by the simulation.

name: (file, judge and its options, [(text, its replacement) or (other file, text, its replacement)…]); see mutants.
"""

SIM = "sim --schedules 20000 --seed 1 --no-shrink --no-vacuity"
RARE = SIM.replace("20000", "300000")
PLAN = "sim --no-shrink --replay tests/sim/regressions/"
# A lost event is made good by a poll: what is to be found out is the event.
NO_POLL = ("src/session/lookout.c", "pdk__lookout_look_within(l, l->s->lease.timeout); /*", "(void)l; /*")

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
        ("pdk__hold_tell(hold);\n    end(hold, false)", "pdk__hold_tell(hold);\n    hold->told = false;\n"
         "    pdk__hold_tell(hold);\n    end(hold, false)")]),
    "LOST never": ("src/hold.c", SIM, [
        ("pdk__hold_tell(hold);\n    end(hold, false)", "end(hold, false)")]),
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
        ("src/session/places.c", 'g_strdup_printf("%s%012" PRIx64, s->kin, ++s->marks)',
         'g_strdup("00000000-0000-4000-8000-000000000000")')]),
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
        ("1, line->turns.handovers)", "1, 0)")]),
    "a lapsed right is handed over": ("src/line.c", SIM, [
        ("bool again = kept && s->ended == PDK_OK && place->c.phase == PDK__HELD && "
         "pdk__lease_fresh(&s->lease, now);", "bool again = s->ended == PDK_OK && place->c.phase == PDK__HELD;"),
        ("src/hold.c", "atomic_init(&hold->until, s->lease.end);", "atomic_init(&hold->until, pdk__now(s) + s->lease.timeout);")]),
    "hand-overs without end": ("src/core/turns.c", SIM, [
        ("t->handovers >= t->max_handovers || now - t->since >= t->max_time", "now < t->since")]),
    "no renewal": ("src/session/renew.c", SIM, [
        ("return s->last_proof + (pressed ", "return s->last_proof + 100 * s->lease.timeout + (pressed ")]),
    "everybody on a path is one": ("recipes/lock.c", SIM, [
        ("PDK__LABEL_LOCK, {pdk__blocks_always, 0}", "PDK__LABEL_LOCK, {pdk__blocks_never, 0}"),
        ("struct pdk_lock {\n", "static bool pdk__blocks_never(enum pdk__kind a, enum pdk__kind b) {\n    (void)a;\n"
         "    (void)b;\n    return false;\n}\n\nstruct pdk_lock {\n")]),
    "a stuck number is as good as another": ("src/core/contender.c", PLAN + "equal_numbers.plan", [
        ("if (is_stuck(c->own))", "if (false)")]),
    "a watch is heard of for ever": ("src/session/commands.c", PLAN + "unreadable_predecessor.plan", [
        ("if (!is_waiting(place) || !place->c.watching)", "if (true)")]),
    # read/write locks
    "readers do not wait for writers": ("src/core/view.c", SIM, [
        ("return theirs != PDK__READER || mine != PDK__READER;", "return mine != PDK__READER;")]),
    "writers do not wait for readers": ("src/core/view.c", SIM, [
        ("return theirs != PDK__READER || mine != PDK__READER;", "return theirs != PDK__READER;")]),
    "the nearest blocker of whatever kind": ("src/core/view.c", SIM, [
        ("b->rule.blocks(other->kind, b->me.kind))", "b->rule.blocks(b->me.kind, b->me.kind))")]),
    "everybody waits for the first": ("src/core/view.c", SIM, [
        ("if (is_later(other->sequence, b->nearest, view->blocker[0] != '\\0')) {",
         "if (view->blocker[0] == '\\0' || !is_later(other->sequence, b->nearest, true)) {")]),
    "a downgrade that nobody hears of": ("src/right.c", SIM, [
        ("pdk_status status = pdk__place_exchange(right->places[0], &right->owner, kind, &right->exchange);",
         "pdk_status status = kind ? PDK_OK : PDK_LIMIT;")]),
    "a downgraded writer keeps its node": ("src/right.c", SIM, [
        ("pdk__place_drop(old);", "old->owner = NULL;")]),
    "the writer's node goes before the reader's has come": ("src/right.c", SIM, [
        ("    right->shared = status == PDK_OK;", "    right->shared = status == PDK_OK;\n    pdk__place_leave(right->places[0]);")]),
    "a downgraded writer goes to the end of the line": ("src/session/places.c", SIM, [
        ("    place->name = g_strconcat(place->c.mark, held->c.own + strlen(held->c.mark), NULL);\n    place->c.named = true;\n",
         "")]),
    "a place in line that is nobody's any more": ("src/core/contender.c", PLAN + "exchange_disowned.plan", [
        ("if (view->disowned || (view->blocker[0] != '\\0' && e->hurry))", "if (view->blocker[0] != '\\0' && e->hurry)")]),
    "a reader is downgraded once more": ("recipes/rwlock.c", SIM, [
        ('return pdk__fail(PDK_INVALID, "%s: %s: it is shared already", call, hold->node);', "return PDK_OK;")]),
    # semaphores
    "one permit too many": ("recipes/semaphore_turn.c", SIM, [
        ("{pdk__blocks_always, turn->all->permits - 1}", "{pdk__blocks_always, turn->all->permits}"),
        ("turn->all->permits - taken >= turn->claim->count", "turn->all->permits + 1 - taken >= turn->claim->count")]),
    "one permit too few": ("recipes/semaphore_turn.c", SIM, [
        ("turn->all->permits - taken >= turn->claim->count", "turn->all->permits - 1 - taken >= turn->claim->count")]),
    "nobody hears that permits are given back": ("recipes/semaphore_turn.c", SIM, [
        ("{.kind = PDK__OP_LIST, .watch = turn->watching}, on_leases)", "{.kind = PDK__OP_LIST}, on_leases)"), NO_POLL]),
    "one permit, however many were asked for": ("recipes/semaphore_turn.c", SIM, [
        ("for (int32_t i = 0; i < turn->claim->count && turn->taking", "for (int32_t i = 0; i < 1 && turn->taking"),
        ("while (admitted < turn->claim->count && turn->leases", "while (admitted < 1 && turn->leases"),
        ("if (admitted < turn->claim->count)", "if (admitted < 1)")]),
    "the number of permits is noted wrongly": ("recipes/semaphore_turn.c", SIM, [
        ('number = g_strdup_printf("%d", turn->all->permits);', 'number = g_strdup_printf("%d", turn->all->permits + 7);')]),
    "a turn that is over keeps its leases": ("recipes/semaphore_turn.c", SIM, [
        ("    give_up(turn);\n    pdk__lookout_stop", "    for (int32_t i = 0; i < turn->claim->count; i++)\n        if (turn->leases[i])\n"
         "            turn->leases[i]->owner = NULL;\n    pdk__lookout_stop")]),
    # elections
    "lookouts do not look again after a reconnect": ("src/session/lookout.c", SIM, [
        ("pdk__lookout_look(link->data);", "(void)link->data;"), NO_POLL]),
    "an observer does not watch the leader": ("recipes/election_observer.c", SIM, [
        ("seer->reading_watched ? PDK__OP_WATCH : PDK__OP_GET", "PDK__OP_GET"), NO_POLL]),
    "an observer does not watch an empty line": ("recipes/election_observer.c", SIM, [
        (".path = seer->dir, .watch = watch}", ".path = seer->dir}"), NO_POLL]),
    "an observer is content with a node that is gone": ("recipes/election_observer.c", SIM, [
        ("if (result == PDK__NO_NODE) /* gone", "if (false) /* gone"), NO_POLL]),
    "an observer is told of the last in line": ("recipes/election_observer.c", SIM, [
        ("if (order < 0 ||", "if (!first || order > 0 ||")]),
    "elected after it has left": ("recipes/election_candidate.c", SIM, [
        ("elected = status == PDK_OK && !left;", "elected = status == PDK_OK;")]),
    "a loss deposes nobody": ("recipes/election_candidate.c", SIM, [
        ("if (c->leading) /* else it was never received */", "if (c->leading && reason == PDK_REASON_NONE)")]),
    "deposed, whatever the reason, as if it had resigned": ("recipes/election_candidate.c", SIM, [
        ("*news = (struct news){ref(c), reason};", "*news = (struct news){ref(c), reason ? PDK_REASON_NONE : reason};")]),
    "who leaves stays in office": ("recipes/election_candidate.c", SIM, [
        ("        release(remains, c->hold);\n", "        (void)remains;\n")]),
    "who resigned does not come back": ("recipes/election_candidate.c", SIM, [
        ("pdk_status status = stand(c);", "pdk_status status = news->reason == PDK_REASON_NONE ? PDK_OK : stand(c);")]),
    "a candidate queues again before it is deposed": ("recipes/election_candidate.c", SIM, [
        ("        c->calls.elected(hold, c->calls.user);", "        c->calls.elected(hold, c->calls.user);\n    if (elected)\n        stand(c);")]),
}
