"""The same for asyncio: sessions whose callbacks run on the event loop, and recipes whose calls that wait are awaited.

    async with aio.Session("127.0.0.1:2181") as session:
        async with aio.Lock(session, "/orders/lock") as hold:
            await write(b"...", hold.token)

Nothing blocks the loop. A task that is cancelled leaves its queue. Holds, releases and callbacks are those of the package; a callback
may be a coroutine function, which becomes a task.
"""
from __future__ import annotations

import abc
import asyncio
import functools
import inspect
import threading
import types
from typing import Any, Awaitable, Callable, Dict, Generic, List, Literal, Optional, Sequence, Set as SetOf, Type, TypeVar, Union, overload

from ._calls import Waiters, called, check, error, ffi, forget, handle, lib, ms, run as run_callback, string, text
from .contenders import Contender, taken_contenders
from .election import BaseElection, Leadership, published
from .errors import Busy, Error, Lost, NotHeld, Skipped, Timeout
from .group import BaseMember, Membership
from .hold import Grant, Hold, Kept, KeptGrant, Owned, Reason
from .job import BaseJob, Run, runs, skipped
from .lease_lock import BaseLeaseLock
from .lock import BaseLock, Keeper
from .rwlock import BaseRWLock, BaseSide
from .semaphore import BasePermits, BaseSemaphore
from .session import BaseSession, forget_session, is_there
from .sets import BaseSet, SetHold, sessions
from .striped import BaseStriped, Key, stripe_of

Value = TypeVar("Value")
Granted = TypeVar("Granted", bound=Grant)
Held = TypeVar("Held", bound=Kept)
Released = TypeVar("Released", bound=Owned)


class Answer:
    """What a call without a thread brings: the future of its task, and what becomes of a result that nobody awaits any more."""

    def __init__(self, session: "Session", make: Callable[..., Any], discard: Callable[[Any], Any]) -> None:
        self.session, self.make, self.discard = session, make, discard
        self.future: "asyncio.Future[Any]" = session._loop.create_future()

    def come(self, status: int, *raw: Any) -> None:
        """Called where callbacks are: on the loop; while the session is closed, on another thread."""
        failure = None if status == lib.PDK_OK else error(status)
        self.session._on_loop(self.settle, self.make(*raw) if failure is None else None, failure)

    def settle(self, value: Any, failure: Optional[Error]) -> None:
        self.session._answers.discard(self)
        if self.future.done() or self.session._loop.is_closed():
            if failure is None:
                self.discard(value)
        elif failure is None:
            self.future.set_result(value)
        else:
            self.future.set_exception(failure)

    def give_up(self) -> None:
        """Its task was cancelled, maybe when the result was there."""
        if self.future.done() and not self.future.cancelled() and not self.future.exception():
            self.discard(self.future.result())


def nothing(*_: object) -> None:
    """No result, and nothing to be given back."""


