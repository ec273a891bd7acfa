"""The binding to the C library: cffi in API mode, compiled when the package is built, for every Python from 3.9 on (abi3).

The functions, types and statuses are read from the public headers; nothing is declared here again. So the binding cannot drift from
them, and the compiler checks it against them. `setup.py` and the tests use it.

The headers and libraries are those that pkg-config finds, or those of a build that is not installed: PADDOCK_INCLUDE names the folder
that has `paddock/`, PADDOCK_LIBDIR the one with libpaddock.so and libpaddock-fence.so.
"""
import os
import pathlib
import re
import subprocess

import cffi

HERE = pathlib.Path(__file__).resolve().parent
HEADERS = ("paddock/paddock.h", "paddock/fence.h")
OWN = ("signals.c", "owned.c")  # what is of this package


def asked(*words):
    run = subprocess.run(["pkg-config", *words, "paddock", "paddock-fence"], capture_output=True, text=True, check=False)
    if run.returncode:
        raise SystemExit(f"paddock: the C library is not found; install libpaddock-dev, or set PADDOCK_INCLUDE and PADDOCK_LIBDIR\n{run.stderr}")
    return run.stdout.split()


def include():
    """The folder with the public headers."""
    return pathlib.Path(os.environ.get("PADDOCK_INCLUDE") or (asked("--variable=includedir") or ["/usr/include"])[0])


def libraries():
    """Where the linker finds the libraries, as setuptools wants it."""
    folder = os.environ.get("PADDOCK_LIBDIR")
    folders = [folder] if folder else [word[2:] for word in asked("--libs-only-L")]
    return {"libraries": ["paddock", "paddock-fence"], "library_dirs": folders, "include_dirs": [str(include())]}


def version():
    """The package has the version of the headers that it is built with."""
    text = (include() / "paddock/version.h").read_text(encoding="utf-8")
    return ".".join(re.search(rf"PDK_VERSION_{part} (\d+)", text).group(1) for part in ("MAJOR", "MINOR", "PATCH"))


def declarations(folder, name, seen, macros):
    """The declarations of a header, after those of the headers that it includes: C without comments, directives, and the macros
    that mark functions. Macros that are plain numbers stay: arrays have them as their lengths."""
    if name in seen:
        return ""
    seen.add(name)
    text = re.sub(r"/\*.*?\*/", " ", (folder / name).read_text(encoding="utf-8"), flags=re.S)
    before = "".join(declarations(folder, other, seen, macros) for other in re.findall(r"^#include <(paddock/\S+)>", text, re.M))
    statuses = ", ".join(f"PDK_{status} = {value}" for status, value in re.findall(r'X\((\w+), (\d+), "', text))
    macros.update(re.findall(r"^[ \t]*#[ \t]*define (PDK_\w+)\b(?! \d+$)", text, re.M))
    text = re.sub(r"^[ \t]*#(?!define PDK_\w+ \d+$)(?:\\\n|[^\n])*", "", text, flags=re.M)
    text = text.replace("PDK_STATUS_MAP(PDK_STATUS_ENUM)", statuses)
    return before + re.sub(r"\bPDK_\w+", lambda word: "" if word.group() in macros else word.group(), text)


def callbacks(declared):
    """Of each callback that the headers declare, a function of the same type that Python defines: on_lost for pdk_lost_fn,
    on_pdk_election_callbacks_elected for a field of a struct."""
    for name, arguments in re.findall(r"\btypedef void \(\*pdk_(\w+)_fn\)\(([^;]*)\);", declared):
        yield f"void on_{name}({arguments});"
    for body, struct in re.findall(r"\btypedef struct \w+ \{([^}]*)\} (\w+);", declared):
        for name, arguments in re.findall(r"\bvoid \(\*(\w+)\)\(([^;]*)\);", body):
            if not name.endswith("_free"):
                yield f"void on_{struct}_{name}({arguments});"
    yield "void on_free(void *user);"


def builder():
    seen, macros = set(), set()
    declared = "".join(declarations(include(), name, seen, macros) for name in HEADERS)
    ffi = cffi.FFI()
    ffi.cdef(declared)
    own = "".join((HERE / name).read_text(encoding="utf-8") for name in OWN)
    ffi.cdef("\n".join(f"{head};" for head in re.findall(r"^static ([\w ]+ \**paddock_\w+\([^)]*\)) \{", own, re.M)
                       if "siginfo_t" not in head))
    ffi.cdef('extern "Python" {\n' + "\n".join(callbacks(declared)) + "\n}")
    source = "".join(f"#include <{name}>\n" for name in HEADERS) + own
    ffi.set_source("paddock._native", source, **libraries())
    return ffi
