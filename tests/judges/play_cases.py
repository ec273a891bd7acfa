"""Selftest: from when until when a grant was valid, what excludes what, and which nodes are left."""
from unittest import mock

from play.exclusion import conflicts
from play.logbook import MS
from play.nodes import left_over
from play.spans import spans
from play.tamper import logbook_of


def span_lines(*lines):
    return [[0, who, text] for who, text in lines]


def check_spans():
    """The end of a span whose player is killed or stopped, and of a span that goes on as something else. Spans that
    touch."""
    granted = [[10, "a", "granted token=7 handover=0 kind=read"]]
    killed = logbook_of([*granted, [20, "driver", "killed who=a"]])
    stopped = logbook_of([*granted, [15, "driver", "stopped who=a"], [20, "driver", "killed who=a"]])
    resumed = logbook_of([*granted, [15, "driver", "stopped who=a"], [16, "driver", "resuming who=a"],
                          [20, "driver", "killed who=a"]])
    for book, last in ((killed, 20), (stopped, 15), (resumed, 20)):
        (only,) = spans(book)
        yield f"closed at {last}", (only.first, only.last, only.kind, only.cut_short) == (10 * MS, last * MS, "read", True)
    first, second = spans(logbook_of([
        *granted, [20, "a", f"valid token=7 handover=0 first={10 * MS} last={19 * MS} kind=write"],
        [21, "a", "granted token=7 handover=0 kind=read"], [30, "driver", "killed who=a"]]))
    yield "killed after it went on", ((first.last, first.cut_short) == (19 * MS, False)
                                      and (second.first, second.last, second.kind, second.cut_short)
                                      == (21 * MS, 30 * MS, "read", True))


def check_conflicts():
    """What excludes what. Each span is [owner, kind and fields, first, last]."""
    def found(*lines, permits=0):
        book = logbook_of(span_lines(*((who, f"valid token={index} handover=0 first={first} last={last} kind={what}")
                                       for index, (who, what, first, last) in enumerate(lines))))
        return [(one.begin, one.end, [span.who for span in one.spans], one.permits)
                for one in conflicts(spans(book), permits)]

    yield "a writer excludes a reader, also where they touch", found(
        ("a", "write", 10, 20), ("b", "read", 20, 30)) == [(20, 20, ["a", "b"], 0)]
    yield "and a downgraded writer", found(("a", "downgraded", 10, 20), ("b", "write", 15, 30)) == [(15, 20, ["a", "b"], 0)]
    yield "not if it comes after them", found(("a", "read", 10, 20), ("b", "write", 21, 30)) == []
    yield "readers do not exclude each other", found(("a", "read", 10, 20), ("b", "downgraded", 15, 30)) == []
    yield "all other kinds exclude each other", found(
        ("a", "leader", 10, 40), ("b", "lock", 15, 20), ("c", "", 30, 35)) == [(15, 20, ["a", "b"], 0), (30, 35, ["a", "c"], 0)]
    yield "permits up to their number", found(
        ("a", "permit count=2", 10, 40), ("b", "permit count=1", 15, 20), permits=3) == []
    yield "and not more", found(
        ("a", "permit count=2", 10, 40), ("b", "permit count=2", 15, 30), ("c", "permit count=1", 20, 25), permits=3) == [
            (15, 30, ["a", "b"], 4)]
    again = [*spans(logbook_of(span_lines(("a", "valid token=1 handover=0 first=10 last=20 kind=write"),
                                          ("a", "valid token=1 handover=0 first=20 last=30 kind=downgraded"))))]
    yield "a grant does not exclude itself", conflicts(again) == []


def check_left_over():
    """Nodes that are left, and foreign ones that are gone."""
    zk = mock.Mock()
    zk.get_children.side_effect = lambda path: {"/a": ["x", "0"], "/b": []}[path]
    yield "nothing but what is foreign", left_over(zk, ["/a", "/b"], 0, ["/a/x", "/a/0"]) == []
    yield "a node is left", left_over(zk, ["/a", "/b"], 0, ["/a/0"]) == ["/a/x"]
    yield "a foreign node is gone", left_over(zk, ["/a", "/b"], 0, ["/a/0", "/a/x", "/b/y"]) == ["/b/y"]


def checks():
    yield from check_spans()
    yield from check_conflicts()
    yield from check_left_over()
