"""What is drawn when, who is told to make way, and what is noted of a fault: `checks` is part of selftest."""
import itertools
import threading
from types import SimpleNamespace

from cast import SITES, SIZE, slots
from faults import Fault, Missed, Scene, Target, catalogue, inflict
from logbook import Event
from present import Place, Present
from schedule import lanes, make_way

KEEP = "/chaos/paddock/lock-keep"


class Recorded(Fault):
    """One that says what is done, or that it cannot be done."""
    lane, takes = "data", True

    def __init__(self, can=True):
        super().__init__("recorded", [], "")
        self.can, self.done = can, []

    def strike(self, scene, target):
        if not self.can:
            raise Missed("not now")
        self.done.append("strike")

    def undo(self, scene, target):
        self.done.append("undo")


class Cast:
    """Notes, and players who remember what they are told."""
    paths = [KEEP]

    def __init__(self, *names):
        self.notes = []
        self.players = [SimpleNamespace(name=name, path=KEEP, slot=SimpleNamespace(role="keep"), told=[]) for name in names]
        for player in self.players:
            player.tell = player.told.append

    def note(self, what, **fields):
        self.notes.append((what, fields))

    def of(self, path=None):
        return self.players


def scene_of(*events):
    """Of two keepers, a and b, in whose logs this stands."""
    cast, present = Cast("a", "b"), Present()
    present.places[KEEP] = Place()
    scene = Scene(None, cast, present, None, SimpleNamespace(session_ms=4000), threading.Event())
    later(scene, *events)
    return scene


def later(scene, *events):
    for ns, who, what in events:
        player = next(player for player in scene.cast.players if player.name == who)
        scene.present.take(scene.present.places[KEEP], player, Event.parse(who, f"{ns} {what}"))


def drawn(seed, count):
    return [[lane.draw().name for _ in range(count)] for lane in lanes(list(catalogue().values()), seed)]


def noted(fault, stopping=False):
    scene = scene_of((1, "a", "claim n=1"), (2, "a", "granted n=1"))
    if stopping:
        scene.stopping.set()
    inflict(scene, fault, Target(KEEP), lambda: fault.done.append("last"))
    return scene, [what for what, _ in scene.cast.notes]


def drawing():
    sizes = [len(lane.faults) for lane in lanes(list(catalogue().values()), 1)]
    yield "a schedule: each lane draws all of its faults before any comes again", all(
        len(set(names[:size])) == size == len(set(names[size:2 * size]))
        for names, size in zip(drawn(1, 2 * max(sizes)), sizes))
    yield "a schedule: no fault is in no lane", sum(sizes) == len(catalogue())
    yield "a schedule: the same seed draws the same", drawn(7, 60) == drawn(7, 60)
    yield "a schedule: another seed draws otherwise", drawn(7, 60) != drawn(8, 60)


def casting():
    sites = {}
    for slot in slots(["paddock", "kazoo"], ["lock", "election", "rwlock", "semaphore"]):
        sites.setdefault(slot.path, []).append(slot.site)
    yield "a cast: each path is played on from different sites", all(len(set(its)) == SIZE for its in sites.values())
    yield "a cast: all sites have as much to do", len({
        sum(its.count(site) for its in sites.values()) for site in range(1, SITES + 1)}) == 1


def present():
    scene = scene_of((1, "a", "claim n=1"), (2, "b", "claim n=1"), (3, "a", "granted n=1"))
    yield "the present: who holds and who waits", (scene.present.holders(KEEP), scene.present.waiters(KEEP)) == (["a"], ["b"])
    yield "the present: a fault names who holds", scene.holders() == f"{KEEP}:a"
    make_way(scene, KEEP, yielded := {})
    make_way(scene, KEEP, yielded)
    a, b = scene.cast.players
    yield "a calm: who holds is told to yield, once", (a.told, b.told) == (["yield"], [])
    later(scene, (4, "a", "ended n=1"), (5, "a", "claim n=2"), (6, "b", "granted n=1"))
    make_way(scene, KEEP, yielded)
    yield "a calm: then the next one", (a.told, b.told) == (["yield"], ["yield"])
    later(scene, (7, "b", "lost n=1"), (8, "a", "failed n=2"))
    yield "the present: a claim that failed waits no more", not scene.present.waiting() and scene.holders() == "-"


def noting():
    fault = Recorded()
    scene, notes = noted(fault)
    yield "a fault: strikes, lasts, is undone", fault.done == ["strike", "last", "undo"]
    yield "a fault: all of it is noted", notes == ["fault", "struck", "healing", "healed"]
    yield "a fault: what it takes is noted", scene.cast.notes[0][1].get("takes") == 1
    fault = Recorded(can=False)
    scene, notes = noted(fault)
    yield "a fault that could not be done is told as such", notes == ["fault", "missed", "healing", "healed"]
    yield "a fault that could not be done: why", scene.missed == ["recorded: not now"]
    fault = Recorded()
    yield "a run that ends leaves the undoing to the end", noted(fault, stopping=True)[1] == ["fault", "struck"]


def checks():
    return itertools.chain(drawing(), casting(), present(), noting())
