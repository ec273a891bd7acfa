"""Faults of servers and of their links, done by docker/ensemble. One at a time: two of three servers have to be well."""
from play import faults
from play.faults import Fault, Missed, Target
from play.ground import NODES

LOSS_PERCENT, SLOW_MS, JITTER_MS = 30, 150, 100
FLAP_S = 0.5
FEW = 150  # transactions until a counter is full, for each recipe of each client: some seconds


class ServerFault(Fault):
    """orders are those to docker/ensemble. {0} {1} {2} are the chosen servers."""
    lane = "server"

    def __init__(self, name, rows, words, span, orders, at="leader", pinned=False, silent=False):
        super().__init__(name, rows, words, span)
        self.orders, self.at, self.pinned, self.silent = orders, at, pinned, silent

    def aim(self, chaos, random):
        leader = chaos.ensemble.leader()
        if leader is None:
            return None
        followers = random.sample([node for node in NODES if node != leader], 2)
        if self.at == "followed":
            followers.sort(key=self.crowd(chaos).count, reverse=True)
        nodes = {"leader": [leader, *followers], "any": random.sample(NODES, 3)}.get(self.at, [*followers, leader])
        return self.at_nodes(chaos, nodes)

    def crowd(self, chaos):
        """For each player that holds a grant, the server that it is connected to."""
        holders = {player.name for player in chaos.holding()}
        return [node for player, node in chaos.players.connected().items() if player.name in holders]

    def at_nodes(self, chaos, nodes):
        told = [node for place, node in enumerate(nodes) if any(f"{{{place}}}" in order for order in self.orders)]
        return Target(",".join(f"server{node}" for node in told or nodes[:1]), [], nodes)

    def strike(self, chaos, target):
        for order in self.orders:
            chaos.ensemble.order(*order.format(*target.what).split())

    def undo(self, chaos, target):
        """Returns when all servers serve."""
        chaos.ensemble.order("heal")


class Flapping(ServerFault):
    def last(self, chaos, target, seconds):
        for _ in range(int(seconds / FLAP_S / 2)):
            chaos.pause(FLAP_S)
            chaos.ensemble.order("heal", target.what[0])
            chaos.pause(FLAP_S)
            self.strike(chaos, target)


class Rolling(ServerFault):
    """Restarts one server after another. Each restart waits until the earlier ones serve again."""

    def strike(self, chaos, target):
        for node in target.what:
            chaos.ensemble.order("restart", node)
            for _ in range(300):
                if chaos.ensemble.whole() or chaos.stopping.is_set():
                    break
                chaos.pause(0.1)


class CounterFull(ServerFault):
    """Lasts until the counter is full. That costs a leader each time, so it is not done too often."""

    def strike(self, chaos, target):
        few = FEW * len(chaos.options.recipes) * len(chaos.options.clients)
        chaos.ensemble.order("counter-full", few, *target.what)

    def last(self, chaos, target, seconds):
        before = self.epoch(chaos)
        for _ in range(400):
            if self.epoch(chaos) > before or chaos.stopping.is_set():
                return
            chaos.pause(0.1)
        raise Missed("no counter was full in time")

    def epoch(self, chaos):
        """The epoch, from the latest transaction that the answer tells."""
        chaos.admin.retry(chaos.admin.exists, "/")
        return chaos.admin.last_zxid >> 32


BRIEF, USUAL, LONG = (0.1, 0.6), (0.5, 1.5), (1.2, 2.2)
FAULTS = [
    ServerFault("leader-killed", [10], "the leader is killed (SIGKILL) and started again", USUAL, ["kill {0}"]),
    ServerFault("leader-paused", [11], "the leader is frozen for longer than a session lives", LONG, ["pause {0}"],
                silent=True),
    ServerFault("leader-cut", [12], "the leader is cut off from its followers in silence; its clients are not", LONG,
                ["cut {0} peers"], pinned=True, silent=True),
    ServerFault("leader-deposed", [12], "likewise, but the followers notice at once, and elect another", LONG,
                ["depose"], pinned=True),
    ServerFault("leader-isolated", [12, 15], "the leader is cut off from followers and clients", LONG, ["isolate {0}"],
                silent=True),
    ServerFault("follower-killed", [4], "a follower is killed (SIGKILL) and started again", USUAL, ["kill {0}"],
                at="followed"),
    ServerFault("follower-paused", [4], "a follower is frozen: it lags, and its clients hear nothing", USUAL,
                ["pause {0}"], at="followed"),
    ServerFault("follower-cut", [13, 4], "the follower that most holders are connected to is cut off from its peers in "
                "silence; its clients stay connected", LONG, ["cut {0} peers"], at="followed", pinned=True),
    ServerFault("follower-cut-in", [13], "likewise, one way: it hears nothing of its peers", LONG,
                ["cut {0} peers --in"], at="followed", pinned=True),
    ServerFault("follower-cut-out", [13], "likewise: its peers hear nothing of it", LONG, ["cut {0} peers --out"],
                at="followed", pinned=True),
    ServerFault("follower-reset", [13], "a follower's links to its peers are refused", USUAL, ["reset {0} peers"],
                at="followed"),
    ServerFault("peers-lossy", [16], f"a follower's links to its peers lose {LOSS_PERCENT} % of the packets", USUAL,
                [f"loss {{0}} {LOSS_PERCENT} peers"], at="followed"),
    ServerFault("peers-slow", [17], f"{SLOW_MS} ms and up to {JITTER_MS} more on every packet of a server, which reorders",
                USUAL, [f"slow {{0}} {SLOW_MS} {JITTER_MS}"], at="any"),
    ServerFault("server-slow", [43], "a server gets hardly any processor time, as behind a slow disk", USUAL,
                ["stall {0}"], at="any"),
    ServerFault("server-reset", [15, 1], "a server's clients are refused", USUAL, ["reset {0} clients"], at="any"),
    ServerFault("server-clients-cut", [15], "a server is cut off from its clients in silence, not from its peers", USUAL,
                ["cut {0} clients"], at="any"),
    Flapping("flapping", [16], f"a server's links to its peers fail and work again every {FLAP_S} s", USUAL,
             ["cut {0} peers"], at="any"),
    ServerFault("ensemble-restarted", [14, 47], "all three are killed, and started again", BRIEF,
                ["kill {0}", "kill {1}", "kill {2}"], at="any"),
    Rolling("rolling-restart", [10], "each of them is restarted, one after the other", (0, 0), ["restart {0} {1} {2}"],
            at="any"),
    ServerFault("disk-full", [42], "the leader's disk is full", USUAL, ["disk-full {0}"]),
    ServerFault("follower-disk-full", [42], "a follower's disk is full", USUAL, ["disk-full {0}"], at="followed"),
    CounterFull("counter-full", [41], "each leader's counter of transactions is full after some hundred of them, and another "
                "epoch begins", (0, 0), ["counter-full {0} {1} {2}"], at="follower"),
    ServerFault("quorum-lost", [14, 36], "two of three are killed: the third lets clients read, if they ask for that", LONG,
                ["kill {0}", "kill {1}"], at="any"),
]


def catalogue():
    """All faults of chaos, by name."""
    return faults.catalogue(FAULTS)
