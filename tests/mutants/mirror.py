"""Mutants of the enqueue without a list: each exception of ADR 45, left out. Judged by the models, unit tests and the driver on fakes.

name: (file, judge and its options, [(text, its replacement) or (other file, text, its replacement)…]); see mutants.
"""
from driver import PLAN

MIRROR = "src/core/mirror.c"
MIRRORS = "src/session/mirrors.c"
MODEL = "model --mirrors --threads 2 --handovers 0 --admin 1 --losses 1 --vanishes 1 --faults 1"
AGAIN = "model --mirrors --handovers 0 --claims 2 --vanishes 1 --faults 1"
TWICE = "model --mirrors --threads 2 --handovers 0 --losses 1 --vanishes 1 --faults 2"
FOLLOWS = "bool follows = m->full && parsed.sequence == m->last + 1 && m->count < m->room;"

MUTANTS = {
    "mirror: a gap is nobody": (MIRROR, "mirror_model", [
        (FOLLOWS, FOLLOWS.replace("== m->last + 1", "> m->last"))]),
    "mirror: a gap is nobody, in the whole protocol": (MIRROR, MODEL, [
        (FOLLOWS, FOLLOWS.replace("== m->last + 1", "> m->last"))]),
    "mirror: a gap is nobody once another number followed": (MIRROR, "mirror_core", [
        (FOLLOWS, FOLLOWS.replace("m->last + 1", "(m->counted ? m->newest : -1) + 1"))]),
    "mirror: the directory may be another one": (MIRRORS, "mirror", [
        ("    make_void((struct mirror *)watcher);", "    (void)watcher;")]),
    "mirror: the directory may be another one, in the whole protocol": ("tests/model/mirror.c", AGAIN, [
        ("    struct model_client *k = client_of(m, client);\n    pdk__mirror_void(mirror_of(k));\n    k->directory_watch = MODEL_NONE;\n}",
         "    (void)m, (void)client;\n}")]),
    "mirror: nobody watches the directory": (MIRROR, "mirror_core", [
        ("    if (!m->watched)\n        return false;\n    if (!is_next", "    m->watched = true;\n    if (!is_next")]),
    "mirror: our number is older than the watch": (MIRROR, "mirror_core", [
        ("    if (!m->watched)\n        pdk__mirror_void(m);\n", ""), ("    if (!m->watched)\n        return false;\n    if (!is_next", "    if (!is_next"),
        ("    assert(!m->counted || m->watched);\n", "")]),
    "mirror: it outlives its connection": ("src/session/supervise.c", "mirror", [
        ("    pdk__mirrors_void(s);\n    pdk__watches_set_anew(s);", "    pdk__watches_set_anew(s);"),
        ("src/session/mirrors.c", "!is_old(m) && pdk__reap_is_done(s, entry->dir) &&", "true &&")]),
    "mirror: it outlives its connection, in the whole protocol": ("tests/model/client.c", TWICE, [
        ("    model_mirror_void(&s->clients[client]);\n    ts_fake_cut", "    ts_fake_cut")]),
    "mirror: a number may go back": (MIRROR, "mirror_core", [
        ("           (!m->counted || parsed->sequence > m->newest);", "           true;"),
        ("    assert(!m->full || (m->counted && m->last <= m->newest));\n", "")]),
    "mirror: a number near the end is like any other": (MIRROR, "mirror_core", [
        ("return sequence >= 0 && sequence < PDK__SEQUENCE_HIGH;", "return sequence >= 0;")]),
    "mirror: a negative number is like any other": (MIRROR, "mirror_core", [
        ("return sequence >= 0 && sequence < PDK__SEQUENCE_HIGH;", "return sequence < PDK__SEQUENCE_HIGH;")]),
    "mirror: a stranger that may be exchanged is gone": (MIRROR, "mirror_model", [
        (" && (ours || !pdk__name_may_be_exchanged(name, &node->parsed))", "")]),
    "mirror: nobody looks at our own node": (MIRRORS, "mirror", [
        ("pdk__watches_stands(s, entry->own_path)", "true")]),
    "mirror: with any lease": (MIRRORS, "mirror", [
        ("pdk__lease_fresh(&s->lease, pdk__now(s)) && pdk__mirror_view(", "pdk__mirror_view(")]),
    "mirror: somebody is ahead": (MIRRORS, "mirror", [
        ("view->ahead == 0;", "true;")]),
    "mirror: the word of the leader takes a node out": ("src/session/watches.c", "mirror", [
        ("    fire(s, path, path, PDK__NEWS_GONE_TOLD);", "    pdk__mirrors_deleted(s, path);\n    fire(s, path, path, PDK__NEWS_GONE_TOLD);")]),
    "mirror: that our own node is not there takes it out": ("src/session/commands.c", PLAN + "delete_of_a_node_that_stands.plan", [
        ("    if (reply && reply->result == PDK__OK && entry->own_path)", "    if (reply && entry->own_path)")]),
    "mirror: where lists are looked at": (MIRRORS, "mirror", [
        (" &&\n           !pdk__protect_looks(entry->s);", ";")]),
    "mirror: a directory with a lock-delay": (MIRROR, "mirror_core", [
        ("return strcmp(child->text, PDK__DELAY_RECORD) == 0;", "return false;")]),
    "mirror: numbers that are newer than ours": (MIRROR, "mirror_core", [
        (" && child->name.sequence <= m->newest", "")]),
    "mirror: a holder has nobody ahead in any queue": (MIRROR, "mirror_core", [
        ("    return pdk__kind_same_queue(node->parsed.kind, me->kind) && ", "    return ")]),
    "mirror: a holder may have somebody ahead": (MIRROR, "mirror_core", [
        ("        if (is_ahead(&m->nodes[i], &me, own))\n            take_out(m, i);", "        (void)is_ahead;")]),
    "mirror: an equal number is alone": (MIRROR, "mirror_core", [
        ("view->ahead == 1 && nearest->parsed.sequence != me.sequence &&", "view->ahead == 1 &&")]),
    "mirror: alone behind a writer that may read": (MIRROR, "mirror_core", [
        (" &&\n                     !pdk__name_may_be_exchanged(nearest->name, &nearest->parsed);", ";")]),
    "mirror: after a gap the next create goes alone": (MIRROR, "mirror", [
        ("return m->full && m->in_turn && ", "return m->full && ")]),
    "mirror: a crowd of strangers has one": (MIRRORS, "mirror", [
        ("return strangers <= STRANGERS_MAX;", "return true;")]),
    "mirror: its watch takes the last room": (MIRRORS, "mirror", [
        ("s->watched_bytes >= PDK__WATCHED_BYTES_MAX / 4 || ", "")]),
    "mirror: an old watch is believed": (MIRRORS, "mirror", [
        ("    if ((!m->core.watched || is_old) && ", "    (void)is_old;\n    if (!m->core.watched && ")]),
    "mirror: there is none": (MIRRORS, "mirror", [
        ("return m && is_served(entry) && entry->create == 0 && ", "return false && m && ")]),
    "mirror: an orphan is in the way of whoever comes": ("src/session/mirrors.c", "mirror", [
        (" && pdk__reap_is_done(s, entry->dir) &&", " &&")]),
    "mirror: an orphan is in the way of whoever waits": ("src/session/predecessors.c", "mirror", [
        ("(reply->result == PDK__OK && is_orphan(", "(false && is_orphan(")]),
    "mirror: a renewal leaves an orphan": ("src/session/renew.c", "mirror", [
        ("        pdk__reap_again(s, entry->dir);\n", "")]),
    "mirror: an old watch is believed": ("src/session/mirrors.c", "mirror", [
        ("        make_void(m);\n        return;", "        return;"), ("!is_old(m) && ", "")]),
    "mirror: a list that fails forgets what the leader has said": ("src/session/lists.c", "mirror", [
        ("if (reply->result == PDK__OK || reply->result == PDK__NO_NODE)", "if (true)")]),
}
