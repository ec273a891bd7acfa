"""The read/write lock: threads of several processes read and rewrite one file; some write and then read on.

A writer is never in with anybody else. The data does not change while a reader reads it. All are served in the order of the
nodes, so no writer waits for a reader that came later. Tokens rise as rwlock.h says.
"""
import time

import rwlock_judge
from trial_bench import PATH, READY_S

SESSION_MS = 20000  # a waiter that nobody wakes looks again after this time, which shows
SECONDS, QUICK_SECONDS = 60, 20
RECORD = b"%020d.%010d\n" % (0, 0)
RECORDS = 4
CLEAN_S = 5
ALIKE = 5  # processes with the usual mixture of turns


def links(_options):
    return []


def players_of(options):
    """Names, programs and arguments. One process only reads, one only writes, and one thread looks without the lock."""
    ours = [("reader", "player_rwlock", "--write", "0"), ("writer", "player_rwlock", "--write", "100"),
            ("peeker", "player_rwlock", "--peek", "--threads", "4")]
    names = [f"p{i}" for i in range(1, ALIKE + 1)]
    curators = 3 if options.curator else 0
    return ours + [(f"curator{name[1:]}", "RwPlayer.java", "--threads", "3") if i < curators else
                   (name, "player_rwlock") for i, name in enumerate(names)]


def run(bench, options):
    ledger = bench.work / "ledger"
    ledger.write_bytes(RECORD * RECORDS)
    players = [bench.start(name, program, "--ledger", ledger, *more, wait=False)
               for name, program, *more in players_of(options)]
    for player in players:
        player.expect("ready", READY_S)
    begin = time.monotonic()
    for player in players:
        player.say("go")
    seconds = options.seconds or (QUICK_SECONDS if options.quick else SECONDS)
    while time.monotonic() < begin + seconds and all(player.alive for player in players):
        time.sleep(0.1)
    left = bench.rest(players, [PATH], CLEAN_S)
    for player in players:
        bench.finish(player)
    bench.logbook.poll()
    return left + rwlock_judge.judge(bench.logbook, options.curator, seconds)
