"""What a fault is, how one is inflicted, and the catalogue of all of them."""
import itertools
from dataclasses import dataclass, field

from ensemble import Broken, in_words
from kazoo.exceptions import KazooException

UNDO_TRIES, UNDO_PAUSE_S = 3, 1.0
HOLDING = 0.7  # of those that are hit: so many hold a right, if anybody does


class Missed(Exception):
    """It could not be done as things stand, though it was tried."""


@dataclass
class Target:
    words: str  # for the log
    players: list = field(default_factory=list)  # whom it hits directly
    what: object = None  # node, site, path: whatever the fault needs


class Fault:
    """Named harm: aim() chooses whom to hit or returns None, strike() does it, undo() takes it back.

    span is how long it lasts between the two, in session timeouts from … to. rows are those of the table of faults in
    docs/chaos.md that it shows. A series (--times) of faults that are all `pinned` has its keepers at one server each, and
    each fault lasts until others have been granted what those lost. What is `silent` the other servers notice late. What
    `severs` leaves those it hits without any server. What `takes` deletes nodes, by which rights are held: others are
    granted them before the holders can know.
    """
    lane, pinned, silent, severs, takes = None, False, False, False, False

    def __init__(self, name, rows, words, span=(0, 0)):
        self.name, self.rows, self.words, self.span = name, rows, words, span

    def aim(self, scene, random):
        raise NotImplementedError

    def strike(self, scene, target):
        raise NotImplementedError

    def last(self, scene, target, seconds):
        """While it lasts."""
        scene.pause(seconds)

    def undo(self, scene, target):
        pass


@dataclass
class Scene:
    """What faults are inflicted on."""
    ensemble: object
    cast: object
    present: object
    admin: object  # a client of the driver's own, who is an administrator
    options: object
    stopping: object  # an event: the run ends, whatever is under way
    numbers: object = field(default_factory=lambda: itertools.count(1))
    missed: list = field(default_factory=list)  # in words
    foreign: set = field(default_factory=set)  # nodes of the driver's

    @property
    def session_s(self):
        return self.options.session_ms / 1000

    def pause(self, seconds):
        self.stopping.wait(seconds)

    def choose(self, random, crowd):
        return random.choice(sorted(crowd, key=lambda one: one.name)) if crowd else None

    def holding(self):
        """Players."""
        names = {name for path in self.cast.paths for name in self.present.holders(path)}
        return [player for player in self.cast.of() if player.name in names]

    def victim(self, random):
        """A player: in most cases one of those that hold, else any."""
        return self.choose(random, random.random() < HOLDING and self.holding() or self.cast.of())

    def holders(self):
        self.present.poll()
        found = [f"{path}:{name}" for path in self.cast.paths for name in self.present.holders(path)]
        return ",".join(found) or "-"


def inflict(scene, fault, target, last):
    """Strike, let last() pass, undo; all of it noted. What fails of the first two is missed, and nothing else."""
    number = next(scene.numbers)
    scene.cast.note("fault", id=number, name=fault.name, lane=fault.lane, target=target.words,
                    who=",".join(player.name for player in target.players) or "-", holder=scene.holders(),
                    **{word: 1 for word, so in (("severed", fault.severs), ("takes", fault.takes)) if so})
    try:
        fault.strike(scene, target)
        scene.cast.note("struck", id=number)
        last()
    except (Missed, Broken, KazooException) as error:
        scene.cast.note("missed", id=number)
        scene.missed.append(f"{fault.name}: {in_words(error)}")
    if scene.stopping.is_set():
        return  # all is taken down
    scene.cast.note("healing", id=number)
    undo(scene, fault, target)
    scene.cast.note("healed", id=number)


def undo(scene, fault, target):
    for left in reversed(range(UNDO_TRIES)):
        try:
            return fault.undo(scene, target)
        except (Broken, KazooException) as error:
            if not left:
                raise Broken(f"{fault.name} could not be undone: {in_words(error)}") from error
        scene.pause(UNDO_PAUSE_S)
    return None


def catalogue():
    """Name → fault, in the order in which they are listed."""
    import faults_client
    import faults_data
    import faults_server
    return {fault.name: fault for module in (faults_server, faults_client, faults_data) for fault in module.FAULTS}


def listing():
    """For people: the same table stands in docs/chaos.md."""
    lines = []
    for fault in catalogue().values():
        rows = ", ".join(map(str, fault.rows))
        lines.append(f"{fault.lane:6}  {fault.name:22}  {rows:8}  {fault.words}")
    return "\n".join(["lane    name                    rows      what is done", *lines])