class Session(BaseSession):
    """A session on the event loop of the task that opens it: `async with`, or `await session.open()` and `await session.close()`.
    Callbacks run on the loop."""

    _asynchronous = True

    def _begin(self) -> None:
        self._options.dispatch = lib.PDK_DISPATCH_MANUAL
        self._answers: SetOf[Answer] = set()
        self._tasks: "SetOf[asyncio.Future[Any]]" = set()
        self._loop: asyncio.AbstractEventLoop = None  # type: ignore[assignment]

    async def open(self) -> "Session":
        """Open it, and wait until a quorum has confirmed it."""
        if self._raw is not None:
            raise error(lib.PDK_INVALID, f"{self!r} was opened before")
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        opening = self._loop.run_in_executor(None, self._open)
        try:
            await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(lambda done: None if done.cancelled() or done.exception() else self._abandon())
            raise
        self._loop.add_reader(lib.pdk_session_fd(self._raw), self._dispatch)
        return self

    def _dispatch(self) -> None:
        if lib.pdk_session_dispatch(self._raw, ffi.NULL) == lib.PDK_CLOSED:
            self._loop.remove_reader(lib.pdk_session_fd(self._raw))

    def _end(self, timeout: float) -> int:
        return int(lib.pdk_session_close(self._raw, ms(timeout)))

    async def close(self, timeout: float = 2.0) -> None:
        """End it, as `paddock.Session.close`. Tasks that wait get Closed."""
        if self._raw is None:
            return
        self._closed = True
        forget_session(self)
        self._loop.remove_reader(lib.pdk_session_fd(self._raw))
        status = await self._loop.run_in_executor(None, self._end, timeout)
        for answer in list(self._answers):  # of callbacks that were dropped
            answer.settle(None, error(lib.PDK_CLOSED, "the session is closed"))
        check(status)

    async def __aenter__(self) -> "Session":
        return await self.open()

    async def __aexit__(self, kind: Optional[Type[BaseException]], _: Optional[BaseException],
                        __: Optional[types.TracebackType]) -> None:
        try:
            await self.close()
        except Error:
            if kind is None:
                raise

    def _on_loop(self, function: Callable[..., Any], *arguments: Any) -> None:
        if threading.get_ident() != self._thread:
            try:
                self._loop.call_soon_threadsafe(function, *arguments)
                return
            except RuntimeError:
                pass  # the loop is closed, and this is the end of the process
        function(*arguments)

    def _callback(self, function: Optional[Callable[..., Any]]) -> Optional[Callable[..., Any]]:
        if function is None:
            return None
        return functools.partial(self._on_loop, self._call, function)

    def _call(self, function: Callable[..., Any], *arguments: Any) -> None:
        def call() -> None:
            result = function(*arguments)
            if inspect.isawaitable(result):
                task = asyncio.ensure_future(result, loop=self._loop)
                self._tasks.add(task)
                task.add_done_callback(self._over)
        run_callback(call)

    def _over(self, task: "asyncio.Future[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception():
            def fail() -> None:
                task.result()
            run_callback(fail)

    def _may_wait(self) -> None:
        if threading.get_ident() == self._thread:
            raise error(lib.PDK_WRONG_THREAD, "the call would block the event loop; aio has one that is awaited")

    async def _ask(self, call: Callable[[Any], int], make: Callable[..., Any] = nothing, discard: Callable[[Any], Any] = nothing,
                   waiters: Optional[Waiters] = None, cancel: Optional[Callable[[], Any]] = None) -> Any:
        """Makes the call, whose callback's user is the argument, and awaits its answer."""
        if self._raw is None or asyncio.get_running_loop() is not self._loop:
            raise error(lib.PDK_WRONG_THREAD, f"{self!r} is not open on this event loop")
        answer = Answer(self, make, discard)
        user = handle(answer)
        try:
            check(call(user))
        except BaseException:
            forget(user)
            raise
        self._answers.add(answer)
        if waiters is not None:
            waiters.add(answer, cancel or (lambda: answer.settle(None, error(lib.PDK_CANCELED, "it was called off"))))
        try:
            return await answer.future
        except asyncio.CancelledError:
            if cancel:
                cancel()
            answer.give_up()
            raise
        finally:
            if waiters is not None:
                waiters.remove(answer)

    async def _claim(self, call: Callable[[Any, Any], int], make: Callable[[Any], Released], waiters: Waiters,
                     kind: str = "pdk_claim") -> Released:
        """The same for a claim, which can be cancelled."""
        out = ffi.new(f"{kind} **")
        try:
            held: Released = await self._ask(lambda user: call(user, out), make, lambda unwanted: unwanted.release(), waiters,
                                         lambda: getattr(lib, f"{kind}_cancel")(out[0]))
            return held
        finally:
            getattr(lib, f"{kind}_unref")(out[0])

    async def ensure(self, hold: Union[Grant, SetHold], seconds: float) -> None:
        """Make sure that so many seconds of the hold remain; waits for a renewal if it must."""
        call = lib.pdk_set_ensure_async if isinstance(hold, SetHold) else lib.pdk_hold_ensure_async
        await self._ask(lambda user: int(call(hold._raw, ms(seconds), lib.on_answered, user)))

    async def flush(self, timeout: Optional[float] = 10.0) -> None:
        """Wait until the servers have confirmed every release so far."""
        await self._ask(lambda user: int(lib.pdk_session_flush_async(self._raw, ms(timeout), lib.on_answered, user)))

    async def check_sequencer(self, sequencer: str, timeout: Optional[float] = 10.0) -> bool:
        """Is the hold that this text of `Hold.sequencer` proves still there? False: its znode is gone."""
        try:
            await self._ask(lambda user: int(lib.pdk_session_check_sequencer_async(self._raw, string(sequencer), ms(timeout),
                                                                                   lib.on_answered, user)))
        except Lost as reason:
            return is_there(reason.status)
        return True

    async def request_release(self, path: str, node: Optional[str] = None, *, who: Optional[str] = None, within: float = 0,
                              timeout: Optional[float] = 10.0) -> None:
        """Ask the holders at `path`, or one contender, to let go."""
        await self._ask(lambda user: int(lib.pdk_session_request_release_async(
            self._raw, string(path), string(node), string(who), ms(within), ms(timeout), lib.on_answered, user)))

    async def break_hold(self, node: str, token: int, timeout: Optional[float] = 10.0) -> Contender:
        """Delete the znode of a contender, by its full path and token."""
        found = await self._ask(lambda user: int(lib.pdk_session_break_async(self._raw, string(node), token, ms(timeout),
                                                                            lib.on_contenders, user)), taken_contenders)
        broken: Contender = found[0]
        return broken

    async def _listed(self, call: Any, raw: Any, timeout: Optional[float]) -> List[Contender]:
        found: List[Contender] = await self._ask(lambda user: int(call(raw, ms(timeout), lib.on_contenders, user)), taken_contenders)
        return found


class Acquirable(Keeper[Held], abc.ABC):
    """What can be acquired by tasks. The object keeps what was acquired by it until that is released."""

    @abc.abstractmethod
    async def _acquire(self, timeout: Optional[float]) -> Held:
        """Waits for a hold; 0 seconds: a try."""

    def _owner(self) -> Any:
        return asyncio.current_task()

    @overload
    async def acquire(self, blocking: Literal[True] = True, timeout: Optional[float] = None) -> Held: ...

    @overload
    async def acquire(self, blocking: bool, timeout: Optional[float] = None) -> Optional[Held]: ...

    async def acquire(self, blocking: bool = True, timeout: Optional[float] = None) -> Optional[Held]:
        """The hold, within `timeout` seconds (then it raises Timeout); None is for ever. blocking=False tries, and returns None where
        it is not free."""
        if blocking:
            return self._keep(await self._acquire(timeout))
        try:
            return self._keep(await self._acquire(0))
        except Busy:
            return None

    async def __aenter__(self) -> Held:
        return self._keep(await self.acquire(), "_entered")


class Releasable(Acquirable[Released]):
    """Its release does not wait."""

    def release(self) -> bool:
        """Release what this task acquired last by this object. True: it was valid until now. False: it was lost before."""
        return self._latest().release()

    async def __aexit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                        trace: Optional[types.TracebackType]) -> None:
        self._leave().__exit__(kind, value, trace)


