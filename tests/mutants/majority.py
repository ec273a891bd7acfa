"""Mutants of majorities: of what comes next, judged by the model and by unit tests; and of what carries it out, judged by
ensembles in simulated time (tests/sim, and tests/fakes/test_driver_parts.c).

name: (file, judge and its options, [(text, its replacement)…]); see mutants.
"""

CORE = "src/core/majority.c"
WORLD = "tests/model/majority_world.c"
TAKING = "recipes/set_taking.c"
SET = "recipes/set.c"
SIM = "sim --schedules 20000 --seed 1 --no-shrink --no-vacuity"
MUTANTS = {
    # In every order of events.
    "majority: fewer than needed are enough": (CORE, "majority", [
        ("    if (how_many_held(m) >= m->need)", "    if (how_many_held(m) + 1 >= m->need)")]),
    "majority: the lease is that of one more": (CORE, "majority", [
        ("    while (place_of(moments, count, which) != need - 1)", "    while (place_of(moments, count, which) != (need > 1 ? need - 2 : 0))")]),
    "majority: the last open right comes first": (CORE, "majority", [
        ("    for (uint32_t i = 0; i < m->count; i++)\n        if (m->rights[i] == is) {",
         "    for (uint32_t i = m->count; i-- > 0;)\n        if (m->rights[i] == is) {"),
        (WORLD, "config->turned ? (ensemble + N - caller) % N : ensemble", "caller % 2 ? ensemble : N - 1 - ensemble"),
        (WORLD, "config->turned ? ((int)place + caller) % N : (int)place", "caller % 2 ? (int)place : N - 1 - (int)place")]),
    "majority: who is tired goes on waiting": (CORE, "majority", [
        (" || m->tired)", ")")]),
    "majority: nobody looks around": (CORE, "majority", [
        ("    m->looks_around = true;\n    m->looks++;", "    m->looks++;")]),
    "majority: who was silent is not tried again": (CORE, "majority", [
        ("        if (m->rights[i] == PDK__RIGHT_PASSED || m->rights[i] == PDK__RIGHT_LOST)\n            m->rights[i] = PDK__RIGHT_OPEN;",
         "        ;")]),
    "majority: what was found stays": (WORLD, "majority", [
        ("            give_back(w, caller, ensemble_at(config, caller, place));\n    pdk__majority_looked(m);",
         "            ;\n    pdk__majority_looked(m);")]),
    "majority: who looks around waits there": (CORE, "majority_core", [
        ("tried && taken == PDK__TAKEN_BUSY  ? PDK__RIGHT_BUSY", "tried && taken == PDK__TAKEN_BUSY  ? PDK__RIGHT_PASSED")]),
    "majority: a look around outlives the wait": (CORE, "majority_core", [
        ("    return m->rights[m->waits_for] == PDK__RIGHT_ASKED &&\n           how", "    return how")]),
    "majority: a busy ensemble is passed over": (WORLD, "majority", [
        ("    if (cut && taking &&", "    if (taking &&")]),
    "majority: what was lost is still held": (CORE, "majority", [
        ("    m->rights[which] = PDK__RIGHT_LOST;", "    ;"),
        (WORLD, "            give_back(w, caller, i);\n        } else if (asked && c->claims[i] == MAJORITY_GRANTED)",
         "            c->lapsed[i] = 0;\n        } else if (asked && c->claims[i] == MAJORITY_GRANTED)")]),
    "majority: nothing is given back between rounds": (WORLD, "majority", [
        ("    give_all_back(w, caller);\n    pdk__majority_anew(m);",
         "    for (int i = 0; i < N; i++)\n        if (c->claims[i] == MAJORITY_GRANTED)\n            c->claims[i] = MAJORITY_NONE;\n"
         "    pdk__majority_anew(m);")]),
    "majority: no look before a part is counted again": (WORLD, "majority", [
        ("c->phase == MAJORITY_HOLDS && !looks_valid(c)", "false"),
        ("    if (!looks_valid(&w->callers[caller])) {", "    if (!enough(&w->callers[caller])) {"),
        ("c->phase == MAJORITY_HOLDS && !c->invalid && !enough(c))\n        kinds", "false)\n        kinds")]),
    "majority: a deadline is only for a right that is waited for": (CORE, "majority_core", [
        ("    if (!in_time)\n        m->late = true;", "    (void)in_time;")]),
    "majority: a refused right is asked for again": (CORE, "majority_core", [
        ("        if (m->rights[i] != PDK__RIGHT_REFUSED)\n", "")]),
    "majority: a try that is busy begins anew": (CORE, "majority_core", [
        ("m->is_try && passed > 0 ?", "false ?")]),
    "majority: pauses do not grow": (CORE, "majority_core", [
        ("        up_to *= 2;", "        ;")]),
    "majority: pauses are not random": (CORE, "majority_core", [
        ("(int64_t)(random % (uint64_t)(up_to / 2))", "(int64_t)(random % 1)")]),
    "majority: who holds something waits for ever": (CORE, "majority_core", [
        ("how_many(m, PDK__RIGHT_HELD) > 0 ?", "false ?")]),
    # In several ensembles, in simulated time.
    "majority: a silent ensemble is waited for": (TAKING, "parts", [
        ("pdk__majority_impatient(since, patience, now)", "false")]),
    "majority: a busy ensemble is waited for for ever": (TAKING, "parts", [
        ("now >= r->glance ", "false ")]),
    "majority: what was found is kept beside the wait": (TAKING, "parts", [
        ("            give_one_back(&t->rights[i]);\n    pdk__majority_looked", "            ;\n    pdk__majority_looked")]),
    "majority: a right that is waited for is silent": (TAKING, "parts", [
        ("pdk__queue_is_confirmed(r->right.queue) ? now", "false ? now")]),
    "majority: a silence that is over counts": (TAKING, "parts", [
        ("    else if (s->lease.end > r->silent_since) ", "    else if (r->silent_since == 0 && s->lease.end > 0) ")]),
    "set: the steps of claims come ahead of answers": ("recipes/set_claim.c", "parts", [
        ("claim->fn ? PDK__DUE_CALLBACK : PDK__DUE_LOSS;", "PDK__DUE_LOSS;")]),
    "set: each event of a claim is a step": ("recipes/set_claim.c", "parts", [
        ("    if (atomic_exchange(&r->due, true))\n        return;", "")]),
    "majority: a pause has no end": (TAKING, "parts", [
        ("    if (rung && t->m.pauses) {", "    if (false) {")]),
    "majority: a lost part is not taken again": (SET, "parts", [
        ("pdk_reason_name(reason));\n    take_again(part);", "pdk_reason_name(reason));")]),
    "majority: the rest is not taken in the background": (SET, "parts", [
        ("i < set->count && stands; i++)\n        complete", "false && i < set->count; i++)\n        complete")]),
    "majority: a lost whole keeps what is left": (SET, SIM, [
        ("    if (pdk__set_some_suffice(set))\n        release_parts(set);\n    put_down", "    put_down")]),
    "majority: a released whole goes on taking": (SET, SIM, [
        ("    part->closed = true;\n    if (part->claim)\n        pdk__claim_cancel(part->claim);\n", "")]),
    "majority: fewer parts keep it valid": (SET, SIM, [
        ("pdk__majority_until(words, set->count, set->need)", "pdk__majority_until(words, set->count, set->need - (set->need < set->count))"),
        ("gone > count - set->need", "gone > count - set->need + (set->need < set->count)")]),
    "majority: all parts are needed": (SET, SIM, [
        ("pdk__majority_until(words, set->count, set->need)", "pdk__majority_until(words, set->count, set->count)"),
        ("gone > count - set->need", "gone > 0")]),
    "majority: losses of different moments are added up": (SET, "parts", [
        ("    return same && gone >", "    return gone >")]),
    "majority: what was replaced stays": (SET, "parts", [
        ("        if (nobody_reads && !atomic_load(&hold->shown))", "        if (false)")]),
    "majority: what was seen is freed": (SET, "parts", [
        ("nobody_reads && !atomic_load(&hold->shown)", "nobody_reads")]),
    "majority: two servers of one ensemble are two": ("recipes/set_acquire.c", "majority_input", [
        ("            if (server)\n", "            if (false)\n")]),
    "majority: a minority suffices": ("recipes/set_acquire.c", "majority_input", [
        (" || (o->need > 0 && (size_t)o->need <= count / 2)", ""),
        (CORE, " && pdk__majority_meets(count, need)", "")]),
}
