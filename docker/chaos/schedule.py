"""A run of so many minutes: lanes of faults side by side, and a calm in which all has to come right, every minute or so."""
import random
import threading
import time

from cast import HOLD_US, SIZE, THREADS
from ensemble import NODES, Broken, administrator, in_words
from faults import inflict
from faults_data import remove_foreign, tree
from kazoo.exceptions import KazooException
from lines import astray

ACT_S = 50  # between two calms
LOOK_S = 0.05
EXTRA_S = 1.0  # beyond the bound of a calm, after which the judge has its say
WHOLE_S = 60
LOOKS = 2  # see lines.py
# Between two faults of a lane, from … to.
GAPS_S = {"server": (0.5, 1.5), "client": (0.2, 1.0), "data": (1.0, 3.0)}


class Lane:
    """One fault after the other, each of the bag once before any comes again; what comes when depends on the seed alone,
    whom it hits on the state of things as well."""

    def __init__(self, name, faults, seed):
        self.name, self.faults = name, faults
        self.random = random.Random(f"{seed} {name}")
        self.bag = []

    def draw(self):
        if not self.bag:
            self.bag = self.random.sample(self.faults, len(self.faults))
        return self.bag.pop()

    def run(self, scene, end):
        while time.monotonic() < end and not scene.stopping.is_set():
            fault = self.draw()
            seconds = scene.session_s * self.random.uniform(*fault.span)
            gap = self.random.uniform(*GAPS_S[self.name])
            scene.present.poll()
            target = fault.aim(scene, random.Random(self.random.random()))
            if target:
                inflict(scene, fault, target, lambda: fault.last(scene, target, seconds))
            scene.pause(gap)


def lanes(faults, seed):
    return [Lane(name, its, seed) for name in GAPS_S if (its := [fault for fault in faults if fault.lane == name])]


class Play:
    def __init__(self, scene, faults):
        self.scene, self.lanes = scene, lanes(faults, scene.options.seed)
        self.errors = []

    def run(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.act(min(end, time.monotonic() + ACT_S))
            calm(self.scene)

    def act(self, end):
        threads = [threading.Thread(target=self.play, args=(lane, end), name=lane.name) for lane in self.lanes]
        for thread in threads:
            thread.start()
        try:
            while any(thread.is_alive() for thread in threads) and not self.errors:
                self.scene.present.poll()
                self.scene.cast.look_after()
                time.sleep(LOOK_S)
            if self.errors:
                raise self.errors[0]
        except BaseException:
            self.scene.stopping.set()
            raise
        finally:
            for thread in threads:
                thread.join()

    def play(self, lane, end):
        try:
            lane.run(self.scene, end)
        except Exception as error:
            self.errors.append(error)


def heal(scene):
    """Nothing is broken afterwards, or the run is."""
    for site in scene.cast.sites.values():
        site.heal()
    scene.ensemble.order("heal")
    end = time.monotonic() + WHOLE_S
    while not scene.ensemble.whole():
        if time.monotonic() > end:
            raise Broken("healed, and still not all three servers serve")
        time.sleep(LOOK_S)
    remove_foreign(scene, "/chaos")


def bound_s(scene):
    """Within which everybody who waits has to be answered, on a path where nothing is broken."""
    return SIZE * max(THREADS.values()) * HOLD_US / 1e6 + 2 * scene.session_s + 2


def calm(scene):
    """Over as soon as every path was granted and every claim that waited was answered. Keepers keep until they are told to
    yield: they are, until all who waited have had their turn."""
    heal(scene)
    scene.present.poll()
    begun = scene.cast.note("calm")
    waited, yielded = scene.present.waiting(), {}
    end = time.monotonic() + bound_s(scene) + EXTRA_S
    while time.monotonic() < end:
        scene.present.poll()
        scene.cast.look_after()
        still = waited & scene.present.waiting()
        idle = [path for path in scene.cast.paths if scene.present.granted_ns(path) < begun]
        if not still and not idle:
            break
        for path in {path for path, *_ in still} | set(idle):
            make_way(scene, path, yielded)
        time.sleep(LOOK_S)
    else:
        inquire(scene, sorted({path for path, *_ in still} | set(idle)))
    scene.cast.note("calm-over")


def look(scene, path, looks):
    for node in NODES:
        reader = administrator(scene.ensemble.host(node))
        try:
            reader.retry(reader.sync, path)
            nodes = reader.retry(lambda: list(tree(reader, path)))
        finally:
            reader.stop()
            reader.close()
        looks.setdefault(node, []).append({name for name, _ in nodes})
        scene.cast.note("line", path=path, server=node, nodes=",".join(
            f"{name.removeprefix(path + '/')}:{stat.ephemeralOwner:x}:{stat.czxid}" for name, stat in nodes) or "-")


def unlike_leader(scene, path):
    """Followers that do not agree with their leader on what is there."""
    looks = {}
    for _ in range(LOOKS):
        look(scene, path, looks)
    leader = scene.ensemble.leader()
    return {node for pair in astray(looks) for node in pair if leader in pair} - {leader}


def inquire(scene, paths):
    """Somebody waits in vain. What each server shows on those paths is noted, with whose it is and which right it would be. A
    follower that does not agree with its leader is replaced, since it would go on like that; but not before all paths are
    looked at, since its clients are free then, and nobody can tell any more what they waited for."""
    wrong = set()
    for path in paths:
        try:
            wrong |= unlike_leader(scene, path)
        except (Broken, KazooException) as error:
            scene.missed.append(f"inquiry of {path}: {in_words(error)}")
    for node in sorted(wrong):
        try:
            scene.ensemble.order("replace", node)
        except Broken as error:
            scene.missed.append(f"replacing {node}: {in_words(error)}")


def make_way(scene, path, yielded):
    """Each keeper that holds is told to yield, once for each of its grants."""
    for player in scene.cast.of(path=path):
        since = scene.present.holding_since(player)
        if player.slot.role == "keep" and since and yielded.get(player.name) != since:
            yielded[player.name] = since
            player.tell("yield")
