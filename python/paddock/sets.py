"""A set: several rights that are held together, all of them or none; or a majority of locks in ensembles of their own."""
from __future__ import annotations

import dataclasses
from typing import Any, Callable, List, Optional, Sequence, Tuple, Union

from ._calls import Waiters, acquired, bounded_check, called, error, ffi, given, lib, ms, options, run, seconds, text
from .hold import Grant, Owned, Reason
from .lock import Acquirable, BaseLock
from .rwlock import BaseSide
from .semaphore import BasePermits, BaseSemaphore

Right = Union[BaseLock, BaseSide, BaseSemaphore, BasePermits]


@dataclasses.dataclass(frozen=True)
class Part:
    """One right of a set. A resource is told the token of the part that guards it: a set has none."""

    path: str
    hold: Optional[Grant]
    """None: of a majority, a right that was not held yet."""


class SetHold(Owned):
    """The rights that are held."""

    def __init__(self, sessions: Sequence[Any], raw: Any = ffi.NULL) -> None:
        """Takes the reference of the caller."""
        self._cell = ffi.gc(ffi.new("pdk_set **", raw), lib.paddock_set_drop)
        self._raw, self._sessions = ffi.gc(lib.pdk_set_ref(raw), lib.pdk_set_unref), sessions

    def __repr__(self) -> str:
        paths = [text(lib.pdk_set_part_path(self._raw, i)) for i in range(len(self))]
        return f"<paddock.SetHold of {', '.join(paths)}>"

    def __len__(self) -> int:
        return int(lib.pdk_set_count(self._raw))

    @property
    def parts(self) -> List[Part]:
        """Its rights, in the order in which they were named. They end with the set."""
        return [Part(text(lib.pdk_set_part_path(self._raw, i)), self._part(i)) for i in range(len(self))]

    def _part(self, index: int) -> Optional[Grant]:
        raw = lib.pdk_set_part(self._raw, index)
        return PartHold(ffi.cast("pdk_hold *", raw), self) if raw != ffi.NULL else None

    @property
    def valid(self) -> bool:
        """Are all of them, or as many as are needed, still ours, now?"""
        return bool(lib.pdk_set_is_valid(self._raw))

    @property
    def remaining(self) -> float:
        """For how many seconds it stays valid, even without a connection."""
        return int(lib.pdk_set_remaining_ms(self._raw)) / 1000

    @property
    def reason(self) -> Reason:
        """Why it was lost; Reason.NONE if it was not."""
        return Reason(lib.pdk_set_reason(self._raw))

    def ensure(self, timeout: float) -> None:
        """Make sure that so many seconds remain; waits for renewals if it must. On an event loop: `aio.Session.ensure`."""
        self._sessions[0]._may_wait()
        if self.remaining < timeout:
            bounded_check(lib.pdk_set_ensure, self._raw, ms(timeout))

    def fileno(self) -> int:
        """A descriptor that turns readable when it is lost: for select. Never read or close it."""
        found = int(lib.pdk_set_fd(self._raw))
        if found < 0:
            raise error(lib.PDK_SYSTEM)
        return found

    def on_lost(self, function: Callable[[Reason], Any]) -> None:
        """Calls function(reason) when it is lost, as `Hold.on_lost`."""
        given(lambda user: int(lib.pdk_set_on_lost(self._raw, lib.on_set_lost, user, lib.on_free)), self._sessions[0]._callback(function))

    def detach_thread(self) -> None:
        """Let another thread use it as its own."""
        lib.pdk_set_detach_thread(self._raw)

    def _begin(self) -> None:
        self._raw = ffi.gc(lib.pdk_set_ref(self._cell[0]), lib.pdk_set_unref)

    def _drop(self) -> None:
        lib.paddock_set_drop(self._cell)

    def release(self) -> bool:
        """End all of its rights. Never waits for the network. True: it was valid until now. False: it was lost before."""
        return self._released(lib.paddock_set_release(self._cell))


class PartHold(Grant):
    """A part of a set: it belongs to the set, and lives as long."""

    def __init__(self, raw: Any, of: SetHold) -> None:  # pylint: disable=super-init-not-called
        self._raw, self._session = raw, of  # without a reference of its own


def rights(of: Sequence[Right]) -> Any:
    """The rights for C."""
    array = ffi.new("pdk_right[]", len(of))
    for i, right in enumerate(of):
        array[i] = _right(right)
    return array


def _right(right: Right) -> Any:
    if isinstance(right, BaseLock):
        return lib.pdk_right_lock(right._raw)
    if isinstance(right, BaseSide):
        return (lib.pdk_right_write if right.writes else lib.pdk_right_read)(right._of._raw)
    if isinstance(right, BasePermits):
        return lib.pdk_right_permits(right._of._raw, right.count)
    if isinstance(right, BaseSemaphore):
        return lib.pdk_right_permits(right._raw, 1)
    raise error(lib.PDK_INVALID, f"{right!r} is no right: a Lock, the read or write side of an RWLock, or permits of a Semaphore")


def sessions(of: Sequence[Right]) -> Tuple[Any, ...]:
    return tuple(right._of._session if isinstance(right, (BaseSide, BasePermits)) else right._session for right in of)


class BaseSet:
    """What a set has on threads and on an event loop."""

    def __init__(self, of: Sequence[Right], need: int = 0, patience: Optional[float] = None) -> None:
        """patience: of a majority, for how many seconds an ensemble may be silent before its right is passed over."""
        self._of = tuple(of)
        self._rights = rights(self._of)
        self._options = options("pdk_set_options", need=need, patience_ms=seconds(patience))
        self._waiters = Waiters()

    def __repr__(self) -> str:
        return f"<paddock.Set of {', '.join(map(repr, self._of))}>"


class Set(BaseSet, Acquirable[SetHold]):
    """`with paddock.Set([orders, prices.read, slots.permits(2)]) as held:` has all of them. Callers that name the same rights, in any
    order, never wait for each other in a circle. With `need`, so many of the locks suffice: a majority, each in an ensemble of its
    own."""

    def _acquire(self, timeout: Optional[float]) -> SetHold:
        return acquired(lambda limit, out: int(lib.pdk_set_acquire(self._rights, len(self._of), limit, self._options, out)), timeout,
                        self._waiters, SetHold(sessions(self._of)))

    def cancel(self) -> None:
        """Call off what threads wait for on this object: their calls raise Canceled."""
        self._waiters.cancel()


@called
def on_set_lost(_: Any, reason: int, user: Any) -> None:
    run(ffi.from_handle(user), Reason(reason))
