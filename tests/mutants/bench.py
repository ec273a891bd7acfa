"""What judges broken code: programs that must notice it, and the bench that builds them with some files changed."""
import functools
import os
import pathlib
import platform
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Wno-unused", "-Wno-type-limits",
         *(["-mcx16"] if platform.machine() == "x86_64" else [])]
SUPPORT = ["tests/support/common/*.c", "tests/support/simulated/*.c"]
DRIVER_BENCH = ["tests/fakes/driver_bench.c", "tests/fakes/deeds.c", "tests/fakes/platform_bench.c"]
SERVERS = ["tests/support/common/*.c", "tests/support/servers/*.c", "tests/support/clients/*.c", "testing/*.c"]
LIBRARY = ["src/**/*.c", "recipes/*.c"]
# A simulated thread sleeps in simulated time: tests/support/simulated/sim_thread.c.
WRAPPED = {"sim_thread.c": ["-Wl,--wrap=pdk__interrupt_sleep,--wrap=pdk__interrupt_wake"],
           "test_monitor.c": ["-Wl,--wrap=pdk__interrupt_wake,--wrap=sem_destroy"]}


class Judge:
    """A program that searches for a counter-example, or a Check program, and its sources. It may need a server, or long simulations.
    Or the command, of which a script judges what it does."""

    def __init__(self, main, *patterns, packages=(), libraries=(), without=r"$^", needs=None, script=None, flags=()):
        self.main = main
        self.script, self.flags = script, flags
        self.needs = needs  # what takes too long for --quick
        self.patterns, self.without = patterns, without
        self.packages, self.libraries = packages, libraries
        self.is_check = "/test_" in main
        self.kind = pathlib.Path(script or main).parts[1]  # "unit", "model", "fakes", "sim", …

    @functools.cache
    def sources(self):
        found = sorted({p.relative_to(ROOT) for pattern in (self.main, *self.patterns) for p in ROOT.glob(pattern)})
        mains = [p for p in found if re.search(r"^int main\(", (ROOT / p).read_text(), re.M)]
        return [p for p in found
                if str(p) == self.main or (p not in mains and not re.search(self.without, str(p)))]


def check_program(main, *patterns, needs=None):
    """The judge that is a Check program over the whole library."""
    return Judge(main, *patterns, *LIBRARY, packages=["check", "glib-2.0"],
                 libraries=["-lzookeeper_mt", "-lpthread", "-ldl", "-lm"], needs=needs)


def server_program(main, *patterns):
    """The same on a real server."""
    return check_program(main, *patterns, *SERVERS, needs="a server")


def command_script(name):
    """The command paddock, and its tests on a real server."""
    return Judge("command/paddock.c", "command/**/*.c", "testing/*.c", *LIBRARY, needs="a server",
                 packages=["glib-2.0", "json-glib-1.0", "libmicrohttpd"], libraries=["-lzookeeper_mt", "-lpthread", "-ldl", "-lm"],
                 script=f"tests/command/test_{name}.py", without=r"module\.c$")


# The fence stands on few files, and needs the C library alone.
FENCE = ["src/fence/*.c", "src/core/names.c", "src/core/paths.c", "src/core/sequencer.c", "src/base/status.c",
         "src/base/cancel.c", "src/base/fail.c", "src/base/fork.c", "src/base/standard.c", "tests/support/common/ts_check.c",
         "tests/support/common/ts_fork.c"]


def fence_program(main, without=r"$^"):
    return Judge(main, *FENCE, without=without, packages=["check", "glib-2.0"], libraries=["-lpthread"])


