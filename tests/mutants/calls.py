"""Mutants of the calls that answer by a callback, and of what a leader or a member writes into its node; judged on a server, or by the
driver in simulated time.

name: (file, judge and its options, [(text, its replacement)…]); see mutants.
"""

CALL = "src/session/call.c"
OWN = "recipes/own_data.c"
OBSERVER = "recipes/election_observer.c"
MUTANTS = {
    "a socket of a session is the standard error": ("src/session/open.c", "descriptors", [
        ("    pdk__fill_standard(); /*", "    (void)pdk__fill_standard; /*")]),
    "a descriptor of a hold is the standard input": ("src/base/standard.c", "descriptors", [
        ("if (fd < 0 || fd > STDERR_FILENO)", "if (fd < 0 || 1)")]),
    "a child never asks for GLib's allocator": ("src/base/slices.c", "slices", [
        ("if (probe.forks != pdk__forks())", "if (false && probe.forks != pdk__forks())")]),
    "a call: a close forgets those that wait": ("src/session/supervise.c", "answered", [
        ("    if (!pdk__calls_end(s))\n        return false;\n", "")]),
    "a call: its deadline is forgotten": (CALL, "answered", [
        ("    c->until = MIN(until, c->deadline);", "    c->until = until;")]),
    "a call: it is told without words": (CALL, "answered", [
        ('        pdk__fail(c->status, "%s", c->text);', '        pdk__fail(c->status, "%s", "");')]),
    "a call: it has a thread though it has none": ("src/session/call.c", "answered", [
        ("{ return !c->link.data; }", "{ return c->kind; }")]),
    "a job: a hold that is lost is handed over": ("recipes/job.c", "answered", [
        ("if (status == PDK_OK && !pdk__call_has_thread(call) && !pdk_hold_is_valid(b->hold))", "if (false)")]),
    "a hold is given back twice": ("src/grant/hold.c", "answered", [
        ("    bool ours = !hold->loss.released;", "    bool ours = true;")]),
    "guarded: a call does not wait for its turn": ("recipes/guarded.c", "answered", [
        ("    if (g->busy && !pdk__call_is_late(call))\n        return", "    if (false)\n        return")]),
    "a query: a lost answer is an answer": ("src/session/query.c", "queries", [
        ("if (!reply || reply->result == PDK__UNKNOWN || reply->result == PDK__NOT_NOW) {", "if (!reply) {")]),
    "ensure: renewals stay urgent": ("src/grant/ensure.c", "answered", [
        ("        c->s->urgent--;", "        ;")]),
    "ensure: a set does not hear of the end of its session": ("recipes/set_ensure.c", "set_ensured", [
        ("        pdk__follow_end(s, &answer_ref(w)->end);", "        answer_ref(w);")]),
    "ensure: a set waits for a part whose answer was dropped": ("src/session/call.c", "set_ensured", [
        ("    c->kind->free(c);\n    g_free(text);", "    if (pdk__in_callback())\n        c->kind->free(c);\n    g_free(text);")]),
    "published: a write names no version": (OWN, "published", [
        (".versioned = true, .version = w->own->version}", ".versioned = false, .version = w->own->version}")]),
    "published: a lost write is somebody else's": (OWN, "published", [
        ("    w->added = q->in_flight > 0 && ", "    w->added = false && ")]),
    "published: an observer hears of the first data alone": (OBSERVER, "published", [
        ("return one && other ? g_bytes_equal(one, other) : one == other;", "return one || !other || other;")]),
    "published: a wish is another leader": (OBSERVER, "published", [
        ("    pdk__published_read(reply->data, reply->data_size, &p);",
         "    p = (struct pdk__published){.identity = reply->data, .identity_size = reply->data_size};")]),
    "published: an observer's token has no generation": (OBSERVER, "published", [
        ("pdk__token_of(s, reply->token)", "reply->token")]),
    "published: a leader goes on after its term": (OWN, "published", [
        ("    if (has_ended(w))\n        return ended_how(w);\n    begin_node", "    begin_node")]),
    "member: a repeated write forgets the first": (OWN, "member_data", [
        ("    if (w->added) /*", "    if (is_unsure(w->own, w->digest)) /*")]),
}
