"""A picture of a chaos run, from its logs: who held what when, and what was done meanwhile. gnuplot draws it.

A row is a process and those that replaced it. The darker a spot, the larger the part of its time in which a grant
was valid: a hold of a millisecond is a light shade where a pixel is a tenth of a second. Times are seconds since the
run began.
"""
import math

from play.processes import Broken

from plot_canvas import INK, UNIT, WIDTH, Canvas, faded
from plot_picture import LANES, Picture

THICK, SHADES, LEVELS = 11, 6, 6  # pixels of a row; steps from hardly ever to always; rows of names above, per lane
HALF = THICK / UNIT / 2
BLANK, STOPPED, OVERLAP, LOST, CALM = "#e9ecef", "#6c757d", "#ff0000", "#c2185b", "#74c68a"
HELD = {"lock": "#1f6fb4", "leader": "#2a8a57", "write": "#24356e", "read": "#4fb0d8", "downgraded": "#3a86c8",
        "permit": "#6a4fa3", "all": "#a3562a", "run": "#8a7a1f", "member": "#7f8c8d"}
BANDS = dict(zip(LANES, ("#e4572e", "#f0a202", "#8d6e63")))
HATCHED = f"fs transparent pattern 5 noborder lc rgb '{STOPPED}'"


def solid(color, opacity=1.0):
    return f"fs solid noborder lc rgb '{faded(color, opacity)}'"


def shades(held, begin, pixel):
    """The stretches [x, until] of each shade. The shade is the share of a pixel's time in which something was held."""
    share = {}
    for one in held:
        first, last = max(one.begin - begin, 0) / pixel, min((one.end - begin) / pixel, WIDTH)
        for column in range(int(first), math.ceil(last)):
            share[column] = share.get(column, 0) + min(last, column + 1) - max(first, column)
    found, before = {}, None
    for column in sorted(share):
        shade = max(1, min(math.ceil(share[column] * SHADES - 1e-6), SHADES))
        x = begin + column * pixel
        if before == (column - 1, shade):
            found[shade][-1][1] = x + pixel
        else:
            found.setdefault(shade, []).append([x, x + pixel])
        before = column, shade
    return found


def levels(canvas, faults):
    """Places the names of faults where there is room: (fault, level, whether there is room)."""
    taken, placed = [], []
    for fault in sorted(faults, key=lambda one: one.begin):
        first, last = canvas.reach(fault.begin, fault.name)
        level = next((n for n, until in enumerate(taken) if until <= min(first, max(fault.begin, canvas.begin))),
                     len(taken))
        fits = level < LEVELS
        if fits:
            taken[level:level + 1] = [max(fault.end, last)]
        placed.append((fault, level if fits else 0, fits))
    return placed


def draw_calms(canvas, calms):
    canvas.boxes([(calm.begin, calm.end, -1, 0) for calm in calms], solid(CALM, 0.5))
    for calm in calms:
        if calm.within(canvas.begin, canvas.end):
            canvas.text(calm.begin, -0.5, "calm")


def draw_faults(canvas, picture, places, bottom):
    """Names above the rows, lane by lane, and bands across the rows of those they strike. Returns where the top is."""
    top = -1
    for lane in reversed(LANES):
        shown = [fault for fault in picture.faults[lane] if fault.within(canvas.begin, canvas.end)]
        boxes, bands = [], []
        placed = levels(canvas, shown)
        for fault, level, fits in placed:
            boxes.append((fault.begin, fault.end, top - level - 0.94, top - level - 0.06))
            if fault.rows is None:
                bands.append((fault.begin, fault.end, 0, bottom))
            else:
                bands += [(fault.begin, fault.end, y - 0.5, y + 0.5) for y, row in places if row.name in fault.rows]
            if fits:
                canvas.text(fault.begin, top - level - 0.5, fault.name)
        canvas.boxes(bands, solid(BANDS[lane], 0.22))
        canvas.boxes(boxes, solid(BANDS[lane], 0.6))
        if placed:
            canvas.tick(top - 0.5, f"{lane} faults")
        top -= max((level for _, level, _ in placed), default=-1) + 1
    return top


def draw_held(canvas, places):
    for kind, color in HELD.items():
        found = {}
        for y, row in places:
            held = [one for one in row.held if one.name == kind and one.within(canvas.begin, canvas.end)]
            for shade, stretches in shades(held, canvas.begin, canvas.pixel).items():
                found.setdefault(shade, []).extend((x, until, y) for x, until in stretches)
        for shade, strokes in sorted(found.items()):
            canvas.strokes(strokes, THICK, faded(color, 0.15 + 0.85 * shade / SHADES))
        if found:
            canvas.key("with boxes " + solid(color), kind)


def draw_marks(canvas, places, overlaps):
    canvas.boxes([(one.begin, one.end, y - HALF, y + HALF) for y, row in places for one in row.stopped], HATCHED)
    at = {row.name: y for y, row in places}
    canvas.boxes([(one.begin, one.end, at[row.name] - HALF, at[row.name] + HALF)
                  for one, rows in overlaps for row in rows], solid(OVERLAP))
    canvas.marks([(x, y) for y, row in places for x in row.lost], 11, 0.75, LOST)
    canvas.marks([(x, y) for y, row in places for x in row.killed], 2, 0.7, INK)
    canvas.key("with boxes " + HATCHED, "stopped")
    canvas.key(f"with points pt 11 ps 0.75 lc rgb '{LOST}'", "LOST")
    canvas.key(f"with points pt 2 ps 0.7 lc rgb '{INK}'", "killed")
    if overlaps:
        canvas.key("with boxes " + solid(OVERLAP), "too many at once")


def heading(path, rows, canvas):
    """What the plot shows of a path, in numbers."""
    held = sum(one.within(canvas.begin, canvas.end) for row in rows for one in row.held)
    lost = sum(canvas.begin <= at <= canvas.end for row in rows for at in row.lost)
    too_many = sum(one.within(canvas.begin, canvas.end) for one, _ in path.overlaps)
    return f"{path.name}    held {held}, lost {lost}" + (f", too many at once {too_many}" if too_many else "")


def plot(logbook, svg, begin=None, end=None, path=None):
    """begin and end are seconds since the run began."""
    picture = Picture(logbook)
    if begin is None and end is None:
        begin, end = picture.window()
    begin, end = begin or 0.0, picture.length if end is None else end
    if begin >= end or begin >= picture.length:
        raise Broken(f"there is nothing between {begin:.0f} s and {end:.0f} s of a run of {picture.length:.0f} s")
    canvas, places, overlaps, bottom = Canvas(begin, end), [], [], 0.0
    for one in picture.paths.values():
        rows = [row for row in sorted(one.rows.values(), key=lambda row: row.name)
                if any(life.within(begin, end) for life in row.lives)]
        if rows and path in (None, one.name):
            canvas.text(begin, bottom + 0.6, heading(one, rows, canvas), heading=True)
            places += [(bottom + 1.5 + n, row) for n, row in enumerate(rows)]
            overlaps += one.overlaps
            bottom += len(rows) + 1.3
    if not places:
        raise Broken(f"no player plays on {path}")
    for y, row in places:
        canvas.tick(y, row.name.rpartition("-")[2])
    canvas.strokes([(life.begin, life.end, y) for y, row in places for life in row.lives], THICK, BLANK)
    draw_calms(canvas, picture.calms)
    top = draw_faults(canvas, picture, places, bottom)
    draw_held(canvas, places)
    draw_marks(canvas, places, overlaps)
    canvas.draw(svg, f"Who held when: {begin:.0f} s to {end:.0f} s of a run of {picture.length:.0f} s", top, bottom)
