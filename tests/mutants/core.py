"""Mutants of the queue protocol, judged by its model.

name: (file, judge and its options, [(text, its replacement)…]); see mutants.
"""

LOSS = "model --losses 1"
LAPSE = "model --lapses 1 --losses 1"
CANCEL = "model --losses 1 --cancels 1"
ADMIN = "model --admin 1 --losses 1"
THREE = "model --clients 3 --losses 1"
REFUSE = "model --refusals 2 --losses 1"
MKDIR = "model --no-directory --losses 1"
GONE = "model --no-directory --losses 1 --admin 1 --vanishes 1 --exact"
MINUS = "model --losses 1 --claims 1 --first -4 --exact"
LONG = "model --losses 1 --claims 1 --first -2000000000 --exact"
OLD = "model --losses 1 --abandons 1 --same-mark"
TURNS = "model --threads 3 --handovers 1"
READ = "model --rwlock wrr"
DOWN = "model --rwlock wr --downgrades 1 --losses 1"
AWAY = "model --rwlock ww --downgrades 1 --admin 1"
SQUAT = "model --rwlock wr --downgrades 1 --squats 1"
GHOST = "model --threads 2 --ghosts 1"
ROOM = "model --semaphore 2 --clients 3 --claims 1"

NEAREST = "is_later(other->sequence, b->nearest, view->blocker[0] != '\\0')"
FARTHEST = "(view->blocker[0] == '\\0' || !is_later(other->sequence, b->nearest, true))"
SHARED = "return theirs != PDK__READER || mine != PDK__READER;"
HURRY = "view->blocker[0] != '\\0' && e->never_waits))\n        "
TAKEN = "c->phase = PDK__UNSURE;\n        c->pause = c->named;"