SEARCH = ("tests/model/search.c", "tests/model/frontier.c", "tests/model/visited.c")
JUDGES = {
    **{name: fence_program(f"tests/unit/test_{name}.c") for name in ("fence", "fence_file", "fence_map")},
    "fence_turns": fence_program("tests/unit/test_fence_turns.c", without="fence/cell"),  # which it includes
    "model": Judge("tests/model/model.c", "tests/model/*.c", "tests/support/fake/*.c", "src/core/*.c",
                   without=r"fake_environment|/lease|/test_|_world|/majority", packages=["glib-2.0"]),
    "lease": Judge("tests/model/lease.c", "tests/model/lease*.c", *SEARCH, "src/core/lease.c",
                   without=r"/lease_lock|/test_", packages=["glib-2.0"]),
    "guarded": Judge("tests/model/test_guarded_model.c", "tests/model/guarded*.c", *SEARCH,
                     "tests/support/common/*.c", "src/core/guarded.c", "src/core/sequencer.c", "src/core/names.c",
                     "src/core/paths.c", packages=["check", "glib-2.0"], libraries=["-lpthread"]),
    "job": Judge("tests/model/test_job_model.c", "tests/model/job*.c", *SEARCH,
                 "tests/support/common/*.c", "src/core/job.c", "src/core/sequencer.c", "src/core/names.c",
                 "src/core/paths.c", packages=["check", "glib-2.0"], libraries=["-lpthread"]),
    "kept": Judge("tests/model/test_lease_lock_model.c", "tests/model/lease_lock*.c", *SEARCH,
                  "tests/support/common/*.c", "src/core/lease_lock.c", "src/core/job.c", "src/core/sequencer.c",
                  "src/core/names.c", "src/core/paths.c", packages=["check", "glib-2.0"], libraries=["-lpthread"]),
    "lease_lock_steps": check_program("tests/fakes/test_driver_lease_lock.c", *DRIVER_BENCH, *SUPPORT),
    "lease_locks": server_program("tests/integration/test_lease_lock.c", "tests/integration/refused.c"),
    "descriptors": server_program("tests/integration/test_descriptors.c"),
    "slices": Judge("tests/unit/test_slices.c", "tests/support/common/*.c", "src/base/*.c", packages=["check", "glib-2.0"],
                    libraries=["-lpthread"], needs="20,000 forks"),
    "answered": server_program("tests/integration/test_answers.c", "tests/integration/answers.c", "tests/integration/refused.c"),
    "set_ensured": server_program("tests/integration/test_set_ensure.c", "tests/integration/set_bench.c",
                                 "tests/integration/refused.c"),
    "published": server_program("tests/integration/test_election_data.c", "tests/integration/elections.c",
                               "tests/integration/refused.c"),
    "queries": server_program("tests/integration/test_queries.c", "tests/integration/elections.c",
                             "tests/integration/many_nodes.c", "tests/integration/refused.c"),
    "cron": Judge("tests/unit/test_job_cron.c", "tests/support/common/*.c", "recipes/job_cron.c", "recipes/job_period.c",
                  packages=["check", "glib-2.0"], libraries=["-lpthread"]),
    "jobs": server_program("tests/integration/test_job.c", "tests/integration/refused.c"),
    "sim": Judge("tests/sim/sim.c", "tests/sim/*.c", "tests/support/simulated/*.c", *LIBRARY, without=r"/test_",
                 packages=["glib-2.0"], libraries=["-lzookeeper_mt", "-lpthread", "-ldl", "-lm"], needs="simulations"),
    "answers": Judge("tests/unit/test_contender_answers.c", "tests/support/common/*.c", "src/core/*.c", "src/base/*.c",
                     packages=["check", "glib-2.0"], libraries=["-lpthread"]),
    "striped_connection": check_program("tests/fakes/test_driver_stripes.c", "tests/fakes/platform_bench.c", *SUPPORT),
    "majority": Judge("tests/model/test_majority_model.c", "tests/model/majority*.c", *SEARCH,
                      "tests/support/common/*.c", "src/core/majority.c",
                      packages=["check", "glib-2.0"], libraries=["-lpthread"]),
    "majority_core": Judge("tests/unit/test_majority.c", "tests/support/common/*.c", "src/core/majority.c",
                           packages=["check", "glib-2.0"], libraries=["-lpthread"]),
    "parts": check_program("tests/fakes/test_driver_parts.c", "tests/fakes/ensembles_bench.c", *SUPPORT),
    "majority_input": server_program("tests/integration/test_majority_input.c", "tests/integration/refused.c"),
    **{name: check_program(f"tests/fakes/test_driver_{name}.c", *DRIVER_BENCH, *SUPPORT)
       for name in ("between", "burst", "evidence", "ghost", "held_up", "lease_words", "limits", "linger", "mirror", "news", "pauses", "permits", "records", "tries", "turn", "words")},
    "asking": check_program("tests/fakes/test_driver_unowned.c", *DRIVER_BENCH, *SUPPORT),
    "unowned": server_program("tests/integration/test_unowned.c", "tests/integration/permits.c", "tests/integration/elections.c"),
    "set_sessions": server_program("tests/integration/test_set_sessions.c", "tests/integration/set_bench.c",
                                   "tests/integration/refused.c"),
    "contender": Judge("tests/unit/test_contender.c", "tests/support/common/*.c", "src/core/*.c",
                       packages=["check", "glib-2.0"], libraries=["-lpthread"]),
    "number": Judge("tests/unit/test_number.c", "tests/support/common/*.c", "src/grant/number.c", "src/core/*.c", "src/base/*.c",
                    packages=["check", "glib-2.0"], libraries=["-lpthread"]),
    "stripes": check_program("tests/unit/test_stripes.c", "tests/support/common/*.c"),
    "client": check_program("tests/unit/test_client.c", "tests/support/common/*.c"),
    "striped_lock": server_program("tests/integration/test_striped.c", "tests/integration/refused.c"),
    "member_data": check_program("tests/fakes/test_driver_group_data.c", *DRIVER_BENCH, *SUPPORT),
    "data": server_program("tests/integration/test_data.c"),
    "checker": server_program("tests/integration/test_checker.c", "tests/integration/refused.c"),
    "driver": check_program("tests/fakes/test_driver.c", *DRIVER_BENCH, *SUPPORT),
    "outbox": check_program("tests/fakes/test_driver_log.c", *SUPPORT),
    "cancel": server_program("tests/integration/test_cancel.c"),
    "silence": check_program("tests/fakes/test_driver_silence.c", "tests/fakes/platform_bench.c", *SUPPORT),
    "names": check_program("tests/fakes/test_driver_names.c", "tests/fakes/platform_bench.c", *SUPPORT),
    "waits": Judge("tests/model/test_delay_model.c", *SEARCH, "tests/support/common/*.c", "src/core/delay.c",
                   "src/core/names.c", packages=["check", "glib-2.0"], libraries=["-lpthread"]),
    "mirror_core": Judge("tests/unit/test_mirror.c", "tests/support/common/*.c", "src/core/*.c", "src/base/*.c",
                         packages=["check", "glib-2.0"], libraries=["-lpthread"]),
    "mirror_model": Judge("tests/model/test_mirror_model.c", *SEARCH, "tests/support/common/*.c", "src/core/*.c",
                          "src/base/*.c", packages=["check", "glib-2.0"], libraries=["-lpthread"]),
    "delays": Judge("tests/unit/test_delay.c", "tests/support/common/*.c", "src/core/*.c", "src/base/*.c",
                    packages=["check", "glib-2.0"], libraries=["-lpthread"]),
    "view": Judge("tests/unit/test_view.c", "tests/support/common/*.c", "src/core/*.c", "src/base/*.c",
                    packages=["check", "glib-2.0"], libraries=["-lpthread"]),
    "delay_steps": check_program("tests/fakes/test_driver_delay_steps.c", "tests/fakes/platform_bench.c", *SUPPORT),
    "delayed": server_program("tests/integration/test_lock_delay.c", "tests/integration/elections.c",
                             "tests/integration/refused.c"),
    "ensure": server_program("tests/integration/test_ensure.c", "tests/integration/refused.c"),
    "figures": server_program("tests/integration/test_stats.c", "tests/integration/refused.c"),
    "monitor": Judge("tests/unit/test_monitor.c", "tests/support/common/*.c", "src/session/monitor.c", "src/base/*.c",
                     packages=["check", "glib-2.0"], libraries=["-lpthread"]),
    "openmetrics": Judge("tests/unit/test_stats_text.c", "tests/support/common/*.c", "src/session/stats_text.c", "src/core/histogram.c",
                          packages=["check", "glib-2.0"], libraries=["-lpthread"]),
    "closed": server_program("tests/integration/test_close.c", "tests/integration/elections.c", "tests/integration/event_log.c",
                             "tests/integration/self.c"),
    **{name: server_program(f"tests/input/test_{name}.c", "tests/input/*.c", "tests/input/rows") for name in ("rows", "structs")},
    "testing": server_program("tests/helpers/test_testing.c"),
    "credentials": server_program("tests/integration/test_credentials.c", "tests/integration/refused.c"),
    "protected": server_program("tests/integration/test_protected.c", "tests/integration/recipes.c", "tests/integration/refused.c"),
    **{f"paddock_{name}": command_script(name) for name in ("doctor", "elect", "hold", "job", "loss", "run", "successor", "terminal")},
    "command_lease": check_program("tests/unit/test_command_lease.c", "tests/support/common/*.c", "command/lease.c"),
    "service": server_program("tests/integration/test_service.c", "tests/integration/services.c", "tests/integration/elections.c",
                              "tests/integration/refused.c", "tests/integration/self.c"),
    "freed": server_program("tests/integration/test_user_free.c", "tests/integration/elections.c",
                           "tests/integration/self.c"),
}


