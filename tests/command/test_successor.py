#!/usr/bin/python3
"""kill -9 of paddock: the guardian ends the ZooKeeper session once nothing of the command is left, and not before. So the next holder begins
at once, and not when the session expires."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

from bench import NOBODY, PADDOCK, PATIENCE, SLACK, Case, alive, children, wait_for

FREEZER = pathlib.Path("/sys/fs/cgroup/freezer")
TIMEOUT = 20  # of the sessions, in s: more than what a slow machine takes for the rest


class Successor(Case):
    def begin(self, verb="run", *options, servers=None, **more):
        """A command that ignores TERM, and a child of it in another session, which ignores it, too, and writes the time."""
        worker = f"trap '' TERM; echo $$ > {self.file('new')}; mv {self.file('new')} {self.file('worker')}; " \
                 f"while :; do date +%s%N >> {self.file('ticks')}; sleep 0.01; done"
        command = ["sh", "-c", "trap '' TERM; setsid sh -c \"$0\" & wait; wait", worker]
        process = self.start(verb, *options, "-s", servers or self.server.hosts, "--session-timeout", TIMEOUT, self.path, "--", *command, **more)
        worker = self.number("worker")
        wait_for("a tick", self.file("ticks").exists)
        return process, worker

    def guardian_of(self, process, worker):
        return next(pid for pid in children(process.pid) if any(worker in children(one) for one in children(pid)))

    def succeed(self):
        return self.start("run", self.path, "--", "date", "+%s%N")

    def judge(self, successor, worker, killed):
        """By what the commands wrote. After how many s it began."""
        begun = int(self.finish(successor, 0)[0])
        self.assertFalse(alive(worker))
        self.assertLess(max(map(int, self.file("ticks").read_text().split())), begun, "the next command began before the last of this one had ended")
        took = (begun - killed) / 1e9
        self.assertLess(took, TIMEOUT / 2, "it waited for the session to expire")
        return took

    def strike(self, process):
        now = time.time_ns()
        process.kill()
        process.wait()
        return now


class Killed(Successor):
    def test_run(self):
        for _ in range(3):
            process, worker = self.begin()
            successor = self.succeed()
            wait_for("two in the queue", lambda: len(self.nodes()) == 2)
            self.judge(successor, worker, self.strike(process))
            for name in ("worker", "ticks"):
                self.file(name).unlink()
        self.assert_no_node()

    def test_elect(self):
        """The terms of one candidate, one after the other: the second one's session is the same."""
        process, worker = self.begin("elect", "--on-elected", "true", "--check", "true")
        second = self.start("elect", self.path, "--", "sh", "-c", f"date +%s%N > {self.file('next')}; exec sleep 60")
        wait_for("two candidates", lambda: len(self.nodes()) == 2)
        killed = self.strike(process)
        wait_for("the next leader", lambda: self.file("next").exists() and self.file("next").read_text().endswith("\n"), TIMEOUT / 2 * SLACK)
        self.assertFalse(alive(worker))
        self.assertLess(int(self.file("next").read_text()) - killed, TIMEOUT / 2 * 1e9)
        second.terminate()
        self.finish(second, 143)

    def test_job(self):
        """Its run is dead, as others see it, as soon as that is so."""
        process, worker = self.begin("job", "--every", "1d", "--retry")
        killed = self.strike(process)
        lock = f"{self.path}/lock"
        wait_for("its node's end", lambda: not self.nodes(lock), TIMEOUT / 2 * SLACK)
        self.assertFalse(alive(worker))
        self.assertLess(time.time_ns() - killed, TIMEOUT * SLACK * 1e9)
        self.paddock(0, "job", "--every", "1d", "--retry", self.path, "--", "true")

    def test_queued(self):
        """Without a command there is nothing to wait for."""
        holder = self.hold()
        process = self.start("run", "--session-timeout", TIMEOUT, self.path, "--", "true")
        wait_for("two in the queue", lambda: len(self.nodes()) == 2)
        self.strike(process)
        wait_for("one in the queue", lambda: len(self.nodes()) == 1, TIMEOUT / 2 * SLACK)
        holder.terminate()
        self.finish(holder, 143)

    def test_a_session_that_was_opened_anew(self):
        """The guardian has the secret of the present one."""
        self.environment["PADDOCK_SERVERS"] = self.server.link
        process = self.start("elect", "--session-timeout", "5", self.path, "--", "sh", "-c", f"echo $$ > {self.file('pid')}; exec sleep 60")
        first = self.number("pid")
        self.server.order("cut victim")
        wait_for("its end", lambda: not alive(first))
        wait_for("the expiry", lambda: not self.nodes())
        self.file("pid").unlink()
        self.server.order("heal victim")
        second = self.number("pid")
        self.server.order("cut victim")  # a server that does not answer at first
        self.strike(process)
        self.server.order("heal victim")
        wait_for("its end", lambda: not alive(second))
        wait_for("no node", lambda: not self.nodes(), 3.5 * SLACK)  # less than the 5 s

    def test_a_server_that_is_gone(self):
        """The others are asked."""
        for servers in (f"127.0.0.1:1,{self.server.hosts}", f"{self.server.hosts},127.0.0.1:1"):
            process, worker = self.begin(servers=servers)
            successor = self.succeed()
            wait_for("two in the queue", lambda: len(self.nodes()) == 2)
            self.judge(successor, worker, self.strike(process))
            for name in ("worker", "ticks"):
                self.file(name).unlink()

    def test_without_servers(self):
        """It gives up when the session is over by itself, and no reader of the output waits for that."""
        process, worker = self.begin(servers=self.server.link)
        guardian = self.guardian_of(process, worker)
        self.server.order("cut victim")
        process.kill()
        process.communicate(timeout=TIMEOUT / 2)  # the end of both pipes
        self.assertTrue(alive(guardian))
        self.server.order("heal victim")
        wait_for("no node", lambda: not self.nodes(), TIMEOUT / 2 * SLACK)
        wait_for("the guardian's end", lambda: not alive(guardian))


