"""Logs that are made up, and ways to tamper with them. A log is a list of [ms, who, text]; a way makes another log of
it."""
import contextlib
import io
import tempfile
from pathlib import Path

from play.logbook import MS, Logbook


def logbook_of(lines):
    with tempfile.TemporaryDirectory(prefix="paddock-test-") as folder:
        texts = {}
        for ms, who, text in lines:
            texts.setdefault(who, []).append(f"{round(ms * MS)} {text}\n")
        for who, text in texts.items():
            (Path(folder) / f"{who}.log").write_text("".join(text))
        return Logbook.read(Path(folder))


def refused(judge, good, ways):
    """Yields (words, passed): first whether the judge finds no fault in the good log. Then, for each of ways, a dict of
    words to a way to tamper, whether the judge says these words."""
    def faults(lines):
        with contextlib.redirect_stdout(io.StringIO()):
            return judge(lines)

    said = faults(good)
    yield f"a good log: {said}", said == []
    for words, tamper in ways.items():
        said = faults(tamper(good))
        yield f"{words!r} in {said}", any(words in fault for fault in said)


def change(who, text, to):
    """A way: replaces text in the lines of that player."""
    def tamper(lines):
        return [[ms, name, line.replace(text, to) if name == who else line] for ms, name, line in lines]
    return tamper


def drop(who, text):
    return lambda lines: [line for line in lines if not (line[1] == who and text in line[2])]


def add(ms, who, text):
    return lambda lines: [*lines, [ms, who, text]]


def later(who, text, by):
    return lambda lines: [[ms + by if name == who and text in line else ms, name, line] for ms, name, line in lines]
