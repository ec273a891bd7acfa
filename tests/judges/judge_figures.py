"""Selftest: what the judges count for the tables in the log of judge_cases."""
import contextlib
import io
from types import SimpleNamespace

from play.logbook import MS, Event
from play.tamper import add, change, drop, later, logbook_of

from judges import judge, report
from judges.judge_cases import GOOD, KEEP, LOCK, PEER, both, grant, line, until
from judges.judge_liveness import bound
from judges.judge_recovery import outage
from judges.judge_resources import chances, naive_damage


def costs():
    judgement = judge.judge(logbook_of(GOOD))
    ours, _ = judgement.findings
    cut, paused, killed = (ours.costs[name] for name in ("client-cut", "client-paused", "leader-killed"))
    yield "the cut was known after 2800 ms", cut.detection == [2800 * MS]
    yield "the pause after 2 ms of running", paused.detection == [2 * MS]
    yield "the cut cost the keeper its lock", (cut.kept, cut.keepers, cut.losses) == (0, 1, 1)
    yield "the leader's death did not", (killed.kept, killed.keepers, killed.losses) == (1, 1, 0)
    yield "the pause was no matter of the keeper's", (paused.kept, paused.keepers, paused.losses) == (0, 0, 1)
    yield "the next keeper was granted 3600 ms after the cut", cut.outage == [3600 * MS]
    yield "what was deleted was by hand", ours.costs["node-deleted"].losses == 1 and None not in ours.costs
    cause, ours_all = judgement.record.cause, judgement.record.of("paddock")
    yield "for 4 s after its end a fault is a cause", cause(ours_all, 38004 * MS, True).name == "node-deleted"
    yield "and then no more", cause(ours_all, 38005 * MS, True) is None
    yield "the youngest is", cause(ours_all, 30500 * MS, False).name == "leader-killed"
    yield "not of ours before it was inflicted", cause(judgement.record.of("paddock"), 30002 * MS, False).name != "leader-killed"
    yield "of a peer's at once", cause(judgement.record.of("curator"), 30002 * MS, False).name == "leader-killed"
    slow = judge.judge(logbook_of(both(*[later("driver", f"{what} id=3", 9000) for what in ("struck", "healing", "healed")])(
        GOOD))).record
    yield "or had been under way for a second", [
        slow.cause(slow.of("paddock"), ns * MS, False).name for ns in (30999, 31000)] == ["client-cut", "leader-killed"]
    yield "of those that hit one of them", cause(judgement.record.of("curator"), 29000 * MS, False) is None
    yield "ten claims waited for the calm", ours.progress.judged.total() == 10
    yield "8 s and 200 ms for each that waits", bound(judgement.record, "lock", 5) == 9000 * MS
    both_paths = SimpleNamespace(lane="client", target="-", who={"a", "k"})
    yield "a fault hits every path of its players", [judgement.record.touches(both_paths, path)
                                                     for path in (LOCK, KEEP, PEER)] == [True, True, False]
    yielded = both(drop("l", "lost n="), line("l", "ended n=1", "how=lost", "how=released"))
    cost = judge.judge(logbook_of(yielded(GOOD))).findings[0].costs["client-cut"]
    yield "a keeper that gives back has kept", (cost.kept, cost.keepers, cost.losses) == (1, 1, 0)
    soon = both(until("k", 2, 31800), add(31801, "k", "lost n=2 token=112 handover=0 reason=LEASE"),
                line("k", "ended n=2", "how=released", "how=lost"))
    cost = judge.judge(logbook_of(soon(GOOD))).findings[0].costs["leader-killed"]
    yield "a keeper that loses it soon after the end has not", (cost.kept, cost.keepers, cost.losses) == (0, 1, 1)


