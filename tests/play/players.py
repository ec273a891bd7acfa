"""The player processes: what they play at which site, and what is done to one of them."""
import time
from dataclasses import dataclass

from play.bench import Bench
from play.event_log import EventLog, now
from play.processes import ROOT, Broken, Process
from play.recipes import HOLD_US, KEEP_MS, OF_PEERS, OTHER_THINK_US, PLAYS, THINK_US, threads
from play.wallclock import WallClock

OURS = "paddock"
SITES = 4
SIZE = 3  # processes on a path
READY_S, DONE_S, END_S, LOOK_S = 60, 30, 5, 0.05
PEERS = {"curator": ROOT / "tests/interop/ChaosPlayer.java", "kazoo": ROOT / "tests/interop/chaos_kazoo.py"}
# Our holders of these also write to a guarded znode, at this place and the path.
GUARDED, GUARDED_AT = ("lock",), "/guarded"


@dataclass(frozen=True)
class Slot:
    """A slot for one process at a time. A process that was killed is replaced by another."""
    client: str
    recipe: str
    role: str
    rank: int  # among the slots of the path
    site: int
    place: str = None  # the path, if it is not the usual one
    title: str = None  # the name, likewise
    threads: int = None  # likewise
    handovers: int = None  # at most so many in a row; None: as the library has it
    more: tuple = ()  # further options of the player
    late: bool = False  # it begins when somebody was granted the path

    @property
    def node(self):
        """The server that it is connected to, if it is pinned to one."""
        return self.rank + 1

    @property
    def path(self):
        return self.place or f"/chaos/{self.client}/{self.recipe}-{self.role}"

    @property
    def guarded(self):
        """Its guarded znode, or None."""
        return GUARDED_AT + self.path if self.client == OURS and self.recipe in GUARDED else None

    @property
    def name(self):
        return self.title or f"{self.client}-{self.recipe}-{self.role}-s{self.site}"


def slots(clients, recipes):
    """The processes of a path are at different sites, and those of different recipes are spread over the sites."""
    found = []
    for client in clients:
        for index, recipe in enumerate(recipes):
            for offset, role in enumerate(PLAYS[recipe] if client == OURS or recipe in OF_PEERS else ()):
                found += [Slot(client, recipe, role, rank, (index + offset + rank) % SITES + 1)
                          for rank in range(SIZE)]
    return found


class Player(Process):
    def __init__(self, name, slot, site, argv, errors, log):
        super().__init__(name, site.begin(argv), errors)
        self.slot, self.site, self.log = slot, site, log
        self.path, self.ours, self.pid = slot.path, slot.client == OURS, None
        self.doomed = False  # we ended it
        self.stopped = self.resuming = False  # as the log says

    def tell(self, order):
        """Does nothing when it has ended by itself: look_after finds that."""
        try:
            self.say(order)
        except Broken:
            pass

    def met(self):
        """Waits until it runs, and learns its process id."""
        *_, line = self.expect("pid", READY_S)
        self.pid = int(line.split()[1])


