#!/usr/bin/python3
"""`paddock ls`, `top` and `watch` on a real server, with a terminal where one matters, and hostile names."""
import contextlib
import json
import os
import pty
import signal
import struct
import fcntl
import termios
import time
import unittest

from bench import PADDOCK, PATIENCE, SLACK, Case, wait_for

UUID = "00000000-0000-0000-0000-000000000000"
# Right-to-left, a line separator, a backslash. The server takes no control characters in a path.
HOSTILE = "x\u202egnp\u2028y\\z"


class Tree(Case):
    """Directories that other clients made."""

    def make(self, below, label, sequence, data=b"somebody"):
        path = f"{self.path}/{below}".rstrip("/")
        self.server.client.ensure_path(path)
        return self.server.client.create(f"{path}/_c_{UUID}{label}{sequence:010}", data, ephemeral=True)

    def ask(self, verb, *options, path=None):
        out, _ = self.paddock(0, verb, "--json", *options, path or self.path)
        self.assertTrue(out.isascii() and out.strip().isprintable() and out.count("\n") == 1, out)
        return json.loads(out)

    def fill(self):
        for sequence in range(3):
            self.make("orders", "-lock-", sequence, b"first" if sequence == 0 else b"other")
        for sequence, label in enumerate(("-__READ__", "-__READ__", "-__WRIT__", "-__READ__")):
            self.make("data", label, sequence)
        for sequence in range(2):
            self.make("pool/leases", "-lease-", sequence)
        for sequence in range(5):
            self.make("pool/locks", "-lock-", sequence)
        self.make("chief", "-latch-", 7)
        self.make("deep/er/still", "-lock-", -5)
        self.server.client.create(f"{self.path}/orders/config", b"")

    def test_ls(self):
        self.fill()
        self.server.client.create(f"{self.path}/{HOSTILE}", b"")
        shown = self.ask("ls")
        self.assertEqual((shown["path"], shown["complete"]), (self.path, True))
        found = {entry.pop("path")[len(self.path):]: tuple(entry.values()) for entry in shown["entries"]}
        self.assertEqual(found, {"": ("directory", 0, 0, 6), "/orders": ("lock", 1, 2, 1), "/data": ("rwlock", 2, 2, 0),
                                 "/pool": ("semaphore", 2, 5, 2), "/chief": ("election", 1, 0, 0), "/deep": ("directory", 0, 0, 1),
                                 "/" + HOSTILE: ("directory", 0, 0, 0)})
        self.assertEqual(list(shown["entries"][0]), ["kind", "holders", "waiters", "nodes"])
        out, _ = self.paddock(0, "ls", self.path)
        self.assertTrue(all(line.isprintable() for line in out.splitlines()), out)
        self.assertRegex(out, r"(?m)^semaphore +2 +5 +2 +" + self.path + "/pool$")
        self.assertIn(r"/x\u{202e}gnp\u{2028}y\\z", out)

    def test_top(self):
        self.fill()
        shown = self.ask("top")
        self.assertEqual([(lock["path"][len(self.path):], lock["kind"], lock["waiters"], lock["holders"]) for lock in shown["locks"]],
                         [("/pool", "semaphore", 5, 2), ("/data", "rwlock", 2, 2), ("/orders", "lock", 2, 1),
                          ("/chief", "election", 0, 1), ("/deep/er/still", "lock", 0, 1)])
        lock = shown["locks"][2]
        stat = self.server.client.exists(f"{self.path}/orders/{lock['holder']['node']}")
        self.assertEqual(lock["holder"], {"identity": "first", "node": f"_c_{UUID}-lock-0000000000", "token": str(stat.czxid),
                                          "session": hex(stat.ephemeralOwner), "since_ms": stat.ctime})
        self.assertEqual(len(self.ask("top", "--limit", 2)["locks"]), 2)
        self.assertEqual(len(self.ask("top", "--limit", 0)["locks"]), 5)
        out, _ = self.paddock(0, "top", self.path)
        lines = out.splitlines()
        self.assertRegex(lines[1], rf"^somebody +\d+s +\d+ +2 +5  {self.path}/pool$")
        self.assertRegex(lines[3], rf"^first +\d+s +{lock['holder']['token']} +1 +2  {self.path}/orders$")
        out, _ = self.paddock(0, "top", "--long", "--limit", 1, self.path)
        self.assertRegex(out.splitlines()[1], rf" {self.path}/pool +semaphore +2\S+Z +_c_{UUID}-lease-0000000000$")
        self.assertEqual(self.paddock(0, "top", f"{self.path}/orders/config")[0], "nobody holds anything there\n")

    def test_chroot(self):
        """Paths are those below the chroot; ZooKeeper's own directory is left out."""
        self.fill()
        self.environment["PADDOCK_SERVERS"] += self.path
        self.assertEqual({entry["path"] for entry in self.ask("ls", path="/")["entries"]},
                         {"/", "/orders", "/data", "/pool", "/chief", "/deep"})
        self.assertEqual(self.ask("top", path="/orders")["locks"][0]["path"], "/orders")
        self.environment["PADDOCK_SERVERS"] = self.server.hosts
        out, _ = self.paddock(0, "ls")
        self.assertIn(" /locks\n", out)
        self.assertNotIn("zookeeper", out)

    def test_hidden(self):
        """What may not be listed is shown as such; with the credentials it is listed."""
        from kazoo.security import make_digest_acl
        self.make("open", "-lock-", 1)
        self.server.client.create(f"{self.path}/closed", b"", acl=[make_digest_acl("alice", "sesame", all=True)])
        for verb in ("ls", "top"):
            self.assertFalse(self.ask(verb)["complete"])
            self.assertIn("1 of the nodes may not be listed", self.paddock(0, verb, self.path)[1])
        self.assertIn("hidden", [entry["kind"] for entry in self.ask("ls")["entries"]])
        self.file("secret").write_text("alice:sesame\n")
        shown = self.ask("ls", "--digest-file", self.file("secret"))
        self.assertNotIn("hidden", [entry["kind"] for entry in shown["entries"]])
        self.assertTrue(shown["complete"])
        _, err = self.paddock(80, "ls", f"{self.path}/closed")
        self.assertIn("access control", err)

    def test_many(self):
        """A thousand locks are walked over."""
        self.server.client.ensure_path(self.path)
        for answer in [self.server.client.create_async(f"{self.path}/{i}", b"") for i in range(1000)]:
            answer.get()
        for answer in [self.server.client.create_async(f"{self.path}/{i}/_c_{UUID}-lock-{i:010}", b"me") for i in range(1000)]:
            answer.get()
        start = time.monotonic()
        self.assertEqual(len(self.ask("top", "--limit", "0")["locks"]), 1000)
        self.assertLess(time.monotonic() - start, PATIENCE)

    def test_usage(self):
        for verb in ("ls", "top"):
            self.paddock(64, verb, "/a", "/b")
            self.paddock(1, verb, "/no/such/path")
            for path in ("relative", "/a//b", "/a/", "/a/../b", "/\x1b[2J"):
                _, err = self.paddock(64, verb, path)
                self.assertTrue(err.strip().isprintable(), err)
            for status, servers in ((69, "127.0.0.1:1"), (64, "nonsense"), (64, "127.0.0.1:x")):
                _, err = self.paddock(status, verb, "-s", servers, "--connect-timeout", "0.5", "/")
                self.assertIn(servers, err)
        self.paddock(64, "top", "--limit", "-1")
        self.paddock(64, "top", "--every", "0")
        self.environment["PADDOCK_SERVERS"] = f"127.0.0.1:1,{self.server.hosts}"
        self.paddock(0, "ls")
        with open("/dev/full", "w", encoding="ascii") as full:
            _, err = self.paddock(70, "ls", stdout=full)
        self.assertIn("No space left", err)


