"""Selftest: a good log of a chaos run, ways to tamper with it, and what the judges must say then."""
import re

from play.logbook import MS
from play.tamper import add, change, drop, later, logbook_of, refused

from judges import judge

(LOCK, KEEP), (RW, RW_KEEP), (SEM, SEM_KEEP) = ([f"/chaos/paddock/{name}-{role}" for role in ("turns", "keep")]
                                                for name in ("lock", "rwlock", "semaphore"))
PEER = "/chaos/curator/lock-turns"
PLAYERS = {"a": LOCK, "b": LOCK, "k": KEEP, "l": KEEP, "q": RW, "r": RW, "s": SEM, "t": SEM, "m": RW_KEEP, "n": RW_KEEP,
           "u": SEM_KEEP, "v": SEM_KEEP, "c": PEER, "d": PEER}
SETTINGS = ("settings session=3000 tick=500 clients=paddock,curator recipes=lock,rwlock,semaphore seed=7 faults=all "
            "permits=3 hold_us=lock:100000,rwlock:100000,semaphore:100000")


def started(who, path):
    _, _, client, play = path.split("/")
    recipe, role = play.split("-")
    return [1, "driver", f"started who={who} site=s1 client={client} recipe={recipe} role={role} path={path} pid=9"]


def grant(who, n, token, asked, first, last, kind="lock", told=None, ended=None, count=None, reason="LEASE"):
    """All lines of one grant. told: when its loss was told. last None: its player dies while it holds."""
    what = f"n={n} kind={kind}" + (f" count={count}" if count else "")
    lines = [[asked, who, f"claim {what}"], [first, who, f"granted token={token} handover=0 {what}"]]
    if last is None:
        return lines
    lines.append([(told or last) + 0.4, who, f"valid token={token} handover=0 first={first * MS} last={round(last * MS)} "
                  f"longest=0 reason=NONE {what}"])
    if told:
        lines.append([told, who, f"lost n={n} token={token} handover=0 reason={reason}"])
    ended = ended or (told or last) + 0.6
    return [*lines, [ended, who, f"ended n={n} how={'lost' if told else 'released'}"]]


def used(ms, who, n, number, fence):
    return [ms, who, f"used n={n} naive={number} fence={fence}"]


def fault(number, name, lane, begin, healing, what, harm=(), heal=()):
    return [[begin, "driver", f"fault id={number} name={name} lane={lane} {what}"],
            *[[begin + 1, "driver", line] for line in harm], [begin + 3, "driver", f"struck id={number}"],
            [healing, "driver", f"healing id={number}"], *[[healing + 1, "driver", line] for line in heal],
            [healing + 3, "driver", f"healed id={number}"]]


