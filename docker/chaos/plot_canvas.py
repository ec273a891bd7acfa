"""Layers of strokes, boxes and marks over a stretch of time. gnuplot makes an SVG of them."""
import re
import subprocess
from pathlib import Path

from play.processes import Broken

LEFT, WIDTH, RIGHT, TOP, BOTTOM = 92, 1400, 18, 40, 56  # pixels around and of the plot
UNIT, LETTER = 17, 6.3  # pixels: the height of a row, the width of a letter
FONT, OTHER_FONTS = "DejaVu Sans", "Verdana, sans-serif"  # as wide, where there is no DejaVu
INK, FRAME, GRID = "#212529", "#6c757d", "#ced4da"


def faded(color, opacity):
    """The colour with this opacity, as gnuplot writes it."""
    return f"#{round((1 - opacity) * 255):02x}{color[1:]}"


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def bold(text):
    """In gnuplot's markup. Characters with a meaning there are escaped."""
    return "{/:Bold " + re.sub(r"([{}_^@&~\\])", r"\\\1", text) + "}"


class Canvas:
    """Layers from the back to the front, in the order of the calls. x is in seconds, y in rows, downwards."""

    def __init__(self, begin, end):
        self.begin, self.end = begin, end
        self.pixel = (end - begin) / WIDTH
        self.blocks, self.layers, self.labels, self.ticks = [], [], [], []

    def inside(self, x, until):
        return x < self.end and until > self.begin

    def layer(self, style, data):
        if data:
            self.layers.append(f"$d{len(self.blocks)} {style} notitle")
            self.blocks.append(f"$d{len(self.blocks)} << EOD\n" + "\n".join(data) + "\nEOD")

    def boxes(self, boxes, fill):
        """(x, until, y, below) each, wide enough to be seen."""
        data = []
        for x, until, y, below in boxes:
            if self.inside(x, until):
                x = max(x, self.begin)
                until = min(max(until, x + 1.5 * self.pixel), self.end)
                data.append(f"{x:.4f} {y} {x:.4f} {until:.4f} {y} {below}")
        self.layer(f"using 1:2:3:4:5:6 with boxxyerror {fill}", data)

    def strokes(self, strokes, width, color):
        """(x, until, y) each, so many pixels wide."""
        self.layer(f"using 1:2 with lines lw {width} lc rgb '{color}'",
                   [f"{max(x, self.begin):.4f} {y}\n{min(until, self.end):.4f} {y}\n"
                    for x, until, y in strokes if self.inside(x, until)])

    def marks(self, marks, sort, size, color):
        self.layer(f"using 1:2 with points pt {sort} ps {size} lc rgb '{color}'",
                   [f"{x:.4f} {y}" for x, y in marks if self.begin <= x <= self.end])

    def key(self, style, title):
        self.layers.append(f"keyentry {style} title {quoted(title)}")

    def reach(self, x, text):
        """From where to where a text at x is written: from x on, but within the picture."""
        wide = (len(text) + 1) * LETTER * self.pixel
        x = min(max(x, self.begin) + 3 * self.pixel, self.end - wide)
        return x, x + wide

    def text(self, x, y, text, heading=False):
        written = quoted(bold(text)) if heading else quoted(text) + " noenhanced"
        self.labels.append(f"set label {written} at {self.reach(x, text)[0]:.4f},{y} left front textcolor rgb '{INK}'")

    def tick(self, y, text):
        self.ticks.append(f"{quoted(text)} {y}")

    def script(self, title, top, bottom):
        width, height = LEFT + WIDTH + RIGHT, TOP + round((bottom - top) * UNIT) + BOTTOM
        return "\n".join([
            *self.blocks,
            f"set terminal svg size {width},{height} dynamic font '{FONT},11' background '#ffffff'",
            f"set lmargin at screen {LEFT / width}; set rmargin at screen {(LEFT + WIDTH) / width}",
            f"set tmargin at screen {1 - TOP / height}; set bmargin at screen {BOTTOM / height}",
            f"set xrange [{self.begin}:{self.end}]; set yrange [{bottom}:{top}]",
            f"set border 1 lc rgb '{FRAME}'; set tics nomirror out scale 0.5 textcolor rgb '{INK}'",
            f"set ytics scale 0 ({', '.join(self.ticks)}) noenhanced; set grid xtics lt 1 lc rgb '{GRID}' lw 0.6",
            f"set format x '%g s'; set title {quoted(title)} noenhanced font '{FONT},14'",
            f"set key at screen {LEFT / width},{6 / height} left bottom horizontal Left reverse",
            "set key samplen 1 width -1 maxrows 1",
            *self.labels,
            "plot " + ", \\\n  ".join(self.layers), ""])

    def draw(self, svg, title, top, bottom):
        try:
            done = subprocess.run(["gnuplot"], input=self.script(title, top, bottom), text=True, capture_output=True)
        except FileNotFoundError:
            raise Broken("there is no gnuplot: apt-get install gnuplot-nox") from None
        if done.returncode or done.stderr.strip():
            raise Broken(f"gnuplot: {done.stderr.strip()[-600:]}")
        Path(svg).write_text(done.stdout.replace(f'font-family="{FONT}"', f'font-family="{FONT}, {OTHER_FONTS}"'))
