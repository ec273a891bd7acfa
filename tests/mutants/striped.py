"""Mutants of the striped lock, judged by the simulation, in simulated time step by step, by its test vectors, and on a server.

name: (file, judge and its options, [(text, its replacement)…]); see mutants.
"""

SIM = "sim --schedules 20000 --seed 1 --no-shrink --no-vacuity"
ANY = "recipes/striped_any.c"
AGREEMENT = "recipes/striped_agreement.c"
MUTANTS = {
    "striped: who has any stripe stays in the others": (ANY, SIM, [
        ("    for (int32_t i = 0; i < any->asked; i++)\n        pdk__entry_drop", "    for (int32_t i = 0; i < any->asked; i += 2)\n        pdk__entry_drop"),
        ("    while (any->entries[i] != entry)\n        i++;", "    while (i < any->asked && any->entries[i] != entry)\n        i++;\n    if (i == any->asked)\n        return;")]),
    "striped: any stands in one stripe alone": (ANY, SIM, [
        ("    if (any->asked < any->stripes)\n        ask_more(any);", "    if (false)\n        ask_more(any);")]),
    "striped: a try waits in the stripes": (ANY, SIM, [
        ("    else if (any->queue->admitting->is_try)", "    else if (false)")]),
    "striped: another number is no mismatch": ("src/grant/number.c", SIM, [
        ("size == strlen(number->ours) && memcmp(data, number->ours, size) == 0", "true")]),
    "striped: a number holds for every session": (AGREEMENT, "striped_lock", [
        ("agreement->agreed && agreement->generation == s->generation && agreement->suspended_at == s->suspended_at",
         "(void)s, agreement->agreed")]),
    "striped: a number holds though the connection was lost": (AGREEMENT, "striped_connection", [
        (" && agreement->suspended_at == s->suspended_at", "")]),
    "striped: a container goes with the number": (AGREEMENT, "striped_connection", [
        (".kind = PDK__OP_MKDIR, .path = child}", ".kind = PDK__OP_MKDIR, .path = child, .container = true, .data = \"\"}"),
        ("PDK__NUMBER_EMPTY && agreement_keep(agreement, reply->version);", "PDK__NUMBER_EMPTY && (agreement->version = reply->version, (void)agreement_keep, write_over(agreement));")]),
    "striped: a number that changes is not noticed": (AGREEMENT, "striped_lock", [
        ("        agreement->agreed = false; /* until it is compared */", "        ;"),
        ("    agreement->agreed = false;\n    for", "    for")]),
    "striped: who has no claim makes the node": (AGREEMENT, "striped_lock", [
        ("    if (g_queue_is_empty(&agreement->waiting))\n        return false;\n", "")]),
    "striped: a queue begins without consent": ("src/grant/queue.c", SIM, [
        ("queue->undecided = queue->consent && !queue->consent->may_begin(queue->consent);", "queue->undecided = queue->consent && !queue->consent->may_begin;")]),
    "striped: who took any waits for itself behind a key": ("src/grant/hold.c", "striped_lock", [
        ("    return hold->queue->kind.grants_elsewhere ? hold->grant->entries[0]->dir : hold->queue->dir;", "    return hold->queue->dir;")]),
    "striped: who took any is passed over as a semaphore is": ("src/grant/claim.c", "striped_lock", [
        ("PDK__REACQUIRE_QUEUES || hold->queue->kind.grants_elsewhere;", "PDK__REACQUIRE_QUEUES;")]),
    "striped: the hash has no finalizer": ("src/core/stripes.c", "stripes", [
        ("    return h ^ (h >> 33);", "    return h;")]),
}
