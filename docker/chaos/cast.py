"""The contenders: which processes play what at which site, and what is done to one of them."""
import threading
import time
from dataclasses import dataclass

from ensemble import AS_USER, ROOT, Broken, Site
from logbook import now
from players import Process, Stage

OURS = "paddock"
SITES = 4
SIZE = 3  # processes on a path
READY_S, DONE_S = 60, 30
PEERS = {"curator": ROOT / "tests/interop/ChaosPlayer.java", "kazoo": ROOT / "tests/interop/chaos_kazoo.py"}
THREADS = {"turns": 2, "keep": 1}
# How long a turn and the pause after it take at the most: long enough for a fault to strike within.
HOLD_US, THINK_US = 200_000, 300_000
# The process that speaks says first which one it is, in the site.
SAYS_PID = 'echo "pid $$"; exec "$@"'


@dataclass(frozen=True)
class Slot:
    """Where one process at a time plays; one that was killed is replaced by another."""
    client: str
    recipe: str
    role: str
    rank: int  # among those on the path
    site: int

    @property
    def node(self):
        """The one server that it is at, if it is pinned to one."""
        return self.rank + 1

    @property
    def path(self):
        return f"/chaos/{self.client}/{self.recipe}-{self.role}"

    @property
    def name(self):
        return f"{self.client}-{self.recipe}-{self.role}-s{self.site}"


def slots(clients, recipes):
    """Each path's processes at different sites, and those of different recipes at different ones."""
    found = []
    for client in clients:
        for index, recipe in enumerate(recipes):
            for offset, role in enumerate(("turns", "keep")):
                found += [Slot(client, recipe, role, rank, (index + offset + rank) % SITES + 1)
                          for rank in range(SIZE)]
    return found


class Player(Process):
    def __init__(self, name, slot, site, argv, errors, log):
        super().__init__(name, ["docker", "exec", "-i", *AS_USER, site.name, "sh", "-c", SAYS_PID, "sh", *argv], errors)
        self.slot, self.site, self.log = slot, site, log
        self.path, self.ours, self.pid = slot.path, slot.client == OURS, None
        self.doomed = False  # it ends because we want it to

    @property
    def alive(self):
        return self.child.poll() is None

    def tell(self, order):
        """Whoever has ended by itself is looked after elsewhere."""
        try:
            self.say(order)
        except Broken:
            pass

    def met(self):
        """It runs: which process it is."""
        *_, line = self.expect("pid", READY_S)
        self.pid = int(line.split()[1])


