"""The rows of the bench: what each player does, and what the page says of it."""
from typing import NamedTuple

LINGER_MS = 20
SIDES = ("paddock", "before", "floor", "curator", "kazoo")  # before: the library of another build, if one is given


class Row(NamedTuple):
    name: str
    title: str
    words: str  # what is measured
    sessions: int = 1
    objects: int = 1  # of each session
    threads: int = 1  # of each object
    behind: int = 0  # nodes of others, which wait behind
    linger_ms: int = 0  # of Paddock's lock
    unit: str = "/s"  # or µs: the median step

    def places(self, side):
        """How many nodes are in the queue when nobody is missing."""
        own = self.threads if side in ("curator", "kazoo") else 1
        return self.behind + self.sessions * self.objects * own


ROWS = (
    Row("cycle", "a free lock, taken and released",
        "One thread takes a lock and releases it, again and again. Nobody else wants it. The floor is a create and a delete.", unit="µs"),
    Row("again", "the same lock again, in the same process",
        "The same, and Paddock's lock has the option `linger_ms`: the node waits for the next time.", linger_ms=LINGER_MS, unit="µs"),
    Row("threads-2", "2 threads on one lock", "Threads of one process share a lock object; of kazoo each has its own.", threads=2),
    Row("threads-8", "8 threads on one lock", "Likewise.", threads=8),
    Row("threads-2-linger", "2 threads on one lock that lingers", "The same, with `linger_ms`.", threads=2, linger_ms=LINGER_MS),
    Row("sessions-2", "2 sessions on one lock", "Each has one thread, which queues again as soon as it has released.", sessions=2),
    Row("sessions-8", "8 sessions on one lock", "Likewise.", sessions=8),
    Row("sessions-32", "32 sessions on one lock", "Likewise.", sessions=32),
    Row("behind-1000", "2 sessions, 1,000 nodes behind them",
        "Two sessions take turns, and others wait behind both: each list names them all.", sessions=2, behind=1000),
    Row("behind-5000", "2 sessions, 5,000 nodes behind them", "Likewise.", sessions=2, behind=5000),
    Row("objects-1000", "1,000 lock objects of one session",
        "Each has a thread of its own, which goes to the end of the queue after its turn: 1,000 nodes are in the queue.", objects=1000),
    Row("command", "`paddock run /p -- true`",
        "A process that connects, takes the lock, runs a command, releases and ends. The floor is a process that connects, makes a "
        "node, deletes it and ends.", unit="ms"),
)


def find(name):
    return next((row for row in ROWS if row.name == name), None)
