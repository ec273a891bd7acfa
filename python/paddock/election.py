"""The election: of all candidates on a path one is the leader, the oldest."""
from __future__ import annotations

import dataclasses
import enum
import threading
import types
import warnings
from typing import Any, Callable, List, Optional, Type

from ._calls import acquired, bounded_check, called, check, error, ffi, given, lib, ms, options, run, seconds, text
from .contenders import Contender, contenders, listed
from .errors import Canceled, Error, NotHeld
from .hold import Grant, Lent, Reason
from .lock import Naming, Recipe
from .session import BaseSession


class Leadership(Lent):
    """The grant of a leader. It ends with `Election.resign` or `leave`, and not by a release."""


@dataclasses.dataclass
class Candidate:
    """The functions of a candidate, which the library calls on the session's thread: nothing may wait there."""

    session: BaseSession
    elected: Optional[Callable[[Leadership], Any]]
    deposed: Optional[Callable[[Reason], Any]]
    leader: Optional[Callable[[Optional[str], int], Any]]
    failed: Optional[Callable[[Error], Any]]
    over: bool = False


class Observer:
    """Hears of every new leader until it is closed, also at the end of a `with` block."""

    def __init__(self, raw: Any, session: BaseSession) -> None:
        self._open = [raw]
        self._session = session

    def close(self) -> None:
        """Nothing is told any more. A second call does nothing."""
        try:
            lib.pdk_observer_close(self._open.pop())
        except IndexError:
            pass

    def __del__(self) -> None:
        self.close()

    def __enter__(self) -> "Observer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class BaseElection(Recipe):
    """What an election has on threads and on an event loop."""

    def __init__(self, session: BaseSession, path: str, identifier: Optional[str] = None, *, naming: Naming = Naming.CURATOR,
                 lock_delay: Optional[float] = None) -> None:
        super().__init__(session, path, "pdk_election",
                         options("pdk_election_options", naming=int(naming), identity=identifier, lock_delay_ms=seconds(lock_delay)))

    def join(self, *, elected: Optional[Callable[[Leadership], Any]] = None, deposed: Optional[Callable[[Reason], Any]] = None,
             leader: Optional[Callable[[Optional[str], int], Any]] = None, failed: Optional[Callable[[Error], Any]] = None) -> None:
        """Be a candidate from now on, across lost sessions, until `leave`. The functions are called where callbacks of the session
        are: elected(leadership); deposed(reason), once for each; leader(identity, token), for each new one, (None, 0) when nobody
        leads; failed(error), when it cannot be a candidate any more."""
        callbacks = options("pdk_election_callbacks")
        callbacks.elected, callbacks.deposed = lib.on_pdk_election_callbacks_elected, lib.on_pdk_election_callbacks_deposed
        callbacks.leader, callbacks.failed = lib.on_pdk_election_callbacks_leader, lib.on_pdk_election_callbacks_failed
        callbacks.user_free = lib.on_free

        def call(user: Any) -> int:
            callbacks.user = user
            return int(lib.pdk_election_join(self._raw, callbacks))
        wrap = self._session._callback
        candidate = Candidate(self._session, wrap(elected), wrap(deposed), wrap(leader), wrap(failed))
        given(call, candidate)
        self._candidate = candidate

    def leave(self) -> None:
        """Be a candidate no more. A leader is deposed."""
        check(lib.pdk_election_leave(self._raw))
        self._candidate = None

    _candidate: Optional[Candidate] = None

    def __del__(self) -> None:
        if self._candidate and not self._candidate.over and not self._session.closed:
            warnings.warn(f"{self!r} was never left; it is no candidate any more", ResourceWarning, source=self)

    def resign(self) -> None:
        """Give the leadership to the next candidate, and queue again behind all others."""
        check(lib.pdk_election_resign(self._raw))

    def observe(self, function: Callable[[Optional[str], int], Any]) -> Observer:
        """Calls function(identity, token) for every new leader, the present one first; (None, 0) when nobody leads. Joining is not
        needed."""
        return self._observe(lib.pdk_election_observe, lib.on_leader, function)

    def observe_data(self, function: Callable[[Optional[Contender]], Any]) -> Observer:
        """Calls function(leader) for every new leader and each change of its data; None when nobody leads."""
        return self._observe(lib.pdk_election_observe_data, lib.on_leader_data, function)

    def _observe(self, call: Any, trampoline: Any, function: Callable[..., Any]) -> Observer:
        out = ffi.new("pdk_observer **")
        given(lambda user: int(call(self._raw, trampoline, user, lib.on_free, out)), self._session._callback(function))
        return Observer(out[0], self._session)


