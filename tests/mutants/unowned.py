"""Mutants of what is done about nodes with a contender's name that no session owns.

name: (file, judge and its options, [(text, its replacement)…]); see mutants.
"""

UNOWNED = "src/session/unowned.c"
MUTANTS = {
    "unowned: nobody's node is a contender": (UNOWNED, "ghost", [
        ("(reply->owner == 0 || reply->owner == INT64_MIN)", "false")]),
    "unowned: a blocker that nobody owns is waited for": ("src/core/contender.c", "contender", [
        ("result == PDK__OK && !e->unowned", "result == PDK__OK")]),
    "unowned: what was left out is left out for ever": (UNOWNED, "ghost", [
        ("    g_hash_table_remove(u->paths, path);\n}", "}")]),
    "unowned: a container is a contender": (UNOWNED, "asking", [
        (" || reply->owner == INT64_MIN", "")]),
    "unowned: a try believes every name": (UNOWNED, "unowned", [
        ("return !pdk__name_is_unique(name);", "(void)name;\n    return false;")]),
    "unowned: a second question takes the watch away": (UNOWNED, "asking", [
        ("    if (!g_hash_table_contains(s->unowned->paths, path))\n        pdk__watches_failed", "    pdk__watches_failed")]),
    "unowned: what was left out is so beyond its connection": ("src/session/supervise.c", "asking", [
        ("    pdk__unowned_forget_all(s);\n    pdk__entries_tell(s, PDK__LINK_DOWN);", "    pdk__entries_tell(s, PDK__LINK_DOWN);")]),
    "unowned: a wish is written over what is somebody's": ("src/grant/revoke.c", "unowned", [
        ("pdk__is_unowned(&q->stat) ?", "false ?")]),
    "unowned: nobody's lease is a permit": ("recipes/semaphore_admission.c", "unowned", [
        ("           !pdk__unowned_is(admission->query.s, admission->all->leases, text);", "           true;")]),
    "set: it waits for itself": ("recipes/set_taking.c", "set_sessions", [
        ("        if (pdk__majority_holds(&t->m, k) && strcmp", "        if (false && strcmp")]),
    "striped: parts are written before it is known": ("recipes/striped.c", "striped_lock", [
        ("    if (status == PDK_OK && parts)\n        memcpy", "    if (parts)\n        memcpy")]),
}
