"""A guarded znode: data in ZooKeeper itself that only the holder can write."""
from __future__ import annotations

import threading
import time
from typing import Any, Optional

from ._calls import bounded, check, error, ffi, lib, ms, string
from .hold import Grant


class Guarded:
    """A znode that the holder opens first, then reads, then writes: no write of an older holder lands on it any more, however late it
    comes. It ends with its `with` block, or by `close`; nothing is written then."""

    def __init__(self, hold: Grant, path: str, timeout: Optional[float] = 10.0) -> None:
        """hold: an exclusive one, of a lock, a writer or a leader. One lock guards a path, always the same one."""
        self._raw, self._hold, self.path = None, hold, path

        def call() -> None:
            out = ffi.new("pdk_guarded **")
            check(lib.pdk_guarded_open(hold._raw, string(path), ms(timeout), out))
            self._raw = out[0]
        bounded(call)
        self._mutex = threading.Lock()  # a call that waits must not meet the close
        self._room = 4096

    def __repr__(self) -> str:
        return f"<paddock.{type(self).__name__} {self.path}>"

    def _call(self, function: Any, *arguments: Any, timeout: Optional[float]) -> int:
        begun = time.monotonic()
        if not self._mutex.acquire(timeout=-1 if timeout is None else timeout):
            raise error(lib.PDK_UNAVAILABLE, f"another call on {self!r} was under way all the time")
        try:
            if self._raw is None:
                raise error(lib.PDK_INVALID, f"{self!r} is closed")
            left = None if timeout is None else max(0.0, timeout - (time.monotonic() - begun))
            return int(function(self._raw, *arguments, ms(left)))
        finally:
            self._mutex.release()

    def read(self, timeout: Optional[float] = 10.0) -> bytes:
        """The data; raises Absent where there are none."""
        def call() -> bytes:
            size = ffi.new("size_t *")
            while True:
                room = self._room
                buffer = ffi.new("char[]", room)
                status = self._call(lib.pdk_guarded_read, buffer, room, size, timeout=timeout)
                if status != lib.PDK_LIMIT or size[0] <= room:
                    check(status)
                    return bytes(ffi.buffer(buffer, size[0]))
                self._room = size[0]
        return bounded(call)

    def write(self, data: bytes, timeout: Optional[float] = 10.0) -> None:
        """Replace the data; raises Absent where there are none."""
        bounded(lambda: check(self._call(lib.pdk_guarded_write, data, len(data), timeout=timeout)))

    def create(self, data: bytes, timeout: Optional[float] = 10.0) -> None:
        """Write data where there are none; otherwise raises Exists."""
        bounded(lambda: check(self._call(lib.pdk_guarded_create, data, len(data), timeout=timeout)))

    def delete(self, timeout: Optional[float] = 10.0) -> None:
        """Take the data away."""
        bounded(lambda: check(self._call(lib.pdk_guarded_delete, timeout=timeout)))

    def close(self) -> None:
        """End it. Waits for a call of another thread. A second call does nothing."""
        with self._mutex:
            raw, self._raw = self._raw, None
        if raw is not None:
            lib.pdk_guarded_close(raw)

    def __del__(self) -> None:
        raw = getattr(self, "_raw", None)
        if raw is not None:
            lib.pdk_guarded_close(raw)

    def __enter__(self) -> "Guarded":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
