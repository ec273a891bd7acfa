"""Mutants of revocation, judged by the simulation of whole deployments.

name: (file, judge and its options, [(text, its replacement) or (other file, text, its replacement)…]); see mutants.
"""

GRANT = "src/grant/grant.c"
REVOKE = "src/grant/revoke.c"
SIM = "sim --schedules 20000 --seed 1 --no-shrink --no-vacuity"
MUTANTS = {
    "asked: only the first wish is told": (GRANT, SIM, [
        ("        (entry->wished && entry->wished_version == reply->version))", "        entry->wished)")]),
    "asked: what was asked for is handed over": ("src/grant/queue.c", SIM, [
        ("kept && !entry->wished && s->ended", "kept && s->ended")]),
    "asked: a wish ends the hold": (GRANT, SIM, [
        ("    for (GList *link = grant->holds.head; link; link = link->next)\n        tell_wish(link->data);",
         "    if (grant->holds.head)\n        pdk__hold_lose(grant->holds.head->data, PDK_REASON_NODE_GONE);")]),
    "asked: everybody in the queue is asked": (REVOKE, SIM, [
        ("    count = MAX(count, 1);", "    count = targets->len;")]),
    "asked: the last in the queue is asked": (REVOKE, SIM, [
        ("    return (order > 0) - (order < 0);", "    return (order < 0) - (order > 0);")]),
    "asked: a wish takes the place of the identity": (REVOKE, SIM, [
        ("    memcpy(wish + head, r.identity, kept);\n    return g_bytes_new_take(wish, head + kept);", "    return g_bytes_new_take(wish, head);")]),
    "asked: a wish on a wish keeps both": (REVOKE, SIM, [
        ("    pdk__revocation_read(bytes, size, &r);\n", "    r = (struct pdk__revocation){.identity = bytes, .identity_size = size};\n")]),
    "break: whatever its token": (REVOKE, SIM, [
        ("    if (token != b->token)", "    if (token <= 0)")]),
    "break: who was gone before was broken": (REVOKE, SIM, [
        ("status == PDK_GONE && b->deletes ?", "status == PDK_GONE ?")]),
    "break: an answer that is lost was a success": (REVOKE, SIM, [
        ("    if (b->deleting)\n        return status;", "    if (b->deleting)\n        return status == PDK_UNAVAILABLE ? PDK_OK : status;")]),
    "break: the holder is told that its lease is over": ("src/grant/grant.c", SIM, [
        ("        lose(grant, PDK_REASON_NODE_GONE);\n", "        lose(grant, PDK_REASON_LEASE);\n")]),
}
