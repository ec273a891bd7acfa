"""Guarded znodes: no write of an older holder lands after a newer one has opened, and no confirmed write is lost.

Each write has a name, which is the payload, and the log tells the name that its writer had found there. What stands at the
end leads back, write by write, to the first one: these writes have landed, in this order, and no others have. What a holder
read shows its place in that order. So the order is ZooKeeper's, and not that of the clocks.
"""
import bisect
from dataclasses import dataclass, field
from itertools import accumulate

from play.tables import few

from judges.judge_record import NEVER

NOTHING = "-"
# What faults may do to a call, and what a read may find.
FAIR = {"PDK_OK", "PDK_LOST", "PDK_UNAVAILABLE"}
FOUND = {"PDK_OK", "PDK_ABSENT"}


@dataclass
class Write:
    hold: object
    id: str
    after: str
    begun: int
    answered: int = NEVER
    status: str = None  # None: the player was killed first
    place: int = None  # in the order, from 1; None: it has not landed

    def tell(self):
        return f"{self.hold.tell()}, {self.id},"


@dataclass
class Guarded:
    """What the logs tell of the guarded znodes of one client."""
    opens: int = 0
    writes: list = field(default_factory=list)
    wrong: list = field(default_factory=list)  # in words

    def count(self, *statuses):
        return sum(write.status in statuses for write in self.writes)

    def landed(self, *statuses):
        return sum(write.place is not None and write.status in statuses for write in self.writes)


class Newest:
    """The largest of the values whose keys are less than a key."""

    def __init__(self, pairs, least):
        in_order = sorted(pairs, key=lambda pair: pair[0])
        self.keys = [key for key, _ in in_order]
        self.values = [least, *accumulate((value for _, value in in_order), max)]

    def before(self, key):
        return self.values[bisect.bisect_left(self.keys, key)]


class Znode:
    """One path."""

    def __init__(self, path, events, final):
        self.path, self.final, self.wrong = path, final, []
        self.odd = []  # answers: told last, since one that is wrong comes again and again
        self.writes, self.opens, self.reads = {}, [], []
        for event, hold in events:
            self._read(event, hold)
        self.places = self._walk()

    def _say(self, words):
        self.wrong.append(f"{self.path}: {words}")

    def _read(self, event, hold):
        if event.what == "guarding":
            self.writes[event["id"]] = Write(hold, event["id"], event["after"], event.ns)
            return
        status, fair = event["status"], FAIR | (FOUND if event["do"] == "read" else set())
        if status not in fair:
            self.odd.append(f"{self.path}: {hold.tell()} was answered {status}, to {event['do']}")
        if event["do"] == "write":
            write = self.writes.get(event["id"])
            if write:
                write.answered, write.status = event.ns, status
            else:
                self._say(f"{hold.tell()} was answered to {event['id']}, which it did not write")
        elif event["do"] == "open" and status == "PDK_OK":
            self.opens.append((event, hold))
        elif event["do"] == "read" and status in FOUND:
            self.reads.append((event, hold))

    def _walk(self):
        """By name, the place of each write that has landed."""
        chain, at = {}, self.final["id"]
        while at in self.writes and at not in chain:
            chain[at] = None
            at = self.writes[at].after
        if at != NOTHING:
            self._say(f"what stands there leads back to {at}, which {'follows itself' if at in chain else 'nobody wrote'}")
        places = {name: place for place, name in enumerate(reversed(chain), 1)}
        for name, place in places.items():
            self.writes[name].place = place
        return {NOTHING: 0, **places}

    def judge(self):
        self._judge_landed()
        self._judge_late()
        self._judge_reads()
        self._judge_answers()
        version = self.final.number("version")
        least = len(self.opens) + len(self.places) - 1
        if version < least:  # an open rewrites what it found
            self._say(f"its version is {version}, after {least} opens and writes")
        return self.wrong + self.odd

    def _judge_landed(self):
        for write in self.writes.values():
            if write.status == "PDK_OK" and write.place is None:
                self._say(f"the write of {write.tell()} was confirmed, and is lost")

    def _judge_late(self):
        """A holder that has opened is known to have done so by what it read, or by the time of its answer."""
        seen = Newest([(self.places[event["id"]], hold.grant) for event, hold in self.reads if event["id"] in self.places], (0, 0))
        told = Newest([(event.ns, hold.grant) for event, hold in self.opens], (0, 0))
        for write in self.writes.values():
            newest = max(seen.before(write.place), told.before(write.begun)) if write.place else (0, 0)
            if write.hold.grant < newest:
                self._say(f"the write of {write.tell()} has landed after {newest[0]}.{newest[1]} had opened")

    def _judge_reads(self):
        """An administrator may delete the lock's node. Then the next holder writes while the last one may still read, at a server
        that lags."""
        written = Newest([(write.answered, write.place) for write in self.writes.values()
                          if write.status == "PDK_OK" and write.place], 0)
        for event, hold in self.reads:
            place = self.places.get(event["id"])
            if place is None:
                self._say(f"{hold.tell()} read {event['id']}, which has not landed")
            elif place < written.before(event.number("since")) and not hold.taken_at(event.ns):
                self._say(f"{hold.tell()} read {event['id']} after a later write was confirmed")

    def _judge_answers(self):
        for write in self.writes.values():
            if write.status is None and write.hold.player.killed == NEVER:
                self._say(f"the write of {write.tell()} never had an answer")


def guarded(record, client):
    """Of the paths whose players write to one."""
    found = Guarded()
    for path in record.guarded_paths(client):
        final = record.guarded_last.get(path)
        if not final:
            found.wrong.append(f"{path}: nobody looked at what its guarded znode has")
            continue
        znode = Znode(path, record.guarded.get(path, []), final)
        found.wrong += znode.judge()
        found.opens += len(znode.opens)
        found.writes += znode.writes.values()
    return found


def judge(record, client, found):
    faults = few(found.wrong)
    paths = {write.hold.player.path for write in found.writes if write.place}
    faults += [f"vacuous: nobody wrote to the guarded znode of {path}" for path in record.guarded_paths(client) if path not in paths]
    if record.thorough and record.guarded_paths(client) and not found.count("PDK_LOST"):
        faults.append("vacuous: no late write to a guarded znode was refused")
    return faults
