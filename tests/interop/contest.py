"""A contest: players of several kinds take turns on one path, and what they left behind is judged.

Three witnesses that know nothing of ZooKeeper: the files of those who are in (two at once that must not be), the log that is
appended to while holding (who, in which order), and the fencing tokens in it.
"""
import time
from dataclasses import dataclass, field

from players import Broken

LEAST_ACQUISITIONS = 20
LEAST_SHARE = 0.02
READY_S, DONE_S, CLEAN_S = 60, 30, 2


@dataclass
class Row:
    identity: str
    kind: str
    acquisitions: int = 0
    overlaps: int = 0
    together: int = 0
    longest_wait: int = 0


@dataclass
class Result:
    rows: list
    seconds: float = 0.0
    left_over: list = field(default_factory=list)
    faults: list = field(default_factory=list)

    @property
    def total(self):
        return sum(row.acquisitions for row in self.rows)

    @property
    def overlaps(self):
        return sum(row.overlaps for row in self.rows)

    @property
    def together(self):
        return sum(row.together for row in self.rows)


def lines_of(log):
    return log.read_bytes().count(b"\n") if log.exists() else 0


def play(stage, path, cast, target, patience):
    """Let the cast, a list of (kind, identity, arguments…), take turns until `target` acquisitions are logged."""
    log = stage.work / (path.strip("/") + ".log")
    players = [stage.player(kind, identity, path, *more) for kind, identity, *more in cast]
    for player in players:
        player.expect("ready", READY_S)
    begin = time.monotonic()
    for player in players:
        player.say("go")
    while lines_of(log) < target and time.monotonic() - begin < patience:
        time.sleep(0.05)
    seconds = time.monotonic() - begin
    for player in players:
        player.end_input()
    result = Result([Row(identity, kind) for kind, identity, *_ in cast], seconds)
    for row, player in zip(result.rows, players):
        finish(row, player)
    stage.clear()
    read_log(result, log)
    return result


def finish(row, player):
    """The last line: done <identity> acquisitions=N overlaps=K together=M."""
    words = player.expect("done", DONE_S)[-1].split()
    if player.wait(DONE_S) != 0:
        raise Broken(f"{row.identity} failed: {player.complaint()}")
    numbers = dict(word.split("=") for word in words[2:])
    row.acquisitions, row.overlaps = int(numbers["acquisitions"]), int(numbers["overlaps"])
    row.together = int(numbers.get("together", 0))


def read_log(result, log):
    """Every player's lines count up by one; the tokens of Paddock's rise; how many went in between at most."""
    rows = {row.identity: row for row in result.rows}
    count = dict.fromkeys(rows, 0)
    last_turn, last_token = dict.fromkeys(rows, 0), (0, 0)
    for turn, line in enumerate(log.read_text().splitlines()):
        identity, number, token = line.split()
        count[identity] += 1
        if int(number) != count[identity]:
            result.faults.append(f"{identity} logged {number} as its entry {count[identity]}")
        rows[identity].longest_wait = max(rows[identity].longest_wait, turn - last_turn[identity] - 1)
        last_turn[identity] = turn
        if token != "-":
            token = tuple(int(part) for part in token.split("."))
            if token <= last_token:
                result.faults.append(f"token {token} was granted after {last_token}")
            last_token = token
    for identity, row in rows.items():
        if count[identity] != row.acquisitions:
            result.faults.append(f"{identity} says {row.acquisitions} acquisitions and logged {count[identity]}")


def judge(stage, zk, path, result, target, foreign=()):
    """The faults of a contest in which everybody must exclude everybody."""
    faults = list(result.faults)
    if result.overlaps:
        faults.append(f"{result.overlaps} overlaps")
    if result.total < target:
        faults.append(f"{result.total} acquisitions in {result.seconds:.0f} s, {target} were wanted")
    least = max(LEAST_ACQUISITIONS, int(result.total * LEAST_SHARE))
    for row in result.rows:
        if row.acquisitions < least:
            faults.append(f"{row.identity} got {row.acquisitions} turns, fewer than {least}")
    for file in stage.work.glob(path.strip("/") + ".witness*"):
        faults.append(f"{file.name} is still there")
    result.left_over = settle(zk, path, foreign)
    if result.left_over:
        faults.append(f"children of {path} at the end: {', '.join(result.left_over)}")
    return faults


def settle(zk, path, foreign):
    """What is on the path beyond, or missing from, the foreign children, once there was time to clean up."""
    end = time.monotonic() + CLEAN_S
    while True:
        children = set(zk.get_children(path)) if zk.exists(path) else set()
        wrong = sorted(children ^ set(foreign))
        if not wrong or time.monotonic() > end:
            return wrong
        time.sleep(0.05)


def table(result):
    width = max(len(row.kind) for row in result.rows)
    lines = [f"  {'player':<12} {'client':<{width}} {'acquisitions':>12} {'share':>6} {'overlaps':>8}"
             f" {'longest wait':>12}"]
    for row in result.rows:
        share = f"{100 * row.acquisitions / max(1, result.total):.1f}%"
        lines.append(f"  {row.identity:<12} {row.kind:<{width}} {row.acquisitions:>12} {share:>6} {row.overlaps:>8}"
                     f" {row.longest_wait:>12}")
    lines.append(f"  {'all':<12} {'':<{width}} {result.total:>12} {'':>6} {result.overlaps:>8}"
                 f"   in {result.seconds:.1f} s, nodes left {len(result.left_over)}")
    return "\n".join(lines)
