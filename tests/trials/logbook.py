"""What the logs of a trial say: one file for each player, one of the driver's, all on the same clock."""
import bisect
import time
from dataclasses import dataclass, field

MS = 1_000_000
S = 1_000_000_000


def now():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


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


class Page:
    """One file, read as it grows."""

    def __init__(self, path):
        self.who, self.path = path.stem, path
        self.offset, self.rest = 0, b""

    def read(self):
        if self.path.stat().st_size == self.offset:
            return []
        with open(self.path, "rb") as file:
            file.seek(self.offset)
            bytes_read = file.read()
        self.offset += len(bytes_read)
        *lines, self.rest = (self.rest + bytes_read).split(b"\n")
        return [Event.parse(self.who, line.decode()) for line in lines]


class Logbook:
    """All events so far, in the order in which they happened."""

    def __init__(self, work):
        self.work, self.pages, self.events = work, {}, []

    def poll(self):
        """The events that are new, also in order."""
        for path in self.work.glob("*.log"):
            if path not in self.pages:
                self.pages[path] = Page(path)
        new = sorted(event for page in self.pages.values() for event in page.read())
        if new:
            if self.events and new[0] < self.events[-1]:
                self.events = sorted(self.events + new)
            else:
                self.events += new
        return new

    def since(self, ns):
        return self.events[bisect.bisect_left(self.events, ns, key=lambda event: event.ns):]

    def of(self, who):
        return [event for event in self.events if event.who == who]

    def named(self, *what):
        return [event for event in self.events if event.what in what]

    def wait(self, predicate, seconds):
        """What predicate(logbook) returns, as soon as that is true; else what it is after so many seconds."""
        end = time.monotonic() + seconds
        while True:
            self.poll()
            found = predicate(self)
            if found or time.monotonic() > end:
                return found
            time.sleep(0.005)
