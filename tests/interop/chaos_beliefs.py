"""What a player of the chaos believes, and a thread that looks at it, as watchman.h describes that for ours.

kazoo's users are told: pause when the connection is SUSPENDED, and go on when it is CONNECTED again, but not when it is LOST.
So belief pauses, and goes on unless LOST came in between: a second granted of the same claim, and in the end a second valid.
lost is noted once it is gone.
"""
import os
import threading
import time

from kazoo.protocol.states import KazooState

LOOK_S = 0.0005


def now():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


class Diary:
    """One line for each thing that happened, one write for each line."""

    def __init__(self, path):
        self.fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def note(self, what):
        os.write(self.fd, f"{now()} {what}\n".encode())


class Belief:
    """In one right, from the return of the call that acquired it until it is dropped. Users ask whether it stands, and
    whether it is lost for good; all else is under the lock."""

    def __init__(self, diary, number, kind):
        self.diary, self.number, self.kind = diary, f"n={number} token={number} handover=0", kind
        self.lost = False
        self.begin()

    def begin(self):
        """What is believed from now on is noted when it ends."""
        self.diary.note(f"granted {self.number} kind={self.kind}")
        self.stands = True
        self.first = self.last = self.longest = 0

    def look(self):
        before = now()
        if self.stands:
            self.longest = max(self.longest, before - self.last) if self.last else 0
            self.first, self.last = self.first or before, before

    def end(self, reason):
        if self.stands:
            self.stands = False
            self.diary.note(f"valid {self.number} first={self.first} last={self.last} longest={self.longest}"
                            f" reason={reason} kind={self.kind}")

    def lose(self, why):
        self.end(why)
        if not self.lost:
            self.lost = True
            self.diary.note(f"lost {self.number} reason={why}")

    def hear(self, state):
        """The listener was told."""
        if state == KazooState.LOST:
            self.lose(state)
        elif state != KazooState.CONNECTED:
            self.end(state)
        elif not self.stands and not self.lost:
            self.begin()
        self.look()  # the thread may take its time to wake


class Beliefs:
    def __init__(self, diary):
        self.diary, self.state = diary, KazooState.CONNECTED  # as it was told last
        self.held = []
        self.changed = threading.Condition()
        threading.Thread(target=self.keep_watch, daemon=True).start()

    def begin(self, number, kind):
        """Who is granted something while the connection is in trouble has been told so before, and does not believe it."""
        with self.changed:
            belief = Belief(self.diary, number, kind)
            belief.hear(self.state)
            self.held.append(belief)
            self.changed.notify()
        return belief

    def drop(self, belief):
        """Call it before it is given back. True when it had been lost."""
        with self.changed:
            belief.look()
            belief.end("NONE")
            self.held.remove(belief)
            return belief.lost

    def on_state(self, state):
        """What the listener was told."""
        with self.changed:
            self.state = state
            for belief in self.held:
                belief.hear(state)

    def keep_watch(self):
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self.held)
                for belief in self.held:
                    belief.look()
            time.sleep(LOOK_S)