GOOD = [
    [0, "driver", SETTINGS], *[started(who, path) for who, path in PLAYERS.items()],
    # The holder is stopped between reading and writing in a use.
    *fault(1, "client-paused", "client", 2000, 8000, f"target=a who=a holder={LOCK}:a,{KEEP}:k",
           ["stopping who=a", "stopped who=a"], ["resuming who=a", "resumed who=a"]),
    *grant("a", 1, 100, 1800, 1900, 2000.5, told=8002, ended=8004), used(8003, "a", 1, 0, "refused"),
    *grant("b", 1, 101, 1950, 5100, 5150), used(5140, "b", 1, 0, "ok count=1"),
    *grant("b", 2, 102, 5200, 5201, 5250), used(5240, "b", 2, 1, "ok count=2"),
    *grant("b", 3, 105, 8900, 8950, 9040), used(9030, "b", 3, 1, "ok count=3"),
    # All is whole. All that wait when the calm begins are served.
    [9000, "driver", "calm"], *grant("a", 2, 106, 8960, 9050, 9100), [20000, "driver", "calm-over"],
    *grant("k", 1, 110, 100, 110, 9990), *grant("l", 1, 111, 120, 10000, 24799, told=24800),
    *fault(2, "client-cut", "client", 22000, 28000, f"target=l who=l severed=1 holder={KEEP}:l"),
    *grant("k", 2, 112, 10010, 25600, 40010),
    *fault(3, "leader-killed", "server", 30000, 31000, f"target=2 who=- holder={KEEP}:k"),
    # An administrator deletes the holder's node. The holder hears of it after the next one was granted.
    *grant("b", 4, 120, 33000, 33900, 34003, told=34004, reason="NODE_GONE"),
    *grant("a", 3, 121, 33950, 34002, 34100),
    *fault(4, "node-deleted", "data", 34000, 34001, f"target={LOCK} who=- takes=1 holder={LOCK}:b",
           [f"deleted node={LOCK}/x-0000000020 token=120"]),
    *grant("r", 1, 130, 8990, 9010, 9020, kind="read"), *grant("r", 2, 131, 9500, 9600, 9700, kind="write"),
    *grant("r", 3, 138, 34500, 34600, None, kind="write"), [35001, "driver", "killed who=r"],
    *grant("q", 1, 128, 8991, 9022, 9030, kind="read"),
    *grant("m", 1, 150, 8992, 9011, 39000, kind="read"), *grant("n", 1, 151, 8993, 9012, 39000, kind="read"),
    *grant("u", 1, 152, 8992, 9011, 39000, kind="permit", count=1),
    *grant("v", 1, 153, 8993, 9012, 39000, kind="permit", count=1),
    *grant("s", 1, 140, 8980, 9010, 9200, kind="permit", count=2),
    *grant("t", 1, 141, 8990, 9015, 9300, kind="permit", count=1),
    [9800, "t", "claim n=2 kind=permit count=2"], [9900, "t", "failed n=2 status=PDK_TIMEOUT"],
    # A peer stays valid for too long, and leaves a node. That is told, but no fault.
    *grant("c", 1, 1, 900, 1000, 6000), *grant("d", 1, 1, 900, 5000, 9000, ended=9001),
    [40000, "driver", "resting"], [40100, "driver", "rested"],
    *[[40200, "driver", f"left path={path} nodes={'x' if path == PEER else '-'}"] for path in {*PLAYERS.values()}],
]


def both(*ways):
    def tamper(lines):
        for way in ways:
            lines = way(lines)
        return lines
    return tamper


def line(who, begin, text, to):
    """Like change, but only in lines that begin with these words."""
    return lambda lines: [[ms, name, one.replace(text, to) if name == who and one.startswith(begin) else one]
                          for ms, name, one in lines]


def until(who, n, ms):
    """A way: the last instant at which that grant was seen valid becomes this one."""
    def tamper(lines):
        return [[when, name, re.sub(r"last=\d+", f"last={round(ms * MS)}", one)
                 if name == who and one.startswith("valid ") and f" n={n} " in one else one] for when, name, one in lines]
    return tamper


# The grant of the player that is cut off is valid for too long, 4050 ms. The next grant comes after that.
LATE = both(later("l", "lost", 1300), later("l", "ended", 1300), until("l", 1, 26099),
            later("k", "granted token=112", 1000), line("k", "valid token=112", f"first={25600 * MS}", f"first={26600 * MS}"))


def healed_at(ms):
    """A way: the cut is over at that time."""
    return both(drop("driver", "healing id=2"), drop("driver", "healed id=2"), add(ms, "driver", "healing id=2"),
                add(ms + 3, "driver", "healed id=2"))


LONG = later("driver", "rest", 600000)


