"""What became of stale writes: the fenced resource took none, and the naive one suffered, or the run shows nothing."""
from dataclasses import dataclass, field

from tables import few

# So often a holder slept past its session, and one that was about to write is to be expected among them.
CHANCES = 10


@dataclass
class Damage:
    uses: int = 0
    naive: int = 0  # times a number was written back that others had counted on from
    refused: int = 0
    backwards: list = field(default_factory=list)  # texts: what the fenced one should not have done


def naive_damage(uses):
    """Uses whose number had been read before. Whoever reads one more than the one before, though that was read before as
    well, is the victim of somebody who is counted already."""
    seen, before, count = set(), None, 0
    for event, _ in uses:
        number = event.number("naive")
        if number in seen and number != before + 1:
            count += 1
        seen.add(number)
        before = number
    return count


def fenced_damage(path, uses):
    """In the order in which the resource took them, which is not the order of the lines: a writer may sleep in between."""
    faults, taken, largest = [], {}, (0, 0)
    for event, hold in uses:
        if event["fence"] == "ok":
            if not event.get("count"):
                faults.append(f"{path}: {hold.tell()} does not tell which write of all it was")
            elif event["count"] in taken:
                faults.append(f"{path}: {hold.tell()} and {taken[event['count']].tell()} both did write {event['count']}")
            else:
                taken[event["count"]] = hold
        elif event["fence"] == "refused" and event.ns <= hold.last and not hold.taken_at(event.ns):
            faults.append(f"{path}: {hold.tell()} was refused by the resource and still held")
    for count in sorted(taken, key=int):
        if taken[count].right < largest:
            faults.append(f"{path}: the resource took {taken[count].tell()} after {largest[0]}.{largest[1]}")
        largest = max(largest, taken[count].right)
    return faults


def damage(record, client):
    found = Damage()
    for path in record.paths(client):
        uses = record.uses.get(path, [])
        found.uses += len(uses)
        found.naive += naive_damage(uses)
        found.refused += sum(event["fence"] == "refused" for event, _ in uses)
        found.backwards += fenced_damage(path, uses)
    return found


def chances(record, client):
    """How often one that used a resource was stopped, for longer than its session lives, while it held."""
    users = {id(hold): hold for path in record.paths(client) for _, hold in record.uses.get(path, [])}
    return sum(hold.granted < stopped < hold.over() and resuming - stopped > record.settings.session_ns
               for hold in users.values() for stopped, resuming, _ in hold.player.stops)


def judge(record, client, found):
    faults = few(found.backwards)
    if record.settings.recipes == ["semaphore"]:
        return faults  # whose permits protect nothing that could be written
    if record.settings.everything or chances(record, client) >= CHANCES:
        if not found.naive:
            faults.append("vacuous: the naive resource suffered no stale write")
        if not found.refused:
            faults.append("vacuous: the fenced resource refused no stale write")
    return faults
