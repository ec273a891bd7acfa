"""What all modules share: arguments and results of calls, calls that wait, and the functions that the library calls."""
from __future__ import annotations

import logging
import math
import os
import threading
import time
import weakref
from typing import Any, Callable, Dict, Optional, Set, TypeVar

from ._native import ffi, lib
from .errors import check, error, text

log = logging.getLogger("paddock")  # failures of callbacks, which have no caller: shown also where logging is not set up
lines = logging.getLogger("paddock.session")  # the library's log: for programs that have set up logging
lines.addHandler(logging.NullHandler())
Value = TypeVar("Value")
Function = TypeVar("Function", bound=Callable[..., Any])

# ---- arguments


def ms(seconds: Optional[float]) -> int:
    """None is for ever. What is not zero does not become zero, which is a try."""
    if seconds is None:
        return int(lib.pdk_forever())
    if not seconds >= 0:
        raise error(lib.PDK_INVALID, f"a time of {seconds} s; None is for ever")
    return min(math.ceil(seconds * 1000), 2**63 - 1) if seconds < math.inf else int(lib.pdk_forever())


def string(value: Optional[str]) -> Any:
    """A C string, or NULL for None."""
    if value is None:
        return ffi.NULL
    if "\0" in value:
        raise error(lib.PDK_INVALID, f"a NUL in {value!r}")
    return ffi.new("char[]", value.encode("utf-8", "surrogateescape"))


_kept: Any = weakref.WeakKeyDictionary()  # strings, for as long as the struct that points to them


def options(kind: str, **fields: Any) -> Any:
    """A struct of options: the defaults, and the fields that are not None."""
    struct = ffi.new(f"{kind} *")
    check(getattr(lib, f"{kind}_init")(struct, ffi.sizeof(struct[0])))
    kept = []
    for name, value in fields.items():
        if isinstance(value, str):
            value = string(value)
            kept.append(value)
        if value is not None:
            try:
                setattr(struct, name, value)
            except OverflowError as reason:
                raise error(lib.PDK_INVALID, f"{name}: {reason}") from None
    _kept[struct] = kept
    return struct


def seconds(value: Optional[float]) -> Optional[int]:
    """An option that is a duration; None leaves the default."""
    return None if value is None else ms(value)


# ---- calls that wait


