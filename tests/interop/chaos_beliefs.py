"""What a player of the chaos believes, and a thread that looks at it, as watchman.h describes that for ours.

kazoo's users are told: a lock that was acquired is theirs until the connection is SUSPENDED or LOST, or they release it.
"""
import os
import threading
import time

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
    """In one right, from the return of the call that acquired it."""

    def __init__(self, diary, number, kind):
        self.diary, self.number, self.kind = diary, f"n={number} token={number} handover=0", kind
        self.stands, self.reason = True, "NONE"
        self.first = self.last = self.longest = 0
        diary.note(f"granted {self.number} kind={kind}")

    def look(self):
        before = now()
        if not self.stands:
            return False
        self.longest = max(self.longest, before - self.last) if self.last else 0
        self.first, self.last = self.first or before, before
        return True

    def note_span(self):
        self.diary.note(f"valid {self.number} first={self.first} last={self.last} longest={self.longest}"
                        f" reason={self.reason} kind={self.kind}")

    def lose(self, why):
        if self.stands:
            self.stands, self.reason = False, why
            self.diary.note(f"lost {self.number} reason={why}")


class Beliefs:
    def __init__(self, diary):
        self.diary, self.trouble = diary, None
        self.held = []
        self.changed = threading.Condition()
        threading.Thread(target=self.keep_watch, daemon=True).start()

    def begin(self, number, kind):
        """Who is granted something while the connection is in trouble has been told so before, and does not believe it."""
        with self.changed:
            belief = Belief(self.diary, number, kind)
            if self.trouble:
                belief.lose(self.trouble)
            belief.look()  # the thread may take its time to wake
            self.held.append(belief)
            self.changed.notify()
        return belief

    def drop(self, belief):
        """Call it before it is given back. True when it had been lost."""
        with self.changed:
            belief.stands = False
            return belief.reason != "NONE"

    def on_state(self, state, trouble):
        """What the listener was told."""
        with self.changed:
            self.trouble = state if trouble else None
            for belief in self.held if trouble else ():
                belief.lose(state)

    def keep_watch(self):
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self.held)
                over = [belief for belief in self.held if not belief.look()]
                for belief in over:
                    belief.note_span()
                    self.held.remove(belief)
            time.sleep(LOOK_S)

    def settle(self):
        """Returns once all that ended has been noted."""
        for _ in range(1000):
            with self.changed:
                if not self.held:
                    return
            time.sleep(0.001)
