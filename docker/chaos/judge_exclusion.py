"""No two rights that exclude each other are believed at one instant by processes that run."""
from dataclasses import dataclass

from tables import few


@dataclass
class Piece:
    """A part of a span in which its belief counts. Both ends are instants at which it was believed."""
    hold: object
    kind: str
    first: int
    last: int


@dataclass
class Overlap:
    """From when until when more was believed than may be, and by whom: whoever was granted last is the last."""
    path: str
    holds: list
    begin: int
    end: int = 0
    taken: bool = False  # an administrator's doing

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


class Tally:
    """How much is believed on one path."""

    def __init__(self, permits):
        self.most, self.rights, self.writers, self.permits = permits, 0, 0, 0

    def add(self, piece, sign):
        self.rights += sign
        if piece.kind == "permit":
            self.permits += sign * int(piece.hold.fields.get("count", 1))
        elif piece.kind not in ("read", "downgraded"):
            self.writers += sign

    def too_much(self):
        return self.permits > self.most or (self.writers > 0 and self.rights > 1)


def gaps_of(hold, less_taken):
    """From when until when its belief does not count: its process was stopped, or its node was deleted by hand."""
    return sorted([*hold.player.pauses(), *([hold.taken] if less_taken and hold.taken else [])])


def overlaps_of(path, holds, permits, less_taken=False):
    """Sweeps over the ends of all pieces; what ends and what begins at the same instant overlaps."""
    edges = [edge for hold in holds for piece in pieces(hold, gaps_of(hold, less_taken))
             for edge in ((piece.first, 0, id(piece), piece), (piece.last, 1, id(piece), piece))]
    edges.sort(key=lambda edge: edge[:3])
    tally, inside, found, now = Tally(permits), {}, [], None
    for ns, ends, key, piece in edges:
        tally.add(piece, -1 if ends else 1)
        if ends:
            del inside[key]
        else:
            inside[key] = piece.hold
        if tally.too_much() and now is None:
            now = Overlap(path, sorted(inside.values(), key=lambda one: one.granted), ns)
        elif not tally.too_much() and now is not None:
            now.end = ns
            found.append(now)
            now = None
    return found


def overlaps(record, client):
    """Those that remain without the belief of rights that an administrator had taken, and those that do not, as `taken`."""
    found = []
    for path, holds in record.holds_by_path(client).items():
        remaining = overlaps_of(path, holds, record.settings.permits, less_taken=True)
        found += remaining
        for overlap in overlaps_of(path, holds, record.settings.permits):
            overlap.taken = not any(one.begin <= overlap.end and overlap.begin <= one.end for one in remaining)
            found += [overlap] if overlap.taken else []
    return found


def judge(found):
    return few([f"{overlap.path}: {' and '.join(hold.tell() for hold in overlap.holds)} held at once, "
                f"for {overlap.ns / 1e6:.3f} ms" for overlap in found if not overlap.taken])
