"""Named faults one after another, so many times each, with everything whole in between: what one fault does by itself."""
import random
import time

from play.event_log import now
from play.processes import Broken

from play.faults import inflict
from play.ground import NODES
from play.players import OURS
from play.schedule import heal, make_way

READY_S, OTHERS_S, AFTER_S = 30, 30, 1.0
LASTS = 2.0  # session timeouts: longer than any lease, so that a holder that did nothing would lose its grant
MOVES, MOVED_S = 5, 1.0
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
        follower = not chaos.options.pinned and getattr(fault, "at", None) == "followed"
        if follower and self.move():
            calm_until = time.monotonic() + chaos.session_s + AFTER_S
        if chaos.options.pinned:
            target = self.aim(fault)
            self.gather(target.what[0])
        self.watch(calm_until - time.monotonic(), lambda: False)
        if not chaos.options.pinned:
            target = self.aim_at_holder(fault) if follower else self.aim(fault)
        chaos.players.note("series", name=fault.name, round=count)
        seconds = chaos.session_s * (LASTS if fault.span[1] > 1 else self.random.uniform(*fault.span))
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

    def places(self):
        """For each server, the players that are connected to it, and the keepers of ours among them that hold."""
        self.chaos.present.poll()
        holders = {name for path in self.keeps(OURS) for name in self.chaos.present.holders(path)}
        found = {node: ([], []) for node in NODES}
        for player, node in self.chaos.players.connected().items():
            if node in found:
                found[node][0].append(player)
                if player.name in holders:
                    found[node][1].append(player)
        return found

    def at_followers(self):
        """The followers, those first that most of our holders are connected to, with the number of these."""
        leader, places = self.chaos.ensemble.leader(), self.places()
        return sorted(((len(places[node][1]), node) for node in NODES if node != leader), reverse=True) if leader else []

    def move(self):
        """Whether the clients of the leader had to be moved to followers, since no holder was at a follower. A fault of a
        follower moves its clients, so all of them would be at the leader in the end."""
        for tries in range(MOVES):
            found = self.at_followers()
            if found and found[0][0]:
                return tries > 0
            leader = self.chaos.ensemble.leader()
            if leader:
                self.chaos.ensemble.order("reset", leader, "clients")
            self.chaos.pause(MOVED_S)
            heal(self.chaos)
            self.await_order()
        raise Broken("no holder could be brought to a follower: " + self.words())

    def aim_at_holder(self, fault):
        """The target: the follower that our holders are connected to now."""
        found = []
        if not self.watch(READY_S, lambda: found.append(self.at_followers()) or (found[-1] and found[-1][0][0])):
            raise Broken(f"{fault.name}: no holder is connected to a follower: {self.words()}")
        nodes = [node for _, node in found[-1]]
        target = fault.at_nodes(self.chaos, [*nodes, *(node for node in NODES if node not in nodes)])
        target.near = self.places()[nodes[0]][0]
        return target

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
