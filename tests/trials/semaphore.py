"""The semaphore: 12 processes and 3 permits, of which some threads take several, while processes are killed and paused.

There are never more valid permits than there are permits. The dead leave none behind. An earlier entry in the queue
is served earlier. Everybody gets turns. A process that asks with another number of permits is refused and does no
harm.
"""
import time

from play.processes import Broken

import semaphore_judge
from trial_bench import PATH, READY_S

SESSION_MS = 3000  # a player that was killed blocks the others for this time
PERMITS = 3
SECONDS, QUICK_SECONDS = 60, 20
CURATORS = 4
PEACE = 0.25  # of the time, at the beginning: nothing is done
QUIET_S = (1.0, 3.0)  # between one mishap and the next
PAUSES = 0.25  # of all mishaps; in the others a player is killed,
HOLDING = 0.6  # and in this part of those while it holds permits, if that happens within
AIM_S = 2.0
HANDOVERS = 3  # in a row, between threads that share a semaphore
CLEAN_EXTRA_S = 15
SLOTS = {
    # One thread each. They note when they are in the queue.
    "one1": ["--observe"], "one2": ["--observe"], "one3": ["--observe"], "two": ["--observe", "--most", "2"],
    "all1": ["--observe", "--most", "3"], "all2": ["--observe", "--most", "3"],
    # Threads that share a semaphore.
    **{f"threads{i}": ["--threads", threads, "--most", most, "--handovers", HANDOVERS]
       for i, (threads, most) in enumerate(((3, 1), (3, 2), (2, 3), (2, 1)), 1)},
    "eager1": ["--threads", "2", "--handovers", "0"], "eager2": ["--threads", "2", "--handovers", "0", "--most", "2"],
}


def links(_options):
    return []


def slots(options):
    """Names and arguments. With Curator, the last of the list are Curator's."""
    curators = CURATORS if options.curator else 0
    ours = dict(list(SLOTS.items())[:len(SLOTS) - curators])
    return {**ours, **{f"curator{i}": ["--threads", "2"] for i in range(1, curators + 1)}}


class Trial:
    def __init__(self, bench, options):
        self.bench, self.random = bench, options.random
        self.slots, self.permits, self.handovers = slots(options), PERMITS, HANDOVERS
        self.players, self.incarnations = {}, dict.fromkeys(self.slots, 0)
        self.asleep, self.died_holding = None, 0

    def fill(self, slot):
        self.incarnations[slot] += 1
        name = f"{slot}.{self.incarnations[slot]}"
        program = "SemaphorePlayer.java" if slot.startswith("curator") else "player_semaphore"
        self.players[slot] = self.bench.start(name, program, "--permits", PERMITS, *self.slots[slot], wait=False)

    def begin(self):
        for slot in self.slots:
            self.fill(slot)
        # The number must be recorded first: only then can another number contradict it.
        self.ready(self.players["one1"])
        self.bench.logbook.wait(lambda book: book.named("granted"), READY_S)
        self.wrong = self.bench.start("wrong", "player_semaphore", "--permits", PERMITS + 2, "--wrong")
        self.wrong.say("go")
        for slot in list(self.slots)[1:]:
            self.ready(self.players[slot])

    def ready(self, player):
        player.expect("ready", READY_S)
        player.say("go")

    def holds(self, name):
        for event in reversed(self.bench.logbook.events):
            if event.who == name and event.what in ("granted", "valid"):
                return event.what == "granted"
        return False

    def kill(self, slot):
        """Often while the player holds permits; always, if possible, until that has happened once."""
        name = self.players[slot].name
        if self.random.random() < HOLDING or not self.died_holding:
            self.bench.logbook.wait(lambda _: self.holds(name), AIM_S)
        self.bench.kill(self.players[slot])
        self.bench.logbook.poll()
        self.died_holding += self.holds(name)
        self.fill(slot)
        self.ready(self.players[slot])

    def pause_or_kill(self):
        """A killed player is replaced at once. A paused player goes on instead of the next mishap, long after its
        session ended."""
        if self.asleep:
            self.bench.resume(self.asleep)
            self.asleep = None
            return
        slot = self.random.choice(list(self.slots))
        # Curator does not promise to know that it was paused.
        if self.random.random() < PAUSES and self.died_holding and not slot.startswith("curator"):
            self.asleep = self.players[slot]
            self.bench.pause(self.asleep)
            self.wait(self.bench.session_ms / 1000)
            return
        self.kill(slot)

    def wait(self, seconds):
        self.bench.logbook.wait(lambda _: False, seconds)

    def run(self, seconds):
        self.begin()
        end = time.monotonic() + seconds
        self.wait(PEACE * seconds)
        while time.monotonic() < end:
            self.wait(self.random.uniform(*QUIET_S))
            for player in self.players.values():
                if not player.alive:
                    raise Broken(f"{player.name} has ended: {player.complaint()}")
            self.pause_or_kill()
        if self.asleep:
            self.bench.resume(self.asleep)
        return self.end()

    def end(self):
        """The faults: nodes that are left when the sessions of the dead are over. Then one more player tries to get all
        permits."""
        players = [self.wrong, *self.players.values()]
        session_s = (self.bench.session_ms + self.bench.tick_ms) / 1000
        faults = self.bench.rest(players, [PATH + "/locks", PATH + "/leases"], session_s + CLEAN_EXTRA_S)
        last = self.bench.start("last", "player_semaphore", "--permits", PERMITS, "--all-at-once")
        for player in [last, *players]:
            self.bench.finish(player)
        self.bench.logbook.poll()
        return faults


def run(bench, options):
    trial = Trial(bench, options)
    seconds = options.seconds or (QUICK_SECONDS if options.quick else SECONDS)
    return trial.run(seconds) + semaphore_judge.judge(bench.logbook, trial, seconds)