EXCLUSION = {
    "lock-turns: a (n=1, token 100.0) and b (n=1, token 101.0) held at once, for 20.000 ms":
        both(drop("driver", "stop"), drop("driver", "resum"), until("a", 1, 5120)),
    "a (n=1, token 100.0) and b (n=3, token 105.0) held at once, for 10.000 ms": until("a", 1, 8960),  # the player runs again
    "b (n=3, token 105.0) and a (n=2, token 106.0) held at once, for 0.000 ms": until("b", 3, 9050),
    "r (n=1, token 130.0) and r (n=2, token 131.0) held at once": until("r", 1, 9650),
    "r (n=2, token 131.0) and r (n=3, token 138.0) held at once": until("r", 2, 34700),  # the player of the last one is killed
    "s (n=1, token 140.0) and t (n=1, token 141.0) held at once, for 185.000 ms": change("t", "count=1", "count=2"),
    "b (n=4, token 120.0) and a (n=3, token 121.0) held at once, for 1.000 ms": change("driver", "takes=1 ", ""),
    "a (n=1, token 100.0) and b (n=8, token 104.0) held at once, for 20.000 ms": both(  # a second try to stop it, which failed
        until("a", 1, 8550), lambda lines: [*lines, *grant("b", 8, 104, 8490, 8500, 8520)],
        *[add(8600, "driver", f"{what} who=a") for what in ("stopping", "resuming", "resumed")]),
    "r (n=2, token 131.0) and r (n=3, token 138.0) held at once, for 401": both(  # the player of a downgraded writer is killed
        add(9700.5, "r", "granted token=131 handover=0 n=2 kind=read"), drop("r", "ended n=2")),
}
TOKENS = {
    "lock-turns: b (n=2, token 99.0) came after 101.0": change("b", "token=102", "token=99"),
    "rwlock-turns: r (n=2, token 129.0) came after 130.0": change("r", "token=131", "token=129"),
    "rwlock-turns: r (n=9, token 129.0) came after 131.0":
        lambda lines: [*lines, *grant("r", 9, 129, 9800, 9810, 9820, kind="read")],
    "lock-turns: a (n=2, token 102.0) and b (n=2, token 102.0) have one token": change("a", "token=106", "token=102"),
    "s (n=1, token 140.0) have one token": change("t", "token=141", "token=140"),
}
RESOURCES = {
    "the resource took b (n=1, token 101.0) after 102.0": both(
        line("b", "used n=1", "count=1", "count=7"), line("b", "used n=2", "count=2", "count=6"),
        line("b", "used n=3", "count=3", "count=9")),
    "the resource took a (n=1, token 100.0) after 105.0": change("a", "refused", "ok count=4"),
    "both did write 2": change("b", "count=3", "count=2"),
    "b (n=2, token 102.0) does not tell which write": change("b", " count=2", ""),
    "b (n=2, token 102.0) was refused by the resource and still held": change("b", "ok count=2", "refused"),
    "vacuous: the naive resource": both(drop("a", "used"), line("b", "used n=3", "naive=1", "naive=2")),
    "vacuous: the fenced resource": drop("a", "used"),
}
ENDS = {
    "b (n=2, token 102.0) ended 2 times": add(5260, "b", "ended n=2 how=released"),
    "b (n=2, token 102.0) never ended": drop("b", "ended n=2"),
    "a (n=1, token 100.0) was told LOST 2 times": add(8003.5, "a", "lost n=1 token=100 handover=0 reason=LEASE"),
    "l (n=1, token 111.0) was lost and never told": drop("l", "lost n=1"),
    "b (n=2, token 102.0) was told LOST, and its release was answered OK":
        add(5250.2, "b", "lost n=2 token=102 handover=0 reason=LEASE"),
    "b (n=2, token 102.0) does not tell how long": drop("b", "valid token=102"),
    "a (n=1, token 100.0) was told LOST and valid 1.000 ms later": until("a", 1, 8003),
    "l (n=1, token 111.0) was told LOST 0.400 ms after its end": later("l", "lost n=1", 1),
    "l (n=1, token 111.0) was told 1301 ms after it was last valid": until("l", 1, 23499),
    "a (n=1, token 100.0) was told 1301 ms after":
        both(later("a", "lost n=1", 1299.5), later("a", "ended n=1", 1299.5)),
    "l (n=1, token 111.0) was cut off by client-cut and not told": LATE,
    "l (n=1, token 111.0) was lost (LEASE) and not told before its player was killed": both(
        line("l", "valid", "NONE", "LEASE"), drop("l", "lost n=1"), drop("l", "ended n=1"), add(27000, "driver", "killed who=l")),
    "b (n=2, token 102.0) was over, and for 3001 ms its release did not return": later("b", "ended n=2", 3000),
    "vacuous: no player with a grant was cut off": both(LONG, change("driver", " severed=1", "")),
    "b did not come to rest": add(41000, "driver", "restless who=b"),
    "b did not end well": add(41000, "driver", "unfinished who=b"),
    "b noted `ended`, out of place": drop("b", "granted token=102"),
    "b noted `granted`, out of place": drop("b", "claim n=2"),
    "r noted `granted`, out of place": add(9700.5, "r", "granted token=132 handover=0 n=2 kind=read"),
    "b noted `failed`, out of place": add(5300, "b", "failed n=2 status=PDK_TIMEOUT"),
    "b (n=5) never had an answer": add(36000, "b", "claim n=5 kind=lock"),
    "t (n=2) failed: PDK_NO_PERMISSION": change("t", "PDK_TIMEOUT", "PDK_NO_PERMISSION"),
    "t (n=2) failed: PDK_TIMEOUT": line("t", "claim n=2", "count=2", "count=2 timeout=-1"),
    "t (n=2) failed: PDK_BUSY": both(change("t", "PDK_TIMEOUT", "PDK_BUSY"),
                                     line("t", "claim n=2", "count=2", "count=2 timeout=100")),
    "a (n=4) failed: PDK_NO_PERMISSION":  # long after nodes were deleted
        both(add(36000, "a", "claim n=4 kind=lock"), add(36001, "a", "failed n=4 status=PDK_NO_PERMISSION")),
    "b ended by itself": add(38000, "driver", "died who=b status=1"),
    "z noted `opened`, out of place": add(38000, "z", "opened"),
}
def looks(first, *others):
    """A way: adds what each of the three servers showed of one path, twice."""
    shown = (first, *others)
    return both(*[add(18000 + ms, "driver", f"shown path={LOCK} server={server} nodes={nodes}")
                  for ms, (server, nodes) in enumerate([*enumerate(shown, 1), *enumerate(shown, 1)])])


