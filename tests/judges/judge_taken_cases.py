"""Selftest: what the judges put down to an administrator that deletes nodes, and what they do not."""
from play.tamper import change, drop, logbook_of, refused

from judges import judge
from judges.judge_cases import GOOD, LOCK, SEM, both, fault, grant, line, until, used


def more(*lines):
    return lambda good: [*good, *lines]


TOLD = both()  # which nodes were deleted
NOT_TOLD = change("driver", " token=120", "")
# Two seconds after the deletion two grants whose claims came after it. One of them is lost then.
LATER = more(*grant("b", 8, 190, 35900, 36000, 37100, told=37101), *grant("a", 9, 191, 35950, 36100, 37100))
# The holder of the deleted node goes on, and is not told.
RELEASED = both(drop("b", "lost n=4"), line("b", "ended n=4", "how=lost", "how=released"))
ON = both(RELEASED, until("b", 4, 39000), until("a", 3, 39000))
REFUSED = more(*grant("b", 8, 190, 34500, 34600, 34700), used(34650, "b", 8, 3, "refused"))
UNSAFE = {
    "b (n=8, token 190.0) and a (n=9, token 191.0) held at once, for 1000.000 ms": LATER,
    "b (n=8, token 90.0) came after 121.0": more(*grant("b", 8, 90, 34500, 34600, 34700)),
    "b (n=8, token 190.0) was refused by the resource and still held": REFUSED,
}
# By case, the words of the fault, and the way to tamper.
CASES = {
    "another's node": ("b (n=4, token 120.0) and a (n=3, token 121.0) held at once", change("driver", "token=120", "token=9")),
    "another's node, lost": ("b (n=4, token 120.0) lost its node", change("driver", "token=120", "token=9")),
    "nobody's node": ("b (n=4, token 120.0) lost its node", change("driver", "takes=1 ", "")),
    "a node on another path": ("b (n=4, token 120.0) lost its node", both(
        NOT_TOLD, change("driver", f"target={LOCK} who=- takes", f"target={SEM} who=- takes"))),
    "word that takes too long": ("held at once, for 996.000 ms", ON),
    "too long for one that may have been hit": ("held at once, for 4998.000 ms", both(NOT_TOLD, ON)),
    "one that was held on to": ("b (n=8, token 122.0) and a (n=9, token 123.0) held at once, for 9500.000 ms", both(
        NOT_TOLD, more(*grant("b", 8, 122, 33990, 34200, 44000), *grant("a", 9, 123, 33991, 34500, 44000)))),
}
WELL = {
    "one that may have been hit": NOT_TOLD,
    "one without a sample in that time": both(NOT_TOLD, until("b", 4, 33990)),
    "one that released before word came": RELEASED,
    "one that was granted it when word was on its way": more(
        *(one for one in grant("b", 8, 190, 33990, 34005, 34005, told=34006, reason="NODE_GONE") if not one[2].startswith("valid")),
        [34005.5, "b", "valid token=190 handover=0 first=0 last=0 longest=0 reason=NODE_GONE n=8 kind=lock"],
        *fault(5, "node-deleted", "data", 34000, 34001, f"target={LOCK} who=- takes=1 holder=-", [f"deleted node={LOCK}/x-1 token=190"])),
    "one that may have been hit, and released": both(NOT_TOLD, RELEASED),
    "one that was granted it by a server that lags": both(
        NOT_TOLD, more(*grant("b", 8, 122, 33990, 34200, 34300), *grant("a", 9, 123, 33991, 34250, 34350))),
    "one of several nodes of a grant": more(
        *grant("s", 8, 122, 33900, 34100, 34160, kind="permit", count=2, told=34161, reason="NODE_GONE"),
        *fault(5, "path-wiped", "data", 34120, 34150, f"target={SEM} who=- takes=1 holder={SEM}:s",
               [f"deleted node={SEM}/leases/x token=123"])),
}


def checks():
    def faults(lines):
        return judge.judge(logbook_of(lines)).faults

    for tokens in (TOLD, NOT_TOLD):
        yield from refused(faults, tokens(GOOD), UNSAFE)
    for what, (words, way) in CASES.items():
        said = faults(way(GOOD))
        yield f"{what}: {words!r} in {said}", any(words in one for one in said)
    for what, way in WELL.items():
        said = faults(way(GOOD))
        yield f"{what}: {said}", said == []
