"""Selftest: a series strikes the server that the holder is connected to, and lasts longer than a lease."""
import threading
from dataclasses import dataclass, field
from types import SimpleNamespace

import series
from faults_server import catalogue
from play.faults import Chaos
from play.logbook import Event
from play.present import PathState, Present
from play.processes import Broken

KEEP = "/chaos/paddock/lock-keep"


@dataclass(eq=False)
class Player:
    name: str
    path: str = KEEP
    slot: object = field(default_factory=lambda: SimpleNamespace(role="keep", node=1))


class Ensemble:
    """Server 1 leads. An order to reset its clients moves all of them to server 3, if they can move."""

    def __init__(self, links, movable=True):
        self.links, self.movable, self.orders = links, movable, []

    def leader(self):
        return 1

    def whole(self):
        return True

    def order(self, *words):
        self.orders.append(" ".join(map(str, words)))
        if words == ("reset", 1, "clients") and self.movable:
            self.links.update({name: 3 for name, node in self.links.items() if node == 1})


def scene(movable=True, **links):
    """A run in which k holds and l and m wait; links: their servers. Nothing lasts."""
    players = list(map(Player, "klm"))
    present, notes = Present(), []
    present.paths[KEEP] = PathState()
    for ns, player in enumerate(players, 1):
        present.take(present.paths[KEEP], player, Event.parse(player.name, f"{ns} claim n=1"))
    present.take(present.paths[KEEP], players[0], Event.parse("k", "9 granted n=1"))
    crowd = SimpleNamespace(
        paths=[KEEP], sites={}, of=lambda **_: players, look_after=lambda: None,
        connected=lambda: {player: links[player.name] for player in players if player.name in links},
        note=lambda what, **fields: notes.append((what, fields)))
    chaos = Chaos(Ensemble(links, movable), crowd, present, None,
                  SimpleNamespace(session_ms=40, sync_s=1, seed=1, pinned=False), threading.Event())
    chaos.lasted = []
    chaos.pause = lambda seconds: chaos.lasted.append(seconds)
    return chaos, notes


def once(name, chaos):
    """One round of that fault. Its strike is an order to the ensemble."""
    before = series.heal, series.AFTER_S
    series.heal, series.AFTER_S = lambda _: None, 0
    try:
        series.Series(chaos, [catalogue()[name]]).once(catalogue()[name], 1)
    finally:
        series.heal, series.AFTER_S = before


def checks():
    chaos, notes = scene(k=2, l=1, m=2)
    once("follower-cut", chaos)
    told = next(fields for what, fields in notes if what == "fault")
    yield "a series: the holder's server is struck", chaos.ensemble.orders == ["cut 2 peers", "heal"]
    yield "a series: who is connected to it is noted", told["near"] == "k,m"
    yield "a series: it lasts for two session timeouts", chaos.lasted == [0.04 * series.LASTS] == [0.08]
    chaos, notes = scene(k=3, l=2, m=2)
    once("follower-killed", chaos)
    yield "a series: where the holder is, and not where most are", chaos.ensemble.orders[0] == "kill 3"
    chaos, notes = scene(k=1, l=1, m=2)
    once("follower-cut", chaos)
    yield "a series: a holder at the leader is moved first", chaos.ensemble.orders == [
        "reset 1 clients", "cut 3 peers", "heal"]
    chaos, notes = scene(movable=False, k=1, l=2, m=2)
    try:
        once("follower-cut", chaos)
        ended = False
    except Broken:
        ended = True
    yield "a series: a holder that cannot be moved ends it", ended and "cut" not in " ".join(chaos.ensemble.orders)
    chaos, notes = scene(k=2, l=2, m=2)
    once("leader-cut", chaos)
    told = next(fields for what, fields in notes if what == "fault")
    yield "a series: the leader is the leader, wherever the holder is", chaos.ensemble.orders[0] == "cut 1 peers"
    yield "a series: then it hits all of them", "near" not in told
    yield "a series: a silent one lasts until the others have noticed", chaos.lasted == [0.08 + 1 + 0.04]
    chaos, notes = scene(k=2, l=2, m=2)
    once("ensemble-restarted", chaos)
    yield "a series: a brief one is brief", max(chaos.lasted) < 0.04
