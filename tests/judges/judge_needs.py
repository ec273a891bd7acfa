"""Has enough happened for a run to mean something? The settings name what has to happen, and how often. A driver plays on until it has."""
import bisect
from collections import Counter

from play.exclusion import sweep

from judges import judge_job, judge_lease, judge_observers, judge_order, judge_wake
from judges.judge_record import NEVER, OURS, SEVERAL

NEAR = 100  # so many grants before or after another one are looked at


def grants(record):
    return [hold for hold in record.holds if hold.player.ours]


def spans(record, *kinds):
    return [span for hold in grants(record) for span in hold.spans if span.kind in kinds]


def full(record):
    """How often all permits were taken."""
    of_path = [[span for hold in holds for span in hold.spans if span.kind == "permit"] for holds in record.holds_by_path(OURS).values()]
    return sum(begins and tally.permits == record.settings.permits
               for those in of_path for _, tally, begins in sweep(those, record.settings.permits))


def before(those, index):
    """The last of them before that index. Further away nothing is looked for: a long run would take long to read."""
    return those[max(0, index - NEAR):index]


def together(record, kind, other):
    """How often a span of one kind began while one of the other kind, of another process, was there."""
    one, two = spans(record, kind), sorted(spans(record, other), key=lambda span: span.first)
    firsts = [span.first for span in two]
    return sum(any(a.who != b.who and a.first <= b.last for b in before(two, bisect.bisect_right(firsts, a.first))) for a in one)


def in_a_row(record):
    """How many turns a process had after another of its own, which its thread had asked for before that."""
    count = 0
    for holds in record.holds_by_path(OURS).values():
        turns = sorted(holds, key=lambda one: one.grant)
        count += sum(before.player is hold.player and hold.claim.asked < before.granted for before, hold in zip(turns, turns[1:]))
    return count


def readers_behind(record):
    """How many readers asked while a writer was in, and were granted after it."""
    writes = sorted(spans(record, "write"), key=lambda span: span.first)
    firsts = [span.first for span in writes]
    return sum(any(hold.claim.asked <= span.last for span in before(writes, bisect.bisect_right(firsts, hold.claim.asked)))
               for hold in grants(record) if hold.claim.kind == "read")


def writers_ahead(record):
    """How many writers were granted after a reader had asked that has a larger token."""
    readers = sorted((hold for hold in grants(record) if hold.claim.kind == "read"), key=lambda hold: hold.granted)
    granted = [hold.granted for hold in readers]
    count = 0
    for hold in (hold for hold in grants(record) if hold.claim.kind == "write"):
        after = bisect.bisect_right(granted, hold.granted)
        count += any(hold.grant < one.grant and one.claim.asked < hold.granted for one in readers[after:after + NEAR])
    return count


def overslept(record):
    return sum(hold.was_lost() and any(hold.granted <= stopped and resuming - stopped > record.settings.session_ns
                                       for stopped, resuming, _ in hold.player.stops) for hold in grants(record))


def cut_off(record):
    return sum(hold.was_lost() and any(fault.severed and fault.hits(hold.player) and hold.granted < fault.begin <= hold.over()
                                       for fault in record.faults) for hold in grants(record))


def late_writes(record):
    """How many writes to a guarded znode were on their way when another one was granted, and did not land."""
    late = 0
    for path, events in record.guarded.items():
        opens = sorted((event.ns, hold.grant) for event, hold in events if event.what == "guarded" and event["do"] == "open")
        for event, hold in events:
            late += (event.what == "guarded" and event["do"] == "write" and event["status"] != "PDK_OK"
                     and any(grant > hold.grant for _, grant in opens))
    return late


def successions(record, back):
    return sum((older.secret == newer.secret) == back and not older.given for _, older, newer in judge_lease.successions(record))


def turns(record):
    """Of the player that had the fewest, of those that lived to the end and ask for what they can get."""
    players = [player for player in record.players.values() if player.killed == NEVER and player.role in ("turns", "keep")]
    count = Counter(hold.player.who for hold in record.holds)
    return min((count[player.who] for player in players), default=0)


WHAT = {
    "grants": ("grants", lambda record: len(record.holds)),
    "share": ("percent of the grants had the player that had the fewest", lambda record: 100 * turns(record) // max(1, len(record.holds))),
    "turns": ("turns had the player that had the fewest", turns),
    "deaths": ("players were killed with a grant", lambda record: sum(hold.cut_short() for hold in grants(record))),
    "overslept": ("grants were lost by players that were stopped", overslept),
    "cut-off": ("grants were lost by players that were cut off", cut_off),
    "releases": ("grants were released", lambda record: sum(hold.over() != NEVER and not hold.was_lost() for hold in grants(record))),
    "handovers": ("writers were handed the lock by another thread", lambda record: sum(
        hold.handover > 0 and hold.claim.kind == "write" for hold in grants(record))),
    "in-a-row": ("turns followed another one of their process", in_a_row),
    "in-peace": ("claims waited for another one, and nothing was done", lambda record: judge_wake.in_peace(record, OURS)),
    "in-order": ("times one asked while another was in the queue", lambda record: judge_order.judged(record, OURS)),
    "full": ("times all permits were taken", full),
    "several": ("grants had several permits", lambda record: sum(span.permits > 1 for span in spans(record, "permit"))),
    "refused": ("times another number of permits was refused", lambda record: sum(
        claim.status == "PDK_MISMATCH" for claim in record.claims.values())),
    "readers-together": ("readers were in with another", lambda record: together(record, "read", "read")),
    "downgraded": ("grants of writers went on as readers'", lambda record: sum(
        hold.claim.kind == "write" and any(span.kind == "read" for span in hold.spans) for hold in grants(record))),
    "peers": ("grants were those of peers", lambda record: sum(not hold.player.ours for hold in record.holds)),
    "peers-downgraded": ("of these went on as readers'", lambda record: sum(
        not hold.player.ours and {"write", "read"} <= {span.kind for span in hold.spans} for hold in record.holds)),
    "readers-behind": ("readers waited for a writer", readers_behind),
    "writers-ahead": ("writers waited, and later readers waited with them", writers_ahead),
    "torn": ("looks without a grant saw the resource torn", lambda record: sum(
        event["torn"] == "1" for event, _ in record.notes.get("peeked", []))),
    "heard": ("times somebody heard of a leader", judge_observers.heard),
    "sets": ("sets were granted", lambda record: sum(hold.claim.kind == SEVERAL for hold in grants(record))),
    "tries": ("sets were tried or given up", lambda record: sum(
        claim.status in ("PDK_BUSY", "PDK_TIMEOUT", "PDK_UNAVAILABLE") for claim in record.claims.values())),
    "runs": ("runs of a job are in the record", lambda record: sum(map(len, judge_job.runs(record).values()))),
    "taken-back": ("lease locks were taken back", lambda record: successions(record, True)),
    "waited-out": ("lease locks were granted that had stood for another to their end", lambda record: successions(record, False)),
    "late-writes": ("writes to a guarded znode were late", late_writes),
}


def judge(record):
    found = {name: (WHAT[name][1](record), least) for name, least in record.settings.needs.items()}
    return [f"vacuous: {count} of {least} {WHAT[name][0]}" for name, (count, least) in found.items() if count < least]


def figures(record):
    return "; ".join(f"{WHAT[name][1](record)} {WHAT[name][0]}" for name in record.settings.needs) or None
