"""The processes of an interoperability run: a throw-away ZooKeeper and the players, all driven through their pipes."""
import ctypes
import os
import queue
import signal
import subprocess
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
JARS = Path("/usr/share/java")
CLASSPATH = ":".join(
    str(JARS / (jar + ".jar"))
    for jar in (
        "curator-recipes", "curator-framework", "curator-client", "zookeeper", "zookeeper-jute",
        "guava", "slf4j-api", "slf4j-nop",
    )
)
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


class Broken(Exception):
    """The run cannot go on, or what it would show is worth nothing."""


def die_with_parent():
    """In the child, before exec: a player that waits for a lock must not outlive a run that was killed."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Process:
    """A child whose standard output arrives line by line, and whose standard input is closed to end it."""

    def __init__(self, name, argv, errors, before_exec=None):
        self.name = name
        self.errors = Path(errors)
        self.lines = queue.Queue()
        with open(self.errors, "wb") as stderr:
            self.child = subprocess.Popen(
                [str(a) for a in argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
                text=True, bufsize=1, preexec_fn=before_exec,
            )
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.child.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def expect(self, word, timeout):
        """The lines up to the first that begins with word, and that line's last."""
        seen, end = [], time.monotonic() + timeout
        while True:
            try:
                line = self.lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                raise Broken(f"{self.name} did not say '{word}' within {timeout} s") from None
            if line is None:
                raise Broken(f"{self.name} ended before it said '{word}': {self.complaint()}")
            seen.append(line)
            if line.split(maxsplit=1)[0:1] == [word]:
                return seen

    def complaint(self):
        text = self.errors.read_text(errors="replace").strip()
        return text[-600:] or "nothing on standard error"

    def say(self, text):
        try:
            self.child.stdin.write(text + "\n")
            self.child.stdin.flush()
        except BrokenPipeError:
            raise Broken(f"{self.name} is gone: {self.complaint()}") from None

    def end_input(self):
        try:
            self.child.stdin.close()
        except BrokenPipeError:
            pass

    def wait(self, timeout):
        try:
            return self.child.wait(timeout)
        except subprocess.TimeoutExpired:
            raise Broken(f"{self.name} did not end within {timeout} s") from None

    def kill(self):
        self.end_input()
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait()
        self.reader.join()
        self.child.stdout.close()


class Stage:
    """What all contests of a run share: the server, the programs, a directory for logs."""

    def __init__(self, build, work, turns, hosts=None):
        self.build, self.work, self.turns = Path(build), Path(work), turns
        self.server, self.hosts = None, hosts
        self.started = []

    def find(self, program):
        for folder in ("tests/interop", "tests/programs", "bin", "."):
            path = self.build / folder / program
            if path.is_file() and os.access(path, os.X_OK):
                return path
        raise Broken(f"there is no {program} in {self.build}: build first")

    def raise_server(self):
        if self.hosts is None:
            # Once the server has removed an empty container kazoo does not create it again: none is removed here.
            self.server = Process(
                "the server", [self.find("zk"), "--property", "znode.container.checkIntervalMs=3600000"],
                self.work / "server.err",
            )
            self.hosts = self.server.expect("hosts", 60)[-1].split()[1]

    def compile_java(self):
        source, classes = HERE / "CuratorPlayer.java", self.build / "interop-classes"
        target = classes / "CuratorPlayer.class"
        if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
            classes.mkdir(parents=True, exist_ok=True)
            subprocess.run(
                ["javac", "-Xlint:all,-path", "-Werror", "-cp", CLASSPATH, "-d", classes, source], check=True
            )
        return classes

    def command(self, kind):
        if kind == "curator":
            return ["java", "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp",
                    f"{self.compile_java()}:{CLASSPATH}", "CuratorPlayer"]
        client, mode = kind.split("-")
        program = {"kazoo": HERE / "player_kazoo.py", "paddock": None}[client] or self.find("player_paddock")
        return [program, "--mode", mode]

    def player(self, kind, identity, path, *more):
        argv = self.command(kind) + [
            "--hosts", self.hosts, "--path", path, "--witness", self.work / (path.strip("/") + ".witness"),
            "--log", self.work / (path.strip("/") + ".log"), "--identity", identity, *more,
        ]
        process = Process(identity, argv, self.work / f"{path.strip('/')}.{identity}.err", die_with_parent)
        self.started.append(process)
        return process

    def clear(self):
        """Nothing that a contest started survives it."""
        for process in self.started:
            process.kill()
        self.started = []

    def close(self):
        self.clear()
        if self.server:
            self.server.end_input()
            try:
                self.server.wait(10)
            finally:
                self.server.kill()
