"""A good log of players that take permits, ways to tamper with it, and the fault that the judge must find then."""
from types import SimpleNamespace

from play.logbook import MS
from play.tamper import add, change, drop, later, logbook_of, refused

import semaphore_judge

SLOTS = ("one", "two", "threads", "eager")
TRIAL = SimpleNamespace(slots=SLOTS, incarnations=dict.fromkeys(SLOTS, 1), permits=3, handovers=1,
                        bench=SimpleNamespace(session_ms=3000, tick_ms=500))


def hold(who, token, count, asked, queued, first, last):
    what = f"kind=permit count={count} thread=0 asked={asked * MS} queued={queued * MS} session=1"
    granted = [first, f"{who}.1", f"granted token={token} handover=0 {what}"]
    if last is None:
        return [granted]
    return [granted, [last + 0.5, f"{who}.1", f"valid token={token} handover=0 first={first * MS} last={last * MS} longest=0 "
                      f"reason=NONE {what}"]]


GOOD = [
    *hold("one", 100, 1, 5, 6, 10, 40), *hold("two", 101, 2, 6, 7, 11, 30),
    *hold("threads", 102, 1, 7, 0, 31, 60), *hold("threads", 103, 1, 8, 0, 32, 60),
    *hold("one", 104, 1, 41, 42, 45, 70), *hold("two", 105, 2, 43, 44, 61, 80),
    *hold("eager", 106, 1, 50, 0, 71, 90), *hold("one", 107, 1, 72, 73, 81, 90),
    *hold("threads", 108, 1, 74, 0, 82, 95), *hold("eager", 109, 1, 90, 0, 91, 99),
    *hold("eager", 110, 1, 95, 0, 96, 99), *hold("two", 111, 1, 96, 0, 100, None),
    [110, "driver", "killing who=two.1"], [112, "driver", "killed who=two.1"],
    [50, "wrong", "mismatch status=PDK_MISMATCH"], [200, "last", "last status=PDK_OK permits=3 holders=3"],
]


def until(last, new_last):
    return f"last={last * MS}", f"last={new_last * MS}"


WAYS = {
    "4 permits were valid at": change("two.1", *until(30, 32)),
    "5 permits were valid at": change("one.1", f"count=1 thread=0 asked={5 * MS}", f"count=3 thread=0 asked={5 * MS}"),
    "eager.1 and one.1 have the same token": change("eager.1", "token=110", "token=107"),
    "eager.1 asked after two.1 (token 105) was in the queue, and got 2 turns": lambda lines: change(
        "eager.1", "token=110", "token=81")(change("eager.1", "token=109", "token=82")(lines)),
    "one.1 asked after two.1 (token 105) was in the queue, and got 1 turns": change("one.1", "token=107", "token=99"),
    "threads.1 asked after one.1 (token 107) was in the queue, and got 3 turns": lambda lines: [
        *lines, *[line for token in (70, 71) for line in hold("threads", token, 1, 90, 0, 101, 102)],
        *hold("threads", 72, 1, 91, 0, 103, 104)],
    "for 2018 ms nobody was served": lambda lines: [
        *[[ms + 9000 if who == "driver" else ms, who, text] for ms, who, text in lines],
        *hold("one", 120, 1, 2100, 2110, 2118, 2120)],
    "two got 2 turns in 1 lives": drop("two.1", "token=101"),
    "another number of permits was answered PDK_OK": change("wrong", "PDK_MISMATCH", "PDK_OK"),
    "at the end: PDK_BUSY": change("last", "PDK_OK", "PDK_BUSY"),
    "at the end: PDK_OK, 2 holders": change("last", "holders=3", "holders=2"),
    "the last player did not tell": drop("last", "last"),
    "one.1 does not tell how long token 104": drop("one.1", "valid token=104"),
    "one.1's hold was lost: LEASE": change("one.1", "reason=NONE", "reason=LEASE"),
    "vacuous: times all permits were taken": lambda lines: [
        [ms, who, text if who == "two.1" else text.replace("count=1", "count=2")]
        for ms, who, text in lines[:4]] + lines[-4:],
    "vacuous: holds of several permits: 0": change("two.1", "count=2", "count=1"),
    "vacuous: turns in a row of threads that share: 0": change("threads.1", f"asked={8 * MS}", f"asked={32 * MS}"),
    "vacuous: times somebody asked after another was in the queue: 0": lambda lines: [
        [ms, who, " ".join("queued=0" if word.startswith("queued=") else word for word in text.split(" "))]
        for ms, who, text in lines],
    "vacuous: refusals of another number: 0": drop("wrong", "mismatch"),
    "vacuous: deaths with permits in hand: 0": drop("driver", "killed"),
    "vacuous: times somebody was served in peace": later("driver", "killing", -105),
}


def checks():
    yield from refused(lambda lines: semaphore_judge.judge(logbook_of(lines), TRIAL, 1), GOOD, WAYS)
    sleeper = add(20, "driver", "stopped who=one.1")
    (_, lost), = list(refused(lambda lines: semaphore_judge.judge(logbook_of(sleeper(lines)), TRIAL, 1),
                              change("one.1", "reason=NONE", "reason=EXPIRED")(GOOD), {}))
    yield "a player that was stopped may have lost a hold", lost