MUTANTS = {
    "its own server is asked after the predecessor": ("tests/model/entry.c", GHOST, [
        ("PDK__OP_BARRIER, model_name(entry_of(m, client, entry)->c.watched), 0, FOR_ASK)",
         "PDK__OP_WATCH, model_name(entry_of(m, client, entry)->c.watched), 0, FOR_ASK)")]),
    "a list shows again what the leader said to be gone": ("tests/model/entry.c", GHOST, [
        ("if (!k->told || !ts_fake_name_equal", "if (true || !ts_fake_name_equal")]),
    "nobody hears what the leader says": ("tests/model/entry.c", GHOST, [
        ("        k->told = true;\n        model_entry_watch_fired(m, client, k->ghost, true, true);", "        k->told = true;")]),
    "no barrier before recovery": ("src/core/contender.c", LOSS + " --claims 1", [
        ("return PDK__DO_PROVE;", "return PDK__DO_LIST;"), ("if (!c->proven)\n        return;", "")]),
    "a lost create was not executed": ("src/core/contender.c", LOSS, [
        ("c->phase = PDK__UNSURE;\n        break;", "break;")]),
    "a lost create was executed by whoever bears the mark": ("src/core/contender.c", OLD, [
        ("e->result == PDK__OK && e->ours", "e->result == PDK__OK")]),
    "absence is no answer": ("src/core/contender.c", LOSS + " --claims 1", [
        ("if (view->marked[0] == '\\0') {\n        be_out(c);", "if (view->marked[0] == '\\0') {")]),
    "the barrier need not be answered": ("src/core/contender.c", REFUSE + " --cancels 1", [
        ("if (!c->proven)\n        return;", "")]),
    "no second look after a watch on a vanished node": ("src/core/contender.c", LOSS, [
        ("else\n        c->list_due = true;\n    if (result == PDK__NOT_NOW)", "else if (result == PDK__NO_NODE)\n"
         "        c->watching = true;\n    else\n        c->list_due = true;\n    if (result == PDK__NOT_NOW)")]),
    "no second look after a reconnect": ("src/core/contender.c", LOSS, [
        ("c->link = true;\n        c->list_due = true;", "c->link = true;")]),
    "no second look after a watch fired": ("src/core/contender.c", THREE, [
        ("    else\n        c->list_due = true;\n    c->watching = false;", "")]),
    "a watch that fired is a grant": ("src/core/contender.c", "model --losses 1 --touches 1", [
        ("if (proves_turn(c, e))", "if (c->phase == PDK__IN && !c->leaving)")]),
    "no second look when the lease is fresh": ("src/core/contender.c", LAPSE, [
        ("if (pdk__contender_is_next(c))\n            c->list_due = true;", "")]),
    "an unanswered list is an answer": ("src/core/contender.c", REFUSE + " --lapses 1", [
        ("else if (e->result == PDK__UNKNOWN)\n            c->list_due = true;",
         "else if (e->result == PDK__UNKNOWN)\n            ;")]),
    "own node not required in the list": ("src/core/contender.c", ADMIN, [
        ("e->result == PDK__OK && e->view->listed", "e->result == PDK__OK")]),
    "granted without a fresh lease": ("src/core/contender.c", LAPSE, [
        ("view->blocker[0] == '\\0' && e->fresh", "view->blocker[0] == '\\0'")]),
    "granted while leaving": ("src/core/contender.c", CANCEL, [
        ("&& e->fresh && !c->leaving", "&& e->fresh")]),
    "granted whoever is ahead": ("src/core/contender.c", LOSS, [
        ("if (view->blocker[0] == '\\0' && e->fresh", "if (e->fresh")]),
    "a try forgets its node": ("src/core/contender.c", LOSS + " --tries 1", [
        (HURRY + "c->leaving = true;", HURRY + "c->phase = PDK__GONE;")]),
    "a try waits": ("src/core/contender.c", LOSS + " --tries 1", [
        ("view->exchanged_gone || (view->blocker[0] != '\\0' && e->never_waits)", "view->exchanged_gone")]),
    "the wrong token": ("src/core/contender.c", LOSS, [
        ("c->token = e->token;", "c->token = 1;")]),
    "a delete is not repeated": ("src/core/contender.c", LOSS, [
        ("else if (result != PDK__UNKNOWN)\n        c->phase = PDK__STUCK;\n}\n\n/* The answer",
         "else\n        c->phase = PDK__GONE;\n}\n\n/* The answer")]),
    "a release deletes nothing": ("src/core/contender.c", LOSS, [
        ("if (c->phase == PDK__HELD)\n            c->phase = PDK__IN;", "if (c->phase == PDK__HELD)\n"
         "            c->phase = PDK__GONE;")]),
    "a cancel forgets the create under way": ("src/core/contender.c", CANCEL, [
        ("c->leaving = true;\n        if (c->phase == PDK__HELD)",
         "c->leaving = true;\n        if (c->doing == PDK__DO_ENTER)\n            c->phase = PDK__GONE;\n"
         "        if (c->phase == PDK__HELD)")]),
    "a cancel forgets the create that was lost": ("src/core/contender.c", CANCEL, [
        ("c->leaving = true;\n        if (c->phase == PDK__HELD)",
         "c->leaving = true;\n        if (c->phase == PDK__UNSURE)\n            c->phase = PDK__GONE;\n"
         "        if (c->phase == PDK__HELD)")]),
    "a hold survives its node": ("src/core/contender.c", ADMIN, [
        ("if (c->phase == PDK__HELD || (c->phase == PDK__IN && c->leaving))",
         "if (c->phase == PDK__IN && c->leaving)")]),
    "news of an earlier node ends a create under way": ("src/core/contender.c", ADMIN + " --cancels 1 --renewals 1", [
        ("(c->phase == PDK__IN && c->leaving)", "c->leaving")]),
    "the connection is not watched": ("src/core/contender.c", LOSS, [
        ("c->link = false;", "")]),
    "two commands at a time": ("src/core/contender.c", LOSS, [
        ("c->doing != PDK__DO_NOTHING || (!c->link", "(!c->link")]),
    "another's directory is a failure": ("src/core/contender.c", MKDIR, [
        ("result == PDK__OK || result == PDK__NODE_EXISTS", "result == PDK__OK")]),
    "a pause never ends": ("src/core/contender.c", REFUSE, [
        ("c->pause = false;\n        return;", "return;")]),
    "leaving, it keeps the right": ("src/core/contender.c", LOSS, [
        ("c->leaving = true;\n        if (c->phase == PDK__HELD)\n            c->phase = PDK__IN;", "c->leaving = true;")]),
    "a new predecessor is not watched": ("src/core/contender.c", THREE, [
        ("c->watching = c->guarded = false;\n    c->sole", "c->guarded = false;\n    c->sole")]),
    "a barrier on a missing directory proves nothing": ("src/core/contender.c", GONE, [
        ("c->proven = e->result == PDK__OK || e->result == PDK__NO_NODE ||", "c->proven = e->result == PDK__OK ||")]),
    "hands over without bound": ("src/core/handovers.c", TURNS, [
        ("h->handovers < h->max_handovers && ", "")]),
    "hands over once too often": ("src/core/handovers.c", TURNS, [
        ("h->handovers < h->max_handovers", "h->handovers <= h->max_handovers")]),
    "hands over a hold that has lapsed": ("src/core/handovers.c", TURNS + " --lapses 1", [
        ("return valid && h->handovers", "return h->handovers")]),
    "hands over to nobody": ("src/core/handovers.c", TURNS, [
        ("if (!waiting)\n        return PDK__HANDOVER_LEAVE;", "")]),
    "a hand-over is not counted": ("src/core/handovers.c", TURNS, [
        ("h->handovers++;", "")]),
    "a new node goes on counting hand-overs": ("src/core/handovers.c", TURNS, [
        ("h->handovers = 0;", "")]),
    "leaves though its own threads wait": ("src/core/handovers.c", TURNS, [
        ("return PDK__HANDOVER_REJOIN;", "return PDK__HANDOVER_LEAVE;")]),
    "string order of the names": ("src/core/view.c", LOSS, [
        ("pdk__sequence_compare(child->name.sequence, b->me.sequence) <= 0", "strcmp(text, viewer->own) <= 0")]),
    "a minus is a dash": ("src/core/names.c", MINUS, [
        ("if (negative)\n        value = -value;", "")]),
    "a long negative number belongs to nobody": ("src/core/names.c", LONG, [
        ("{{11, true, -1000000000}, {10, true, -1}", "{{10, true, -1}")]),
    "everybody watches the first": ("src/core/view.c", THREE, [
        (NEAREST, FARTHEST)]),
    "everybody watches the one behind": ("src/core/view.c", LOSS, [
        ("b->me.sequence) <= 0)", "b->me.sequence) >= 0)")]),
    "a reader overtakes writers": ("src/core/view.c", READ, [
        (SHARED, "return mine != PDK__READER;")]),
    "a writer overtakes readers": ("src/core/view.c", READ, [
        (SHARED, "return theirs != PDK__READER;")]),
    "a writer overtakes writers": ("src/core/view.c", "model --rwlock wwr", [
        (SHARED, "return theirs != mine;")]),
    "readers wait for each other": ("src/core/view.c", READ, [
        (SHARED, "return true;")]),
    "a reader watches the first writer": ("src/core/view.c", "model --rwlock wwr", [
        (NEAREST, FARTHEST)]),
    "readers and writers have a line each": ("src/core/names.c", READ, [
        ("return a == b || (a_locks && b_locks);", "return a == b;")]),
    "one permit more than there are": ("src/core/view.c", ROOM, [
        ("b->count <= b->rule.tolerated", "b->count <= b->rule.tolerated + 1")]),
    "one permit less than there are": ("src/core/view.c", ROOM, [
        ("b->count <= b->rule.tolerated", "b->count < b->rule.tolerated")]),
    "the permits of a lock": ("src/core/view.c", "model --semaphore 1 --clients 3", [
        ("b->count <= b->rule.tolerated", "b->count <= 1")]),
    "a lease is nobody's": ("src/core/names.c", ROOM, [
        ('{"lease-", PDK__LEASE},', '{"leases-", PDK__LEASE},')]),
    "who finds no room waits": ("src/core/contender.c", ROOM, [
        ("view->exchanged_gone || (view->blocker[0] != '\\0' && e->never_waits)", "view->exchanged_gone")]),
    "who finds no room forgets its node": ("src/core/contender.c", ROOM, [
        (HURRY + "c->leaving = true;", HURRY + "c->phase = PDK__GONE;")]),
    "what was given away is taken over": ("src/core/contender.c", AWAY, [
        ("if (view->exchanged_gone || ", "if (")]),
    "what was given away is kept": ("src/core/view.c", AWAY, [
        ("view->exchanged_gone = viewer->exchanged[0] != '\\0';", "view->exchanged_gone = false;")]),
    "another recipe in the directory is not told": ("src/core/view.c", "view", [
        ("view->mixed |= excludes(child->name.kind);", ";")]),
    "run: nobody looks for a leader at the path": ("command/others.c", "paddock_run Statuses.test_an_election_beside", [
        ("if (!k->elects || kazoo)", "if (kazoo)")]),
    "a place that is taken over is given away": ("src/core/view.c", DOWN, [
        ("view->exchanged_gone = false;\n        return;", "return;")]),
    "the node that it takes over from is ahead": ("src/core/view.c", DOWN, [
        ("view->exchanged_gone = false;\n        return;", "view->exchanged_gone = false;")]),
    "the node that it takes over from may be anybody's": ("src/core/view.c", AWAY, [
        ("strcmp(text, viewer->exchanged) == 0",
         "pdk__sequence_compare(child->name.sequence, b->me.sequence) >= 0")]),
    "a name that is taken is a right": ("src/core/contender.c", SQUAT, [
        (TAKEN, "c->phase = PDK__HELD;\n        c->pause = c->named;")]),
    "a name that is taken is a counter at its end": ("src/core/contender.c", SQUAT, [
        ("if (!c->named) /* the parent's", "if (true) /* the parent's")]),
    "a name that is taken is ours, whoever took it": ("src/core/contender.c", SQUAT, [
        ("e->result == PDK__OK && e->ours", "e->result == PDK__OK")]),
    "a lost create of a given name was not executed": ("src/core/contender.c", DOWN, [
        ("c->phase = PDK__UNSURE;\n        break;", "break;")]),
    "the writer's node goes before the reader's is admitted": ("tests/model/grant.c", AWAY, [
        ("if (c->phase == PDK__HELD) {", "if (c->phase == PDK__IN) {")]),
    "the writer's node stays": ("tests/model/grant.c", DOWN, [
        ("model_entry_leave(m, client, old);", "k->entries[old].owner = MODEL_REAPER;")]),
    "the reader's node stays when the right ends first": ("tests/model/grant.c", DOWN, [
        ("        drop_exchange(m, client);\n", "")]),
}
