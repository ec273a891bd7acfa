#!/usr/bin/python3
"""A script can believe the answer: each verb that may find a lock taken, with each status that its user may choose for that.

PDK_EVERY_STATUS=1 tries all 256. The everyday run tries those that the program itself knows, and the ends of the range."""
import os
import socket
import unittest

from bench import Case

KNOWN = (0, 1, 64, 69, 70, 75, 76, 77, 79, 80, 124, 126, 127, 128, 143, 255)
STATUSES = range(256) if os.environ.get("PDK_EVERY_STATUS") else KNOWN
COMMAND = ["--", "sh", "-c", "echo entered; exit 3"]


class Answer(Case):
    def taken(self, status, verb, *arguments, **more):
        """It ends with that status, has entered nothing and says nothing that a script could take for the lock."""
        out, err = self.paddock(status, verb, "-E", status, *arguments, **more)
        self.assertEqual(out, "", arguments)
        self.assertNotIn("lost", err, arguments)
        self.assertEqual(len(self.nodes()), 1)

    def notified(self, status):
        """What systemd hears of a `hold --notify` that finds the lock taken."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
            name = str(self.file(f"notify{status}"))
            heard.bind(name)
            heard.setblocking(False)
            self.taken(status, "hold", "-n", "--notify", self.path, env=dict(self.environment, NOTIFY_SOCKET=name))
            lines = []
            while True:
                try:
                    lines.append(heard.recv(4096).decode())
                except BlockingIOError:
                    return "\n".join(lines)

    def test_taken(self):
        holder = self.hold()
        for status in STATUSES:
            with self.subTest(status=status):
                self.taken(status, "run", "-n", self.path, *COMMAND)
                self.taken(status, "run", "-n", self.path + "-free", self.path, *COMMAND)
                self.taken(status, "hold", "-n", "--ready-fd", "1", self.path)
                self.taken(status, "wait", "-w", "0", self.path)
                self.assertNotIn("READY", self.notified(status))
        for status in (0, 75):
            self.taken(status, "run", "-w", "1", self.path, *COMMAND)
            self.taken(status, "hold", "-w", "1", "--ready-fd", "1", self.path)
        holder.terminate()
        self.finish(holder, 143)

    def test_free(self):
        """The choice says nothing of a lock that is free."""
        for status in STATUSES:
            with self.subTest(status=status):
                out, _ = self.paddock(3, "run", "-n", "-E", status, self.path, *COMMAND)
                self.assertEqual(out, "entered\n")
                out, _ = self.paddock(0, "hold", "-n", "-E", status, "--stdin", "--ready-fd", "1", self.path)
                self.assertRegex(out, r"^pdk1 /\S+ exclusive \d+ 0\n$")
                self.paddock(0, "wait", "-w", "0", "-E", status, self.path)
                self.assert_no_node()

    def test_of_the_command(self):
        """What the command ends with is its own, also where it is the status of a lock that is taken."""
        for status in STATUSES:
            with self.subTest(status=status):
                self.paddock(status, "run", "-E", 5, self.path, "--", "sh", "-c", f"exit {status}")


if __name__ == "__main__":
    unittest.main()