class Election(BaseElection):
    """An election. `run` is the simplest use of it; `join` and `wait`, or `service`, are for programs that do more."""

    def wait(self, timeout: Optional[float] = None) -> Leadership:
        """Wait until we lead; 0 only looks. It has to be a candidate."""
        return acquired(lambda limit, out: int(lib.pdk_election_wait(self._raw, limit, out)), timeout, self._waiters,
                        Leadership(self._session))

    def run(self, function: Callable[..., Any], *arguments: Any, **named: Any) -> None:
        """Wait until we lead, call the function, and leave. When `cancel` is called meanwhile, the function is not called. Look at
        `wait` or `service` for a function that hears when it does not lead any more."""
        self.join()
        try:
            try:
                self.wait()
            except Canceled:
                return
            function(*arguments, **named)
        finally:
            try:
                self.leave()
            except NotHeld:
                pass  # it cannot be a candidate any more, as the session's end has it

    def leader(self, timeout: Optional[float] = 10.0) -> Optional[Contender]:
        """The leader, with the data that it has published; None when nobody leads."""
        return next(iter(listed(lib.pdk_election_leader, self._raw, timeout)), None)

    def contenders(self, timeout: Optional[float] = 10.0) -> List[Contender]:
        """All candidates, the leader first."""
        return listed(lib.pdk_election_list, self._raw, timeout)

    def publish(self, leadership: Grant, data: Optional[bytes], timeout: Optional[float] = 10.0) -> None:
        """Publish data of our term, which `leader` and `observe_data` see; None takes them away."""
        bounded_check(lib.pdk_election_publish, self._raw, leadership._raw, *published(data), ms(timeout))

    def service(self, function: Callable[["Term"], Any], *, drain: Optional[float] = None, abort: bool = False,
                started: Optional[Callable[[int], Any]] = None, stopped: Optional[Callable[[int, Reason], Any]] = None,
                failed: Optional[Callable[[Error], Any]] = None) -> "Service":
        """Be a candidate, and call function(term) on a thread of its own while we lead. It returns soon once `term.is_ending`. When it
        has not after `drain` seconds, an error is logged, or with `abort` the process ended. started(token) and stopped(token,
        reason) are called around it; failed(error) when it cannot be a candidate any more."""
        return Service(self, function, drain, abort, started, stopped, failed)


def published(data: Optional[bytes]) -> Any:
    """The two arguments for data: no data, or data of no bytes."""
    return (ffi.NULL, 0) if data is None else (data, len(data))


class Term:
    """One term of a service, until its function returns."""

    def __init__(self, raw: Any, session: BaseSession) -> None:
        self._mutex, self._raw = threading.Lock(), raw
        self.leadership = Leadership(session, lib.pdk_term_hold(raw))

    def _end(self) -> None:
        with self._mutex:
            self._raw = None

    @property
    def is_ending(self) -> bool:
        """Is it lost, resigned or stopped? Then the function has to return."""
        with self._mutex:
            return True if self._raw is None else bool(lib.pdk_term_is_ending(self._raw))

    def fileno(self) -> int:
        """A descriptor that turns readable when the term is ending: for select. Never read or close it."""
        with self._mutex:
            found = -1 if self._raw is None else int(lib.pdk_term_fd(self._raw))
        if found < 0:
            raise error(lib.PDK_NOT_HELD, "the term has ended, or the system has no descriptor left")
        return found


