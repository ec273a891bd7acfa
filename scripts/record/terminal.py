"""A terminal of our own: a program runs on it, and what it shows is kept with its times."""
import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

SEQUENCE = re.compile(r"\x1b\[([0-9;?]*)([@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][0-9A-Z]|\x1b[=>78M]")
LONGEST = 100  # characters of a sequence that has not ended
PLAIN = ("", False)  # colour, bold
TYPED, SOON = 0.06, 0.9  # seconds between keys; where more happens within that time, it belongs together


class Failed(Exception):
    """A scene did not come about."""


class Screen:
    """What a terminal shows: rows that are numbered from the first one on, of which the last `rows` are seen."""

    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.cells = {}  # row: [(character, style)…]
        self.top = self.row = self.column = 0
        self.style, self.wraps, self.rest = PLAIN, True, ""
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, data):
        text, at = self.rest + self.decoder.decode(data), 0
        self.rest = ""
        while at < len(text):
            if text[at] != "\x1b":
                self.put(text[at])
                at += 1
            elif match := SEQUENCE.match(text, at):
                self.obey(match)
                at = match.end()
            elif len(text) - at < LONGEST:
                self.rest = text[at:]
                return
            else:
                at += 1

    def put(self, character):
        if character == "\n":
            self.line_feed()
        elif character == "\r":
            self.column = 0
        elif character == "\b":
            self.column = max(0, self.column - 1)
        elif character == "\t":
            self.column = min(self.columns - 1, self.column // 8 * 8 + 8)
        elif character >= " ":
            if self.column >= self.columns:
                if self.wraps:
                    self.column = 0
                    self.line_feed()
                else:
                    self.column = self.columns - 1
            row = self.cells.setdefault(self.row, [])
            row.extend([(" ", PLAIN)] * (self.column + 1 - len(row)))
            row[self.column] = (character, self.style)
            self.column += 1

    def line_feed(self):
        self.row += 1
        self.top = max(self.top, self.row - self.rows + 1)

    def obey(self, match):
        words, verb = match[1], match[2]
        if not verb or words.startswith("?"):
            if verb in ("h", "l") and words == "?7":
                self.wraps = verb == "h"
            return
        numbers = [int(word) if word else 0 for word in words.split(";")]
        least = max(1, numbers[0])
        if verb == "m":
            self.paint(numbers)
        elif verb in "Hf":
            self.row = self.top + min(least, self.rows) - 1
            self.column = max(1, numbers[1] if len(numbers) > 1 else 1) - 1
        elif verb in "JK":
            self.erase(verb, numbers[0])
        elif verb in "ABCDG":
            self.move(verb, least)
        elif verb == "P":
            del self.cells.get(self.row, [])[self.column:self.column + least]
        elif verb == "@":
            self.cells.get(self.row, [])[self.column:self.column] = [(" ", PLAIN)] * least

    def paint(self, numbers):
        color, bold = self.style
        for number in numbers:
            if number == 0:
                color, bold = PLAIN
            elif number == 1:
                bold = True
            elif number == 22:
                bold = False
            elif number == 39:
                color = ""
            elif number in range(30, 38) or number in range(90, 98):
                color = str(number)
        self.style = color, bold

    def erase(self, verb, how):
        row = self.cells.get(self.row, [])
        if how == 0:
            del row[self.column:]
        elif how == 1:
            row[:self.column + 1] = [(" ", PLAIN)] * min(len(row), self.column + 1)
        else:
            row.clear()
        if verb == "J":
            for other in list(self.cells):
                if (how != 1 and other > self.row) or (how != 0 and self.top <= other < self.row):
                    del self.cells[other]

    def move(self, verb, count):
        if verb == "A":
            self.row = max(self.top, self.row - count)
        elif verb == "B":
            self.row = min(self.top + self.rows - 1, self.row + count)
        else:
            to = {"C": self.column + count, "D": self.column - count, "G": count - 1}[verb]
            self.column = max(0, min(self.columns - 1, to))

    def seen(self):
        """{row: ((text, style)…)} of the rows that are not blank."""
        found = {}
        for row in range(self.top, self.top + self.rows):
            runs = []
            for character, style in self.cells.get(row, ()):
                if runs and (runs[-1][1] == style or character == " "):
                    runs[-1] = (runs[-1][0] + character, runs[-1][1])
                else:
                    runs.append((character, style))
            while runs and not runs[-1][0].strip():
                runs.pop()
            if runs:
                runs[-1] = (runs[-1][0].rstrip(), runs[-1][1])
                found[row] = tuple(runs)
        return found


def lines_of(rows, top, count):
    """The rows as plain text."""
    return ["".join(text for text, _ in rows.get(row, ())) for row in range(top, top + count)]


class Session:
    """A program on a terminal. `frames` has what was seen: (seconds, first row, rows). What is `said` stands there before."""

    def __init__(self, words, columns, rows, environment=None, folder=None, said=""):
        self.screen, self.begun, self.ended = Screen(columns, rows), time.monotonic(), False
        self.screen.feed(said.encode())
        self.frames = [(0.0, self.screen.top, self.screen.seen())]
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            try:
                os.chdir(folder or ".")
                os.execvpe(words[0], list(map(str, words)), environment or os.environ)
            finally:
                os._exit(127)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def now(self):
        return time.monotonic() - self.begun

    def take(self):
        """What the program has written so far. False at its end."""
        try:
            data = os.read(self.terminal, 65536)
        except OSError:
            data = b""
        self.screen.feed(data)
        frame = (self.now(), self.screen.top, self.screen.seen())
        if frame[1:] != self.frames[-1][1:]:
            self.frames.append(frame)
        self.ended = not data
        return bool(data)

    def wait(self, seconds):
        end = time.monotonic() + seconds
        while not self.ended and (left := end - time.monotonic()) > 0:
            if select.select([self.terminal], [], [], left)[0]:
                self.take()

    def text(self):
        return "\n".join(lines_of(self.screen.seen(), self.screen.top, self.screen.rows))

    def until(self, pattern, seconds=30):
        """Until the screen has this, and a little longer."""
        end = time.monotonic() + seconds
        while not re.search(pattern, self.text(), re.M):
            if time.monotonic() > end or self.ended:
                raise Failed(f"no {pattern!r} on the screen:\n{self.text()}")
            self.wait(0.05)
        self.wait(0.3)

    def type(self, words, enter=True, key_by_key=True):
        """Types a line. Unless key_by_key, the frames do not show how it grows."""
        begun = len(self.frames)
        for key in words:
            os.write(self.terminal, key.encode())
            self.wait(TYPED)
        if not key_by_key:
            del self.frames[begun:-1]
        if enter:
            os.write(self.terminal, b"\r")

    def transcript(self):
        return as_text(self.frames, self.screen.rows)

    def finish(self, seconds=60):
        """Until the program ends. Its exit status."""
        self.wait(seconds)
        return self.close()

    def close(self):
        if not self.ended:
            os.kill(self.pid, signal.SIGHUP)
            self.wait(2)
        os.close(self.terminal)
        for _ in range(100):
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.05)
        os.kill(self.pid, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def merged(frames, seconds=0.06):
    """Those frames that stood for a moment: a screen that is being drawn is none."""
    kept = []
    for at, frame in enumerate(frames):
        if at + 1 == len(frames) or frames[at + 1][0] - frame[0] >= seconds:
            kept.append(frame)
    return kept


def as_text(frames, rows):
    """The frames as plain text, one below the other. Where more follows at once, only the last one is there."""
    texts = [(at, "\n".join(lines_of(found, top, rows)).rstrip()) for at, top, found in merged(frames, 0.15)]
    kept = [(at, text) for i, (at, text) in enumerate(texts)
            if text and not (i + 1 < len(texts) and texts[i + 1][0] - at < SOON and texts[i + 1][1].startswith(text))]
    return "\n".join(f"──── {at:.1f} s\n{text}\n" for at, text in kept)
