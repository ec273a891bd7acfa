#!/usr/bin/python3
"""`paddock job` on a real server."""
import json
import time
import unittest

from bench import Case, wait_for

EVERY = ("--every", "3650d")  # nobody sees the end of it


class Job(Case):
    def runs(self):
        return json.loads(self.paddock(0, "job", "--history", "--json", self.path)[0])["runs"]

    def test_once(self):
        self.assertEqual(self.runs(), [])
        out, _ = self.paddock(3, "job", self.path, *EVERY, "--", "sh", "-c", "echo $PADDOCK_TOKEN; exit 3")
        [run] = self.runs()
        self.assertEqual((run["token"], run["state"], run["outcome"]), (out.strip(), "finished", 3))
        self.assertLessEqual(run["start_ms"], run["end_ms"])
        out, err = self.paddock(77, "job", "-v", self.path, *EVERY, "--", "echo", "again")
        self.assertEqual(out, "")
        self.assertIn("skipped", err)
        self.assertEqual(self.runs(), [run])
        out, _ = self.paddock(0, "job", "--history", self.path)
        self.assertRegex(out, rf"^2\S+  finished   3  \S+ s  token {run['token']}  \S+.*\n$")

    def test_while_it_runs(self):
        runner = self.start("job", self.path, "--", "sleep", "60")
        wait_for("the state", lambda: [run["state"] for run in self.runs()] == ["running"])
        self.paddock(77, "job", self.path, "--", "true")
        self.assertRegex(self.paddock(0, "job", "--history", self.path)[0], r"running    -  -  token")
        runner.terminate()
        self.finish(runner, 143)
        self.assertEqual([(run["state"], run["outcome"]) for run in self.runs()], [("finished", 143)])

    def test_at_most(self):
        begun = time.monotonic()
        self.paddock(76, "job", "--at-most", "1500ms", self.path, "--", "sleep", "60")
        self.assertGreater(time.monotonic() - begun, 0.2)
        self.assertEqual([run["state"] for run in self.runs()], ["died"])
        self.paddock(0, "job", "--keep", "1", self.path, "--", "true")
        self.assertEqual([run["state"] for run in self.runs()], ["finished"])

    def test_retry(self):
        runner = self.start("job", "--session-timeout", "2", self.path, *EVERY, "--", "sleep", "60")
        wait_for("the state", lambda: [run["state"] for run in self.runs()] == ["running"])
        runner.kill()
        runner.wait()
        wait_for("the state", lambda: [run["state"] for run in self.runs()] == ["died"])
        self.paddock(77, "job", self.path, *EVERY, "--", "true")
        self.paddock(0, "job", self.path, *EVERY, "--retry", "--", "true")
        self.paddock(77, "job", self.path, *EVERY, "--retry", "--", "true")
        self.assertEqual([run["state"] for run in self.runs()], ["finished", "died"])

    def test_usage(self):
        for words in (("job",), ("job", self.path), ("job", self.path, "--"), ("job", "--history"), ("job", "relative", "--", "true"),
                      ("job", "--history", self.path, "--", "true"), ("job", "--every", "x", self.path, "--", "true"),
                      ("job", "--at-least", "-1s", self.path, "--", "true"), ("job", "--at-most", "3653d", self.path, "--", "true"),
                      ("job", "--keep", "101", self.path, "--", "true"), ("job", self.path, self.path, "--", "true")):
            self.assertNotEqual(self.paddock(64, *words)[1], "", words)
        self.paddock(127, "job", self.path, "--", "/no/such/command")
        with open("/dev/full", "w") as full:
            self.assertIn("No space left", self.paddock(70, "job", "--history", self.path, stdout=full)[1])

    def test_a_foreign_record(self):
        self.server.client.ensure_path(self.path)
        self.server.client.create(f"{self.path}/record", b"paddock-job 2\n")
        self.assertIn("later version", self.paddock(69, "job", self.path, "--", "true")[1])
        self.server.client.set(f"{self.path}/record", b"\x1b[2J")
        self.assertIn("no record", self.paddock(69, "job", self.path, "--", "true")[1])
        self.assertIn("no record", self.paddock(69, "job", "--history", self.path)[1])


if __name__ == "__main__":
    unittest.main()
