"""Mutants of nodes that linger: each line of the table of ADR 46, left out. Judged by the model, the driver's directed tests and the
simulation.

name: (file, judge and its options, [(text, its replacement) or (other file, text, its replacement)…]); see mutants.
"""
from driver import SIM

QUEUE = "src/grant/queue.c"
LOOKOUT = "src/grant/lookout.c"
HANDOVERS = "src/core/handovers.c"
MODEL = "tests/model/queue.c"
WALK = "model --linger --claims 1"
AGAIN = WALK + " --handovers 2"  # it lingers after it was taken, too

MUTANTS = {
    "a node that lingers: for ever": (QUEUE, "linger", [
        ("    if (!queue->linger.position)\n        pdk__alarm_set(s, &queue->linger, until);", "")]),
    "a node that lingers: until the first alarm": (QUEUE, "linger", [
        ("    if (pdk__now(s) < queue->lingers_until)\n        pdk__alarm_set(s, &queue->linger, queue->lingers_until);\n    else\n", "")]),
    "a node that lingers: beyond the time of hand-overs": (HANDOVERS, "linger", [
        ("(left < h->max_linger ? left : h->max_linger)", "h->max_linger + 0 * left")]),
    "a node that lingers: with no hand-over left": (HANDOVERS, WALK, [
        ("if (h->max_linger == 0 || !may_hand_over(h, now, valid))", "if (h->max_linger == 0 || !valid)")]),
    "a node that lingers: it is taken without a fresh lease": (HANDOVERS, WALK + " --lapses 1 --losses 1", [
        ("return valid && h->handovers", "return h->handovers")]),
    "a node that lingers: it is taken with any lease": (QUEUE, "linger", [
        ("pdk__lease_fresh(&s->lease, now) && queue->entering", "queue->entering")]),
    "a node that lingers: it is taken after its time": (QUEUE, "linger", [
        ("bool in_time = pdk__now(queue->s) < queue->lingers_until;", "bool in_time = true;")]),
    "a node that lingers: after a loss": (QUEUE, "linger", [
        ("pdk__handovers_linger(&queue->handovers, now, again)", "pdk__handovers_linger(&queue->handovers, now, true)")]),
    "a node that lingers: nobody hears who comes": (QUEUE, "linger", [
        ("static void on_came(void *user) { pdk__queue_stop_lingering(user); }", "static void on_came(void *user) { (void)user; }")]),
    "a node that lingers: nobody hears who comes, in the model": (MODEL, WALK, [
        ("    k->lookout = MODEL_MET;\n    model_queue_stop_lingering(m, client);", "    k->lookout = MODEL_MET;")]),
    "a node that lingers: nobody hears who comes, in deployments": (QUEUE, SIM, [
        ("static void on_came(void *user) { pdk__queue_stop_lingering(user); }", "static void on_came(void *user) { (void)user; }")]),
    "a node that lingers: the list is not read, in deployments": (LOOKOUT, SIM, [
        ("(reply->result != PDK__OK || !is_alone(l, reply))", "reply->result != PDK__OK")]),
    "a node that lingers: who came during the hold is forgotten": (LOOKOUT, "linger", [
        ("return !l->met && ", "return ")]),
    "a node that lingers: who came during the hold is forgotten, in the model": (MODEL, AGAIN, [
        ("k->lingers = k->lookout == MODEL_CLEAR;", "k->lingers = true;")]),
    "a node that lingers: the list is not read": (LOOKOUT, "linger", [
        ("(reply->result != PDK__OK || !is_alone(l, reply))", "reply->result != PDK__OK")]),
    "a node that lingers: the list is not read, in the model": ("tests/model/entry.c", WALK, [
        ("if (p->owner == MODEL_QUEUE && !alone)", "if (p->owner == MODEL_QUEUE && r->result != PDK__OK)")]),
    "a node that lingers: a list that fails is as good": (LOOKOUT, "linger", [
        ("(reply->result != PDK__OK || !is_alone(l, reply))", "reply->result == PDK__OK && !is_alone(l, reply)")]),
    "a node that lingers: a list that fails is as good, in the model": ("tests/model/entry.c", WALK + " --refusals 1", [
        ("if (p->owner == MODEL_QUEUE && !alone)", "if (p->owner == MODEL_QUEUE && !alone && r->result == PDK__OK)")]),
    "a node that lingers: a stranger is somebody": (LOOKOUT, "linger", [
        (" && pdk__name_parse(reply->children[i], &name)", " && (&name)")]),
    "a node that lingers: without room for a watch": (LOOKOUT, "linger", [
        ("    if (!pdk__watches_add(l->s, l->key, &l->watcher))\n        return false;",
         "    pdk__watches_add(l->s, l->key, &l->watcher);")]),
    "a node that lingers: without a connection": (QUEUE, "linger", [
        ("        if (!entry->c.link) /* nobody who comes can be heard */\n            drop_entry(queue);", "        return;")]),
    "a node that lingers: released without a connection": (QUEUE, "linger", [
        (" || s->link != PDK__LINK_CONNECTED)", ")")]),
    "a node that lingers: the watch outlives its connection": (LOOKOUT, "linger", [
        (" && l->connected_at == l->s->connected_at", "")]),
    "a node that lingers: the watch outlives its connection, in the model": ("tests/model/client.c", AGAIN + " --losses 1", [
        ("        s->clients[client].lookout = MODEL_MET;", "        s->clients[client].lookout = MODEL_CLEAR;")]),
    "a node that lingers: the next node does not look": (QUEUE, "linger", [
        ("    pdk__lookout_drop(g_steal_pointer(&queue->lookout)); /* the next node looks again */", "")]),
    "a node that lingers: each hold looks": (QUEUE, "linger", [
        ("    if (!queue->lookout)\n        queue->lookout", "    pdk__lookout_drop(queue->lookout);\n    if (true)\n        queue->lookout")]),
    "a node that lingers: though it was written to": (QUEUE, "linger", [
        ("    if (entry->unread)\n        pdk__queue_stop_lingering(queue);", "")]),
    "a node that lingers: though its lock is gone": (QUEUE, "linger", [
        ("if (until == 0 || queue->shut || ", "if (until == 0 || ")]),
    "a node that lingers: through a flush": ("src/session/close.c", "linger", [
        ("while (s->listener && !s->listener->calls->flushed(s->listener))", "while (s->listener && false)")]),
    "a node that lingers: though nobody asked for it": (HANDOVERS, "linger", [
        ("if (h->max_linger == 0 || !may_hand_over(h, now, valid))", "if (!may_hand_over(h, now, valid))"),
        ("(left < h->max_linger ? left : h->max_linger)", "left")]),
}
