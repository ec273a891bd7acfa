"""Mutants of a group's members, judged by tests on a real server.

name: (file, judge and its options, [(text, its replacement)…]); see mutants.
"""

MEMBER = "recipes/group_member.c"
ADDED = "    bool is_new = g_hash_table_add(m->unsure, g_bytes_ref(c->data));"
MUTANTS = {
    "group: of writes without an answer the last one alone is ours": (MEMBER, "grouped", [
        (ADDED, "    g_hash_table_remove_all(m->unsure);\n" + ADDED)]),
    "group: a write without an answer is forgotten": (MEMBER, "grouped", [(ADDED, "    bool is_new = false;")]),
    "group: whatever stands there is ours": (MEMBER, "grouped", [
        ("found->version == m->version + 1 && g_hash_table_contains(m->unsure, found->data)", "found->version > 0")]),
}