class Waiters:
    """The threads, or tasks, that wait in calls of one object, and how each is called off."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._waiting: Dict[Any, Callable[[], Any]] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, waiter: Any, cancel: Callable[[], Any]) -> None:
        with self._mutex:
            self._waiting[waiter] = cancel

    def remove(self, waiter: Any) -> None:
        with self._mutex:
            self._waiting.pop(waiter, None)

    def cancel(self) -> None:
        with self._mutex:
            for cancel in self._waiting.values():
                cancel()


def _interrupt() -> Any:
    out = ffi.new("pdk_interrupt **")
    check(lib.pdk_interrupt_new(out))
    return ffi.gc(out[0], lib.pdk_interrupt_unref)


_of_main = _interrupt()  # of the main thread: a signal may raise it on any thread, so it is never freed


def _waits(call: Callable[[int], int], timeout: int, waiters: Waiters) -> "tuple[int, bool]":
    """The status, and whether a signal came (signals.c)."""
    is_main = threading.current_thread() is threading.main_thread()
    interrupt = _of_main if is_main else _interrupt()
    cell, signalled = ffi.new("int[]", 4), False
    try:
        waiters.add(interrupt, lambda: lib.pdk_interrupt_raise(interrupt))
        lib.paddock_wait_begin(cell, interrupt, is_main)
        status = call(timeout)
    finally:
        signalled = lib.paddock_wait_end(cell)
        waiters.remove(interrupt)
    return status, signalled


os.register_at_fork(after_in_child=lib.paddock_wait_forked)


def wait(call: Callable[[int], int], timeout: Optional[float], waiters: Waiters) -> int:
    """The status of a call that waits, at most for so many seconds. On the main thread Python's handlers of signals run
    meanwhile, and may end it by an exception. After one that does not, the call begins again for the time that is left."""
    deadline = None if timeout is None else time.monotonic() + timeout
    limit = ms(timeout)
    while True:
        status, signalled = _waits(call, limit, waiters)
        if status != lib.PDK_CANCELED or not signalled:
            return status
        if deadline is not None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise error(lib.PDK_TIMEOUT, "the deadline passed, while handlers of signals ran")
            limit = ms(left)


def acquired(call: Callable[[int, Any], int], timeout: Optional[float], waiters: Waiters, hold: Value) -> Value:
    """The hold, into whose cell a call that waits has put its grant. An exception of a signal may come anywhere in between: the hold
    has it by then, and gives it back."""
    cell = getattr(hold, "_cell")
    try:
        status = wait(lambda limit: int(call(limit, cell)), timeout, waiters)
        if status != lib.PDK_OK:
            raise error(status)
        getattr(hold, "_begin")()
        return hold
    except BaseException:
        getattr(hold, "_drop")()
        raise


class _Elsewhere:
    """A call on another thread, which may be abandoned."""

    def __init__(self, function: Callable[[], Any], abandon: Callable[[], Any]) -> None:
        self.function, self.abandon = function, abandon
        self.value: Any = None
        self.failure: Optional[BaseException] = None
        self.mutex, self.done, self.abandoned = threading.Lock(), threading.Lock(), False
        self.done.acquire()  # pylint: disable=consider-using-with
        threading.Thread(target=self.run, name="paddock", daemon=True).start()

    def run(self) -> None:
        try:
            self.value = self.function()
        except BaseException as failure:  # pylint: disable=broad-except
            self.failure = failure
        with self.mutex:
            self.done.release()
            abandoned = self.abandoned
        if abandoned and self.failure is None:
            self.abandon()

    def leave(self) -> None:
        with self.mutex:
            over = not self.done.locked()
            self.abandoned = True
        if over and self.failure is None:
            self.abandon()


def bounded(function: Callable[[], Value], abandon: Callable[[], Any] = lambda: None) -> Value:
    """Makes calls that wait, but not for a hold. On the main thread handlers of signals run meanwhile: so another thread makes the
    calls. After an exception of a handler nobody waits for them, and abandon() is called when they have ended well."""
    if threading.current_thread() is not threading.main_thread():
        return function()
    try:
        call = _Elsewhere(function, abandon)
    except RuntimeError:
        return function()  # there is no thread to be had: in functions of atexit, for example
    try:
        call.done.acquire()  # pylint: disable=consider-using-with
    except BaseException:
        call.leave()
        raise
    if call.failure is not None:
        raise call.failure
    value: Value = call.value
    return value


def bounded_check(function: Callable[..., int], *arguments: Any) -> None:
    """The same for a call that answers a status alone."""
    bounded(lambda: check(function(*arguments)))


# ---- functions that the library calls, on its own thread


_alive: Set[Any] = set()  # handles of Python's objects, until the library needs them no more


def handle(value: object) -> Any:
    user = ffi.new_handle(value)
    _alive.add(user)
    return user


def forget(user: Any) -> None:
    _alive.discard(user)


def given(call: Callable[[Any], int], value: object) -> None:
    """Makes a call that takes a callback and its user. Where it fails, no callback comes."""
    user = handle(value)
    try:
        check(call(user))
    except BaseException:
        forget(user)
        raise


def run(function: Optional[Callable[..., Any]], *arguments: Any) -> None:
    """Calls the user's function. An exception has nobody to go to there: it is logged."""
    if function is None:
        return
    try:
        function(*arguments)
    except Exception:  # pylint: disable=broad-except
        log.exception("a callback failed: %r", function)


def called(function: Function) -> Function:
    """The function is the one of its name that native.py declares for C."""
    ffi.def_extern(onerror=_failed)(function)
    return function


def _failed(kind: Any, value: Any, trace: Any) -> None:
    """Code of the package failed in a callback."""
    log.error("a callback of the package failed", exc_info=(kind, value, trace))


ffi.def_extern(name="on_free")(_alive.discard)  # and nothing of this module, which may be gone at the end of the process


__all__ = ["Waiters", "acquired", "bounded", "bounded_check", "called", "check", "error", "ffi", "forget", "given", "handle", "lib",
           "lines", "log", "ms", "options", "run", "seconds", "string", "text", "wait"]
