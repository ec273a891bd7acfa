#!/usr/bin/python3
"""Words hold up nothing: with nobody who reads what the command says, it keeps its deadlines."""
import fcntl
import os
import time
import unittest

from bench import SLACK, Case, alive, wait_for


class Words(Case):
    def full_pipe(self):
        """The ends of a pipe that has no room for a byte."""
        reading, writing = os.pipe()
        self.addCleanup(os.close, reading)
        flags = fcntl.fcntl(writing, fcntl.F_GETFL)
        fcntl.fcntl(writing, fcntl.F_SETFL, flags | os.O_NONBLOCK)
        try:
            while True:
                os.write(writing, b"x")
        except BlockingIOError:
            fcntl.fcntl(writing, fcntl.F_SETFL, flags)
        return reading, writing

    def begin(self, verb, *more):
        """With a link that can be cut, all its words, and nobody who reads them. Its reader, and the moment of the cut."""
        reading, writing = self.full_pipe()
        process = self.start(verb, "-v", "-s", self.server.link, "--session-timeout", 2, self.path, *more, stderr=writing, pass_fds=[writing])
        os.close(writing)
        self.assertNotEqual(process.stdout.readline(), "")
        self.server.order("cut victim")
        self.addCleanup(self.server.order, "heal victim")
        return process, reading, time.monotonic()

    def ends(self, process, begun):
        process.stdout.read()
        self.assertEqual(process.wait(timeout=20), 76)
        self.assertLess(time.monotonic() - begun, 4 * SLACK + 1)

    def test_hold(self):
        process, _, begun = self.begin("hold", "--ready-fd", "1")
        self.ends(process, begun)

    def test_run_and_its_command(self):
        process, _, begun = self.begin("run", "--", "sh", "-c", f"trap '' TERM; echo $$ > {self.file('leader')}; echo ready; sleep 60")
        pid = self.number("leader")
        self.ends(process, begun)
        self.assertFalse(alive(pid))

    def test_elect(self):
        process, _, begun = self.begin("elect", "--", "sh", "-c", f"trap '' TERM; echo $$ > {self.file('leader')}; echo ready; sleep 60")
        pid = self.number("leader")
        wait_for("the end of the command", lambda: not alive(pid))
        self.assertLess(time.monotonic() - begun, 4 * SLACK + 1)
        process.terminate()

    def test_a_reader_that_comes_back(self):
        """What was left out is counted in the next line."""
        reading, writing = self.full_pipe()
        process = self.start("run", "-v", "--slots", "2", self.path, "--", "sh", "-c", "echo ready; read line; exit 0", stderr=writing,
                             stdin=-1)
        os.close(writing)
        self.assertEqual(process.stdout.readline(), "ready\n")
        os.read(reading, 1 << 20)
        process.communicate("go\n", timeout=20)
        self.assertRegex(os.read(reading, 1 << 20).decode().lstrip("x"), r"^paddock: \d+ lines before this one found no reader\npaddock: ")

    def test_of_the_line_for_scripts(self):
        """A full --ready-fd keeps no hold from noticing its loss."""
        reading, writing = self.full_pipe()
        with open(self.file("log"), "w", encoding="utf-8") as log:
            process = self.start("hold", "-v", "-s", self.server.link, "--session-timeout", 2, self.path, "--ready-fd", writing,
                                 stderr=log, pass_fds=[writing])
        os.close(writing)
        wait_for("its hold", lambda: "paddock: holding " in self.file("log").read_text())
        self.server.order("cut victim")
        self.addCleanup(self.server.order, "heal victim")
        self.ends(process, time.monotonic())
        self.assertEqual(os.read(reading, 1 << 20).strip(b"x"), b"")


if __name__ == "__main__":
    unittest.main()
