"""Mutants of the driver, the shared objects and the recipes that directed tests judge.

name: (file, judge, [(text, its replacement) or (other file, text, its replacement)…]); see mutants.
"""

DRIVER = "driver"
ENSURE = "ensure"
BURST = "burst"
GHOST = "ghost"
CLOSED = "closed"
FREED = "freed"
OUTBOX = "outbox"
CANCEL = "cancel"
ANSWERS = "answers"
DATA = "data"
CHECKER = "checker"
EVIDENCE = "evidence"
PERMITS = "permits"
SILENCE = "silence"
NEWS = "news"

MUTANTS = {
    "a contender whom others block needs no list": ("src/session/commands.c", "sim --schedules 20000 --seed 1 --no-shrink --no-vacuity", [
        ("entry->rule.blocks == pdk__blocks_never && entry->create == 0", "entry->create == 0")]),
    "watched bytes never shrink": ("src/session/watches.c", DRIVER, [
        ("        return;\n    s->watched_bytes -= cost(key);\n    struct watched *watched", "        return;\n    struct watched *watched")]),
    "a shorter timeout shortens nothing that is held": ("src/session/supervise.c", DRIVER, [
        ("        s->listener->calls->lease_shortened(s->listener, s->lease.end);", "        (void)s;")]),
    "each handshake doubles the patience": ("src/session/silence.c", SILENCE, [
        ("s->silence.hurries / servers_of(s)", "s->silence.hurries + 0 * servers_of(s)")]),
    "a handshake is as old as the end of the one before": ("src/session/silence.c", SILENCE, [
        ("silence->dialled_at = 0; /* the", "silence->dialled_at = now; /* the")]),
    "a shorter lease is no hold's": ("src/grant/registry.c", DRIVER, [
        ("    atomic_store(&r->lease_end, end);\n    pdk__registry_check(r);", "    (void)end;\n    pdk__registry_check(r);")]),
    "a number of permits that could not be read is agreed": ("recipes/semaphore_admission.c", DRIVER, [
        ("bool fine = result == PDK__OK && admission->number.says >= PDK__NUMBER_EMPTY;", "bool fine = result == PDK__OK;"),
        ("if (admission->number.says == PDK__NUMBER_EMPTY) {", "if (admission->number.says <= PDK__NUMBER_EMPTY) {")]),
    "a claim that comes back waits for the admission of the next": ("src/grant/queue.c", PERMITS, [
        ("if (queue->admitting && queue->admitting->number > claim->number)", "if (queue->admitting == claim)")]),
    "the end of a hold wakes nobody": ("src/grant/hold.c", ENSURE, [
        ("    pdk__wake(&hold->waiters);\n    pdk__grant_hold_ended", "    pdk__grant_hold_ended")]),
    "the dispatcher ends while a close waits for callbacks": ("src/session/threads.c", CLOSED, [
        ("atomic_load(&threads_of(s)->stop) && atomic_load(&s->refs) == 0;", "atomic_load(&threads_of(s)->stop);")]),
    "what nobody can dispatch stays": ("src/session/threads.c", CLOSED, [
        ("            drop_what_is_due(s);", "            (void)drop_what_is_due;")]),
    "what nobody can dispatch wakes nobody": ("src/session/dispatch.c", CLOSED, [
        ("        s->platform->work(s);", "        (void)s;")]),
    "a handle is closed while it is borrowed": ("src/session/borrow.c", NEWS, [
        ("if (borrow->zk == zk && !borrow->returned)", "if (borrow->zk == zk && !zk)")]),
    "a retired handle is taken for the next": ("src/session/supervise.c", NEWS, [
        ("s->link == PDK__LINK_OPENING && !g_queue_find(&s->retired, zk))", "s->link == PDK__LINK_OPENING)")]),
    "a leader that is told keeps no candidacy": ("recipes/election_candidate.c", FREED, [
        ("candidate_tell_leader, NULL, pdk__candidacy_ref(c), pdk__candidacy_unref)",
         "candidate_tell_leader, NULL, c, NULL)")]),
    "log lines go first": ("src/session/dispatch.c", OUTBOX, [
        ("n = g_queue_pop_head(&o->due[kind]);", "n = g_queue_pop_head(&o->due[PDK__DUE_KINDS - 1 - kind]);")]),
    "a loss waits its turn": ("src/session/dispatch.c", OUTBOX, [
        ("push(s, PDK__DUE_LOSS, ", "push(s, PDK__DUE_CALLBACK, ")]),
    "an outbox falls silent without a sign": ("src/session/dispatch.c", OUTBOX, [
        ("    stay_readable(o);", "    (void)stay_readable;")]),
    "the sign of a silent outbox is taken away": ("src/session/dispatch.c", OUTBOX, [
        ("!o->busy && !o->silent) {", "!o->busy) {")]),
    "a cancelled close leaves callbacks to come": ("src/session/close.c", CANCEL, [
        ("    pdk__outbox_silence(s);\n}", "}")]),
    "a list for each claim": ("src/session/lists.c", BURST, [
        ("    bool ready = d->waiting->len > 0 && d->in_flight < most;", "    bool ready = d->waiting->len > 0;\n    (void)most;")]),
    "releases wait behind claims": ("src/session/ops.c", BURST, [
        ("request->kind == PDK__OP_DELETE ? PDK__LANE_DELETES : PDK__LANE_OTHERS", "PDK__LANE_OTHERS")]),
    "what is cancelled is sent all the same": ("src/session/ops.c", BURST, [
        ("(!op->turn || op->turn->is_wanted(op->user)) && submit", "submit")]),
    "a barrier for each list": ("src/session/renew.c", BURST, [
        ("if (!is_served(s, pdk__now(s)))", "if (pdk__now(s) > 0)")]),
    "a barrier for each lost create": ("src/session/renew.c", BURST, [
        ("if (s->barrier <= since)", "if (since > 0)")]),
    "some side queues are not cancelled": ("src/grant/queue.c", BURST, [
        ("while (!shut_sides(queue, why))\n        pdk__monitor_let_others(&s->monitor);", "shut_sides(queue, why);")]),
    "a follower is asked after the predecessor": ("src/session/predecessors.c", GHOST, [
        ("{.kind = PDK__OP_BARRIER, .path = ask->path}", "{.kind = PDK__OP_STAT, .path = ask->path}")]),
    "a list is believed, whatever the leader says": ("src/session/predecessors.c", GHOST, [
        ("            children[i].name.kind = PDK__FOREIGN;", "            (void)0;")]),
    "the nodes of all sessions begin alike": ("src/session/supervise.c", DRIVER, [
        ("    pdk__uuid_prefix_make(s);", "    (void)s;")]),
    "a token that went back is granted": ("src/core/contender.c", ANSWERS, [
        ("e->token < e->least_token", "e->token < 0")]),
    "what was seen is forgotten with the ZooKeeper session": ("src/session/tokens.c", DATA, [
        ("s->token_least = s->token_seen + 1;", "s->token_least = 1;")]),
    "a checker believes without a lease": ("src/grant/checked.c", CHECKER, [
        ("return stands && pdk__now(s) < end ?", "return stands && end >= 0 ?")]),
    "a checker believes what an earlier session has read": ("src/grant/checked.c", EVIDENCE, [
        (" == PDK__STANDS && atomic_load(&c->generation) == atomic_load(&c->query.s->generation);", " == PDK__STANDS;")]),
    "a checker does not hear of a deletion": ("src/grant/checked.c", CHECKER, [
        ("checked_settle(checked_of(query), gone ? PDK__NODE_IS_LOST : PDK__ASKING);", "(void)query, (void)gone;")]),
}
