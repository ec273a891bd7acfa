"""Logs that are made up, and ways to tamper with them: a log is a list of [ms, who, text], a way makes another of it."""
import contextlib
import io
import tempfile
from pathlib import Path

from logbook import MS, Logbook


def logbook_of(lines):
    with tempfile.TemporaryDirectory(prefix="paddock-test-") as folder:
        pages = {}
        for ms, who, text in lines:
            pages.setdefault(who, []).append(f"{round(ms * MS)} {text}\n")
        for who, page in pages.items():
            (Path(folder) / f"{who}.log").write_text("".join(page))
        logbook = Logbook(Path(folder))
        logbook.poll()
        return logbook


def refused(judge, good, ways):
    """For each of ways, a dict of words to tamperings: whether the judge, silent on the good log, says these words."""
    def faults(lines):
        with contextlib.redirect_stdout(io.StringIO()):
            return judge(lines)

    said = faults(good)
    yield f"a good log: {said}", said == []
    for words, tamper in ways.items():
        said = faults(tamper(good))
        yield f"{words!r} in {said}", any(words in fault for fault in said)


def change(who, text, to):
    """The lines of that player, with text in them replaced: a tampering."""
    def tamper(lines):
        return [[ms, name, line.replace(text, to) if name == who else line] for ms, name, line in lines]
    return tamper


def drop(who, text):
    return lambda lines: [line for line in lines if not (line[1] == who and text in line[2])]


def add(ms, who, text):
    return lambda lines: [*lines, [ms, who, text]]


def later(who, text, by):
    return lambda lines: [[ms + by if name == who and text in line else ms, name, line] for ms, name, line in lines]


def valid_until(who, ms):
    """The last instant at which it was seen valid becomes that one."""
    def tamper(lines):
        return [[when, name, " ".join(f"last={round(ms * MS)}" if word.startswith("last=") else word
                                      for word in line.split(" ")) if name == who else line]
                for when, name, line in lines]
    return tamper
