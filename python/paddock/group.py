"""The group: its members, and their data. Programs join it, and programs watch it."""
from __future__ import annotations

import dataclasses
import warnings
from typing import Any, Callable, List, Optional, Tuple

from ._calls import Waiters, acquired, called, check, error, ffi, given, lib, options, run, string, text, wait
from .election import published
from .errors import Error
from .hold import Lent, Reason
from .session import BaseSession


class Membership(Lent):
    """The grant of a member. It ends with `Member.leave`, and not by a release."""


@dataclasses.dataclass(frozen=True)
class MemberInfo:
    """One member, as a view shows it. Others wrote `node` and `data`."""

    node: str
    token: int
    session: int
    since: float
    """In seconds since 1970 by the server's clock."""
    changed: int
    """Larger for newer data."""
    data: bytes
    status: int
    """Status.OK; NO_PERMISSION: only the node is known; LIMIT: it has too much data, and none is shown."""


@dataclasses.dataclass(frozen=True)
class Change:
    """One difference from the view before: before is None for a member that has joined, after for one that has left."""

    before: Optional[MemberInfo]
    after: Optional[MemberInfo]


@dataclasses.dataclass(frozen=True)
class View:
    """The members at one moment, oldest first."""

    number: int
    exact: bool
    """All of it stood at one moment; otherwise each member is as it was at some moment after the view before."""
    members: Tuple[MemberInfo, ...]
    changes: Tuple[Change, ...]


@dataclasses.dataclass
class Functions:
    """The functions of a member."""

    session: BaseSession
    joined: Optional[Callable[[Membership], Any]]
    lost: Optional[Callable[[Reason], Any]]
    failed: Optional[Callable[[Error], Any]]
    over: bool = False


class BaseMember:
    """What a member has on threads and on an event loop."""

    def __init__(self, session: BaseSession, path: str, data: bytes = b"", *, joined: Optional[Callable[[Membership], Any]] = None,
                 lost: Optional[Callable[[Reason], Any]] = None, failed: Optional[Callable[[Error], Any]] = None) -> None:
        """joined(membership), lost(reason) and failed(error) are called on the session's thread, where nothing may wait."""
        callbacks = options("pdk_member_callbacks")
        callbacks.joined, callbacks.lost = lib.on_pdk_member_callbacks_joined, lib.on_pdk_member_callbacks_lost
        callbacks.failed, callbacks.user_free = lib.on_pdk_member_callbacks_failed, lib.on_free
        out = ffi.new("pdk_member **")

        def call(user: Any) -> int:
            callbacks.user = user
            return int(lib.pdk_group_join(session._raw, string(path), *published(data), callbacks, out))
        functions = Functions(session, session._callback(joined), session._callback(lost), session._callback(failed))
        given(call, functions)
        self._raw = ffi.gc(out[0], lib.pdk_member_unref)
        self._session, self._waiters, self._functions = session, Waiters(), functions
        self.path = path

    def __repr__(self) -> str:
        return f"<paddock.{type(self).__name__} of {self.path}>"

    def leave(self) -> None:
        """Be a member no more."""
        check(lib.pdk_member_leave(self._raw))
        self._functions.over = True

    def _leave(self) -> None:
        status = lib.pdk_member_leave(self._raw)
        if status not in (lib.PDK_OK, lib.PDK_NOT_HELD):
            raise error(status)
        self._functions.over = True

    def __del__(self) -> None:
        if hasattr(self, "_functions") and not self._functions.over and not self._session.closed:
            warnings.warn(f"{self!r} was never left; it is no member any more", ResourceWarning, source=self)


class Member(BaseMember):
    """Our membership: from now on, across lost sessions, until `leave` or the end of its `with` block. Others see `data`."""

    def wait(self, timeout: Optional[float] = None) -> Membership:
        """Wait until we are a member; 0 only looks."""
        return acquired(lambda limit, out: int(lib.pdk_member_wait(self._raw, limit, out)), timeout, self._waiters,
                        Membership(self._session))

    def set_data(self, data: bytes, timeout: Optional[float] = 10.0) -> None:
        """Change the data that others see."""
        check(wait(lambda limit: int(lib.pdk_member_set_data(self._raw, *published(data), limit)), timeout, self._waiters))

    def __enter__(self) -> "Member":
        return self

    def __exit__(self, *_: object) -> None:
        self._leave()


class Watcher:
    """Tells the members of a group, and each change, until it is closed, also at the end of a `with` block."""

    def __init__(self, session: BaseSession, path: str, function: Callable[[View], Any]) -> None:
        """Calls function(view) on the session's thread, where nothing may wait."""
        out = ffi.new("pdk_group_watcher **")
        given(lambda user: int(lib.pdk_group_watch(session._raw, string(path), lib.on_group, user, lib.on_free, out)),
              session._callback(function))
        self._open, self._session, self.path = [out[0]], session, path

    def close(self) -> None:
        """Nothing is told any more. A second call does nothing."""
        try:
            lib.pdk_group_watcher_close(self._open.pop())
        except IndexError:
            pass

    def __del__(self) -> None:
        if hasattr(self, "_open"):
            self.close()

    def __enter__(self) -> "Watcher":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _info(raw: Any) -> Optional[MemberInfo]:
    if raw == ffi.NULL:
        return None
    return MemberInfo(node=text(raw.node), token=raw.token, session=raw.session, since=raw.since_ms / 1000, changed=raw.changed,
                      data=bytes(ffi.buffer(raw.data, raw.size)), status=raw.status)


def _view(raw: Any) -> View:
    members = [_info(lib.pdk_group_view_member(raw, i)) for i in range(lib.pdk_group_view_count(raw))]
    changes: List[Change] = []
    before, after = ffi.new("pdk_member_info **"), ffi.new("pdk_member_info **")
    for i in range(lib.pdk_group_view_changes(raw)):
        lib.pdk_group_view_change(raw, i, before, after)
        changes.append(Change(_info(before[0]), _info(after[0])))
    return View(lib.pdk_group_view_number(raw), lib.pdk_group_view_is_exact(raw), tuple(one for one in members if one), tuple(changes))


@called
def on_pdk_member_callbacks_joined(raw: Any, user: Any) -> None:
    functions = ffi.from_handle(user)
    if functions.joined:
        run(functions.joined, Membership(functions.session, raw))


@called
def on_pdk_member_callbacks_lost(reason: int, user: Any) -> None:
    run(ffi.from_handle(user).lost, Reason(reason))


@called
def on_pdk_member_callbacks_failed(status: int, user: Any) -> None:
    functions = ffi.from_handle(user)
    functions.over = True
    run(functions.failed, error(status))


@called
def on_group(raw: Any, user: Any) -> None:
    function = ffi.from_handle(user)
    run(lambda: function(_view(raw)))
