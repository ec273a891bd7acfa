"""Selftest: a good log of a run in which only players are harmed, and some are not: an election with observers, a read/write lock, a
semaphore. Ways to tamper with it, and what the judges must say then."""
from play.logbook import MS
from play.tamper import add, change, drop, later, logbook_of, refused

from judges import judge
from judges.judge_cases import both, fault, grant, line, until, used

E, R, S = "/chaos/a/election", "/chaos/b/rwlock", "/chaos/c/semaphore"
NEEDS = ("deaths", "overslept", "cut-off", "releases", "turns", "readers-together", "downgraded", "handovers", "readers-behind",
         "writers-ahead", "torn", "heard", "full", "several", "in-a-row", "in-order", "refused", "in-peace")
SETTINGS = ("settings session=3000 tick=500 clients=paddock recipes=election,rwlock,semaphore seed=7 faults=client-killed,client-paused,"
            "client-cut permits=3 hold_us=election:100000,rwlock:100000,semaphore:100000 late_ms=2000 plays=election-keep,election-observe,"
            "rwlock-turns,semaphore-turns,semaphore-misask needs=" + ",".join(f"{what}:1" for what in NEEDS))
# (recipe, role, path, threads, hand-overs)
PLAYERS = {
    **{who: ("election", "keep", E, 1, "-") for who in ("c1", "c2", "c3", "c4")}, "ob": ("election", "observe", E, 1, "-"),
    **{who: ("rwlock", "turns", R, 3, 3) for who in ("p1", "p2", "p3")},
    "one": ("semaphore", "turns", S, 1, "-"), "two": ("semaphore", "turns", S, 1, "-"), "th": ("semaphore", "turns", S, 3, 1),
    "ea": ("semaphore", "turns", S, 2, 0), "an": ("semaphore", "misask", S, 1, "-")}


def started(who):
    recipe, role, path, threads, handovers = PLAYERS[who]
    return [1, "driver", f"started who={who} site=s client=paddock recipe={recipe} role={role} path={path} pid=9 threads={threads} "
            f"handovers={handovers}"]


def heard(ms, token, who, listeners=("ob", "c4")):
    return [[ms + 5, one, f"leader token={token} identity={who}"] for one in listeners]


def over(who, n, ms):
    return [ms, who, f"releasing n={n}"]


def of_session(lines, queued):
    """A grant of a semaphore, whose entry was known to be there at that time."""
    n = next(one for _, _, one in lines).split()[1]
    return [*([[queued, lines[0][1], f"queued {n} session=1"]] if queued else []),
            *[[ms, who, f"{one} session=1" if one.startswith(("granted", "valid")) else one] for ms, who, one in lines]]


def permits(who, n, token, count, asked, queued, first, last):
    return of_session(grant(who, n, token, 2000 + asked, 2000 + first, last and 2000 + last, kind="permit", count=count), queued and 2000 + queued)


def handed(lines):
    return [[ms, who, one.replace("handover=0", "handover=1")] for ms, who, one in lines]


def looked(ms, who, n, number):
    return [ms, who, f"looked n={n} naive={number} then={number} torn=0"]


def downgraded(who, n, token, asked, first, until_write, last):
    """A writer that reads on."""
    lines = grant(who, n, token, asked, first, until_write, kind="write")
    return [*lines[:-1], [until_write + 0.5, who, f"granted token={token} handover=0 n={n} kind=read"],
            [last + 0.5, who, f"valid token={token} handover=0 first={round((until_write + 1) * MS)} last={round(last * MS)} longest=0 "
             f"reason=NONE n={n} kind=read"], [last + 0.6, who, f"ended n={n} how=released"]]


