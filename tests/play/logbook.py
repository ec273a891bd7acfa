"""Reads the event logs of a run: one file for each player and one of the driver, all on the same clock."""
import bisect
import time
from dataclasses import dataclass, field

MS = 1_000_000
S = 1_000_000_000


@dataclass(order=True)
class Event:
    ns: int
    who: str
    what: str = field(compare=False)
    fields: dict = field(compare=False, default_factory=dict)

    def __getitem__(self, key):
        return self.fields[key]

    def get(self, key, otherwise=None):
        return self.fields.get(key, otherwise)

    def number(self, key):
        return int(self.fields[key])

    @classmethod
    def parse(cls, who, line):
        ns, what, *fields = line.split()
        return cls(int(ns), who, what, dict(one.split("=", 1) for one in fields))


class LogFile:
    """One file, read while it grows."""

    def __init__(self, path):
        self.who, self.path = path.stem, path
        self.offset, self.rest = 0, b""

    def read(self):
        """The new events."""
        if self.path.stat().st_size == self.offset:
            return []
        with open(self.path, "rb") as file:
            file.seek(self.offset)
            bytes_read = file.read()
        self.offset += len(bytes_read)
        *lines, self.rest = (self.rest + bytes_read).split(b"\n")
        return [Event.parse(self.who, line.decode()) for line in lines]


class Logbook:
    """All events so far of the logs in a folder, in the order of their times."""

    def __init__(self, work):
        self.work, self.files, self.events = work, {}, []

    @classmethod
    def read(cls, folder):
        """All that is in these logs now."""
        logbook = cls(folder)
        logbook.poll()
        return logbook

    def poll(self):
        """Reads the new events and returns them, in order too."""
        for path in self.work.glob("*.log"):
            if path not in self.files:
                self.files[path] = LogFile(path)
        new = sorted(event for file in self.files.values() for event in file.read())
        if new:
            if self.events and new[0] < self.events[-1]:
                self.events = sorted(self.events + new)
            else:
                self.events += new
        return new

    def since(self, ns):
        return self.events[bisect.bisect_left(self.events, ns, key=lambda event: event.ns):]

    def by(self, who):
        return [event for event in self.events if event.who == who]

    def named(self, *what):
        return [event for event in self.events if event.what in what]

    def wait(self, predicate, seconds):
        """What predicate(logbook) returns, as soon as that is true; else what it returns after so many seconds."""
        end = time.monotonic() + seconds
        while True:
            self.poll()
            found = predicate(self)
            if found or time.monotonic() > end:
                return found
            time.sleep(0.005)
