#!/usr/bin/python3
"""What a verb takes before it begins, and after its end: the libraries that are loaded, and the requests."""
import json
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import threading
import time
import unittest
import uuid

from kazoo.security import make_acl

from bench import BUILD, PADDOCK, PATIENCE, SLACK, WITHOUT_HTTP, Case, Packets, Server, wait_for

DELETE, CREATE, LIST, CLOSE = 2, 15, 8, -11
# By the clock: the watch of the own node, and the renewals.
WATCH, CHECK = 4, 14
# Libraries that are slow to load: of JSON with objects, of HTTP with TLS, and what these need in turn.
HEAVY = r"gio|gobject|json|microhttpd|gnutls|p11-kit|nettle|hogweed|gmp|mount|selinux"


class Counter(Packets):
    """It counts the requests."""

    def __init__(self, hosts, late=0):
        """late: so long each answer is on its way, in seconds."""
        super().__init__(hosts)
        self.requests, self.turns, self.late = [], [[]], late

    def pass_on(self, body, asked, up):
        if up:
            kind = struct.unpack(">ii", body[:8])[1]
            self.requests.append(kind)
            self.turns[-1].append(kind)
        else:
            time.sleep(self.late)
            if self.turns[-1]:
                self.turns.append([])
        return body


class Silent(Packets):
    """It passes on nothing more up to the server for a while, from the second list on: the look for other recipes."""

    def __init__(self, hosts, seconds):
        super().__init__(hosts)
        self.seconds, self.lists, self.silent = seconds, 0, threading.Event()

    def pass_on(self, body, asked, up):
        self.lists += up and struct.unpack(">ii", body[:8])[1] == LIST
        if up and self.lists == 2 and not self.silent.is_set():
            self.silent.set()
            time.sleep(self.seconds)
        return body