IN_VAIN = add(8990, "b", "claim n=9 kind=lock")
LIVENESS = {
    "a (n=2) waited on": both(drop("a", "n=2"), add(8960, "a", "claim n=2 kind=lock"),
                              add(17401, "a", "failed n=2 status=PDK_CANCELED")),
    "l (n=1) waited on": later("l", "granted", 8000),
    "b (n=9) waited on": IN_VAIN,
    f"b (n=9) waited on, on {LOCK}": both(IN_VAIN, looks("x-1:a:1,x-2:b:2", "x-1:a:1,x-2:b:2", "x-1:a:1,x-2:b:2")),
    "lock-keep: nobody was served in the calm": both(drop("l", ""), drop("driver", "id=2"), drop("k", "n=2")),
    "rwlock-turns: nobody was served in the calm": both(drop("q", ""), drop("r", "n=1"), drop("r", "n=2")),
    "q claimed nothing": drop("q", ""),
    "z claimed nothing": both(drop("driver", "calm-over"), add(9500, "driver", "calm-over"),
                              *[add(ms, "driver", what) for ms, what in ((11000, "calm"), (11500, "calm-over"))],
                              add(8000, "driver", started("z", LOCK)[2])),
    f"vacuous: on {RW_KEEP} no claim waited": both(LONG, later("m", "claim", 10), later("n", "claim", 10)),
    "vacuous: no claim waited when a calm began": drop("driver", "calm"),
    f"left behind on {SEM}: y,z".replace(",", ", "): line("driver", f"left path={SEM}", "nodes=-", "nodes=y,z"),
    f"nobody looked at what is left on {SEM}": drop("driver", f"left path={SEM}"),
}
SUBSTANCE = {
    "vacuous: nothing was done": drop("driver", " id="),
    f"vacuous: nobody was ever granted {SEM}": both(drop("s", ""), drop("t", "n=1")),
    f"vacuous: fewer than two claimed {RW}": drop("q", ""),
    "vacuous: nobody played semaphore-keep": both(drop("driver", "who=u"), drop("driver", "who=v")),
    "vacuous: nobody played election": change("driver", "recipes=lock", "recipes=election,lock"),
    "vacuous: nobody lost anything": both(drop("a", "n=1"), drop("l", ""), drop("b", "n=4")),
}


