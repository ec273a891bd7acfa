"""A run on this machine: three servers, and for each site a link of its own to all of them, which can be cut."""
import contextlib
import os
import signal
import subprocess
import threading
from collections import Counter
from dataclasses import dataclass, field
from types import SimpleNamespace

from judges import judge_needs
from judges.judge_record import Record
from play import ground
from play.bench import Bench
from play.faults import Chaos
from play.ground import administrator
from play.logbook import Logbook
from play.players import OURS, Players
from play.present import Present
from play.processes import Broken, build_directory
from play.records import Records
from play.run import end, settings, take_down
from play.schedule import Schedule

ORDER_S = 20
MOST, MOST_S = 10, 60  # times its time, and so many seconds more, until enough has to have happened
HOUR_S = 3600
# The words to a site's wire, and the orders to tests/programs/zk.
WIRED = {"cut clients": ["cut"], "reset clients": ["reset"], "kill clients": ["reset", "heal"], "lose answers": ["lose"], "heal": ["heal"]}


class Servers(ground.Servers):
    def __init__(self, build, work, tick_ms, sites):
        self.bench, self.names = Bench(build, work), [f"site{number}" for number in range(1, sites + 1)]
        links = [word for name in self.names for word in ("--link", name)]
        said = self.bench.raise_server("--nodes", "3", "--tick", str(tick_ms), *links)
        self.links = {name: hosts for _, name, hosts in map(str.split, said)}
        self.lock = threading.Lock()

    def host(self, node):
        return self.bench.hosts.split(",")[node - 1]

    def sites(self, _players):
        return {number: Site(self, number, name) for number, name in enumerate(self.names, 1)}

    def order(self, verb, *more):
        """Nothing is done to these servers. Their links are healed by the sites."""
        if verb != "heal":
            raise Broken(f"{verb}: these servers do no such thing")

    def link(self, verb, name):
        with self.lock:
            self.bench.server.say(f"{verb} {name}")
            self.bench.server.expect("ok", ORDER_S)

    def close(self):
        self.bench.close()


class Site(ground.Site):
    """A link and a wall clock, for the processes of one slot."""

    def __init__(self, servers, number, name):
        super().__init__(number, name, servers.links[name])
        self.servers = servers

    def run(self, *argv, check=True):
        done = subprocess.run([str(one) for one in argv], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if check and done.returncode:
            raise Broken(f"{' '.join(map(str, argv))}: {done.stderr.strip()[-600:]}")
        return done.stdout.strip()

    def kill(self, pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def wire(self, *words):
        self.harmed = words != ("heal",)
        for verb in WIRED[" ".join(words)]:
            self.servers.link(verb, self.name)

    def thaw(self):
        pass  # nothing freezes it


@dataclass
class Play:
    """A run on such servers: the players, the faults, and the end."""
    slots: list
    session_ms: int
    tick_ms: int
    seed: int
    seconds: int  # at least
    needs: dict  # what has to happen, and how often: then it is over
    faults: dict = field(default_factory=dict)
    hold_us: int = 200_000
    late_ms: int = 0  # as judge_wake has it
    clocks: bool = False  # the wall clocks of the sites are up to an hour ahead or behind

    def options(self):
        """As docker/chaos has them. Where peers are among our players, they are only killed."""
        clients = list(dict.fromkeys(slot.client for slot in self.slots))
        return SimpleNamespace(
            session_ms=self.session_ms, tick_ms=self.tick_ms, seed=self.seed, faults=self.faults, fault=list(self.faults),
            recipes=list(dict.fromkeys(slot.recipe for slot in self.slots)), clients=clients, mixed=clients != [OURS],
            minutes=self.seconds / 60, times=0, pinned=False, tell_ticks=False, sync_s=0, aim_s=self.session_ms / 1000 + 2)


def set_clocks(players):
    """From an hour behind to an hour ahead."""
    last = len(players.clocks) - 1
    for index, number in enumerate(sorted(players.clocks)):
        players.clocks[number].set(HOUR_S * (2 * index - last) // max(1, last))


def carry_out(servers, play, work):
    """Makes the players, plays, and ends them. Faults that no log tells."""
    options, steps = play.options(), []
    try:
        players = Players(servers, build_directory(), work, options, Present(), play.slots)
        steps.append(players.close)
        if play.clocks:
            set_clocks(players)
        plays = dict.fromkeys(f"{slot.recipe}-{slot.role}" for slot in play.slots)
        players.note("settings", **settings(options, plays, play.hold_us, late_ms=play.late_ms,
                                            needs=",".join(f"{what}:{count}" for what, count in play.needs.items())))
        admin = administrator(servers.hosts)
        steps += [admin.close, admin.stop]
        records = Records(admin, players)
        steps.append(records.stop)
        chaos = Chaos(servers, players, players.present, admin, options, threading.Event(), records)
        records.start()
        players.begin()
        Schedule(chaos, list(play.faults.values())).run(play.seconds, lambda: not judge_needs.judge(Record(Logbook.read(work))),
                                                        MOST * play.seconds + MOST_S)
        end(chaos)
        for words, count in Counter(chaos.missed).items():
            print(f"  not done, {count} times: {words}")
    except BaseException:
        take_down(steps)
        raise
    return take_down(steps)