def kept_where():
    """What remained of the lease of a keeper that kept; and keepers that are connected to another server."""
    told = both(*[add(ms, "k", f"remaining n=2 least={least}") for ms, least in (
        (29999, 1), (30500, 1700), (31500, 900), (31600, 1200), (32004, 2))])
    cost = judge.judge(logbook_of(told(GOOD))).findings[0].costs["leader-killed"]
    yield "the least that remained, in the fault and a second after it", cost.least == [900]
    yield "nothing is told of one that did not keep", judge.judge(logbook_of(both(
        told, add(22500, "l", "remaining n=1 least=5"))(GOOD))).findings[0].costs["client-cut"].least == []
    for near, keepers in (("k,a", 1), ("l", 0), ("-", 0)):
        logs = change("driver", f"target=2 who=- holder={KEEP}:k", f"target=2 who=- holder={KEEP}:k near={near}")(GOOD)
        cost = judge.judge(logbook_of(logs)).findings[0].costs["leader-killed"]
        yield f"of a fault near {near} {keepers} keepers count", (cost.kept, cost.keepers) == (keepers, keepers)


def outages():
    fault = SimpleNamespace(begin=1000, healed=2000)
    record = SimpleNamespace(settings=SimpleNamespace(session_ns=3000), play_end=100000, until=lambda one: one.healed)
    for grants, longest in (([900, 1500, 4000, 9000, 20000], 5000), ([900, 1100, 5001, 90000], 3901), ([900], 99000),
                            ([900, 4500, 4600, 4800], 95200), ([100, 3900, 6000], 2900)):
        yield f"no grant for {longest} with grants at {grants}", outage(record, fault, grants) == longest
    fault.begin = 100001
    yield "nor for any time at rest", outage(record, fault, [900]) == 0


def tables():
    judgement = judge.judge(logbook_of(GOOD))
    ours, peer = judgement.findings
    yield "ours do not overlap but by an administrator", [one.taken for one in ours.overlaps] == [True]
    yield "a peer overlaps for a second", [one.ns for one in peer.overlaps] == [1000 * MS]
    yield "of which no player was told", len(report.untold(peer.overlaps)) == 1
    yield "a peer leaves something", peer.left == {PEER: ["x"]}
    yield "one write undone, one refused", (ours.damage.naive, ours.damage.refused, ours.damage.uses) == (1, 1, 4)
    rows = [report.client_row(judgement.record, found)[:-2] for found in judgement.findings]
    yield f"the rows of the clients: {rows}", rows == [("paddock", 20, 0, "0", "0", 1, 0, "-", 3, 0, 0, 0, "1 of 2"),
                                                      ("curator", 2, 1, "1000", "1000", 0, "-", "-", 0, 1, 0, 1, "0 of 0")]
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        report.print_report(judgement)
    yield "every fault is named, and none", all(name in told.getvalue() for name in (
        "client-cut", "client-paused", "leader-killed", "node-deleted", report.UNEXPLAINED))
    yield "one was lost without a server, in time", "1 grants were lost far from any server, 0 of them late" in told.getvalue()
    yield "no loss was without a fault", report.unexplained(judgement) == "0 of 3 losses had no fault near"
    alone = judge.judge(logbook_of(drop("driver", "id=2")(GOOD)))
    yield "without the cut one was", report.unexplained(alone) == "1 of 3 losses had no fault near"
    handed = judge.judge(logbook_of(line("b", "granted token=105", "handover=0", "handover=1")(GOOD)))
    yield "one was handed over", [found.handovers for found in handed.findings] == [1, 0]
    ill = both(add(41000, "driver", "restless who=c"), add(41000, "driver", "died who=d status=1"))
    with contextlib.redirect_stdout(told):
        report.print_report(judge.judge(logbook_of(ill(GOOD))))
    yield "what ails peers is told", "curator: of 2 processes 1 did not come to rest, 1 ended by itself" in told.getvalue()


