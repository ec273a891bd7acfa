"""Selftest: which fault is drawn when, which player is told to make way, and what is done and noted of a fault."""
import itertools
import threading
import time
from types import SimpleNamespace
from unittest import mock

from kazoo.exceptions import ConnectionLoss, NoNodeError, NotEmptyError
from play.logbook import Event
from play.processes import Broken

from faults_server import catalogue
from play import faults, faults_data
from play import players
from play import schedule
from play.faults import Chaos, Fault, Missed, Target, inflict
from play.players import SITES, SIZE, slots
from play.present import PathState, Present
from play.schedule import lanes, make_way

KEEP, TURNS = "/chaos/paddock/lock-keep", "/chaos/paddock/lock-turns"


class Recorded(Fault):
    """A fault that remembers what is done. strike may fail with an error, and the first calls of undo too."""
    lane, takes = "data", True

    def __init__(self, strike=None, undo=()):
        super().__init__("recorded", [], "")
        self.trouble, self.later_trouble, self.done = strike, list(undo), []

    def strike(self, chaos, target):
        if self.trouble:
            raise self.trouble
        self.done.append("strike")

    def undo(self, chaos, target):
        if self.later_trouble:
            raise self.later_trouble.pop()
        self.done.append("undo")


class Players(players.Players):
    """Remembers what is noted. Its players remember what they are told."""
    paths = [KEEP]

    def __init__(self, *names):
        self.notes = []
        self.all = [SimpleNamespace(name=name, path=KEEP, slot=SimpleNamespace(role="keep"), told=[], alive=True, pid=1,
                                      doomed=False, stopped=False, resuming=False) for name in names]
        for player in self.all:
            player.tell = player.told.append

    def note(self, what, **fields):
        self.notes.append((what, fields))

    def of(self, **which):
        return self.all

    def leave(self, player):
        pass


class Site:
    """A site on which the named calls fail."""
    number, killed = 1, -9

    def __init__(self, *failing):
        self.failing, self.done = failing, []

    def __getattr__(self, what):
        def do(*words, **_):
            self.done.append([what, *words])
            if what in self.failing:
                raise Broken(f"{what} failed")
        return do


class Admin:
    """A client of servers. On their paths a new node appears at once whenever one is deleted."""

    def __init__(self, children=1, refilled=True):
        self.children, self.refilled, self.deleted = children, refilled, []

    def retry(self, what, *words):
        return what(*words)

    def get_children(self, path):
        if path != KEEP or not self.children:
            raise NoNodeError
        return [f"x-{len(self.deleted):010}"]

    def get(self, node):
        return b"", SimpleNamespace(ephemeralOwner=7, czxid=len(self.deleted) + 1)

    def delete(self, node):
        if not self.children:
            raise NoNodeError
        if node == KEEP and self.refilled:
            raise NotEmptyError
        self.deleted.append(node)


def scene_of(*events):
    """A run of two keepers, a and b, with these lines in their logs."""
    players, present = Players("a", "b"), Present()
    present.paths[KEEP] = PathState()
    chaos = Chaos(None, players, present, None, SimpleNamespace(session_ms=4000), threading.Event())
    later(chaos, *events)
    return chaos


def later(chaos, *events):
    for ns, who, what in events:
        player = next(player for player in chaos.players.all if player.name == who)
        chaos.present.take(chaos.present.paths[KEEP], player, Event.parse(who, f"{ns} {what}"))


def drawn(seed, count):
    return [[lane.draw().name for _ in range(count)] for lane in lanes(list(catalogue().values()), seed)]


def noted(fault, stopping=False):
    chaos = scene_of((1, "a", "claim n=1"), (2, "a", "granted n=1"))
    if stopping:
        chaos.stopping.set()
    inflict(chaos, fault, Target(KEEP), lambda: fault.done.append("last"))
    return chaos, [what for what, _ in chaos.players.notes]


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
    yield "the players: those of a path are at different sites", all(len(set(its)) == SIZE for its in sites.values())
    yield "the players: each site has as many", len({
        sum(its.count(site) for its in sites.values()) for site in range(1, SITES + 1)}) == 1


