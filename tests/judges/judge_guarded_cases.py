"""Selftest: what the judge of guarded znodes finds in the log of judge_cases, where the holders of locks write to one."""
import contextlib
import io

from play.logbook import MS
from play.tamper import add, change, drop, later, logbook_of, refused

from judges import judge, report
from judges.judge_cases import GOOD, KEEP, LOCK, LONG, both, line


def opened(ms, who, n):
    return [[ms, who, f"guarded n={n} do=open since={(ms - 2) * MS} status=PDK_OK"]]


def read(ms, who, n, found):
    status = "PDK_ABSENT" if found == "-" else "PDK_OK"
    return [[ms, who, f"guarded n={n} do=read since={(ms - 2) * MS} status={status} id={found}"]]


def wrote(begin, end, who, name, after, status="PDK_OK"):
    n = name.split(":")[1]
    return [[begin, who, f"guarding n={n} id={name} after={after}"],
            [end, who, f"guarded n={n} do=write since={begin * MS} status={status} id={name}"]]


def visit(ms, who, n, found):
    """It opens, and reads."""
    return [*opened(ms, who, n), *read(ms + 5, who, n, found)]


LOST, OPEN = "PDK_LOST", "PDK_UNAVAILABLE"
GUARDED = [
    *change("driver", "permits=3", "permits=3 guarded=lock")(GOOD),
    # The holder is stopped before it writes.
    *visit(1910, "a", 1, "-"), *wrote(1990, 8003, "a", "a:1:1", "-", LOST),
    *visit(5105, "b", 1, "-"), *wrote(5140, 5145, "b", "b:1:1", "-"),
    *visit(5210, "b", 2, "b:1:1"), *wrote(5230, 5240, "b", "b:2:1", "b:1:1"),
    # One whose answer does not come has landed all the same.
    *visit(8955, "b", 3, "b:2:1"), *wrote(9030, 9039, "b", "b:3:1", "b:2:1", OPEN),
    *visit(9055, "a", 2, "b:3:1"), *wrote(9090, 9095, "a", "a:2:1", "b:3:1"),
    # An administrator deletes the holder's node.
    *visit(33910, "b", 4, "a:2:1"), *wrote(34001, 34003, "b", "b:4:1", "a:2:1", LOST),
    *visit(34004, "a", 3, "a:2:1"), *wrote(34050, 34060, "a", "a:3:1", "a:2:1"),
    [40300, "driver", f"guarded path={LOCK} id=a:3:1 version=13"],
    *visit(120, "k", 1, "-"), *wrote(200, 210, "k", "k:1:1", "-"),
    *read(8990, "k", 1, "k:1:1"), *wrote(9000, 9010, "k", "k:1:2", "k:1:1"),
    # This one is cut off.
    *visit(10010, "l", 1, "k:1:2"), *wrote(24000, 24500, "l", "l:1:1", "k:1:2", OPEN),
    *visit(25610, "k", 2, "k:1:2"), *wrote(26000, 26010, "k", "k:2:1", "k:1:2"),
    [40300, "driver", f"guarded path={KEEP} id=k:2:1 version=7"],
]


def finds(who, n, before, now):
    """A way: it read another name, and writes after that."""
    return both(line(who, f"guarded n={n} do=read", f"id={before}", f"id={now}"),
                line(who, f"guarding n={n}", f"after={before}", f"after={now}"))


# The write of the player that is cut off has landed, before the next one opened.
EARLY = finds("k", "2", "k:1:2", "l:1:1")
UNREAD = drop("k", "guarded n=2 do=read")
BAD = {
    "b (n=1, token 101.0), b:1:1, was confirmed, and is lost": finds("b", "2", "b:1:1", "a:1:1"),
    "a (n=1, token 100.0), a:1:1, has landed after 101.0 had opened": finds("b", "2", "b:1:1", "a:1:1"),
    "b (n=4, token 120.0), b:4:1, has landed after 121.0 had opened":  # nobody wrote after the open
        both(change("driver", "id=a:3:1", "id=b:4:1"), drop("a", "id=a:3:1")),
    "l (n=1, token 111.0), l:1:1, has landed after 112.0 had opened":  # the one that opened read nothing
        both(EARLY, UNREAD, later("l", "guarding", 2000), later("l", "do=write", 2000)),
    "b (n=2, token 102.0), b:2:1, was confirmed, and is lost": both(
        finds("b", "3", "b:2:1", "b:1:1"), line("b", "guarding n=3", "b:2:1", "b:1:1")),
    "what stands there leads back to z:1:1, which nobody wrote": change("driver", "id=a:3:1", "id=z:1:1"),
    "what stands there leads back to a:3:1, which follows itself": line("b", "guarding n=2", "after=b:1:1", "after=a:3:1"),
    "a (n=2, token 106.0) read a:1:1, which has not landed": line("a", "guarded n=2 do=read", "b:3:1", "a:1:1"),
    "b (n=2, token 102.0) read - after a later write was confirmed": line("b", "guarded n=2 do=read", "id=b:1:1", "id=-"),
    "a (n=2, token 106.0) was answered PDK_REPLACED, to read": line("a", "guarded n=2 do=read", "PDK_OK", "PDK_REPLACED"),
    "a (n=2, token 106.0) was answered PDK_ABSENT, to write": line("a", "guarded n=2 do=write", "PDK_OK", "PDK_ABSENT"),
    "a (n=2, token 106.0), a:2:1, never had an answer": drop("a", "guarded n=2 do=write"),
    "l (n=1, token 111.0) was answered to l:1:1, which it did not write": drop("l", "guarding"),
    "its version is 11, after 12 opens and writes": change("driver", "version=13", "version=11"),
    f"{KEEP}: nobody looked": drop("driver", f"guarded path={KEEP}"),
    "a noted `guarding`, out of place": add(36000, "a", "guarding n=99 id=a:99:1 after=-"),
    f"vacuous: nobody wrote to the guarded znode of {KEEP}": both(
        change("driver", "id=k:2:1", "id=-"), drop("k", "guard"), drop("l", "guard")),
    "vacuous: no late write to a guarded znode was refused": both(LONG, change("a", LOST, OPEN), change("b", LOST, OPEN)),
}
WELL = {
    "a write that landed before the next one opened, and was not confirmed": EARLY,
    "one that landed and was told LOST": both(EARLY, line("l", "guarded n=1 do=write", OPEN, LOST)),
    "one that is killed in its write": both(drop("a", "guarded n=3 do=write"), add(34500, "driver", "killed who=a")),
    "one that opens and does not read": UNREAD,
    "a long run in which writes were refused": LONG,
    "one that reads where an administrator has deleted its node": lambda lines: [*lines, *read(34070, "b", 4, "a:2:1")],
}


def counts():
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        report.print_report(judge.judge(logbook_of(GUARDED)))
    yield "what is told of the writes", (
        "paddock: 11 writes to guarded znodes, after 10 opens: 7 confirmed; 2 told LOST, of which 0 had landed; "
        "2 not confirmed in time, of which 1 had landed") in told.getvalue()
    found = judge.judge(logbook_of(BAD["b (n=1, token 101.0), b:1:1, was confirmed, and is lost"](GUARDED))).findings
    yield "the row of ours has what is wrong, that of a peer nothing", [
        report.client_row(judge.Record(logbook_of(GUARDED)), one)[7] for one in found] == [2, "-"]


def checks():
    def faults(lines):
        return judge.judge(logbook_of(lines)).faults

    yield from refused(faults, GUARDED, BAD)
    for what, way in WELL.items():
        said = faults(way(GUARDED))
        yield f"{what}: {said}", said == []
    yield from counts()
