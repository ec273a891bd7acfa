"""A session: one supervised ZooKeeper connection, shared by every recipe opened on it.

The library reconnects by itself, and opens a new ZooKeeper session when the old one has expired: then holds of the old one are lost,
and those who wait queue again.
"""
from __future__ import annotations

import atexit
import dataclasses
import enum
import logging
import os
import types
import warnings
import weakref
from typing import Any, Callable, Dict, List, Optional, Sequence, Set, Tuple, Type

from ._calls import bounded, bounded_check, called, check, error, ffi, forget, handle, lib, lines, ms, options, run, seconds, string, text
from .contenders import Contender, taken_contenders


class Event(enum.IntEnum):
    """What happens to a session."""

    CONNECTED = lib.PDK_SESSION_CONNECTED
    """The first connection."""
    SUSPENDED = lib.PDK_SESSION_SUSPENDED
    """The connection is lost. Holds stay valid for the time that is told."""
    RESTORED = lib.PDK_SESSION_RESTORED
    """Connected again, and a quorum has confirmed it."""
    EXPIRED = lib.PDK_SESSION_EXPIRED
    """It has ended, or was given up: all its holds are lost."""
    REOPENED = lib.PDK_SESSION_REOPENED
    """A new ZooKeeper session replaces the expired one."""
    CLOSED = lib.PDK_SESSION_CLOSED
    """The last event."""


class Access(enum.IntEnum):
    """The rights of others on the nodes that a session makes."""

    DEFAULT = lib.PDK_ACCESS_DEFAULT
    OPEN = lib.PDK_ACCESS_OPEN
    CREATOR = lib.PDK_ACCESS_CREATOR
    CREATOR_READERS = lib.PDK_ACCESS_CREATOR_READERS
    LIST = lib.PDK_ACCESS_LIST


class Permission(enum.IntFlag):
    """The rights that an entry of an access list gives."""

    READ = lib.PDK_PERMISSION_READ
    WRITE = lib.PDK_PERMISSION_WRITE
    CREATE = lib.PDK_PERMISSION_CREATE
    DELETE = lib.PDK_PERMISSION_DELETE
    ADMIN = lib.PDK_PERMISSION_ADMIN
    ALL = lib.PDK_PERMISSION_ALL


@dataclasses.dataclass(frozen=True)
class AccessEntry:
    """One entry of an access list, as ZooKeeper has it."""

    permissions: int
    scheme: str
    id: str


@dataclasses.dataclass(frozen=True)
class Histogram:
    """Times, in seconds."""

    count: int
    sum: float
    max: float
    median: float
    p99: float


_LEVELS = {lib.PDK_LOG_ERROR: logging.ERROR, lib.PDK_LOG_WARN: logging.WARNING, lib.PDK_LOG_INFO: logging.INFO,
           lib.PDK_LOG_DEBUG: logging.DEBUG}
EventFunction = Callable[[Event, float], Any]


def level_of(name: Optional[int]) -> int:
    """The library's level for one of `logging`: by default the one of the logger, so that no line is made in vain."""
    wanted = lines.getEffectiveLevel() if name is None else name
    return int(max((theirs for theirs, ours in _LEVELS.items() if ours >= wanted), default=lib.PDK_LOG_ERROR))


def access_entries(entries: Sequence[AccessEntry]) -> Tuple[Any, List[Any]]:
    """The entries for C, and the strings that they point to."""
    strings = [(string(entry.scheme), string(entry.id)) for entry in entries]
    array = ffi.new("pdk_access_entry[]", len(entries))
    for one, entry, (scheme, identity) in zip(array, entries, strings):
        one.permissions, one.scheme, one.id = int(entry.permissions), scheme, identity
    return array, [text_of for pair in strings for text_of in pair]