class Lock(BaseLock, Releasable[Hold]):
    """A lock: `async with lock as hold:`. Tasks that share the object exclude each other as well."""

    _asynchronous = True
    _session: Session

    async def _acquire(self, timeout: Optional[float]) -> Hold:
        return await self._session._claim(
            lambda user, out: int(lib.pdk_lock_acquire_async(self._raw, ms(timeout), lib.on_acquired, user, out)),
            lambda raw: Hold(self._session, raw), self._waiters)

    async def contenders(self, timeout: Optional[float] = 10.0) -> List[Contender]:
        """The queue, the holder first."""
        return await self._session._listed(lib.pdk_lock_list_async, self._raw, timeout)

    async def holder(self, timeout: Optional[float] = 10.0) -> Optional[Contender]:
        """The holder, or None when it is free."""
        return next(iter(await self._session._listed(lib.pdk_lock_holder_async, self._raw, timeout)), None)


class Side(BaseSide, Releasable[Hold]):
    """One side of a read/write lock."""

    _of: "RWLock"

    async def _acquire(self, timeout: Optional[float]) -> Hold:
        call = lib.pdk_rwlock_acquire_write_async if self.writes else lib.pdk_rwlock_acquire_read_async
        session = self._of._session
        return await session._claim(lambda user, out: int(call(self._of._raw, ms(timeout), lib.on_acquired, user, out)),
                                    lambda raw: Hold(session, raw), self._of._waiters)


