"""Fences: the resource's half of the token. A resource keeps the largest mark that it has admitted, and refuses older ones.

They need no session: a service that stores things for others uses this alone.
"""
from __future__ import annotations

import dataclasses
import enum
import os
from typing import Any, Tuple, Union

from ._calls import check, error, ffi, lib, text

Name = Union[str, bytes]


class Mode(enum.IntEnum):
    """The mode of a hold, as its sequencer tells it."""

    EXCLUSIVE = lib.PDK_MODE_EXCLUSIVE
    SHARED = lib.PDK_MODE_SHARED
    LEADER = lib.PDK_MODE_LEADER
    PERMIT = lib.PDK_MODE_PERMIT


@dataclasses.dataclass(frozen=True)
class Sequencer:
    """The content of a sequencer. That somebody sent it proves nothing: `Session.check_sequencer` asks ZooKeeper."""

    node: str
    token: int
    node_czxid: int
    handover: int
    mode: Mode

    @classmethod
    def parse(cls, sequencer: Name) -> "Sequencer":
        """Read the text of `Hold.sequencer`; raises Invalid where it is none."""
        data, out = _name(sequencer), ffi.new("pdk_sequencer *")
        check(lib.pdk_sequencer_parse(data, len(data), out))
        return cls(text(out.node), out.token, out.node_czxid, out.handover, Mode(out.mode))


def parse_token(token: Name) -> int:
    """Read the text of `Hold.token_text`: 1 to 20 digits and nothing else; raises Invalid where it is none."""
    data, out = _name(token), ffi.new("int64_t *")
    check(lib.pdk_token_parse(data, len(data), out))
    return int(out[0])


def _name(name: Name) -> bytes:
    return name.encode("utf-8", "surrogateescape") if isinstance(name, str) else name


class Fence:
    """A fence in memory, for the threads of one process; or, with a path, in a file that processes share. A check and a write are two
    steps: make them under the resource's own lock, or use `write`."""

    def __init__(self, path: "str | os.PathLike[str] | None" = None, create: bool = False) -> None:
        """create: make a file that is missing. Without it that is an error, since the mark was lost."""
        out = ffi.new("pdk_fence **")
        if path is None:
            check(lib.pdk_fence_new(out))
        else:
            how = lib.PDK_FENCE_CREATE if create else lib.PDK_FENCE_EXISTING
            check(lib.pdk_fence_open(os.fsencode(path), how, out))
        self._raw = ffi.gc(out[0], lib.pdk_fence_close)

    def admit(self, token: int, handover: int = 0) -> None:
        """Check a write by an exclusive hold, and raise the mark; raises Stale where a later hold was admitted."""
        check(lib.pdk_fence_admit(self._raw, *_mark(token, handover)))

    def admit_shared(self, token: int, handover: int = 0) -> None:
        """The same for a shared hold, of a reader."""
        check(lib.pdk_fence_admit_shared(self._raw, *_mark(token, handover)))

    def advance(self, token: int, handover: int = 0) -> None:
        """Raise the mark without a write: right after the grant, so that the former holder is refused from then on."""
        check(lib.pdk_fence_advance(self._raw, *_mark(token, handover)))

    @property
    def mark(self) -> Tuple[int, int]:
        """The largest (token, handover) that was admitted; (0, 0) at first."""
        token, handover = ffi.new("int64_t *"), ffi.new("uint32_t *")
        check(lib.pdk_fence_mark(self._raw, token, handover))
        return token[0], handover[0]

    def write(self, token: int, handover: int, file: Any, data: bytes, offset: int = 0) -> None:
        """Check the mark, and write to a local file, in one step that no other writer comes between. For a fence in a file. file: a
        descriptor, or an object with fileno."""
        descriptor = file if isinstance(file, int) else file.fileno()
        check(lib.pdk_fence_write(self._raw, *_mark(token, handover), descriptor, data, len(data), offset))


class FenceMap:
    """Many fences in memory, by name. It is bounded, and forgets no mark unless it is told to."""

    def __init__(self, capacity: int) -> None:
        out = ffi.new("pdk_fence_map **")
        check(lib.pdk_fence_map_new(capacity, out))
        self._raw = ffi.gc(out[0], lib.pdk_fence_map_close)

    def __len__(self) -> int:
        return int(lib.pdk_fence_map_count(self._raw))

    def admit(self, name: Name, token: int, handover: int = 0) -> None:
        """As `Fence.admit`, of the fence with that name; raises Limit for a new name where the map is full."""
        data = _name(name)
        check(lib.pdk_fence_map_admit(self._raw, data, len(data), *_mark(token, handover)))

    def admit_shared(self, name: Name, token: int, handover: int = 0) -> None:
        """As `Fence.admit_shared`."""
        data = _name(name)
        check(lib.pdk_fence_map_admit_shared(self._raw, data, len(data), *_mark(token, handover)))

    def advance(self, name: Name, token: int, handover: int = 0) -> None:
        """As `Fence.advance`."""
        data = _name(name)
        check(lib.pdk_fence_map_advance(self._raw, data, len(data), *_mark(token, handover)))

    def mark(self, name: Name) -> Tuple[int, int]:
        """The mark of a name; (0, 0) of one that is not known."""
        data, token, handover = _name(name), ffi.new("int64_t *"), ffi.new("uint32_t *")
        check(lib.pdk_fence_map_mark(self._raw, data, len(data), token, handover))
        return token[0], handover[0]

    def forget(self, name: Name) -> None:
        """Forget the mark of a name, when nobody can write under it any more."""
        data = _name(name)
        check(lib.pdk_fence_map_forget(self._raw, data, len(data)))


def _mark(token: int, handover: int) -> Tuple[int, int]:
    if not 0 < token < 2**63 or not 0 <= handover < 2**32:
        raise error(lib.PDK_INVALID, f"({token}, {handover}) is no mark: a token is 1 or more")
    return token, handover
