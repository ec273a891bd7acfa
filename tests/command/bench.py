"""What the tests of the command share: a server with links that can be cut, processes, and what they leave in ZooKeeper."""
import contextlib
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest

from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

BUILD = pathlib.Path(os.environ["PDK_BUILD"])
PADDOCK = str(BUILD / "command/paddock")
WITHOUT_HTTP = "PDK_HTTP:BOOL=OFF" in (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
SLACK = float(os.environ.get("CK_TIMEOUT_MULTIPLIER", "1"))
PATIENCE = 20 * SLACK
# Begins a command of another user. Needs root.
NOBODY = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]


def wait_for(what, condition, seconds=PATIENCE):
    """Looks again and again. What the condition answers, when that is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError(f"not within {seconds:g} s: {what}")


def state(pid):
    """The letter of ps(1); X when there is no such process."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "X"


def alive(pid):
    """A zombie is dead."""
    return state(pid) not in "ZX"


def children(pid):
    """Of all threads of a process: servers are those of another one than main. A thread may end meanwhile."""
    words = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            words += (task / "children").read_text(encoding="ascii").split()
    return [int(word) for word in words]


class Server:
    def __init__(self, *options):
        self.process = subprocess.Popen([BUILD / "tests/programs/zk", "--tick", "200", "--link", "victim", *options],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        words = [self.process.stdout.readline().split() for _ in range(2)]
        self.link = next(word[2] for word in words if word[0] == "link")
        self.hosts = next(word[1] for word in words if word[0] == "hosts")
        self.client = KazooClient(hosts=self.hosts)
        self.client.start()

    def order(self, line):
        print(line, file=self.process.stdin, flush=True)
        assert self.process.stdout.readline() == "ok\n", line

    def stop(self):
        self.client.stop()
        self.client.close()
        self.process.stdin.close()
        assert self.process.wait() == 0
        self.process.stdout.close()


class Way:
    """A way to a server, with what it makes of the bytes that pass. `hosts` is where it begins."""

    def __init__(self, hosts, words=None):
        """words: what the server says of itself, by four-letter word, instead of its own."""
        self.target, self.words = hosts.rsplit(":", 1), words or {}
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.hosts = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        begin = client.recv(4, socket.MSG_PEEK).decode(errors="replace")
        with client, socket.create_connection(self.target) as server:
            if begin in self.words:
                client.recv(4)
                client.sendall(self.words[begin].encode())
                return
            pieces = self.pieces(begin)
            back = threading.Thread(target=self.carry, args=(server, client, pieces, False), daemon=True)
            back.start()
            self.carry(client, server, pieces, True)
            back.join()

    @staticmethod
    def carry(source, sink, pieces, up):
        with contextlib.suppress(OSError):
            for data in pieces(source, up):
                sink.sendall(data)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def pieces(self, _begin):
        """For a connection: gives what is passed on, of a source, up to the server or down from it."""
        def passed(source, up):
            while data := source.recv(65536):
                yield self.passed(data, up)
        return passed

    def passed(self, data, _up):
        return data

    def close(self):
        self.listener.close()


class Packets(Way):
    """The same for ZooKeeper's packets, one by one."""

    @staticmethod
    def frame(source):
        head = source.recv(4, socket.MSG_WAITALL)
        size = struct.unpack(">i", head)[0] if len(head) == 4 else 0
        return source.recv(size, socket.MSG_WAITALL) if 0 < size < 1 << 24 else None

    def pieces(self, begin):
        """Frames, or a text."""
        asked = {}

        def frames(source, up):
            first = True
            while data := self.frame(source):
                data = data if first else self.pass_on(data, asked, up)
                first = False
                yield struct.pack(">i", len(data)) + data
        return super().pieces(begin) if begin.isalpha() else frames

    def pass_on(self, body, asked, up):
        """What is passed on of a packet behind the handshake. `asked` is the connection's: {number of a request: its type}."""
        raise NotImplementedError


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.stop)

    def setUp(self):
        self.path = "/locks/" + self._testMethodName
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = dict(os.environ, PADDOCK_SERVERS=self.server.hosts, HOME=folder.name)
        self.environment.pop("XDG_CONFIG_HOME", None)

    def start(self, *arguments, **more):
        """Starts paddock. stdout and stderr are pipes, unless said otherwise."""
        settings = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True,
                    "env": self.environment, **more}
        process = subprocess.Popen([PADDOCK, *map(str, arguments)], **settings)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.kill()
        process.communicate()

    def finish(self, process, status):
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, status, f"{out}\n{err}")
        return out, err

    def paddock(self, status, *arguments, **more):
        return self.finish(self.start(*arguments, **more), status)

    def nodes(self, path=None):
        try:
            return self.server.client.get_children(path or self.path)
        except NoNodeError:
            return []

    def assert_no_node(self, path=None):
        self.assertEqual(self.nodes(path), [])

    def open_to_nobody(self):
        """The test's folder, for a command of another user. The test is skipped where that user cannot reach what was built."""
        self.folder.chmod(0o777)
        for path in (PADDOCK, self.folder):
            if subprocess.run([*NOBODY, "test", "-x", path], stderr=subprocess.DEVNULL, check=False).returncode:
                self.skipTest(f"{path} is out of reach of another user")

    def file(self, name):
        return self.folder / name

    def number(self, name):
        """The number that a command has written into a file, once it has."""
        def read():
            path = self.file(name)
            return path.exists() and re.fullmatch(r"\d+\n", path.read_text()) and int(path.read_text())
        return wait_for(f"a number in {name}", read)

    def hold(self, *options, path=None):
        """A holder that runs until it is ended."""
        process = self.start("run", *options, path or self.path, "--", "sh", "-c", "echo ready; exec sleep 60")
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def family(self, body="trap '' TERM"):
        """A command with a grandchild, whose pids it writes; by default both ignore TERM. The grandchild writes the time again and
        again."""
        worker = f"{body}; echo $$ > {self.file('worker')}.new; mv {self.file('worker')}.new {self.file('worker')}; " \
                 f"while :; do date +%s%N >> {self.file('ticks')}; sleep 0.02; done"
        return ["sh", "-c", f"{body}; sh -c \"$0\" & echo $$ > {self.file('leader')}; wait; wait", worker]
