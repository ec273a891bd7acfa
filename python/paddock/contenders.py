"""Who is in a queue: the holder first, then those who wait."""
from __future__ import annotations

import dataclasses
from typing import Any, List, Optional

from ._calls import bounded, check, ffi, lib, ms, text


@dataclasses.dataclass(frozen=True)
class Contender:
    """One contender, as it stood in the queue. Others wrote `identity` and `data`: escape them before they reach a terminal."""

    identity: str
    token: int
    """The token of the holder's hold, but for a hold that was downgraded or has several permits."""
    node: str
    """The name of the znode, without its directory."""
    session: int
    """The ZooKeeper session of the contender."""
    since: float
    """When the znode was created, in seconds since 1970 by the server's clock."""
    shared: bool
    """It is a reader of a read/write lock."""
    data: Optional[bytes]
    """What a leader has published; None: nothing."""


def contender(raw: Any, index: int) -> Contender:
    size = ffi.new("size_t *")
    data = lib.pdk_contenders_data(raw, index, size)
    return Contender(identity=text(lib.pdk_contenders_identity(raw, index)), token=lib.pdk_contenders_token(raw, index),
                     node=text(lib.pdk_contenders_node(raw, index)), session=lib.pdk_contenders_session(raw, index),
                     since=lib.pdk_contenders_since_ms(raw, index) / 1000, shared=lib.pdk_contenders_is_shared(raw, index),
                     data=None if data == ffi.NULL else bytes(ffi.buffer(data, size[0])))


def contenders(raw: Any) -> List[Contender]:
    """The list that a callback is lent."""
    return [contender(raw, index) for index in range(lib.pdk_contenders_count(raw))]


def taken_contenders(raw: Any) -> List[Contender]:
    """The list that the caller owns, which ends here."""
    try:
        return contenders(raw)
    finally:
        lib.pdk_contenders_free(raw)


def listed(function: Any, raw: Any, timeout: Optional[float]) -> List[Contender]:
    """What a call that lists answers."""
    def call() -> List[Contender]:
        out = ffi.new("pdk_contenders **")
        check(function(raw, ms(timeout), out))
        return taken_contenders(out[0])
    return bounded(call)
