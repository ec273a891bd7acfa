#!/usr/bin/python3
"""Servers that move under their names, names that are slow, and names that nobody knows: what the command makes of them."""
import subprocess
import time
import unittest

from bench import BUILD, PATIENCE, SLACK, Case, alive

TIMEOUT = 12
HOLDER = BUILD / "tests/cxx/holder"


class Moving:
    """Three servers with the names zk1, zk2 and zk3, which restart at other addresses. In place of a Server."""

    def __init__(self):
        self.process = subprocess.Popen([BUILD / "tests/programs/moved"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        words = dict(self.process.stdout.readline().split() for _ in range(2))
        self.hosts = words["hosts"]
        self.environment = {"TS_NAMES": words["names"], "LD_PRELOAD": str(BUILD / "tests/names.so")}

    def order(self, line):
        print(line, file=self.process.stdin, flush=True)
        assert self.process.stdout.readline() == "ok\n", line

    def stop(self):
        self.process.stdin.close()
        assert self.process.wait() == 0
        self.process.stdout.close()


class Names(Case):
    @classmethod
    def setUpClass(cls):
        cls.server = Moving()
        cls.addClassCleanup(cls.server.stop)

    def setUp(self):
        super().setUp()
        self.environment.update(self.server.environment)
        for i in range(3):
            self.server.order(f"answers {i} ")

    def test_run_and_hold_outlive_the_move_of_all_servers(self):
        run = self.start("run", "--session-timeout", TIMEOUT, self.path + "-run", "--", "sh", "-c", "echo ready; read line; echo done",
                         stdin=subprocess.PIPE)
        self.assertEqual(run.stdout.readline(), "ready\n")
        hold = self.start("hold", "--session-timeout", TIMEOUT, "--ready-fd", 1, self.path + "-hold")
        self.assertTrue(hold.stdout.readline())
        for i in range(3):
            self.server.order(f"move {i}")
        time.sleep(2)
        for process in (run, hold):
            if not alive(process.pid):
                self.fail(f"{process.args[1]} has ended with {process.wait()}: {process.stderr.read()}")
        self.assertEqual(self.paddock(75, "run", "-n", self.path + "-hold", "--", "true")[0], "")
        out, err = run.communicate("go on\n", timeout=PATIENCE)
        self.assertEqual((run.returncode, out, err), (0, "done\n", ""))
        hold.terminate()
        self.finish(hold, 0)

    @unittest.skipUnless(HOLDER.exists(), "built without C++")
    def test_a_program_in_cxx_holds_through_the_move_of_all_servers(self):
        holder = subprocess.Popen([HOLDER, self.server.hosts, self.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                  env=self.environment)
        self.addCleanup(self.end, holder)
        self.assertEqual(holder.stdout.readline(), "ready\n")
        for i in range(3):
            self.server.order(f"move {i}")
        time.sleep(2)
        out, _ = holder.communicate("go on\n", timeout=PATIENCE)
        self.assertEqual((holder.returncode, out), (0, "held\n"))

    def test_a_slow_name_does_not_hold_up_the_others(self):
        self.server.order("answers 0 never")
        begun = time.monotonic()
        self.assertEqual(self.paddock(0, "run", self.path, "--", "echo", "ran")[0], "ran\n")
        self.assertLess(time.monotonic() - begun, 5 * SLACK)

    def test_doctor_tells_a_slow_name_and_ends(self):
        self.server.order("answers 0 never")
        begun = time.monotonic()
        out, _ = self.paddock(1, "doctor", "--connect-timeout", 2)
        self.assertLess(time.monotonic() - begun, 15 * SLACK)
        self.assertRegex(out, r"unreachable: zk1:\d+: .*the look-up of its name had no answer within 2000 ms")

    def test_a_name_that_nobody_knows_is_told_with_the_reason(self):
        for options in (["-w", 1], ["--connect-timeout", 1]):
            _, err = self.paddock(69, "run", "-s", "nowhere.invalid:2181", *options, self.path, "--", "true")
            self.assertRegex(err, "nowhere.invalid: .*not known")

    def test_a_name_whose_look_up_hangs_is_told(self):
        for i in range(3):
            self.server.order(f"answers {i} never")
        _, err = self.paddock(69, "run", "--connect-timeout", 1, self.path, "--", "true")
        self.assertIn("zk1: its look-up has no answer yet", err)


if __name__ == "__main__":
    unittest.main()