class RWLock(BaseRWLock):
    """`async with lock.read:` shares it, `async with lock.write as hold:` has it alone."""

    _asynchronous = True
    _session: Session

    @property
    def read(self) -> Side:
        """The side of the readers."""
        return self._side(False)

    @property
    def write(self) -> Side:
        """The side of the writer."""
        return self._side(True)

    def _side(self, writes: bool) -> Side:
        sides: Dict[bool, Side] = self.__dict__.setdefault("_sides", {})
        return sides.setdefault(writes, Side(self, writes))

    async def contenders(self, timeout: Optional[float] = 10.0) -> List[Contender]:
        """The queue, readers and writers, oldest first."""
        return await self._session._listed(lib.pdk_rwlock_list_async, self._raw, timeout)


class Permits(BasePermits, Releasable[Hold]):
    """So many permits of a semaphore, all or none."""

    _of: "Semaphore"

    async def _acquire(self, timeout: Optional[float]) -> Hold:
        of, session = self._of, self._of._session
        return await session._claim(
            lambda user, out: int(lib.pdk_semaphore_acquire_async(of._raw, self.count, ms(timeout), lib.on_acquired, user, out)),
            lambda raw: Hold(session, raw), of._waiters)


class Semaphore(BaseSemaphore, Releasable[Hold]):
    """`async with semaphore:` has one permit of `max_leases`, `async with semaphore.permits(3):` three."""

    _asynchronous = True
    _session: Session

    def permits(self, count: int) -> Permits:
        """So many at once. Keep the object for as long as it is held."""
        return Permits(self, count)

    async def _acquire(self, timeout: Optional[float]) -> Hold:
        return await self.permits(1)._acquire(timeout)

    async def lease_holders(self, timeout: Optional[float] = 10.0) -> List[Contender]:
        """One contender for each permit that is taken, oldest first."""
        return await self._session._listed(lib.pdk_semaphore_holders_async, self._raw, timeout)


class Set(BaseSet, Releasable[SetHold]):
    """Several rights of this module, all of them or none; or with `need` a majority of locks."""

    async def _acquire(self, timeout: Optional[float]) -> SetHold:
        of = sessions(self._of)
        if not of:
            raise error(lib.PDK_INVALID, "a set of no rights")
        session: Session = of[0]
        return await session._claim(
            lambda user, out: int(lib.pdk_set_acquire_async(self._rights, len(self._of), ms(timeout), self._options,
                                                            lib.on_set_acquired, user, out)),
            lambda raw: SetHold(of, raw), self._waiters, "pdk_set_claim")

    def cancel(self) -> None:
        """Call off what tasks wait for on this object: they get Canceled."""
        self._waiters.cancel()


class AnyStripe(Releasable[Hold]):
    """The stripe that is granted first."""

    def __init__(self, of: "Striped") -> None:
        self._of = of

    async def _acquire(self, timeout: Optional[float]) -> Hold:
        of, session = self._of, self._of._session
        return await session._claim(
            lambda user, out: int(lib.pdk_striped_acquire_any_async(of._raw, ms(timeout), lib.on_acquired, user, out)),
            lambda raw: Hold(session, raw), of._waiters)


