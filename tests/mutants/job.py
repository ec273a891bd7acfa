"""Mutants of the record of a job, judged by its model, and of the order of its requests, judged on a server.

name: (file, judge and its options, [(text, its replacement)…]); see mutants.
"""

CORE = "src/core/job.c"
WORLD = "tests/model/job_world.c"
RECORD = "recipes/record.c"
JOB = "recipes/job.c"
MUTANTS = {
    "job: a write names no version": (WORLD, "job", [
        ("    write->landed = write->version == w->now;", "    write->landed = 1;")]),
    "job: a smaller token is not overtaken": (CORE, "job", [
        ("    if (newest->token > token)\n        return PDK__JOB_OVERTAKEN;\n", "")]),
    "job: a lost answer begins a second run": (CORE, "job", [
        ("    if (newest->token == token)\n        return PDK__JOB_OURS;\n", "")]),
    "job: a lost answer was a success": (WORLD, "job", [
        ("        lose_answer(w, action.ask);\n        return NULL;",
         "        lose_answer(w, action.ask);\n        return confirmed(w, action.ask, counts);")]),
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
        ("(run->start / run->every + 1) * run->every", "run->start / run->every * run->every")]),
    "job: a run that finished may be retried": (CORE, "job", [
        ("(at_once && run->state != 'F')", "at_once")]),
    "job: a run that died may be retried, asked or not": (CORE, "job", [
        ("(at_once && run->state != 'F')", "run->state != 'F'")]),
    "job: anybody finishes a run": (CORE, "job", [
        ("record->count == 0 || newest->token != token", "record->count == 0")]),
    "job: a run that died is forgotten": (CORE, "job", [
        ("        record->runs[0].state = 'D';", "        record->runs[0].state = 'F', record->runs[0].end = record->runs[0].start;")]),
    # On a server.
    "job: a start names no version": (RECORD, "jobs", [
        (".versioned = true,", ".versioned = false,")]),
    "job: no answer is a success": (RECORD, "jobs", [
        ("    step->done = result == PDK__OK &&", "    step->done = (result == PDK__OK || result == PDK__UNKNOWN) &&")]),
    "job: at most for is forgotten": (JOB, "jobs", [
        ("    if (o->at_most_ms > 0)", "    if (false)")]),
    "job: a limit does not hold against the lease": ("src/grant/hold.c", "jobs", [
        ("    end_ns = MIN(end_ns, hold->latest);\n", "")]),
    "job: whoever was there has died": ("recipes/job_record.c", "jobs", [
        ("look->stands = status == PDK_OK && node.exists", "look->stands = false && node.exists")]),
    "job: threads hand the lock over": (JOB, "jobs", [
        ("pdk__handovers_init(&none, 0, 0);", "pdk__handovers_init(&none, 256, 1000 * PDK__MS);")]),
}
