"""The contenders: which processes play what at which site, and what is done to one of them."""
import threading
import time
from dataclasses import dataclass

from ensemble import AS_USER, ROOT, Broken, Site
from logbook import now
from players import Process, Stage
from wallclock import WallClock

OURS = "paddock"
SITES = 4
SIZE = 3  # processes on a path
READY_S, DONE_S, END_S = 60, 30, 5
KILLED = 128 + 9  # docker exec's own status, of a process that ended by SIGKILL
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
        self.stopped = self.resuming = False  # as was noted

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
        self.players, self.numbers = {}, {}
        self.resources = self.work / "resources"
        self.resources.mkdir()
        self.lock = threading.Lock()
        self.driver_log = open(self.work / "driver.log", "w", buffering=1)
        mounts = [(ROOT, "ro"), (self.work, "rw")] + ([] if self.build.is_relative_to(ROOT) else [(self.build, "ro")])
        self.sites = {number: Site(ensemble, number, mounts) for number in range(1, SITES + 1)}
        library = self.find("docker/chaos/wallclock.so")
        self.clocks = {number: WallClock(self.work / f"site{number}.clock", library) for number in self.sites}

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
        argv = self.clocks[slot.site].under(
            *self.program(slot), "--hosts", self.ensemble.host(slot.node) if pinned else self.hosts,
            "--path", slot.path, "--identity", name, "--log", log, "--session", self.options.session_ms,
            "--recipe", slot.recipe, "--role", slot.role, "--resource", self.resources,
            "--threads", THREADS[slot.role], "--hold-us", HOLD_US, "--think-us", THINK_US)
        player = Player(name, slot, self.sites[slot.site], argv, self.work / f"{name}.err", log)
        try:
            player.met()
        except Broken:
            Process.kill(player)  # its input ends, and so does it: it was never told to go
            raise
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
        """Whether that was its end; else it had just ended by itself, which is looked after."""
        self.note("killing", who=player.name)
        player.doomed = True
        try:
            player.site.run("kill", "-KILL", player.pid, check=False)
            player.doomed = player.wait(DONE_S) == KILLED
        except Broken:
            player.doomed = False
            raise
        if player.doomed:
            self.note("killed", who=player.name)
            self.leave(player)
        return player.doomed

    def replace(self, player):
        return self.start(player.slot)

    def leave(self, player):
        self.present.leave(player)
        del self.players[player.slot]
        Process.kill(player)  # it has ended: its pipes

    def stop(self, player):
        self.hold_up([player], lambda: player.site.stop(player.pid))

    def resume(self, player):
        """If it was stopped."""
        if player.stopped:
            self.let_go([player], lambda: player.site.signal("CONT", player.pid))

    def freeze(self, site):
        self.hold_up(self.of(site=site.number), site.freeze)

    def thaw(self, site):
        self.let_go(self.of(site=site.number), site.thaw)

    def hold_up(self, players, stop):
        for player in players:
            self.note("stopping", who=player.name)
        stop()
        for player in players:
            self.note("stopped", who=player.name)
            player.stopped = True

    def let_go(self, players, resume):
        """A try that failed may have made them run all the same, so only the first is noted."""
        stopped = [player for player in players if player.stopped]
        for player in stopped:
            if not player.resuming:
                self.note("resuming", who=player.name)
                player.resuming = True
        resume()
        for player in stopped:
            self.note("resumed", who=player.name)
            player.stopped = player.resuming = False

    def connected(self):
        """Player → the node it talks to, as far as the sites tell."""
        found = {}
        for site in self.sites.values():
            processes = site.connections()
            found.update({player: self.ensemble.node_at(processes[player.pid])
                          for player in self.of(site=site.number) if player.pid in processes})
        return found

    def look_after(self):
        """Whoever ended by itself is told of, and replaced."""
        for player in list(self.players.values()):
            if not player.alive and not player.doomed and not player.site.frozen:
                self.trouble("died", player)
                self.leave(player)
                self.replace(player)

    def trouble(self, what, player):
        """For the judges; what it says of it itself, for people."""
        status = "-" if player.alive else player.child.returncode
        self.note(what, who=player.name, status=status)
        print(f"  {player.name}: {what}, status {status}: {player.complaint()}", flush=True)

    def rest(self):
        """Nobody has or wants anything any more."""
        for player in self.players.values():
            player.tell("rest")
        end = time.monotonic() + DONE_S
        for player in list(self.players.values()):
            if heard(player, "rested", end):
                continue
            self.trouble("restless" if player.alive else "died", player)
            if not player.alive:
                self.leave(player)

    def finish(self):
        for player in self.players.values():
            player.end_input()
        end = time.monotonic() + DONE_S
        for player in self.players.values():
            if not (heard(player, "done", end) and ended(player) == 0):
                self.trouble("unfinished", player)

    def close(self):
        """The processes end with their sites."""
        for player in list(self.players.values()):
            self.leave(player)
        self.driver_log.close()


def heard(player, word, end):
    try:
        return bool(player.expect(word, max(0, end - time.monotonic())))
    except Broken:
        return False


def ended(player):
    """Its status, or None."""
    try:
        return player.wait(END_S)
    except Broken:
        return None
