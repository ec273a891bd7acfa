"""What the logs say at this moment: the players that hold and those that wait, and when each path was granted last.

The Logbook keeps all events for the judges. After an hour that is much, and the driver looks twenty times a second.
"""
import threading
from dataclasses import dataclass, field

from play.logbook import LogFile


@dataclass
class PathState:
    """The state of one path."""
    holding: dict = field(default_factory=dict)  # (player's name, number of the claim) → since when
    waiting: dict = field(default_factory=dict)
    granted_ns: int = 0  # of the last grant
    members: dict = field(default_factory=dict)  # of a group: like holding, → token
    views: dict = field(default_factory=dict)  # player's name → the tokens that its watcher sees


class Present:
    def __init__(self):
        self.pages, self.paths = {}, {}
        self.lock = threading.RLock()

    def enter(self, player):
        with self.lock:
            self.pages[player.name] = player, LogFile(player.log)
            self.paths.setdefault(player.path, PathState())

    def leave(self, player):
        """The player is dead: it holds nothing and waits for nothing."""
        with self.lock:
            self.poll()
            self.pages.pop(player.name, None)
            state = self.paths[player.path]
            state.views.pop(player.name, None)
            for claims in (state.holding, state.waiting, state.members):
                for key in [key for key in claims if key[0] == player.name]:
                    del claims[key]

    def poll(self):
        with self.lock:
            for player, page in list(self.pages.values()):
                for event in page.read():
                    self.take(self.paths[player.path], player, event)

    def take(self, state, player, event):
        key = player.name, event.get("n")
        if event.what == "claim":
            state.waiting[key] = event.ns
        elif event.what == "granted":
            state.waiting.pop(key, None)
            state.holding[key] = event.ns
            state.granted_ns = max(state.granted_ns, event.ns)
            if event.get("kind") == "member":
                state.members[key] = event["token"]
        elif event.what == "view":
            state.views[player.name] = {one.split(":")[0] for one in event["all"].split(",")} - {"-"}
        elif event.what == "failed":
            state.waiting.pop(key, None)
        elif event.what in ("valid", "lost", "ended"):
            state.holding.pop(key, None)
            state.members.pop(key, None)

    def holders(self, path):
        """Names, the longest holder first."""
        with self.lock:
            holding = self.paths[path].holding
            return list(dict.fromkeys(name for name, _ in sorted(holding, key=holding.get)))

    def waiters(self, path):
        with self.lock:
            return sorted({name for name, _ in self.paths[path].waiting})

    def agreed(self, path):
        """Whether each watcher of that group sees its members, and nobody else."""
        with self.lock:
            state = self.paths[path]
            those = set(state.members.values())
            names = [player.name for player, _ in self.pages.values() if player.path == path]
            return all(state.views.get(name) == those for name in names)

    def holding_since(self, player):
        """Since when it holds its last grant, or None."""
        with self.lock:
            return max((ns for (name, _), ns in self.paths[player.path].holding.items() if name == player.name),
                       default=None)

    def waiting(self):
        """All claims that wait: path, player's name, number of the claim."""
        with self.lock:
            return {(path, *key) for path, state in self.paths.items() for key in state.waiting}

    def granted_ns(self, path):
        with self.lock:
            return self.paths[path].granted_ns
