"""What the logs say at this moment: who believes in a right, who waits, who was granted what last.

The logbook keeps everything, which is for judges: an hour of it is large, and a driver has to look twenty times a second.
"""
import threading
from dataclasses import dataclass, field

from logbook import Page


@dataclass
class Place:
    """One path."""
    holding: dict = field(default_factory=dict)  # (player's name, its number) → since when
    waiting: dict = field(default_factory=dict)
    granted_ns: int = 0  # the last time


class Present:
    def __init__(self):
        self.pages, self.places = {}, {}
        self.lock = threading.RLock()

    def enter(self, player):
        with self.lock:
            self.pages[player.name] = player, Page(player.log)
            self.places.setdefault(player.path, Place())

    def leave(self, player):
        """It is dead: what it believed died with it."""
        with self.lock:
            self.poll()
            self.pages.pop(player.name, None)
            place = self.places[player.path]
            for crowd in (place.holding, place.waiting):
                for key in [key for key in crowd if key[0] == player.name]:
                    del crowd[key]

    def poll(self):
        with self.lock:
            for player, page in list(self.pages.values()):
                for event in page.read():
                    self.take(self.places[player.path], player, event)

    def take(self, place, player, event):
        key = player.name, event.get("n")
        if event.what == "claim":
            place.waiting[key] = event.ns
        elif event.what == "granted":
            place.waiting.pop(key, None)
            place.holding[key] = event.ns
            place.granted_ns = max(place.granted_ns, event.ns)
        elif event.what == "failed":
            place.waiting.pop(key, None)
        elif event.what in ("valid", "lost", "ended"):
            place.holding.pop(key, None)

    def holders(self, path):
        """Names, the one who has held for longest first."""
        with self.lock:
            holding = self.places[path].holding
            return list(dict.fromkeys(name for name, _ in sorted(holding, key=holding.get)))

    def waiters(self, path):
        with self.lock:
            return sorted({name for name, _ in self.places[path].waiting})

    def holding_since(self, player):
        """Of the last of its rights, or None."""
        with self.lock:
            return max((ns for (name, _), ns in self.places[player.path].holding.items() if name == player.name),
                       default=None)

    def waiting(self):
        """All claims that wait: path, player's name, its number."""
        with self.lock:
            return {(path, *key) for path, place in self.places.items() for key in place.waiting}

    def granted_ns(self, path):
        with self.lock:
            return self.places[path].granted_ns
