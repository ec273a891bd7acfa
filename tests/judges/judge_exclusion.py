"""Grants that exclude each other are never valid at one instant in processes that run."""
from dataclasses import dataclass

from play.exclusion import conflicts
from play.tables import few


@dataclass
class Piece:
    """A part of a span that counts. At both ends the grant was valid."""
    hold: object
    kind: str
    first: int
    last: int

    @property
    def owner(self):
        return id(self)

    @property
    def permits(self):
        return int(self.hold.fields.get("count", 1))


@dataclass
class Overlap:
    """From when until when more was valid than may be, and the holds: the last of them was granted last."""
    path: str
    holds: list
    begin: int
    end: int
    taken: bool = False  # an administrator did it

    @property
    def ns(self):
        return self.end - self.begin


def pieces(hold, gaps):
    for span in hold.spans:
        first = span.first
        for since, until in gaps:
            if first < until and since < span.last:
                if first <= since:
                    yield Piece(hold, span.kind, first, since)
                first = until
        if first <= span.last:
            yield Piece(hold, span.kind, first, span.last)


def gaps_of(hold, less_taken):
    """From when until when its validity does not count: its process was stopped, or an administrator deleted its node."""
    return sorted([*hold.player.pauses(), *([hold.taken] if less_taken and hold.taken else [])])


def overlaps_of(path, holds, permits, less_taken=False):
    counted = [piece for hold in holds for piece in pieces(hold, gaps_of(hold, less_taken))]
    return [Overlap(path, sorted((piece.hold for piece in one.spans), key=lambda hold: hold.granted), one.begin, one.end)
            for one in conflicts(counted, permits)]


def overlaps(record, client):
    """First the overlaps that remain without the grants that an administrator had taken. The others are marked `taken`."""
    found = []
    for path, holds in record.grants_by_place(client, whoever=True).items():
        remaining = overlaps_of(path, holds, record.settings.permits, less_taken=True)
        found += remaining
        for overlap in overlaps_of(path, holds, record.settings.permits):
            overlap.taken = not any(one.begin <= overlap.end and overlap.begin <= one.end for one in remaining)
            found += [overlap] if overlap.taken else []
    return found


def judge(found):
    return few([f"{overlap.path}: {' and '.join(hold.tell() for hold in overlap.holds)} held at once, "
                f"for {overlap.ns / 1e6:.3f} ms" for overlap in found if not overlap.taken])
