"""Mutants of all-of, judged by random sets in simulated time (tests/fakes/test_driver_all.c).

name: (file, judge and its options, [(text, its replacement)…]); see mutants.
"""

ALL = "src/grant/all.c"
TAKING = "src/grant/taking.c"
CORE = "src/core/majority.c"
PARTS = "src/grant/parts.c"
CALLS = "src/grant/parts_calls.c"
RECIPE = "recipes/all.c"
MUTANTS = {
    "all: rights are taken as they are named": (RECIPE, "all", [
        ("    qsort(all, count, sizeof all[0], in_order);\n", "")]),
    "all: a claim that fails keeps what it had": (TAKING, "all", [
        ("        pdk__hold_discard(r->hold);", "        ;"),
        ("    g_clear_pointer(&r->hold, pdk_hold_unref);", "    r->hold = NULL;")]),
    "all: a cancelled claim goes on": (ALL, "all", [
        ("        if (all->given_up) {", "        if (!all->fn && all->given_up) {")]),
    "all: the deadline is for the first right alone": (TAKING, "all", [
        ("r->right.count, t->deadline,", "r->right.count, r == t->rights ? t->deadline : INT64_MAX,")]),
    "all: a try waits": (TAKING, "all", [
        ("t->deadline, is_try,", "t->deadline, false,")]),
    "all: parts are in the order of taking": (PARTS, "all", [
        ("    struct pdk__part *part = &parts->part[right->place];",
         "    static guint filled;\n    struct pdk__part *part = &parts->part[filled++ % parts->count];")]),
    "all: nothing is looked at when it is received": (ALL, "all", [
        ("!(pdk__taking_in_time(&all->taking) && pdk_hold_is_valid(all->whole))", "false"),
        (TAKING, "pdk__majority_holds(&t->m, i) && !pdk_hold_is_valid(r->hold)", "false"),
        (TAKING, "pdk__majority_holds(&t->m, i) && !pdk_hold_is_valid(t->rights[i].hold)", "false"),
        (PARTS, "!whole->ended && pdk_hold_is_valid(whole);", "true;")]),
    "all: the whole is valid while its first part is": (CALLS, "all", [
        ("    return pdk__majority_until(words, parts->count, parts->need);", "    return words[0];"),
        ("gone > count - parts->need", "!pdk_hold_is_valid(parts->part[0].hold)")]),
    "all: the whole is valid while any part is": (CALLS, "all", [
        ("pdk__majority_until(words, parts->count, parts->need)", "pdk__majority_until(words, parts->count, 1)"),
        ("gone > count - parts->need", "gone == count")]),
    "all: a loss in another session is not told": (PARTS, "all", [
        ("    if (s != whole->s || pdk__parts_some_suffice(whole->parts))\n        carry_out", "    if (false)\n        carry_out")]),
    "all: a loss in its own session is not told": (PARTS, "all", [
        ("    if (s == whole->s)\n        pdk__hold_lose", "    if (false)\n        pdk__hold_lose")]),
}