# The server of the scripts.
ZK = Judge("tests/programs/zk.c", "tests/support/common/*.c", "tests/support/servers/*.c", "testing/*.c", packages=["check", "glib-2.0"],
           libraries=["-lzookeeper_mt", "-lpthread"])


def run(command, **more):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace", **more)


@functools.cache
def _pkg_config(what, packages):
    return shlex.split(run(["pkg-config", what, *packages]).stdout) if packages else []


def pkg_config(what, packages):
    return _pkg_config(what, tuple(packages))


def text_of(source):
    """The text of a source. One without a suffix makes it of the public headers."""
    path = ROOT / source
    return path.read_text() if path.suffix else run([path, ROOT / "include/paddock", "/dev/stdout"]).stdout


class Bench:
    """The objects of the unchanged code, compiled once. A mutant compiles the files that it changes."""

    def __init__(self, folder, judges=None, flags=()):
        self.folder, self.flags = folder, flags
        self.judges = {**(JUDGES if judges is None else judges), "zk": ZK}
        self.objects = {}

    def compile(self, judge, source, text, target, first=()):
        copy = target.with_suffix(".c")
        copy.write_text(f'#line 1 "{source}"\n{text}')
        # A search must notice a mutant itself: the core's own assertions would be first.
        quiet = ["-DNDEBUG"] if source.is_relative_to("src/core") and not judge.is_check else []
        folders = [*first, source.parent, ".", "include", "src", "recipes", *sorted((ROOT / "tests/support").iterdir())]
        done = run([os.environ.get("CC", "cc"), *FLAGS, *self.flags, *judge.flags, *quiet, *pkg_config("--cflags", judge.packages),
                    *(f"-I{ROOT / i}" for i in folders), "-c", copy, "-o", target])
        if done.returncode != 0:
            sys.exit(f"mutants: {source} does not compile:\n{done.stderr}")
        return target

    def prepare(self, names, pool):
        """Compile all that these judges need. Judges with the same packages share their objects."""
        wanted = {}
        for name in sorted({*names, *(["zk"] if any(self.judges[name].script for name in names) else [])}):
            for source in self.judges[name].sources():
                wanted.setdefault((tuple(self.judges[name].packages), source), name)

        def one(item):
            (packages, source), name = item
            target = self.folder / f"{name}-{str(source).replace('/', '-')}.o"
            return (packages, source), self.compile(self.judges[name], source, text_of(source), target)
        self.objects.update(pool.map(one, sorted(wanted.items())))

    def included(self, judge, label, changes):
        """A folder with the changed sources that the judge's program includes, or none."""
        main = text_of(pathlib.Path(judge.main))
        folder = self.folder / f"{label}-included"
        for source, text in changes.items():
            inside = pathlib.Path(*source.parts[1:])
            if source.suffix == ".c" and f'#include "{inside}"' in main:
                (folder / inside).parent.mkdir(parents=True, exist_ok=True)
                (folder / inside).write_text(text)
        return [folder] if folder.exists() else []

    def program(self, name, label, changes):
        """The judge's program with changes {source: text, or the object of it}."""
        judge, objects = self.judges[name], []
        first = self.included(judge, label, changes)
        for source in judge.sources():
            if first and str(source) == judge.main:
                objects.append(self.compile(judge, source, text_of(source), self.folder / f"{label}-main.o", first))
            elif source not in changes:
                objects.append(self.objects[(tuple(judge.packages), source)])
            elif isinstance(changes[source], pathlib.Path):
                objects.append(changes[source])
            else:
                target = self.folder / f"{label}-{source.stem}.o"
                objects.append(self.compile(judge, source, changes[source], target))
        target = self.folder / f"{name}-{label}"
        wrapped = [word for source in judge.sources() for word in WRAPPED.get(source.name, [])]
        done = run([os.environ.get("CC", "cc"), *self.flags, *objects, "-o", target, *wrapped,
                    *pkg_config("--libs", judge.packages), *judge.libraries])
        if done.returncode != 0:
            sys.exit(f"mutants: linking failed:\n{done.stderr}")
        return target

    @functools.cached_property
    def server(self):
        return self.program("zk", "server", {})

    def command(self, name, label, changes, words):
        """The words with which the judge's program is run, and what it finds in its environment. Of a Check program one case may be
        named, and of a script one test."""
        judge, program = self.judges[name], self.program(name, label, changes)
        if judge.is_check and words:
            return [program], {"PDK_TEST_FILTER": words[0]}
        if not judge.script:
            return [program, *words], {}
        build = self.folder / f"{name}-{label}-build"  # as a build's folder, as far as the scripts look into it
        for path, what in (("command/paddock", program), ("tests/programs/zk", self.server)):
            (build / path).parent.mkdir(parents=True)
            (build / path).symlink_to(what)
        (build / "CMakeCache.txt").touch()
        return [sys.executable, ROOT / judge.script, *words], {"PDK_BUILD": str(build)}