class Watch(Case):
    def test_lines(self):
        """A line at first, and one for each change; TERM ends it."""
        process = self.start("watch", "--every", "0.05", self.path)
        self.assertEqual(json.loads(process.stdout.readline())["contenders"], [])
        holder = self.hold("--label", "first")
        line = json.loads(process.stdout.readline())
        self.assertEqual((line["path"], len(line["contenders"]), set(line)), (self.path, 1, {"path", "at_ms", "contenders"}))
        self.assertTrue(line["contenders"][0]["holds"])
        self.assertLess(abs(line["at_ms"] / 1000 - time.time()), 60 * SLACK)
        holder.terminate()
        self.assertEqual(json.loads(process.stdout.readline())["contenders"], [])
        process.terminate()
        out, _ = self.finish(process, 0)
        self.assertEqual(out, "")

    def test_a_reader_that_goes(self):
        process = self.start("watch", "--every", "0.05", self.path)
        process.stdout.readline()
        process.stdout.close()
        process.stdout = open(os.devnull, encoding="ascii")
        holder = self.hold()
        self.assertEqual(wait_for("its end", lambda: process.poll() is not None and -process.returncode), signal.SIGPIPE)
        holder.terminate()

    def begin_on_terminal(self, verb="watch", *options):
        pid, terminal = pty.fork()
        if pid == 0:
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 7, 80, 0, 0))
            os.execve(PADDOCK, ["paddock", verb, "--every", "0.05", *options, self.path], self.environment)
        return pid, terminal

    @staticmethod
    def see(terminal, words):
        seen = b""
        while words not in seen:
            seen += os.read(terminal, 10000)
        return seen

    def test_terminal(self):
        """Drawn again and again, no longer than the terminal is; hostile identities stay harmless; Ctrl-C ends it with 0."""
        self.server.client.ensure_path(self.path)
        for sequence in range(9):
            self.server.client.create(f"{self.path}/_c_{UUID}-lock-{sequence:010}", b"evil\x1b]0;owned\x07", ephemeral=True)
        pid, terminal = self.begin_on_terminal()
        seen = self.see(terminal, b"6 more").replace(b"\x1b[H\x1b[J", b"").replace(b"\x1b[?7l", b"")
        self.assertIn(rb"evil\x1b]0;owned\x07", seen)
        self.assertNotIn(b"\x1b", seen)
        self.server.client.delete(f"{self.path}/_c_{UUID}-lock-0000000000")
        self.see(terminal, b"5 more")
        os.write(terminal, b"\x03")
        self.see(terminal, b"\x1b[?7h")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        os.close(terminal)

    def test_terminal_that_goes(self):
        pid, terminal = self.begin_on_terminal()
        self.see(terminal, b"nobody holds /locks/")
        os.close(terminal)
        self.assertIn(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), (0, 70))

    def look(self, *arguments):
        """What a verb that ends prints on a terminal of 80 columns."""
        pid, terminal = pty.fork()
        if pid == 0:
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
            os.execve(PADDOCK, ["paddock", *arguments], self.environment)
        seen = b""
        with contextlib.suppress(OSError):
            while data := os.read(terminal, 10000):
                seen += data
        os.close(terminal)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0, seen)
        return seen.decode().replace("\r\n", "\n")

    def test_eighty_columns(self):
        """They have room for a holder's name; what has none is cut, and no line is longer."""
        self.server.client.ensure_path(self.path + "/" + "deep/" * 12 + "down")
        who = b"scheduler-3.example.org:31415:nightly"
        for sequence, name in enumerate((who, b"x" * 500)):
            self.server.client.create(f"{self.path}/_c_{UUID}-lock-{sequence:010}", name, ephemeral=True)
        self.server.client.create(f"{self.path}/{'deep/' * 12}down/_c_{UUID}-lock-0000000000", who, ephemeral=True)
        for arguments, wanted in ((["show", self.path], rf"(?m)^{who.decode()} +\d+s +\d+  holds$"),
                                  (["top", "--once", self.path], rf"(?m)^scheduler-3.exa\S* +\d+s +\d+ +1 +1  {self.path}$")):
            seen = self.look(*arguments)
            self.assertRegex(seen, wanted)
            self.assertRegex(seen, r"(?m)x…  | …\S*/deep/down$")
            self.assertEqual([line for line in seen.splitlines() if len(line) > 80], [])
            self.assertNotIn("…", self.look(*arguments, "--long"))

    def test_top_is_live(self):
        """Drawn again and again on a terminal, no longer than that is; Ctrl-Z leaves it in order, and Ctrl-C ends it with 0."""
        for each in range(5):
            self.server.client.ensure_path(f"{self.path}/{each}")
            self.server.client.create(f"{self.path}/{each}/_c_{UUID}-lock-0000000000", b"evil\x1b[2J", ephemeral=True)
        pid, terminal = self.begin_on_terminal("top")
        seen = self.see(terminal, b"2 more").replace(b"\x1b[H\x1b[J", b"").replace(b"\x1b[?7l", b"")
        self.assertIn(b"Z  5 held, 0 wait  %s\r\n" % self.path.encode(), seen)
        self.assertIn(rb"evil\x1b[2J", seen)
        self.assertNotIn(b"\x1b", seen)
        self.server.client.delete(f"{self.path}/0/_c_{UUID}-lock-0000000000")
        self.see(terminal, b"1 more")
        os.write(terminal, b"\x03")
        self.see(terminal, b"\x1b[?7h")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        os.close(terminal)

    def test_servers_that_go(self):
        """It goes on, and says so once."""
        self.environment["PADDOCK_SERVERS"] = self.server.link
        process = self.start("watch", "--every", "0.05", "--session-timeout", 2, self.path)
        process.stdout.readline()
        self.server.order("cut victim")
        self.assertEqual(set(json.loads(process.stdout.readline())), {"path", "at_ms", "error"})
        self.server.order("heal victim")
        while "contenders" not in json.loads(process.stdout.readline()):
            pass
        process.terminate()
        self.finish(process, 0)

    def test_usage(self):
        self.paddock(64, "watch")
        self.paddock(64, "watch", "/a", "/b")
        self.paddock(64, "watch", "relative")
        for every in ("0", "-1", "x", "nan"):
            self.paddock(64, "watch", "--every", every, "/a")
        self.paddock(69, "watch", "-s", "127.0.0.1:1", "--connect-timeout", "0.2", "/a")
        with open("/dev/full", "w", encoding="ascii") as full:
            self.assertIn("No space left", self.paddock(70, "watch", "/a", stdout=full)[1])


if __name__ == "__main__":
    unittest.main()
