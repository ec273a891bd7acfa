"""The statuses of the C library, and an exception for each that is a failure."""
from __future__ import annotations

import enum
import re
from typing import TYPE_CHECKING, Dict, List, Type

from ._native import ffi, lib

if TYPE_CHECKING:
    from .job import Run


class Status(enum.IntEnum):
    """The answers of the C library. An exception has its own in `status`."""

    OK = lib.PDK_OK
    TIMEOUT = lib.PDK_TIMEOUT
    BUSY = lib.PDK_BUSY
    CANCELED = lib.PDK_CANCELED
    LOST = lib.PDK_LOST
    NOT_HELD = lib.PDK_NOT_HELD
    DEADLOCK = lib.PDK_DEADLOCK
    WRONG_THREAD = lib.PDK_WRONG_THREAD
    UNAVAILABLE = lib.PDK_UNAVAILABLE
    RESOLVE = lib.PDK_RESOLVE
    AUTH = lib.PDK_AUTH
    NO_PERMISSION = lib.PDK_NO_PERMISSION
    INVALID = lib.PDK_INVALID
    UNSUPPORTED = lib.PDK_UNSUPPORTED
    LIMIT = lib.PDK_LIMIT
    EXHAUSTED = lib.PDK_EXHAUSTED
    CLOSED = lib.PDK_CLOSED
    FORKED = lib.PDK_FORKED
    SYSTEM = lib.PDK_SYSTEM
    UPGRADE = lib.PDK_UPGRADE
    MISMATCH = lib.PDK_MISMATCH
    STALE = lib.PDK_STALE
    DAMAGED = lib.PDK_DAMAGED
    REWOUND = lib.PDK_REWOUND
    ABSENT = lib.PDK_ABSENT
    EXISTS = lib.PDK_EXISTS
    REPLACED = lib.PDK_REPLACED
    GONE = lib.PDK_GONE
    SKIPPED = lib.PDK_SKIPPED
    UNPROTECTED = lib.PDK_UNPROTECTED


class Error(Exception):
    """A call that failed. Its text says which argument or path it was about, and how to mend it. `retriable` says that the same call
    may succeed later, unchanged."""

    status: int

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.status = status

    @property
    def retriable(self) -> bool:
        return bool(lib.pdk_status_is_retriable(self.status))


class Timeout(Error, TimeoutError):
    """The time is over, and the call waited in vain; or the grant came too late."""


class Busy(Error):
    """It is not free now: somebody has it or is ahead, or a delay runs."""


class Canceled(Error):
    """The wait was called off."""


class Lost(Error):
    """The hold is no longer valid, and its owner has not released it."""


class NotHeld(Error, RuntimeError):
    """It is not held: released, ended, or never begun."""


class Deadlock(Error, RuntimeError):
    """This thread would wait for itself."""


class WrongThread(Error, RuntimeError):
    """The call waits, and was made in a callback; or on the thread of the event loop."""


class Unavailable(Error, ConnectionError):
    """No server has confirmed it in time. A change may have been made."""


class Resolve(Error, ConnectionError):
    """No host name of the servers could be resolved."""


class Auth(Error, PermissionError):
    """The server refused the credentials, which ends the session."""


class NoPermission(Error, PermissionError):
    """An access control list forbids it."""


class Invalid(Error, ValueError):
    """An argument is not valid. Nothing was done."""


class Unsupported(Error):
    """This build, server or object cannot do it."""


class Limit(Error):
    """It would be more than a limit allows."""


class Exhausted(Error):
    """The directory's sequence numbers are used up."""


class Closed(Error):
    """The session is closed."""


class Forked(Error, RuntimeError):
    """The object belongs to the parent process: the child opens a session of its own."""


class System(Error, OSError):
    """The operating system refused something, or failed."""


class Upgrade(Error, RuntimeError):
    """This thread reads, and wants to write: it has to release first."""


class Mismatch(Error):
    """The path is in use with another number or option."""


class Stale(Error):
    """The fence has admitted a later hold, so this one is over."""


class Damaged(Error):
    """A file or a znode has content that does not belong there."""


class Rewound(Error):
    """The servers were wiped or restored, and give smaller tokens than before."""


class Absent(Error, LookupError):
    """There is no data to read, replace or delete."""


class Exists(Error):
    """There is data where none may be."""


class Replaced(Error):
    """Somebody else wrote or deleted data that only the holder, or the member, writes."""


class Gone(Error, LookupError):
    """Nobody holds it, or the contender that was named is not there."""


class Skipped(Error):
    """No run of the job is due now. `runs` has the last ones, the newest first."""

    runs: "List[Run]"


class Unprotected(Error):
    """Others than the session's access allows may change a node that it relies on."""


# NO_PERMISSION is NoPermission. A status that only a later library has is an Error.
CLASSES: Dict[int, Type[Error]] = {status: globals()[status.name.title().replace("_", "")] for status in Status if status}
for _class in (Error, *CLASSES.values()):
    _class.__module__ = "paddock"  # as programs name it, and tracebacks do


def text(string: object) -> str:
    """A string of the library. Others may have written it: what is no UTF-8 is written \\xHH."""
    return bytes(ffi.string(string)).decode("utf-8", "backslashreplace")


def error(status: int, words: str = "") -> Error:
    """The exception of a status; the words are those of the last failure of this thread, unless there are others."""
    found = words or text(lib.pdk_last_error()) or text(lib.pdk_status_text(status))
    return CLASSES.get(status, Error)(re.sub(r"^pdk_\w+: ", "", found), status)  # without the name of the function in C


def check(status: int) -> None:
    if status != lib.PDK_OK:
        raise error(status)
