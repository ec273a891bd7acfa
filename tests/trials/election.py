"""The election: the leader is killed, paused, cut off and made to resign; observers must hear of each new leader.

Two candidates never believe at one instant that they lead. Tokens rise from leader to leader. Every observer hears
of every leader, in that order. The office is not vacant for longer than the session timeout explains.
"""
import time

from play.event_log import now
from play.logbook import MS, S
from play.processes import Broken

import election_judge
from trial_bench import READY_S

CANDIDATES, OBSERVERS = 5, 2
LATCHES = 2  # of the candidates, with --curator
KINDS = ("kill", "pause", "cut", "resign")
CHANGES, QUICK_CHANGES = 50, 8
QUIET_S = (0.3, 1.0)  # between an election and the next fault of the leader
TRIPS = 0.4  # of the changes, those in which another candidate fails together with the leader
EXTRA_S = 15  # beyond the session timeout, to wait for a new leader


def slots(options):
    """The slots of the candidates. A process that was killed is replaced in its slot."""
    latches = LATCHES if options.curator else 0
    return [f"c{i}" for i in range(1, CANDIDATES - latches + 1)] + [f"latch{i}" for i in range(1, latches + 1)]


def is_latch(name):
    return name.startswith("latch")


def links(options):
    return [slot for slot in slots(options) if not is_latch(slot)]


class Trial:
    def __init__(self, bench, options):
        self.bench, self.options, self.random = bench, options, options.random
        self.logbook = bench.logbook
        self.candidates, self.incarnations = {}, {}
        self.bag = []
        self.changes = options.changes or (QUICK_CHANGES if options.quick else CHANGES)
        self.unprovoked = 0

    def fill(self, slot, wait=True):
        number = self.incarnations[slot] = self.incarnations.get(slot, 0) + 1
        name = f"{slot}.{number}"
        if is_latch(slot):
            player = self.bench.start(name, "LatchPlayer.java", wait=wait)
        else:
            player = self.bench.start(name, "player_election", link=slot, wait=wait)
        player.slot = slot
        self.candidates[slot] = player

    def begin(self):
        self.observers = [
            self.bench.start(f"observer{i}", "player_election", "--observe") for i in range(1, OBSERVERS + 1)
        ]
        for slot in slots(self.options):
            self.fill(slot, wait=False)
        for player in self.candidates.values():
            player.expect("ready", READY_S)
        self.await_first()

    def await_first(self):
        """The first leader makes the directory. The others look for it only once a second."""
        listeners = {player.name for player in [*self.observers, *self.candidates.values()] if not is_latch(player.name)}

        def all_heard(logbook):
            return listeners <= {event.who for event in logbook.named("leader") if event.number("token")}

        if not self.logbook.wait(all_heard, self.patience()):
            raise Broken("not everybody heard of the first leader")

    def in_office(self, logbook):
        """The candidate that was elected last, and its token; None when it was deposed since."""
        for event in reversed(logbook.named("elected", "deposed")):
            if event.what == "deposed":
                continue
            after = [later for later in logbook.since(event.ns) if later.who == event.who and later.what == "deposed"]
            for player in self.candidates.values():
                if player.name == event.who and not after:
                    return player, event.number("token")
            return None
        return None

    def leader(self):
        found = self.logbook.wait(self.in_office, self.patience())
        if not found:
            raise Broken("nobody is elected: " + self.last_words())
        return found

    def last_words(self):
        return "; ".join(f"{event.who} {event.what}" for event in self.logbook.events[-8:])

    def patience(self):
        return (self.options.session_ms + self.options.tick_ms) / 1000 + EXTRA_S

    def settled_leader(self):
        """A leader that has led for a while. Counts the leaders that lose their office though nothing was done to them."""
        while True:
            player, token = self.leader()
            self.logbook.wait(lambda _: False, self.random.uniform(*QUIET_S))
            if self.in_office(self.logbook) == (player, token):
                return player, token
            self.unprovoked += 1

    def await_successor(self, token):
        def newer(logbook):
            return [event for event in logbook.named("elected")[-1:] if event.number("token") > token]

        if not self.logbook.wait(newer, self.patience()):
            raise Broken(f"no new leader after token {token}: {self.last_words()}")

    def next_kind(self):
        """The next fault of a leader of ours: in random order, each about as often."""
        if not self.bag:
            self.bag = self.random.sample(KINDS, len(KINDS))
        return self.bag.pop()

    def change(self):
        player, token = self.settled_leader()
        # Curator does not promise to know in time that it was paused or cut off: only ours are.
        kind = self.random.choice(("kill", "resign")) if is_latch(player.name) else self.next_kind()
        when = getattr(self, "do_" + kind)(player)
        other = self.trip_another(player) if kind != "resign" else None
        if other:
            when = now()  # if it was the next, its session has to end as well
        self.bench.note("change", kind=kind, who=player.name, token=token, at=when)
        self.await_successor(token)
        time.sleep(self.random.uniform(0, 0.5))
        self.undo(kind, player)
        if other:
            self.undo(*other)

    def trip_another(self, leader):
        """Now and then another candidate, which may be the next, fails as well. The action, and its candidate."""
        if self.random.random() > TRIPS:
            return None
        others = [player for player in self.candidates.values() if player is not leader]
        other = self.random.choice(others)
        kind = "pause" if is_latch(other.name) else self.random.choice(("kill", "pause", "cut"))
        getattr(self, "do_" + kind)(other)
        self.bench.note("tripped", kind=kind, who=other.name)
        return kind, other

    def do_kill(self, player):
        return self.bench.kill(player)

    def do_pause(self, player):
        return self.bench.pause(player)

    def do_cut(self, player):
        return self.bench.cut(player)

    def do_resign(self, player):
        when = self.bench.note("ordering", who=player.name)
        player.say("resign")
        return when

    def undo(self, kind, player):
        if kind == "kill":
            self.fill(player.slot)
        elif kind == "pause":
            self.bench.resume(player)
        elif kind == "cut":
            self.bench.heal(player)

    def queue(self):
        """The candidates in the queue, as an observer is told."""
        begin = now()
        self.observers[0].say("queue")
        told = self.logbook.wait(lambda book: [event for event in book.since(begin) if event.what == "queue"], READY_S)
        if not told:
            raise Broken("an observer was not told the queue")
        return [name for name in told[0]["identities"].split(",") if name]

    def await_queue(self):
        """In the end every candidate is in the queue again, once, and nobody else."""
        expected = sorted(player.name for player in self.candidates.values())
        end = now() + self.patience() * S
        while sorted(queue := self.queue()) != expected:
            if now() > end:
                raise Broken(f"in the queue: {', '.join(queue)}, and not {', '.join(expected)}")
            time.sleep(0.1)

    def end(self):
        self.await_queue()
        leader, _ = self.settled_leader()
        self.bench.note("ending")
        # Latches that do not lead go first: a latch that is elected while it leaves cannot tell its token.
        players = sorted(self.candidates.values(), key=lambda player: player is leader or not is_latch(player.name))
        for player in [*players, *self.observers]:
            self.bench.finish(player)
        self.logbook.poll()

    def run(self):
        self.begin()
        begun = now()
        for _ in range(self.changes):
            self.change()
        self.seconds = (now() - begun) / S
        self.end()


def run(bench, options):
    trial = Trial(bench, options)
    trial.run()
    # The median of a few changes says little: --quick allows more.
    bounds = election_judge.Bounds(vacant_ns=(options.session_ms + options.tick_ms + 500) * MS,
                                   resigned_ns=(250 if options.quick else 50) * MS)
    return election_judge.judge(bench.logbook, bounds, trial)
