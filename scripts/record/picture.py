"""A recording as an SVG that moves by CSS alone, so that it plays wherever a page shows it as a picture.

Each content of a row is a text that is seen from one moment to another. Where nothing moves, as on paper or for readers who want
no motion, the last screen is seen.
"""
import html

import terminal

SIZE, ADVANCE, LEADING = 14, 8.43, 19  # pixels; a letter of the usual fonts is that wide at that size
MARGIN, BAR, HOLD = 14, 30, 6.0  # HOLD: seconds that the last screen stands
FONTS = "ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,'Liberation Mono',monospace"
GROUND, FRAME, INK, FAINT, ACCENT = "#0d1117", "#3d444d", "#e6edf3", "#9198a1", "#56d4dd"
COLORS = {"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "34": "#79c0ff", "35": "#d2a8ff", "36": "#56d4dd", "90": "#9198a1"}


class Clock:
    """The moments of a loop as keyframes."""

    def __init__(self, seconds):
        self.seconds, self.names, self.rules = seconds, {}, []

    def percent(self, at):
        return f"{100 * at / self.seconds:.2f}".rstrip("0").rstrip(".") + "%"

    def seen(self, begin, end):
        """Attributes of what is seen from begin to end; end None: and at last."""
        if begin <= 0 and end is None:
            return ""
        if (begin, end) not in self.names:
            name = self.names[begin, end] = f"k{len(self.names)}"
            steps = [] if begin <= 0 else ["0%{visibility:hidden}"]
            steps.append(f"{self.percent(max(0, begin))}{{visibility:visible}}")
            if end is not None:
                steps.append(f"{self.percent(end)}{{visibility:hidden}}")
            self.rules.append(f"@keyframes {name}{{{''.join(steps)}}}")
        return f' class="{"a" if end is None else "a h"}" style="animation-name:{self.names[begin, end]}"'

    def rolled(self, tops):
        """Attributes of what moves up by rows."""
        if len(tops) < 2:
            return ""
        steps = "".join(f"{self.percent(at)}{{transform:translateY({-top * LEADING}px)}}" for at, top in tops)
        self.rules.append(f"@keyframes roll{{{steps}}}")
        return f' class="a" style="animation-name:roll;transform:translateY({-tops[-1][1] * LEADING}px)"'


def span(text, style):
    color, bold = style
    names = " ".join((["c" + color] if color in COLORS else []) + (["b"] if bold else []))
    words = html.escape(text, quote=False)
    return f'<tspan class="{names}">{words}</tspan>' if names else words


def row_of(runs, row, attributes):
    """A row of the terminal, as wide as its letters have to be in any font."""
    first = runs[0][0]
    indent = len(first) - len(first.lstrip())
    runs = ((first.lstrip(), runs[0][1]), *runs[1:])
    length = sum(len(text) for text, _ in runs)
    return (f'<text x="{indent * ADVANCE:.1f}" y="{row * LEADING + SIZE}" textLength="{length * ADVANCE:.1f}"{attributes}>'
            f'{"".join(span(*run) for run in runs)}</text>')


def intervals(frames):
    """(row, its content, from, to) and, at last, [(moment, first row)…]"""
    open_rows, found, tops = {}, [], []
    for at, top, rows in frames:
        if not tops or tops[-1][1] != top:
            tops.append((at, top))
        for row in [row for row, (runs, _) in open_rows.items() if row >= top and rows.get(row) != runs]:
            runs, since = open_rows.pop(row)
            found.append((row, runs, since, at))
        for row, runs in rows.items():
            open_rows.setdefault(row, (runs, at))
    found += [(row, runs, since, None) for row, (runs, since) in open_rows.items()]
    return sorted(found, key=lambda one: (one[0], one[2])), tops


def style(clock):
    colors = "".join(f".c{number}{{fill:{color}}}" for number, color in COLORS.items())
    return (f"text{{font:{SIZE}px {FONTS};fill:{INK};white-space:pre}}{colors}.b{{font-weight:600}}.h{{visibility:hidden}}"
            f".t{{font-size:13px;fill:{FAINT}}}.n{{font-size:15px;fill:{ACCENT}}}"
            f".a{{animation:{clock.seconds:.2f}s step-end infinite}}"
            f".p{{animation:p {clock.seconds:.2f}s linear infinite}}@keyframes p{{from{{transform:scaleX(0)}}}}"
            f"{''.join(clock.rules)}@media (prefers-reduced-motion:reduce){{.a,.p{{animation:none}}}}")


def draw(frames, columns, rows, title, words, notes=()):
    """The SVG. notes: [(moment, text)…], what is done meanwhile, in a line below the terminal."""
    frames = [(at if i else 0.0, top, seen) for i, (at, top, seen) in enumerate(terminal.merged(frames))]
    clock = Clock(frames[-1][0] + HOLD)
    width, inner = round(columns * ADVANCE + 2 * MARGIN), rows * LEADING
    height = BAR + inner + MARGIN + (30 if notes else 0)
    found, tops = intervals(frames)
    lines = [row_of(runs, row, clock.seen(begin, end)) for row, runs, begin, end in found]
    ends = [at for at, _ in notes[1:]] + [None]
    told = [f'<text x="{MARGIN}" y="{height - 13}"{noted(clock.seen(at, end))}>{html.escape(text)}</text>'
            for (at, text), end in zip(notes, ends)]
    rolled = clock.rolled(tops)
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" xml:space="preserve">',
        f"<title>{html.escape(words)}</title>",
        f"<style>{style(clock)}</style>",
        f'<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8" fill="{GROUND}" stroke="{FRAME}"/>',
        *(f'<circle cx="{18 + 16 * i}" cy="15" r="5" fill="{FRAME}"/>' for i in range(3)),
        f'<text class="t" x="{width / 2:.0f}" y="20" text-anchor="middle">{html.escape(title)}</text>',
        f'<rect class="p" y="{BAR - 1}" width="{width}" height="2" fill="{ACCENT}" opacity=".5"/>',
        f'<svg x="{MARGIN}" y="{BAR + 4}" width="{width - MARGIN}" height="{inner}">', f"<g{rolled}>", *lines, "</g>", "</svg>",
        *told, "</svg>", ""])


def noted(attributes):
    return attributes.replace('class="', 'class="n ') if attributes else ' class="n"'
