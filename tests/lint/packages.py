"""debian/ says what the build makes: the version, the symbols of each library, and where each installed file goes.

That the headers declare what the libraries export is a test of the build (tests/install/exports).
"""
import pathlib
import re

VERSION = re.compile(r"^#define PDK_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", re.M)
FENCE = {"fence.h"}  # the headers of libpaddock-fence alone
TESTING = {"testing.h"}  # of libpaddock-testing, which is no shared library
SHARED = {"status.h", "version.h"}  # those of both libraries


def functions(headers):
    """The functions marked PDK_API in these headers."""
    names = set()
    for header in headers:
        text = re.sub(r"/\*.*?\*/|//[^\n]*|^\s*#(?:\\\n|[^\n])*", " ", header.read_text(), flags=re.S | re.M)
        names.update(re.findall(r"\bPDK_API\b[^;{(]*?\b(\w+)\s*\(", text))
    return names


def versions(tree, version):
    """The changelogs begin with the version of the header."""
    for name, pattern in (("debian/changelog", r"\S+ \(([^)]*)\)"), ("CHANGELOG.md", r"(?:^#[^#].*\n|\n)*## ([^,\s]+)")):
        found = re.match(pattern, read(tree, name))
        if not found or found.group(1) != version:
            yield tree.root / name, 1, f"begins with {found.group(1) if found else 'no version'}, version.h says {version}"


def read(tree, name):
    path = tree.root / name
    return path.read_text() if path.is_file() else ""


def symbols(tree, version, series, headers):
    """The .symbols files list the functions of the headers, each in the version node, and nothing else."""
    for library in ("libpaddock", "libpaddock-fence"):
        path = tree.root / f"debian/{library}{series}.symbols"
        if not path.is_file():
            yield path, 1, f"is missing: the SONAME is {library}.so.{series}"
            continue
        theirs = [h for h in headers if (h.name in FENCE | SHARED if library.endswith("fence") else h.name not in FENCE | TESTING)]
        wanted = functions(theirs) | {f"PADDOCK_{series}"}  # the node is a symbol, too
        head = [f"{library}.so.{series} {library}{series} #MINVER#", f"* Build-Depends-Package: {library}-dev"]
        lines = path.read_text().splitlines()
        if lines[:2] != head:
            yield path, 1, f"the first lines are {' and '.join(head)}"
        listed = {}
        for number, line in enumerate(lines[2:], 3):
            entry = re.fullmatch(rf" ([\w.]+)@PADDOCK_{re.escape(series)} (\d+(?:\.\d+)*)~", line)
            if not entry:
                yield path, number, f"not a symbol of PADDOCK_{series} with the version that brought it, and ~: {line}"
            elif entry.group(1) in listed:
                yield path, number, f"a second time: {entry.group(1)}"
            elif [int(n) for n in entry.group(2).split(".")] > [int(n) for n in version.split(".")]:
                yield path, number, f"a version after {version}: {line}"
            if entry:
                listed[entry.group(1)] = number
        for name in sorted(wanted - set(listed)):
            yield path, len(lines), f"missing:  {name}@PADDOCK_{series} {version}~"
        for name in sorted(set(listed) - wanted):
            yield path, listed[name], f"no function of a public header: {name}"
    if f"\nPADDOCK_{series} {{" not in read(tree, "cmake/paddock.map"):
        yield tree.root / "cmake/paddock.map", 1, f"has no node PADDOCK_{series}"


def patterns(debian):
    """{file: what it installs, or leaves out}, of debian/*.install and debian/not-installed."""
    files = [*sorted(debian.glob("*.install")), debian / "not-installed"]
    return {f"debian/{path.name}": [line.split()[0] for line in path.read_text().splitlines() if line.strip() and line[0] != "#"]
            for path in files if path.is_file()}


def covers(pattern, name):
    """As dh_install has it: * does not match a slash, and a folder stands for all in it."""
    path = pathlib.PurePosixPath("/", name)
    return any(place.match(f"/{pattern}") for place in (path, *path.parents))


def homes(found, name):
    return [file for file, lines in found.items() if any(covers(line, name) for line in lines)]


def packages(tree, headers):
    """Headers and pages are in one package each. The test install.packaged says it of all that the build installs."""
    found = patterns(tree.root / "debian")
    names = {header: f"usr/include/paddock/{header.name}" for header in headers}
    names.update({page: f"usr/share/man/man{page.suffix[1:]}/{page.name}" for page in (tree.root / "command").glob("*.[1-8]")})
    for source, name in sorted(names.items()):
        there = homes(found, name)
        if len(there) != 1:
            yield source, 1, f"{name} is in {' and '.join(there) or 'no debian/*.install'}, and belongs into one"


def check(tree):
    numbers = VERSION.findall(read(tree, "include/paddock/version.h"))
    if len(numbers) != 3:
        yield tree.root / "include/paddock/version.h", 1, "the version is not there"
        return
    version = ".".join(numbers)
    # As cmake/PaddockLibrary.cmake has it: until 1.0 each minor release has a SONAME of its own.
    series = numbers[0] if numbers[0] != "0" else ".".join(numbers[:2])
    headers = sorted((tree.root / "include/paddock").glob("*.h"))
    yield from versions(tree, version)
    yield from symbols(tree, version, series, headers)
    yield from packages(tree, headers)
