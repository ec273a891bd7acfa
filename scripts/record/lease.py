"""The end of a lease beside the next grant: a holder is cut off in a real run, and the times that were measured are drawn."""
import html
import json
import os
import re
import subprocess
import tempfile
import threading
import time

from terminal import Failed

TIMEOUT, TICK_MS = 15, 2000  # the defaults of Paddock and of ZooKeeper
PATH = "/jobs/backup"
# A command that goes on after its TERM. It alone writes into the pipe, so the end of the pipe is its death.
WORK = "exec >\"$0\" 2>&1; trap 'echo TERM' TERM; echo held; while :; do sleep 0.02; done"
WIDTH, LEFT, RIGHT = 640, 20, 20
LANE, BAR, TOP = 58, 20, 132


class Lines:
    """The lines of a process, with their moments; and the moment of its end."""

    def __init__(self, source):
        """source: a stream, or the path of a pipe that somebody else opens."""
        self.lines, self.end = [], None
        self.reader = threading.Thread(target=self.read, args=(source,), daemon=True)
        self.reader.start()

    def read(self, source):
        with open(source, encoding="utf-8") if isinstance(source, str) else source as stream:
            for line in stream:
                self.lines.append((time.monotonic(), line.rstrip("\n")))
            self.end = time.monotonic()

    def first(self, pattern, seconds=60):
        """The first line with this: its moment, and the match."""
        found = []
        at = self.await_line(lambda line: found.append(re.search(pattern, line)) or found[-1], seconds)
        return at, found[-1]

    def await_line(self, fits, seconds=60):
        """The moment of the first line that fits."""
        limit, next_one = time.monotonic() + seconds, 0
        while time.monotonic() < limit:
            for at, line in self.lines[next_one:]:
                next_one += 1
                if fits(line):
                    return at
            time.sleep(0.005)
        raise Failed(f"a line does not come after {[line for _, line in self.lines]}")

    def ended(self, seconds=60):
        self.reader.join(seconds)
        if self.end is None:
            raise Failed("a process does not end")
        return self.end


class Run:
    """Processes of a run, which ends them."""

    def __init__(self, build):
        self.build, self.processes = build, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            if process.stdin:
                process.stdin.close()  # the servers end by this
            else:
                process.kill()  # the guardian of a command ends it
            process.wait()

    def start(self, *words, **more):
        process = subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE, text=True, **more)
        self.processes.append(process)
        return process

    def servers(self, *options):
        """The way in, a way that can be cut, and what gives orders."""
        process = self.start(self.build / "tests/programs/zk", "--link", "victim", *options, stdin=subprocess.PIPE)
        words = [process.stdout.readline().split() for _ in range(2)]
        hosts = {word[0]: word[-1] for word in words if word}
        if set(hosts) != {"link", "hosts"}:
            raise Failed("the servers do not start")

        def order(line):
            print(line, file=process.stdin, flush=True)
            if process.stdout.readline() != "ok\n":
                raise Failed(line)
        return hosts["hosts"], hosts["link"], order


def gone(line, token):
    """Does a line of `watch --json` say that this holder's node has gone?"""
    return all(one["token"] != token for one in json.loads(line).get("contenders", [{"token": token}]))


def measure(build):
    """{what: seconds after the cut}"""
    paddock = build / "command/paddock"
    with tempfile.TemporaryDirectory() as folder, Run(build) as run:
        hosts, link, order = run.servers("--tick", TICK_MS)
        pipe = folder + "/pipe"
        os.mkfifo(pipe)
        worked = Lines(pipe)
        holder = run.start(paddock, "run", "-s", link, "--session-timeout", TIMEOUT, "--timing", PATH, "--", "sh", "-c", WORK, pipe,
                           stderr=subprocess.PIPE)
        said = Lines(holder.stderr)
        worked.first("held")
        shown = json.loads(subprocess.run([paddock, "show", "--json", "-s", hosts, PATH], stdout=subprocess.PIPE, check=True).stdout)
        token = shown["contenders"][0]["token"]
        watched = Lines(run.start(paddock, "watch", "--json", "--every", 0.05, "-s", hosts, PATH).stdout)
        waiter = Lines(run.start(paddock, "run", "-s", hosts, "--session-timeout", TIMEOUT, PATH, "--", "sh", "-c", "echo granted").stdout)
        watched.first(r'"position": ?1\b')
        time.sleep(1.2 * TIMEOUT)  # a lease is longer right after the beginning of a session
        cut = time.monotonic()
        order("cut victim")
        told, left = said.first(r"timing: TERM is sent: .* KILL in (-?\d+) ms")
        times = {"TERM": worked.first("TERM")[0] - cut, "end": told + int(left[1]) / 1000 - cut, "KILL": worked.ended() - cut,
                 "granted": waiter.first("granted", 3 * TIMEOUT)[0] - cut}
        # Seen within a twentieth of a second. The grant proves it, too.
        times["expired"] = min(watched.await_line(lambda line: gone(line, token)) - cut, times["granted"])
    if not 0 < times["TERM"] < times["KILL"] < times["granted"]:
        raise Failed(f"the machine was too busy: {times}")
    return times


