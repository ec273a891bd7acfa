"""What the logs of a chaos run must show of our client, and what they show of all clients.

    judge_exclusion   two grants that exclude each other are never valid at one instant; never more permits than there are
    judge_taken       (the grants that an administrator took; word of that has to reach the holder first)
    judge_tokens      tokens rise in the order of the grants (readers: as rwlock.h says), and each belongs to one grant
    judge_resources   the fenced resource takes no stale write and refuses no fresh one; the naive one suffers stale writes
    judge_guarded     no write of an older holder to a guarded znode lands after a newer one has opened; no confirmed write is lost
    judge_ends        each grant ends once, and soon; a loss is told by LOST once, in time, not after a release, and the grant
                      is never valid after it; no node is lost that nobody deleted; each claim is answered; no player ends by
                      itself, and each one ends when told
    judge_liveness    in each calm each claim that waits is answered in time and each path is served; all players claim; nothing
                      is left at the end
    judge_wake        a claim is granted soon after nobody is in its way
    judge_order       a claim that is made when another one is in the queue is granted later
    judge_delay       after an end without a release nobody is granted for the lock-delay
    judge_lease       nobody but the owner of the secret is granted a lease lock before its end
    judge_job         a job starts once in a period, and not before its least; no run outlasts its most; the record is true
    judge_group       views are numbered, each change is told once, nothing gets older, a calm ends without ghosts; who is seen to
                      have gone does not believe any more that it is there
    judge_observers   each process that listens to an election hears of each leader, in order, by its name
    judge_needs       enough has happened
    judge_counted     what the library counts of grants, answers, losses and hand-overs is what the log has
    judge_recovery    nothing; it counts what a fault costs, for the tables of report.py

Time is CLOCK_BOOTTIME of the one machine. A grant counts as valid from the first to the last sample that said so,
less the time in which its process was stopped. If the player was killed, it counts until the player was certainly
dead. A doubtful case is decided against us and in favour of the others.
"""
from dataclasses import dataclass, field

from judges import (judge_counted, judge_delay, judge_ends, judge_exclusion, judge_group, judge_guarded, judge_job, judge_lease, judge_liveness,
                    judge_needs, judge_observers, judge_order, judge_recovery, judge_resources, judge_tokens, judge_wake)
from judges.judge_record import OURS, Record

NEWER = (judge_delay, judge_lease, judge_job, judge_group, judge_observers, judge_needs)  # of one recipe each


@dataclass
class Findings:
    """What the logs show of one client."""
    client: str
    holds: int
    handovers: int  # how many of these went from thread to thread, without the servers
    overlaps: list
    damage: judge_resources.Damage
    guarded: judge_guarded.Guarded
    severed: list  # judge_ends.Severed
    progress: judge_liveness.Progress
    left: dict
    costs: dict  # by fault
    counted: judge_counted.Counted

    @classmethod
    def of(cls, record, client):
        overlaps = judge_exclusion.overlaps(record, client)
        holds = [hold for hold in record.holds if hold.player.client == client]
        return cls(client, len(holds), sum(hold.handover > 0 for hold in holds), overlaps,
                   judge_resources.damage(record, client), judge_guarded.guarded(record, client),
                   judge_ends.severed(record, client),
                   judge_liveness.progress_of(record, client), judge_liveness.left(record, client),
                   judge_recovery.costs(record, client, overlaps), judge_counted.counted(record, client))


@dataclass
class Judgement:
    record: Record
    findings: list  # one for each client
    faults: list = field(default_factory=list)  # of our client, in words


def judge_substance(record, found):
    """Whether enough has happened for the other judgements to mean something."""
    faults = [] if record.faults or not record.settings.faults else ["vacuous: nothing was done"]
    granted = {hold.player.path for hold in record.holds}
    faults += [f"vacuous: nobody was ever granted {path}" for path in record.paths(OURS) if path not in granted]
    players = record.of(OURS)
    faults += [f"vacuous: fewer than two claimed {path}" for path in record.paths(OURS)
               if sum(player.path == path and player.claims > 0 for player in players) < 2]
    played = {f"{player.recipe}-{player.role}" for player in players}
    faults += [f"vacuous: nobody played {play}" for play in record.settings.plays if play not in played]
    if record.settings.everything and not sum(cost.losses for cost in found.costs.values()):
        faults.append("vacuous: nobody lost anything")
    return faults


def judge_ours(record, found):
    return [*judge_exclusion.judge(found.overlaps), *judge_tokens.judge(record, OURS),
            *judge_resources.judge(record, OURS, found.damage), *judge_guarded.judge(record, OURS, found.guarded),
            *judge_ends.judge(record, OURS, found.severed),
            *judge_liveness.judge(record, OURS, found.progress), *judge_wake.judge(record, OURS), *judge_order.judge(record, OURS),
            *judge_counted.judge(record, OURS),
            *(fault for one in NEWER for fault in one.judge(record)), *judge_substance(record, found)]


def judge(logbook):
    record = Record(logbook)
    judgement = Judgement(record, [Findings.of(record, client) for client in record.settings.clients])
    for found in judgement.findings:
        if found.client == OURS:
            judgement.faults = judge_ours(record, found)
    return judgement
