"""Grants that exclude each other: were more of them valid at one instant than may be?

A span has `first` and `last` (ns, both are instants at which it was valid), `kind`, `permits` and `owner`. A
`permit` counts against the permits there are. A `read`, `downgraded` or `member` span excludes all but its own kind. Any other
kind excludes all. Spans of one owner do not exclude each other.
"""
from dataclasses import dataclass

SHARED = {"read", "downgraded", "member"}


def is_exclusive(kind):
    return kind != "permit" and kind not in SHARED


class Tally:
    """The spans that are valid at one instant."""

    def __init__(self, most):
        self.most, self.permits = most, 0
        self.inside, self.owners, self.exclusive = {}, {}, 0

    def add(self, span, sign):
        if sign > 0:
            self.inside[id(span)] = span
        else:
            del self.inside[id(span)]
        if span.kind == "permit":
            self.permits += sign * span.permits
        self.exclusive += sign * is_exclusive(span.kind)
        self.owners[span.owner] = self.owners.get(span.owner, 0) + sign
        if not self.owners[span.owner]:
            del self.owners[span.owner]

    @property
    def too_many(self):
        return self.permits > self.most or (self.exclusive > 0 and len(self.owners) > 1)


@dataclass
class Conflict:
    """From when until when more was valid than may be."""
    begin: int
    spans: list  # those that were valid when it began, in the order in which they became valid
    permits: int  # that were valid when it began
    end: int = 0

    @property
    def ns(self):
        return self.end - self.begin


def sweep(spans, permits):
    """At each end of a span: the instant, the tally, and whether the span begins. Spans that touch overlap."""
    edges = [edge for index, one in enumerate(spans) for edge in ((one.first, 0, index, one), (one.last, 1, index, one))]
    tally = Tally(permits)
    for ns, ends, _, one in sorted(edges, key=lambda edge: edge[:3]):
        tally.add(one, -1 if ends else 1)
        yield ns, tally, not ends


def conflicts(spans, permits=0):
    found, current = [], None
    for ns, tally, _ in sweep(spans, permits):
        if tally.too_many and current is None:
            current = Conflict(ns, list(tally.inside.values()), tally.permits)
        elif not tally.too_many and current is not None:
            current.end = ns
            found.append(current)
            current = None
    return found
