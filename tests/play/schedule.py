"""A run of so many minutes: lanes of faults side by side, and about every minute a calm in which all must be served."""
import random
import threading
import time

from kazoo.exceptions import KazooException
from play.processes import Broken

from judges.agreement import disagreements
from play.faults import inflict
from play.faults_data import remove_foreign, tree
from play.ground import NODES, administrator, in_words
from play.players import SIZE
from play.recipes import EXTRA_MS, HOLD_US, THREADS, TURNS

ACT_S, MORE_S = 50, 5  # between two calms: at most; when only little is lacking
LOOK_S = 0.05
HANDOVERS_S = 0.1  # as judge_liveness has it
EXTRA_S = 1.0  # beyond the bound of a calm, which the judges check
WHOLE_S = 60
LOOKS = 2  # see agreement.py
# The pause between two faults of a lane, from … to.
GAPS_S = {"server": (0.5, 1.5), "client": (0.2, 1.0), "data": (1.0, 3.0)}


class Lane:
    """One fault after another. Each fault strikes once before any strikes again. The seed alone decides the faults and
    their times. The target depends on the state of the run as well."""

    def __init__(self, name, faults, seed):
        self.name, self.faults = name, faults
        self.random = random.Random(f"{seed} {name}")
        self.bag = []

    def draw(self):
        if not self.bag:
            self.bag = self.random.sample(self.faults, len(self.faults))
        return self.bag.pop()

    def run(self, chaos, end):
        while time.monotonic() < end and not chaos.stopping.is_set():
            fault = self.draw()
            seconds = chaos.session_s * self.random.uniform(*fault.span)
            gap = self.random.uniform(*GAPS_S[self.name])
            chaos.present.poll()
            target = fault.aim(chaos, random.Random(self.random.random()))
            if target:
                inflict(chaos, fault, target, lambda: fault.last(chaos, target, seconds))
            chaos.pause(gap)


def lanes(faults, seed):
    return [Lane(name, its, seed) for name in GAPS_S if (its := [fault for fault in faults if fault.lane == name])]


class Schedule:
    def __init__(self, chaos, faults):
        self.chaos, self.lanes = chaos, lanes(faults, chaos.options.seed)
        self.errors = []

    def run(self, seconds, enough=lambda: True, most=0):
        """After the time, goes on until enough() has happened, at most so many seconds more."""
        end = time.monotonic() + seconds
        while time.monotonic() < end or (not enough() and time.monotonic() < end + most):
            begin = time.monotonic()
            self.act(min(end if begin < end else begin + MORE_S, begin + ACT_S))
            calm(self.chaos)

    def act(self, end):
        threads = [threading.Thread(target=self.play, args=(lane, end), name=lane.name) for lane in self.lanes]
        for thread in threads:
            thread.start()
        try:
            while (time.monotonic() < end or any(thread.is_alive() for thread in threads)) and not self.errors:
                self.chaos.present.poll()
                self.chaos.players.look_after()
                time.sleep(LOOK_S)
            if self.errors:
                raise self.errors[0]
        except BaseException:
            self.chaos.stopping.set()
            raise
        finally:
            for thread in threads:
                thread.join()

    def play(self, lane, end):
        try:
            lane.run(self.chaos, end)
        except Exception as error:
            self.errors.append(error)


def heal(chaos):
    """Heals everything. Broken when that fails."""
    for site in chaos.players.sites.values():
        site.heal()
    chaos.ensemble.order("heal")
    end = time.monotonic() + WHOLE_S
    while not chaos.ensemble.whole():
        if time.monotonic() > end:
            raise Broken("healed, and still not all three servers serve")
        time.sleep(LOOK_S)
    remove_foreign(chaos, "/chaos")


def bound_s(chaos, path):
    """The time within which all claims that wait must be answered, on a path where nothing is broken."""
    recipe = chaos.players.recipes[path]
    turns = SIZE * max(THREADS.values()) * TURNS.get(recipe, 1)
    return turns * (HOLD_US / 1e6 + HANDOVERS_S) + 2 * chaos.session_s + 2 + EXTRA_MS.get(recipe, 0) / 1000


def needs(chaos, waited, begun):
    """The paths that have yet to come right: by why. A group has, when its watchers see its members and nobody else."""
    paths = chaos.players.paths
    waiting = {path for path, *_ in waited & chaos.present.waiting()}
    idle = {path for path in paths if chaos.present.granted_ns(path) < begun}
    strange = {path for path in paths if chaos.players.recipes[path] == "group" and not chaos.present.agreed(path)}
    return waiting | idle, strange


def calm(chaos):
    """A calm is over when every path was granted, every claim that waited was answered, and every watcher sees who is there.
    Keepers keep until they are told to yield. They are told so until all that waited have had their turn."""
    heal(chaos)
    chaos.present.poll()
    begun = chaos.players.note("calm")
    waited, yielded = chaos.present.waiting(), {}
    since = time.monotonic()
    while True:
        chaos.present.poll()
        chaos.players.look_after()
        unserved, strange = needs(chaos, waited, begun)
        if not unserved and not strange:
            break
        if time.monotonic() - since > max(bound_s(chaos, path) for path in unserved | strange) + EXTRA_S:
            inquire(chaos, sorted(unserved | strange))
            break
        for path in unserved:
            make_way(chaos, path, yielded)
        time.sleep(LOOK_S)
    chaos.players.note("calm-over")


def look(chaos, path, looks):
    for node in NODES:
        reader = administrator(chaos.ensemble.host(node))
        try:
            reader.retry(reader.sync, path)
            nodes = reader.retry(lambda: list(tree(reader, path)))
        finally:
            reader.stop()
            reader.close()
        looks.setdefault(node, []).append({name for name, _ in nodes})
        chaos.players.note("shown", path=path, server=node, nodes=",".join(
            f"{name.removeprefix(path + '/')}:{stat.ephemeralOwner:x}:{stat.czxid}" for name, stat in nodes) or "-")


def unlike_leader(chaos, path):
    """Followers that do not agree with their leader on the nodes of a path."""
    looks = {}
    for _ in range(LOOKS):
        look(chaos, path, looks)
    leader = chaos.ensemble.leader()
    return {node for pair in disagreements(looks) for node in pair if leader in pair} - {leader}


def inquire(chaos, paths):
    """A claim waits in vain. Notes what each server shows on those paths, with the session and the token of each node.
    A follower that does not agree with its leader is replaced, since it would go on like that. But first all paths
    are looked at: afterwards its clients go on, and what they waited for is no longer to be seen."""
    wrong = set()
    for path in paths:
        try:
            wrong |= unlike_leader(chaos, path)
        except (Broken, KazooException) as error:
            chaos.missed.append(f"inquiry of {path}: {in_words(error)}")
    for node in sorted(wrong):
        try:
            chaos.ensemble.order("replace", node)
        except Broken as error:
            chaos.missed.append(f"replacing {node}: {in_words(error)}")


def make_way(chaos, path, yielded):
    """Tells each keeper that holds to yield, once for each of its grants."""
    for player in chaos.players.of(path=path):
        since = chaos.present.holding_since(player)
        if player.slot.role == "keep" and since and yielded.get(player.name) != since:
            yielded[player.name] = since
            player.tell("yield")
