"""The ground of a trial: three servers of this machine, and for each site a link of its own to all of them, which can be cut."""
import contextlib
import os
import signal
import subprocess
import threading

from play import ground
from play.bench import Bench
from play.processes import Broken

ORDER_S = 20
# What a site's wire is told, and the orders to tests/programs/zk.
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
