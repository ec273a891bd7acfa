"""When all is whole again, all that wait are served. When all players have gone, nothing is left behind."""
import bisect
from collections import Counter
from dataclasses import dataclass, field

from play.logbook import MS, S
from play.tables import few

from judges.agreement import disagreements

# The time that a turn may take beside its use: for so long the threads of a process may hand it to each other, see lock.h.
HANDOVERS_NS = 100 * MS
UNQUEUED = ("job", "group")  # nobody waits for another
LEASE = "lease"


@dataclass
class Calm:
    """One calm on one path."""
    path: str
    begin: int
    end: int
    waiting: list = field(default_factory=list)  # the claims that waited when it began
    limit: int = 0


@dataclass
class Progress:
    # By path, the number of claims that waited when a calm began, and were answered in it or had the time to be.
    judged: Counter = field(default_factory=Counter)
    stuck: list = field(default_factory=list)
    unserved: list = field(default_factory=list)  # texts
    torn: int = 0  # calms in which the servers did not agree on the nodes of a path: its claims are not judged


def turn_ns(record, recipe):
    return record.settings.hold_us[recipe] * 1000 + HANDOVERS_NS


def extra_ns(record, recipe):
    return record.settings.extra_ms.get(recipe, 0) * MS


def bound(record, recipe, waiting):
    turns = record.settings.turns.get(recipe, 1)
    return waiting * turns * turn_ns(record, recipe) + 2 * record.settings.session_ns + 2 * S + extra_ns(record, recipe)


def let_stand(record, holds, calm):
    """The holds of a lease lock that were granted in the calm, and not given up: each may be taken back, or stand to its end. Nobody
    waits in a queue meanwhile, so all of that may happen before the turn of a claim that waits."""
    given = {id(hold) for _, hold in record.notes.get("giving", [])}
    return sum(calm.begin <= hold.granted < calm.end and id(hold) not in given for hold in holds)


def calms_of(record, client):
    """By path, all calms in order."""
    recipes = {player.path: player.recipe for player in record.of(client)}
    found = {path: [Calm(path, *calm) for calm in record.calms] for path in recipes}
    begins = [begin for begin, _ in record.calms]
    for claim in record.claims.values():
        if claim.player.client != client:
            continue
        gone = min(claim.answered, claim.player.killed)
        for index in range(bisect.bisect_right(begins, claim.asked), bisect.bisect_left(begins, gone)):
            found[claim.player.path][index].waiting.append(claim)
    holds = record.holds_by_path(client)
    for path, calms in found.items():
        recipe = recipes[path]
        for calm in calms:
            calm.limit = calm.begin + bound(record, recipe, len(calm.waiting))
            if recipe == LEASE:
                calm.limit += let_stand(record, holds[path], calm) * (turn_ns(record, recipe) + extra_ns(record, recipe))
    return found


def is_torn(record, calm):
    looks = {}
    for ns, path, server, names in record.shown:
        if path == calm.path and calm.begin <= ns <= calm.end:
            looks.setdefault(server, []).append(names)
    return bool(looks and disagreements(looks))


def judge_claims(progress, calm):
    for claim in calm.waiting:
        if claim.answered <= min(calm.limit, calm.end):
            progress.judged[calm.path] += 1
        elif calm.end >= calm.limit:
            progress.judged[calm.path] += 1
            progress.stuck.append(claim)


def served(calm, holds, grants):
    """Whether the path was granted in the calm; or nobody waits, and a holder goes on holding."""
    index = bisect.bisect_left(grants, calm.begin)
    if index < len(grants) and grants[index] <= calm.limit:
        return True
    return not calm.waiting and any(hold.granted < calm.begin and hold.last > calm.end for hold in holds)


def progress_of(record, client):
    progress, by_path = Progress(), record.holds_by_path(client)
    keep = set(record.paths(client, "keep"))
    for path, calms in calms_of(record, client).items():
        holds = by_path[path]
        grants = sorted(hold.granted for hold in holds)
        for calm in calms:
            if is_torn(record, calm):
                progress.torn += 1
                continue
            judge_claims(progress, calm)
            whole = calm.end >= calm.limit
            if whole and not served(calm, holds if path in keep else [], grants):
                progress.unserved.append(f"{path}: nobody was served in the calm that began after "
                                         f"{(calm.begin - record.begin) / S:.1f} s")
    return progress


def left(record, client):
    return {path: record.left[path] for path in record.paths(client) if record.left.get(path)}


def silent(record, player):
    """Whether it claimed nothing, though all was whole for long enough, or twice."""
    if player.role == "observe":
        return False
    whole = [end - begin for begin, end in record.calms if player.started <= begin and end <= player.killed]
    return not player.claims and (len(whole) > 1 or max(whole, default=0) >= bound(record, player.recipe, 1))


def judge_waiting(record, client, progress):
    if not progress.judged.total():
        return ["vacuous: no claim waited when a calm began, or no calm was long enough"]
    recipes = {player.path: player.recipe for player in record.of(client)}
    return [f"vacuous: on {path} no claim waited when a calm began" for path in record.paths(client)
            if record.thorough and not progress.judged[path] and recipes[path] not in UNQUEUED]


def judge(record, client, progress):
    faults = few([f"{claim.player.who} (n={claim.n}) waited on, on {claim.player.path}, with everything whole again"
                  for claim in progress.stuck])
    faults += few(progress.unserved)
    faults += few([f"{player.who} claimed nothing" for player in record.of(client) if silent(record, player)])
    faults += judge_waiting(record, client, progress)
    faults += [f"left behind on {path}: {', '.join(nodes)}" for path, nodes in left(record, client).items()]
    faults += [f"nobody looked at what is left on {path}" for path in record.paths(client) if path not in record.left]
    return faults