def present():
    chaos = scene_of((1, "a", "claim n=1"), (2, "b", "claim n=1"), (3, "a", "granted n=1"))
    yield "the present: holders and waiters", (chaos.present.holders(KEEP), chaos.present.waiters(KEEP)) == (["a"], ["b"])
    yield "the present: a fault names the holders", chaos.holders() == f"{KEEP}:a"
    make_way(chaos, KEEP, yielded := {})
    make_way(chaos, KEEP, yielded)
    a, b = chaos.players.all
    yield "a calm: a holder is told to yield, once", (a.told, b.told) == (["yield"], [])
    later(chaos, (4, "a", "ended n=1"), (5, "a", "claim n=2"), (6, "b", "granted n=1"))
    make_way(chaos, KEEP, yielded)
    yield "a calm: then the next one", (a.told, b.told) == (["yield"], ["yield"])
    later(chaos, (7, "b", "lost n=1"), (8, "a", "failed n=2"))
    yield "the present: a claim that failed waits no more", not chaos.present.waiting() and chaos.holders() == "-"


def noting():
    fault = Recorded()
    chaos, notes = noted(fault)
    yield "a fault: strikes, lasts, is undone", fault.done == ["strike", "last", "undo"]
    yield "a fault: all of it is noted", notes == ["fault", "struck", "healing", "healed"]
    yield "a fault: what it takes is noted", chaos.players.notes[0][1].get("takes") == 1
    fault = Recorded(strike=Missed("not now"))
    chaos, notes = noted(fault)
    yield "a fault that could not be done is told as such", notes == ["fault", "missed", "healing", "healed"]
    yield "a fault that could not be done: why", chaos.missed == ["recorded: not now"]
    fault = Recorded()
    yield "a run that ends leaves the undoing to the end", noted(fault, stopping=True)[1] == ["fault", "struck"]
    yield "a fault that fails half way is missed, and undone", all(
        noted(fault := Recorded(strike=error))[1] == ["fault", "missed", "healing", "healed"] and fault.done == ["undo"]
        for error in (Broken("at once"), ConnectionLoss()))


def undoing():
    faults.UNDO_PAUSE_S = 0
    fault = Recorded(undo=[Broken("once"), ConnectionLoss()])
    yield "undoing is tried again", noted(fault)[1][-1] == "healed" and fault.done == ["strike", "last", "undo"]
    try:
        noted(Recorded(undo=[Broken("again")] * faults.UNDO_TRIES))
        ended = False
    except Broken:
        ended = True
    yield "a fault that cannot be undone ends the run", ended


def noted_of(chaos):
    return [what for what, _ in chaos.players.notes]


def words(chaos):
    return [what for what, fields in chaos.players.notes if "who" in fields and what != "fault"]


def stopping():
    catalog = catalogue()
    for what, name in (("stop", "client-paused-briefly"), ("freeze", "site-frozen")):
        for failing, told in ((), ["stopping", "stopped", "resuming", "resumed"]), ((what,), ["stopping"]):
            chaos, fault = scene_of(), catalog[name]
            del chaos.players.all[1:]
            player, = chaos.players.all
            player.site = Site(*failing)
            inflict(chaos, fault, Target("a", [player], player), lambda: None)
            yield f"{name}{', a try that fails' if failing else ''}: what is noted of it", words(chaos) == told


def killing():
    for status, told, doomed in (-9, ["killing", "killed"], True), (6, ["killing"], False):
        chaos = scene_of()
        player = chaos.players.all[0]
        player.site, player.wait = Site(), lambda _, status=status: status
        yield f"killed, and it ends with {status}: what is noted of it", (
            chaos.players.kill(player) == player.doomed == doomed and words(chaos) == told)