class Cast(Stage):
    def __init__(self, ensemble, build, work, options, present):
        super().__init__(build, work, ensemble.hosts)
        self.ensemble, self.options, self.present = ensemble, options, present
        self.slots = slots(options.clients, options.recipes)
        self.paths = sorted({slot.path for slot in self.slots})
        self.players, self.numbers, self.died = {}, {}, []
        self.resources = self.work / "resources"
        self.resources.mkdir()
        self.lock = threading.Lock()
        self.driver_log = open(self.work / "driver.log", "w", buffering=1)
        mounts = [(ROOT, "ro"), (self.work, "rw")] + ([] if self.build.is_relative_to(ROOT) else [(self.build, "ro")])
        self.sites = {number: Site(ensemble, number, mounts) for number in range(1, SITES + 1)}

    def note(self, what, **fields):
        """Into the driver's log, in order; when that was."""
        with self.lock:
            ns = now()
            words = [f"{key}={value}" for key, value in fields.items()]
            self.driver_log.write(" ".join([str(ns), what, *words]) + "\n")
        return ns

    def program(self, slot):
        if slot.client == OURS:
            return [self.find("docker/chaos/contender")]
        source = PEERS[slot.client]
        return self.java(source) + ["--clock", now() - time.monotonic_ns()] if source.suffix == ".java" else [source]

    def start(self, slot):
        """A new process, which plays as soon as it can."""
        number = self.numbers[slot] = self.numbers.get(slot, 0) + 1
        name = f"{slot.name}.{number}"
        log = self.work / f"{name}.log"
        log.touch()
        pinned = self.options.pinned and slot.role == "keep"
        argv = [*self.program(slot), "--hosts", self.ensemble.host(slot.node) if pinned else self.hosts,
                "--path", slot.path, "--identity", name, "--log", log, "--session", self.options.session_ms,
                "--recipe", slot.recipe, "--role", slot.role, "--resource", self.resources,
                "--threads", THREADS[slot.role], "--hold-us", HOLD_US, "--think-us", THINK_US]
        player = Player(name, slot, self.sites[slot.site], argv, self.work / f"{name}.err", log)
        player.met()
        self.note("started", who=name, site=player.site.name, client=slot.client, recipe=slot.recipe, role=slot.role,
                  path=slot.path, session=self.options.session_ms, pid=player.pid)
        player.say("go")
        self.present.enter(player)
        self.players[slot] = player
        return player

    def begin(self):
        for slot in self.slots:
            self.start(slot)
        for player in self.players.values():
            player.expect("ready", READY_S)

    def of(self, *, path=None, site=None, ours=None):
        return [player for player in list(self.players.values())
                if path in (None, player.path) and site in (None, player.slot.site) and ours in (None, player.ours)]

    def named(self, name):
        return next((player for player in list(self.players.values()) if player.name == name), None)

    def kill(self, player):
        player.doomed = True
        self.note("killing", who=player.name)
        player.site.signal("KILL", player.pid)
        player.wait(DONE_S)
        self.note("killed", who=player.name)
        self.leave(player)

    def replace(self, player):
        return self.start(player.slot)

    def leave(self, player):
        self.present.leave(player)
        del self.players[player.slot]
        Process.kill(player)  # it has ended: its pipes

    def stop(self, player):
        self.note("stopping", who=player.name)
        player.site.stop(player.pid)
        self.note("stopped", who=player.name)

    def resume(self, player):
        self.note("resuming", who=player.name)
        player.site.signal("CONT", player.pid)
        self.note("resumed", who=player.name)

    def freeze(self, site):
        players = self.of(site=site.number)
        for player in players:
            self.note("stopping", who=player.name)
        site.freeze()
        for player in players:
            self.note("stopped", who=player.name)

    def thaw(self, site):
        players = self.of(site=site.number)
        for player in players:
            self.note("resuming", who=player.name)
        site.thaw()
        for player in players:
            self.note("resumed", who=player.name)

    def connected(self):
        """Player → the node it talks to, as far as the sites tell."""
        found = {}
        for site in self.sites.values():
            processes = site.connections()
            found.update({player: self.ensemble.node_at(processes[player.pid])
                          for player in self.of(site=site.number) if player.pid in processes})
        return found

    def look_after(self):
        """Whoever ended by itself is remembered, and replaced."""
        for player in list(self.players.values()):
            if not player.alive and not player.doomed and not player.site.frozen:
                self.note("died", who=player.name, status=player.child.returncode)
                self.died.append((player, f"{player.name} ended by itself, status {player.child.returncode}: "
                                          f"{player.complaint()}"))
                self.leave(player)
                self.replace(player)

    def rest(self):
        """Nobody has or wants anything any more. Who does not come to rest is in trouble, and told."""
        for player in self.players.values():
            player.tell("rest")
        return [player.name for player in self.players.values() if not heard(player, "rested")]

    def finish(self):
        for player in self.players.values():
            player.end_input()
        return [player.name for player in self.players.values() if not heard(player, "done") or player.wait(DONE_S)]

    def close(self):
        """The processes end with their sites."""
        for player in list(self.players.values()):
            self.leave(player)
        self.driver_log.close()


def heard(player, word):
    try:
        return bool(player.expect(word, DONE_S))
    except Broken:
        return False
