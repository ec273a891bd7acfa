"""A test bench: the build's programs, a ZooKeeper server, the processes that were started, and a folder for logs."""
import os
import subprocess
from pathlib import Path

from play.processes import Broken, Process

HERE = Path(__file__).resolve().parent
JARS = Path("/usr/share/java")
CLASSPATH = ":".join(
    str(JARS / (jar + ".jar"))
    for jar in (
        "curator-recipes", "curator-framework", "curator-client", "zookeeper", "zookeeper-jute",
        "guava", "slf4j-api", "slf4j-nop",
    )
)

SMALL = ("-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


class Bench:
    def __init__(self, build, work, hosts=None):
        self.build, self.work = Path(build), Path(work)
        self.server, self.hosts = None, hosts
        self.started = []

    def find(self, program):
        for folder in ("tests/players", "tests/interop", "tests/trials", "tests/programs", "tests/bench", "bin", "."):
            path = self.build / folder / program
            if path.is_file() and os.access(path, os.X_OK):
                return path
        raise Broken(f"there is no {program} in {self.build}: build first")

    def raise_server(self, *arguments):
        """Starts a server unless hosts are given. The lines that it printed before its address."""
        if self.hosts is not None:
            return []
        # Once the server has removed an empty container kazoo does not create it again: here the server removes none.
        self.server = Process(
            "the server", [self.find("zk"), "--property", "znode.container.checkIntervalMs=3600000", *arguments],
            self.work / "server.err",
        )
        *said, hosts = self.server.expect("hosts", 60)
        self.hosts = hosts.split()[1]
        return said

    def java(self, source, options=SMALL):
        """The command that runs the class of this source, with these options of the JVM. Compiles it when a source in its
        folder or in this one is newer."""
        classes = self.build / "java-classes"
        target = classes / (source.stem + ".class")
        folders = (source.parent, HERE)  # this one has the base class of all players
        newest = max(one.stat().st_mtime for folder in folders for one in folder.glob("*.java"))
        if not target.exists() or target.stat().st_mtime < newest:
            classes.mkdir(parents=True, exist_ok=True)
            subprocess.run(
                ["javac", "-Xlint:all,-path", "-Werror", "-cp", CLASSPATH, "-sourcepath", ":".join(map(str, folders)),
                 "-d", classes, source], check=True
            )
        return ["java", *options, "-cp", f"{classes}:{CLASSPATH}", source.stem]

    def enlist(self, process):
        """The process ends with the bench, or at the next clear."""
        self.started.append(process)
        return process

    def clear(self):
        """Ends all processes but the server."""
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
