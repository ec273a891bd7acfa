"""The sides of a row: processes that play in turns, a slice each."""
import contextlib
import os
import statistics
import time
from pathlib import Path
from typing import NamedTuple

from play.processes import Broken, Process, die_with_parent

HERE = Path(__file__).resolve().parent
TIMEOUT_MS = 30_000
PATIENCE_S, END_S, LOOK_S = 30, 10, 0.2
JVM = ("-Xmx1g",)  # with all its compilers: the process is meant to be a long one


class Slice(NamedTuple):
    grants: int
    ns: int  # from the first grant to the last
    step_ns: int  # the median from one grant to the next

    def value(self, unit):
        """In the unit of the row."""
        return {"µs": self.step_ns / 1e3, "ms": self.step_ns / 1e6, "/s": self.grants / self.ns * 1e9}[unit]

    def speed(self, unit):
        """More is better."""
        return self.value(unit) if unit == "/s" else 1 / self.value(unit)


def command_of(name, bench, before=None):
    return {"paddock": lambda: [bench.find("ours")], "before": lambda: ["env", f"LD_LIBRARY_PATH={before}", bench.find("ours")],
            "floor": lambda: [bench.find("floor")],
            "curator": lambda: bench.java(HERE / "CuratorBench.java", JVM), "kazoo": lambda: [HERE / "kazoo_bench.py"]}[name]()


class Player:
    """A process of play.h, and where it stands."""

    def __init__(self, name, bench, path, sessions, objects, threads, timeout_ms=TIMEOUT_MS, before=None, linger_ms=0):
        self.name, self.path = name, path
        argv = [*command_of(name, bench, before), bench.hosts, path, timeout_ms, sessions, objects, threads,
                *([linger_ms] if linger_ms and name == "paddock" else [])]
        self.process = Process(name, argv, bench.work / f"{path.strip('/').replace('/', '.')}.err", die_with_parent)
        self.pid = self.process.child.pid

    def ready(self, admin, places, seconds):
        """Waits until the first holder is at the gate, and so many nodes are in the queue."""
        end = time.monotonic() + seconds
        self.process.expect("ready", seconds)
        while (found := len(admin.get_children(self.path))) < places:
            if time.monotonic() > end:
                raise Broken(f"{self.name}: {found} of {places} nodes are in the queue after {seconds} s")
            time.sleep(LOOK_S)

    def slice(self, ms):
        self.process.say(f"go {ms}")
        return Slice(*map(int, self.process.expect("slice", ms / 1000 + PATIENCE_S)[-1].split()[1:]))

    def close(self):
        """Its sessions end with it, if it ends by itself."""
        self.process.end_input()
        with contextlib.suppress(Broken):
            self.process.wait(END_S)
        self.process.kill()

    def kill(self):
        self.process.kill()


class Command:
    """A program that is run again and again."""
    pid = None

    def __init__(self, name, argv):
        self.name, self.argv = name, [str(word) for word in argv]

    def ready(self, _admin, _places, _seconds):
        self.once()

    def once(self):
        begun = time.monotonic_ns()
        pid = os.posix_spawn(self.argv[0], self.argv, os.environ)
        if os.waitpid(pid, 0)[1]:
            raise Broken(f"{self.argv[0]} failed")
        return time.monotonic_ns() - begun

    def slice(self, ms):
        begun, steps = time.monotonic_ns(), []
        while not steps or time.monotonic_ns() - begun < ms * 1e6:
            steps.append(self.once())
        return Slice(len(steps), sum(steps), int(statistics.median(steps)))

    def close(self):
        pass

    kill = close


def make(name, row, bench, path, before):
    """The side of this name. None when there is none in the row."""
    if row.name != "command":
        return Player(name, bench, path, row.sessions, row.objects, row.threads, before=before, linger_ms=row.linger_ms)
    if name in ("paddock", "before"):
        return Command(name, [(before if name == "before" else bench.build) / "command/paddock", "run", "--servers", bench.hosts, path, "--", "/bin/true"])
    return Command(name, [bench.find("floor"), "--once", bench.hosts, path]) if name == "floor" else None
