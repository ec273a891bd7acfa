#!/usr/bin/python3
"""Each verb, started with descriptors 0, 1 and 2 closed in each combination: /dev/null stands there before anything of ours does."""
import itertools
import os
import pathlib
import signal
import subprocess
import unittest

from bench import PATIENCE, Case, wait_for

COMBINATIONS = [closed for size in (1, 2, 3) for closed in itertools.combinations(range(3), size)]


def closing(closed):
    """For a child, before its exec."""
    def act():
        for descriptor in closed:
            os.close(descriptor)
    return act


def catches(pid, number):
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    caught = next(line for line in status.split("\n") if line.startswith("SigCgt:")).split()[1]
    return int(caught, 16) >> (number - 1) & 1


def missing(pid):
    """Which of 0, 1 and 2 a process lacks, or has something for that no words may be written to."""
    found = {}
    for descriptor in range(3):
        try:
            found[descriptor] = os.readlink(f"/proc/{pid}/fd/{descriptor}")
        except FileNotFoundError:
            found[descriptor] = "closed"
    return {descriptor: what for descriptor, what in found.items() if what != "/dev/null" and not what.startswith("pipe:")}


class Closed(Case):
    def begin(self, closed, *arguments, **more):
        streams = {name: subprocess.PIPE if descriptor not in closed else subprocess.DEVNULL
                   for descriptor, name in ((1, "stdout"), (2, "stderr"))}
        return self.start(*arguments, preexec_fn=closing(closed), **streams, **more)

    def each(self, status, *arguments, look=False):
        """In all combinations side by side: the same status. An argument may depend on the combination's number. `look`: the command at
        their end is that of `seen`."""
        started = [(closed, self.begin(closed, *(word(number) if callable(word) else word for word in arguments),
                                       *(self.seen(number) if look else ()))) for number, closed in enumerate(COMBINATIONS)]
        for number, (closed, process) in enumerate(started):
            with self.subTest(arguments[0], closed=closed):
                out, err = process.communicate(timeout=PATIENCE * 3)
                self.assertEqual(process.returncode, status, f"{out}\n{err}")
                if look:
                    self.saw(number)

    def seen(self, number, then="exit"):
        """A command that writes what its descriptors 0, 1 and 2 are, and what more it has."""
        name = self.file(f"seen{number}")
        return ["sh", "-c", f"for n in 0 1 2; do readlink /proc/$$/fd/$n || echo closed; done > {name}.new;"
                            f" ls /proc/$$/fd >> {name}.new; mv {name}.new {name}; {then}"]

    def saw(self, number):
        """/dev/null stands where something was closed, and nothing is inherited. 1 is the file itself, and 10 what the shell keeps."""
        streams = self.file(f"seen{number}").read_text(encoding="utf-8").split("\n")[:-1]
        for descriptor in set(COMBINATIONS[number]) - {1}:
            self.assertEqual(streams[descriptor], "/dev/null", streams)
        self.assertNotIn("closed", streams[:3])
        self.assertLessEqual(set(streams[3:]), {"0", "1", "2", "10"}, streams)

    # ---- the fence, whose file must never get our words

    def test_fence(self):
        """A refusal's words leave the mark alone: an older token is refused after it, whatever was closed."""
        for number, closed in enumerate(COMBINATIONS):
            for options in ([], ["-v"], ["--json"]):
                with self.subTest(closed=closed, options=options):
                    path = self.file(f"fence{number}{len(options)}{''.join(options)}")
                    fence = ["fence", *options, "--create", path]
                    self.paddock(0, *fence, 300, "--", "true")
                    self.paddock(0, *fence, 500, "--", "true")
                    before = path.read_bytes()
                    for token in (100, 200):
                        process = self.begin(closed, *fence, token, "--", "touch", self.file("ran"))
                        process.communicate(timeout=PATIENCE)
                        self.assertEqual(process.returncode, 79)
                    self.assertEqual(path.read_bytes(), before, "our words stand in the fence")
                    self.paddock(79, *fence, 400, "--", "touch", self.file("ran"))
                    self.assertFalse(self.file("ran").exists())

    def test_fence_admits(self):
        self.each(0, "fence", "-v", "--create", self.file("fence"), 1, "--", look=True)
        self.each(127, "fence", "-v", "--create", self.file("fence"), 1, "--", self.file("missing"))

    # ---- verbs that run something

    def test_run(self):
        self.each(0, "run", "-v", "--timing", self.path, "--", look=True)
        self.each(7, "run", "-v", self.path, "--", "sh", "-c", "echo out; echo err >&2; cat; exit 7")
        self.each(127, "run", "-v", self.path, "--", self.file("missing"))
        self.assert_no_node()
        self.hold()
        self.each(75, "run", "-v", "-n", self.path, "--", "true")

    def test_job(self):
        self.each(0, "job", "-v", "--every", "3650d", lambda n: f"{self.path}/{n}", "--", look=True)

    def test_elect(self):
        for number, closed in enumerate(COMBINATIONS):
            with self.subTest("elect", closed=closed):
                process = self.begin(closed, "elect", "-v", "--on-elected", "true", "--check", "echo healthy; echo so >&2", self.path, "--",
                                     *self.seen(number, "exec sleep 60"))
                wait_for("the command", self.file(f"seen{number}").exists)
                self.saw(number)
                self.assertEqual(missing(process.pid), {})
                process.terminate()
                self.finish(process, 143)

    def test_hold(self):
        for closed in COMBINATIONS:
            with self.subTest("hold", closed=closed):
                reading, writing = os.pipe()
                process = self.begin(closed, "hold", "-v", "--ready-fd", writing, self.path, pass_fds=[writing])
                os.close(writing)
                with os.fdopen(reading, encoding="ascii") as ready:  # it ends when its reader goes
                    self.assertRegex(ready.readline(), "^pdk1 ")
                    self.assertEqual(missing(process.pid), {})
                    process.terminate()
                    self.finish(process, 0)

    def test_server(self):
        for number, closed in enumerate(COMBINATIONS):
            with self.subTest("server", closed=closed):
                self.finish(self.begin(closed, "server", "-q", "--", *self.seen(number)), 0)
                self.saw(number)

    # ---- verbs that look

    def test_watch(self):
        for closed in COMBINATIONS:
            with self.subTest("watch", closed=closed):
                process = self.begin(closed, "watch", self.path)
                wait_for("that it ends by itself when it is told to", lambda p=process: catches(p.pid, signal.SIGTERM))
                self.assertEqual(missing(process.pid), {})
                process.terminate()
                self.finish(process, 0)

    def test_look(self):
        """Those that look once have the status that they have with all three."""
        self.hold()
        for arguments in (["show", self.path], ["show", "--json", self.path], ["ls", "/"], ["ls", "--json", "/"], ["top"], ["doctor"],
                          ["check", f"pdk1 {self.path}/x-lock-0000000001 exclusive 1 0"], ["wait", "-w", "0", self.path],
                          ["ask", "/nobody"], ["break", "/nobody/x-lock-0000000001", "--token", "1"], ["--help"], ["--version"], ["nonsense"]):
            usual = self.start(*arguments)
            usual.communicate(timeout=PATIENCE * 3)
            self.each(usual.returncode, *arguments)


if __name__ == "__main__":
    unittest.main()