def stale_writes():
    def uses(*numbers):
        return [(Event(0, "a", "used", {"naive": number}), None) for number in numbers]

    yield "a use that repeats after a stale write is its victim", naive_damage(uses(0, 1, 2, 3, 4, 1, 2, 3, 4, 5)) == 1
    yield "two that read one number", naive_damage(uses(0, 1, 1, 2)) == 1
    yield "noted late, and nothing undone", naive_damage(uses(0, 2, 1, 3)) == 0
    record = judge.judge(logbook_of(GOOD)).record
    yield "one slept for longer than its session, in a use", chances(record, "paddock") == 1
    briefly = both(*[drop("driver", f"{what} who=a") for what in ("resuming", "resumed")],
                   *[add(4900, "driver", f"{what} who=a") for what in ("resuming", "resumed")])
    yield "none for less", chances(judge.judge(logbook_of(briefly(GOOD))).record, "paddock") == 0
    named = both(change("driver", "faults=all", "faults=client-paused"), drop("a", "used"))
    yield "of few that slept none need be about to write", judge.judge(logbook_of(named(GOOD))).faults == []


def weakened():
    """A writer that goes on as a reader is valid until the reader's span ends."""
    more = [9750, "r", f"valid token=131 handover=0 first={9701 * MS} last={9740 * MS} kind=read n=2"]
    record = judge.judge(logbook_of([*GOOD, more])).record
    yield "of two spans the last one counts", record.claims["r", "2"].hold.last == 9740 * MS
    once_more = [9700.5, "r", "granted token=131 handover=0 n=2 kind=read"]
    judgement = judge.judge(logbook_of([*GOOD, once_more, more]))
    yield "it is one grant", (judgement.faults, judgement.findings[0].holds) == ([], 20)
    yield "a reader is none the less one", judgement.record.misplaced == []
    yield "granted when it was first", judgement.record.claims["r", "2"].hold.granted == 9600 * MS


def resumed():
    """A peer that was suspended and goes on. A peer that is granted something while it is suspended."""
    again = both(until("c", 1, 2000), drop("c", "ended"), lambda lines: [
        *lines, [4500, "c", "granted token=1 handover=0 n=1 kind=lock"],
        [6001, "c", f"valid token=1 handover=0 first={4501 * MS} last={6000 * MS} reason=NONE n=1 kind=lock"],
        [6002, "c", "ended n=1 how=released"]],
        lambda lines: [*lines, [6100, "c", "claim n=2 kind=lock"], [6101, "c", "granted token=2 handover=0 n=2 kind=lock"],
                       [6102, "c", "valid token=2 handover=0 first=0 last=0 reason=SUSPENDED n=2 kind=lock"],
                       [6103, "c", "ended n=2 how=released"]])
    # Its first `valid` is noted when it is suspended.
    early = lambda lines: [[2001 if who == "c" and "valid" in text and "last=2000000000" in text else ms, who, text]  # noqa: E731
                           for ms, who, text in lines]
    judgement = judge.judge(logbook_of(early(again(GOOD))))
    peer = judgement.findings[1]
    yield "a peer that goes on has one grant", (peer.holds, judgement.record.misplaced) == (3, [])
    yield "and believes in between of nothing", [(one.begin, one.end) for one in peer.overlaps] == [(5000 * MS, 6000 * MS)]


def pauses():
    """A grant does not count while its process is stopped. A doubtful case is decided against ours."""
    stop = both(*[add(ms, "driver", f"{what} who={who}") for who in "ck" for ms, what in
                  ((5500, "stopped"), (5600, "resuming"), (5700, "resumed"))])
    rival = both(lambda lines: [*lines, *grant("l", 9, 90, 890, 5000, 6000)], drop("a", ""), stop)
    ours, peer = judge.judge(logbook_of(rival(GOOD))).findings
    yield "ours does not from stopped to resuming", [one.ns for one in ours.overlaps[:2]] == [500 * MS, 400 * MS]
    yield "a peer does not from stopped to resumed", [one.ns for one in peer.overlaps] == [500 * MS, 300 * MS]


def checks():
    yield from costs()
    yield from kept_where()
    yield from outages()
    yield from tables()
    yield from resumed()
    yield from pauses()
    yield from stale_writes()
    yield from weakened()
