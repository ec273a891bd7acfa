"""What kazoo's player of the chaos believes to hold, and a thread that samples it, as validity_sampler.h describes it
for ours.

kazoo tells its users: pause when the connection is SUSPENDED, go on when it is CONNECTED again, but not when it is
LOST. So belief ends when the connection is SUSPENDED, and goes on when it is CONNECTED without LOST in between. Then
the log has a second granted of the same claim, and in the end a second valid. lost is noted when the grant is gone
for good.
"""
import threading
import time

from kazoo.protocol.states import KazooState
from play.event_log import now

SAMPLE_S = 0.0005


class Belief:
    """The belief in one grant, from the return of the call that acquired it until it is dropped. `stands` and `lost`
    may be read without the lock, nothing else."""

    def __init__(self, log, number, kind):
        self.log, self.number, self.kind = log, f"n={number} token={number} handover=0", kind
        self.lost = False
        self.begin()

    def begin(self):
        """A span begins. It is noted when it ends."""
        self.log.note(f"granted {self.number} kind={self.kind}")
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
            self.log.note(f"valid {self.number} first={self.first} last={self.last} longest={self.longest}"
                            f" reason={reason} kind={self.kind}")

    def lose(self, why):
        self.end(why)
        if not self.lost:
            self.lost = True
            self.log.note(f"lost {self.number} reason={why}")

    def hear(self, state):
        """The listener was told this state."""
        if state == KazooState.LOST:
            self.lose(state)
        elif state != KazooState.CONNECTED:
            self.end(state)
        elif not self.stands and not self.lost:
            self.begin()
        self.look()  # the thread may take its time to wake


class Beliefs:
    def __init__(self, log):
        self.log, self.state = log, KazooState.CONNECTED  # as the listener was told last
        self.held = []
        self.changed = threading.Condition()
        threading.Thread(target=self.keep_sampling, daemon=True).start()

    def begin(self, number, kind):
        """A grant that comes while the connection is in trouble is not believed: the player was told of the trouble
        before."""
        with self.changed:
            belief = Belief(self.log, number, kind)
            belief.hear(self.state)
            self.held.append(belief)
            self.changed.notify()
        return belief

    def drop(self, belief):
        """Call it before the grant is given back. True when it had been lost."""
        with self.changed:
            belief.look()
            belief.end("NONE")
            self.held.remove(belief)
            return belief.lost

    def on_state(self, state):
        """The listener was told this state."""
        with self.changed:
            self.state = state
            for belief in self.held:
                belief.hear(state)

    def keep_sampling(self):
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self.held)
                for belief in self.held:
                    belief.look()
            time.sleep(SAMPLE_S)
