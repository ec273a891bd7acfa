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


def build_directory():
    named = os.environ.get("PDK_BUILD")
    for folder in [Path(named)] if named else [HERE.parents[1] / "build/release", HERE.parents[1] / "build/dev"]:
        if folder.is_dir():
            return folder
    raise Broken("no build directory: build first, or name it with PDK_BUILD")


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
        if self.child.poll() is None:
            self.child.kill()  # before its input ends, of which it would make a good end
        self.child.wait()
        self.end_input()
        self.reader.join()
        self.child.stdout.close()


class Stage:
    """What all scenes of a run share: the server, the programs, a directory for logs."""

    def __init__(self, build, work, hosts=None):
        self.build, self.work = Path(build), Path(work)
        self.server, self.hosts = None, hosts
        self.started = []

    def find(self, program):
        for folder in ("tests/interop", "tests/trials", "tests/programs", "bin", "."):
            path = self.build / folder / program
            if path.is_file() and os.access(path, os.X_OK):
                return path
        raise Broken(f"there is no {program} in {self.build}: build first")

    def raise_server(self, *arguments):
        """Unless there is one. What it said before it told where it serves, a list of lines."""
        if self.hosts is not None:
            return []
        # Once the server has removed an empty container kazoo does not create it again: none is removed here.
        self.server = Process(
            "the server", [self.find("zk"), "--property", "znode.container.checkIntervalMs=3600000", *arguments],
            self.work / "server.err",
        )
        *said, hosts = self.server.expect("hosts", 60)
        self.hosts = hosts.split()[1]
        return said

    def java(self, source):
        """The command that runs the class of this source, compiled when it, or one beside it or here, has changed."""
        classes = self.build / "java-classes"
        target = classes / (source.stem + ".class")
        folders = (source.parent, HERE)  # the latter for what players share
        newest = max(one.stat().st_mtime for folder in folders for one in folder.glob("*.java"))
        if not target.exists() or target.stat().st_mtime < newest:
            classes.mkdir(parents=True, exist_ok=True)
            subprocess.run(
                ["javac", "-Xlint:all,-path", "-Werror", "-cp", CLASSPATH, "-sourcepath", ":".join(map(str, folders)),
                 "-d", classes, source], check=True
            )
        return ["java", "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{classes}:{CLASSPATH}",
                source.stem]

    def enlist(self, process):
        """It ends with the stage."""
        self.started.append(process)
        return process

    def clear(self):
        """Nothing that was started survives it, but the server."""
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


class Cast(Stage):
    """The stage of contests, whose players take turns on a lock."""

    def __init__(self, build, work, turns, hosts=None):
        super().__init__(build, work, hosts)
        self.turns = turns

    def command(self, kind):
        if kind == "curator":
            return self.java(HERE / "CuratorPlayer.java")
        client, mode = kind.split("-")
        program = {"kazoo": HERE / "player_kazoo.py", "paddock": None}[client] or self.find("player_paddock")
        return [program, "--mode", mode]

    def player(self, kind, identity, path, *more):
        argv = self.command(kind) + [
            "--hosts", self.hosts, "--path", path, "--witness", self.work / (path.strip("/") + ".witness"),
            "--log", self.work / (path.strip("/") + ".log"), "--identity", identity, *more,
        ]
        errors = self.work / f"{path.strip('/')}.{identity}.err"
        return self.enlist(Process(identity, argv, errors, die_with_parent))
