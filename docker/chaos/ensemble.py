"""The ensemble in Docker from Python: its front door, what its servers say, and the sites in which the players run."""
import logging
import os
import re
import socket
import subprocess
import sys

from kazoo.client import KazooClient
from play.processes import ROOT, Broken

NODES = (1, 2, 3)
CLIENT_PORT = 2181
LABEL = "paddock.ensemble"
ORDER_S, WORD_S, RETRY_S = 120, 0.5, 60
FREEZE_TRIES = 10
NO_ENGINE = 3
AS_USER = ("--user", f"{os.getuid()}:{os.getgid()}")


class NoEngine(Exception):
    """There is no Docker engine. The reason is on standard error."""


def in_words(error):
    """The error's text, or its class if it has no text."""
    return str(error) or type(error).__name__


def obeyed(argv, seconds=None, **streams):
    """The status and output of a command. Waits for its end also when interrupted: else it could make a container after
    all of them were removed."""
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
    """What the command printed. Broken, with its own words, when it failed."""
    words = " ".join(map(str, argv))
    try:
        status, output, complaint = obeyed(argv, seconds, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except subprocess.TimeoutExpired:
        raise Broken(f"{words}: no end after {seconds} s") from None
    if check and status:
        raise Broken(f"{words}: {(complaint or output).strip()[-600:]}")
    return output.strip()


def administrator(hosts):
    """The driver's own ZooKeeper client."""
    logging.getLogger("kazoo").setLevel(logging.CRITICAL)
    admin = KazooClient(hosts=hosts, timeout=10, connection_retry={"max_tries": -1, "max_delay": 0.5},
                        command_retry={"max_tries": -1, "max_delay": 0.5, "deadline": RETRY_S})
    admin.start(timeout=30)
    return admin


class Ensemble:
    """An ensemble under a name of its own: one that was made for another purpose stays as it is."""

    def __init__(self, ticks):
        self.ticks, self.name = ticks, os.environ.setdefault("PDK_ENSEMBLE", "paddock-chaos")
        self.addresses = {}

    def order(self, verb, *more):
        return command(ROOT / "docker/ensemble", verb, *more)

    def up(self):
        # It shows the command's own words: the first time it builds images, which takes minutes.
        self.told("up", "--ticks", self.ticks)
        os.environ["DOCKER_HOST"] = command(ROOT / "docker/engine", "find")  # the engine that `up` has found or started
        lines = [line.split() for line in self.order("addresses").splitlines()]
        self.addresses = {int(node): address for node, address in lines}

    def down(self):
        self.told("down")

    def keep_words(self, folder):
        """Saves the servers' output beside the logs: else it is gone with their containers."""
        for node in NODES:
            with open(folder / f"server{node}.txt", "w") as file:
                obeyed(["docker", "logs", f"{self.name}-server{node}"], stdout=file, stderr=file)

    def told(self, *words):
        """Runs docker/ensemble and shows its words."""
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
        """leader or follower; None when the server does not serve."""
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
    """A container on the ensemble's network, with an address and packet rules of its own. Players run in it."""

    # Returns when every thread is stopped, which may be a while after the signal.
    STOP = ('kill -STOP "$1" && while grep -hs ^State: /proc/"$1"/task/*/status | grep -qv "[TtZX] ("; do :; done')

    def __init__(self, ensemble, number, mounts):
        self.number, self.name = number, f"{ensemble.name}-site{number}"
        self.frozen = self.harmed = False
        volumes = [word for source, mode in mounts for word in ("--volume", f"{source}:{source}:{mode}")]
        command("docker", "run", "--detach", "--init", "--name", self.name, "--hostname", f"site{number}",
                "--label", f"{LABEL}={ensemble.name}", "--network", f"{ensemble.name}_default",
                "--cap-add", "NET_ADMIN", *volumes, "paddock/player", "sleep", "infinity")

    def run(self, *argv, check=True):
        """Runs as the user of the driver: so the files belong to that user, and the processes can be seen and stopped."""
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
        """Tries several times: an old runc now and then gives up on busy processes, and leaves them running."""
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
        """Process id → the address of the server that it is connected to. Empty when the site is frozen."""
        if self.frozen:
            return {}
        lines = self.run("ss", "-Htnp", "state", "established", "dport", "=", f":{CLIENT_PORT}", check=False)
        found = re.findall(rf" ([\d.]+):{CLIENT_PORT}\s.*?pid=(\d+)", lines)
        return {int(pid): address for address, pid in found}
