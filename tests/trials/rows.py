"""The rows of the trials: what is played, by which players, what is done to them, and what has to happen for a run to show anything."""
import time
from dataclasses import dataclass, field

from play.faults import Missed, Target
from play.faults_client import NOW, ClientFault, Killed
from play.faults_data import ephemerals, take
from play.logbook import LogFile
from play.players import OURS, Slot

CURATORS = {"election": 2, "rwlock": 3, "semaphore": 4}  # with --curator so many of the players are Curator's


class HolderKilled(Killed):
    """Its victim is killed at the moment at which it is granted something."""
    AIM_S = 2.0

    def strike(self, chaos, target):
        end = time.monotonic() + self.AIM_S
        while time.monotonic() < end and not chaos.present.holding_since(target.what):
            chaos.present.poll()
        super().strike(chaos, target)


class LateWriter(ClientFault):
    """A holder's write to a guarded znode is held up on its way, or its answer is lost. Its lock node is deleted, and the next one is
    granted. Then what was held up goes on."""
    takes = True
    AIM_S, WRITES_S, NEXT_S = 2.0, 0.2, 10.0
    HELD_UP, LOST = "cut clients", "lose answers"

    def __init__(self, name, way):
        super().__init__(name, [], "a write to a guarded znode is held up, or its answer is, until another one has been granted")
        self.way = way

    def aim(self, chaos, random):
        victim = chaos.choose(random, chaos.holding())
        return victim and Target(victim.path, [victim], victim)

    def strike(self, chaos, target):
        victim, page = target.what, LogFile(target.what.log)
        page.read()
        end = time.monotonic() + self.AIM_S
        # It has read, and will write within its longest use.
        while not any(event.what == "guarded" and event["do"] == "read" and event["status"] == "PDK_OK" for event in page.read()):
            if time.monotonic() > end:
                raise Missed("it does not read")
            time.sleep(0.001)
        victim.site.wire(*self.way.split())
        if self.way == self.LOST:
            chaos.pause(self.WRITES_S)
        stats = ephemerals(chaos.admin, victim.path)
        nodes = sorted(stats, key=lambda node: node[-10:])
        if not nodes or not take(chaos, nodes[0], stats[nodes[0]]):
            raise Missed("it holds no more")

    def last(self, chaos, target, seconds):
        since, end = chaos.present.granted_ns(target.words), time.monotonic() + self.NEXT_S
        while chaos.present.granted_ns(target.words) == since and time.monotonic() < end:
            chaos.present.poll()
            chaos.pause(0.02)
        chaos.pause(seconds)

    def undo(self, chaos, target):
        target.what.site.heal()


@dataclass
class Row:
    words: str
    cast: tuple  # (recipe, role, names of the slots, options of the player, threads, hand-overs)
    faults: tuple
    session_ms: int
    seconds: tuple  # at least so long; with --quick
    needs: dict  # by what has to happen: how often; with --quick
    late_ms: int = 0  # as judge_wake has it
    hold_us: int = 200_000
    think_us: int = 300_000
    clocks: bool = False  # the wall clocks of the sites are up to an hour ahead or behind
    local: list = field(default_factory=list)  # faults of this row alone

    def slots(self, name, curator=False):
        """One slot for each site. With Curator, the last that take turns or keep are Curator's."""
        found = []
        for recipe, role, names, more, threads, handovers in self.cast:
            for title in names:
                found.append(Slot(OURS, recipe, role, len(found), len(found) + 1, f"/chaos/{name}/{recipe}", title, threads, handovers,
                                  ("--hold-us", self.hold_us, "--think-us", self.think_us, *more), role == "misask"))
        if curator:
            those = [slot for slot in found if slot.role in ("turns", "keep")][-CURATORS[name]:]
            more = ("--hold-us", self.hold_us, "--think-us", self.think_us, "--downgrade", 40)
            found = [Slot("curator", slot.recipe, slot.role, slot.rank, slot.site, slot.place, f"curator{slot.site}", 2, None, more)
                     if slot in those else slot for slot in found]
        return found


