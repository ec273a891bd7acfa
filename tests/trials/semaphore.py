"""The semaphore: 12 processes and 3 permits, of which some threads take several, while processes are killed and paused.

Never are more permits valid than there are, none is leaked by those who died, who was in line earlier is served
earlier, everybody gets on, and a process that believes in another number of permits is refused and does no harm.
"""
import time

import semaphore_judge
from company import PATH, READY_S
from nodes import rest
from players import Broken

SESSION_MS = 3000  # a player that was killed is in the way for as long
PERMITS = 3
SECONDS, QUICK_SECONDS = 60, 20
CURATORS = 4
PEACE = 0.25  # of the time, at first
QUIET_S = (1.0, 3.0)  # between one mishap and the next
PAUSES = 0.25  # of all mishaps; in the others somebody is killed,
HOLDING = 0.6  # with permits in hand, if that can be had within
AIM_S = 2.0
HANDOVERS = 3  # in a row, between threads that share a semaphore
CLEAN_EXTRA_S = 15
SLOTS = {
    # One thread each, whose places in line are observed.
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
    """Names and arguments; with Curator, the last of the list are."""
    curators = CURATORS if options.curator else 0
    ours = dict(list(SLOTS.items())[:len(SLOTS) - curators])
    return {**ours, **{f"curator{i}": ["--threads", "2"] for i in range(1, curators + 1)}}


class Play:
    def __init__(self, company, options):
        self.company, self.random = company, options.random
        self.slots, self.permits, self.handovers = slots(options), PERMITS, HANDOVERS
        self.players, self.incarnations = {}, dict.fromkeys(self.slots, 0)
        self.asleep, self.died_holding = None, 0

    def fill(self, slot):
        self.incarnations[slot] += 1
        name = f"{slot}.{self.incarnations[slot]}"
        program = "SemaphorePlayer.java" if slot.startswith("curator") else "player_semaphore"
        self.players[slot] = self.company.start(name, program, "--permits", PERMITS, *self.slots[slot], wait=False)

    def begin(self):
        for slot in self.slots:
            self.fill(slot)
        # Only those that have recorded the right number can have it contradicted.
        self.ready(self.players["one1"])
        self.company.logbook.wait(lambda book: book.named("granted"), READY_S)
        self.wrong = self.company.start("wrong", "player_semaphore", "--permits", PERMITS + 2, "--wrong")
        self.wrong.say("go")
        for slot in list(self.slots)[1:]:
            self.ready(self.players[slot])

    def ready(self, player):
        player.expect("ready", READY_S)
        player.say("go")

    def holds(self, name):
        for event in reversed(self.company.logbook.events):
            if event.who == name and event.what in ("granted", "valid"):
                return event.what == "granted"
        return False

    def kill(self, slot):
        """Often with permits in hand, and as long as that has not happened yet always, if it can be had."""
        name = self.players[slot].name
        if self.random.random() < HOLDING or not self.died_holding:
            self.company.logbook.wait(lambda _: self.holds(name), AIM_S)
        self.company.kill(self.players[slot])
        self.company.logbook.poll()
        self.died_holding += self.holds(name)
        self.fill(slot)
        self.ready(self.players[slot])

    def pause_or_kill(self):
        """Who was killed is replaced at once; who was paused wakes instead of the next mishap, long after its session."""
        if self.asleep:
            self.company.resume(self.asleep)
            self.asleep = None
            return
        slot = self.random.choice(list(self.slots))
        # Curator is not promised to know that it was paused.
        if self.random.random() < PAUSES and self.died_holding and not slot.startswith("curator"):
            self.asleep = self.players[slot]
            self.company.pause(self.asleep)
            self.wait(self.company.session_ms / 1000)
            return
        self.kill(slot)

    def wait(self, seconds):
        self.company.logbook.wait(lambda _: False, seconds)

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
            self.company.resume(self.asleep)
        return self.end()

    def end(self):
        """What is left once the sessions of the dead are over; then one more player tries to have all permits."""
        players = [self.wrong, *self.players.values()]
        session_s = (self.company.session_ms + self.company.tick_ms) / 1000
        faults = rest(self.company, players, [PATH + "/locks", PATH + "/leases"], session_s + CLEAN_EXTRA_S)
        last = self.company.start("last", "player_semaphore", "--permits", PERMITS, "--all-at-once")
        for player in [last, *players]:
            self.company.finish(player)
        self.company.logbook.poll()
        return faults


def run(company, options):
    play = Play(company, options)
    seconds = options.seconds or (QUICK_SECONDS if options.quick else SECONDS)
    return play.run(seconds) + semaphore_judge.judge(company.logbook, play, seconds)
