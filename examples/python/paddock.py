"""Paddock from Python: cffi in ABI mode, on the shared library as it is installed. No compiler is needed.

    session ── lock ── hold

The C functions, types and statuses are read from the headers; nothing is declared here again. So `lib` and `ffi` give the whole
interface, and the classes are a beginning: they wrap the part that examples/python/worker.py uses.

PADDOCK_LIBRARY names another library, PADDOCK_INCLUDE another folder of headers (the one that has `paddock/`).
"""
import os
import pathlib
import re
import subprocess

import cffi


def headers():
    """The folder with the public headers."""
    named = os.environ.get("PADDOCK_INCLUDE")
    if not named:
        run = subprocess.run(["pkg-config", "--variable=includedir", "paddock"], capture_output=True, text=True, check=False)
        named = run.stdout.strip() or "/usr/include"
    return pathlib.Path(named)


def declarations(folder, name="paddock/paddock.h", seen=None):
    """The declarations of a header, after those of the headers that it includes: C without comments and
    directives. Macros that are plain numbers stay: arrays have them as their lengths."""
    seen = set() if seen is None else seen
    if name in seen:
        return ""
    seen.add(name)
    text = re.sub(r"/\*.*?\*/", " ", (folder / name).read_text(encoding="utf-8"), flags=re.S)
    before = "".join(declarations(folder, other, seen) for other in re.findall(r"^#include <(paddock/\S+)>", text, re.M))
    statuses = ", ".join(f"PDK_{status} = {value}" for status, value in re.findall(r'X\((\w+), (\d+), "', text))
    text = re.sub(r"^[ \t]*#(?!define PDK_\w+ \d+$)(?:\\\n|[^\n])*", "", text, flags=re.M)
    text = text.replace("PDK_STATUS_MAP(PDK_STATUS_ENUM)", statuses)
    return before + re.sub(r"\bPDK_(API|MUST_USE|BEGIN_DECLS|END_DECLS)\b", "", text)


def library(folder):
    """The name of the library that the headers belong to: until 1.0 each minor release has its own."""
    version = (folder / "paddock/version.h").read_text(encoding="utf-8")
    major, minor = (re.search(rf"PDK_VERSION_{part} (\d+)", version).group(1) for part in ("MAJOR", "MINOR"))
    return "libpaddock.so." + (major if major != "0" else f"0.{minor}")


ffi = cffi.FFI()
ffi.cdef(declarations(headers()))
lib = ffi.dlopen(os.environ.get("PADDOCK_LIBRARY") or library(headers()))

FOREVER = lib.pdk_forever()


def text(string):
    return ffi.string(string).decode()


class Error(Exception):
    """A call that failed: `status` is one of lib.PDK_…."""

    def __init__(self, status):
        super().__init__(f"{text(lib.pdk_status_name(status))}: {text(lib.pdk_last_error())}")
        self.status = status


def check(status):
    if status != lib.PDK_OK:
        raise Error(status)


def milliseconds(seconds):
    """None is for ever. A negative time has passed: it must not become FOREVER."""
    return FOREVER if seconds is None else max(0, round(seconds * 1000))


# The functions that C calls. `user` is a handle of the Python function, which _alive keeps until C needs it no more.
_alive = set()


@ffi.callback("pdk_lost_fn")
def _lost(_, reason, user):
    ffi.from_handle(user)(text(lib.pdk_reason_name(reason)))


@ffi.callback("void(void *)")
def _forget(user):
    _alive.discard(user)


class Session:
    """A session. It ends with the `with` block."""

    def __init__(self, hosts, session_timeout=15.0):
        options = ffi.new("pdk_session_options *")
        check(lib.pdk_session_options_init(options, ffi.sizeof(options[0])))
        options.session_timeout_ms = milliseconds(session_timeout)
        out = ffi.new("pdk_session **")
        check(lib.pdk_session_open(hosts.encode(), options, out))
        self.raw = ffi.gc(out[0], lib.pdk_session_unref)

    def close(self, seconds=2.0):
        check(lib.pdk_session_close(self.raw, milliseconds(seconds)))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Lock:
    def __init__(self, session, path):
        out = ffi.new("pdk_lock **")
        check(lib.pdk_lock_new(session.raw, path.encode(), ffi.NULL, out))
        self.raw = ffi.gc(out[0], lib.pdk_lock_unref)

    def acquire(self, seconds=None):
        """The hold. Blocks this thread alone; 0 seconds: a try."""
        out = ffi.new("pdk_hold **")
        check(lib.pdk_lock_acquire(self.raw, milliseconds(seconds), out))
        return Hold(out[0])


class Hold:
    """A hold. It is released once: at the end of its `with` block, by release(), or with the object."""

    def __init__(self, raw):
        self.raw = ffi.gc(raw, lib.pdk_hold_unref)  # the last unref releases

    @property
    def token(self):
        return lib.pdk_hold_token(self.raw)

    @property
    def valid(self):
        return lib.pdk_hold_is_valid(self.raw)

    @property
    def node(self):
        return text(lib.pdk_hold_node(self.raw))

    def on_lost(self, function):
        """Calls function(reason) when the hold is lost, on the session's thread. It must not block."""
        user = ffi.new_handle(function)
        _alive.add(user)
        try:
            check(lib.pdk_hold_on_lost(self.raw, _lost, user, _forget))
        except Error:
            _alive.discard(user)
            raise

    def release(self):
        """The status of pdk_hold_release: PDK_LOST is no failure of it. None when it was released before."""
        if self.raw is None:
            return None
        raw, self.raw = self.raw, None
        ffi.gc(raw, None)  # the release gives the reference back
        return lib.pdk_hold_release(raw)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.release()
