"""Selftest: what the library counted, against a log that has it, and against logs that were tampered with."""
from play.tamper import add, change, drop, logbook_of, refused

from judges import judge
from judges.judge_cases import GOOD, LOCK, both, grant, line, started


def told(ms, who, closed="PDK_OK", **numbers):
    """The last line of a player. What is not given is 0; the times of grants are as many as there are grants."""
    names = ("granted", "lapsed", "busy", "timeout", "unavailable", "canceled", "failed", "handovers", "waiting", "holds", "over",
             "waited", "EXPIRED", "LEASE", "NODE_GONE", "CLOSED", "OVERDUE")
    numbers = {"over": numbers.get("granted", 0), "waited": numbers.get("granted", 0), **numbers}
    return [ms, who, f"counted closed={closed} " + " ".join(f"{name}={numbers.get(name, 0)}" for name in names)]


def counts(name, value):
    """A way: that number of b becomes another one."""
    return lambda lines: [[ms, who, " ".join(f"{name}={value}" if who == "b" and word.startswith(f"{name}=") else word
                                             for word in one.split(" ")) if one.startswith("counted") else one]
                          for ms, who, one in lines]


# Four grants, of which the last is lost. t has one grant, and an answer that came too late.
B, T = told(41000, "b", granted=4, NODE_GONE=1), told(41000, "t", granted=1, timeout=1)
TOLD = [*change("driver", "permits=3", "permits=3 counted=1")(GOOD), B, T]
WAYS = {
    "b: the library counted 5 grants, and its log has 4": both(counts("granted", 5), counts("over", 5), counts("waited", 5)),
    "b: the library counted 3 grants, and its log has 4": counts("lapsed", 1),
    "b: the library counted 1 hand-overs, and its log has 0": counts("handovers", 1),
    "b: the library counted 0 losses, and its log has 1": counts("NODE_GONE", 0),
    "b: the library counted 2 losses, and its log has 1": counts("LEASE", 1),
    "b: the library counted 0 losses by NODE_GONE, and its log has 1": both(counts("NODE_GONE", 0), counts("LEASE", 1)),
    "b: the library counted 1 answers PDK_BUSY, and its log has 0": counts("busy", 1),
    "b: the library counted 1 answers PDK_CANCELED, and its log has 0": counts("canceled", 1),
    "b: the library counted 1 answers PDK_UNAVAILABLE, and its log has 0": counts("unavailable", 1),
    "t: the library counted 1 answers PDK_TIMEOUT, and its log has 0": change("t", "PDK_TIMEOUT", "PDK_UNAVAILABLE"),
    "b: at its end the library counts holds=1": counts("holds", 1),
    "b: at its end the library counts waiting=1": counts("waiting", 1),
    "b: the library counted 4 grants, and 3 times of them (over)": counts("over", 3),
    "b: the library counted 4 grants, and 5 times of them (waited)": counts("waited", 5),
    "vacuous: no player told what the library has counted": both(drop("b", "counted"), drop("t", "counted")),
}
WELL = {
    "one that was killed": both(counts("granted", 9), add(42000, "driver", "killed who=b")),
    "one whose close was given up": both(counts("granted", 9), change("b", "closed=PDK_OK", "closed=PDK_TIMEOUT")),
    "a grant that lapsed, and the claim went on": both(
        counts("granted", 5), counts("lapsed", 1), counts("over", 5), counts("waited", 5)),
    "a grant that lapsed, and was lost and handed over before": both(
        counts("granted", 5), counts("lapsed", 1), counts("over", 5), counts("waited", 5), counts("LEASE", 1), counts("handovers", 1)),
    "a loss that nobody was told of": both(
        drop("b", "lost n=4"), line("b", "ended n=4", "how=lost", "how=lost told=0")),
}


def leader():
    """A candidate's term may be over before it is told; but no term is told that was not counted."""
    lines = [*change("driver", "hold_us=", "hold_us=election:100000,")(GOOD), [2, "driver", started("e", LOCK)[2].replace("recipe=lock", "recipe=election")], *grant("e", 1, 999, 39000, 39100, 39200)]
    for granted, well in ((2, True), (1, True), (0, False)):
        said = judge.judge(logbook_of([*lines, told(41000, "e", granted=granted)])).faults
        yield f"{granted} terms: {said}", well != any("e: the library counted 0 grants, and its log has 1" in one for one in said)


def checks():
    def faults(lines):
        return judge.judge(logbook_of(lines)).faults

    yield from refused(faults, TOLD, WAYS)
    for what, way in WELL.items():
        said = [one for one in faults(way(TOLD)) if "the library" in one]
        yield f"{what}: {said}", said == []
    sums = judge.judge(logbook_of(TOLD)).findings[0].counted
    yield f"the sums: {sums}", (sums.players, dict(sums.library), dict(sums.logs)) == (
        2, *[{"grants": 5, "losses": 1, "handovers": 0}] * 2)
    yield from leader()
