"""What the logs of readers and writers have to show."""
from dataclasses import dataclass

from logbook import S
from spans import overlaps, spans, unclosed
from tables import few, median_max, table

# From the end of the last one ahead to the grant. Without a wake-up it would be SESSION_MS; and now and then a server of an
# ensemble leaves a request unanswered until another one arrives, at the latest a quarter of that.
LATE_NS = 10 * S
LEAST_TURNS = 10  # of each process, of each kind it asks for
# What has to happen in each second, or the run shows nothing.
LEAST_PER_S = {"readers of two processes at once": 2, "readers beside a downgraded writer": 0.2,
               "hand-overs between threads": 0.2, "readers that waited for a writer": 2,
               "writers whom later readers waited with": 2}


@dataclass
class Place:
    """A span with its place in line."""
    span: object
    number: int  # of the node
    asked: int
    free: int = 0  # when all ahead that block it were gone
    late_readers: bool = False  # a later reader had asked before this one was let in

    @property
    def reads(self):
        return self.span.kind == "read"

    @property
    def writes(self):
        return self.span.kind == "write"


def line_of(found):
    """Everybody in the order of the nodes, hand-overs of one node in theirs, and a downgraded writer after itself."""
    places = [Place(span, int(span.fields["seq"]), int(span.fields["asked"])) for span in found]
    return sorted(places, key=lambda one: (one.number, one.span.handover, one.span.first))


def judge_exclusion(found):
    def conflict(a, b):
        return "write" in (a.kind, b.kind)

    return [f"{a.who} ({a.kind}, node {a.fields['seq']}) and {b.who} ({b.kind}, node {b.fields['seq']}) were both in, "
            f"for {(min(a.last, b.last) - b.first) / 1e6:.3f} ms" for a, b in overlaps(found, conflict)]


def judge_order(line):
    """A reader is let in after the writers ahead have ended, a writer after all ahead. Fills in when that was."""
    faults, writers, everybody = [], None, None
    for place in line:
        ahead = writers if place.reads else everybody
        if place.span.kind != "downgraded" and ahead:
            place.free = ahead.span.last
            if place.span.first < place.free:
                faults.append(f"{tell(place)} was let in before the end of {tell(ahead)}")
        if everybody is None or place.span.last > everybody.span.last:
            everybody = place
        if place.writes and (writers is None or place.span.last > writers.span.last):
            writers = place
    return faults


def judge_tokens(found):
    """A writer's is larger than all before it, a reader's than the writers' before it."""
    faults, largest, largest_writer = [], (0, 0), (0, 0)
    for span in found:
        least = {"write": largest, "read": largest_writer}.get(span.kind)
        if least and span.right <= least:
            faults.append(f"{span.who} ({span.kind}) has token {span.right}, and {least} was there before")
        largest = max(largest, span.right)
        if span.kind == "write":
            largest_writer = max(largest_writer, span.right)
    return faults


def waited(place):
    """From the moment it had asked, and all ahead that block it were gone."""
    return place.span.first - max(place.free, place.asked)


def granted(line):
    return [place for place in line if place.span.kind != "downgraded"]


def waits(line):
    return [waited(place) for place in granted(line)]


def tell(place):
    return f"{place.span.who} ({place.span.kind}, node {place.number})"


def judge_progress(line, logbook):
    faults = [f"{tell(place)} was let in {waited(place) / 1e6:.0f} ms after all ahead had gone"
              for place in granted(line) if waited(place) > LATE_NS]
    for event in logbook.named("turns"):
        for kind, never in (("read", "writer"), ("write", "reader")):
            if event.who != never and event.number(kind) < LEAST_TURNS:
                faults.append(f"{event.who} got {event[kind]} turns to {kind}")
    return faults


def mark_late_readers(line):
    """Writers behind whom a reader had lined up before they were let in."""
    first_asked = None
    for place in reversed(line):
        if place.reads:
            first_asked = place.asked if first_asked is None else min(first_asked, place.asked)
        elif place.writes:
            place.late_readers = first_asked is not None and first_asked < place.span.first


def substance(found, line):
    together = overlaps(found, lambda a, b: "write" not in (a.kind, b.kind))
    mark_late_readers(line)
    return {
        "readers of two processes at once": sum(a.kind == b.kind and a.who != b.who for a, b in together),
        "readers beside a downgraded writer": sum(a.kind != b.kind and a.who != b.who for a, b in together),
        "hand-overs between threads": sum(span.handover > 0 and span.kind == "write" for span in found),
        "readers that waited for a writer": sum(place.reads and place.free > place.asked for place in line),
        "writers whom later readers waited with": sum(place.late_readers for place in line),
    }


def judge_substance(counts, logbook, curator, seconds):
    faults = [f"vacuous: {what}: {count}" for what, count in counts.items() if count < LEAST_PER_S[what] * seconds]
    if not sum(event.number("torn") for event in logbook.named("peeked")):
        faults.append("vacuous: a look without the lock never saw the file torn")
    if curator and not sum(event.number("downgraded") for event in logbook.named("turns") if "curator" in event.who):
        faults.append("vacuous: Curator never downgraded")
    return faults


def judge_words(logbook):
    """What the players themselves found, and what should not befall them in peace."""
    faults = [f"{event.who}: " + " ".join([event["what"], *(f"{key}={value}" for key, value in event.fields.items()
                                                            if key != "what")]) for event in logbook.named("violation")]
    faults += [f"{event.who} does not tell how long token {event['token']} was valid" for event in unclosed(logbook)]
    faults += [f"{event.who}'s hold was lost: {event['reason']}" for event in logbook.named("valid")
               if event["reason"] != "NONE"]
    faults += [f"{event.who}: never valid, token {event['token']}" for event in logbook.named("valid")
               if event.number("first") == 0]
    return faults


def print_tables(found, line, counts, logbook, seconds):
    rows = []
    for event in sorted(logbook.named("turns"), key=lambda one: one.who):
        these = [place for place in line if place.span.who == event.who]
        rows.append((event.who, event["read"], event["write"], event["downgraded"], event["gave-up"],
                     median_max(waits(these), 1), median_max([place.span.first - place.asked for place in these])))
    print(table(("player", "reads", "writes", "downgraded", "gave up", "let in after, ms", "asked before, ms"), rows))
    for what, count in counts.items():
        print(f"  {count} {what}")
    peeked = logbook.named("peeked")
    print(f"  {sum(event.number('torn') for event in peeked)} of {sum(event.number('looks') for event in peeked)} looks "
          f"without the lock saw the file torn")
    print(f"  {len(found)} spans of validity in {seconds} s; from the end of the last one ahead to the next one in: "
          f"{median_max(waits(line), 1)} ms (median / max), {tell(max(granted(line), key=waited))}", flush=True)


def judge(logbook, curator, seconds):
    found = spans(logbook)
    line = line_of(found)
    order = judge_order(line)
    counts = substance(found, line)
    print_tables(found, line, counts, logbook, seconds)
    return [fault for faults in (judge_exclusion(found), order, judge_tokens(found), judge_progress(line, logbook),
                                 judge_words(logbook), judge_substance(counts, logbook, curator, seconds))
            for fault in few(faults)]
