"""Mutants of the driver, the shared objects and the recipes that directed tests judge.

name: (file, judge, [(text, its replacement) or (other file, text, its replacement)…]); see mutants.
"""

DRIVER = "driver"
ENSURE = "ensure"

MUTANTS = {
    "watched bytes never shrink": ("src/session/watches.c", DRIVER, [
        ("        return;\n    s->watched_bytes -= cost(key);\n    GPtrArray *list", "        return;\n    GPtrArray *list")]),
    "a shorter timeout shortens nothing that is held": ("src/session/supervise.c", DRIVER, [
        ("            s->listener->calls->lease_shortened(s->listener, s->lease.end);", "            (void)s;")]),
    "a shorter lease is no hold's": ("src/grant/registry.c", DRIVER, [
        ("        pdk__hold_shorten(link->data, end);", "        (void)end;")]),
    "a number of permits that could not be read is agreed": ("recipes/semaphore_admission.c", DRIVER, [
        ("bool fine = result == PDK__OK && admission->known == PDK__OK;", "bool fine = result == PDK__OK;")]),
    "the end of a hold wakes nobody": ("src/grant/hold.c", ENSURE, [
        ("    pdk__wake(&hold->waiters);\n    pdk__grant_hold_ended", "    pdk__grant_hold_ended")]),
    "the nodes of all sessions begin alike": ("src/session/supervise.c", DRIVER, [
        ("    pdk__uuid_prefix_make(s);", "    (void)s;")]),
}