class Striped(BaseStriped):
    """`async with striped.key("customer/7") as hold:` has the stripe of that key."""

    _asynchronous = True
    _session: Session

    def key(self, key: Key) -> Lock:
        """The lock of this key's stripe."""
        return self.lock(stripe_of(key, self.stripes))

    def keys(self, keys: Sequence[Key]) -> Set:
        """The stripes of these keys, all or none: a part for each stripe."""
        return Set([self.lock(stripe) for stripe in sorted({stripe_of(key, self.stripes) for key in keys})])

    def any(self) -> AnyStripe:
        """The stripe that is granted first; `stripe` tells which one it is."""
        return AnyStripe(self)

    def lock(self, stripe: int) -> Lock:
        """The lock of one stripe."""
        return Lock._from(*self._lock(stripe))


class Term(Generic[Granted]):
    """The present grant of a candidate or a member, and the tasks that wait for one."""

    def __init__(self) -> None:
        self.grant: Optional[Granted] = None
        self.joined = False
        self.waiting: "SetOf[asyncio.Future[Granted]]" = set()

    def begun(self, grant: Granted) -> None:
        self.grant = grant
        for future in self.waiting:
            if not future.done():
                future.set_result(grant)

    def ended(self) -> None:
        self.grant = None

    def failed(self, failure: Error) -> None:
        self.joined = False
        for future in self.waiting:
            if not future.done():
                future.set_exception(failure)

    async def wait(self, timeout: Optional[float], what: str) -> Granted:
        if not self.joined:
            raise error(lib.PDK_NOT_HELD, f"{what} was not joined, or was left")
        if self.grant is not None and self.grant.valid:  # its end may not be told yet
            return self.grant
        future: "asyncio.Future[Granted]" = asyncio.get_running_loop().create_future()
        self.waiting.add(future)
        try:
            return await asyncio.wait_for(future, timeout)
        except asyncio.TimeoutError as reason:
            if isinstance(reason, Error):
                raise
            raise error(lib.PDK_TIMEOUT, f"{what}: not within {timeout} s") from None
        finally:
            self.waiting.discard(future)