class Start(Case):
    @classmethod
    def setUpClass(cls):
        """Leases longer than a look has time for its answer."""
        cls.server = Server("--max-session", "30000")
        cls.addClassCleanup(cls.server.stop)

    def loaded(self, process):
        """The libraries that are slow, of those that the process has."""
        maps = pathlib.Path(f"/proc/{process.pid}/maps").read_text(encoding="utf-8")
        return sorted(set(re.findall(rf"/(?:lib)?((?:{HEAVY})[^/]*\.so)", maps)))

    def test_libraries(self):
        self.assertEqual(self.loaded(self.hold()), [])
        holder = self.start("hold", "--ready-fd", "1", self.path + "-held")
        self.assertTrue(holder.stdout.readline())
        self.assertEqual(self.loaded(holder), [])
        leader = self.start("elect", self.path + "-led", "--", "sh", "-c", "echo ready; exec sleep 60")
        self.assertEqual(leader.stdout.readline(), "ready\n")
        self.assertEqual(self.loaded(leader), [])
        observer = self.start("elect", "--observe", self.path + "-led")
        self.assertTrue(observer.stdout.readline())
        self.assertEqual(self.loaded(observer), [])

    def test_libraries_of_json(self):
        """The other way round: with JSON they are seen, so the test above would see them. A verb that ends at once shows them to the
        loader's own list."""
        watcher = self.start("watch", "--json", self.path)
        self.assertTrue(watcher.stdout.readline())
        loaded = self.loaded(watcher)
        self.assertTrue(any("json-glib" in name for name in loaded), loaded)
        self.assertFalse(any("microhttpd" in name for name in loaded), loaded)
        for options, wanted in ((), False), (("--json",), True):
            out, words = self.paddock(0, "show", *options, self.path, env=dict(self.environment, LD_DEBUG="files"))
            self.assertEqual("json-glib" in words, wanted)
        self.assertEqual(json.loads(out), {"path": self.path, "exists": False, "contenders": []})

    def test_module_of_json(self):
        """It moves with the program. Without it the program says which file it has not found, and changes nothing."""
        cache = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
        prefix, libraries = (re.search(rf"(?m)^CMAKE_INSTALL_{name}:PATH=(.*)", cache)[1] for name in ("PREFIX", "LIBDIR"))
        module = pathlib.Path(libraries, "paddock/json.so")
        if (prefix / module).exists():
            self.skipTest("a module is installed, and would be found")
        (self.folder / "bin").mkdir()
        program = shutil.copy(PADDOCK, self.folder / "bin")
        environment = dict(self.environment, LD_LIBRARY_PATH=str(BUILD))

        def run(*arguments):
            return subprocess.run([program, *map(str, arguments)], env=environment, capture_output=True, text=True, timeout=60, check=False)
        for arguments in ("show", "--json", self.path), ("watch", self.path), ("fence", "--create", "--json", self.folder / "mark", "1", "--", "true"):
            done = run(*arguments)
            self.assertEqual((done.returncode, done.stdout), (64, ""))
            self.assertRegex(done.stderr, r"/paddock/json\.so: .*install the module")
        self.assertFalse((self.folder / "mark").exists())
        self.assertEqual(run("show", self.path).returncode, 0)
        (self.folder / module).parent.mkdir(parents=True)
        shutil.copy(BUILD / module, self.folder / module)
        self.assertEqual(json.loads(run("show", "--json", self.path).stdout), {"path": self.path, "exists": False, "contenders": []})

    @unittest.skipIf(WITHOUT_HTTP, "built without libmicrohttpd (PDK_HTTP=OFF)")
    def test_libraries_of_http(self):
        """The other way round: with --listen they are seen, so the test above would see them."""
        leader = self.start("elect", "-v", "--listen", "0", self.path, "--", "sleep", "60")
        wait_for("the line", lambda: "listening" in leader.stderr.readline())
        wait_for("the library", lambda: any("microhttpd" in name for name in self.loaded(leader)))

    @unittest.skipIf(SLACK > 1, "sanitizers map memory of their own")
    def test_memory(self):
        """No arena for each thread: it is 64 MB of addresses, most of them out of use."""
        maps = pathlib.Path(f"/proc/{self.hold().pid}/maps").read_text(encoding="utf-8")
        unused = re.findall(r"(?m)^([0-9a-f]+)-([0-9a-f]+) ---p", maps)
        self.assertLess(max(int(end, 16) - int(begin, 16) for begin, end in unused), 32 << 20)

    def count(self, *arguments, late=0):
        way = Counter(self.server.hosts, late)
        self.addCleanup(way.close)
        self.paddock(0, *arguments, env=dict(self.environment, PADDOCK_SERVERS=way.hosts))
        return way

    def test_requests(self):
        """A command that does nothing, where the directory is there. One question behind the create: who else is in the queue. Its
        answer tells as well whether another recipe works there, so that none is asked for in vain."""
        self.paddock(0, "run", self.path, "--", "true")
        requests = self.count("run", self.path, "--", "true").requests
        self.assertEqual([each for each in requests if each not in (WATCH, CHECK)], [CREATE, LIST, DELETE, CLOSE])

    def test_round_trips(self):
        """The answers are late: whatever is asked before an answer has come is in the same round trip."""
        self.paddock(0, "run", self.path, "--", "true")
        turns = [[each for each in turn if each not in (WATCH, CHECK)] for turn in self.count("run", self.path, "--", "true", late=0.1).turns]
        self.assertEqual([turn for turn in turns if turn][0], [CREATE, LIST])
        self.assertEqual([each for turn in turns for each in turn if each == LIST], [LIST])

    def test_requests_beside_permits(self):
        """Where permits may be held, it looks, once it holds: for who waits in line for them, and then for those who have them."""
        self.paddock(0, "run", "--slots", "2", self.path, "--", "true")
        requests = self.count("run", self.path, "--", "true").requests
        self.assertEqual([each for each in requests if each not in (WATCH, CHECK)], [CREATE, LIST, LIST, LIST, LIST, DELETE, CLOSE])

    def test_round_trips_of_permits(self):
        """Other recipes are looked for from the place in line on, and nothing waits for that."""
        self.paddock(0, "run", "--slots", "2", self.path, "--", "true")
        turns = self.count("run", "--slots", "2", self.path, "--", "true", late=0.3 * SLACK).turns
        granted = max(i for i, turn in enumerate(turns) if CREATE in turn)
        self.assertEqual([each for turn in turns[:granted] for each in turn].count(LIST), 4)
        self.assertEqual([each for turn in turns[granted:] for each in turn if each in (CREATE, LIST)], [CREATE, LIST])

    def test_a_look_without_an_answer(self):
        """It is asked again, as long as the lease stands: no answer does not mean that nobody is there."""
        leader = self.start("elect", self.path, "--", "sh", "-c", "echo ready; exec sleep 60")
        self.assertEqual(leader.stdout.readline(), "ready\n")
        way = Silent(self.server.hosts, 6)
        self.addCleanup(way.close)
        process = self.start("run", "--session-timeout", 30, self.path, "--", "echo", "entered",
                             env=dict(self.environment, PADDOCK_SERVERS=way.hosts))
        self.assertTrue(way.silent.wait(PATIENCE))
        process.send_signal(signal.SIGTSTP)  # it holds already
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(out, "")
        self.assertIn(process.returncode, (69, 76), err)  # 76: on a slow machine the lease ends first
        self.assertRegex(err, rf"{self.path}: \S+:{leader.pid} holds the leadership|is lost \(LEASE\) before anything could start")
        self.assertIn(f"Ctrl-Z is refused: {self.path} is held, ", err)

    def test_a_look_that_is_refused(self):
        """The list shows a leader, and its node may not be read: it counts as somebody, since nobody else has such a node."""
        names = []
        for path, kind in ((self.path, "latch-"), (self.path + "-slots/locks", "lock-")):
            self.server.client.ensure_path(path)
            names.append(self.server.client.create(f"{path}/_c_{uuid.uuid4()}-{kind}", b"", acl=[make_acl("world", "anyone", delete=True)],
                                                   ephemeral=True, sequence=True))
        for path, word in ((self.path, "the leadership"), (self.path + "-slots", "a place in line")):
            out, err = self.paddock(69, "run", path, "--", "echo", "entered")
            self.assertEqual(out, "")
            self.assertRegex(err, rf"{path}: somebody, who may not be seen \(an access control list forbids it\), holds {word}")
        for name in names:
            self.server.client.delete(name)
        self.paddock(0, "run", self.path, "--", "true")


if __name__ == "__main__":
    unittest.main()
