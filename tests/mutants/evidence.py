"""Mutants that take evidence that was looked for a moment too early, that does not come, or that is of a connection or a session
that is gone.

name: (file, judge and its options, [(text, its replacement)…]); see mutants.
"""

MUTANTS = {
    "a lost create is made again after any barrier": ("src/session/commands.c", "evidence", [
        ("s->proven > entry->create ? PDK__OK", "s->proven > 0 ? PDK__OK")]),
    "a try believes a list without its sync": ("src/session/commands.c", "tries", [
        ("reply->result == PDK__OK && !entry->synced)", "reply->result == PDK__OK && entry->c.leaving)")]),
    "checker: what stands needs no barrier": ("src/grant/checked.c", "evidence", [
        ("bool there = result == PDK__OK && c->proven;", "bool there = result == PDK__OK;")]),
    "checker: what is gone needs no barrier": ("src/grant/checked.c", "evidence", [
        ("result == PDK__NO_NODE && c->proven)", "result == PDK__NO_NODE)")]),
    "break: what is broken was read without a sync": ("src/grant/revoke.c", "evidence", [
        (".path = b->path}, PDK__BEHIND_SYNC);", ".path = b->path}, PDK__BEHIND_NOTHING);")]),
    "job: a run has died at the first look": ("recipes/job_record.c", "evidence", [
        ("    look->at = PDK__JOB_LOOK_AGAIN;\n"
         "    return pdk__query_loop_next(loop, get(look, look->record));",
         "    return PDK_OK;")]),
    "job: a run has died where the look at its node is refused": ("recipes/job_record.c", "records", [
        ("    if (q->result != PDK__OK && q->result != PDK__NO_NODE)\n        return PDK_UNAVAILABLE;", "")]),
    "record: the lock node is gone where the look at it is refused": ("recipes/record.c", "records", [
        ("q->also.result == PDK__NO_NODE)", "q->also.result != PDK__OK)")]),
    "group: the barrier of an earlier session is good enough": ("recipes/group_read.c", "evidence", [
        ("    w->proven = w->proven && !handle_is_new;\n", "")]),
    "guardian: it ends the session before the last": ("command/keeper.c", "paddock_successor Killed.test_a_session_that_was_opened_anew", [
        ("    if ((another || event == PDK_SESSION_RESTORED) && k->on_session) /*",
         "    if (event == PDK_SESSION_CONNECTED && k->on_session) /*")]),
    "fence: a mark is told before it is on the disk": ("src/fence/file.c", "fence_file", [
        ("    return status == PDK_OK ? sync_mark(file, call, slots->serial) : status;",
         "    return status == PDK_OK ? PDK_OK : sync_mark(file, call, slots->serial);")]),
    "doctor: a server that hangs up once gives no session": ("command/doctor_servers.c", "paddock_doctor Servers.test_throttled", [
        ("        if (!*code || !s->mode || !s->wire.hung_up || cmd_now_ms() + AGAIN_MS >= deadline)",
         "        if (!*code || cmd_now_ms() > 0)")]),
}
