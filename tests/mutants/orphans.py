"""Mutants of the search for orphans, and of the memory of nodes that are gone.

name: (file, judge and its options, [(text, its replacement) or (other file, text, its replacement)…]); see mutants.
"""
MUTANTS = {
    "orphans: they are looked for in each list": ("src/session/reap.c", "ghost", [
        ("        g_hash_table_add(s->searched, g_strdup(dir));", "        (void)dir;")]),
    "orphans: another server remembers the same": ("src/session/supervise.c", "ghost", [
        ("    pdk__reap_everywhere(s);\n", "")]),
    "what the leader said is remembered for ever": ("src/session/predecessors.c", "ghost", [
        ("    forget(s, dir, names);\n    for", "    for")]),
    "orphans: a lost create is not searched for again": ("src/session/commands.c", "ghost", [
        ("    if (reply && reply->result == PDK__UNKNOWN)\n        pdk__reap_again(s, entry->dir);\n", ""),
        ("    if (entry->create != 0) /* it is repeated */\n        pdk__reap_again(s, entry->dir);\n", "")]),
    "orphans: a node that is said not to be there is believed": ("src/session/commands.c", "ghost", [
        ("    if (reply && reply->result == PDK__NO_NODE) /* it may stand all the same, and then no entry has it */\n        pdk__reap_again(s, entry->dir);\n", "")]),
}
