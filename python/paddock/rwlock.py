"""The read/write lock: any number of readers, or one writer, in the order in which they came."""
from __future__ import annotations

from typing import List, Optional

from ._calls import acquired, lib, options, seconds
from .contenders import Contender, listed
from .hold import Hold
from .lock import Acquirable, Naming, Recipe
from .session import BaseSession


class BaseSide:
    """What a side of a read/write lock has on threads and on an event loop."""

    def __init__(self, of: "BaseRWLock", writes: bool) -> None:
        self._of, self.writes = of, writes

    def __repr__(self) -> str:
        return f"<paddock.RWLock {self._of.path} {'write' if self.writes else 'read'}>"


class Side(BaseSide, Acquirable[Hold]):
    """One side of a read/write lock: acquired, released and used in `with` as a lock is."""

    def _acquire(self, timeout: Optional[float]) -> Hold:
        of, function = self._of, lib.pdk_rwlock_acquire_write if self.writes else lib.pdk_rwlock_acquire_read
        return acquired(lambda limit, out: int(function(of._raw, limit, out)), timeout, of._waiters, Hold(of._session))


class BaseRWLock(Recipe):
    """What a read/write lock has on threads and on an event loop."""

    def __init__(self, session: BaseSession, path: str, identifier: Optional[str] = None, *, naming: Naming = Naming.CURATOR,
                 max_handovers: Optional[int] = None, max_handover: Optional[float] = None) -> None:
        super().__init__(session, path, "pdk_rwlock",
                         options("pdk_rwlock_options", naming=int(naming), identity=identifier, max_handovers=max_handovers,
                                 max_handover_ms=seconds(max_handover)))


class RWLock(BaseRWLock):
    """`with lock.read:` shares it, `with lock.write as hold:` has it alone; `hold.downgrade()` makes a writer a reader."""

    @property
    def read(self) -> Side:
        """The side of the readers."""
        return self._side(False)

    @property
    def write(self) -> Side:
        """The side of the writer."""
        return self._side(True)

    def _side(self, writes: bool) -> Side:
        sides = self.__dict__.setdefault("_sides", {})
        if writes not in sides:
            sides.setdefault(writes, Side(self, writes))
        found: Side = sides[writes]
        return found

    def contenders(self, timeout: Optional[float] = 10.0) -> List[Contender]:
        """The queue, readers and writers, oldest first."""
        return listed(lib.pdk_rwlock_list, self._raw, timeout)