ELECTION = [
    *[[600, who, "listening"] for who in ("ob", "c4")],
    *grant("c1", 1, 1000, 500, 1000, None, kind="leader"), *heard(1000, 1000, "c1"),
    *fault(1, "client-killed", "client", 2000, 2100, f"target=c1 who=c1 holder={E}:c1", ["killing who=c1", "killed who=c1"]),
    *grant("c2", 1, 1010, 510, 5400, 6400, kind="leader", told=11002, reason="EXPIRED"), *heard(5400, 1010, "c2"),
    *fault(2, "client-paused", "client", 6400, 11000, f"target=c2 who=c2 holder={E}:c2", ["stopping who=c2", "stopped who=c2"],
           ["resuming who=c2", "resumed who=c2"]),
    *grant("c3", 1, 1020, 520, 9900, 14900, kind="leader", told=15000), *heard(9900, 1020, "c3"),
    *fault(3, "client-cut", "client", 12000, 17000, f"target=c3 who=c3 severed=1 holder={E}:c3"),
    *grant("c4", 1, 1030, 530, 15500, 17500, kind="leader"), *heard(15500, 1030, "c4"), over("c4", 1, 17500),
    *grant("c2", 2, 1040, 11004, 17510, 18300, kind="leader"), *heard(17510, 1040, "c2"), over("c2", 2, 18300),
    *grant("c3", 2, 1050, 17100, 18305, 18600, kind="leader"), *heard(18305, 1050, "c3"), over("c3", 2, 18600),
    *grant("c4", 2, 1060, 17502, 18605, 19950, kind="leader"), *heard(18605, 1060, "c4"),
]
RWLOCK = [
    *grant("p1", 1, 100, 1005, 1010, 1020, kind="write"), used(1019, "p1", 1, 0, "ok count=1"),
    *handed(grant("p1", 2, 100, 1006, 1021, 1030, kind="write")), used(1029, "p1", 2, 1, "ok count=2"),
    *grant("p2", 1, 101, 1012, 1031, 1045, kind="read"), looked(1044, "p2", 1, 2),
    *grant("p3", 1, 102, 1013, 1032, 1050, kind="read"), looked(1049, "p3", 1, 2),
    *downgraded("p3", 2, 103, 1014, 1051, 1060, 1080), used(1059, "p3", 2, 2, "ok count=3"), looked(1079, "p3", 2, 3),
    *grant("p1", 3, 104, 1015, 1062, 1090, kind="read"), looked(1089, "p1", 3, 3),
    *grant("p2", 2, 105, 1016, 1063, 1070, kind="read"), looked(1069, "p2", 2, 3),
    [1025, "p2", "peeked torn=1"],
]
SEMAPHORE = [
    *permits("one", 1, 200, 1, 5, 6, 10, 40), *permits("two", 1, 201, 2, 6, 7, 11, 30),
    *permits("th", 1, 202, 1, 7, 0, 31, 60), *permits("th", 2, 203, 1, 8, 0, 32, 60),
    *permits("one", 2, 204, 1, 41, 42, 45, 70), *permits("two", 2, 205, 2, 43, 44, 61, 80),
    *permits("ea", 1, 206, 1, 50, 0, 71, 90), *permits("one", 3, 207, 1, 72, 73, 81, 90),
    *permits("th", 3, 208, 1, 74, 0, 82, 95), *permits("ea", 2, 209, 1, 90, 0, 91, 99),
    *permits("ea", 3, 210, 1, 95, 0, 96, 99), *permits("two", 3, 211, 1, 96, 0, 100, None),
    *fault(4, "client-killed", "client", 2110, 2120, f"target=two who=two holder={S}:two", ["killing who=two", "killed who=two"]),
    [2020, "an", "claim n=1 kind=permit count=1 timeout=1000 of=another-number"], [2050, "an", "failed n=1 status=PDK_MISMATCH"],
]
GOOD = [
    [0, "driver", SETTINGS], *map(started, PLAYERS), *ELECTION, *RWLOCK, *SEMAPHORE, [18000, "driver", "calm"], [19800, "driver", "calm-over"],
    [19900, "driver", "resting"], [20000, "driver", "rested"], *[[20100, "driver", f"left path={path} nodes=-"] for path in (E, R, S)],
]


