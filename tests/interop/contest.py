"""A contest: players of several kinds take turns on one path. Then it is judged what they left behind.

Three witnesses know nothing of ZooKeeper: the files of the players that are in, which show two that exclude each
other; the log that a player appends to while it holds, which shows the order; and the fencing tokens in this log.
"""
import time
from dataclasses import dataclass, field
from pathlib import Path

from play import tables
from play.bench import Bench
from play.nodes import left_over
from play.processes import Broken, Process, die_with_parent

HERE = Path(__file__).resolve().parent
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


class ContestBench(Bench):
    def __init__(self, build, work, turns, hosts=None):
        super().__init__(build, work, hosts)
        self.turns = turns

    def command(self, kind):
        if kind == "curator":
            return self.java(HERE / "CuratorPlayer.java")
        client, mode = kind.split("-")
        program = {"kazoo": HERE / "player_kazoo.py", "paddock": None}[client] or self.find("player_paddock")
        return [program, "--mode", mode]

    def player(self, kind, identity, path, *more):
        argv = self.command(kind) + [
            "--hosts", self.hosts, "--path", path, "--witness", self.work / (path.strip("/") + ".witness"),
            "--log", self.work / (path.strip("/") + ".log"), "--identity", identity, *more,
        ]
        errors = self.work / f"{path.strip('/')}.{identity}.err"
        return self.enlist(Process(identity, argv, errors, die_with_parent))


def lines_of(log):
    return log.read_bytes().count(b"\n") if log.exists() else 0


def play(bench, path, specs, target, patience):
    """Lets players take turns until `target` acquisitions are logged. specs is a list of (kind, identity, arguments…)."""
    log = bench.work / (path.strip("/") + ".log")
    players = [bench.player(kind, identity, path, *more) for kind, identity, *more in specs]
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
    result = Result([Row(identity, kind) for kind, identity, *_ in specs], seconds)
    for row, player in zip(result.rows, players):
        finish(row, player)
    bench.clear()
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
    """Every player's lines count up by one, and Paddock's tokens rise. Notes the longest wait, in turns of others."""
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


def judge(bench, zk, path, result, target, foreign=()):
    """The faults of a contest in which all players exclude each other."""
    faults = list(result.faults)
    if result.overlaps:
        faults.append(f"{result.overlaps} overlaps")
    if result.total < target:
        faults.append(f"{result.total} acquisitions in {result.seconds:.0f} s, {target} were wanted")
    least = max(LEAST_ACQUISITIONS, int(result.total * LEAST_SHARE))
    for row in result.rows:
        if row.acquisitions < least:
            faults.append(f"{row.identity} got {row.acquisitions} turns, fewer than {least}")
    for file in bench.work.glob(path.strip("/") + ".witness*"):
        faults.append(f"{file.name} is still there")
    result.left_over = left_over(zk, [path], CLEAN_S, [f"{path}/{name}" for name in foreign])
    if result.left_over:
        faults.append(f"left behind or gone: {', '.join(result.left_over)}")
    return faults


def table(result):
    rows = [(row.identity, row.kind, row.acquisitions, f"{100 * row.acquisitions / max(1, result.total):.1f}%", row.overlaps,
             row.longest_wait) for row in result.rows]
    rows.append(("all", "", result.total, "", result.overlaps, ""))
    return (tables.table(("player", "client", "acquisitions", "share", "overlaps", "longest wait"), rows)
            + f"\n  in {result.seconds:.1f} s, nodes left {len(result.left_over)}")