def text(x, y, words, anchor="start", name=""):
    return f'<text x="{x:.0f}" y="{y}" text-anchor="{anchor}"{f" class={chr(34)}{name}{chr(34)}" if name else ""}>{html.escape(words)}</text>'


def bar(begin, end, y, name):
    return f'<rect x="{begin:.1f}" y="{y}" width="{max(0.0, end - begin):.1f}" height="{BAR}" rx="3" class="{name}"/>'


STYLE = """
text{font:15px 'DejaVu Sans',Verdana,'Helvetica Neue',Arial,sans-serif;fill:#1f2328}
.s{font-size:13px;fill:#59636e}.o{paint-order:stroke;stroke:#fff;stroke-width:4px}.b{font-weight:600}.m{font-size:14px}
.card{fill:#fff;stroke:#d1d9e0}.line{stroke:#818b98;stroke-dasharray:3 3}
.work{fill:#2da44e}.late{fill:#e8890c}.lease{fill:#1f6feb}.session{fill:#afb8c1}.wait{fill:#dfe4ea}.none{fill:#1f6feb;opacity:.1}
.in{fill:#fff;font-weight:600;font-size:14px}.dark{fill:#1f2328;font-weight:600;font-size:14px}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.s{fill:#9198a1}.card{fill:#151b23;stroke:#3d444d}.o{stroke:#151b23}
.work{fill:#238636}.late{fill:#b76a05}.session{fill:#656c76}.wait{fill:#2a313c}.none{opacity:.25}.in{fill:#fff}.dark{fill:#e6edf3}}
"""


def draw(times):
    """The SVG."""
    begin, end = -2.0, times["granted"] + 3.2
    scale = (WIDTH - LEFT - RIGHT) / (end - begin)

    def at(moment):
        return LEFT + (moment - begin) * scale
    cut, term, kill, over, next_one = at(0), at(times["TERM"]), at(times["KILL"]), at(times["end"]), at(times["granted"])
    ys = [TOP + LANE * lane + 22 for lane in range(4)]
    bottom, middle = TOP + 4 * LANE, (over + next_one) / 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 44}" width="{WIDTH}" height="{bottom + 44}" role="img">',
        "<title>A holder is cut off: its command is killed, and its lease is over, long before the next one is granted the lock</title>",
        f"<style>{STYLE}</style>",
        f'<rect x=".5" y=".5" width="{WIDTH - 1}" height="{bottom + 43}" rx="8" class="card"/>',
        text(LEFT, 30, "A holder is cut off from ZooKeeper", name="b"),
        text(LEFT, 51, f"a real run of paddock run, session timeout {TIMEOUT} s; seconds after the cut", name="s"),
        f'<rect x="{over:.1f}" y="{TOP - 4}" width="{next_one - over:.1f}" height="{4 * LANE + 12}" class="none"/>',
    ]
    for x, words, when in ((cut, "cut off", 0), (term, "TERM", times["TERM"]), (kill, "KILL", times["KILL"]),
                           (next_one, "next grant", times["granted"])):
        parts += [f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 24}" y2="{bottom + 8}" class="line"/>',
                  text(x, TOP - 46, words, "middle", "b"), text(x, TOP - 29, f"{when:.1f} s" if when else "0 s", "middle", "m")]
    for y, words in zip(ys, ("its command", "its lease: the hold is valid", "its session, on the servers", "the next in the queue")):
        parts.append(text(LEFT, y - 7, words, name="s o"))
    parts += [
        bar(LEFT, term, ys[0], "work"), bar(term, kill, ys[0], "late"), bar(LEFT, over, ys[1], "lease"),
        bar(LEFT, at(times["expired"]), ys[2], "session"), bar(LEFT, next_one, ys[3], "wait"), bar(next_one, WIDTH - RIGHT, ys[3], "work"),
        text(LEFT + 8, ys[0] + 15, "works", name="in"), text((term + kill) / 2, ys[0] + 15, "ends", "middle", "in"),
        text(LEFT + 8, ys[3] + 15, "waits", name="dark"), text(next_one + 8, ys[3] + 15, "holds", name="in"),
        text(middle, ys[0] + 7, "nobody holds", "middle", "b"), text(middle, ys[0] + 26, f"{times['granted'] - times['end']:.1f} s", "middle", "m"),
        text(at(times["expired"]) - 8, ys[2] + 15, "expires", "end", "dark"),
        text(LEFT, bottom + 30, f"killed at {times['KILL']:.2f} s; lease over at {times['end']:.2f} s; session expired, and next grant, "
             f"at {times['granted']:.2f} s", name="s"),
        "</svg>", ""]
    return "\n".join(parts)
