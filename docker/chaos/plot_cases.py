"""Selftest: a small run that is made up, and what its plot must show."""
import tempfile
from pathlib import Path

from play.processes import Broken
from play.tamper import change, drop, logbook_of

import plot
from plot_canvas import WIDTH, Canvas
from plot_picture import Picture, Stretch

PATH = "/chaos/paddock/lock-keep"
FIRST, SECOND = (f"paddock-lock-keep-s1.{n}" for n in (1, 2))
OTHER = "paddock-lock-keep-s2.1"


def started(ms, who):
    return [[ms, "driver", f"started who={who} client=paddock recipe=lock role=keep path={PATH}"],
            [ms + 100, who, "opened"]]


def held(who, n, first, last, lost=False):
    def ns(ms):
        return ms * 1_000_000
    grant = f"token={n} handover=0"
    return [[first, who, f"claim n={n} kind=lock"], [first, who, f"granted {grant} n={n} kind=lock"],
            [last, who, f"valid {grant} first={ns(first)} last={ns(last)} longest=1 reason=NONE n={n} kind=lock"],
            *([[last + 2, who, f"lost n={n} {grant} reason=LAPSED"]] if lost else []),
            [last + 3, who, f"ended n={n} how={'lost' if lost else 'released'}"]]


GOOD = [
    [0, "driver", "settings session=4000 tick=500 clients=paddock recipes=lock seed=1 permits=3 faults=all "
     "hold_us=lock:1000"],
    *started(0, FIRST), *started(0, OTHER), *started(7000, SECOND),
    *held(FIRST, 1, 1000, 4000, lost=True), *held(OTHER, 2, 4500, 8000), *held(SECOND, 3, 8100, 9000),
    [3000, "driver", f"fault id=1 name=stop-holder lane=client target={FIRST} who={FIRST} holder={PATH}:{FIRST}"],
    [3100, "driver", f"stopped who={FIRST}"], [5000, "driver", f"resuming who={FIRST}"],
    [5001, "driver", f"resumed who={FIRST}"], [5002, "driver", "healed id=1"],
    [6000, "driver", "fault id=2 name=kill-leader lane=server target=2 who=- holder=-"],
    [6100, "driver", f"fault id=3 name=path-wiped lane=data target={PATH} who=- holder=-"],
    [6101, "driver", "healed id=3"],
    [6500, "driver", f"killed who={FIRST}"], [7500, "driver", "healed id=2"],
    [9000, "driver", "calm"], [9900, "driver", "calm-over"], [10000, "driver", "rested"],
]


def drawn(lines, **more):
    with tempfile.TemporaryDirectory(prefix="paddock-plot-") as folder:
        svg = Path(folder) / "plot.svg"
        plot.plot(logbook_of(lines), svg, **more)
        return svg.read_text()


def refuses(lines, **more):
    try:
        drawn(lines, **more)
    except Broken:
        return True
    return False


def slot_of_player(who):
    return who.rpartition(".")[0]


def near(found, *expected):
    return len(found) == len(expected) and all(abs(a - b) < 1e-6 for a, b in zip(found, expected))


def picture_checks():
    picture = Picture(logbook_of(GOOD))
    (path,) = picture.paths.values()
    row = path.rows[slot_of_player(SECOND)]
    yield "a row for a process and its successor, and one for the other site", \
        sorted(path.rows) == [slot_of_player(FIRST), slot_of_player(OTHER)]
    yield "a life ends with the kill, the next begins after it", near([row.lives[0].end, row.lives[1].begin], 6.5, 7.1)
    yield "who held when", near([x for one in row.held for x in (one.begin, one.end)], 1, 4, 8.1, 9)
    (stop,) = row.stopped
    yield "stopped, lost, killed", near([stop.begin, stop.end, *row.lost, *row.killed], 3.1, 5.001, 4.002, 6.5)
    yield "a fault strikes whom it names", picture.faults["client"][0].rows == {slot_of_player(FIRST)}
    yield "or a path", picture.faults["data"][0].rows == set(path.rows)
    yield "or all rows", picture.faults["server"][0].rows is None
    yield "a fault lasts until it is healed", near([picture.faults["server"][0].end], 7.5)
    endless = Picture(logbook_of(drop("driver", "healed id=2")(GOOD)))
    yield "or until the logs end", near([endless.faults["server"][0].end], 10)
    yield "a calm", near([picture.calms[0].begin, picture.calms[0].end], 9, 9.9)
    yield "no overlap", path.overlaps == []
    yield "a short run is shown whole", picture.window() == (0, 10)
    late = [[400_000 + i, "driver", f"fault id=9{i} name=cut lane=server target=1 who=- holder=-"] for i in range(9)]
    long = logbook_of([*GOOD, *late, [900_000, "driver", "rested"]])
    begin, end = Picture(long).window()
    yield "of a long one the part in which most happens", begin <= 400 and end >= 400.008 and end - begin == 120


def canvas_checks():
    found = plot.shades([Stretch(0.1, 0.15), Stretch(1, 3), Stretch(9, 20)], 0, 1)
    yield "a shade is a share of a pixel's time", found == {1: [[0, 1]], plot.SHADES: [[1, 3], *[[9, 20]]]}
    many = plot.shades([Stretch(n / 100, n / 100 + 0.005) for n in range(100)], 0, 1)
    yield "many short holds are half a shade", many in ({plot.SHADES // 2: [[0, 1]]}, {plot.SHADES // 2 + 1: [[0, 1]]})
    yield "nothing beyond the edge", plot.shades([Stretch(-5, WIDTH + 7)], 0, 1) == {plot.SHADES: [[0, WIDTH]]}
    canvas = Canvas(0, 100)
    placed = plot.levels(canvas, [Stretch(0, 1, "a-long-name"), Stretch(2, 3, "b"), Stretch(50, 51, "c")])
    yield "names give way to each other", [level for _, level, _ in placed] == [0, 1, 0]
    placed = plot.levels(canvas, [Stretch(1, 2, "a-name")] * 30)
    yield "where there is no room none is written", sum(fits for *_, fits in placed) == plot.LEVELS


def svg_checks():
    svg = drawn(GOOD)
    yield "an SVG", svg.lstrip().startswith("<?xml") and svg.rstrip().endswith("</svg>")
    yield "faults, path, places and calm are named", all(
        text in svg for text in ("stop-holder", "kill-leader", PATH, ">s1<", ">s2<", "calm", "server faults"))
    yield "no overlap is drawn", "too many" not in svg
    both = drawn(change(OTHER, "first=4500000000", "first=2000000000")(GOOD))
    yield "an overlap is drawn", "too many at once 1" in both
    paused = drawn(change(OTHER, "first=4500000000", "first=3200000000")(GOOD))
    yield "but not one of a stopped player", "too many" not in paused
    yield "a window shows what is in it", "kill-leader" not in drawn(GOOD, begin=0, end=5)
    yield "nothing outside of the run", refuses(GOOD, begin=20) and refuses(GOOD, begin=5, end=5)
    yield "no such path", refuses(GOOD, path="/chaos/other")


def checks():
    for part in (picture_checks, canvas_checks, svg_checks):
        for what, good in part():
            yield f"plot: {what}", good