class Election(BaseElection):
    """An election. `await election.run(function)` is the simplest use of it."""

    _asynchronous = True
    _session: Session

    def _term(self) -> Term[Leadership]:
        term: Term[Leadership] = self.__dict__.setdefault("_present", Term())
        return term

    def join(self, *, elected: Optional[Callable[[Leadership], Any]] = None, deposed: Optional[Callable[[Reason], Any]] = None,
             leader: Optional[Callable[[Optional[str], int], Any]] = None, failed: Optional[Callable[[Error], Any]] = None) -> None:
        """Be a candidate from now on, as `paddock.Election.join`. The functions run on the loop."""
        term = self._term()

        def on_elected(leadership: Leadership) -> Any:
            term.begun(leadership)
            return elected and elected(leadership)

        def on_deposed(reason: Reason) -> Any:
            term.ended()
            return deposed and deposed(reason)

        def on_failed(failure: Error) -> Any:
            term.failed(failure)
            return failed and failed(failure)
        super().join(elected=on_elected, deposed=on_deposed, leader=leader, failed=on_failed)
        term.joined = True

    def leave(self) -> None:
        """Be a candidate no more. A leader is deposed, and tasks that wait get NotHeld."""
        super().leave()
        self._term().failed(error(lib.PDK_NOT_HELD, f"{self!r} was left"))

    async def wait(self, timeout: Optional[float] = None) -> Leadership:
        """Wait until we lead. It has to be a candidate."""
        return await self._term().wait(timeout, repr(self))

    def cancel(self) -> None:
        """Call off what tasks wait for: they get Canceled, and so does `run`."""
        for future in self._term().waiting:
            if not future.done():
                future.set_exception(error(lib.PDK_CANCELED, f"{self!r}: it was called off"))

    async def run(self, function: Callable[..., Awaitable[Value]], *arguments: Any, **named: Any) -> Value:
        """Wait until we lead, await function(*arguments), and leave. When we do not lead any more meanwhile, its task is cancelled, and
        Lost is raised when that has ended."""
        over: "asyncio.Future[Reason]" = asyncio.get_running_loop().create_future()
        self.join(deposed=lambda reason: None if over.done() else over.set_result(reason))
        work: "Optional[asyncio.Future[Value]]" = None
        try:
            await self.wait()
            work = asyncio.ensure_future(function(*arguments, **named))
            both: "List[asyncio.Future[Any]]" = [work, over]
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                work.cancel()
                await asyncio.wait([work])
                raise error(lib.PDK_LOST, f"{self!r}: we do not lead any more ({over.result().name})")
            return work.result()
        finally:
            if work and not work.done():  # we are cancelled: nobody else may lead while it runs
                work.cancel()
                await asyncio.wait([work])
            over.cancel()
            try:
                self.leave()
            except NotHeld:
                pass

    async def leader(self, timeout: Optional[float] = 10.0) -> Optional[Contender]:
        """The leader, with the data that it has published; None when nobody leads."""
        return next(iter(await self._session._listed(lib.pdk_election_leader_async, self._raw, timeout)), None)

    async def contenders(self, timeout: Optional[float] = 10.0) -> List[Contender]:
        """All candidates, the leader first."""
        return await self._session._listed(lib.pdk_election_list_async, self._raw, timeout)

    async def publish(self, leadership: Grant, data: Optional[bytes], timeout: Optional[float] = 10.0) -> None:
        """Publish data of our term; None takes them away."""
        await self._session._ask(lambda user: int(lib.pdk_election_publish_async(
            self._raw, leadership._raw, *published(data), ms(timeout), lib.on_answered, user)))


class Member(BaseMember):
    """Our membership of a group, until `leave` or the end of its `async with` block."""

    _session: Session

    def __init__(self, session: Session, path: str, data: bytes = b"", *, joined: Optional[Callable[[Membership], Any]] = None,
                 lost: Optional[Callable[[Reason], Any]] = None, failed: Optional[Callable[[Error], Any]] = None) -> None:
        term: Term[Membership] = Term()

        def on_joined(membership: Membership) -> Any:
            term.begun(membership)
            return joined and joined(membership)

        def on_lost(reason: Reason) -> Any:
            term.ended()
            return lost and lost(reason)

        def on_failed(failure: Error) -> Any:
            term.failed(failure)
            return failed and failed(failure)
        super().__init__(session, path, data, joined=on_joined, lost=on_lost, failed=on_failed)
        self._term, term.joined = term, True

    def leave(self) -> None:
        """Be a member no more."""
        super().leave()
        self._term.failed(error(lib.PDK_NOT_HELD, f"{self!r} was left"))

    async def wait(self, timeout: Optional[float] = None) -> Membership:
        """Wait until we are a member."""
        return await self._term.wait(timeout, repr(self))

    async def set_data(self, data: bytes, timeout: Optional[float] = 10.0) -> None:
        """Change the data that others see."""
        await self._session._ask(lambda user: int(lib.pdk_member_set_data_async(self._raw, *published(data), ms(timeout),
                                                                               lib.on_answered, user)))

    async def __aenter__(self) -> "Member":
        return self

    async def __aexit__(self, *_: object) -> None:
        self._leave()


