"""A hold: the grant that a recipe gave, whichever recipe it was.

Only the token protects a resource between `valid` and the effect of a write: give it to the resource, which refuses any that is
smaller than the largest one it has seen (`paddock.Fence`).
"""
from __future__ import annotations

import enum
import types
import warnings
from typing import Any, Callable, Optional, Type, TypeVar

from ._calls import bounded_check, called, check, error, ffi, given, lib, ms, run, text
from .errors import Error

Self = TypeVar("Self", bound="Owned")


class Reason(enum.IntEnum):
    """Why a hold was lost."""

    NONE = lib.PDK_REASON_NONE
    """It was not lost: released, resigned, left."""
    EXPIRED = lib.PDK_REASON_EXPIRED
    """The server ended the session, or the session was given up."""
    LEASE = lib.PDK_REASON_LEASE
    """No quorum confirmed the session in time: cut off, paused, overloaded."""
    NODE_GONE = lib.PDK_REASON_NODE_GONE
    """Somebody deleted the znode."""
    CLOSED = lib.PDK_REASON_CLOSED
    """The session was closed, or the servers refused its credentials."""
    OVERDUE = lib.PDK_REASON_OVERDUE
    """A job's run stood for as long as it may, or a lease lock was not renewed in time."""


def referenced(raw: Any) -> Any:
    """A reference that the object has for itself, so that calls of other threads are safe until it is gone."""
    return ffi.gc(lib.pdk_hold_ref(raw), lib.pdk_hold_unref)


class Grant:
    """A grant: its token, its validity, its loss. `Hold` adds the release. The leader's grant, and a member's, end by `resign` and
    `leave` instead."""

    def __init__(self, session: Any, raw: Any = ffi.NULL) -> None:
        self._raw, self._session = referenced(raw), session

    def __repr__(self) -> str:
        return f"<paddock.{type(self).__name__} {self.node} token {self.token} {self._state()}>"

    def _state(self) -> str:
        if self.valid:
            return "valid"
        return f"lost: {self.reason.name}" if self.reason else "released"

    @property
    def token(self) -> int:
        """The fencing token: larger than that of every holder before. Holds that threads of one process handed over have the same;
        they differ in `handover`, so a resource compares (token, handover)."""
        return int(lib.pdk_hold_token(self._raw))

    @property
    def handover(self) -> int:
        """How often the grant was handed over between threads of this process."""
        return int(lib.pdk_hold_handover(self._raw))

    @property
    def token_text(self) -> str:
        """The token with 20 digits, so that texts sort as tokens do."""
        return text(lib.pdk_hold_token_text(self._raw))

    @property
    def valid(self) -> bool:
        """Is it still ours, now? Local, and never optimistic: after the first False it stays False."""
        return bool(lib.pdk_hold_is_valid(self._raw))

    @property
    def remaining(self) -> float:
        """For how many seconds it stays valid, even without a connection."""
        return int(lib.pdk_hold_remaining_ms(self._raw)) / 1000

    @property
    def reason(self) -> Reason:
        """Why it was lost; Reason.NONE if it was not."""
        return Reason(lib.pdk_hold_reason(self._raw))

    @property
    def node(self) -> str:
        """The path of its znode, with the session's chroot."""
        return text(lib.pdk_hold_node(self._raw))

    @property
    def sequencer(self) -> str:
        """Proof of the hold, for `Session.check_sequencer` of anybody."""
        return text(lib.pdk_hold_sequencer(self._raw))

    @property
    def mixed(self) -> bool:
        """May another recipe work at its path? A lock, a semaphore and an election at one path do not exclude each other. False: no
        other had a node there when ours was made. True: look."""
        return bool(lib.pdk_hold_is_mixed(self._raw))

    def fileno(self) -> int:
        """A descriptor that turns readable when it is lost: for select. Never read or close it."""
        found = int(lib.pdk_hold_fd(self._raw))
        if found < 0:
            raise error(lib.PDK_SYSTEM)
        return found

    def ensure(self, seconds: float) -> None:
        """Make sure that so many seconds remain; waits for a renewal if it must. On an event loop: `aio.Session.ensure`."""
        self._session._may_wait()
        if self.remaining < seconds:
            bounded_check(lib.pdk_hold_ensure, self._raw, ms(seconds))

    def on_lost(self, function: Callable[[Reason], Any]) -> None:
        """Calls function(reason) when it is lost before it is released: once, on the session's thread, where nothing may wait. One
        function for each hold."""
        given(lambda user: int(lib.pdk_hold_on_lost(self._raw, lib.on_lost, user, lib.on_free)), self._session._callback(function))

    def on_request(self, function: Callable[[str, Optional[float]], Any]) -> None:
        """Calls function(who, until) each time that somebody asks to let go; until is in seconds since 1970, or None. On the
        session's thread, where nothing may wait. One function for each hold."""
        given(lambda user: int(lib.pdk_hold_on_request(self._raw, lib.on_request, user, lib.on_free)), self._session._callback(function))


