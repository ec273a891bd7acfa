"""Mutants of revocation, judged by asks and breaks in simulated time (tests/fakes/test_driver_asked.c).

name: (file, judge and its options, [(text, its replacement) or (other file, text, its replacement)…]); see mutants.
"""

GRANT = "src/grant/grant.c"
REVOKE = "src/grant/revoke.c"
MUTANTS = {
    "asked: only the first wish is told": (GRANT, "asked", [
        ("        (entry->wished && entry->wished_version == reply->version))", "        entry->wished)")]),
    "asked: what was asked for is handed over": ("src/grant/queue.c", "asked", [
        ("kept && !entry->wished && s->ended", "kept && s->ended")]),
    "asked: a wish ends the hold": (GRANT, "asked", [
        ("    for (GList *link = grant->holds.head; link; link = link->next)\n        tell_wish(link->data);",
         "    if (grant->holds.head)\n        pdk__hold_lose(grant->holds.head->data, PDK_REASON_NODE_GONE);")]),
    "asked: everybody in the queue is asked": (REVOKE, "asked", [
        ("    count = MAX(count, 1);", "    count = targets->len;")]),
    "asked: the last in the queue is asked": (REVOKE, "asked", [
        ("    return (order > 0) - (order < 0);", "    return (order < 0) - (order > 0);")]),
    "asked: a wish takes the place of the identity": (REVOKE, "asked", [
        ("    memcpy(wish + head, r.identity, kept);\n    return g_bytes_new_take(wish, head + kept);", "    return g_bytes_new_take(wish, head);")]),
    "asked: a wish on a wish keeps both": (REVOKE, "asked", [
        ("    pdk__revocation_read(bytes, size, &r);\n", "    r = (struct pdk__revocation){.identity = bytes, .identity_size = size};\n")]),
    "break: whatever its token": (REVOKE, "asked", [
        ("    if (token != b->token)", "    if (token <= 0)")]),
    "break: who was gone before was broken": (REVOKE, "asked", [
        ("status == PDK_GONE && b->deletes ?", "status == PDK_GONE ?")]),
    "break: an answer that is lost was a success": (REVOKE, "asked", [
        ("    if (b->deleting)\n        return status;", "    if (b->deleting)\n        return status == PDK_UNAVAILABLE ? PDK_OK : status;")]),
    "break: the holder is told that its lease is over": ("src/grant/grant.c", "asked", [
        ("        lose(grant, PDK_REASON_NODE_GONE);\n", "        lose(grant, PDK_REASON_LEASE);\n")]),
}
