"""The ratios of all rows as a picture: gnuplot makes an SVG of them. It is narrow, so that its letters can be read on a phone."""
import re
import subprocess

import rows
from play.processes import Broken

WIDTH, ROW, LEFT, RIGHT, TOP, BOTTOM = 640, 54, 16, 24, 48, 92  # pixels
FONT, OTHER_FONTS = "DejaVu Sans", "Verdana, sans-serif"  # as wide, where there is no DejaVu
INK, FRAME, GRID = "#212529", "#6c757d", "#dee2e6"
MARKS = {"floor": ("#e8590c", 7, "a bare client"), "curator": ("#1971c2", 5, "Curator"), "kazoo": ("#2f9e44", 9, "kazoo")}
BETWEEN, BELOW, NAME = 0.17, 0.16, -0.32  # rows: between the marks of a row; its middle mark; its name


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def points(results, side, shift):
    """median, row, quartile, quartile"""
    for at, row in enumerate(row for row in rows.ROWS if row.name in results.rows):
        ratio = results.rows[row.name].ratio(side, row.unit)
        if ratio:
            yield f"{ratio.median:.4g} {at + shift:.2f} {ratio.low:.4g} {ratio.high:.4g}"


def script(results):
    shown = [row for row in rows.ROWS if row.name in results.rows]
    height = TOP + ROW * len(shown) + BOTTOM
    blocks, plots = [], []
    for at, (side, (color, mark, words)) in enumerate(MARKS.items()):
        found = list(points(results, side, (at - 1) * BETWEEN + BELOW))
        if found:
            blocks.append(f"${side} << EOD\n" + "\n".join(found) + "\nEOD")
            plots.append(f"${side} using 1:2:3:4 with xerrorbars pt {mark} ps 0.9 lw 1.4 lc rgb '{color}' title {quoted(words)}")
    names = [f"set label {at + 1} {quoted(row.title.replace('`', ''))} at graph 0, first {at + NAME} left offset 0.5,0 noenhanced boxed front tc rgb '{INK}'"
             for at, row in enumerate(shown)]
    return "\n".join([
        *blocks, *names,
        f"set terminal svg size {WIDTH},{height} dynamic font '{FONT},14' background '#ffffff'",
        f"set lmargin at screen {LEFT / WIDTH}; set rmargin at screen {1 - RIGHT / WIDTH}",
        f"set tmargin at screen {1 - TOP / height}; set bmargin at screen {BOTTOM / height}",
        f"set border 1 lc rgb '{FRAME}'; set tics nomirror out scale 0.5 textcolor rgb '{INK}'",
        f"set logscale x 2; set yrange [{len(shown) - 0.5}:-0.6]; unset ytics",
        f"set grid xtics lt 1 lc rgb '{GRID}' lw 0.6; set format x '%g'",
        "set xlabel \"our speed by theirs: right of 1 Paddock is faster.\\nThe bars are the quartiles of the rounds\" noenhanced offset 0,0.4",
        f"set arrow from 1, graph 0 to 1, graph 1 nohead back lw 1.4 lc rgb '{INK}'",
        "set style textbox opaque noborder fillcolor rgb '#ffffff' margins 0.5,0.3",
        "set key at graph 1, graph 1.01 right bottom horizontal maxrows 1 samplen 1 noenhanced",
        "plot " + ", ".join(plots), ""])


def draw(results, svg):
    try:
        done = subprocess.run(["gnuplot"], input=script(results), text=True, capture_output=True, check=False)
    except FileNotFoundError:
        raise Broken("there is no gnuplot: apt-get install gnuplot-nox") from None
    if done.returncode or done.stderr.strip():
        raise Broken(f"gnuplot: {done.stderr.strip()[-600:]}")
    drawn = done.stdout.replace(f'font-family="{FONT}"', f'font-family="{FONT}, {OTHER_FONTS}"')
    svg.write_text(re.sub(r"[ \t]+$", "", drawn, flags=re.M))
