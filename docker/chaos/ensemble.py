"""The ensemble in Docker: its front door from Python, what its servers say, and the sites, in which contenders run."""
import logging
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
for folder in ("tests/interop", "tests/trials"):
    sys.path.insert(0, str(ROOT / folder))

from kazoo.client import KazooClient  # noqa: E402
from players import Broken  # noqa: E402

NODES = (1, 2, 3)
CLIENT_PORT = 2181
LABEL = "paddock.ensemble"
ORDER_S, WORD_S, RETRY_S = 120, 0.5, 60
FREEZE_TRIES = 10
NO_ENGINE = 3
AS_USER = ("--user", f"{os.getuid()}:{os.getgid()}")


class NoEngine(Exception):
    """There is no Docker engine; what was said about it stands on standard error."""


def in_words(error):
    """Not all of them say anything."""
    return str(error) or type(error).__name__


def obeyed(argv, seconds=None, **streams):
    """Its status and output. What is under way is waited for, also when interrupted: a container that it makes would else
    appear after all of them were removed."""
    with subprocess.Popen([str(one) for one in argv], stdin=subprocess.DEVNULL, text=True, **streams) as child:
        try:
            said = child.communicate(timeout=seconds)
        except KeyboardInterrupt:
            child.communicate()
            raise
        except subprocess.TimeoutExpired:
            child.kill()
            raise
    return child.returncode, *said


def command(*argv, seconds=ORDER_S, check=True):
    """What it printed; a failure is told in its own words."""
    words = " ".join(map(str, argv))
    try:
        status, output, complaint = obeyed(argv, seconds, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except subprocess.TimeoutExpired:
        raise Broken(f"{words}: no end after {seconds} s") from None
    if check and status:
        raise Broken(f"{words}: {(complaint or output).strip()[-600:]}")
    return output.strip()


def administrator(hosts):
    """A ZooKeeper client of the driver's own."""
    logging.getLogger("kazoo").setLevel(logging.CRITICAL)
    admin = KazooClient(hosts=hosts, timeout=10, connection_retry={"max_tries": -1, "max_delay": 0.5},
                        command_retry={"max_tries": -1, "max_delay": 0.5, "deadline": RETRY_S})
    admin.start(timeout=30)
    return admin


class Ensemble:
    """One of its own, under a name of its own: one that somebody made for another purpose stays as it is."""

    def __init__(self, ticks):
        self.ticks, self.name = ticks, os.environ.setdefault("PDK_ENSEMBLE", "paddock-chaos")
        self.addresses = {}

    def order(self, verb, *more):
        return command(ROOT / "docker/ensemble", verb, *more)

    def up(self):
        # Its own words: the first time, images are built, which takes minutes.
        self.told("up", "--ticks", self.ticks)
        os.environ["DOCKER_HOST"] = command(ROOT / "docker/engine", "find")  # of the engine that this has found or started
        lines = [line.split() for line in self.order("addresses").splitlines()]
        self.addresses = {int(node): address for node, address in lines}

    def down(self):
        self.told("down")

    def keep_words(self, folder):
        """What the servers have said, beside the logs: it goes with their containers."""
        for node in NODES:
            with open(folder / f"server{node}.txt", "w") as file:
                obeyed(["docker", "logs", f"{self.name}-server{node}"], stdout=file, stderr=file)

    def told(self, *words):
        """docker/ensemble, whose own words are shown."""
        status, *_ = obeyed([ROOT / "docker/ensemble", *words], stdout=sys.stderr)
        if status == NO_ENGINE:
            raise NoEngine
        if status:
            raise Broken(f"docker/ensemble {words[0]} ended with {status}")

    @property
    def hosts(self):
        return ",".join(f"{address}:{CLIENT_PORT}" for address in self.addresses.values())

    def host(self, node):
        return f"{self.addresses[node]}:{CLIENT_PORT}"

    def node_at(self, address):
        return next((node for node, its in self.addresses.items() if its == address), None)

    def mode(self, node):
        """leader, follower, or None from a server that does not serve."""
        try:
            with socket.create_connection((self.addresses[node], CLIENT_PORT), WORD_S) as link:
                link.settimeout(WORD_S)
                link.sendall(b"srvr")
                said = b""
                while more := link.recv(4096):
                    said += more
        except OSError:
            return None
        found = re.search(rb"^Mode: (\w+)", said, re.M)
        return found and found.group(1).decode()

    def leader(self):
        return next((node for node in NODES if self.mode(node) == "leader"), None)

    def whole(self):
        return sorted(str(self.mode(node)) for node in NODES) == ["follower", "follower", "leader"]


class Site:
    """A container on the ensemble's network, with an address and rules of its own for whatever runs in it."""

    # Returns once every thread is really stopped, which may be a while after the signal.
    STOP = ('kill -STOP "$1" && while grep -hs ^State: /proc/"$1"/task/*/status | grep -qv "[TtZX] ("; do :; done')

    def __init__(self, ensemble, number, mounts):
        self.number, self.name = number, f"{ensemble.name}-site{number}"
        self.frozen = self.harmed = False
        volumes = [word for source, mode in mounts for word in ("--volume", f"{source}:{source}:{mode}")]
        command("docker", "run", "--detach", "--init", "--name", self.name, "--hostname", f"site{number}",
                "--label", f"{LABEL}={ensemble.name}", "--network", f"{ensemble.name}_default",
                "--cap-add", "NET_ADMIN", *volumes, "paddock/contender", "sleep", "infinity")

    def run(self, *argv, check=True):
        """As whoever runs this, so that files belong to them, and their processes can be seen and stopped."""
        return command("docker", "exec", *AS_USER, self.name, *argv, check=check)

    def wire(self, *words):
        self.harmed = words != ("heal",)
        command("docker", "exec", self.name, "wire", *words)

    def stop(self, pid):
        try:
            self.run("timeout", "10", "sh", "-c", self.STOP, "sh", pid)
        except Broken:
            self.run("kill", "-CONT", pid, check=False)
            raise

    def signal(self, name, pid):
        self.run("kill", f"-{name}", pid)

    def freeze(self):
        """An old runc, now and then, gives up on processes that are busy, and leaves them running."""
        for left in reversed(range(FREEZE_TRIES)):
            try:
                command("docker", "pause", self.name)
                break
            except Broken:
                if not left:
                    raise
        self.frozen = True

    def thaw(self):
        if self.frozen:
            command("docker", "unpause", self.name)
        self.frozen = False

    def heal(self):
        self.thaw()
        if self.harmed:
            self.wire("heal")

    def connections(self):
        """The address of the server that each process here talks to; nothing of a site that cannot be asked."""
        if self.frozen:
            return {}
        lines = self.run("ss", "-Htnp", "state", "established", "dport", "=", f":{CLIENT_PORT}", check=False)
        found = re.findall(rf" ([\d.]+):{CLIENT_PORT}\s.*?pid=(\d+)", lines)
        return {int(pid): address for address, pid in found}
