"""Mutants of the guarded znode, judged by its model and, where its requests are sent, by the simulation.

name: (file, judge and its options, [(text, its replacement)…]); see mutants.
"""

CORE = "src/core/guarded.c"
CALLS = "recipes/guarded.c"
STEPS = "recipes/guarded_steps.c"
SIM = "sim --schedules 20000 --seed 1 --no-shrink --no-vacuity"
LATE = "sim --no-shrink --replay tests/sim/regressions/late_guarded_write.plan"
WORLD = "tests/model/guarded_world.c"
REWRITTEN = "        g->version++;\n        g->step = PDK__GUARDED_CHECK;"
MUTANTS = {
    "guarded: no check after the rewrite": (CORE, "guarded", [
        (REWRITTEN, "        g->version++;\n        confirm(g);")]),
    "guarded: no rewrite": (CORE, "guarded", [
        ("    g->step = PDK__GUARDED_REWRITE;", "    g->step = PDK__GUARDED_CHECK;")]),
    "guarded: a rewrite names no version": (WORLD, "guarded", [
        ("node->version != r->version) {", "(node->version != r->version && r->step == PDK__GUARDED_WRITE)) {")]),
    "guarded: a write names no version": (WORLD, "guarded", [
        ("node->version != r->version) {", "(node->version != r->version && r->step == PDK__GUARDED_REWRITE)) {")]),
    "guarded: a delete deletes the node": (WORLD, "guarded", [
        ("    change(w, &r->stamp);\n    return broken;",
         "    change(w, &r->stamp);\n    if (r->step == PDK__GUARDED_WRITE && r->stamp.absent)\n"
         "        present(w)->exists = 0;\n    return broken;"),
        (CORE, "if (!node->exists && g->czxid == 0) {", "if (!node->exists) {"),
        (CORE, "bool ours = ", "bool ours = node->stamp.token == 0 || ")]),
    "guarded: another version is taken over from a read": (CORE, "guarded", [
        ("    g->step = PDK__GUARDED_REWRITE;",
         "    g->step = g->opened && g->writing ? PDK__GUARDED_WRITE : PDK__GUARDED_REWRITE;")]),
    "guarded: a lost answer to a write was a success": (CORE, "guarded", [
        ("    } else if (g->step == PDK__GUARDED_WRITE && result == PDK__OK) {",
         "    } else if (g->step == PDK__GUARDED_WRITE && (result == PDK__OK || result == PDK__UNKNOWN)) {")]),
    "guarded: a lost answer to a write was a failure": (CORE, "guarded", [
        ("    bool landed = g->is_pending && same(&g->pending, &g->seen);", "    bool landed = false;")]),
    "guarded: a lost answer to a rewrite was a success": (CORE, "guarded", [
        ("    } else if (g->step == PDK__GUARDED_REWRITE && result == PDK__OK) {",
         "    } else if (g->step == PDK__GUARDED_REWRITE && (result == PDK__OK || result == PDK__UNKNOWN)) {")]),
    "guarded: a lost answer to a check was a success": (CORE, "guarded", [
        ("        if (result == PDK__OK)\n            confirm(g);", "        confirm(g);")]),
    "guarded: a call that gives up leaves nothing open": (CORE, "guarded", [
        ("    unsettle(g);\n    guarded_finish(g, g->end);", "    guarded_finish(g, g->end);")]),
    "guarded: what may have landed is taken for another's": (CORE, "guarded", [
        (" || (g->is_pending && same(&node->stamp, &g->pending));", ";")]),
    "guarded: changed content is accepted": (CORE, "guarded", [
        ("return g->opened && !ours ?", "return false && !ours ?")]),
    "guarded: a node that was handed over stands for both": (WORLD, "guarded", [
        ("h->now.step == PDK__GUARDED_CHECK && !h->stands;", "false;"),
        (CORE, "(stamp->token == g->token && stamp->handover > g->handover)", "false"),
        (CORE, "return g->opened && !ours ?", "return false && !ours ?")]),
    # In whole deployments.
    "guarded: what is sent names no version": (STEPS, SIM, [
        (".versioned = true,", ".versioned = false,")]),
    "guarded: a late write names no version": (STEPS, LATE, [
        (".versioned = true,", ".versioned = c->g->machine.step == PDK__GUARDED_REWRITE,")]),
    "guarded: no answer to a write is a success": (CORE, SIM, [
        ("    } else if (g->step == PDK__GUARDED_WRITE && result == PDK__OK) {",
         "    } else if (g->step == PDK__GUARDED_WRITE && (result == PDK__OK || result == PDK__UNKNOWN)) {")]),
    "guarded: what it may have written itself is another's": (CORE, SIM, [
        (" || (g->is_pending && same(&node->stamp, &g->pending));", ";")]),
    "guarded: a tombstone has a payload": (CALLS, SIM, [
        ("            status = node.stamp.absent ? absent(c) : PDK_OK;\n", "")]),
    "guarded: a writer that reads now still writes": (STEPS, SIM, [
        ("!pdk_hold_is_valid(hold) || hold->grant->shared;", "!pdk_hold_is_valid(hold);")]),
    "guarded: a hold that is over still writes": (STEPS, SIM, [
        ("    return hold->loss.released || g->s->ended != PDK_OK || !pdk_hold_is_valid(hold) || hold->grant->shared;",
         "    return g->s->ended != PDK_OK && hold;")]),
}
