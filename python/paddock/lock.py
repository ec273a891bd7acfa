"""The lock: exclusive, fair between processes, shared by the threads of this one."""
from __future__ import annotations

import abc
import enum
import threading
import types
from typing import Any, Generic, List, Literal, Optional, Tuple, Type, TypeVar, overload

from ._calls import Waiters, acquired, check, error, ffi, lib, options, seconds, string
from .contenders import Contender, listed
from .errors import Busy
from .hold import Hold, Kept, Owned
from .session import BaseSession

Held = TypeVar("Held", bound=Kept)
Released = TypeVar("Released", bound=Owned)
Made = TypeVar("Made", bound="BaseLock")


class Naming(enum.IntEnum):
    """Which other clients can contend on a path."""

    CURATOR = lib.PDK_NAMING_CURATOR
    KAZOO = lib.PDK_NAMING_KAZOO


class Recipe:
    """An object of the library, on a path. It is given back with the last reference to it."""

    _asynchronous = False  # on an event loop

    def __init__(self, session: BaseSession, path: str, kind: str, *arguments: Any) -> None:
        if session._asynchronous != self._asynchronous:
            raise error(lib.PDK_INVALID, f"{session!r}: the recipes of paddock.aio are for its sessions, and no others are")
        out = ffi.new(f"{kind} **")
        check(getattr(lib, f"{kind}_new")(session._raw, string(path), *arguments, out))
        self._adopt(out[0], kind, session, path)

    def _adopt(self, raw: Any, kind: str, session: BaseSession, path: str) -> None:
        """Takes the reference of the caller."""
        self._raw = ffi.gc(raw, getattr(lib, f"{kind}_unref"))
        self._session = session
        self._waiters = Waiters()
        self.path = path

    def __repr__(self) -> str:
        return f"<paddock.{type(self).__name__} {self.path}>"

    def cancel(self) -> None:
        """Call off what threads wait for on this object: their calls raise Canceled. What is held stays held."""
        self._waiters.cancel()


class Keeper(Generic[Held]):
    """Keeps what was acquired by an object until that is released: as a statement, `lock.acquire()` holds the lock."""

    def _kept(self, name: str) -> "List[Tuple[Any, Held]]":
        """(owner, hold): all, and those of blocks that run. append and remove are atomic."""
        kept: List[Tuple[Any, Held]] = self.__dict__.setdefault(name, [])
        return kept

    def _owner(self) -> Any:
        return threading.get_ident()

    def _keep(self, hold: Held, name: str = "_held") -> Held:
        for entry in list(self._kept("_held")):  # holds end by their own release as well
            if not entry[1]._owned:
                _remove(self._kept("_held"), entry)
        self._kept(name).append((self._owner(), hold))
        return hold

    def _latest(self, name: str = "_held") -> Held:
        """The newest of this thread, which is taken off that list. For _held: that was not released."""
        for entry in reversed(list(self._kept(name))):
            if entry[0] == self._owner() and _remove(self._kept(name), entry) and (entry[1]._owned or name != "_held"):
                return entry[1]
        raise error(lib.PDK_NOT_HELD, f"{self!r} was not acquired here, or was released")

    def _leave(self) -> Held:
        """The hold of the block that ends."""
        hold = self._latest("_entered")
        _remove(self._kept("_held"), (self._owner(), hold))
        return hold

    @property
    def is_acquired(self) -> bool:
        """Is anything valid that was acquired by this object, by whomever?"""
        return any(hold.valid for _, hold in list(self._kept("_held")))


def _remove(kept: "List[Tuple[Any, Held]]", entry: "Tuple[Any, Held]") -> bool:
    """False: another thread was faster."""
    try:
        kept.remove(entry)
    except ValueError:
        return False
    return True


class Acquirable(Keeper[Released], abc.ABC):
    """What can be acquired and released, by threads."""

    @abc.abstractmethod
    def _acquire(self, timeout: Optional[float]) -> Released:
        """Waits for a hold; 0 seconds: a try."""

    @overload
    def acquire(self, blocking: Literal[True] = True, timeout: Optional[float] = None) -> Released: ...

    @overload
    def acquire(self, blocking: bool, timeout: Optional[float] = None) -> Optional[Released]: ...

    def acquire(self, blocking: bool = True, timeout: Optional[float] = None) -> Optional[Released]:
        """The hold. Blocks this thread alone, for at most `timeout` seconds (then it raises Timeout); None is for ever.
        blocking=False tries, and returns None where it is not free."""
        if blocking:
            return self._keep(self._acquire(timeout))
        try:
            return self._keep(self._acquire(0))
        except Busy:
            return None

    def release(self) -> bool:
        """Release what this thread acquired last by this object. True: it was valid until now. False: it was lost before."""
        return self._latest().release()

    def __enter__(self) -> Released:
        return self._keep(self.acquire(), "_entered")

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[types.TracebackType]) -> None:
        self._leave().__exit__(kind, value, trace)


class BaseLock(Recipe):
    """What a lock has on threads and on an event loop."""

    def __init__(self, session: BaseSession, path: str, identifier: Optional[str] = None, *, naming: Naming = Naming.CURATOR,
                 reentrant: bool = False, max_handovers: Optional[int] = None, max_handover: Optional[float] = None,
                 lock_delay: Optional[float] = None, linger: Optional[float] = None) -> None:
        """identifier: what others see; by default the session's identity. naming: which other clients share the path. reentrant: a
        thread that holds it may acquire it again, otherwise that raises Deadlock. lock_delay: for so many seconds nobody is granted
        after a holder that ended without a release. linger: for so long the znode waits for the next acquisition."""
        fields = options("pdk_lock_options", naming=int(naming), reentrant=int(reentrant), identity=identifier,
                         max_handovers=max_handovers, max_handover_ms=seconds(max_handover), lock_delay_ms=seconds(lock_delay),
                         linger_ms=seconds(linger))
        super().__init__(session, path, "pdk_lock", fields)

    @classmethod
    def _from(cls: Type[Made], raw: Any, session: BaseSession, path: str) -> Made:
        """A lock that something else has made: takes the reference of the caller."""
        lock = cls.__new__(cls)
        lock._adopt(raw, "pdk_lock", session, path)
        return lock


class Lock(BaseLock, Acquirable[Hold]):
    """A lock. `with lock:` holds it; `with lock as hold:` has its token as well. Threads that share the object hand the lock over to
    each other without the network."""

    def _acquire(self, timeout: Optional[float]) -> Hold:
        return acquired(lambda limit, out: int(lib.pdk_lock_acquire(self._raw, limit, out)), timeout, self._waiters, Hold(self._session))

    def contenders(self, timeout: Optional[float] = 10.0) -> List[Contender]:
        """The queue, the holder first."""
        return listed(lib.pdk_lock_list, self._raw, timeout)

    def holder(self, timeout: Optional[float] = 10.0) -> Optional[Contender]:
        """The holder, or None when it is free."""
        return next(iter(listed(lib.pdk_lock_holder, self._raw, timeout)), None)
