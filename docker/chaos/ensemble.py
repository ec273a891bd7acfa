"""The ensemble in Docker from Python: its front door, and the sites in which the players run."""
import os
import re
import subprocess
import sys

from play import ground
from play.ground import NODES
from play.processes import ROOT, Broken

CLIENT_PORT = 2181
LABEL = "paddock.ensemble"
ORDER_S = 120
FREEZE_TRIES = 10
NO_ENGINE = 3
SITES = 4
AS_USER = ("--user", f"{os.getuid()}:{os.getgid()}")


class NoEngine(Exception):
    """There is no Docker engine. The reason is on standard error."""


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


class Ensemble(ground.Servers):
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

    def host(self, node):
        return f"{self.addresses[node]}:{CLIENT_PORT}"

    def node_at(self, address):
        return next((node for node, its in self.addresses.items() if its == address), None)

    def sites(self, players):
        """By number. They see the sources, the build, and the folder of the run."""
        mounts = [(ROOT, "ro"), (players.work, "rw")] + ([] if players.build.is_relative_to(ROOT) else [(players.build, "ro")])
        return {number: Site(self, number, mounts) for number in range(1, SITES + 1)}


class Site(ground.Site):
    """A container on the ensemble's network, with an address and packet rules of its own. Players run in it."""

    killed = 128 + 9  # docker exec's own status

    def __init__(self, ensemble, number, mounts):
        super().__init__(number, f"{ensemble.name}-site{number}", ensemble.hosts)
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

    def begin(self, argv):
        return ["docker", "exec", "-i", *AS_USER, self.name, *super().begin(argv)]

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

    def connections(self):
        """Process id → the address of the server that it is connected to. Empty when the site is frozen."""
        if self.frozen:
            return {}
        lines = self.run("ss", "-Htnp", "state", "established", "dport", "=", f":{CLIENT_PORT}", check=False)
        found = re.findall(rf" ([\d.]+):{CLIENT_PORT}\s.*?pid=(\d+)", lines)
        return {int(pid): address for address, pid in found}
