"""What the logs of those who took permits have to show."""
import bisect

from logbook import MS, S
from spans import spans, unclosed
from tables import few, median_max, table

# What has to happen in each second, or the run shows nothing.
LEAST_PER_S = {
    "times all permits were taken": 3, "holds of several permits": 0.5, "turns in a row of threads that share": 0.5,
    "times somebody asked after another was in line": 1, "refusals of another number": 0.1,
    "deaths with permits in hand": 0.03, "times somebody was served in peace": 5,
}
LEAST_TURNS = 3
STALL_NS = 2 * S  # less than SESSION_MS
WINDOW = 300  # turns back, to look for overtakers


def permits_of(span):
    return int(span.fields["count"])


def slot_of(who):
    return who.split(".")[0]


def judge_capacity(found, permits):
    """Sweeps over the ends of all spans, both of which are instants at which it was valid. Faults, times full."""
    faults, full, taken, inside = [], 0, 0, {}
    edges = [(span.first, 1, index) for index, span in enumerate(found)]
    edges += [(span.last + 1, 0, index) for index, span in enumerate(found)]
    for ns, begins, index in sorted(edges):
        span = found[index]
        if not begins:
            taken -= permits_of(span)
            del inside[index]
            continue
        taken += permits_of(span)
        inside[index] = f"{span.who} ({permits_of(span)}, token {span.token})"
        full += taken == permits
        if taken > permits:
            faults.append(f"{taken} permits were valid at {ns}: {', '.join(inside.values())}")
    return faults, full


def judge_tokens(found):
    """A token is one hold's, or those of the hand-overs within a process."""
    owners, faults = {}, []
    for span in found:
        if owners.setdefault(span.right, span.who) != span.who:
            faults.append(f"{span.who} and {owners[span.right]} have the same token {span.token}")
    return faults


def by_token(found):
    """Tokens are given out in the order of turns."""
    return sorted(found, key=lambda one: one.right)


def may_overtake(who, handovers):
    """How often. Threads may be handed a turn for which their process lined up earlier, so many times in a row, or one that
    another of them gave up."""
    slot = slot_of(who)
    return 1 + handovers if slot.startswith("threads") else slot.startswith("eager")


def judge_order(found, handovers):
    """Nobody who asked after another was in line gets its turn before it. Faults, and how often it could be judged."""
    faults, judged, turns = [], 0, by_token(found)
    asked = sorted(int(span.fields["asked"]) for span in found)
    for index, span in enumerate(turns):
        line = int(span.fields["line"])
        if not line:
            continue
        later = bisect.bisect_right(asked, line)
        judged += later < len(asked) and asked[later] < span.first
        overtakers = [one.who for one in turns[max(0, index - WINDOW):index] if int(one.fields["asked"]) > line]
        for who in sorted(set(overtakers)):
            if overtakers.count(who) > may_overtake(who, handovers):
                faults.append(f"{who} asked after {span.who} (token {span.token}) was in line, and got "
                              f"{overtakers.count(who)} turns before it")
    return faults, judged


def in_a_row(found):
    """Turns that followed another of the same process whose threads share them, having been asked for before that."""
    turns = by_token(found)
    return sum(before.who == span.who and slot_of(span.who).startswith("threads")
               and int(span.fields["asked"]) < before.first for before, span in zip(turns, turns[1:]))


def peaceful_gaps(found, logbook, troubled_ns):
    """From one grant to the next, where nobody who was killed or paused can have been in the way."""
    mishaps = sorted(event.ns for event in logbook.named("killing", "stopping", "resuming", "finishing"))
    firsts = sorted(span.first for span in found)
    gaps = []
    for before, after in zip(firsts, firsts[1:]):
        earlier = bisect.bisect_right(mishaps, after)
        if not earlier or mishaps[earlier - 1] < before - troubled_ns:
            gaps.append(after - before)
    return gaps


def judge_stalls(gaps):
    """A waiter that nobody wakes looks again after the session timeout, which shows as a gap."""
    return [f"for {gap / 1e6:.0f} ms nobody was served, and nobody was in the way" for gap in gaps if gap > STALL_NS]


def judge_progress(found, play):
    faults = []
    for slot in play.slots:
        these = [span for span in found if slot_of(span.who) == slot]
        if len(these) < LEAST_TURNS * (play.incarnations[slot] if len(these) else 1):
            faults.append(f"{slot} got {len(these)} turns in {play.incarnations[slot]} lives")
    return faults


def judge_wrong(logbook, permits):
    """PDK_MISMATCH, or what befalls anybody in a queue that is held up; above all never a permit."""
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
    """A hold is lost by those who sleep, and not by others."""
    faults = [f"{event.who} does not tell how long token {event['token']} was valid" for event in unclosed(logbook)]
    slept = {event["who"] for event in logbook.named("stopped")}
    faults += [f"{event.who}'s hold was lost: {event['reason']}" for event in logbook.named("valid")
               if event["reason"] != "NONE" and event.who not in slept]
    return faults


def print_tables(found, counts, gaps, logbook, play, seconds):
    rows = []
    for slot in play.slots:
        these = [span for span in found if slot_of(span.who) == slot]
        by_count = [sum(permits_of(span) == count for span in these) for count in (1, 2, 3)]
        rows.append((slot, play.incarnations[slot], *by_count,
                     sum(event.number("gave-up") for event in logbook.named("turns") if slot_of(event.who) == slot),
                     median_max([span.first - int(span.fields["asked"]) for span in these])))
    print(table(("player", "lives", "took 1", "took 2", "took 3", "gave up", "asked before, ms"), rows))
    for what, count in counts.items():
        print(f"  {count} {what}")
    print(f"  {len(found)} spans of validity in {seconds} s; {len(logbook.named('killed'))} killed, "
          f"{len(logbook.named('stopped'))} paused; in peace the next one was served after {median_max(gaps)} ms "
          "(median / max)", flush=True)


def judge(logbook, play, seconds):
    found = [span for span in spans(logbook) if span.kind == "permit"]
    capacity, full = judge_capacity(found, play.permits)
    order, judged = judge_order(found, play.handovers)
    counts = {
        "times all permits were taken": full,
        "holds of several permits": sum(permits_of(span) > 1 for span in found),
        "turns in a row of threads that share": in_a_row(found),
        "times somebody asked after another was in line": judged,
        "refusals of another number": sum(event["status"] == "PDK_MISMATCH" for event in logbook.named("mismatch")),
        "deaths with permits in hand": sum(one.cut_short for one in found),
    }
    gaps = peaceful_gaps(found, logbook, (play.company.session_ms + play.company.tick_ms + 1000) * MS)
    counts["times somebody was served in peace"] = len(gaps)
    print_tables(found, counts, gaps, logbook, play, seconds)
    vacuous = [f"vacuous: {what}: {count}" for what, count in counts.items() if count < LEAST_PER_S[what] * seconds]
    return [fault for faults in (capacity, judge_tokens(found), order, judge_stalls(gaps), judge_progress(found, play),
                                 judge_wrong(logbook, play.permits), judge_words(logbook), vacuous)
            for fault in few(faults)]