class Players(Bench):
    """servers: a play.ground.Servers, which makes the sites."""

    def __init__(self, servers, build, work, options, present, the_slots):
        super().__init__(build, work, servers.hosts)
        self.ensemble, self.options, self.present, self.slots = servers, options, present, the_slots
        self.recipes = {slot.path: slot.recipe for slot in self.slots}
        self.paths = sorted(self.recipes)
        self.by_slot, self.numbers = {}, {}
        self.resources = self.work / "resources"
        self.resources.mkdir()
        self.driver_log = EventLog(self.work / "driver.log")
        self.note = self.driver_log.note
        self.sites = servers.sites(self)
        library = self.find("docker/chaos/wallclock.so")
        self.clocks = {number: WallClock(self.work / f"site{number}.clock", library) for number in self.sites}

    def program(self, slot):
        if slot.client == OURS:
            return [self.find("paddock_player")]
        source = PEERS[slot.client]
        return self.java(source) + ["--clock", now() - time.monotonic_ns()] if source.suffix == ".java" else [source]

    def start(self, slot):
        """Starts a new process, which plays as soon as it can."""
        number = self.numbers[slot] = self.numbers.get(slot, 0) + 1
        name = f"{slot.name}.{number}"
        log = self.work / f"{name}.log"
        log.touch()
        pinned = self.options.pinned and slot.role == "keep"
        argv = self.clocks[slot.site].under(
            *self.program(slot), "--hosts", self.ensemble.host(slot.node) if pinned else self.sites[slot.site].hosts,
            "--path", slot.path, "--identity", name, "--log", log, "--session", self.options.session_ms,
            "--recipe", slot.recipe, "--role", slot.role, "--resource", self.resources,
            "--threads", slot.threads or threads(slot.recipe, slot.role), "--hold-us", HOLD_US,
            "--think-us", OTHER_THINK_US.get(slot.recipe, THINK_US),
            *(("--keep-ms", KEEP_MS[slot.recipe]) if slot.recipe in KEEP_MS else ()),
            *(("--handovers", slot.handovers) if slot.handovers is not None else ()),
            *(("--tick", self.options.tick_ms) if self.options.tell_ticks and slot.client == OURS else ()),
            *slot.more)
        player = Player(name, slot, self.sites[slot.site], argv, self.work / f"{name}.err", log)
        try:
            player.met()
        except Broken:
            Process.kill(player)  # its input ends, so it ends: it was never told to go
            raise
        self.note("started", who=name, site=player.site.name, client=slot.client, recipe=slot.recipe, role=slot.role,
                  path=slot.path, session=self.options.session_ms, pid=player.pid, threads=slot.threads or threads(slot.recipe, slot.role),
                  handovers="-" if slot.handovers is None else slot.handovers)
        player.say("go")
        self.present.enter(player)
        self.by_slot[slot] = player
        return player

    def begin(self):
        for slot in sorted(self.slots, key=lambda one: one.late):
            if slot.late:
                self.await_grant(slot.path)
            self.start(slot)
        for player in self.by_slot.values():
            player.expect("ready", READY_S)

    def await_grant(self, path):
        end = time.monotonic() + READY_S
        while not self.present.granted_ns(path):
            self.present.poll()
            if time.monotonic() > end:
                raise Broken(f"nobody is granted {path}")
            time.sleep(LOOK_S)

    def of(self, *, path=None, site=None, ours=None):
        return [player for player in list(self.by_slot.values())
                if path in (None, player.path) and site in (None, player.slot.site) and ours in (None, player.ours)]

    def named(self, name):
        return next((player for player in list(self.by_slot.values()) if player.name == name), None)

    def kill(self, player):
        """True when that was its end. Else it had just ended by itself, which look_after finds."""
        self.note("killing", who=player.name)
        player.doomed = True
        try:
            player.site.kill(player.pid)
            player.doomed = player.wait(DONE_S) == player.site.killed
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
        del self.by_slot[player.slot]
        Process.kill(player)  # it has ended; this closes its pipes

    def stop(self, player):
        self.hold_up([player], lambda: player.site.stop(player.pid))

    def resume(self, player):
        """Does nothing when it was not stopped."""
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
        """Notes only the first try: a try that failed may have made them run all the same."""
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
        """Player → the server that it is connected to, as far as the sites tell."""
        found = {}
        for site in self.sites.values():
            processes = site.connections()
            found.update({player: self.ensemble.node_at(processes[player.pid])
                          for player in self.of(site=site.number) if player.pid in processes})
        return found

    def look_after(self):
        """Notes and replaces the players that ended by themselves."""
        for player in list(self.by_slot.values()):
            if not player.alive and not player.doomed and not player.site.frozen:
                self.trouble("died", player)
                self.leave(player)
                self.replace(player)

    def trouble(self, what, player):
        """Notes it for the judges, and prints for people what the player said."""
        status = "-" if player.alive else player.child.returncode
        self.note(what, who=player.name, status=status)
        print(f"  {player.name}: {what}, status {status}: {player.complaint()}", flush=True)

    def rest(self):
        """Afterwards no player holds or claims anything."""
        for player in self.by_slot.values():
            player.tell("rest")
        end = time.monotonic() + DONE_S
        for player in list(self.by_slot.values()):
            if heard(player, "rested", end):
                continue
            self.trouble("restless" if player.alive else "died", player)
            if not player.alive:
                self.leave(player)

    def finish(self):
        for player in self.by_slot.values():
            player.end_input()
        end = time.monotonic() + DONE_S
        for player in self.by_slot.values():
            if not (heard(player, "done", end) and ended(player) == 0):
                self.trouble("unfinished", player)

    def close(self):
        """The processes end with their sites."""
        for player in list(self.by_slot.values()):
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
