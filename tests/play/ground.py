"""The ground that a run is played on: servers, and sites in which players run. docker/chaos has containers, tests/trials the processes
of this machine."""
import logging
import re
import socket

from kazoo.client import KazooClient

from play.processes import Broken

NODES = (1, 2, 3)
WORD_S, RETRY_S = 0.5, 60
# First a player prints its id within the site.
SAYS_PID = 'echo "pid $$"; exec "$@"'


def in_words(error):
    """The error's text, or its class if it has no text."""
    return str(error) or type(error).__name__


def administrator(hosts):
    """The driver's own ZooKeeper client."""
    logging.getLogger("kazoo").setLevel(logging.CRITICAL)
    admin = KazooClient(hosts=hosts, timeout=10, connection_retry={"max_tries": -1, "max_delay": 0.5},
                        command_retry={"max_tries": -1, "max_delay": 0.5, "deadline": RETRY_S})
    admin.start(timeout=30)
    return admin


class Servers:
    """Three servers. order() does something to them; `heal` undoes all of it."""

    def host(self, node):
        raise NotImplementedError

    def order(self, verb, *more):
        raise NotImplementedError

    @property
    def hosts(self):
        return ",".join(map(self.host, NODES))

    def mode(self, node):
        """leader or follower; None when the server does not serve."""
        address, _, port = self.host(node).rpartition(":")
        try:
            with socket.create_connection((address, int(port)), WORD_S) as link:
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
    """Where players run, with a network of their own. run() executes a command there, wire() does something to the network."""
    killed = -9  # the status of a process that ended by SIGKILL
    # Returns when every thread is stopped, which may be a while after the signal.
    STOP = ('kill -STOP "$1" && while grep -hs ^State: /proc/"$1"/task/*/status | grep -qv "[TtZX] ("; do :; done')

    def __init__(self, number, name, hosts):
        self.number, self.name, self.hosts = number, name, hosts
        self.frozen = self.harmed = False

    def run(self, *argv, check=True):
        raise NotImplementedError

    def wire(self, *words):
        raise NotImplementedError

    def begin(self, argv):
        """The command that runs this one at the site, and first prints its process id."""
        return ["sh", "-c", SAYS_PID, "sh", *argv]

    def stop(self, pid):
        try:
            self.run("timeout", "10", "sh", "-c", self.STOP, "sh", pid)
        except Broken:
            self.run("kill", "-CONT", pid, check=False)
            raise

    def kill(self, pid):
        self.run("kill", "-KILL", pid, check=False)

    def signal(self, name, pid):
        self.run("kill", f"-{name}", pid)

    def heal(self):
        self.thaw()
        if self.harmed:
            self.wire("heal")
        self.harmed = False
