"""The definition of a fault, how it is inflicted, and the catalogue of all faults."""
import itertools
import time
from dataclasses import dataclass, field

from kazoo.exceptions import KazooException
from play.processes import Broken

from play.ground import in_words

UNDO_TRIES, UNDO_PAUSE_S = 3, 1.0
LOOK_S = 0.05
HOLDING = 0.7  # of the victims: so many hold a grant, if any player does


class Missed(Exception):
    """The fault was tried, and cannot be done now."""


@dataclass
class Target:
    words: str  # for the log
    players: list = field(default_factory=list)  # those that it hits directly
    what: object = None  # what the fault needs: a node, a site, a path
    near: list = None  # the players that are connected to the server it is done to; None: it does not matter


class Fault:
    """A fault. aim() chooses the target, or returns None. strike() does it. undo() takes it back.

    span is how long the fault lasts between strike and undo, in session timeouts, from … to. rows are the rows that
    it shows in the table of faults in docs/chaos.md. With --pin, for faults that are `pinned`, each keeper is connected to
    one server, and a fault lasts until other players have been granted what its victims lost.
    The other servers notice a `silent` fault late. A fault that `severs` leaves its victims without any server. A
    fault that `takes` deletes nodes that grants stand on: the next are granted before the holders can know.
    """
    lane, pinned, silent, severs, takes = None, False, False, False, False

    def __init__(self, name, rows, words, span=(0, 0)):
        self.name, self.rows, self.words, self.span = name, rows, words, span

    def aim(self, chaos, random):
        raise NotImplementedError

    def strike(self, chaos, target):
        raise NotImplementedError

    def last(self, chaos, target, seconds):
        """Waits while it lasts."""
        chaos.pause(seconds)

    def undo(self, chaos, target):
        pass


@dataclass
class Chaos:
    """A run under way: what faults are inflicted on."""
    ensemble: object
    players: object
    present: object
    admin: object  # the driver's own client, the administrator
    options: object
    stopping: object  # an event: the run ends now
    records: object = None  # records.Records
    numbers: object = field(default_factory=lambda: itertools.count(1))
    missed: list = field(default_factory=list)  # in words
    foreign: set = field(default_factory=set)  # nodes that the driver made

    @property
    def session_s(self):
        return self.options.session_ms / 1000

    def pause(self, seconds):
        self.stopping.wait(seconds)

    def choose(self, random, crowd):
        return random.choice(sorted(crowd, key=lambda one: one.name)) if crowd else None

    def holding(self):
        """The players that hold something."""
        names = {name for path in self.players.paths for name in self.present.holders(path)}
        return [player for player in self.players.of() if player.name in names]

    def await_holder(self):
        """Where few play a holder is worth to be waited for."""
        end = time.monotonic() + getattr(self.options, "aim_s", 0)
        while time.monotonic() < end and not self.holding() and not self.stopping.is_set():
            self.pause(LOOK_S)
            self.present.poll()

    def victim(self, random, fatal=False):
        """A player: mostly one that holds, else any. Where peers play on our paths they are only killed: they hold a grant for valid
        when they are paused or cut off."""
        spared = not fatal and getattr(self.options, "mixed", False)
        self.await_holder()
        holding, everybody = ([player for player in crowd if player.ours or not spared] for crowd in (self.holding(), self.players.of()))
        return self.choose(random, random.random() < HOLDING and holding or everybody)

    def holders(self):
        self.present.poll()
        found = [f"{path}:{name}" for path in self.players.paths for name in self.present.holders(path)]
        return ",".join(found) or "-"


def inflict(chaos, fault, target, last):
    """Strikes, waits with last(), undoes, and notes all of it. If strike or last fails, the fault is noted as missed."""
    number = next(chaos.numbers)
    chaos.players.note("fault", id=number, name=fault.name, lane=fault.lane, target=target.words,
                    who=",".join(player.name for player in target.players) or "-", holder=chaos.holders(),
                    **{word: 1 for word, so in (("severed", fault.severs), ("takes", fault.takes)) if so},
                    **({} if target.near is None else {"near": ",".join(player.name for player in target.near) or "-"}))
    try:
        fault.strike(chaos, target)
        chaos.players.note("struck", id=number)
        last()
    except (Missed, Broken, KazooException) as error:
        chaos.players.note("missed", id=number)
        chaos.missed.append(f"{fault.name}: {in_words(error)}")
    if chaos.stopping.is_set():
        return  # the run ends: all is taken down
    chaos.players.note("healing", id=number)
    undo(chaos, fault, target)
    chaos.players.note("healed", id=number)


def undo(chaos, fault, target):
    for left in reversed(range(UNDO_TRIES)):
        try:
            return fault.undo(chaos, target)
        except (Broken, KazooException) as error:
            if not left:
                raise Broken(f"{fault.name} could not be undone: {in_words(error)}") from error
        chaos.pause(UNDO_PAUSE_S)
    return None


def catalogue(*more):
    """Name → fault, in the order of the list. more: lists of faults that only one ground has; they come first."""
    from play import faults_client
    from play import faults_data
    return {fault.name: fault for its in (*more, faults_client.FAULTS, faults_data.FAULTS) for fault in its}


def listing(faults):
    """For people. docs/chaos.md has the same table."""
    lines = []
    for fault in faults.values():
        rows = ", ".join(map(str, fault.rows))
        lines.append(f"{fault.lane:6}  {fault.name:22}  {rows:8}  {fault.words}")
    return "\n".join(["lane    name                    rows      what is done", *lines])