class BaseSession:
    """What a session has on threads and on an event loop."""

    def __init__(self, hosts: str = "127.0.0.1:2181", *, session_timeout: float = 15.0, connect_timeout: float = 10.0, request_timeout: float = 5.0,
                 server_tick: Optional[float] = None, touch_hops: Optional[int] = None, in_background: bool = False,
                 label: Optional[str] = None, digest: Optional[str] = None, digest_file: "Optional[str | os.PathLike[str]]" = None,
                 tls: Optional[str] = None, tls_file: "Optional[str | os.PathLike[str]]" = None, access: Access = Access.DEFAULT,
                 access_list: Sequence[AccessEntry] = (), accept_unprotected: bool = False,
                 on_event: Optional[EventFunction] = None, log_level: Optional[int] = None, stats_paths: int = 0,
                 token_base: int = 0) -> None:
        """hosts: "host:port,host:port…[/chroot]". Times are in seconds.

        in_background: do not wait for a server. label: appended to the identity that others see. digest: "user:password"; digest_file
        has it in a file. tls: "ca,certificate,key,password"; tls_file has it in a file. access, access_list: the rights of others.
        accept_unprotected: rely on nodes that strangers may change. on_event: function(event, seconds that are left of the lease), on
        the session's thread, where nothing may wait. log_level: one of `logging`, whose logger "paddock.session" has the lines. stats_paths:
        how many paths have figures of their own. token_base: the generation of tokens, after the servers were wiped.
        """
        entries, kept = access_entries(access_list)
        self._options: Any = options(
            "pdk_session_options", session_timeout_ms=ms(session_timeout), connect_timeout_ms=ms(connect_timeout),
            request_timeout_ms=ms(request_timeout), server_tick_ms=seconds(server_tick), touch_hops=touch_hops,
            open_in_background=int(in_background), label=label, digest=digest, digest_file=_path(digest_file), tls=tls,
            tls_file=_path(tls_file), access=int(access), accept_unprotected=int(accept_unprotected), log_level=level_of(log_level),
            stats_paths=stats_paths, token_base=token_base)
        if access_list:
            self._options.access_list, self._options.access_count = entries, len(access_list)
        self._kept: Any = (entries, kept)
        self._options.on_log, self._options.on_log_user_free = lib.on_log, lib.on_free
        self._on_event = on_event
        self._raw: Any = None
        self.hosts = hosts
        self._begin()

    _asynchronous = False  # on an event loop

    def _begin(self) -> None:
        """What remains to be done once the options are known."""

    def _callback(self, function: Optional[Callable[..., Any]]) -> Optional[Callable[..., Any]]:
        """What the library calls for this function of the user."""
        return function

    def _may_wait(self) -> None:
        """Refuses calls that wait where they would stop an event loop."""

    def _open(self) -> None:
        """Opens it, which waits."""
        out = ffi.new("pdk_session **")
        users = []
        self._options.on_log_user = handle(lines)
        users.append(self._options.on_log_user)
        if self._on_event:
            self._options.on_event, self._options.on_event_user_free = lib.on_session_event, lib.on_free
            self._options.on_event_user = handle(self._callback(self._on_event))
            users.append(self._options.on_event_user)
        status = lib.pdk_session_open(string(self.hosts), self._options, out)
        if status in (lib.PDK_INVALID, lib.PDK_WRONG_THREAD):  # the only ones after which nobody frees them
            for user in users:
                forget(user)
        check(status)
        self._raw, self._process = out[0], os.getpid()
        self._options = self._kept = None  # they have the password
        _sessions.add(self)

    def _abandon(self) -> None:
        """Nobody waits for the end of its opening any more."""
        self._closed = True
        forget_session(self)
        lib.pdk_session_close(self._raw, 0)

    def __del__(self) -> None:
        raw = getattr(self, "_raw", None)
        if raw is None:
            return
        try:
            if not self.closed and self._process == os.getpid():
                warnings.warn(f"{self!r} was never closed; it ends now, and what is held is lost", ResourceWarning, source=self)
        finally:
            lib.pdk_session_unref(raw)

    def __repr__(self) -> str:
        return f"<paddock.{type(self).__name__} {self.hosts}{' closed' if self.closed else ''}>"

    _closed = False

    @property
    def closed(self) -> bool:
        """Was it closed?"""
        return self._closed

    @property
    def id(self) -> int:
        """The number of the ZooKeeper session; 0 while there is none."""
        return int(lib.pdk_session_id(self._raw))

    @property
    def identity(self) -> str:
        """What others see of this session: host:pid[:label]."""
        return text(lib.pdk_session_identity(self._raw))

    @property
    def timeout(self) -> float:
        """The session timeout that the servers agreed to; 0 before the first connection."""
        return int(lib.pdk_session_timeout_ms(self._raw)) / 1000

    @property
    def token_seen(self) -> int:
        """The highest token that this session has seen."""
        return int(lib.pdk_session_token_seen(self._raw))

    def stats(self) -> "Dict[str, float | Histogram]":
        """The figures of the session, by the names of <paddock/stats.h>, where the unit ends the name; times of histograms are in
        seconds."""
        figures = _no_figures()
        check(lib.pdk_session_stats(self._raw, figures))
        return _figures(figures)

    def stats_of_paths(self) -> "Dict[Tuple[str, str], Dict[str, float | Histogram]]":
        """The figures of each (recipe, path), where the session has `stats_paths`. The path "" is all others together."""
        found, recipe, path = {}, ffi.new("const char **"), ffi.new("const char **")
        for index in range(lib.pdk_session_stats_paths(self._raw)):
            figures = _no_figures()
            check(lib.pdk_session_stats_path(self._raw, index, figures, recipe, path))
            found[text(recipe[0]), text(path[0])] = _figures(figures)
        return found

    def reset_extremes(self) -> None:
        """Let the extremes begin again: lease_least_us and callback_delay_us."""
        check(lib.pdk_session_stats_reset(self._raw))

    def stats_text(self) -> str:
        """The figures for a scraper, as OpenMetrics text."""
        length, room = ffi.new("size_t *"), 16384
        while True:
            buffer = ffi.new("char[]", room)
            status = lib.pdk_session_stats_text(self._raw, buffer, room, length)
            if status != lib.PDK_LIMIT:
                check(status)
                return text(buffer)
            room = length[0] + 1024


