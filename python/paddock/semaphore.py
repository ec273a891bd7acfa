"""The semaphore: so many permits, in the order in which they were asked for."""
from __future__ import annotations

from typing import List, Optional

from ._calls import acquired, lib, options, seconds
from .contenders import Contender, listed
from .hold import Hold
from .lock import Acquirable, Recipe
from .session import BaseSession


class BasePermits:
    """What permits have on threads and on an event loop."""

    def __init__(self, of: "BaseSemaphore", count: int) -> None:
        self._of, self.count = of, count

    def __repr__(self) -> str:
        return f"<paddock.Semaphore {self._of.path} {self.count} of {self._of.max_leases}>"


class Permits(BasePermits, Acquirable[Hold]):
    """So many permits of a semaphore, all or none: acquired, released and used in `with` as a lock is."""

    def _acquire(self, timeout: Optional[float]) -> Hold:
        of = self._of
        return acquired(lambda limit, out: int(lib.pdk_semaphore_acquire(of._raw, self.count, limit, out)), timeout, of._waiters,
                        Hold(of._session))


class BaseSemaphore(Recipe):
    """What a semaphore has on threads and on an event loop."""

    def __init__(self, session: BaseSession, path: str, identifier: Optional[str] = None, max_leases: int = 1, *,
                 max_handovers: Optional[int] = None, max_handover: Optional[float] = None) -> None:
        super().__init__(session, path, "pdk_semaphore", max_leases,
                         options("pdk_semaphore_options", identity=identifier, max_handovers=max_handovers,
                                 max_handover_ms=seconds(max_handover)))
        self.max_leases = max_leases


class Semaphore(BaseSemaphore, Acquirable[Hold]):
    """`with semaphore:` has one permit of `max_leases`, a number that is the same for everybody on the path. `with
    semaphore.permits(3):` has three at once."""

    def permits(self, count: int) -> Permits:
        """So many at once. Keep the object for as long as it is held, as that of a lock."""
        return Permits(self, count)

    def _acquire(self, timeout: Optional[float]) -> Hold:
        return self.permits(1)._acquire(timeout)

    def lease_holders(self, timeout: Optional[float] = 10.0) -> List[Contender]:
        """One contender for each permit that is taken, oldest first."""
        return listed(lib.pdk_semaphore_holders, self._raw, timeout)
