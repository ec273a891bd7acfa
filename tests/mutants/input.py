"""Mutants of what calls make of bad input; judged by the rows that tests/input makes of the headers.

name: (file, judge and its options, [(text, its replacement)…]); see mutants.
"""

MUTANTS = {
    "input: a call is made with the parent's session": ("src/grant/recipe.c", "rows", [
        ("    if (session->forks != pdk__forks())", "    if (false)")]),
    "input: a time before now is a time": ("src/session/blocking.c", "rows", [
        ("    if (timeout_ms < 0 && timeout_ms != PDK_FOREVER)", "    if (false)")]),
    "input: a callback waits": ("src/session/blocking.c", "rows", [
        ("    if (status == PDK_OK && pdk__in_callback())", "    if (false)")]),
    "input: an output is written by a call that is refused": ("src/grant/claim.c", "rows", [
        ("    pdk_status status = claim_check(claim, \"pdk_claim_position\");",
         "    *(ahead ? ahead : &(int32_t){0}) = -1;\n    pdk_status status = claim_check(claim, \"pdk_claim_position\");")]),
    "input: what a refused call was given is freed": ("src/grant/hold.c", "rows", [
        ("    pdk_status status = hold_check(hold, \"pdk_hold_on_lost\");\n    if (status != PDK_OK)",
         "    pdk_status status = hold_check(hold, \"pdk_hold_on_lost\");\n    if (status != PDK_OK && user_free)\n"
         "        user_free(user);\n    if (status != PDK_OK)")]),
    "input: a text names the wrong argument": ("recipes/lock.c", "rows", [
        ("\"pdk_lock_acquire: %s: NULL\", lock ? \"out\" : \"lock\")", "\"pdk_lock_acquire: %s: NULL\", lock ? \"lock\" : \"out\")")]),
    "input: a member that nobody knows is passed over": ("src/session/options.c", "structs", [
        ("        if (bytes[i] != 0)", "        if (false)")]),
    "input: an identity is any text": ("recipes/job.c", "structs", [
        ("status == PDK_OK ? pdk__recipe_check_identity(o->identity) : status", "status")]),
}
