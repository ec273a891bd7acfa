#!/usr/bin/python3
"""`paddock run` when the lock is lost, or paddock itself is killed: nothing of the command outlives the lock."""
import os
import pathlib
import re
import signal
import unittest

from bench import SLACK, Case, alive, children, state, wait_for


# It stops itself, as a command is stopped by somebody. What gets TERM and goes on has the time to say so.
STOPS = "trap 'echo cleaned; exit 9' TERM; trap 'echo ended; exit 8' INT; echo $$; kill -STOP $$; while :; do sleep 0.02; done"


def pends(pid, number):
    found = re.search(r"ShdPnd:\s*([0-9a-f]+)", pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8"))
    return int(found[1], 16) >> (number - 1) & 1


class Loss(Case):
    def begin(self, *options, body="trap '' TERM", through_link=True):
        if through_link:
            self.environment["PADDOCK_SERVERS"] = self.server.link
        process = self.start("run", "--session-timeout", 2, *options, self.path, "--", *self.family(body))
        return process, [self.number("leader"), self.number("worker")]

    def succeed(self):
        """The next one in the queue, on a connection of its own; its command says when it begins."""
        return self.start("run", "-s", self.server.hosts, self.path, "--", "date", "+%s%N")

    def judge(self, successor, pids):
        """By what the commands wrote."""
        begun = int(self.finish(successor, 0)[0])
        self.assertFalse(any(map(alive, pids)))
        last = max(map(int, self.file("ticks").read_text().split()))
        self.assertLess(last, begun, "the next command began before the last of this one had ended")

    def test_cut_off(self):
        """TERM, then KILL, and all are dead before the server ends the session; also a grandchild that ignores TERM."""
        process, pids = self.begin("--timing", "--session-timeout", 4)
        successor = self.succeed()
        self.server.order("cut victim")
        self.judge(successor, pids)
        self.server.order("heal victim")
        _, err = self.finish(process, 76)
        self.assertRegex(err, r"timing: granted: TERM in \d+ ms, KILL in \d+ ms, no server expires the session for \d+ ms")
        last = re.search(r"nothing of the command is left: .* for (-?\d+) ms", err)
        self.assertTrue(last and int(last.group(1)) > 0, err)
        said = [line for line in err.splitlines() if "timing: " not in line]
        self.assertEqual(said, [f"paddock: the lock {self.path} is lost (LEASE): TERM sent",
                                "paddock: the command has not ended on its TERM: KILL sent"])
        self.assert_no_node()

    def test_term_comes_first(self):
        """A command that ends itself on TERM has the time to."""
        body = f"trap 'echo cleaned >> {self.file('cleaned')}; exit 0' TERM"
        process, pids = self.begin(body=body)
        self.server.order("cut victim")
        successor = self.succeed()
        self.judge(successor, pids)
        self.server.order("heal victim")
        _, err = self.finish(process, 76)
        self.assertEqual(self.file("cleaned").read_text(), "cleaned\n" * 2)
        self.assertIn(f"paddock: the lock {self.path} is lost (LEASE): TERM sent\n", err)
        self.assertEqual(err.count("is lost"), 1, err)

    def test_suspended(self):
        """--on-suspend: the command stands still while the connection is lost, or is ended at once; a short cut is survived."""
        process, pids = self.begin("--on-suspend", "stop")
        self.server.order("cut victim")
        wait_for("a stopped command", lambda: state(pids[0]) == "T")
        self.server.order("heal victim")
        wait_for("a running command", lambda: state(pids[0]) != "T")
        process.kill()
        wait_for("their death", lambda: not any(map(alive, pids)))

    def begin_deaf(self, *options):
        """It says which signals it gets, and goes on."""
        self.environment["PADDOCK_SERVERS"] = self.server.link
        process = self.start("run", "--session-timeout", 8, *options, self.path, "--", "sh", "-c",
                             "trap 'echo termed' TERM; trap 'echo reloaded' HUP; echo $$; while :; do sleep 0.02; done")
        return process, int(process.stdout.readline())

    def test_suspended_after_term(self):
        """A command that has outlived a TERM stands still for the connection as any other."""
        process, pid = self.begin_deaf("--on-suspend=stop")
        process.terminate()
        self.assertEqual(process.stdout.readline(), "termed\n")
        self.server.order("reset victim")
        wait_for("a stopped command", lambda: state(pid) == "T")
        self.server.order("heal victim")
        wait_for("a running command", lambda: state(pid) != "T")
        process.kill()
        wait_for("its death", lambda: not alive(pid))

    def test_signals_of_a_suspended_one(self):
        """HUP is a reload to many, and has to wait; TERM continues what stands still for the connection."""
        process, pid = self.begin_deaf("--on-suspend=stop")
        self.server.order("reset victim")
        wait_for("a stopped command", lambda: state(pid) == "T")
        process.send_signal(signal.SIGHUP)
        wait_for("a HUP that waits", lambda: pends(pid, signal.SIGHUP))
        self.assertEqual(state(pid), "T")
        self.server.order("heal victim")
        self.assertEqual(process.stdout.readline(), "reloaded\n")
        self.server.order("reset victim")
        wait_for("a stopped command", lambda: state(pid) == "T")
        process.terminate()
        self.assertEqual(process.stdout.readline(), "termed\n")
        self.server.order("heal victim")

    def test_ended_at_once(self):
        """--on-suspend=term: not later, with a session timeout that leaves time."""
        process, _ = self.begin("--on-suspend=term", "--session-timeout", 4, body=f"trap 'date +%s%N >> {self.file('end')}; exit' TERM")
        self.server.order("cut victim")
        wait_for("the end", self.file("end").exists)
        self.assertEqual(len(self.nodes()), 1)
        self.server.order("heal victim")
        _, err = self.finish(process, 76)
        self.assertRegex(err, r"since the connection is lost \(--on-suspend=term\): TERM sent\n")

    def test_node_gone(self):
        process, pids = self.begin(through_link=False)
        self.server.client.delete(f"{self.path}/{self.nodes()[0]}")
        _, err = self.finish(process, 76)
        self.assertEqual(err, f"paddock: the lock {self.path} is lost (NODE_GONE): KILL sent\n")
        self.assertFalse(any(map(alive, pids)))

    def test_killed(self):
        """kill -9 of paddock, 20 times: the command and its grandchild are dead at once, and then the node goes (test_successor)."""
        for _ in range(20):
            process, pids = self.begin("--session-timeout", 20, through_link=False)
            process.kill()
            process.wait()
            wait_for("their death", lambda: not any(map(alive, pids)), 2)
            self.assertEqual(process.stderr.readline(), "paddock: paddock itself was killed: KILL sent to its command\n")
            wait_for("no node", lambda: not self.nodes(), 8 * SLACK)
            self.file("leader").unlink()
            self.file("worker").unlink()

    def begin_stopped(self, *options, verb="run"):
        process = self.start(verb, "--session-timeout", 2, *options, self.path, "--", "sh", "-c", STOPS)
        pid = int(process.stdout.readline())
        wait_for("a stopped command", lambda: state(pid) == "T")
        self.assertEqual(len(self.nodes()), 1)
        return process, pid

    def test_stopped_gets_cont_after_term(self):
        """A command that stands still could not end on TERM, and kept the lock: --max-hold, TERM and INT to paddock, a wish, a failed
        check, a lease that ends, and paddock itself stands still."""
        def cut():
            self.server.order("cut victim")
        link = ["-s", self.server.link]
        base = self.path
        for number, (options, act, status, words) in enumerate((
                (["--max-hold", "0.5"], lambda process: None, 124, "cleaned\n"), ([], lambda process: process.terminate(), 9, "cleaned\n"),
                ([], lambda process: process.send_signal(signal.SIGINT), 8, "ended\n"),
                (["--on-ask=term"], lambda process: self.paddock(0, "ask", self.path), 9, "cleaned\n"),
                (link, lambda process: cut(), 76, "cleaned\n"), ([*link, "--on-suspend=term"], lambda process: cut(), 76, "cleaned\n"),
                ([*link, "--on-suspend=stop"], lambda process: cut(), 76, "cleaned\n"),
                ([], lambda process: process.send_signal(signal.SIGSTOP), 76, "cleaned\n"))):
            with self.subTest(options=options):
                self.path = f"{base}{number}"
                process, pid = self.begin_stopped(*options)
                act(process)
                wait_for("the command's end", lambda: not alive(pid))
                if status == 76:
                    self.server.order("heal victim")
                    process.send_signal(signal.SIGCONT)
                self.assertEqual(self.finish(process, status)[0], words)
                wait_for("no node", lambda: not self.nodes())
        process, pid = self.begin_stopped("--check", f"! test -e {self.file('sick')}", "--check-every", "0.1", "--pause", "60", verb="elect")
        self.file("sick").touch()
        self.assertEqual(process.stdout.readline(), "cleaned\n")
        wait_for("no node", lambda: not self.nodes())
        process.terminate()
        self.finish(process, 143)

    def test_stopped_is_killed(self):
        """No stop outlives KILL: the node is deleted, paddock is killed, its guardian is killed."""
        for act, status in ((lambda process: self.server.client.delete(f"{self.path}/{self.nodes()[0]}"), 76),
                            (lambda process: process.kill(), -9),
                            (lambda process: os.kill(children(process.pid)[0], signal.SIGKILL), 70)):
            process, pid = self.begin_stopped()
            act(process)
            self.finish(process, status)
            wait_for("its death", lambda: not alive(pid))
            wait_for("no node", lambda: not self.nodes(), 8 * SLACK)

    def test_guardian_killed(self):
        process, pids = self.begin(through_link=False)
        [guardian] = children(process.pid)
        os.kill(guardian, signal.SIGKILL)
        self.finish(process, 70)
        self.assertFalse(any(map(alive, pids)))
        self.assert_no_node()

    def test_paused(self):
        """paddock stands still: the guardian ends the command before a server can end the session."""
        process, pids = self.begin(through_link=False)
        successor = self.succeed()
        process.send_signal(signal.SIGSTOP)
        self.judge(successor, pids)
        process.send_signal(signal.SIGCONT)
        self.finish(process, 76)

    def test_killed_while_queued(self):
        """The guardian goes with it."""
        holder = self.hold()
        process = self.start("run", self.path, "--", "true")
        wait_for("the second in the queue", lambda: len(self.nodes()) == 2)
        [guardian] = children(process.pid)
        process.kill()
        wait_for("the guardian's end", lambda: not alive(guardian))
        holder.terminate()
        self.finish(holder, 143)


if __name__ == "__main__":
    unittest.main()
