"""A good log of an election, ways to tamper with it, and the fault that the judge must find then."""
import contextlib
import io
from types import SimpleNamespace

from play.logbook import MS
from play.tamper import add, change, drop, later, logbook_of, refused, valid_until

import election_judge

SESSION_MS = 4000
BOUNDS = election_judge.Bounds(vacant_ns=5000 * MS, resigned_ns=50 * MS)
LEADERS = ("c1.1", "c2.1", "c3.1", "c4.1", "c5.1")
EXPIRED = "session event=EXPIRED left=0"
OBSERVERS = ("observer1", *LEADERS)


def good():
    """Lists of [ms, who, text]: one leader after the other is killed, paused, cut off and resigns; the fifth leaves."""
    lines = [[900, who, "joined"] for who in OBSERVERS]
    begin = 1000
    for number, (who, kind) in enumerate(zip(LEADERS, ("kill", "pause", "cut", "resign", "end"))):
        token, at = 1000 + 10 * number, begin + 1000
        lines += [[begin, who, f"elected token={token}"], [begin, who, f"granted token={token} handover=0"]]
        lines += [[begin + 5, other, f"leader token={token} identity={who}"] for other in OBSERVERS
                  if (other, number) not in (("c1.1", 1), ("c1.1", 2), ("c1.1", 3), ("c1.1", 4))]
        following = at + (10 if kind == "resign" else 4100)
        lines += done_to(who, kind, token, at, following)
        last = {"kill": None, "pause": at - 1, "cut": at + 3000}.get(kind, at)
        if last:
            lines.append([following + 1, who, f"valid token={token} handover=0 first={begin * MS} last={last * MS}"
                          " longest=0 reason=NONE"])
        begin = following
    return lines


def done_to(who, kind, token, at, following):
    changed = [at + 1, "driver", f"change kind={kind} who={who} token={token} at={at * MS}"]
    if kind == "kill":
        return [[at, "driver", f"killing who={who}"], [at, "driver", f"killed who={who}"], changed]
    if kind == "pause":
        return [[at, "driver", f"stopping who={who}"], [at, "driver", f"stopped who={who}"], changed,
                [following + 200, "driver", f"resuming who={who}"], [following + 200, "driver", f"resumed who={who}"],
                [following + 201, who, "deposed reason=EXPIRED"], [following + 202, who, EXPIRED]]
    if kind == "cut":
        return [[at, "driver", f"cutting who={who}"], [at, "driver", f"cut who={who}"], changed,
                [at + 3000, who, "deposed reason=LEASE"],
                [following + 200, "driver", f"healing who={who}"], [following + 200, "driver", f"healed who={who}"],
                [following + 201, who, EXPIRED], [at + 1, "driver", "killing who=c6.1"],
                # c6.1 was the next in the queue. Its session ends 50 ms later.
                *[[following - 50, other, f"leader token={token + 5} identity=c6.1"] for other in ("observer1", "c5.1")]]
    if kind == "resign":
        return [[at, who, "resign"], [at, who, "resigned status=PDK_OK"], [at, who, "deposed reason=NONE"], changed]
    return [[at, "driver", "ending"], [at, who, "deposed reason=NONE"],
            *[[at, "driver", f"finishing who={other}"] for other in LEADERS[1:]],
            # The next in the queue is told to end as well, before it is elected. The observers that heard of it end last.
            [at + 10, "observer1", f"leader token={token + 5} identity=c7.1"],
            [at + 20, "driver", "finishing who=c7.1"], [at + 30, "driver", "finishing who=observer1"]]


def judge(lines, **more):
    trial = SimpleNamespace(options=SimpleNamespace(curator=False, session_ms=SESSION_MS), unprovoked=0, seconds=20)
    trial.__dict__.update(more)
    return election_judge.judge(logbook_of(lines), BOUNDS, trial)


GOOD = good()
# Terms begin at 1000, 6100, 11200, 16300 and 17310; the third leader is cut off at 12200.
WAYS = {
    "both led, for 100.000 ms": valid_until("c3.1", 16400),
    "both led, for 0.000 ms": valid_until("c3.1", 16300),
    "both led": later("driver", "killed who=c1.1", 4200),
    "does not tell how long": drop("c2.1", "valid"),
    "never seen valid": change("c2.1", "first=", "first=0 was="),
    "came after": change("c4.1", "token=1030", "token=930"),
    "deposed twice": add(17000, "c2.1", "deposed reason=EXPIRED"),
    "elected twice": add(11300, "c3.1", "elected token=1020"),
    "elected and never deposed": drop("c4.1", "deposed"),
    "c3.1 was not deposed by cut": drop("c3.1", "deposed"),
    "deposed by pause with reason NONE": change("c2.1", "EXPIRED", "NONE"),
    "deposed by resign with reason LEASE": change("c4.1", "reason=NONE", "reason=LEASE"),
    "c5.1 failed": add(2000, "c5.1", "failed status=PDK_LIMIT"),
    "observer1 never heard of c3.1": drop("observer1", "leader token=1020"),
    "observer1 never heard of c5.1": drop("observer1", "leader"),
    "heard of late": lambda lines: [[ms + 120 if "leader" in text else ms, who, text] for ms, who, text in lines],
    "c5.1 never heard of c2.1": drop("c5.1", "leader token=1010"),
    "heard of token 1010 after 1020": later("observer1", "leader token=1010", 6000),
    "that was never elected": add(9000, "observer1", "leader token=1015 identity=c9.1"),
    "heard that c9.1 leads": change("observer1", "identity=c2.1", "identity=c9.1"),
    "pause of c2.1: 5100 ms": change("driver", f"token=1010 at={7100 * MS}", f"token=1010 at={6100 * MS}"),
    "resigned to elected: median": lambda lines: [[ms + (60 if ms >= 17310 else 0), who, text] for ms, who, text in lines],
    "only 0 of ours met cut": change("driver", "kind=cut", "kind=kill"),
    "the session of c2.1 outlived its pause": drop("c2.1", "EXPIRED left"),
    "heard of a leader c6.1, token 1025": drop("driver", "killing who=c6.1"),
    "heard of a leader c7.1, token 1045": drop("driver", "finishing who=c7.1"),
    "c6.1, token 1025, that was never elected": later("driver", "killing who=c6.1", 4400),
}


def checks():
    yield from refused(judge, GOOD, WAYS)
    with contextlib.redirect_stdout(io.StringIO()):
        said = judge(later("driver", "killing who=c6.1", 4070)(GOOD))
    yield f"killed a moment after others had heard of it: {said}", said == []
    yield from refused(lambda lines: judge(lines, unprovoked=0 if lines is GOOD else 3), GOOD,
                       {"nothing was done to them": list})
