"""Mutants of the records of a job and of a lease lock, judged by their models, and of the order of their requests, judged on a server
or in simulated time.

name: (file, judge and its options, [(text, its replacement)…]); see mutants.
"""

CORE = "src/core/job.c"
WORLD = "tests/model/job_world.c"
RECORD = "recipes/record.c"
JOB = "recipes/job.c"
CRON = "recipes/job_cron.c"
PERIOD = "recipes/job_period.c"
KEPT = "src/core/lease_lock.c"
KEPT_WORLD = "tests/model/lease_lock_world.c"
TENURE = "recipes/lease_lock_tenure.c"
SIM = "sim --schedules 20000 --seed 1 --no-shrink --no-vacuity"
MUTANTS = {
    "lease lock: who has waited in line believes an old moment": ("recipes/lease_lock.c", "lease_lock_steps", [
        ("    t->at = t->in_line ? CLAIMS : LOOKS;", "    t->at = LOOKS;")]),
    "lease lock: a renewal that finds its own release loses": (TENURE, "lease_lock_steps", [
        ("    case 'N':\n        break;\n", "")]),
    "job: a write names no version": (WORLD, "job", [
        ("    write->landed = write->version == w->now;", "    write->landed = 1;")]),
    "job: a smaller token is not overtaken": (CORE, "job", [
        ("    if (newest->token > token)\n        return PDK__JOB_OVERTAKEN;\n", "")]),
    "job: a lost answer begins a second run": (CORE, "job", [
        ("    if (newest->token == token)\n        return PDK__JOB_OURS;\n", "")]),
    "job: a lost answer was a success": (WORLD, "job", [
        ("        lose_answer(w, who);\n        return NULL;",
         "        lose_answer(w, who);\n        return confirmed(w, who, counts);")]),
    "job: it runs though the lock was lost meanwhile": (WORLD, "job", [
        ("    if (!a->stands) {", "    if (false) {"),
        (WORLD, "        if (w->asks[k].phase == JOB_RUNS && w->asks[k].stands)", "        if (w->asks[k].phase == JOB_RUNS)")]),
    "job: the moment of the write does not count": (CORE, "job", [
        ("    if (mtime > *last)", "    if (false)")]),
    "job: only the moment of the write counts": (CORE, "job", [
        ("    if (mtime > *last)", "    if (mtime > 0)")]),
    "job: at least for is forgotten": (CORE, "job", [
        ("int64_t spaced = run->start + run->least;", "int64_t spaced = run->start;")]),
    "job: a period begins with a run": (CORE, "job", [
        ("((run->start - period) / run->every + 1) * run->every", "(run->start - period) / run->every * run->every")]),
    "job: a start belongs to the period of its ask": (CORE, "job", [
        ("    if (run->start >= period)\n", "    if (run->edge == 0)\n")]),
    "job: the next period is as long as this one": (WORLD, "job", [
        ("        run.every = next_edge(run.edge) - run.edge;", "        run.every = 2;")]),
    "job: a run that finished may be retried": (CORE, "job", [
        ("(at_once && run->state != 'F')", "at_once")]),
    "job: a run that died may be retried, asked or not": (CORE, "job", [
        ("(at_once && run->state != 'F')", "run->state != 'F'")]),
    "job: anybody finishes a run": (CORE, "job", [
        ("record->count == 0 || newest->token != token", "record->count == 0")]),
    "job: a run that died is forgotten": (CORE, "job", [
        ("        record->runs[0].state = 'D';", "        record->runs[0].state = 'F', record->runs[0].end = record->runs[0].start;")]),
    "job: both fields of days have to name it": (CRON, "cron", [
        (".either = !stars[2] && !stars[4]", ".either = false")]),
    "job: times of a gap end a period each": (PERIOD, "cron", [
        ("        if (edge <= MAX(now, first) ||", "        if (edge <= now ||")]),
    "lease lock: a write names no version": (KEPT_WORLD, "kept", [
        ("    write->landed = write->version == w->now;", "    write->landed = 1;")]),
    "lease lock: a smaller token is not overtaken": (KEPT, "kept", [
        ("record->token > mine->token || ", "")]),
    "lease lock: it ends at once": (KEPT, "kept", [
        ("now - written < record->duration", "false")]),
    "lease lock: it ends a moment early": (KEPT, "kept", [
        ("now - written < record->duration", "now - written < record->duration - 1")]),
    "lease lock: any secret takes it back": (KEPT, "kept", [
        ("strcmp(record->digest, mine->digest) != 0", "false")]),
    "lease lock: its secret does not take it back": (KEPT, "kept", [
        ("strcmp(record->digest, mine->digest) != 0", "true")]),
    "lease lock: it holds though the lock was lost meanwhile": (KEPT_WORLD, "kept", [
        ("    c->phase = c->stands ? LEASE_HOLDS : LEASE_OVER;", "    c->phase = LEASE_HOLDS;"),
        (KEPT_WORLD, "for (int k = 0; c->stands && k < LEASE_CLAIMS; k++)", "for (int k = 0; k < LEASE_CLAIMS; k++)"),
        (KEPT_WORLD, "if (k != i && w->claims[k].stands &&", "if (k != i &&")]),
    "lease lock: a lost answer was a success": (KEPT_WORLD, "kept", [
        ("        look_again(c);\n        break;", "        return confirmed(w, who, counts);")]),
    # On a server.
    "lease lock: it is not renewed": (TENURE, "lease_locks", [
        ("    rest(t, t->handed + duration * PDK__MS / 3);", "    rest(t, INT64_MAX);")]),
    "lease lock: a renewal names no version": (TENURE, "lease_locks", [
        (".versioned = true,", ".versioned = false,"),
        (TENURE, "found.token == t->mine.token;", "true;"), (TENURE, "== PDK__RECORD_FINE &&", ">= PDK__RECORD_FINE ||")]),
    "lease lock: its end is not told": (TENURE, "lease_locks", [
        ("    pdk__hold_limit(t->hold, pdk__tenure_end(t->handed, duration), pdk__tenure_end(0, duration));\n", "")]),
    "lease lock: who waits keeps the lock": ("recipes/lease_lock.c", "lease_locks", [
        ("    if (status != PDK_OK)\n        pdk__hold_drop(g_steal_pointer(&t->hold));\n", "    if (status != PDK_OK && status != PDK_BUSY)\n        pdk__hold_drop(g_steal_pointer(&t->hold));\n")]),
    "job: a start names no version": (RECORD, "jobs", [
        (".versioned = true,", ".versioned = false,")]),
    "job: an ask that runs too late says so with a status of its own": ("recipes/job.c", SIM, [
        ("return status == PDK_TIMEOUT ? job_too_late(b) : status;", "return status;")]),
    "job: the last try of an ask has a time of its own": ("src/grant/claim.c", "sim --no-shrink --replay tests/sim/regressions/late_ask_of_a_job.plan", [
        ("    claim->deadline = MIN(claim->deadline, call->deadline);\n", "")]),
    "job: an outcome that is written is not told": (RECORD, "records", [
        ("step.done && !c->ends && has_ended(c->hold)", "step.done && has_ended(c->hold)")]),
    "job: no answer is a success": (RECORD, "jobs", [
        ("    bool done = result == PDK__OK &&", "    bool done = (result == PDK__OK || result == PDK__UNKNOWN) &&")]),
    "job: at most for is forgotten": (JOB, "jobs", [
        ("    if (o->at_most_ms > 0)", "    if (false)")]),
    "job: a limit does not hold against the lease": ("src/grant/hold.c", "jobs", [
        ("return MIN(lease_end, own);", "return own > 0 ? lease_end : own;")]),
    "job: whoever was there has died": ("recipes/job_record.c", "jobs", [
        ("    look->stands = q->result == PDK__OK && token == look->found->runs[0].token;", "    look->stands = false;\n    (void)token;")]),
    # That no thread hands the lock over is no mutant: asks are tries, so none ever waits for a hand-over.
}
