"""A process that is driven through its pipes: a player, or the servers. And the build that has the programs."""
import ctypes
import os
import queue
import signal
import subprocess
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


class Broken(Exception):
    """The run cannot go on, or would show nothing."""


def build_directory():
    named = os.environ.get("PDK_BUILD")
    for folder in [Path(named)] if named else [ROOT / "build/release", ROOT / "build/dev"]:
        if folder.is_dir():
            return folder
    raise Broken("no build directory: build first, or name it with PDK_BUILD")


def die_with_parent():
    """Called in the child, before exec: a player that waits for a lock must not outlive a run that was killed."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Process:
    """A child. Its standard output arrives line by line. It ends when its standard input is closed."""

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

    @property
    def alive(self):
        return self.child.poll() is None

    def _read(self):
        for line in self.child.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def expect(self, word, timeout):
        """All lines up to and including the first that begins with this word."""
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
            self.child.kill()  # before its input ends: else it would end well
        self.child.wait()
        self.end_input()
        self.reader.join()
        self.child.stdout.close()
