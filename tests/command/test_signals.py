#!/usr/bin/python3
"""What the caller has the command ignore stays ignored, by it and by all that it starts: nohup(1), the background jobs of a shell,
and systemd's SIGPIPE."""
import os
import re
import signal
import socket
import subprocess
import time
import unittest

from bench import PADDOCK, Case, wait_for

LEFT = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD)
WORK = ["--", "sh", "-c", "echo ready; exec sleep 60"]
TELL = ["--", "grep", "^SigIgn", "/proc/self/status"]
PERIOD = ["--every", "1d", "--at-most", "1h"]


def ignoring(numbers):
    def set_up():
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)
    return set_up


class Signals(Case):
    def goes_on(self, number, process):
        process.send_signal(number)
        time.sleep(0.1)
        self.assertIsNone(process.poll())
        process.terminate()
        process.communicate(timeout=20)

    def test_stays_ignored(self):
        """With a line of output, they hold, lead, run, serve or look."""
        for number in (signal.SIGHUP, signal.SIGINT):
            for arguments in (["hold", "/hold", "--ready-fd", "1"], ["run", "/run", *WORK], ["elect", "/elect", *WORK],
                              ["job", f"/job{number}", *PERIOD, *WORK], ["server"], ["watch", "--json", "/watch"]):
                with self.subTest(number=number, verb=arguments[0]):
                    process = self.start(*arguments, preexec_fn=ignoring([number]))
                    self.assertNotEqual(process.stdout.readline(), "")
                    self.goes_on(number, process)

    def test_in_a_queue(self):
        """A candidate with kazoo's names waits for a lock; another one stands beside it, and is refused."""
        self.hold()
        for arguments in (["hold", self.path], ["run", self.path, *WORK], ["elect", "--naming", "kazoo", self.path, *WORK]):
            with self.subTest(verb=arguments[0]):
                process = self.start(*arguments, preexec_fn=ignoring([signal.SIGHUP]))
                wait_for("its node", lambda: len(self.nodes()) == 2)
                self.goes_on(signal.SIGHUP, process)

    def test_a_background_job(self):
        """A shell without job control has its background jobs ignore INT and QUIT."""
        script = f"{PADDOCK} hold {self.path} --ready-fd 1 & echo $!; wait $!"
        shell = subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, text=True, env=self.environment)
        job = int(shell.stdout.readline())
        self.assertNotEqual(shell.stdout.readline(), "")
        for number in (signal.SIGINT, signal.SIGQUIT):
            os.kill(job, number)
        time.sleep(0.1)
        self.assertEqual(len(self.nodes()), 1)
        os.kill(job, signal.SIGTERM)
        shell.communicate(timeout=20)
        self.assertEqual(shell.returncode, 0)

    def test_while_a_chroot_is_looked_for(self):
        """The server takes the connection, and says nothing. Nothing of the program is left, since its pipes end."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            for verb, *rest in (["hold"], ["run", *WORK], ["elect", *WORK], ["job", *WORK]):
                for number in (signal.SIGTERM, signal.SIGINT):
                    with self.subTest(verb=verb, number=number):
                        process = self.start(verb, "--no-create", "-s", f"127.0.0.1:{server.getsockname()[1]}/a", "--connect-timeout", "60",
                                             self.path, *rest)
                        with server.accept()[0]:
                            process.send_signal(number)
                            process.communicate(timeout=20)
                        self.assertIn(process.returncode, (128 + number, -number))

    def test_handed_on(self):
        for left in ([], LEFT, [signal.SIGPIPE], [signal.SIGCHLD]):
            for arguments in (["run", self.path], ["elect", self.path + "-elect", "--max-hold", "1", "--on-elected", "exit 0"],
                              ["job", f"{self.path}-job{len(left)}{sum(left)}", *PERIOD], ["fence", "--create", self.file("fence"), "1"], ["server"]):
                with self.subTest(left=left, verb=arguments[0]):
                    process = self.start(*arguments, *TELL, preexec_fn=ignoring(left))
                    mask = int(re.search(r"SigIgn:\s*([0-9a-f]+)", process.stdout.readline())[1], 16)
                    self.assertEqual({n for n in LEFT if mask >> (n - 1) & 1}, set(left))
                    process.terminate()
                    process.communicate(timeout=20)


if __name__ == "__main__":
    unittest.main()
