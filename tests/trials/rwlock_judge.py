"""What the logs of the rwlock trial have to show."""
from dataclasses import dataclass

from play.exclusion import conflicts
from play.logbook import S
from play.spans import overlaps, spans
from play.tables import few, median_max, table
from play.tokens import disordered

import validity

# From the end of the last one ahead to the grant. Without a wake-up it would be SESSION_MS. Now and then a server of an
# ensemble leaves a request unanswered until another one arrives, at the latest after a quarter of SESSION_MS.
LATE_NS = 10 * S
LEAST_TURNS = 10  # of each process, of each kind that it asks for
# How often this has to happen in each second, or the run shows nothing.
LEAST_PER_S = {"readers of two processes at once": 2, "readers beside a downgraded writer": 0.2,
               "hand-overs between threads": 0.2, "readers that waited for a writer": 2,
               "writers whom later readers waited with": 2}


@dataclass
class Entry:
    """A span, and the node in the queue that it stands on."""
    span: object
    number: int  # of the node
    asked: int
    free: int = 0  # when all ahead that block it had ended
    late_readers: bool = False  # a reader further behind had asked before this one was let in

    @property
    def reads(self):
        return self.span.kind == "read"

    @property
    def writes(self):
        return self.span.kind == "write"


def queue_of(found):
    """All entries in the order of their nodes, the hand-overs of one node in their order, and a downgraded writer after
    itself."""
    entries = [Entry(span, int(span.fields["seq"]), int(span.fields["asked"])) for span in found]
    return sorted(entries, key=lambda one: (one.number, one.span.handover, one.span.first))


def judge_exclusion(found):
    faults = []
    for conflict in conflicts(found):
        who, how_long = validity.between(conflict, lambda span: f"{span.who} ({span.kind}, node {span.fields['seq']})")
        faults.append(f"{who} were both in, {how_long}")
    return faults


def judge_order(queue):
    """A reader is let in after the writers ahead have ended, a writer after all ahead. Fills in `free`."""
    faults, writers, all_before = [], None, None
    for entry in queue:
        ahead = writers if entry.reads else all_before
        if entry.span.kind != "downgraded" and ahead:
            entry.free = ahead.span.last
            if entry.span.first < entry.free:
                faults.append(f"{tell(entry)} was let in before the end of {tell(ahead)}")
        if all_before is None or entry.span.last > all_before.span.last:
            all_before = entry
        if entry.writes and (writers is None or entry.span.last > writers.span.last):
            writers = entry
    return faults


def judge_tokens(found):
    return [f"{span.who} ({span.kind}) has token {span.grant}, and {least} was there before"
            for span, least in disordered(found)]


def waited(entry):
    """How long since it had asked, and all ahead that block it had ended."""
    return entry.span.first - max(entry.free, entry.asked)


def granted(queue):
    return [entry for entry in queue if entry.span.kind != "downgraded"]


def waits(queue):
    return [waited(entry) for entry in granted(queue)]


def tell(entry):
    return f"{entry.span.who} ({entry.span.kind}, node {entry.number})"


def judge_progress(queue, logbook):
    faults = [f"{tell(entry)} was let in {waited(entry) / 1e6:.0f} ms after all ahead had gone"
              for entry in granted(queue) if waited(entry) > LATE_NS]
    for event in logbook.named("turns"):
        for kind, never in (("read", "writer"), ("write", "reader")):
            if event.who != never and event.number(kind) < LEAST_TURNS:
                faults.append(f"{event.who} got {event[kind]} turns to {kind}")
    return faults


def mark_late_readers(queue):
    """Marks the writers that were let in after a reader behind them had asked."""
    first_asked = None
    for entry in reversed(queue):
        if entry.reads:
            first_asked = entry.asked if first_asked is None else min(first_asked, entry.asked)
        elif entry.writes:
            entry.late_readers = first_asked is not None and first_asked < entry.span.first


def substance(found, queue):
    together = overlaps(found, lambda a, b: "write" not in (a.kind, b.kind))
    mark_late_readers(queue)
    return {
        "readers of two processes at once": sum(a.kind == b.kind and a.who != b.who for a, b in together),
        "readers beside a downgraded writer": sum(a.kind != b.kind and a.who != b.who for a, b in together),
        "hand-overs between threads": sum(span.handover > 0 and span.kind == "write" for span in found),
        "readers that waited for a writer": sum(entry.reads and entry.free > entry.asked for entry in queue),
        "writers whom later readers waited with": sum(entry.late_readers for entry in queue),
    }


def judge_substance(counts, logbook, curator, seconds):
    faults = [f"vacuous: {what}: {count}" for what, count in counts.items() if count < LEAST_PER_S[what] * seconds]
    if not sum(event.number("torn") for event in logbook.named("peeked")):
        faults.append("vacuous: a look without the lock never saw the file torn")
    if curator and not sum(event.number("downgraded") for event in logbook.named("turns") if "curator" in event.who):
        faults.append("vacuous: Curator never downgraded")
    return faults


def judge_words(logbook):
    """What the players themselves found. And no hold is lost, since nobody is harmed."""
    faults = [f"{event.who}: " + " ".join([event["what"], *(f"{key}={value}" for key, value in event.fields.items()
                                                            if key != "what")]) for event in logbook.named("violation")]
    return faults + validity.untold(logbook) + validity.lost(logbook) + validity.never_valid(logbook)


def print_tables(found, queue, counts, logbook, seconds):
    rows = []
    for event in sorted(logbook.named("turns"), key=lambda one: one.who):
        these = [entry for entry in queue if entry.span.who == event.who]
        rows.append((event.who, event["read"], event["write"], event["downgraded"], event["gave-up"],
                     median_max(waits(these), 1), median_max([entry.span.first - entry.asked for entry in these])))
    print(table(("player", "reads", "writes", "downgraded", "gave up", "let in after, ms", "asked before, ms"), rows))
    for what, count in counts.items():
        print(f"  {count} {what}")
    peeked = logbook.named("peeked")
    print(f"  {sum(event.number('torn') for event in peeked)} of {sum(event.number('looks') for event in peeked)} looks "
          f"without the lock saw the file torn")
    print(f"  {len(found)} spans of validity in {seconds} s; from the end of the last one ahead to the next one in: "
          f"{median_max(waits(queue), 1)} ms (median / max), {tell(max(granted(queue), key=waited))}", flush=True)


def judge(logbook, curator, seconds):
    found = spans(logbook)
    queue = queue_of(found)
    order = judge_order(queue)
    counts = substance(found, queue)
    print_tables(found, queue, counts, logbook, seconds)
    return [fault for faults in (judge_exclusion(found), order, judge_tokens(found), judge_progress(queue, logbook),
                                 judge_words(logbook), judge_substance(counts, logbook, curator, seconds))
            for fault in few(faults)]