def named(word, count):
    return [f"{word}{number}" for number in range(1, count + 1)]


ROWS = {
    "election": Row(
        "candidates are killed, paused and cut off, and resign; observers and candidates hear of each new leader",
        (("election", "keep", named("c", 5), ("--listen", "--keep-ms", 3000), 1, None),
         ("election", "observe", named("observer", 2), (), 1, None)),
        ("client-killed", "client-paused", "client-cut"), 4000, (120, 20),
        {"deaths": (8, 1), "overslept": (5, 1), "cut-off": (5, 1), "releases": (15, 2), "heard": (100, 20)}, late_ms=3000, think_us=100_000),
    "rwlock": Row(
        "threads of several processes read and write one resource; some write, and then read on; nobody is harmed",
        (("rwlock", "turns", ["reader"], ("--write", 0), 3, 3), ("rwlock", "turns", ["writer"], ("--write", 100, "--downgrade", 40), 3, 3),
         ("rwlock", "turns", ["peeker"], ("--peek", "--write", 25, "--downgrade", 40), 4, 3),
         ("rwlock", "turns", named("p", 5), ("--write", 25, "--downgrade", 40), 3, 3)),
        (), 20000, (60, 12),
        {"turns": (20, 10), "readers-together": (100, 20), "downgraded": (20, 3), "handovers": (20, 2), "readers-behind": (100, 20), "writers-ahead": (100, 10),
         "torn": (5, 1)}, late_ms=10000, hold_us=4000, think_us=2000),
    "semaphore": Row(
        "processes take one permit or several, and are killed and paused, also with permits in hand; one asks with another number",
        (("semaphore", "turns", named("one", 3), ("--most", 1), 1, None), ("semaphore", "turns", ["two"], ("--most", 2), 1, None),
         ("semaphore", "turns", named("all", 2), ("--most", 3), 1, None),
         ("semaphore", "turns", ["threads1"], ("--most", 1), 3, 3), ("semaphore", "turns", ["threads2"], ("--most", 2), 3, 3),
         ("semaphore", "turns", ["threads3"], ("--most", 3), 2, 3), ("semaphore", "turns", ["threads4"], ("--most", 1), 2, 3),
         ("semaphore", "turns", ["eager1"], ("--most", 1), 2, 0), ("semaphore", "turns", ["eager2"], ("--most", 2), 2, 0),
         ("semaphore", "misask", ["another"], (), 1, None)),
        ("client-killed", "client-paused"), 4000, (60, 12),
        {"turns": (3, 1), "full": (100, 20), "several": (20, 5), "in-a-row": (20, 3), "in-order": (50, 10), "refused": (5, 1), "deaths": (3, 1),
         "in-peace": (100, 20)}, late_ms=3000, hold_us=30_000, think_us=10_000,
        local=[HolderKilled("holder-killed", [], "a player is killed when it has been granted something, and replaced", NOW)]),
    "sets": Row(
        "processes acquire random sets of rights, named in any order",
        (("all", "turns", named("p", 8), (), 1, None),), (), 10000, (60, 8),
        {"turns": (20, 5), "sets": (1000, 100), "tries": (50, 5)}, hold_us=3000, think_us=2000),
    "jobs": Row(
        "processes with clocks two hours apart ask for a job, and hold a lease lock, and are killed and stopped",
        (("job", "turns", named("asker", 5), (), 1, None), ("lease", "keep", named("holder", 3), ("--keep-ms", 4000), 1, None)),
        ("client-killed", "client-paused"), 2000, (180, 12),
        {"runs": (30, 3), "deaths": (10, 1), "taken-back": (3, 1), "waited-out": (3, 0)}, clocks=True),
    "guarded": Row(
        "holders write late to a guarded znode: their writes are held up on the way, and they are deposed meanwhile",
        (("lock", "keep", named("p", 4), ("--keep-ms", 8000), 1, None),), ("client-cut",), 4000, (120, 8),
        {"late-writes": (20, 3), "cut-off": (3, 1)},
        local=[LateWriter("late-write", LateWriter.HELD_UP), LateWriter("late-answer", LateWriter.LOST)]),
}
