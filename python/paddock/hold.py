"""A hold: the grant that a recipe gave, whichever recipe it was.

Only the token protects a resource between `valid` and the effect of a write: give it to the resource, which refuses any that is
smaller than the largest one it has seen (`paddock.Fence`).
"""
from __future__ import annotations

import enum
import types
import warnings
from typing import Any, Callable, List, Optional, Type, TypeVar

from ._calls import called, check, error, ffi, given, lib, ms, run, text

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


class Grant:
    """A grant: its token, its validity, its loss. `Hold` adds the release. The leader's grant, and a member's, end by `resign` and
    `leave` instead."""

    def __init__(self, raw: Any, session: Any) -> None:
        """It has a reference of its own, so that calls of other threads are safe until the object is gone."""
        self._raw = lib.pdk_hold_ref(raw)
        self._session = session

    def __del__(self) -> None:
        raw = getattr(self, "_raw", None)
        if raw is not None:
            lib.pdk_hold_unref(raw)

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

    def fileno(self) -> int:
        """A descriptor that turns readable when it is lost: for select. Never read or close it."""
        found = int(lib.pdk_hold_fd(self._raw))
        if found < 0:
            raise error(lib.PDK_SYSTEM)
        return found

    def ensure(self, seconds: float) -> None:
        """Make sure that so many seconds remain; waits for a renewal if it must. On an event loop: `aio.Session.ensure`."""
        self._session._may_wait()
        check(lib.pdk_hold_ensure(self._raw, ms(seconds)))

    def on_lost(self, function: Callable[[Reason], Any]) -> None:
        """Calls function(reason) when it is lost before it is released: once, on the session's thread, where nothing may wait. One
        function for each hold."""
        given(lambda user: int(lib.pdk_hold_on_lost(self._raw, lib.on_lost, user, lib.on_free)), self._session._callback(function))

    def on_request(self, function: Callable[[str, Optional[float]], Any]) -> None:
        """Calls function(who, until) each time that somebody asks to let go; until is in seconds since 1970, or None. On the
        session's thread, where nothing may wait. One function for each hold."""
        given(lambda user: int(lib.pdk_hold_on_request(self._raw, lib.on_request, user, lib.on_free)), self._session._callback(function))


class Kept:
    """What is released once: by its owner, or with the last reference to it."""

    _rest = "it is released now"

    def __init__(self, raw: Any) -> None:
        """Takes the reference of the caller."""
        self._owned: List[Any] = [raw]  # until the release, which can be but once: pop() is atomic

    def __del__(self) -> None:
        owned = getattr(self, "_owned", None)
        if owned:
            if self.valid:
                warnings.warn(f"{self!r} was never released; {self._rest}", ResourceWarning, source=self)
            self._drop(owned.pop())

    @property
    def valid(self) -> bool:
        raise NotImplementedError

    def _drop(self, raw: Any) -> None:
        raise NotImplementedError

    def _take(self) -> Any:
        """The reference of the owner, which ends it."""
        try:
            return self._owned.pop()
        except IndexError:
            raise error(lib.PDK_NOT_HELD, f"{self!r} was released before") from None


class Owned(Kept):
    """What its owner releases: by `release`, or at the end of a `with` block."""

    def _end(self, raw: Any) -> int:
        raise NotImplementedError

    def release(self) -> bool:
        """End it. Never waits for the network. True: it was valid until now. False: it was lost before."""
        raw = self._take()
        status = self._end(raw)
        if status == lib.PDK_FORKED:
            self._owned.append(raw)
        if status not in (lib.PDK_OK, lib.PDK_LOST):
            raise error(status)
        return bool(status == lib.PDK_OK)

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

    def __init__(self, raw: Any, session: Any) -> None:
        Grant.__init__(self, raw, session)
        Kept.__init__(self, raw)

    def __del__(self) -> None:
        Kept.__del__(self)
        Grant.__del__(self)

    @property
    def valid(self) -> bool:
        """Is it still ours, now? Local, and never optimistic: after the first False it stays False."""
        return bool(lib.pdk_hold_is_valid(self._raw))

    def _drop(self, raw: Any) -> None:
        lib.pdk_hold_unref(raw)


class Hold(KeptGrant, Owned):
    """A hold of a lock, of a side of a read/write lock, of permits, of a stripe."""

    def _end(self, raw: Any) -> int:
        return int(lib.pdk_hold_release(raw))

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
