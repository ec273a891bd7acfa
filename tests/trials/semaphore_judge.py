"""What the logs of the semaphore trial have to show."""
import bisect

from play.exclusion import conflicts, sweep
from play.logbook import MS, S
from play.spans import spans
from play.tables import few, median_max, table
from play.tokens import owned_twice

import validity

# How often this has to happen in each second, or the run shows nothing.
LEAST_PER_S = {
    "times all permits were taken": 3, "holds of several permits": 0.5, "turns in a row of threads that share": 0.5,
    "times somebody asked after another was in the queue": 1, "refusals of another number": 0.1,
    "deaths with permits in hand": 0.03, "times somebody was served in peace": 5,
}
LEAST_TURNS = 3
STALL_NS = 2 * S  # less than SESSION_MS
WINDOW = 300  # turns back, in which to look for overtakers


def slot_of(who):
    return who.split(".")[0]


def judge_capacity(found, permits):
    """Never more permits valid than there are. Faults, and how often all were taken."""
    faults = [f"{one.permits} permits were valid at {one.begin}: " + ", ".join(
        f"{span.who} ({span.permits}, token {span.token})" for span in one.spans) for one in conflicts(found, permits)]
    return faults, sum(begins and tally.permits == permits for _, tally, begins in sweep(found, permits))


def judge_tokens(found):
    """A token belongs to one process: to one hold, or to the hold and those that it was handed over to."""
    return [f"{one.who} and {other.who} have the same token {one.token}"
            for one, other in owned_twice(found, lambda span: span.who)]


def by_token(found):
    """In the order of the turns, which is the order of the tokens."""
    return sorted(found, key=lambda one: one.grant)


def may_overtake(who, handovers):
    """How often. A thread may be handed a turn for which its process queued earlier, so many times in a row. It may
    also be handed a turn that another thread gave up."""
    slot = slot_of(who)
    return 1 + handovers if slot.startswith("threads") else slot.startswith("eager")


def judge_order(found, handovers):
    """A player that asks when another is in the queue gets its turn later. Faults, and how often this could be judged."""
    faults, judged, turns = [], 0, by_token(found)
    asked = sorted(int(span.fields["asked"]) for span in found)
    for index, span in enumerate(turns):
        queued = int(span.fields["queued"])
        if not queued:
            continue
        later = bisect.bisect_right(asked, queued)
        judged += later < len(asked) and asked[later] < span.first
        overtakers = [one.who for one in turns[max(0, index - WINDOW):index] if int(one.fields["asked"]) > queued]
        for who in sorted(set(overtakers)):
            if overtakers.count(who) > may_overtake(who, handovers):
                faults.append(f"{who} asked after {span.who} (token {span.token}) was in the queue, and got "
                              f"{overtakers.count(who)} turns before it")
    return faults, judged


def in_a_row(found):
    """How many turns followed another turn of the same process, and had been asked for before that. Counts only processes
    with threads that share turns."""
    turns = by_token(found)
    return sum(before.who == span.who and slot_of(span.who).startswith("threads")
               and int(span.fields["asked"]) < before.first for before, span in zip(turns, turns[1:]))


def peaceful_gaps(found, logbook, troubled_ns):
    """Times from one grant to the next in which no player that was killed or paused can have blocked the others."""
    mishaps = sorted(event.ns for event in logbook.named("killing", "stopping", "resuming", "finishing"))
    firsts = sorted(span.first for span in found)
    gaps = []
    for before, after in zip(firsts, firsts[1:]):
        earlier = bisect.bisect_right(mishaps, after)
        if not earlier or mishaps[earlier - 1] < before - troubled_ns:
            gaps.append(after - before)
    return gaps


def judge_stalls(gaps):
    """A waiter that nobody wakes looks again after the session timeout. That shows as a gap."""
    return [f"for {gap / 1e6:.0f} ms nobody was served, and nobody was in the way" for gap in gaps if gap > STALL_NS]


def judge_progress(found, trial):
    faults = []
    for slot in trial.slots:
        these = [span for span in found if slot_of(span.who) == slot]
        if len(these) < LEAST_TURNS * (trial.incarnations[slot] if len(these) else 1):
            faults.append(f"{slot} got {len(these)} turns in {trial.incarnations[slot]} lives")
    return faults


def judge_wrong(logbook, permits):
    """The answer is PDK_MISMATCH, or that of any waiter in a queue that stands still, and never a permit."""
    allowed = {"PDK_MISMATCH", "PDK_TIMEOUT", "PDK_UNAVAILABLE"}
    faults = [f"another number of permits was answered {event['status']}" for event in logbook.named("mismatch")
              if event["status"] not in allowed]
    for event in logbook.named("last"):
        if event["status"] != "PDK_OK" or event.number("holders") != permits:
            faults.append(f"all permits at once, at the end: {event['status']}, {event['holders']} holders")
    if not logbook.named("last"):
        faults.append("the last player did not tell whether all permits can be had")
    return faults


def judge_words(logbook):
    """Only a player that was stopped loses a hold."""
    return validity.untold(logbook) + validity.lost(logbook, {event["who"] for event in logbook.named("stopped")})


def print_tables(found, counts, gaps, logbook, trial, seconds):
    rows = []
    for slot in trial.slots:
        these = [span for span in found if slot_of(span.who) == slot]
        by_count = [sum(span.permits == count for span in these) for count in (1, 2, 3)]
        rows.append((slot, trial.incarnations[slot], *by_count,
                     sum(event.number("gave-up") for event in logbook.named("turns") if slot_of(event.who) == slot),
                     median_max([span.first - int(span.fields["asked"]) for span in these])))
    print(table(("player", "lives", "took 1", "took 2", "took 3", "gave up", "asked before, ms"), rows))
    for what, count in counts.items():
        print(f"  {count} {what}")
    print(f"  {len(found)} spans of validity in {seconds} s; {len(logbook.named('killed'))} killed, "
          f"{len(logbook.named('stopped'))} paused; in peace the next one was served after {median_max(gaps)} ms "
          "(median / max)", flush=True)


def judge(logbook, trial, seconds):
    found = [span for span in spans(logbook) if span.kind == "permit"]
    capacity, full = judge_capacity(found, trial.permits)
    order, judged = judge_order(found, trial.handovers)
    counts = {
        "times all permits were taken": full,
        "holds of several permits": sum(span.permits > 1 for span in found),
        "turns in a row of threads that share": in_a_row(found),
        "times somebody asked after another was in the queue": judged,
        "refusals of another number": sum(event["status"] == "PDK_MISMATCH" for event in logbook.named("mismatch")),
        "deaths with permits in hand": sum(one.cut_short for one in found),
    }
    gaps = peaceful_gaps(found, logbook, (trial.bench.session_ms + trial.bench.tick_ms + 1000) * MS)
    counts["times somebody was served in peace"] = len(gaps)
    print_tables(found, counts, gaps, logbook, trial, seconds)
    vacuous = [f"vacuous: {what}: {count}" for what, count in counts.items() if count < LEAST_PER_S[what] * seconds]
    return [fault for faults in (capacity, judge_tokens(found), order, judge_stalls(gaps), judge_progress(found, trial),
                                 judge_wrong(logbook, trial.permits), judge_words(logbook), vacuous)
            for fault in few(faults)]