def _path(path: "Optional[str | os.PathLike[str]]") -> Optional[str]:
    return None if path is None else os.fspath(path)


def _no_figures() -> Any:
    figures = ffi.new("pdk_stats *")
    check(lib.pdk_stats_init(figures, ffi.sizeof(figures[0])))
    return figures


def _figures(figures: Any) -> "Dict[str, float | Histogram]":
    return {name: getattr(figures, name) if field.type.kind == "primitive" else _histogram(getattr(figures, name))
            for name, field in ffi.typeof("pdk_stats").fields if name != "size"}


def _histogram(raw: Any) -> Histogram:
    one = ffi.addressof(raw)
    return Histogram(count=raw.count, sum=raw.sum_us / 1e6, max=raw.max_us / 1e6,
                     median=lib.pdk_histogram_quantile_us(one, 0.5) / 1e6, p99=lib.pdk_histogram_quantile_us(one, 0.99) / 1e6)


class Session(BaseSession):
    """A session for threads. It ends with its `with` block, or by `close`. Calls block the calling thread alone."""

    def _begin(self) -> None:
        bounded(self._open, self._abandon)

    def close(self, timeout: float = 2.0) -> None:
        """End it. What is held is lost, and calls that wait raise Closed. Waits until the servers have confirmed what was released,
        for at most `timeout` seconds; then it raises Timeout, and the rest goes on in the background."""
        self._closed = True
        forget_session(self)
        bounded_check(lib.pdk_session_close, self._raw, ms(timeout))

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], _: Optional[BaseException], __: Optional[types.TracebackType]) -> None:
        try:
            self.close()
        except Exception:
            if kind is None:
                raise

    def flush(self, timeout: Optional[float] = 10.0) -> None:
        """Wait until the servers have confirmed every release so far."""
        bounded_check(lib.pdk_session_flush, self._raw, ms(timeout))

    def check_sequencer(self, sequencer: str, timeout: Optional[float] = 10.0) -> bool:
        """Is the hold that this text of `Hold.sequencer` proves still there? False: its znode is gone."""
        return bounded(lambda: is_there(lib.pdk_session_check_sequencer(self._raw, string(sequencer), ms(timeout))))

    def request_release(self, path: str, node: Optional[str] = None, *, who: Optional[str] = None, within: float = 0,
                        timeout: Optional[float] = 10.0) -> None:
        """Ask the holders at `path`, or one contender, to let go: `Hold.on_request` tells them. Nothing is forced."""
        bounded_check(lib.pdk_session_request_release, self._raw, string(path), string(node), string(who), ms(within), ms(timeout))

    def break_hold(self, node: str, token: int, timeout: Optional[float] = 10.0) -> Contender:
        """Delete the znode of a contender, by its full path and token. For operators who know that it does not work any more."""
        def call() -> Contender:
            out = ffi.new("pdk_contenders **")
            check(lib.pdk_session_break(self._raw, string(node), token, ms(timeout), out))
            return taken_contenders(out[0])[0]
        return bounded(call)


