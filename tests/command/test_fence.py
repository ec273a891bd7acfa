#!/usr/bin/python3
"""`paddock fence`: who is admitted, what runs then, and a disk that is full. It needs no servers."""
import json
import os
import pathlib
import resource
import signal
import subprocess
import tempfile
import unittest

from bench import PADDOCK


class Fence(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name, "fence")

    def fence(self, status, *arguments, **more):
        environment = {name: value for name, value in os.environ.items() if name != "PADDOCK_SERVERS"}
        done = subprocess.run([PADDOCK, "fence", *map(str, arguments)], text=True, timeout=60, check=False, env=environment,
                              stdin=subprocess.DEVNULL, **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more})
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout, done.stderr

    def test_order(self):
        """A mark that is not smaller is admitted; an older one runs nothing."""
        self.fence(0, "--create", self.path, 33, "--", "true")
        self.fence(0, self.path, 33, "--", "true")
        self.fence(0, self.path, "34:2", "--", "true")
        for mark in ("34:1", "34", 33, "00000000000000000033"):
            out, err = self.fence(79, self.path, mark, "--", "echo", "ran")
            self.assertEqual(out, "")
            self.assertIn("34", err)
            self.assertIn("nothing was run", err)
        out, _ = self.fence(79, "--json", self.path, "34:1", "--", "echo", "ran")
        self.assertEqual(json.loads(out), {"file": str(self.path), "token": "34", "handover": 1, "admitted": False})
        self.assertEqual(self.fence(0, "--json", self.path, "34:2", "--", "echo", "ran")[0], "ran\n")
        with open("/dev/full", "w", encoding="ascii") as full:
            self.assertIn("No space", self.fence(70, "--json", self.path, "34:1", "--", "true", stdout=full, stderr=subprocess.PIPE)[1])
        out, _ = self.fence(0, self.path, 35, "echo", "a b", "$HOME")
        self.assertEqual(out, "a b $HOME\n")
        self.assertEqual(self.fence(79, "-q", self.path, 1, "--", "true"), ("", ""))
        self.assertIn("admits 36:0", self.fence(0, "-v", self.path, 36, "--", "true")[1])

    def test_shared(self):
        """Readers do not refuse each other, and refuse an older writer."""
        self.fence(0, "--create", self.path, 10, "--", "true")
        self.fence(0, "--shared", self.path, 30, "--", "true")
        self.fence(0, "--shared", self.path, 20, "--", "true")
        self.fence(79, self.path, 29, "--", "true")
        self.fence(0, self.path, 31, "--", "true")
        self.fence(79, "--shared", self.path, 30, "--", "true")

    def test_the_command(self):
        """It takes the place of the program: its status, its signals, no descriptor of ours."""
        self.fence(42, "--create", self.path, 1, "--", "sh", "-c", "exit 42")
        self.fence(-signal.SIGTERM, self.path, 1, "--", "sh", "-c", "kill -TERM $$")
        self.fence(127, self.path, 1, "--", self.path.parent / "missing")
        self.fence(126, self.path, 1, "--", self.path)
        out, _ = self.fence(0, self.path, 1, "--", "sh", "-c", "ls /proc/$$/fd; grep ^SigIgn /proc/$$/status")
        *descriptors, ignored = out.split("\n")[:-1]
        self.assertEqual(set(descriptors), {"0", "1", "2"})
        self.assertEqual(int(ignored.split()[1], 16) >> (signal.SIGXFSZ - 1) & 1, 0, ignored)

    def test_usage(self):
        for arguments in ([], [self.path], [self.path, "1"], [self.path, "1", "--"], ["--no-such", self.path, "1", "--", "true"]):
            self.assertIn("paddock: ", self.fence(64, *arguments)[1])
        for mark in ("", "0", "x", "1:", "1:x", "1:4294967296", "1:-1", "9223372036854775808", "1 ", "\x1b[2J"):
            _, err = self.fence(64, "--create", self.path, mark, "--", "true")
            self.assertTrue(err.strip().isprintable(), err)
        self.assertFalse(self.path.exists())

    def test_files(self):
        _, err = self.fence(64, self.path, 1, "--", "true")
        self.assertIn("--create", err)
        self.fence(70, "--create", self.path / "below", 1, "--", "true")
        self.path.write_text("no fence\n")
        _, err = self.fence(64, "--create", self.path, 1, "--", "true")
        self.assertIn(str(self.path), err)
        self.assertEqual(self.path.read_text(), "no fence\n")

    def test_a_limit(self):
        """Files may have no more bytes: said in words, and no half of a fence is left."""
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
        _, err = self.fence(70, "--create", self.path, 1, "--", "echo", "ran", preexec_fn=limit)
        self.assertIn("File too large", err)
        self.assertEqual(list(self.path.parent.iterdir()), [])

    def test_a_full_disk(self):
        """A file system without space, where this user may mount one."""
        script = 'mount -t tmpfs -o size=8k none "$1" || exit 99; cat /dev/zero >"$1/filler" 2>"$1/../err"; ' \
                 'exec "$2" fence --create "$1/fence" 1 -- echo ran'
        folder = self.path.parent / "small"
        folder.mkdir()
        done = subprocess.run(["unshare", "--mount", "--map-root-user", "sh", "-c", script, "sh", folder, PADDOCK],
                              capture_output=True, text=True, timeout=60, check=False)
        if done.returncode in (1, 99) and "No space" not in done.stderr:
            self.skipTest(f"no file system can be mounted here: {done.stderr}")
        self.assertEqual((done.returncode, done.stdout), (70, ""), done.stderr)
        self.assertIn("No space left on device", done.stderr)


if __name__ == "__main__":
    unittest.main()
