"""The recipes of kazoo's player of the chaos, all with the same calls. Each object belongs to one thread.

An object is kept for as long as it answers: kazoo's recipes are made to be used again, and find a node that an
earlier try left behind by its name. have(enjoy, patience_s) calls enjoy while the grant is ours, or returns a word
that says why there was none.
"""
import random
import threading

from kazoo.recipe.lock import ForceRetryError, ReadLock
from kazoo.recipe.lock import Lock as KazooLock

PERMITS = 3


class CuratorLock(KazooLock):
    """--mode curator: the two-line subclass that meets Curator and Paddock's Curator profile."""
    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES = ["-lock-"]


class LaterReadLock(ReadLock):
    """--mode later: as in kazoo 2.9. Before, a reader waited also for writers that came after it, which waited for the reader."""

    def _get_predecessor(self, node):
        children = self.client.get_children(self.path)
        if node not in children:
            raise ForceRetryError()
        ahead = [name for name in children if self._contenders_re.search(name) and name[-10:] < node[-10:]]
        return max(ahead, key=lambda name: name[-10:], default=None)


class Plain:
    """A recipe that is acquired and released."""

    exclusive = True

    def choose(self):
        """Chooses the next claim. Its kind, as the log says it."""
        return self.kind

    def have(self, enjoy, patience_s):
        if not self.lock.acquire(timeout=patience_s):
            return "TIMEOUT"
        try:
            enjoy()
        finally:
            self.lock.release()
        return None

    def cancel(self):
        self.lock.cancel()


class Lock(Plain):
    kind = "lock"

    def __init__(self, client, options):
        self.lock = (CuratorLock if options.mode == "curator" else KazooLock)(client, options.path, options.identity)


class ReadWrite(Plain):
    def __init__(self, client, options):
        self.writes = options.write / 100
        read = LaterReadLock if options.mode == "later" else ReadLock
        self.locks = {"read": read(client, options.path, options.identity), "write": client.WriteLock(options.path, options.identity)}

    def choose(self):
        self.exclusive = random.random() < self.writes
        kind = "write" if self.exclusive else "read"
        self.lock = self.locks[kind]
        return kind


class Semaphore(Plain):
    kind, exclusive = "permit count=1", False

    def __init__(self, client, options):
        self.lock = client.Semaphore(options.path, options.identity, max_leases=PERMITS)


class Election:
    exclusive = True

    def __init__(self, client, options):
        self.election = client.Election(options.path, options.identity)

    def choose(self):
        return "leader"

    def have(self, enjoy, patience_s):
        """An election has no timeout: it is cancelled instead."""
        impatience = threading.Timer(patience_s or 0, self.cancel)
        elected = []

        def lead():
            elected.append(True)
            impatience.cancel()
            enjoy()

        if patience_s is not None:
            impatience.start()
        try:
            self.election.run(lead)
        finally:
            impatience.cancel()
        return None if elected else "CANCELED" if patience_s is None else "TIMEOUT"

    def cancel(self):
        self.election.cancel()


RECIPES = {"lock": Lock, "rwlock": ReadWrite, "semaphore": Semaphore, "election": Election}
