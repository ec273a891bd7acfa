"""The lease lock: a lock that is kept across a crash or restart of its holder, until its own end."""
from __future__ import annotations

from typing import Any, Optional

from ._calls import acquired, error, lib, ms, options, seconds, taken
from .hold import Hold
from .lock import Acquirable, Recipe
from .session import BaseSession


class LeaseHold(Hold):
    """A hold of a lease lock. `release`, and the end of a `with` block, give the lock up. `leave_standing` lets go of the hold alone:
    the lock stands until its end, for the owner of the secret."""

    _rest = "the lock stands until its end"

    def __init__(self, raw: Any, session: BaseSession, lock: Any) -> None:
        super().__init__(raw, session)
        self._lock = lib.pdk_lease_lock_ref(lock)

    def __del__(self) -> None:
        super().__del__()
        if hasattr(self, "_lock"):
            lib.pdk_lease_lock_unref(self._lock)

    def release(self, timeout: Optional[float] = 10.0) -> bool:
        """Give the lock up, and release the hold. Waits for the servers, other than that of a lock. After a failure the hold is still
        to be released, or to be left standing. False: it was lost before."""
        raw = self._take()
        status = lib.pdk_lease_lock_release(self._lock, raw, ms(timeout))
        if status == lib.PDK_LOST:
            lib.pdk_hold_release(raw)
            return False
        if status != lib.PDK_OK:
            self._owned.append(raw)
            raise error(status)
        return True

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
        return acquired(lambda limit, out: int(lib.pdk_lease_lock_acquire(self._raw, limit, out)), timeout, self._waiters, "pdk_hold",
                        lib.pdk_hold_release, lambda out: LeaseHold(taken(out), self._session, self._raw))
