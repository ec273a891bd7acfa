"""Mutants of sets, judged by the simulation of whole deployments.

name: (file, judge and its options, [(text, its replacement)…]); see mutants.
"""

CLAIM = "recipes/set_claim.c"
TAKING = "recipes/set_taking.c"
CORE = "src/core/majority.c"
SET = "recipes/set.c"
RECIPE = "recipes/set_acquire.c"
SIM = "sim --schedules 20000 --seed 1 --no-shrink --no-vacuity"
MUTANTS = {
    "set: rights are taken as they are named": (RECIPE, SIM, [
        ("    qsort(all, count, sizeof all[0], in_order);\n", "")]),
    "set: a claim that fails keeps what it had": (TAKING, SIM, [
        ("        pdk__hold_discard(r->hold);", "        ;"),
        ("    g_clear_pointer(&r->hold, pdk_hold_unref);", "    r->hold = NULL;")]),
    "set: a cancelled claim goes on": (CLAIM, SIM, [
        ("        if (claim->given_up) {", "        if (!claim->fn && claim->given_up) {")]),
    "set: the deadline is for the first right alone": (TAKING, SIM, [
        ("r->right.count, t->deadline,", "r->right.count, r == t->rights ? t->deadline : INT64_MAX,")]),
    "set: a try waits": (TAKING, SIM, [
        ("t->deadline, is_try,", "t->deadline, false,")]),
    "set: parts are in the order of taking": (SET, SIM, [
        ("    struct pdk__part *part = &set->part[right->place];",
         "    static guint filled;\n    struct pdk__part *part = &set->part[filled++ % set->count];")]),
    "set: nothing is looked at when it is received": (CLAIM, SIM, [
        ("!(pdk__taking_in_time(&claim->taking) && pdk_set_is_valid(claim->set))", "false"),
        (TAKING, "pdk__majority_holds(&t->m, i) && !pdk_hold_is_valid(r->hold)", "false"),
        (TAKING, "pdk__majority_holds(&t->m, i) && !pdk_hold_is_valid(t->rights[i].hold)", "false"),
        (SET, "!set->ended && set_is_valid(set);", "true;")]),
    "set: the whole is valid while its first part is": (SET, SIM, [
        ("    return pdk__majority_until(words, set->count, set->need);", "    return words[0];"),
        ("gone > count - set->need", "!pdk_hold_is_valid(set->part[0].hold)")]),
    "set: the whole is valid while any part is": (SET, SIM, [
        ("pdk__majority_until(words, set->count, set->need)", "pdk__majority_until(words, set->count, 1)"),
        ("gone > count - set->need", "gone == count")]),
    "set: a loss in another session is not told": (SET, SIM, [
        ("    if (s != set->s || pdk__set_some_suffice(set))\n        carry_out", "    if (false)\n        carry_out")]),
    "set: a loss in its own session is not told": (SET, SIM, [
        ("    if (s == set->s)\n        set_lose", "    if (false)\n        set_lose")]),
}
