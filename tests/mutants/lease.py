"""Mutants of the lease, judged by its model.

name: (file, judge and its options, [(text, its replacement)…]); see mutants.
"""

CLIENT = "tests/model/lease_client.c"
STEPS = "tests/model/lease_steps.c"
LEASE = "src/core/lease.c"
NONE = "lease --losses 0 --deposals 0 "
FINE = NONE + "--timeout 6 --tick-known --never-leader "  # any delay on any link
PAUSE = FINE + "--prompt --stalls 1"
MUTANTS = {
    "a lease is counted from the answer": (LEASE, FINE + "--prompt", [
        ("return l->sent[at] > confirmed_at ? l->sent[at] : confirmed_at;",
         "return l->answered[at] > confirmed_at ? l->answered[at] : confirmed_at;")]),
    "a lease is counted from the newest request": (LEASE, FINE + "--prompt", [
        ("int64_t end = reported_touch(l, sent) + l->timeout", "int64_t end = sent + l->timeout")]),
    "a lease is counted from the answer to the newest request": (LEASE, FINE + "--prompt", [
        ("int64_t end = reported_touch(l, sent) + l->timeout", "int64_t end = answered + l->timeout")]),
    "a lease is counted from the newest touch": (LEASE, FINE + "--prompt", [
        ("if (l->answered[at] >= before)\n            continue;\n        if (confirmed)",
         "if (l->answered[at] > sent)\n            continue;\n        if (true)")]),
    "one write is enough": (LEASE, PAUSE, [
        ("bool confirmed = false;", "bool confirmed = true;"),
        ("int64_t before = sent - by_any_clock(SLACK),", "int64_t before = sent - report_delay(l),")]),
    "the second write may follow at once": (LEASE, PAUSE, [
        ("int64_t before = sent - by_any_clock(SLACK),", "int64_t before = sent + 1,")]),
    "any answer confirms a touch": (LEASE, PAUSE, [
        ("if (l->committed[at]) {", "if (true) {")]),
    "the writes need not be apart": (LEASE, FINE, [
        ("before = l->sent[at] - report_delay(l);", "before = l->sent[at];")]),
    "half a tick is not waited for": (LEASE, FINE, [
        ("return by_any_clock(half + SLACK) * l->hops;", "return SLACK * l->hops;")]),
    "half a tick is half of one": (LEASE, FINE, [
        ("return by_any_clock(half + SLACK) * l->hops;", "return by_any_clock(half / 2 + SLACK) * l->hops;")]),
    "half a tick by a clock that is fast": (LEASE, FINE + "--rate 17", [
        ("return by_any_clock(half + SLACK) * l->hops;", "return (half + SLACK) * l->hops;")]),
    "pings are never late": (LEASE, NONE + "--half 1 --timeout 7 --tick-known --unit 50 --late 1 --stalls 1 --prompt --never-leader", [
        ("return by_any_clock(half + SLACK) * l->hops;", "return by_any_clock(half) * l->hops;")]),
    "threads are late by a clock that is fast": (LEASE, NONE + "--half 1 --timeout 8 --tick-known --unit 50 --late 1 --rate 17 --stalls 1 "
                                                 "--prompt --never-leader", [
        ("return by_any_clock(half + SLACK) * l->hops;", "return (by_any_clock(half) + SLACK) * l->hops;")]),
    "hops do not count": (LEASE, FINE + "--timeout 7 --hops 2 --prompt", [
        ("return by_any_clock(half + SLACK) * l->hops;", "return by_any_clock(half + SLACK);")]),
    "the tick is the shortest timeout's": (LEASE, NONE + "--half 2 --timeout 5 --tick-known --never-leader", [
        ("(l->tick_option ? l->tick_option : l->timeout / 2) / 2", "l->timeout / 2 / 2")]),
    "no margin": (LEASE, FINE + "--rate 15 --prompt", [
        ("return l->timeout / 16 + SLACK;", "return 0;")]),
    "half a margin": (LEASE, FINE + "--rate 15 --prompt", [
        ("return l->timeout / 16 + SLACK;", "return l->timeout / 32 + SLACK;")]),
    "a read renews": (CLIENT, FINE + "--prompt", [
        ("return kind == LEASE_BARRIER;", "return kind == LEASE_BARRIER || kind == LEASE_READ;")]),
    "a sync renews": (CLIENT, NONE + "--timeout 5 --tick-known --syncs --deposals 1", [
        ("return kind == LEASE_BARRIER;", "return kind == LEASE_BARRIER || kind == LEASE_SYNC;")]),
    "the birth is where it was heard of": (CLIENT, FINE + "--prompt", [
        ("    s->timeout = (int8_t)(l.timeout / m->config.unit);",
         "    if (s->timeout == 0)\n        s->born = 0;\n    s->timeout = (int8_t)(l.timeout / m->config.unit);")]),
    "a reconnect is a touch that counts": (CLIENT, FINE.replace("--losses 0", "--losses 1") + "--prompt", [
        ("    s->timeout = (int8_t)(l.timeout / m->config.unit);",
         "    if (s->timeout != 0)\n        s->born = 0;\n    s->timeout = (int8_t)(l.timeout / m->config.unit);")]),
    "a handshake is dated when it is heard of": (CLIENT, FINE.replace("--losses 0", "--losses 1") + "--prompt", [
        ("    s->timeout = (int8_t)(l.timeout / m->config.unit);",
         "    if (s->timeout != 0)\n        s->looked = 0;\n    s->timeout = (int8_t)(l.timeout / m->config.unit);")]),
    "a connection that is there is taken for none": (STEPS, FINE.replace("--losses 0", "--losses 1") + "--prompt", [
        ("    if (s->timeout != 0 && left(m, s, LEASE_LOSSES))\n        may(list, LEASE_LOSE, 0);",
         "    if (s->timeout != 0 && left(m, s, LEASE_LOSSES))\n        may(list, LEASE_LOSE, 0);\n"
         "    if (s->timeout != 0 && s->looked != 0)\n        may(list, LEASE_LOOK, 0);")]),
    "no handshake counts": (LEASE, FINE.replace("--losses 0", "--losses 1") + "--prompt", [
        ("return sent >= l->dialled_seen && l->dialled > l->born ? l->dialled : l->born;", "(void)sent;\n    return l->born;")]),
    "the timeout asked for": (CLIENT, NONE + "--timeout 6 --tick-known --prompt --losses 1 --shorter 5 --shorts 1", [
        ("pdk__lease_negotiated(&l, s->news * m->config.unit);",
         "pdk__lease_negotiated(&l, m->config.timeout * m->config.unit);")]),
    "a shorter timeout is ignored": (LEASE, NONE + "--timeout 6 --tick-known --prompt --losses 1 --shorter 5 --shorts 1", [
        ("if (timeout >= l->timeout)\n        return;", "if (timeout != l->timeout)\n        return;")]),
    "a shorter timeout is for later": (LEASE, NONE + "--timeout 6 --tick-known --prompt --losses 1 --shorter 5 --shorts 1", [
        ("l->end -= l->timeout - timeout;", "l->end -= 0;")]),
    "the last timeout counts": (LEASE, NONE + "--timeout 6 --tick-known --prompt --losses 2 --shorter 5 --shorts 1", [
        ("if (timeout >= l->timeout)\n        return;", "if (timeout == l->timeout)\n        return;")]),
    "an older touch takes a lease back": (LEASE, FINE + "--prompt", [
        ("if (moved)\n            l->end = end;", "l->end = end;")]),
    "what is young is touched": (LEASE, FINE, [
        ("if (l->answered[at] >= before)\n            continue;", "if (l->answered[at] < before)\n            continue;")]),
    "by sending, not by answering": (LEASE, FINE, [
        ("if (l->answered[at] >= before)", "if (l->sent[at] >= before)")]),
    "evidence is lost in a crowd": (LEASE, FINE + "--prompt", [
        ("l->sent[l->newest] >= l->timeout / 64) {", "l->sent[l->newest] >= l->timeout / 4) {")]),
    "only births count": (LEASE, FINE + "--prompt", [
        ("if (confirmed)\n            return l->sent[at] > confirmed_at ? l->sent[at] : confirmed_at;", "")]),
}
