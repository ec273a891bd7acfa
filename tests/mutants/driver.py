"""Mutants of the driver, the shared objects and the recipes, judged by the simulation.

name: (file, judge and its options, [(text, its replacement) or (other file, text, its replacement)…]); see mutants.
"""

SIM = "sim --schedules 20000 --seed 1 --no-shrink --no-vacuity"
RARE = SIM.replace("20000", "300000")
PLAN = "sim --no-shrink --replay tests/sim/regressions/"
# A poll would make up for a lost event, and hide the mutant.
NO_POLL = ("src/session/live_query.c", "pdk__live_query_look_within(l, l->s->lease.timeout); /*", "(void)l; /*")

MUTANTS = {
    "the lease counts from the reply": ("src/session/ops.c", SIM, [
        ("pdk__renew_answered(s, op->sent,", "pdk__renew_answered(s, pdk__now(s),")]),
    "renewal by a read": ("src/session/ops.c", SIM, [
        ("    default:\n        return false;", "    default:\n        return result == PDK__OK;"),
        ("src/session/renew.c", "{.kind = PDK__OP_BARRIER, .path", "{.kind = PDK__OP_STAT, .path")]),
    "renewal by sync": ("tests/support/simulated/sim_client_io.c", SIM, [
        ("[PDK__OP_BARRIER] = SIM_OP_MULTI_CHECK", "[PDK__OP_BARRIER] = SIM_OP_SYNC")]),
    "the lease counts from the newest touch": ("src/core/lease.c", SIM, [
        ("before = l->sent[at] - report_delay(l);", "before = INT64_MAX;")]),
    "the lease is born when it is connected": ("src/session/supervise.c", SIM, [
        ("pdk__lease_negotiated(&s->lease, timeout_ms * PDK__MS);",
         "if (first)\n        pdk__lease_begin(&s->lease, pdk__now(s));\n"
         "    pdk__lease_negotiated(&s->lease, timeout_ms * PDK__MS);")]),
    "validity that revives": ("src/grant/registry.c", SIM, [
        ("        note_lapsed(r);", "        (void)note_lapsed;"),
        ("pdk__registry_check(r); /* a hold", "(void)r; /* a hold")]),
    "what has lapsed is not told before the lease moves": ("src/grant/registry.c", SIM, [
        ("pdk__registry_check(r); /* a hold", "(void)r; /* a hold")]),
    "no look at the lease when a grant is received": ("src/grant/claim.c", RARE, [
        ("!(in_time && pdk_hold_is_valid(*hold))", "!in_time")]),
    "granted with any lease": ("src/session/commands.c", SIM, [
        ("event.fresh = pdk__lease_fresh(&s->lease, pdk__now(s));", "event.fresh = s->lease.end != 0;"),
        ("src/grant/claim.c", "!(in_time && pdk_hold_is_valid(*hold))", "!in_time")]),
    "a try is busy by an old list": ("tests/support/simulated/sim_client_io.c", "tries", [
        ("[PDK__OP_SYNC] = SIM_OP_SYNC", "[PDK__OP_SYNC] = SIM_OP_EXISTS")]),
    "a try writes where somebody is": ("src/core/contender.c", "tries", [
        ("c->found_somebody = c->leaving = true;", "c->looks_first = false;")]),
    "LOST twice": ("src/grant/hold.c", SIM, [
        ("    pdk__loss_tell(&hold->loss, reason);\n", "    pdk__loss_tell(&hold->loss, reason);\n    hold->loss.told = false;\n    pdk__loss_tell(&hold->loss, reason);\n")]),
    "LOST never": ("src/grant/hold.c", SIM, [
        ("    pdk__loss_tell(&hold->loss, reason);\n", "    hold->loss.reason = reason;\n")]),
    "LOST after the release": ("src/grant/loss.c", SIM, [
        ("bool wanted = !loss->released;", "bool wanted = true;")]),
    "LOST when somebody looks": ("src/grant/registry.c", SIM, [
        ("*l) { pdk__registry_check(registry_of(l)); }", "*l) { (void)l; }")]),
    "a cancel forgets its node": ("src/session/entry.c", SIM, [
        ("pdk__entry_tell(entry, PDK__LEAVE);", "")]),
    "what was not sent is not sent again": ("src/session/commands.c", SIM, [
        ("pdk__alarm_set(entry->s, &entry->retry, now + pause);",
         "if (pause != RETRY_NS)\n        pdk__alarm_set(entry->s, &entry->retry, now + pause);")]),
    "any session's node is ours": ("src/session/commands.c", SIM, [
        ("reply->owner == entry->s->id", "reply->owner != 0"),
        ("src/session/entry.c", 'g_snprintf(uuid, sizeof uuid, "%s%012" PRIx64, s->uuid_prefix, ++s->marks);',
         'g_strlcpy(uuid, "00000000-0000-4000-8000-000000000000", sizeof uuid);')]),
    "claims are forgotten at expiry": ("src/grant/queue.c", SIM, [
        ("        drop_entry(queue);\n        pdk__queue_advance(queue);", "        drop_entry(queue);")]),
    "nobody hears of the reconnect": ("src/session/supervise.c", SIM, [
        ("pdk__entries_tell(s, PDK__LINK_UP);", "")]),
    "nobody hears that the lease is fresh": ("src/session/renew.c", SIM, [
        ("pdk__entries_tell_fresh(s);", "(void)s;")]),
    "a watch that fired is forgotten": ("src/session/entry.c", SIM, [
        ("        entry->ahead_gone = news != PDK__NEWS_CHANGED;", "        return;"),
        ("src/session/predecessors.c", "if (!is_waiting(first)) {", "if (true) {")]),
    "a deadline never passes": ("src/grant/claim.c", SIM, [
        ("pdk__alarm_set(claim->queue->s, &claim->alarm, claim->deadline);", "")]),
    "hand-overs all have the same number": ("src/grant/queue.c", SIM, [
        ("1, queue->handovers.handovers)", "1, 0)")]),
    "a lapsed right is handed over": ("src/grant/queue.c", SIM, [
        ("kept && !entry->wished && s->ended == PDK_OK && entry->c.phase == PDK__HELD &&\n                 pdk__lease_fresh(&s->lease, now) &&",
         "!entry->wished && s->ended == PDK_OK && entry->c.phase == PDK__HELD &&"),
        ("src/grant/hold.c", "return MIN(lease_end, own);", "return own > 0 ? lease_end + hold->s->lease.timeout : own;")]),
    "hand-overs without end": ("src/core/handovers.c", SIM, [
        ("h->handovers < h->max_handovers && now - h->since < h->max_time", "now >= h->since")]),
    "no renewal": ("src/session/renew.c", SIM, [
        ("return s->last_proof + (pressed ", "return s->last_proof + 100 * s->lease.timeout + (pressed ")]),
    "everybody on a path is one": ("recipes/lock.c", SIM, [
        ("PDK__LABEL_LOCK, {pdk__blocks_always, 0}", "PDK__LABEL_LOCK, {pdk__blocks_never, 0}")]),
    "a stuck number is as good as another": ("src/core/contender.c", PLAN + "equal_numbers.plan", [
        ("if (went_back || is_stuck(c->own))", "if (went_back)")]),
    "a watch is heard of for ever": ("src/session/commands.c", PLAN + "unreadable_predecessor.plan", [
        ("        pdk__predecessors_begin(entry);", "        ;")]),
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
    "a downgrade that nobody hears of": ("src/grant/grant.c", SIM, [
        ("pdk_status status = pdk__entry_exchange(grant->entries[0], &grant->owner, kind, &grant->exchange);",
         "pdk_status status = kind ? PDK_OK : PDK_LIMIT;")]),
    "a downgraded writer keeps its node": ("src/grant/grant.c", SIM, [
        ("pdk__entry_drop(old);", "old->owner = NULL;")]),
    "the writer's node goes before the reader's has come": ("src/grant/grant.c", SIM, [
        ("    grant->shared = status == PDK_OK;", "    grant->shared = status == PDK_OK;\n    pdk__entry_leave(grant->entries[0]);")]),
    "a downgraded writer goes to the end of the line": ("src/session/entry.c", SIM, [
        ("    entry->name = g_strconcat(entry->c.mark, held->c.own + strlen(held->c.mark), NULL);\n    entry->c.named = true;\n",
         "")]),
    "a place in line that is nobody's any more": ("src/core/contender.c", PLAN + "exchanged_gone.plan", [
        ("if (view->exchanged_gone || (view->blocker[0] != '\\0' && e->never_waits))", "if (view->blocker[0] != '\\0' && e->never_waits)")]),
    "a reader is downgraded once more": ("recipes/rwlock.c", SIM, [
        ('return pdk__fail(PDK_INVALID, "%s: %s: it is shared already", call, hold->node);', "return PDK_OK;")]),
    # semaphores
    "one permit too many": ("recipes/semaphore_admission.c", SIM, [
        ("{pdk__blocks_always, admission->all->permits - 1}", "{pdk__blocks_always, admission->all->permits}"),
        ("admission->all->permits - taken >= admission->claim->count", "admission->all->permits + 1 - taken >= admission->claim->count")]),
    "one permit too few": ("recipes/semaphore_admission.c", SIM, [
        ("admission->all->permits - taken >= admission->claim->count", "admission->all->permits - 1 - taken >= admission->claim->count")]),
    "nobody hears that permits are given back": ("recipes/semaphore_admission.c", SIM, [
        ("{.kind = PDK__OP_LIST, .watch = admission->watching}, on_leases)", "{.kind = PDK__OP_LIST}, on_leases)"), NO_POLL]),
    "one permit, however many were asked for": ("recipes/semaphore_admission.c", SIM, [
        ("for (int32_t i = 0; i < admission->claim->count && admission->taking", "for (int32_t i = 0; i < 1 && admission->taking"),
        ("while (admitted < admission->claim->count && admission->leases", "while (admitted < 1 && admission->leases"),
        ("if (admitted < admission->claim->count)", "if (admitted < 1)")]),
    "the number of permits is noted wrongly": ("recipes/semaphore_admission.c", SIM, [
        (".data = admission->number.ours, .container = true}", '.data = "12345", .container = true}')]),
    "a turn that is over keeps its leases": ("recipes/semaphore_admission.c", SIM, [
        ("    give_up(admission);\n    pdk__live_query_stop", "    for (int32_t i = 0; i < admission->claim->count; i++)\n        if (admission->leases[i])\n"
         "            admission->leases[i]->owner = NULL;\n    pdk__live_query_stop")]),
    # elections
    "lookouts do not look again after a reconnect": ("src/session/live_query.c", SIM, [
        ("pdk__live_query_look(item);", "(void)item;"), NO_POLL]),
    "an observer does not watch the leader": ("recipes/election_observer.c", SIM, [
        ("observation->reading_watched ? PDK__OP_WATCH : PDK__OP_GET", "PDK__OP_GET"), NO_POLL]),
    "an observer does not watch an empty line": ("recipes/election_observer.c", SIM, [
        (".watch = watch,\n", ".watch = false,\n"), NO_POLL]),
    "an observer is content with a node that is gone": ("recipes/election_observer.c", SIM, [
        ("if (result == PDK__NO_NODE || nobody) /* gone", "if (nobody) /* gone"), NO_POLL]),
    "an observer is told of the last in line": ("recipes/election_observer.c", SIM, [
        ("if (order < 0 ||", "if (!first || order > 0 ||")]),
    "elected after it has left": ("recipes/candidacy.c", RARE, [
        ("bool granted = c->place && (candidacy_holds(c) || c->received);", "bool granted = candidacy_holds(c) || c->received || !c->place;")]),
    "a loss deposes nobody": ("recipes/candidacy.c", SIM, [
        ("    candidacy_notify(c, lost_run, NULL, reason);",
         "    if (reason == PDK_REASON_NONE)\n        candidacy_notify(c, lost_run, NULL, reason);")]),
    "deposed, whatever the reason, as if it had resigned": ("recipes/candidacy.c", SIM, [
        ("candidacy_notify(c, lost_run, NULL, reason);", "candidacy_notify(c, lost_run, NULL, reason ? PDK_REASON_NONE : reason);")]),
    "who leaves stays in office": ("recipes/candidacy.c", SIM, [
        ("        candidacy_release(leftovers, c);\n", "        (void)leftovers;\n")]),
    "who resigned does not come back": ("recipes/candidacy.c", SIM, [
        ("pdk_status status = candidacy_stand_again(c);",
         "pdk_status status = notice->reason == PDK_REASON_NONE ? PDK_OK : candidacy_stand_again(c);")]),
    "a candidate queues again before it is deposed": ("recipes/candidacy.c", SIM, [
        ("        c->calls.granted(notice->hold, c->calls.user);",
         "        c->calls.granted(notice->hold, c->calls.user);\n    if (granted)\n        candidacy_stand_again(c);")]),
}
