"""Mutants of the group, judged by members and watchers in the simulation, or step by step.

name: (file, judge and its options, [(text, its replacement) or (other file, text, its replacement)…]); see mutants.
"""

SIM = "sim --schedules 20000 --seed 1 --no-shrink --no-vacuity"
MEMBER = "recipes/group_member.c"
CANDIDACY = "recipes/candidacy.c"
OWN = "recipes/own_data.c"
READ = "recipes/group_read.c"
NODES = "recipes/group_nodes.c"
VIEW = "recipes/group_view.c"
WATCH = "recipes/group_watch.c"
# A poll would make up for a lost event, and hide the mutant.
NO_POLL = ("src/session/live_query.c", "pdk__live_query_look_within(l, l->s->lease.timeout); /*", "(void)l; /*")
MUTANTS = {
    # members
    "group: a lost answer to a set was somebody else's": (OWN, SIM, [
        ("bool ours = is_unsure(own, digest) && (asked || q->stat.version == own->version + 1);", "bool ours = false;")]),
    "group: only the newest data may be ours": (OWN, SIM, [
        ("    if (w->added)\n        g_ptr_array_add", "    g_ptr_array_set_size(w->own->unsure, 0);\n    if (w->added)\n        g_ptr_array_add")]),
    "group: a set without an answer was a success": (OWN, SIM, [
        ("    if (result == PDK__OK) {\n        is_written(w->own,", "    if (result == PDK__OK || result == PDK__UNKNOWN) {\n        is_written(w->own,")]),
    "group: a write that was refused is made again": (OWN, "member_data", [
        ("    if (result == PDK__NOT_ALLOWED || result == PDK__REFUSED)", "    if (result == PDK__NOT_ALLOWED)")]),
    "group: a node that was being made keeps its data": (MEMBER, "member_data", [
        ("if (hold->grant->entries[0]->outdated)", "if (false)")]),
    "group: data are for this node alone": (MEMBER, SIM, [
        ("    set_data(queue_of(c), bytes, size);", "    (void)bytes;")]),
    "group: a new node counts its versions on": (OWN, SIM, [
        ("is_written(w->own, 0, digest);", "is_written(w->own, w->own->version, digest);")]),
    "group: a member that is lost does not come back": (CANDIDACY, SIM, [
        ("pdk_status status = candidacy_stand_again(c);",
         "pdk_status status = notice->reason == PDK_REASON_LEASE ? PDK_OK : candidacy_stand_again(c);")]),
    "group: the next node does not wait for the one before": (MEMBER, SIM, [("        .one_node = true,\n", "")]),
    # The reaper would make up for it.
    "group: a lost create is made once more": ("src/core/contender.c", SIM, [
        ("    default: /* UNKNOWN */\n        c->phase = PDK__UNSURE;", "    default: /* UNKNOWN */\n        be_out(c);"),
        ("src/session/reap.c", "    for (size_t i = 0; i < count; i++) {\n        if (!pdk__name", "    for (size_t i = count; i < count; i++) {\n        if (!pdk__name")]),
    "group: a hold outlives its lease": ("src/grant/hold.c", SIM, [
        ("return MIN(lease_end, own);", "return own > 0 ? lease_end + 2 * hold->s->lease.timeout : own;")]),
    # watchers
    "group: no barrier ahead of the first list": (READ, SIM, [
        ("    if (!w->proven &&\n        !group_read_send(", "    if (false &&\n        !group_read_send(")]),
    "group: an exact view while reads are under way": (READ, SIM, [
        ("bool quiet = w->in_flight == 0 && !w->relist, all_are_watched;", "bool quiet = !w->relist, all_are_watched;"),
        ("        pdk__live_query_caught_up(&w->query);\n", "        (void)w;\n"),
        ("    assert(w->in_flight > 0 || w->todo.length == 0);", "    (void)w;")]),
    "group: an exact view though the list has changed": (READ, SIM, [
        ("w->in_flight == 0 && !w->relist, all", "w->in_flight == 0, all")]),
    "group: a change of data is not read": (READ, SIM, [
        ("    seen->watched = false;\n    pdk__seen_mark(w, seen);\n    if (gone)", "    if (gone)"), NO_POLL]),
    "group: a new handle keeps its watches": (NODES, SIM, [
        ("        seen->watched = seen->watched && !all;", "        ;"), NO_POLL]),
    "group: no watch on the list": (READ, SIM, [
        (".watch = w->list_watched,", ".watch = false,"), NO_POLL]),
    "group: any node that bears the name is a member": (NODES, SIM, [
        ("        if (reply->owner == 0)", "        if (false)")]),
    "group: each read is a change": (NODES, SIM, [
        ("    if (old && old->shown.changed == shown.changed)\n        return;", "    (void)old;")]),
    "group: changes are told of the view before the last": (VIEW, SIM, [
        ("    compare_views(view, told ? told->records : none);", "    compare_views(view, told && told->number > 1 ? told->records : none);")]),
    "group: a change is told as a leaving alone": (VIEW, SIM, [
        ("        else if (before != after)\n            note(view, before, after);",
         "        else if (before != after)\n            note(view, before, NULL);")]),
    "group: a watcher that was stopped is told": (WATCH, SIM, [
        ("    w->telling = !w->query.stopped;", "    w->telling = true;")]),
}