class DrainPolicy(enum.IntEnum):
    """What becomes of a function that does not return in time."""

    KEEP = lib.PDK_DRAIN_KEEP
    ABORT = lib.PDK_DRAIN_ABORT


class Service:
    """A candidate whose function runs while it leads. It ends with `close`, or with its `with` block."""

    def __init__(self, election: Election, function: Callable[[Term], Any], drain: Optional[float], abort: bool,
                 started: Optional[Callable[[int], Any]], stopped: Optional[Callable[[int, Reason], Any]],
                 failed: Optional[Callable[[Error], Any]]) -> None:
        fields = options("pdk_service_options", drain_ms=seconds(drain),
                         drain=int(DrainPolicy.ABORT if abort else DrainPolicy.KEEP))
        fields.started, fields.stopped = lib.on_pdk_service_options_started, lib.on_pdk_service_options_stopped
        fields.failed, fields.user_free = lib.on_pdk_service_options_failed, lib.on_free
        out = ffi.new("pdk_service **")
        work = Work(election._session, function, started, stopped, failed)
        given(lambda user: int(lib.pdk_service_start(election._raw, lib.on_service, user, fields, out)), work)
        self._raw = ffi.gc(out[0], lib.pdk_service_unref)
        self._election, self._work = election, work

    def __del__(self) -> None:
        if hasattr(self, "_work") and not self._work.over and not self._election._session.closed:
            warnings.warn(f"the service of {self._election!r} was never closed; it ends in the background", ResourceWarning, source=self)

    def resign(self) -> None:
        """Tell the function to return. Then the service gives the leadership away, and queues again."""
        check(lib.pdk_service_resign(self._raw))

    def close(self, timeout: Optional[float] = 10.0) -> None:
        """Tell the function to return, wait for that, and leave. Timeout: it still runs, and the service leaves when it returns."""
        self._work.over = True
        bounded_check(lib.pdk_service_close, self._raw, ms(timeout))

    def __enter__(self) -> "Service":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], _: Optional[BaseException], __: Optional[types.TracebackType]) -> None:
        try:
            self.close()
        except Error:
            if kind is None:
                raise


@dataclasses.dataclass
class Work:
    """The functions of a service."""

    session: BaseSession
    function: Callable[[Term], Any]
    started: Optional[Callable[[int], Any]]
    stopped: Optional[Callable[[int, Reason], Any]]
    failed: Optional[Callable[[Error], Any]]
    over: bool = False


@called
def on_pdk_election_callbacks_elected(raw: Any, user: Any) -> None:
    candidate = ffi.from_handle(user)
    if candidate.elected:
        run(candidate.elected, Leadership(candidate.session, raw))


@called
def on_pdk_election_callbacks_deposed(reason: int, user: Any) -> None:
    run(ffi.from_handle(user).deposed, Reason(reason))


@called
def on_pdk_election_callbacks_leader(identity: Any, token: int, user: Any) -> None:
    run(ffi.from_handle(user).leader, None if identity == ffi.NULL else text(identity), token)


@called
def on_pdk_election_callbacks_failed(status: int, user: Any) -> None:
    candidate = ffi.from_handle(user)
    candidate.over = True
    run(candidate.failed, error(status))


@called
def on_leader(identity: Any, token: int, user: Any) -> None:
    run(ffi.from_handle(user), None if identity == ffi.NULL else text(identity), token)


@called
def on_leader_data(raw: Any, user: Any) -> None:
    run(ffi.from_handle(user), next(iter(contenders(raw)), None))


@called
def on_service(raw: Any, user: Any) -> None:
    work = ffi.from_handle(user)
    term = Term(raw, work.session)
    try:
        run(work.function, term)
    finally:
        term._end()


@called
def on_pdk_service_options_started(token: int, user: Any) -> None:
    run(ffi.from_handle(user).started, token)


@called
def on_pdk_service_options_stopped(token: int, reason: int, user: Any) -> None:
    run(ffi.from_handle(user).stopped, token, Reason(reason))


@called
def on_pdk_service_options_failed(status: int, user: Any) -> None:
    work = ffi.from_handle(user)
    work.over = True
    run(work.failed, error(status))

