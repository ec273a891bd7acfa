"""Mutants of the grant without a list: each exception of ADR 44, left out. Judged by the model and the simulation.

name: (file, judge and its options, [(text, its replacement) or (other file, text, its replacement)…]); see mutants.
"""
from driver import SIM

CONTENDER = "src/core/contender.c"
ADMIN = "model --admin 1 --losses 1"
TOUCHED = "model --admin 1 --touches 1"
REFUSED = "model --admin 1 --refusals 1"
LAPSE = "model --lapses 1 --losses 1"
GHOST = "model --threads 2 --ghosts 1 --admin 1"
THREE = "model --clients 3 --cancels 1"
DOWN = "model --rwlock wwr --downgrades 1"
BARE = "model --clients 2 --losses 1 --admin 1"
PROOF = "return at_rest && c->sole && c->guarded && e->gone && e->fresh;"

MUTANTS = {
    "a turn without a list: any change of the predecessor": (CONTENDER, "model --touches 1", [
        (PROOF, PROOF.replace("e->gone && ", ""))]),
    "a turn without a list: with any lease": (CONTENDER, LAPSE, [
        (PROOF, PROOF.replace(" && e->fresh", ""))]),
    "a turn without a list: others are ahead": (CONTENDER, THREE, [
        (PROOF, PROOF.replace("c->sole && ", "")),
        ("tests/model/entry.c", "if (p->c.sole && ", "if (")]),
    "a turn without a list: nobody looks at our own node": (CONTENDER, REFUSED, [
        (PROOF, PROOF.replace("c->guarded && ", ""))]),
    "a turn without a list: the guard outlives its connection": (CONTENDER, BARE, [
        ("c->watching = c->guarded = false;", "c->watching = false;"), ("c->guarded = e->guarded;", "c->guarded |= e->guarded;"),
        ("tests/model/entry.c", "p->own_watch != MODEL_ARMED", "!p->c.guarded")]),
    "a turn without a list: a guard that has fired stays": (CONTENDER, TOUCHED, [
        ("    case PDK__UNGUARDED:\n        c->guarded = false;", "    case PDK__UNGUARDED:")]),
    "a turn without a list: a guard that is not answered": ("src/session/commands.c", "turn", [
        ("event.guarded = entry->own_armed;", "event.guarded = true;")]),
    "a turn without a list: the word of the leader is proof": ("src/session/predecessors.c", "turn", [
        ("pdk__watches_told_gone(s, ask->path);", "pdk__watches_fired(s, ask->path, PDK__ZK_DELETED);")]),
    "a turn without a list: readers' numbers may be equal": ("src/core/view.c", DOWN, [
        ("b->rule.blocks == pdk__blocks_always && ", ""), (" && !b->may_be_exchanged", "")]),
    "a turn without a list: a lock behind a writer that may read": ("src/core/view.c", "view", [
        (" && !b->may_be_exchanged", "")]),
    "a turn without a list: an equal number": ("src/core/view.c", "view", [
        ("b->nearest != b->me.sequence && ", "")]),
    "a turn without a list: a lock-delay stands": (CONTENDER, SIM, [
        ("view->sole && !c->delays;", "view->sole;")]),
    "a turn without a list: strangers may change the directory": ("src/session/entry.c", "turn", [
        ("news == PDK__NEWS_GONE && !pdk__protect_looks(s)", "news == PDK__NEWS_GONE")]),
    "a turn without a list: a rule that counts": ("src/core/view.c", "view", [
        (" && b->rule.tolerated == 0", "")]),
    "a turn without a list: our own watch takes the last room": ("src/session/commands.c", "turn", [
        (" && entry->s->watched_bytes < PDK__WATCHED_BYTES_MAX / 8", "")]),
    "a turn without a list: without a connection": (CONTENDER, "contender", [
        ("c->phase == PDK__IN && c->link && c->doing", "c->phase == PDK__IN && c->doing")]),
    "a turn without a list: a guard that may not be read any more": ("src/session/renew.c", "turn", [
        ("pdk__entry_unguard(entry); /*", "; /*")]),
    "a turn without a list: the first record of a path comes after the list": ("recipes/lock_delay.c", "delay_steps", [
        ("if (queue && made) {", "if (queue && made && false) {")]),
    "a turn without a list: the holder hears after the next one": ("src/session/entry.c", "turn", [
        ("        if (entry->ahead_gone)\n            tell_holder_ahead(s, path);", "        (void)tell_holder_ahead;")]),
    "a turn without a list: there is none": (CONTENDER, "turn", [
        (PROOF, "return at_rest && false;")]),
    "a turn without a list: a node that was written to is gone": ("src/session/entry.c", SIM, [
        ("bool proof = news == PDK__NEWS_GONE &&", "bool proof =")]),
}
