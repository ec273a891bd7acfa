"""A good log of readers and writers, ways to tamper with it, and the fault that the judge must find then."""
from play.logbook import MS
from play.tamper import add, change, drop, logbook_of, refused

import rwlock_judge


def hold(who, kind, number, asked, first, last, handover=0):
    """The lines of one hold, or of the same hold after a downgrade. Its token is its number and 100."""
    grant = f"token={100 + number} handover={handover}"
    what = f"kind={kind} seq={number} thread=0 asked={asked * MS}"
    return [[first, who, f"granted {grant} {what}"],
            [last + 0.5, who, f"valid {grant} first={first * MS} last={last * MS} longest=0 reason=NONE {what}"]]


GOOD = [
    *hold("p1", "write", 0, 5, 10, 20), *hold("p1", "write", 0, 6, 21, 30, handover=1),
    *hold("p2", "read", 1, 12, 31, 45), *hold("p3", "read", 2, 13, 32, 50),
    *hold("p3", "write", 3, 14, 51, 60), *hold("p3", "downgraded", 3, 14, 61, 80),
    *hold("p1", "read", 4, 15, 62, 90), *hold("p2", "read", 5, 16, 63, 70),
    *[[99, who, "turns read=20 write=20 downgraded=1 gave-up=0"] for who in ("p1", "p2", "p3")],
    [99, "p2", "peeked looks=9 torn=3"],
]


def at(first, last, new_first, new_last):
    """The span of a hold, and the span to put in its place."""
    return f"first={first * MS} last={last * MS}", f"first={new_first * MS} last={new_last * MS}"


WAYS = {
    "p2 (read, node 1) and p3 (write, node 3) were both in, for 0.000 ms": change("p2", *at(31, 45, 31, 51)),
    "p1 (read, node 4) and p3 (write, node 3) were both in": change("p1", *at(62, 90, 49, 52)),
    "p1 (write, node 0) and p2 (read, node 1) were both in": change("p1", *at(21, 30, 21, 31)),
    "p1 (write, node 0) and p1 (write, node 0) were both in": change("p1", *at(10, 20, 10, 21)),
    "p2 (read, node 5) was let in before the end of p3 (write, node 3)": change("p2", *at(63, 70, 33, 40)),
    "p3 (write, node 3) was let in before the end of p2 (read, node 1)": change("p2", *at(31, 45, 61, 62)),
    "p1 (read) has token (92, 0), and (103, 0)": change("p1", "token=104", "token=92"),
    "p3 (write) has token (101, 0), and (102, 0)": change("p3", "token=103", "token=101"),
    "p2 (read, node 5) was let in 10040 ms after": change("p2", *at(63, 70, 10100, 10101)),
    "p2: torn token=101": add(40, "p2", "violation what=torn token=101"),
    "p1 does not tell how long token 104": drop("p1", "valid token=104"),
    "p3 does not tell how long token 103": drop("p3", f"valid token=103 handover=0 first={61 * MS}"),
    "p2's hold was lost: LEASE": change("p2", "reason=NONE", "reason=LEASE"),
    "p3: never valid, token 102": change("p3", f"first={32 * MS}", "first=0"),
    "p3 got 9 turns to write": change("p3", "write=20", "write=9"),
    "vacuous: a look without the lock": change("p2", "torn=3", "torn=0"),
    "vacuous: readers of two processes at once: 1": change("p2", *at(31, 45, 31, 31)),
    "vacuous: readers beside a downgraded writer: 0": drop("p3", "kind=downgraded"),
    "vacuous: hand-overs between threads: 0": change("p1", "handover=1", "handover=0"),
    "vacuous: readers that waited for a writer: 1": lambda lines: [
        [ms, who, text.replace(f"asked={(15 if who == 'p1' else 16) * MS}", f"asked={61 * MS}")
         .replace(f"asked={13 * MS}", f"asked={31 * MS}")] for ms, who, text in lines],
    "vacuous: writers whom later readers waited with: 1": change("p1", f"first={21 * MS}", f"first={11 * MS}"),
}


def checks():
    yield from refused(lambda lines: rwlock_judge.judge(logbook_of(lines), False, 1), GOOD, WAYS)
    yield from refused(lambda lines: rwlock_judge.judge(logbook_of(lines), lines is not GOOD, 1), GOOD,
                       {"vacuous: Curator never downgraded": list})