def moved(who, n, by):
    """A way: all lines of that grant but the claim come later, and so do its times."""
    def tamper(lines):
        for ms, name, one in lines:
            if name == who and f" n={n} " in f"{one} " and not one.startswith(("claim", "queued")):
                words = [f"{word[:-len(word.split('=')[1])]}{int(word.split('=')[1]) + by * MS}" if word.startswith(("first=", "last="))
                         else word for word in one.split(" ")]
                yield [ms + by, name, " ".join(words)]
            else:
                yield [ms, name, one]
    return lambda lines: list(tamper(lines))


ELECTIONS = {
    "c3 (n=1, token 1020.0) and c4 (n=1, token 1030.0) held at once, for 100.000 ms": until("c3", 1, 15600),
    "c3 (n=1, token 1020.0) and c4 (n=1, token 1030.0) held at once, for 0.000 ms": until("c3", 1, 15500),
    "c1 (n=1, token 1000.0) and c2 (n=1, token 1010.0) held at once": later("driver", "killed who=c1", 3500),
    "c4 (n=1, token 1030.0) does not tell how long it was valid": drop("c4", "valid token=1030"),
    "c4 (n=1, token 1030.0) was never seen valid": line("c4", "valid token=1030", f"first={15500 * MS}", "first=0"),
    "election: c4 (n=1, token 930.0) came after": change("c4", "token=1030", "token=930"),
    "c4 (n=1, token 1030.0) ended 2 times": add(17000, "c4", "ended n=1 how=lost"),
    "c3 noted `granted`, out of place": add(10000, "c3", "granted token=1021 handover=0 n=1 kind=leader"),
    "c4 (n=1, token 1030.0) never ended": drop("c4", "ended n=1"),
    "c3 (n=1, token 1020.0) was cut off by client-cut and not told LOST": both(
        later("c3", "lost n=1", 1500), later("c3", "ended n=1", 1500), until("c3", 1, 16400), drop("c4", "n=1"), drop("ob", "1030")),
    "c2 (n=1, token 1010.0) was held by a player that was stopped for longer than its session lives": both(
        drop("c2", "lost n=1"), line("c2", "ended n=1", "lost", "released"), add(11003, "c2", "releasing n=1")),
    "grants were lost though nothing was done to their players, first c4 (n=1, token 1030.0)": both(
        *[both(line(who, f"ended n={n}", "released", "lost"), add(ms, who, f"lost n={n} token={token} handover=0 reason=LEASE"))
          for who, n, token, ms in (("c4", 1, 1030, 17500.2), ("c4", 2, 1060, 19950.2))]),
    "c4 ended by itself": add(2000, "driver", "died who=c4 status=2"),
    "ob never heard of c3, token 1020": drop("ob", "leader token=1020"),
    "ob never heard of c4, token 1060": drop("ob", "leader"),
    "c4 never heard of c2, token 1010": drop("c4", "leader token=1010"),
    "heard of late": lambda lines: [[ms + 550 if "leader token" in text else ms, who, text] for ms, who, text in lines],
    "ob heard of token 1010 after 1020": later("ob", "leader token=1010", 5000),
    "ob heard of a leader c9, token 1015, that was never elected": add(9000, "ob", "leader token=1015 identity=c9"),
    "ob heard of a leader c4, token 1015, that was never elected": add(9000, "ob", "leader token=1015 identity=c4"),
    "ob heard that c9 leads, and it was c2": change("ob", "identity=c2", "identity=c9"),
    "c4 (n=2, token 1060.0) was granted 2054 ms after nobody was in its way": moved("c4", 2, 2050),
    "vacated and granted: median 604 ms": both(moved("c2", 2, 600), moved("c3", 2, 1200), moved("c4", 2, 1800),
                                               *[drop(who, "n=") for who, (recipe, *_) in PLAYERS.items() if recipe != "election"]),
    "vacuous: 0 of 1 grants were lost by players that were cut off": change("driver", "severed=1", "severed=0"),
    "vacuous: 0 of 1 grants were lost by players that were stopped": later("driver", "resum", -2000),
    "vacuous: 0 of 1 times somebody heard of a leader": both(*[drop(who, what) for who in ("ob", "c4") for what in ("leader", "listening")]),
}
RWLOCKS = {
    "p2 (n=1, token 101.0) and p3 (n=2, token 103.0) held at once, for 0.000 ms": until("p2", 1, 1051),
    "p3 (n=2, token 103.0) and p1 (n=3, token 104.0) held at once": line("p1", "valid token=104", f"first={1062 * MS}", f"first={1055 * MS}"),
    "p1 (n=2, token 100.1) and p2 (n=1, token 101.0) held at once": until("p1", 2, 1031),
    "p1 (n=1, token 100.0) and p1 (n=2, token 100.1) held at once": until("p1", 1, 1021),
    # A reader goes before a writer that stands before it in the queue; a writer before a reader.
    "p3 (n=2, token 103.0) came after 105.0": both(moved("p2", 2, -30)),
    "p2 (n=1, token 101.0) came after 103.0": moved("p2", 1, 31),
    "p1 (n=3, token 92.0) came after 103.0": change("p1", "token=104", "token=92"),
    "p3 (n=2, token 101.0) came after 102.0": change("p3", "token=103", "token=101"),
    "p2 (n=2, token 105.0) was granted 5909 ms after nobody was in its way": moved("p2", 2, 5937),
    "p2 (n=1, token 101.0) saw the resource torn": line("p2", "looked n=1", "torn=0", "torn=1"),
    "p2 (n=1, token 101.0) saw the resource change from 2 to 3": line("p2", "looked n=1", "then=2", "then=3"),
    "p2 (n=1, token 101.0) saw 1, and 2 was written before it": line("p2", "looked n=1", "naive=2 then=2", "naive=1 then=1"),
    "rwlock: the naive resource suffered 1 stale writes, and nobody was harmed": line("p1", "used n=2", "naive=1", "naive=0"),
    "p1 (n=3, token 104.0) does not tell how long": drop("p1", "valid token=104"),
    "rwlock: 1 of 7 grants were lost though nothing was done": both(
        line("p2", "ended n=2", "released", "lost"), add(1070.2, "p2", "lost n=2 token=105 handover=0 reason=LEASE")),
    "p3 (n=1, token 102.0) was never seen valid": line("p3", "valid token=102", f"first={1032 * MS}", "first=0"),
    "vacuous: 0 of 1 turns had the player that had the fewest": drop("p2", "n="),
    "vacuous: 0 of 1 looks without a grant": change("p2", "torn=1", "torn=0"),
    "vacuous: 0 of 1 readers were in with another": both(moved("p3", 1, 14), drop("p2", "n=2"), drop("p1", "n=3"), drop("p2", "looked n=2")),
    "vacuous: 0 of 1 grants of writers went on": drop("p3", "n=2 kind=read"),
    "vacuous: 0 of 1 writers were handed the lock": change("p1", "handover=1", "handover=0"),
    "vacuous: 0 of 1 readers waited for a writer": both(*[
        line(who, f"claim n={n}", "claim", "claim") for who, n in (("p1", 3),)], lambda lines: [
            [1062.5 if text == "claim n=3 kind=read" and who == "p1" else 1030.5 if text == "claim n=1 kind=read" else
             1061.5 if text == "claim n=2 kind=read" else ms, who, text] for ms, who, text in lines]),
    "vacuous: 0 of 1 writers waited, and later readers": lambda lines: [
        [1060.5 if text in ("claim n=3 kind=read", "claim n=2 kind=read") else 1030.5 if text == "claim n=1 kind=read" else ms, who, text]
        for ms, who, text in lines],
}
SEMAPHORES = {
    "two (n=1, token 201.0) and th (n=1, token 202.0) held at once, for 1.000 ms": until("two", 1, 2032),
    "held at once, for 19.000 ms": lambda lines: [[ms, who, text.replace("count=1", "count=3") if who == "one" and "token=200" in text else text]
                                                  for ms, who, text in lines],
    "ea (n=3, token 207.0) and one (n=3, token 207.0) have one token": change("ea", "token=210", "token=207"),
    "ea asked after two (n=2, token 205.0) was in the queue, and got 2 turns before it": both(
        change("ea", "token=210", "token=181"), change("ea", "token=209", "token=182")),
    "one asked after two (n=2, token 205.0) was in the queue, and got 1 turns before it": change("one", "token=207", "token=199"),
    "th asked after one (n=3, token 207.0) was in the queue, and got 3 turns before it": lambda lines: [
        *lines, *[one for n, token in ((4, 170), (5, 171)) for one in permits("th", n, token, 1, 90, 0, 101, 102)],
        *permits("th", 6, 172, 1, 91, 0, 103, 104)],
    "one (n=4, token 220.0) was granted 2014 ms after nobody was in its way": lambda lines: [
        *both(drop("driver", "id=4"), drop("driver", "killing who=two"), drop("driver", "killed who=two"), drop("two", "n=3"))(lines), *permits("one", 4, 220, 1, 90, 91, 2114, 2120)],
    "an (n=1, token 299.0) was granted, though it asked with another number of permits": both(
        drop("an", "failed"), lambda lines: [*lines, *[one for one in grant("an", 1, 299, 2020, 2105, 2106, kind="permit", count=1)
                                                       if not one[2].startswith("claim")]]),
    "an (n=1) failed: PDK_BUSY": change("an", "PDK_MISMATCH", "PDK_BUSY"),
    f"left behind on {S}: x": line("driver", f"left path={S}", "nodes=-", "nodes=x"),
    "one (n=2, token 204.0) does not tell how long": drop("one", "valid token=204"),
    "vacuous: 0 of 1 times all permits were taken": both(drop("one", "n=1"), *[drop("th", f"n={n}") for n in (1, 2)],
                                                         change("two", "count=2", "count=1")),
    "vacuous: 0 of 1 grants had several permits": change("two", "count=2", "count=1"),
    "vacuous: 0 of 1 turns followed another one": both(drop("th", "n=2"), drop("th", "n=3"), drop("p1", "n=2"), drop("ea", "n=3"), drop(
        "p3", "n=2"), drop("p1", "n=1"), drop("ea", "n=1")),
    "vacuous: 0 of 1 times one asked while another was in the queue": both(drop("one", "queued"), drop("two", "queued")),
    "vacuous: 0 of 1 times another number of permits was refused": change("an", "PDK_MISMATCH", "PDK_TIMEOUT"),
    "vacuous: 0 of 1 players were killed with a grant": both(drop("driver", "killed who"), drop("driver", "killing who"), drop("c1", "")),
}
# Good logs that look like bad ones.
SILENT = {
    "killed a moment after others had heard of it": both(
        add(5300, "ob", "leader token=1005 identity=c1"), add(5300, "c4", "leader token=1005 identity=c1")),
    "a player that was stopped lost a permit": both(
        line("one", "ended n=3", "released", "lost"), add(2090.2, "one", "lost n=3 token=207 handover=0 reason=EXPIRED"),
        *[add(ms, "driver", text) for ms, text in ((2085, "fault id=9 name=client-paused lane=client target=one who=one holder=-"), (
            2086, "struck id=9"), (2087, "healing id=9"), (2088, "healed id=9"))]),
    "one that was stopped in its release": both(
        drop("c2", "lost n=1"), line("c2", "ended n=1", "lost", "released"), add(6399, "c2", "releasing n=1"),
        change("driver", "overslept:1", "overslept:0")),
}


def checks():
    def faults(lines):
        return judge.judge(logbook_of(lines)).faults

    yield from refused(faults, GOOD, {**ELECTIONS, **RWLOCKS, **SEMAPHORES})
    for what, way in SILENT.items():
        said = faults(way(GOOD))
        yield f"{what}: {said}", said == []
