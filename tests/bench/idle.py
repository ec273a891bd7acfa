"""What a session costs that does nothing: packets and transactions of each client, one after the other, on a server of their own,
while the rows are measured on the other one."""
import threading
import time
from typing import NamedTuple

import counts
from play.bench import Bench
from play.processes import Broken
from sides import Player

READY_S, SETTLE_S = 60, 3
# name, client, session timeout in ms, objects: 1 is a lock that is held
CASES = tuple((f"{client}-{'held' if objects else 'nothing'}-{timeout_ms // 1000}", client, timeout_ms, objects)
              for client, timeout_ms in (("paddock", 15_000), ("paddock", 60_000), ("curator", 15_000), ("kazoo", 15_000))
              for objects in (0, 1))
QUICK_CASES = tuple(case for case in CASES if case[3] and case[2] == 15_000)


class Idle(NamedTuple):
    packets: float  # a second, in both directions
    writes: float  # transactions a second


class IdleSessions(threading.Thread):
    def __init__(self, build, work, quick):
        super().__init__(daemon=True)
        self.cases, self.seconds = (QUICK_CASES, 15) if quick else (CASES, 30)
        self.bench, self.found, self.failure = Bench(build, work), {}, None

    def measure(self, name, client, timeout_ms, objects):
        player = self.bench.enlist(Player(client, self.bench, f"/idle-{name}", 1, objects, 1, timeout_ms))
        player.process.expect("ready", READY_S)
        time.sleep(SETTLE_S)
        before, writes, begun = counts.of(self.bench.hosts, player.pid), counts.zxid(self.bench.hosts), time.monotonic()
        time.sleep(self.seconds)
        after, taken = counts.of(self.bench.hosts, player.pid), time.monotonic() - begun
        packets = after.sent + after.received - before.sent - before.received
        self.found[name] = Idle(packets / taken, (counts.zxid(self.bench.hosts) - writes) / taken)
        player.close()

    def run(self):
        try:
            self.bench.work.mkdir()
            self.bench.raise_server()
            for case in self.cases:
                self.measure(*case)
        except Broken as failure:
            self.failure = failure

    def end(self):
        """The results, when all are measured; none if it was not started."""
        if self.ident:
            self.join()
        if self.failure:
            raise self.failure
        return self.found

    def close(self):
        self.bench.close()