# Good logs that look like bad ones.
SILENT = {
    "a cut that was over before the session timeout": both(LATE, healed_at(26003)),
    "one that is killed before it could be told": both(
        LATE, drop("l", "lost n="), drop("l", "ended"), drop("l", "valid"), add(26000, "driver", "killed who=l")),
    "one that is killed just after its release": both(
        add(34700, "r", "ended n=3 how=released"), lambda lines: [*lines, *grant("q", 9, 139, 34650, 34701, 34710, kind="write")]),
    "one that is stopped while it is cut off": both(
        LATE, add(23000, "driver", "stopped who=l"), add(23500, "driver", "resuming who=l"),
        add(23600, "driver", "resumed who=l")),
    "a player that is stopped before that is noted": both(
        line("k", "valid token=110", "last=9990000000", "last=7990000000"), add(7980, "driver", "stopping who=k"),
        *[add(ms, "driver", f"{what} who=k") for ms, what in ((9800, "stopped"), (9985, "resuming"), (9986, "resumed"))]),
    "a long run": LONG,
    "a claim that runs out of time": line("t", "claim n=2", "count=2", "count=2 timeout=100"),
    "one that does not wait": both(change("t", "PDK_TIMEOUT", "PDK_BUSY"),
                                   line("t", "claim n=2", "count=2", "count=2 timeout=0")),
    "one that waits for ever, and is withdrawn": both(change("t", "PDK_TIMEOUT", "PDK_CANCELED"),
                                                      line("t", "claim n=2", "count=2", "count=2 timeout=-1")),
    "a player that could not be stopped, and is told to go on": both(
        *[add(8600, "driver", f"{what} who=k") for what in ("stopping", "resuming", "resumed")]),
    "a player that was started in the calm, and claims nothing": add(9500, "driver", started("z", LOCK)[2]),
    "a peer that does not come to rest": add(41000, "driver", "restless who=c"),
    "refused while nodes are deleted": both(
        add(34000.5, "a", "claim n=4 kind=lock"), add(34000.8, "a", "failed n=4 status=PDK_NO_PERMISSION")),
    "a release that came before its LOST": both(
        drop("b", "lost n=4"), line("b", "ended n=4", "how=lost", "how=lost told=0")),
    "a claim that waits where the servers do not agree": both(
        IN_VAIN, add(35000, "b", "failed n=9 status=PDK_CANCELED"), looks("x-2:b:2", "x-1:a:1,x-2:b:2", "x-2:b:2")),
    "an answer after a calm that was too short to judge": both(
        drop("driver", "calm-over"), add(9500, "driver", "calm-over"),
        IN_VAIN, add(35000, "b", "failed n=9 status=PDK_CANCELED")),
    "a keep path that nobody else wants": both(
        drop("l", ""), add(100, "l", "claim n=1 kind=lock"), add(200, "l", "failed n=1 status=PDK_TIMEOUT"),
        drop("driver", "id=2"), drop("k", "n=2"), until("k", 1, 35000), later("k", "ended n=1", 26000)),
    "a fault that could not be done": both(
        add(36000, "driver", "fault id=9 name=odd lane=data target=x who=- holder=-"), add(36001, "driver", "missed id=9"),
        add(36002, "driver", "healed id=9")),
    "nodes that were deleted, though not all that should be": line("driver", "struck id=4", "struck", "missed"),
    "readers together, in any order of tokens": lambda lines: [*lines, *grant("r", 9, 129, 8991, 9012, 9013, kind="read")],
    "a writer that goes on as a reader, beside one": both(
        lambda lines: [*lines, [9750, "r", f"valid token=131 handover=0 first={9701 * MS} last={9740 * MS} kind=read n=2"],
                       *grant("r", 9, 133, 9500, 9710, 9745, kind="read")]),
}


def checks():
    def faults(lines):
        return judge.judge(logbook_of(lines)).faults

    yield from refused(faults, GOOD, {**EXCLUSION, **TOKENS, **RESOURCES, **ENDS, **LIVENESS, **SUBSTANCE})
    for what, way in SILENT.items():
        said = faults(way(GOOD))
        yield f"{what}: {said}", said == []
