"""The lock-delay: after an end without a release nobody is granted for so long.

The end counts from the last instant at which the node of the older grant was certainly there. That is when it was seen valid last;
where its player was killed, just before that was done; where an administrator deleted the node, when that began at the
latest. The next one counts from when it told of its grant. So a gap that is judged to be too short was shorter in truth.
"""
from play.logbook import MS
from play.tables import few, median_max

from judges.judge_record import NEVER

RECIPE = "delay"


def is_unclean(hold):
    """Whether it certainly ended without a release. One that is killed in its release may have ended either way."""
    return hold.was_lost() or (hold.releasing == NEVER and not hold.ended and (hold.cut_short() or bool(hold.reasons)))


def stood(hold):
    """The last instant at which its node was certainly there."""
    last = hold.last or hold.granted
    if hold.cut_short():
        halted = [since for since, (*_, resumed) in zip(hold.player.halts, hold.player.stops) if resumed == NEVER]
        last = max(hold.granted, min([last, hold.player.killing, *halted]))
    return min(last, hold.taken[0]) if hold.taken else last


def gaps(record):
    """(the older grant, the next one on its path, the gap, whether it was unclean), where no administrator deleted all."""
    for path, holds in record.of_recipe(RECIPE).items():
        for index, older in enumerate(holds):
            newer = next((one for one in holds[index + 1:] if one.token > older.token), None)
            if newer and not record.wiped(path, stood(older), newer.granted):
                yield older, newer, newer.granted - stood(older), is_unclean(older)


def judge(record):
    if RECIPE not in record.settings.recipes:
        return []
    found = list(gaps(record))
    delay = record.settings.delay_ms * MS
    faults = few([f"{newer.tell()} was granted {gap / 1e6:.0f} ms after {older.tell()}, which was not released, and the lock-delay "
                  f"is {record.settings.delay_ms} ms" for older, newer, gap, unclean in found if unclean and gap < delay])
    if record.thorough and not any(unclean for *_, unclean in found):
        faults.append("vacuous: no holder of a lock with a lock-delay ended without a release")
    return faults


def figures(record):
    found = list(gaps(record))
    unclean = [gap for *_, gap, so in found if so]
    clean = [gap for older, _, gap, so in found if not so and older.ended]
    if not found:
        return None
    return (f"lock-delay of {record.settings.delay_ms} ms: {len(unclean)} grants after an end without a release, the first after "
            f"{min(unclean, default=0) / 1e6:.0f} ms; {len(clean)} after a release, {median_max(clean)} ms")
