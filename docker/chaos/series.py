"""Named faults one after the other, so many times each, everything whole in between: what one fault does, by itself."""
import random
import time

from cast import OURS
from ensemble import Broken
from faults import inflict
from logbook import now
from schedule import heal, make_way

READY_S, OTHERS_S, AFTER_S = 30, 30, 1.0
LOOK_S = 0.05


class Series:
    def __init__(self, scene, faults):
        self.scene, self.faults = scene, faults
        self.random = random.Random(scene.options.seed)

    def run(self, times):
        for fault in self.faults:
            for count in range(1, times + 1):
                self.once(fault, count)

    def once(self, fault, count):
        scene = self.scene
        heal(scene)
        calm_until = time.monotonic() + scene.session_s + AFTER_S  # what comes later was not done by the fault before
        self.await_order()
        target = self.aim(fault)
        if scene.options.pinned:
            self.gather(target.what[0])
        self.watch(calm_until - time.monotonic(), lambda: False)
        scene.cast.note("series", name=fault.name, round=count)
        seconds = scene.session_s * self.random.uniform(*fault.span)
        if fault.silent:  # it shows only what comes of it once the others have noticed
            seconds += scene.options.sync_s + scene.session_s
        if scene.options.pinned:
            inflict(scene, fault, target, self.until_others(target.what[0]))
        else:
            inflict(scene, fault, target, lambda: fault.last(scene, target, seconds))

    def aim(self, fault):
        """Whom to do it to: nobody may lead just now."""
        targets = []
        if not self.watch(READY_S, lambda: targets.append(fault.aim(self.scene, self.random)) or targets[-1]):
            raise Broken(f"{fault.name}: nothing to do it to")
        return targets[-1]

    def keeps(self, ours=None):
        return [path for path in self.scene.cast.paths if path.endswith("-keep") and
                (not ours or path.startswith(f"/chaos/{OURS}/"))]

    def watch(self, seconds, condition):
        """Whether condition() came true in time; meanwhile the players are looked after."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self.scene.stopping.is_set():
            self.scene.present.poll()
            self.scene.cast.look_after()
            if condition():
                return True
            time.sleep(LOOK_S)
        return False

    def await_order(self):
        """Every keep path is held, and everybody else who keeps is in line. Of the others' clients that is hoped only."""
        present = self.scene.present

        def in_order(path):
            names = {player.name for player in self.scene.cast.of(path=path)}
            return present.holders(path) and names == {*present.holders(path), *present.waiters(path)}

        if not self.watch(READY_S, lambda: all(map(in_order, self.keeps()))) and not all(map(in_order, self.keeps(OURS))):
            raise Broken("not every keeper holds or waits: " + self.words())

    def words(self):
        return "; ".join(f"{path}: {', '.join(self.scene.present.holders(path)) or 'nobody'} holds, "
                         f"{', '.join(self.scene.present.waiters(path)) or 'nobody'} waits" for path in self.keeps())

    def gather(self, node):
        """Who holds is at the server that will be cut off: until then, those that hold elsewhere are told to yield."""
        present, yielded = self.scene.present, {}

        def misplaced(ours=None):
            there = {player.name for player in self.scene.cast.of() if player.slot.node == node}
            return [path for path in self.keeps(ours) if not there & set(present.holders(path))]

        def gathered():
            for path in misplaced():
                make_way(self.scene, path, yielded)
            return not misplaced()

        if not self.watch(READY_S, gathered) and misplaced(OURS):
            raise Broken(f"the holders could not be brought to server{node}: {self.words()}")

    def until_others(self, node):
        """Lasts until on every keep path nobody at that server believes in what it had before, others were granted it, and
        a while more: so no overlap is cut short."""
        begun, present = now(), self.scene.present

        def served(path):
            since = {player: present.holding_since(player) or 0 for player in self.scene.cast.of(path=path)}
            elsewhere = [player for player in since if player.slot.node != node]
            if any(0 < ns < begun for player, ns in since.items() if player not in elsewhere):
                return False
            waiting = {player.name for player in elsewhere} & set(present.waiters(path))
            # Of a semaphore, too few permits may have become free for who is next.
            return max(since.values(), default=0) > begun or not waiting or "/semaphore-" in path

        def last():
            self.watch(OTHERS_S, lambda: all(served(path) for path in self.keeps()))
            self.scene.pause(AFTER_S)

        return last
