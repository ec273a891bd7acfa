"""Stale writes: the fenced resource takes none. The naive one must suffer some, or the run shows nothing."""
from dataclasses import dataclass, field

from play.tables import few

# When a holder slept past its session so often, at least one of them is expected to write afterwards.
CHANCES = 10
# Recipes whose keepers hold for long what nobody else may use: such a one is stopped whenever all faults are played.
KEEPING = {"lock", "election", "rwlock"}


@dataclass
class Damage:
    uses: int = 0
    naive: int = 0  # how often an old number was written over newer ones
    refused: int = 0
    backwards: list = field(default_factory=list)  # in words: what the fenced resource should not have done


def naive_damage(uses):
    """The number of stale writes, from the numbers that the uses read. A use that reads a number that was read before
    follows a stale write. But if it reads one more than the use before it, it is a victim of a stale write that is
    counted already."""
    seen, before, count = set(), None, 0
    for event, _ in uses:
        number = event.number("naive")
        if number in seen and number != before + 1:
            count += 1
        seen.add(number)
        before = number
    return count


def fenced_damage(path, uses):
    """Looks at the writes in the order in which the resource took them. The lines have another order: a writer may
    sleep."""
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
        if taken[count].grant < largest:
            faults.append(f"{path}: the resource took {taken[count].tell()} after {largest[0]}.{largest[1]}")
        largest = max(largest, taken[count].grant)
    return faults


def used_by(record, client):
    """The uses of its players, and of others on its paths, by place."""
    paths = record.paths(client)
    return {place: uses for place, uses in record.uses.items() if uses[0][1].player.path in paths}


def judge_unharmed(record, client):
    """Where nobody was harmed even the naive resource suffers nothing: no write is lost, and what a reader sees is whole, is what the
    last writer before it left there, and stays so as long as it holds."""
    for path, uses in sorted(used_by(record, client).items()):
        if record.unharmed(uses[0][1].player.path) and (count := naive_damage(uses)):
            yield f"{path}: the naive resource suffered {count} stale writes, and nobody was harmed"
    written = {}
    for path, uses in used_by(record, client).items():
        written[path] = sorted((hold.grant, event.number("naive") + 1) for event, hold in uses)
    for event, hold in record.notes.get("looked", []):
        if not record.unharmed(hold.player.path):
            continue
        seen, then = event.number("naive"), event.number("then")
        before = [number for grant, number in written.get(hold.place, []) if grant <= hold.grant]
        if any(player.path == hold.player.path and not player.ours for player in record.players.values()):
            before = []  # their tokens are numbers of their own
        if event["torn"] == "1":
            yield f"{hold.tell()} saw the resource torn"
        elif seen != then:
            yield f"{hold.tell()} saw the resource change from {seen} to {then}"
        elif before and seen != before[-1]:
            yield f"{hold.tell()} saw {seen}, and {before[-1]} was written before it"


def damage(record, client):
    found = Damage()
    for path, uses in sorted(used_by(record, client).items()):
        found.uses += len(uses)
        found.naive += naive_damage(uses)
        found.refused += sum(event["fence"] == "refused" for event, _ in uses)
        found.backwards += fenced_damage(path, uses)
    return found


def chances(record, client):
    """How often a holder that used a resource, and keeps, was stopped for longer than its session lives."""
    users = {id(hold): hold for uses in used_by(record, client).values() for _, hold in uses if hold.player.recipe in KEEPING}
    return sum(hold.granted < stopped < hold.over() and resuming - stopped > record.settings.session_ns
               for hold in users.values() for stopped, resuming, _ in hold.player.stops)


def judge(record, client, found):
    faults = few(found.backwards) + few(list(judge_unharmed(record, client)))
    writers = KEEPING & set(record.settings.recipes)
    if record.settings.everything and writers or chances(record, client) >= CHANCES:
        if not found.naive:
            faults.append("vacuous: the naive resource suffered no stale write")
        if not found.refused:
            faults.append("vacuous: the fenced resource refused no stale write")
    return faults
