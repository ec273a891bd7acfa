"""The lease lock: a lock that is kept across a crash or restart of its holder, until its own end."""
from __future__ import annotations

from typing import Any, Optional

from ._calls import acquired, bounded, ffi, lib, ms, options, seconds
from .hold import Hold
from .lock import Acquirable, Recipe
from .session import BaseSession


class LeaseHold(Hold):
    """A hold of a lease lock. `release`, and the end of a `with` block, give the lock up. `leave_standing` lets go of the hold alone:
    the lock stands until its end, for the owner of the secret."""

    _rest = "the lock stands until its end"

    def __init__(self, session: BaseSession, lock: Any) -> None:
        super().__init__(session)
        self._lock = ffi.gc(lib.pdk_lease_lock_ref(lock), lib.pdk_lease_lock_unref)

    def release(self, timeout: Optional[float] = 10.0) -> bool:
        """Give the lock up, and release the hold. Waits for the servers, other than that of a lock. After a failure the hold is still
        to be released, or to be left standing. False: it was lost before."""
        return bounded(lambda: self._released(lib.paddock_lease_lock_release(self._lock, self._cell, ms(timeout))))

    def leave_standing(self) -> bool:
        """Release the hold alone. Never waits. True: it was valid until now."""
        return super().release()


class BaseLeaseLock(Recipe):
    """What a lease lock has on threads and on an event loop."""

    def __init__(self, session: BaseSession, path: str, secret: str, duration: Optional[float] = None,
                 identifier: Optional[str] = None) -> None:
        """secret: takes the lock back; text of 16 to 1024 bytes that nobody can guess, the same after a restart. duration: for how
        many seconds it stands after each renewal; 60 by default."""
        super().__init__(session, path, "pdk_lease_lock",
                         options("pdk_lease_lock_options", secret=secret, duration_ms=seconds(duration), identity=identifier))


class LeaseLock(BaseLeaseLock, Acquirable[LeaseHold]):
    """A lease lock. A restarted holder has the same secret, and takes it back without anybody having held it in between."""

    def _acquire(self, timeout: Optional[float]) -> LeaseHold:
        return acquired(lambda limit, out: int(lib.pdk_lease_lock_acquire(self._raw, limit, out)), timeout, self._waiters,
                        LeaseHold(self._session, self._raw))
