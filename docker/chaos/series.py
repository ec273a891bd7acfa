"""Named faults one after another, so many times each, with everything whole in between: what one fault does by itself."""
import random
import time

from play.event_log import now
from play.processes import Broken

from faults import inflict
from players import OURS
from schedule import heal, make_way

READY_S, OTHERS_S, AFTER_S = 30, 30, 1.0
LOOK_S = 0.05


class Series:
    def __init__(self, chaos, faults):
        self.chaos, self.faults = chaos, faults
        self.random = random.Random(chaos.options.seed)

    def run(self, times):
        for fault in self.faults:
            for count in range(1, times + 1):
                self.once(fault, count)

    def once(self, fault, count):
        chaos = self.chaos
        heal(chaos)
        calm_until = time.monotonic() + chaos.session_s + AFTER_S  # what happens later was not done by the fault before
        self.await_order()
        target = self.aim(fault)
        if chaos.options.pinned:
            self.gather(target.what[0])
        self.watch(calm_until - time.monotonic(), lambda: False)
        chaos.players.note("series", name=fault.name, round=count)
        seconds = chaos.session_s * self.random.uniform(*fault.span)
        if fault.silent:  # its effects show only when the others have noticed it
            seconds += chaos.options.sync_s + chaos.session_s
        if chaos.options.pinned:
            inflict(chaos, fault, target, self.until_others(target.what[0]))
        else:
            inflict(chaos, fault, target, lambda: fault.last(chaos, target, seconds))

    def aim(self, fault):
        """The target. Waits for one: at this moment there may be no leader."""
        targets = []
        if not self.watch(READY_S, lambda: targets.append(fault.aim(self.chaos, self.random)) or targets[-1]):
            raise Broken(f"{fault.name}: nothing to do it to")
        return targets[-1]

    def keeps(self, ours=None):
        return [path for path in self.chaos.players.paths if path.endswith("-keep") and
                (not ours or path.startswith(f"/chaos/{OURS}/"))]

    def watch(self, seconds, condition):
        """Whether condition() came true in time. Meanwhile dead players are replaced."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self.chaos.stopping.is_set():
            self.chaos.present.poll()
            self.chaos.players.look_after()
            if condition():
                return True
            time.sleep(LOOK_S)
        return False

    def await_order(self):
        """Waits until every keep path is held, and all other keepers are in the queue. Peers need not get there."""
        present = self.chaos.present

        def in_order(path):
            names = {player.name for player in self.chaos.players.of(path=path)}
            return present.holders(path) and names == {*present.holders(path), *present.waiters(path)}

        if not self.watch(READY_S, lambda: all(map(in_order, self.keeps()))) and not all(map(in_order, self.keeps(OURS))):
            raise Broken("not every keeper holds or waits: " + self.words())

    def words(self):
        return "; ".join(f"{path}: {', '.join(self.chaos.present.holders(path)) or 'nobody'} holds, "
                         f"{', '.join(self.chaos.present.waiters(path)) or 'nobody'} waits" for path in self.keeps())

    def gather(self, node):
        """Tells holders to yield until all holders are connected to the server that will be cut off."""
        present, yielded = self.chaos.present, {}

        def misplaced(ours=None):
            there = {player.name for player in self.chaos.players.of() if player.slot.node == node}
            return [path for path in self.keeps(ours) if not there & set(present.holders(path))]

        def gathered():
            for path in misplaced():
                make_way(self.chaos, path, yielded)
            return not misplaced()

        if not self.watch(READY_S, gathered) and misplaced(OURS):
            raise Broken(f"the holders could not be brought to server{node}: {self.words()}")

    def until_others(self, node):
        """For inflict: waits until, on every keep path, the players at that server hold nothing that they held before,
        and others were granted it. Then a while more, so that no overlap is cut short."""
        begun, present = now(), self.chaos.present

        def served(path):
            since = {player: present.holding_since(player) or 0 for player in self.chaos.players.of(path=path)}
            elsewhere = [player for player in since if player.slot.node != node]
            if any(0 < ns < begun for player, ns in since.items() if player not in elsewhere):
                return False
            waiting = {player.name for player in elsewhere} & set(present.waiters(path))
            # On a semaphore too few permits may have become free for the next claim.
            return max(since.values(), default=0) > begun or not waiting or "/semaphore-" in path

        def last():
            self.watch(OTHERS_S, lambda: all(served(path) for path in self.keeps()))
            self.chaos.pause(AFTER_S)

        return last