class TooEarly(Successor):
    """The session lasts as long as paddock, or anything of the command, does."""

    def test_stopped_and_continued(self):
        process, worker = self.begin()
        [node] = self.nodes()
        for _ in range(5):
            process.send_signal(signal.SIGSTOP)
            time.sleep(0.1)
            process.send_signal(signal.SIGCONT)
        time.sleep(0.3)
        self.assertEqual((self.nodes(), alive(worker)), ([node], True))
        guardian = self.guardian_of(process, worker)
        self.strike(process)
        # While the server is there: without one it would try for as long as the session lasts.
        wait_for("the guardian's end", lambda: not alive(guardian))

    @staticmethod
    def remove(group):
        wait_for("an empty group", lambda: not (group / "cgroup.procs").read_text())
        group.rmdir()

    @unittest.skipUnless(os.access(FREEZER, os.W_OK), f"what is killed and does not die needs root, and {FREEZER}")
    def test_what_dies_late(self):
        """As one that waits for a disk: the worker is killed, and frozen. What was killed and is not dead still works, for all we know."""
        process, worker = self.begin()
        group = FREEZER / f"paddock-{worker}"
        group.mkdir()
        self.addCleanup(self.remove, group)
        (group / "cgroup.procs").write_text(str(worker))
        (group / "freezer.state").write_text("FROZEN")
        try:
            wait_for("a frozen worker", lambda: (group / "freezer.state").read_text() == "FROZEN\n")
            guardian = self.guardian_of(process, worker)
            self.strike(process)
            time.sleep(0.5)
            self.assertEqual((len(self.nodes()), alive(worker), alive(guardian)), (1, True, True))
        finally:
            (group / "freezer.state").write_text("THAWED")
        wait_for("its end", lambda: not alive(worker), 2 * SLACK)
        wait_for("no node", lambda: not self.nodes(), TIMEOUT / 2 * SLACK)

    def test_in_order(self):
        """What paddock closes itself is its own business: here no server hears of it, and the guardian stays silent."""
        self.environment["PADDOCK_SERVERS"] = self.server.link
        process = self.start("run", "--session-timeout", TIMEOUT, self.path, "--", "sh", "-c", f"echo $$ > {self.file('pid')}; exec sleep 60")
        self.number("pid")
        self.server.order("cut victim")
        process.terminate()
        wait_for("the guardian's end", lambda: not children(process.pid))
        self.server.order("heal victim")
        self.finish(process, 143)

    def test_guardian_first(self):
        """Nobody is left to know."""
        process, worker = self.begin()
        guardian = self.guardian_of(process, worker)
        process.send_signal(signal.SIGSTOP)
        os.kill(guardian, signal.SIGKILL)
        self.strike(process)
        time.sleep(1)
        self.assertEqual(len(self.nodes()), 1)
        if alive(worker):  # as documented: of two that are killed at a time, what the command started lives
            os.kill(worker, signal.SIGKILL)


