"""The striped lock: n locks under one path, for more keys than there are locks."""
from __future__ import annotations

from typing import Any, Optional, Sequence, Union

from ._calls import acquired, check, error, ffi, lib, options, seconds, string
from .hold import Grant, Hold
from .lock import Acquirable, Lock, Recipe
from .session import BaseSession
from .sets import SetHold

Key = Union[str, bytes]


def stripe_of(key: Key, stripes: int) -> int:
    """The stripe of a key: the same in every version and language."""
    data = key.encode("utf-8") if isinstance(key, str) else key
    found = int(lib.pdk_striped_stripe_of(data, len(data), stripes))
    if found < 0:
        raise error(lib.PDK_INVALID, f"{stripes} stripes: 1 to {lib.pdk_striped_stripes_max()}")
    return found


def key_string(key: Key) -> Any:
    if isinstance(key, str):
        return string(key)
    if b"\0" in key:
        raise error(lib.PDK_INVALID, f"a NUL in {key!r}")
    return ffi.new("char[]", key)


class Stripe(Acquirable[Hold]):
    """The stripe of a key: acquired, released and used in `with` as a lock is."""

    def __init__(self, of: "Striped", key: Key) -> None:
        self._of, self.key, self._string = of, key, key_string(key)

    def __repr__(self) -> str:
        return f"<paddock.Striped {self._of.path} {self.key!r}>"

    def _acquire(self, timeout: Optional[float]) -> Hold:
        return self._of._hold(lambda limit, out: int(lib.pdk_striped_acquire(self._of._raw, self._string, limit, out)), timeout)


class AnyStripe(Acquirable[Hold]):
    """The stripe that is granted first: acquired, released and used in `with` as a lock is."""

    def __init__(self, of: "Striped") -> None:
        self._of = of

    def __repr__(self) -> str:
        return f"<paddock.Striped {self._of.path} any>"

    def _acquire(self, timeout: Optional[float]) -> Hold:
        return self._of._hold(lambda limit, out: int(lib.pdk_striped_acquire_any(self._of._raw, limit, out)), timeout)


class StripesHold(SetHold):
    """The stripes of several keys. Keys of one stripe share it."""

    def __init__(self, session: BaseSession, keys: Sequence[Key], parts: Any) -> None:
        super().__init__([session])
        self._keys, self._parts = keys, parts

    def of(self, key: Key) -> Optional[Grant]:
        """The part that guards this key: give its token to the resource."""
        return self._part(self._parts[self._keys.index(key)])


class Stripes(Acquirable[StripesHold]):
    """The stripes of several keys, all or none."""

    def __init__(self, of: "Striped", keys: Sequence[Key]) -> None:
        self._of, self.keys = of, tuple(keys)
        self._strings = [key_string(key) for key in keys]

    def __repr__(self) -> str:
        return f"<paddock.Striped {self._of.path} {self.keys!r}>"

    def _acquire(self, timeout: Optional[float]) -> StripesHold:
        of, parts = self._of, ffi.new("int32_t[]", max(1, len(self.keys)))
        array = ffi.new("const char *[]", self._strings)
        return acquired(
            lambda limit, out: int(lib.pdk_striped_acquire_keys(of._raw, array, len(self.keys), limit, parts, out)), timeout,
            of._waiters, StripesHold(of._session, self.keys, parts))


class BaseStriped(Recipe):
    """What a striped lock has on threads and on an event loop."""

    def __init__(self, session: BaseSession, path: str, stripes: int, identifier: Optional[str] = None, *, reentrant: bool = False,
                 max_handovers: Optional[int] = None, max_handover: Optional[float] = None) -> None:
        super().__init__(session, path, "pdk_striped", stripes,
                         options("pdk_striped_options", reentrant=int(reentrant), identity=identifier, max_handovers=max_handovers,
                                 max_handover_ms=seconds(max_handover)))
        self.stripes = stripes

    def stripe(self, hold: Hold) -> int:
        """The stripe that a hold has; -1 when it is none of this object."""
        return int(lib.pdk_striped_stripe(self._raw, hold._raw))

    def _lock(self, stripe: int) -> Any:
        out = ffi.new("pdk_lock **")
        check(lib.pdk_striped_lock(self._raw, stripe, out))
        return out[0], self._session, f"{self.path}/{stripe:04}"


class Striped(BaseStriped):
    """`with striped.key("customer/7") as hold:` has the stripe of that key. The number of stripes is the same for everybody on the
    path."""

    def key(self, key: Key) -> Stripe:
        """The stripe of this key."""
        return Stripe(self, key)

    def keys(self, keys: Sequence[Key]) -> Stripes:
        """The stripes of these keys, all or none. Callers that name the same keys in any order never wait in a circle."""
        return Stripes(self, keys)

    def any(self) -> AnyStripe:
        """The stripe that is granted first; `stripe` tells which one it is."""
        return AnyStripe(self)

    def lock(self, stripe: int) -> Lock:
        """The lock of one stripe: for a set, or to list who waits."""
        return Lock._from(*self._lock(stripe))

    def _hold(self, call: Any, timeout: Optional[float]) -> Hold:
        return acquired(call, timeout, self._waiters, Hold(self._session))
