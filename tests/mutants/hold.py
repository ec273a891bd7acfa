"""Mutants of the words that a hold is valid by (ADR 48).

name: (file, judge and its options, [(text, its replacement) or (other file, text, its replacement)…]); see mutants.
"""
HOLD = "src/grant/hold.c"
REGISTRY = "src/grant/registry.c"

MUTANTS = {
    "a hold: a renewal that came before the clock was read": (HOLD, "lease_words", [
        ("MIN(own, lease_end) <= now", "now > 0")]),
    "a hold: one that was found passed is not noted": (HOLD, "lease_words", [
        ("atomic_compare_exchange_strong(word, &own, PDK__LAPSED);", "own > 0;")]),
    "a hold: what passed unseen is not noted before the word moves": (REGISTRY, "lease_words", [
        ("        note_lapsed(r);", "        (void)note_lapsed;")]),
    "a hold: the word moves before what has passed is noted": (REGISTRY, "lease_words", [
        ("    if (pdk__now(r->s) >=", "    atomic_store(&r->lease_end, end);\n    if (pdk__now(r->s) >=")]),
    "a hold: the lease alone counts": (HOLD, "lease_words", [
        ("return MIN(lease_end, own);", "return own > 0 ? lease_end : own;")]),
    "a hold: its own word alone counts": (HOLD, "lease_words", [
        ("return MIN(lease_end, own);", "return lease_end > 0 ? own : 0;")]),
    "a hold: a limit that has passed is set later": (HOLD, "lease_words", [
        ("while (pdk_hold_is_valid(hold) && !atomic", "while (until > 0 && !atomic")]),
    "a hold: a longer lease wakes nobody": (REGISTRY, "ensure", [
        ("    wake_awaiting(r);", "    (void)wake_awaiting;")]),
}
