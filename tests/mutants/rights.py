"""Mutants of all-of, judged by random sets in simulated time (tests/fakes/test_driver_all.c).

name: (file, judge and its options, [(text, its replacement)…]); see mutants.
"""

ALL = "src/grant/all.c"
PARTS = "src/grant/parts.c"
RECIPE = "recipes/all.c"
MUTANTS = {
    "all: rights are taken as they are named": (RECIPE, "all", [
        ("    qsort(all, count, sizeof all[0], in_order);\n", "")]),
    "all: a claim that fails keeps what it had": (ALL, "all", [
        ("            pdk__hold_discard(part->hold);", "            ;"),
        ("    g_clear_pointer(&part->hold, pdk_hold_unref);", "    part->hold = NULL;")]),
    "all: a cancelled claim goes on": (ALL, "all", [
        ("        if (all->given_up)\n            decide", "        if (!all->fn && all->given_up)\n            decide")]),
    "all: the deadline is for the first right alone": (ALL, "all", [
        ("part->right.count, all->deadline,", "part->right.count, part == all->parts ? all->deadline : INT64_MAX,")]),
    "all: a try waits": (ALL, "all", [
        ("all->deadline, all->is_try,", "all->deadline, false,")]),
    "all: parts are in the order of taking": (ALL, "all", [
        ("parts->part[part->right.place].path", "parts->part[i].path"),
        ("parts->part[part->right.place].hold", "parts->part[i].hold")]),
    "all: nothing is looked at when it is received": (ALL, "all", [
        ("!(in_time(all) && pdk_hold_valid(all->whole))", "false"),
        ("        if (!pdk_hold_valid(all->parts[i].hold))", "        if (false)"),
        (PARTS, "bool stands = !part->hold->ended;", "bool stands = part->hold->grant != NULL;")]),
    "all: the whole is valid while its first part is": (PARTS, "all", [
        ("i < whole->parts->count; i++)\n        if (!pdk_hold_valid", "i < 1; i++)\n        if (!pdk_hold_valid")]),
    "all: the whole is valid while any part is": (PARTS, "all", [
        ("            return false;\n    return true;\n}\n\nint64_t", "            continue;\n        else\n            return true;\n    return false;\n}\n\nint64_t")]),
    "all: a loss in another session is not told": (PARTS, "all", [
        ("    else if (ref_unless_gone(whole) &&", "    else if (false && ref_unless_gone(whole) &&")]),
    "all: a loss in its own session is not told": (PARTS, "all", [
        ("        pdk__hold_lose(whole, reason);\n    else if", "        (void)reason;\n    else if")]),
}