def shifting():
    """The clock is read where the victim runs: was it set?"""
    for shown_s, told in (3600, "struck"), (0, "missed"):
        chaos, clock = scene_of(), mock.Mock()
        player = chaos.players.all[0]
        player.site, player.slot.site, chaos.players.clocks = mock.Mock(), 1, {1: clock}
        player.site.run.return_value = f"{time.time() + shown_s:.0f}"
        clock.under = lambda *argv: argv
        inflict(chaos, catalogue()["clock-shifted"], Target("a", [player], (player, 3600)), lambda: None)
        yield f"a clock that is to show an hour more, and shows {shown_s} s more: {told}, and set right", (
            told in noted_of(chaos) and [call.args for call in clock.set.call_args_list] == [(3600,), (0,)])


def starving():
    for connected, told in ({}, "struck"), ({1: "10.0.0.1"}, "missed"):
        chaos = scene_of()
        player = chaos.players.all[0]
        player.site = mock.Mock()
        player.site.connections.return_value = connected
        inflict(chaos, catalogue()["descriptors-gone"], Target("a", [player], player), lambda: None)
        limits = [call.args[4:] for call in player.site.run.call_args_list]
        yield f"no descriptors, and connected to {len(connected)} servers: {told}, and given back", (
            told in noted_of(chaos) and limits == [(1, 3), (1,)])


def deleting():
    wiped = catalogue()["path-wiped"]
    for what, admin, told in (
            ("refilled all the time", Admin(), ["fault", *["deleted"] * faults_data.ROUNDS, "struck"]),
            ("not refilled", Admin(refilled=False), ["fault", "deleted", "struck"]),
            ("gone already", Admin(children=0), ["fault", "missed"])):
        chaos = scene_of()
        chaos.admin = admin
        inflict(chaos, wiped, Target(KEEP), lambda: None)
        yield f"a path that is wiped, {what}", [what for what, _ in chaos.players.notes][:-2] == told


def inquiring():
    """shows: by server, what it shows of each path at the first and the second question."""
    def played(shows, paths=(KEEP,), unreadable=None):
        chaos = SimpleNamespace(missed=[], order=[], ensemble=SimpleNamespace(leader=lambda: 1))
        chaos.ensemble.order = lambda *words: chaos.order.append(words)
        said = {(server, path): iter(names) for server, names in shows.items() for path in paths}

        def look(_scene, path, looks):
            if path == unreadable:
                raise Broken("no answer")
            for server in shows:
                looks.setdefault(server, []).append(set(next(said[server, path])))
            chaos.order.append(("look", path))

        with mock.patch.object(schedule, "look", look):
            schedule.inquire(chaos, paths)
        return chaos

    def replaced(shows):
        return [words for words in played(shows).order if words[0] == "replace"]

    unlike = {1: ["a", "a"], 2: ["ax", "ax"], 3: ["a", "a"]}
    yield "servers agree", replaced({1: ["a", "a"], 2: ["a", "a"], 3: ["a", "a"]}) == []
    yield "nodes come and go", replaced({1: ["a", "ab"], 2: ["ab", "b"], 3: ["ab", "b"]}) == []
    yield "a follower shows what its leader does not", replaced(unlike) == [("replace", 2)]
    yield "a follower lacks what its leader shows", replaced(
        {1: ["ab", "ab"], 2: ["ab", "ab"], 3: ["b", "b"]}) == [("replace", 3)]
    yield "a follower disagrees on two paths: it is looked at on both, and then replaced, once", played(
        unlike, paths=(KEEP, TURNS)).order == [("look", KEEP)] * 2 + [("look", TURNS)] * 2 + [("replace", 2)]
    chaos = played(unlike, paths=(KEEP, TURNS), unreadable=KEEP)
    yield "one path cannot be looked at, the other is", (
        ("replace", 2) in chaos.order and chaos.missed == [f"inquiry of {KEEP}: no answer"])


def checks():
    return itertools.chain(drawing(), casting(), present(), noting(), undoing(), stopping(), killing(), shifting(),
                           starving(), deleting(), inquiring())