class JobHold(KeptGrant):
    """A run. `finish` tells its outcome; an `async with` block does so at its end: 0, or 1 after an exception."""

    _rest = "it is released now, and shown as died"

    def __init__(self, session: Session, raw: Any, job: "Job") -> None:
        super().__init__(session, raw)
        self._job = job

    async def finish(self, outcome: int = 0, timeout: Optional[float] = 10.0) -> None:
        """Tell the outcome, and release the hold. After a failure it is still to be released."""
        raw = self._take()
        try:
            await self._session._ask(lambda user: int(lib.pdk_job_finish_async(self._job._raw, raw, outcome, ms(timeout),
                                                                              lib.on_answered, user)))
        except Error:
            self._cell[0] = raw
            raise

    def release(self) -> bool:
        """End the run without an outcome: it is shown as died. True: it was valid until now."""
        return bool(lib.pdk_hold_release(self._take()) == lib.PDK_OK)

    async def __aenter__(self) -> "JobHold":
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], _: Optional[BaseException],
                        __: Optional[types.TracebackType]) -> None:
        if not self._owned:
            return
        try:
            await self.finish(1 if kind else 0)
        except Error:
            if self._owned:
                self.release()
            if kind is None:
                raise


class Job(BaseJob):
    """A job: `async with await job.acquire():` runs it, and raises Skipped where it is not due."""

    _asynchronous = True
    _session: Session

    async def acquire(self, timeout: Optional[float] = 10.0) -> JobHold:
        """Begin a run, if there may be one now."""
        found: JobHold = await self._session._ask(
            lambda user: int(lib.pdk_job_acquire_async(self._raw, ms(timeout), lib.on_job_acquired, user)),
            lambda raw: JobHold(self._session, raw, self), JobHold.release, self._waiters)
        return found

    async def history(self, timeout: Optional[float] = 10.0) -> List[Run]:
        """The last runs, the newest first."""
        found: List[Run] = await self._session._ask(lambda user: int(lib.pdk_job_history_async(
            self._session._raw, string(self.path), ms(timeout), lib.on_job_runs, user)), runs)
        return found


class LeaseHold(KeptGrant):
    """A hold of a lease lock. `release`, and the end of a block, give the lock up; `leave_standing` lets go of the hold alone."""

    _rest = "the lock stands until its end"

    def __init__(self, session: Session, raw: Any, lock: Any) -> None:
        super().__init__(session, raw)
        self._lock = ffi.gc(lib.pdk_lease_lock_ref(lock), lib.pdk_lease_lock_unref)

    async def release(self, timeout: Optional[float] = 10.0) -> bool:
        """Give the lock up, and release the hold. False: it was lost before."""
        raw = self._take()
        try:
            await self._session._ask(lambda user: int(lib.pdk_lease_lock_release_async(self._lock, raw, ms(timeout), lib.on_answered, user)))
        except Lost:
            lib.pdk_hold_release(raw)
            return False
        except Error:
            self._cell[0] = raw
            raise
        return True

    def leave_standing(self) -> bool:
        """Release the hold alone. Never waits. True: it was valid until now."""
        return bool(lib.pdk_hold_release(self._take()) == lib.PDK_OK)

    async def __aenter__(self) -> "LeaseHold":
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], _: Optional[BaseException],
                        __: Optional[types.TracebackType]) -> None:
        if self._owned and not await self.release() and kind is None:
            raise error(lib.PDK_LOST, f"{self!r} was lost before the end of its block")


class LeaseLock(BaseLeaseLock, Acquirable[LeaseHold]):
    """A lease lock: kept across a restart of its holder."""

    _asynchronous = True
    _session: Session

    async def _acquire(self, timeout: Optional[float]) -> LeaseHold:
        found: LeaseHold = await self._session._ask(
            lambda user: int(lib.pdk_lease_lock_acquire_async(self._raw, ms(timeout), lib.on_acquired, user)),
            lambda raw: LeaseHold(self._session, raw, self._raw), LeaseHold.leave_standing, self._waiters)
        return found

    async def release(self, timeout: Optional[float] = 10.0) -> bool:
        """Give up what this task acquired last by this object."""
        return await self._latest().release(timeout)

    async def __aexit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                        trace: Optional[types.TracebackType]) -> None:
        await self._leave().__aexit__(kind, value, trace)