class Secret(Successor):
    def page(self, guardian):
        """Where the guardian keeps it: in no core (dd), in no child of a fork (wf). The C library has such a page for its random numbers,
        which the kernel may drop (dp)."""
        maps = pathlib.Path(f"/proc/{guardian}/smaps").read_text(encoding="ascii")
        found = re.findall(r"(?m)^([0-9a-f]+)-([0-9a-f]+) (?:.*\n(?![0-9a-f]+-))*?VmFlags:(.*)$", maps)
        return [(int(begin, 16), int(end, 16)) for begin, end, flags in found if {"dd", "wf"} == {"dd", "wf", "dp"} & set(flags.split())]

    @unittest.skipUnless(os.geteuid() == 0, "the memory of a process that cannot be dumped is root's to read")
    def test_where_it_is(self):
        """In one page of the guardian's memory; in no argument and no variable of anybody, and not where a command could read it."""
        process, worker = self.begin()
        guardian = self.guardian_of(process, worker)
        [(begin, end)] = self.page(guardian)
        session = int(self.server.client.get(f"{self.path}/{self.nodes()[0]}")[1].ephemeralOwner)

        def read():
            with open(f"/proc/{guardian}/mem", "rb") as memory:
                memory.seek(begin)
                return memory.read(end - begin)
        held = wait_for("the secret", lambda: read() if int.from_bytes(read()[:8], sys.byteorder, signed=True) == session else None)
        password = held[12:28]
        self.assertGreater(len(set(password)), 4)
        self.assertEqual(held[28:28 + len(self.server.hosts)], self.server.hosts.encode())
        for pid in (process.pid, guardian, worker, *children(guardian)):
            for name in ("cmdline", "environ"):
                text = pathlib.Path(f"/proc/{pid}/{name}").read_bytes().lower()
                for form in (password, password.hex().encode()):
                    self.assertNotIn(form.lower(), text)
        self.strike(process)

    @unittest.skipUnless(os.geteuid() == 0, "to become another user needs root")
    def test_who_may_look(self):
        """No other process of the same user reads the guardian's memory, and it leaves no core."""
        command = ["sh", "-c", f"echo $PPID > {self.file('guardian')}; exec sleep 60"]
        self.open_to_nobody()
        process = subprocess.Popen([*NOBODY, PADDOCK, "run", self.path, "--", *command], env=self.environment, stderr=subprocess.DEVNULL)
        self.addCleanup(self.end, process)
        guardian = self.number("guardian")
        for pid, readable in ((process.pid, 0), (guardian, 1)):
            done = subprocess.run([*NOBODY, "dd", f"if=/proc/{pid}/environ", "of=/dev/null"], stderr=subprocess.DEVNULL, check=False)
            self.assertEqual(done.returncode, readable)
        process.terminate()
        process.wait(PATIENCE)


if __name__ == "__main__":
    unittest.main()