class Lent(Grant):
    """A grant that its owner has lent: the object has a reference, and no release."""

    def __init__(self, session: Any, raw: Any = ffi.NULL) -> None:
        self._cell = ffi.gc(ffi.new("pdk_hold **"), lib.paddock_hold_drop)
        super().__init__(session, raw)

    def _begin(self) -> None:
        self._raw = referenced(self._cell[0])
        self._drop()

    def _drop(self) -> None:
        lib.paddock_hold_drop(self._cell)


class Kept:
    """What is released once: by its owner, or with the last reference to it. `_cell` has the reference of the owner (owned.c)."""

    _cell: Any
    _rest = "it is released now"

    def __del__(self) -> None:
        """Warns only: the cell gives the reference back, also where a signal interrupts this."""
        if self._owned and self.valid:
            warnings.warn(f"{self!r} was never released; {self._rest}", ResourceWarning, source=self)

    @property
    def _owned(self) -> bool:
        """It was not released yet."""
        return bool(self._cell[0] != ffi.NULL)

    @property
    def valid(self) -> bool:
        raise NotImplementedError

    def _begin(self) -> None:
        """The grant is in the cell."""
        raise NotImplementedError

    def _drop(self) -> None:
        """Give the owner's reference back, if it is there."""
        raise NotImplementedError

    def _take(self) -> Any:
        """The reference of the owner, which ends it."""
        raw = lib.paddock_take(self._cell)
        if raw == ffi.NULL:
            raise self._not_held()
        return raw

    def _not_held(self) -> Error:
        return error(lib.PDK_NOT_HELD, f"{self!r} was released before")

    def _released(self, status: int) -> bool:
        if status == lib.PDK_NOT_HELD:
            raise self._not_held()
        if status not in (lib.PDK_OK, lib.PDK_LOST):
            raise error(status)
        return bool(status == lib.PDK_OK)


class Owned(Kept):
    """What its owner releases: by `release`, or at the end of a `with` block."""

    def release(self) -> bool:
        """End it. Never waits for the network. True: it was valid until now. False: it was lost before."""
        raise NotImplementedError

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[types.TracebackType]) -> None:
        """A block that ends well while its hold is lost raises Lost: others may have worked meanwhile."""
        if not self._owned:
            return  # released inside
        if not self.release() and kind is None:
            raise error(lib.PDK_LOST, f"{self!r} was lost before the end of its block")


class KeptGrant(Grant, Kept):
    """A grant with an owner."""

    def __init__(self, session: Any, raw: Any = ffi.NULL) -> None:
        """Takes the reference of the caller."""
        self._cell = ffi.gc(ffi.new("pdk_hold **", raw), lib.paddock_hold_drop)
        super().__init__(session, raw)

    @property
    def valid(self) -> bool:
        """Is it still ours, now? Local, and never optimistic: after the first False it stays False."""
        return bool(lib.pdk_hold_is_valid(self._raw))

    def _begin(self) -> None:
        self._raw = referenced(self._cell[0])

    def _drop(self) -> None:
        lib.paddock_hold_drop(self._cell)


class Hold(KeptGrant, Owned):
    """A hold of a lock, of a side of a read/write lock, of permits, of a stripe."""

    def release(self) -> bool:
        """End it. Never waits for the network. True: it was valid until now. False: it was lost before."""
        return self._released(lib.paddock_hold_release(self._cell))

    def detach_thread(self) -> None:
        """Let another thread use the hold as its own. This one may then wait for the same lock again."""
        lib.pdk_hold_detach_thread(self._raw)

    def downgrade(self) -> None:
        """Of a writer of a read/write lock: from now on it only reads, and keeps its token."""
        check(lib.pdk_hold_downgrade(self._raw))


@called
def on_lost(_: Any, reason: int, user: Any) -> None:
    run(ffi.from_handle(user), Reason(reason))


@called
def on_request(_: Any, who: Any, until: int, user: Any) -> None:
    run(ffi.from_handle(user), text(who), until / 1000 if until else None)