class Guarded:
    """A guarded znode: `async with await aio.Guarded.open(hold, path) as data:`."""

    def __init__(self, raw: Any, hold: Grant, path: str) -> None:
        self._raw, self._hold, self.path = raw, hold, path

    @classmethod
    async def open(cls, hold: Grant, path: str, timeout: Optional[float] = 10.0) -> "Guarded":
        """Open it: no write of an older holder lands on it any more."""
        found: Guarded = await hold._session._ask(
            lambda user: int(lib.pdk_guarded_open_async(hold._raw, string(path), ms(timeout), lib.on_guarded_opened, user)),
            lambda raw: cls(raw, hold, path), cls.close)
        return found

    async def _call(self, call: Any, *arguments: Any, timeout: Optional[float]) -> Any:
        if self._raw is None:
            raise error(lib.PDK_INVALID, f"the guarded znode {self.path} is closed")
        reads = call is lib.pdk_guarded_read_async
        return await self._hold._session._ask(
            lambda user: int(call(self._raw, *arguments, ms(timeout), lib.on_guarded_read if reads else lib.on_answered, user)),
            (lambda data: data) if reads else nothing)

    async def read(self, timeout: Optional[float] = 10.0) -> bytes:
        """The data; raises Absent where there are none."""
        data: bytes = await self._call(lib.pdk_guarded_read_async, timeout=timeout)
        return data

    async def write(self, data: bytes, timeout: Optional[float] = 10.0) -> None:
        """Replace the data; raises Absent where there are none."""
        await self._call(lib.pdk_guarded_write_async, data, len(data), timeout=timeout)

    async def create(self, data: bytes, timeout: Optional[float] = 10.0) -> None:
        """Write data where there are none; otherwise raises Exists."""
        await self._call(lib.pdk_guarded_create_async, data, len(data), timeout=timeout)

    async def delete(self, timeout: Optional[float] = 10.0) -> None:
        """Take the data away."""
        await self._call(lib.pdk_guarded_delete_async, timeout=timeout)

    def close(self) -> None:
        """End it; nothing is written. A call that is under way goes on."""
        raw, self._raw = self._raw, None
        if raw is not None:
            lib.pdk_guarded_close(raw)

    def __del__(self) -> None:
        self.close()

    async def __aenter__(self) -> "Guarded":
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


# ---- the answers; each comes once


def _answer(user: Any) -> Answer:
    answer: Answer = ffi.from_handle(user)
    forget(user)
    return answer


@called
def on_answered(status: int, user: Any) -> None:
    _answer(user).come(status)


@called
def on_acquired(status: int, raw: Any, user: Any) -> None:
    _answer(user).come(status, raw)


@called
def on_set_acquired(status: int, raw: Any, user: Any) -> None:
    _answer(user).come(status, raw)


@called
def on_contenders(status: int, raw: Any, user: Any) -> None:
    _answer(user).come(status, raw)


@called
def on_guarded_opened(status: int, raw: Any, user: Any) -> None:
    _answer(user).come(status, raw)


@called
def on_guarded_read(status: int, data: Any, size: int, user: Any) -> None:
    _answer(user).come(status, bytes(ffi.buffer(data, size)) if size else b"")


@called
def on_job_acquired(status: int, raw: Any, found: Any, user: Any) -> None:
    answer = _answer(user)
    if status == lib.PDK_SKIPPED:
        answer.session._on_loop(answer.settle, None, skipped(status, found))
    else:
        answer.come(status, raw)


@called
def on_job_runs(status: int, raw: Any, user: Any) -> None:
    _answer(user).come(status, raw)


__all__ = ["AnyStripe", "Election", "Guarded", "Job", "JobHold", "LeaseHold", "LeaseLock", "Lock", "Member", "Permits", "RWLock",
           "Semaphore", "Session", "Set", "Side", "Skipped", "Striped", "Timeout", "text"]