def is_there(status: int) -> bool:
    if status not in (lib.PDK_OK, lib.PDK_LOST):
        raise error(status)
    return bool(status == lib.PDK_OK)


class Checker:
    """Checks the same sequencers often: it asks the servers once, and a watch keeps the answer current."""

    def __init__(self, session: BaseSession, capacity: Optional[int] = None) -> None:
        """capacity: how many nodes it remembers."""
        out = ffi.new("pdk_checker **")
        check(lib.pdk_checker_new(session._raw, options("pdk_checker_options", capacity=capacity), out))
        self._raw = ffi.gc(out[0], lib.pdk_checker_unref)
        self._session = session

    def check(self, sequencer: str, timeout: Optional[float] = 10.0) -> bool:
        """Is the hold still there? With a timeout of 0 it does not wait: an answer that is not known raises Unavailable, and is found
        in the background."""
        if timeout == 0:
            return is_there(lib.pdk_checker_check(self._raw, string(sequencer), 0))
        self._session._may_wait()
        return bounded(lambda: is_there(lib.pdk_checker_check(self._raw, string(sequencer), ms(timeout))))


def token_base_above(highest: int) -> int:
    """The token_base for all sessions after the servers were wiped or restored; highest: the largest token of before."""
    found = int(lib.pdk_token_base_above(highest))
    if not found:
        raise error(lib.PDK_INVALID)
    return found


@called
def on_session_event(event: int, time_left: int, user: Any) -> None:
    run(ffi.from_handle(user), Event(event), time_left / 1000)


@called
def on_log(level: int, line: Any, user: Any) -> None:
    run(ffi.from_handle(user).log, _LEVELS.get(level, logging.ERROR), "%s", text(line))


# ---- the end of the process

_sessions: "weakref.WeakSet[BaseSession]" = weakref.WeakSet()


def forget_session(session: BaseSession) -> None:
    """It is closed."""
    _sessions.discard(session)


def _close_all() -> None:
    """No thread of the library calls Python after Python's end; and what is held is released at once, rather than when the session
    expires."""
    ours = [session for session in list(_sessions) if session._process == os.getpid()]
    for session in ours:
        lib.pdk_session_close(session._raw, 2000)
    for session in ours:
        warnings.warn(f"{session!r} was never closed; it ends with the process", ResourceWarning, source=session)
        session._closed = True


atexit.register(_close_all)
