"""Turns come in the order of the queue: a claim that is made when another one is in the queue already is granted later.

Threads that share a lock may be handed a turn for which their process queued earlier, so many times in a row, and one that another
thread gave up. A claim whose entry belonged to an earlier session proves nothing.
"""
import bisect

from play.tables import few

from judges.judge_record import NEVER

QUEUED = {"lock", "semaphore"}  # of a read/write lock the tokens tell the order of the nodes; threads that read share one
WINDOW = 300  # turns back, in which to look for overtakers


def may_overtake(player):
    """How often."""
    if player.threads in (None, 1):
        return 0 if player.threads else NEVER
    return NEVER if player.handovers is None else 1 + player.handovers


def paths_of(record, client):
    """The grants of ours on each path, in the order of their turns, where no administrator deletes nodes."""
    for path, holds in record.holds_by_path(client).items():
        if holds and holds[0].player.recipe in QUEUED and not record.takers.get(path):
            yield sorted((hold for hold in holds if hold.player.ours), key=lambda one: one.grant)


def entry(hold):
    """Since when it certainly stood in the queue, or None. Threads that share a lock share its entries as well."""
    queued = hold.claim.queued
    return queued[0] if queued and queued[1] == hold.fields.get("session") and hold.player.threads == 1 else None


def overtaken(turns):
    """(the hold, the holds before it that asked when it was in the queue)."""
    for index, hold in enumerate(turns):
        if (since := entry(hold)) is not None:
            yield hold, [one for one in turns[max(0, index - WINDOW):index] if one.claim.asked > since]


def judged(record, client):
    """How often another one asked while that one was in the queue."""
    count = 0
    for turns in paths_of(record, client):
        asked = sorted(hold.claim.asked for hold in turns)
        for hold in turns:
            if (since := entry(hold)) is not None:
                after = bisect.bisect_right(asked, since)
                count += after < len(asked) and asked[after] < hold.granted
    return count


def judge(record, client):
    faults = []
    for turns in paths_of(record, client):
        for hold, those in overtaken(turns):
            players = [one.player for one in those]
            faults += [f"{player.who} asked after {hold.tell()} was in the queue, and got {players.count(player)} turns before it"
                       for player in {one.who: one for one in players}.values() if players.count(player) > may_overtake(player)]
    return few(faults)
