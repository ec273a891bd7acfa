"""Mutants of the words of a status, or of a reason, where another one has the same effect.

name: (file, judge and its options, [(text, its replacement)…]); see mutants.
"""

MUTANTS = {
    "a wait that no server answers has timed out": ("src/grant/claim.c", "words", [
        ("in_queue ? PDK_TIMEOUT : PDK_UNAVAILABLE, why", "PDK_TIMEOUT, why")]),
    "a grant that lapsed in a session that has ended has timed out": ("src/grant/claim.c", "between", [
        ("        *status = s->ended != PDK_OK ? s->ended : PDK_TIMEOUT;", "        *status = PDK_TIMEOUT;")]),
    "somebody is ahead, also where it is this process": ("src/grant/queue.c", "words", [
        ('queue->grant ? "held by this process" : "somebody is ahead"', '"somebody is ahead"')]),
    "ensure: a hold that was released is lost": ("src/grant/ensure.c", "words", [
        ("    if (hold->loss.released)\n"
         "        return PDK_NOT_HELD;\n"
         "    if (!pdk_hold_is_valid(hold))",
         "    if (!pdk_hold_is_valid(hold))")]),
    "record: a hold that was released is lost": ("recipes/record.c", "words", [
        ('c->hold->loss.released ? PDK_NOT_HELD : PDK_LOST, "%s: %s: %s"', 'PDK_LOST, "%s: %s: %s"')]),
    "published: a term that was resigned is lost": ("recipes/own_data.c", "words", [
        ("w->hold->loss.released ? PDK_NOT_HELD : PDK_LOST;", "PDK_LOST;")]),
    "guarded: a hold that was released is lost": ("recipes/guarded_steps.c", "words", [
        ('g->hold->loss.released ? PDK_NOT_HELD : PDK_LOST, "', 'PDK_LOST, "')]),
    "a hold that is overdue has lost its lease": ("src/grant/hold.c", "limits", [
        ("pdk__now(hold->s) < hold->latest ? PDK_REASON_LEASE : PDK_REASON_OVERDUE;", "PDK_REASON_LEASE;")]),
    "a hold that went with its session has lost its lease": ("src/grant/hold.c", "words", [
        ("    reason = hold->voided;\n", "    reason = hold->voided ? reason : PDK_REASON_NONE;\n")]),
    "the holds of one grant are lost for two reasons": ("src/grant/grant.c", "words", [
        ("        lose(grant, hold->loss.reason);", "        lose(grant, PDK_REASON_LEASE);")]),
    "lease lock: a record that is another's is a node that is gone": ("recipes/lease_lock_tenure.c", "words", [
        ("pdk__hold_lose(t->hold, PDK_REASON_OVERDUE);", "pdk__hold_lose(t->hold, PDK_REASON_NODE_GONE);")]),
    "lease lock: who waits for a lock that was dropped has timed out": ("recipes/lease_lock.c", "words", [
        ('        status = pdk__fail(PDK_CANCELED, "%s: %s: %s", name, record, dropped);',
         '        status = pdk__fail(PDK_TIMEOUT, "%s: %s: %s", name, record, dropped);')]),
    "lease lock: who has waited in vain finds it busy": ("recipes/lease_lock.c", "words", [
        ('        status = pdk__fail(PDK_TIMEOUT, "%s: %s: it stands',
         '        status = pdk__fail(PDK_BUSY, "%s: %s: it stands')]),
    "election: a session that has ended is nobody's candidacy": ("recipes/candidacy.c", "words", [
        ("        return c->queue->s->ended;\n", "        return PDK_NOT_HELD;\n")]),
    "job: others that only ask are a run": ("recipes/job.c", "limits", [
        ('pdk__fail(PDK_BUSY, "%s: %s: others ask', 'pdk__fail(PDK_SKIPPED, "%s: %s: others ask')]),
    "job: a run that has died is running": ("recipes/job_record.c", "words", [
        ("        shown.state = stands ? PDK_JOB_RUNNING : PDK_JOB_DIED;", "        shown.state = PDK_JOB_RUNNING;")]),
    "service: who waits in vain for its end is told of no server": ("recipes/election_service.c", "service", [
        ('            status = pdk__fail(PDK_TIMEOUT, "%s: the function',
         '            status = pdk__fail(PDK_UNAVAILABLE, "%s: the function')]),
    "semaphore: a try that finds too little has no server": ("recipes/semaphore_admission.c", "asking", [
        ('admission_refuse(admission, PDK_BUSY, "too few', 'admission_refuse(admission, PDK_UNAVAILABLE, "too few')]),
    "job: others that only ask are a lock that is taken": ("command/job.c", "paddock_job Job.test_others_only_ask", [
        ("answer == PDK_SKIPPED || answer == PDK_BUSY ? CMD_SKIPPED", "answer == PDK_SKIPPED ? CMD_SKIPPED")]),
    "job: what is lost has an outcome": ("command/job.c", "paddock_job Job.test_at_most", [
        ("int recorded = work->lost ? CMD_OK : finish(k, job, status);", "int recorded = finish(k, job, status);")]),
    "run: what took too long was lost": ("command/work.c", "paddock_run Statuses.test_too_long", [
        ("        return CMD_TOO_LONG;", "        return CMD_LOST;")]),
    "run: permission that is denied is a server that does not answer": ("command/status.c", "paddock_run Statuses.test_permission_denied", [
        ("        return CMD_DENIED;", "        return CMD_UNAVAILABLE;")]),
    "run: the reason for a TERM is told when nothing is left": ("command/work.c", "paddock_loss Loss.test_term_comes_first", [
        ('        tell_loss(w, "TERM sent");\n', "")]),
    "job: an ask ends in the middle of a try": ("recipes/job.c", "limits", [
        ("    b->last = status == PDK_BUSY && now >= b->until - 2 * AGAIN_NS;", "    b->last = false;")]),
}
