#!/usr/bin/python3
"""`paddock show`, `wait` and `check` on a real server; and what hostile others wrote, shown harmlessly."""
import json
import os
import socket
import subprocess
import time
import unittest

from bench import SLACK, Case, wait_for

# Escape sequences, a new line, C1, right-to-left, no UTF-8, a backslash, a letter.
HOSTILE = b"\x1b]0;owned\x07\x1b[2J\nfake\r\x7f \xc2\x9b31m \xe2\x80\xaegnp \xff\xfe \\x41 \xc3\xa9"


class Look(Case):
    def node(self, sequence, data=b"somebody", prefix="_c_00000000-0000-0000-0000-000000000000-lock-"):
        """A contender that another client made."""
        self.server.client.ensure_path(self.path)
        return self.server.client.create(f"{self.path}/{prefix}{sequence:010}", data, ephemeral=True)

    def show(self, *options):
        out, _ = self.paddock(0, "show", "--json", *options, self.path)
        self.assertTrue(out.isascii() and out.strip().isprintable() and out.count("\n") == 1, out)
        return json.loads(out)

    def test_show(self):
        self.assertEqual(self.show(), {"path": self.path, "exists": False, "contenders": []})
        self.assertRegex(self.paddock(0, "show", self.path)[0], rf"^nobody holds {self.path}: there is no such node \(.*\)\n$")
        self.paddock(1, "show", "--exit-code", self.path)
        holder = self.hold("--label", "first")
        second = self.start("run", self.path, "--", "true")
        wait_for("the second in the queue", lambda: len(self.nodes()) == 2)
        shown = self.show()["contenders"]
        self.assertEqual([(c["position"], c["holds"], c["shared"]) for c in shown], [(0, True, False), (1, False, False)])
        self.assertEqual(sorted(c["node"] for c in shown), sorted(self.nodes()))
        self.assertEqual(set(shown[0]), {"position", "holds", "shared", "waits_for", "identity", "host", "node", "token", "session", "since_ms"})
        self.assertRegex(shown[0]["identity"], rf":{holder.pid}:first$")
        self.assertEqual([c["waits_for"] for c in shown], [None, shown[0]["node"]])
        self.assertEqual([c["host"] for c in shown], [socket.gethostname()] * 2)
        stat = self.server.client.exists(f"{self.path}/{shown[0]['node']}")
        self.assertEqual((shown[0]["token"], shown[0]["since_ms"]), (str(stat.czxid), stat.ctime))
        self.assertEqual(int(shown[0]["session"], 16), stat.ephemeralOwner)
        out, _ = self.paddock(0, "show", self.path)
        token = shown[0]["token"]
        self.assertRegex(out, rf"^IDENTITY .*\n\S+:{holder.pid}:first +\d+s +{token}  holds\n\S+:{second.pid} +\d+s +\d+  waits\n$")
        self.assertNotIn(shown[0]["node"], out)
        out, _ = self.paddock(0, "show", "--long", "--exit-code", self.path)
        self.assertRegex(out, rf"(?m)  holds +0 +-  2\S+Z  {shown[0]['session']} +{shown[0]['node']}\n.*  waits +1 +0  2\S+Z +0x\S+ +{shown[1]['node']}$")
        holder.terminate()
        self.finish(holder, 143)
        self.finish(second, 0)
        wait_for("nobody", lambda: not self.nodes())
        self.assertEqual(self.show(), {"path": self.path, "exists": True, "contenders": []})
        self.assertEqual(self.paddock(0, "show", self.path)[0], f"nobody holds {self.path}\n")
        self.assertEqual(self.paddock(1, "show", "--exit-code", "--shared", self.path)[0], f"nobody holds {self.path}\n")

    def test_kinds(self):
        readers = [self.hold("--shared"), self.hold("--shared")]
        self.assertEqual([(c["holds"], c["shared"]) for c in self.show("--shared")["contenders"]], [(True, True)] * 2)
        path, self.path = self.path, self.path + "_slots"
        slots = self.hold("--slots", "3/2")
        self.assertEqual([c["holds"] for c in self.show("--slots", "3")["contenders"]], [True] * 2)
        self.paddock(0, "wait", "-w", "0", "--slots", "3", self.path)
        self.paddock(75, "wait", "-w", "0", "--slots", "2", self.path)
        self.path = path
        for process in (*readers, slots):
            process.terminate()
            self.finish(process, 143)

    def test_the_kind_is_found(self):
        """Without an option: by the nodes that are there."""
        path = self.path
        wait_for("nobody", lambda: not self.show()["contenders"])
        reader, = [self.hold("--shared")]
        self.node(4, prefix="_c_00000000-0000-0000-0000-000000000001-__WRIT__")
        for number in (5, 6):
            self.node(number, b"1.2.3.4", prefix="_c_00000000-0000-0000-0000-000000000002-__READ__")
        shown = self.show()["contenders"]
        self.assertEqual([(c["holds"], c["shared"]) for c in shown], [(True, True), (False, False), (False, True), (False, True)])
        self.assertEqual([c["waits_for"] for c in shown], [None, shown[0]["node"], shown[1]["node"], shown[1]["node"]])
        self.assertIsNone(shown[2]["host"])
        self.path = path + "_election"
        leader = self.start("elect", "--id", "me", self.path, "--", "sh", "-c", "echo ready; exec sleep 60")
        self.assertEqual(leader.stdout.readline(), "ready\n")
        other = self.start("elect", self.path, "--", "true")
        wait_for("two candidates", lambda: len(self.nodes()) == 2)
        self.assertEqual([(c["holds"], c["identity"]) for c in self.show()["contenders"]][0], (True, "me"))
        self.assertEqual(len(self.show()["contenders"]), 2)
        self.paddock(75, "wait", "-w", "0", self.path)
        self.path = path + "_slots"
        holder = self.hold("--slots", "3/2")
        self.paddock(0, "wait", "-w", "0", self.path)
        waiters = [self.start("run", "--slots", "3/2", self.path, "--", "true") for _ in range(2)]
        wait_for("the second in the queue", lambda: len(self.nodes(self.path + "/locks")) == 2)
        watcher = self.start("watch", self.path)
        for shown in (self.show()["contenders"], json.loads(watcher.stdout.readline())["contenders"]):
            self.assertEqual([c["holds"] for c in shown], [True, True, False, False])
            self.assertEqual([c["waits_for"] for c in shown], [None, None, None, shown[2]["node"]])
        for process in (reader, leader, other, holder):
            process.terminate()
            process.wait()
        for process in waiters:
            self.finish(process, 0)

    def test_hostile(self):
        self.node(1, HOSTILE)
        out, _ = self.paddock(0, "show", self.path)
        line = out.splitlines()[1]
        self.assertEqual(out.count("\n"), 2)
        self.assertTrue(line.isprintable(), line)
        self.assertIn(r"\x1b]0;owned\x07\x1b[2J\x0afake\x0d\x7f \u{009b}31m \u{202e}gnp \xff\xfe \\x41 é", line)
        shown = self.show()["contenders"][0]["identity"]
        self.assertEqual(shown, HOSTILE.decode(errors="replace"))
        self.node(2, b"x" * 1000000)
        self.assertLess(len(self.paddock(0, "show", self.path)[0]), 10000)
        self.path += "/\x1b[2J"  # refused, and shown harmlessly
        _, err = self.paddock(64, "show", self.path)
        self.assertTrue(err.strip().isprintable(), err)

    def test_many(self):
        """5,000 contenders, and no list for each of them: that would take minutes."""
        self.server.client.ensure_path(self.path)
        for answer in [self.server.client.create_async(f"{self.path}/_c_00000000-0000-0000-0000-{i:012}-lock-{i:010}", b"x", ephemeral=True)
                       for i in range(5000)]:
            answer.get()
        start = time.monotonic()
        self.assertEqual(len(self.show()["contenders"]), 5000)
        self.assertLess(time.monotonic() - start, 20 * SLACK)

    def test_wait(self):
        self.paddock(0, "wait", self.path)
        holder = self.hold()
        out, _ = self.paddock(75, "wait", "-w", "0.3", "--json", self.path)
        self.assertEqual(json.loads(out), {"path": self.path, "free": False})
        self.paddock(4, "wait", "-w", "0", "-E", "4", self.path)
        waiter = self.start("wait", "--json", self.path)
        time.sleep(0.3)
        self.assertIsNone(waiter.poll())
        self.assertEqual(len(self.nodes()), 1)
        holder.terminate()
        self.finish(holder, 143)
        out, _ = self.finish(waiter, 0)
        self.assertEqual(json.loads(out), {"path": self.path, "free": True})

    def test_check(self):
        process = self.start("run", self.path, "--", "sh", "-c", 'echo "$PADDOCK_SEQUENCER"; exec sleep 60')
        sequencer = process.stdout.readline().strip()
        self.paddock(0, "check", sequencer)
        out, _ = self.paddock(0, "check", "--json", sequencer)
        self.assertEqual(json.loads(out), {"sequencer": sequencer, "valid": True})
        process.terminate()
        self.finish(process, 143)
        self.paddock(1, "check", sequencer)
        out, _ = self.paddock(1, "check", sequencer, "--json")
        self.assertEqual(json.loads(out), {"sequencer": sequencer, "valid": False})
        _, err = self.paddock(64, "check", "\x1b[2Jno sequencer")
        self.assertTrue(err.strip().isprintable(), err)

    def test_usage(self):
        for verb in ("show", "wait", "check"):
            self.paddock(64, verb)
            self.paddock(64, verb, "/a", "/b")
            self.paddock(69, verb, "-s", "127.0.0.1:1", "--connect-timeout", "0.2", "pdk1 /a/b exclusive 1 0" if verb == "check" else "/a")
        self.paddock(64, "show", "relative")
        with open("/dev/full", "w", encoding="ascii") as full:
            _, err = self.paddock(70, "show", self.path, stdout=full)
        self.assertIn("No space left", err)

    def test_pages(self):
        """The manual pages are well formed, if mandoc(1) is there to say so."""
        folder = os.path.join(os.environ["PDK_SOURCE"], "command")
        try:
            done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", f"{folder}/paddock.1", f"{folder}/paddock.7"],
                                  capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (0, ""))
        except FileNotFoundError:
            pass


if __name__ == "__main__":
    unittest.main()
