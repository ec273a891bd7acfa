"""The parts of a plot: a row for each slot of a path, with its holds, and what was done meanwhile."""
from dataclasses import dataclass, field

from judges.judge_exclusion import overlaps
from judges.judge_record import NEVER, S, Record

LANES = ("server", "client", "data")
WHOLE_S, PART_S = 150, 120  # a longer run than the first is shown in part: for the second


@dataclass
class Stretch:
    """A stretch of time, in seconds since the run began."""
    begin: float
    end: float
    name: str = ""  # what was held or done
    rows: set = None  # of a fault: the names of the rows that it strikes; None: all

    def within(self, begin, end):
        return self.begin < end and self.end > begin


@dataclass
class Row:
    """A slot of a path at a site. The processes in it follow each other."""
    name: str
    lives: list = field(default_factory=list)  # stretches, like the two below
    held: list = field(default_factory=list)
    stopped: list = field(default_factory=list)
    killed: list = field(default_factory=list)  # moments
    lost: list = field(default_factory=list)


@dataclass
class Path:
    name: str
    rows: dict = field(default_factory=dict)
    overlaps: list = field(default_factory=list)  # (stretch, the rows of the holds)


def slot_of(player):
    """The name of the slot: the identities of all its processes begin with it."""
    return player.who.rpartition(".")[0]


class Picture:
    def __init__(self, logbook):
        self.record = record = Record(logbook)
        self.zero, self.length = record.begin, (record.end - record.begin) / S
        self.paths = {path: Path(path) for path in sorted({player.path for player in record.players.values()})}
        self.calms = [self.stretch(*calm) for calm in record.calms]
        self.faults = {lane: [self.fault(one) for one in record.faults if one.lane == lane] for lane in LANES}
        self.read_players(logbook)
        self.read_holds()

    def seconds(self, ns):
        return (min(ns, self.record.end) - self.zero) / S

    def stretch(self, begin, end, *more):
        return Stretch(self.seconds(begin), self.seconds(end), *more)

    def fault(self, fault):
        players = self.record.players.values()
        struck = None if fault.lane == "server" else {slot_of(player) for player in players if fault.hits(player)}
        return self.stretch(fault.begin, self.record.until(fault), fault.name, struck)

    def row(self, player):
        return self.paths[player.path].rows.setdefault(slot_of(player), Row(slot_of(player)))

    def read_players(self, logbook):
        born = {}
        for event in logbook.events:
            born.setdefault(event.who, event.ns)
        for player in self.record.players.values():
            row = self.row(player)
            row.lives.append(self.stretch(born.get(player.who, self.record.end), player.killed))
            row.stopped += [self.stretch(stopped, min(resumed, player.killed)) for stopped, _, resumed in player.stops]
            if player.killed != NEVER:
                row.killed.append(self.seconds(player.killed))

    def read_holds(self):
        for hold in self.record.holds:
            row = self.row(hold.player)
            row.held += [self.stretch(span.first, span.last, span.kind) for span in hold.spans]
            row.lost += [self.seconds(ns) for ns in hold.lost]
        for client in self.record.settings.clients:
            for one in overlaps(self.record, client):
                if not one.taken:
                    self.paths[one.holds[0].player.path].overlaps.append(
                        (self.stretch(one.begin, one.end), [self.row(hold.player) for hold in one.holds]))

    def window(self):
        """From when to when: the whole run if it is short, else the part in which most happens."""
        if self.length <= WHOLE_S:
            return 0.0, self.length
        moments = [fault.begin for faults in self.faults.values() for fault in faults]
        moments += [at for path in self.paths.values() for row in path.rows.values() for at in row.lost]

        def happens(begin):
            return sum(begin <= at < begin + PART_S for at in moments)
        begin = max((min(max(at - 1, 0), self.length - PART_S) for at in moments), key=happens, default=0.0)
        return begin, begin + PART_S
