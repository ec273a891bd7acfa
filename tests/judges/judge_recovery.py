"""The cost of a fault: losses, when they were known, how long no player was served, and whether the keepers kept."""
import bisect
from dataclasses import dataclass, field

from play.logbook import S

from judges.judge_record import NEVER

KEPT_NS = 1 * S  # after the end of a fault: a keeper has kept if it still holds then


@dataclass
class Cost:
    """What all faults of one name cost one client."""
    times: int = 0
    losses: int = 0
    kept: int = 0
    keepers: int = 0
    least: list = field(default_factory=list)  # ms: what remained of the lease at worst, of each keeper that kept
    detection: list = field(default_factory=list)  # ns
    outage: list = field(default_factory=list)  # ns, at most one for each fault
    overlaps: list = field(default_factory=list)


def outage(record, fault, grants):
    """The longest time without a grant that begins in the fault or within a session timeout after it. If it had begun
    before the fault, only the part after the beginning of the fault counts."""
    begin, end = fault.begin, record.until(fault) + record.settings.session_ns
    if begin >= record.play_end:
        return 0
    index = bisect.bisect_right(grants, begin)
    marks, over = [begin], False
    while not over:
        at = grants[index] if index < len(grants) else record.play_end
        marks.append(min(at, record.play_end))
        over = at > end or index >= len(grants)
        index += 1
    return max(after - before for before, after in zip(marks, marks[1:]))


def kept(record, hold, fault):
    """Whether it still holds the same grant, or gave it back."""
    then = record.until(fault) + KEPT_NS
    if hold.last >= min(then, record.end):
        return True
    return any(how == "released" and ns <= then for ns, how in hold.ended)


def least(record, hold, fault):
    """What remained of its lease at worst, from the beginning of the fault until a while after its end: a list of one, or of
    none where the player does not tell."""
    then = record.until(fault) + KEPT_NS
    return [min(told)] if (told := [ms for ns, ms in hold.remaining if fault.begin <= ns <= then]) else []


def keepers(record, fault, client, by_who):
    """The grants of the keepers that the fault hits and that held when it began."""
    for path, who in fault.holders:
        player = record.players.get(who)
        if not player or player.client != client or player.role != "keep" or not fault.tries(player):
            continue
        index = bisect.bisect_right(by_who[who][0], fault.begin) - 1
        if index >= 0:
            yield by_who[who][1][index]


def grants_by_who(record, client):
    """By player, the instants of its grants, and the holds, in order."""
    found = {player.who: [] for player in record.of(client)}
    for hold in record.holds:
        if hold.player.client == client:
            found[hold.player.who].append(hold)
    for who, holds in found.items():
        holds.sort(key=lambda one: one.granted)
        found[who] = [hold.granted for hold in holds], holds
    return found


def told(hold):
    """When its player was told of the loss, by LOST or by the answer to its release."""
    return min([*hold.lost, *(ns for ns, how in hold.ended if how == "lost")], default=NEVER)


def outstayed(hold):
    """A run of a job that went on for too long: no fault is the cause."""
    return hold.player.recipe == "job" and "OVERDUE" in hold.reasons


def next_grant(record, fault, grants):
    index = bisect.bisect_right(grants, fault.begin)
    return (grants[index] if index < len(grants) else record.play_end) - fault.begin


def costs(record, client, overlaps):
    """The cost by name of the fault. None: without a fault that explains it."""
    found, by_who = {}, grants_by_who(record, client)
    holds = record.holds_by_path(client)
    grants = {path: sorted(hold.granted for hold in those) for path, those in holds.items()}
    turns = record.paths(client, "turns")
    for fault in record.faults:
        if not any(record.touches(fault, path) for path in grants):
            continue
        cost = found.setdefault(fault.name, Cost())
        cost.times += 1
        stretches, held = [outage(record, fault, grants[path]) for path in turns if record.touches(fault, path)], {}
        for hold in keepers(record, fault, client, by_who):
            held.setdefault(hold.player.path, []).append(kept(record, hold, fault))
            cost.least += least(record, hold, fault) if kept(record, hold, fault) else []
        for path, those in held.items():
            cost.keepers += len(those)
            cost.kept += sum(those)
            if not any(those):
                stretches.append(next_grant(record, fault, grants[path]))
        if stretches:
            cost.outage.append(max(stretches))
    for hold in (hold for those in holds.values() for hold in those if hold.was_lost() and not outstayed(hold)):
        ns = told(hold)
        fault = record.cause([hold.player], ns, hold.node_gone)
        cost = found.setdefault(fault and fault.name, Cost())
        cost.losses += 1
        if fault:
            cost.detection.append(hold.player.running(fault.begin, ns))
    for overlap in overlaps:
        fault = record.cause([hold.player for hold in overlap.holds], overlap.begin, overlap.taken)
        found.setdefault(fault and fault.name, Cost()).overlaps.append(overlap)
    return found
