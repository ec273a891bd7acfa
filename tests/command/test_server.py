#!/usr/bin/python3
"""`paddock server`: what it prints, what becomes of its command and its servers, and wrong input."""
import os
import pathlib
import pty
import re
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from bench import PADDOCK, PATIENCE, alive, children, wait_for


def answer(address, command=b"srvr"):
    host, port = address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), PATIENCE) as connection:
        connection.sendall(command)
        return b"".join(iter(lambda: connection.recv(4096), b"")).decode()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


class Server(unittest.TestCase):
    def run_it(self, *arguments, status=0, **more):
        done = subprocess.run([PADDOCK, "server", *map(str, arguments)], capture_output=True, text=True, timeout=90, check=False,
                              stdin=subprocess.DEVNULL, **more)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout, done.stderr

    def start(self, *arguments):
        """The process, the line that it prints once the servers serve, and their pids."""
        process = subprocess.Popen([PADDOCK, "server", *map(str, arguments)], stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdout.close)
        line = process.stdout.readline().rstrip("\n")
        return process, line, children(process.pid)

    def assert_gone(self, pids):
        wait_for("the servers are gone", lambda: not any(alive(pid) for pid in pids))

    def test_without_a_command(self):
        """It prints the connect string, and serves until a signal."""
        for number in (signal.SIGTERM, signal.SIGINT):
            begun = time.monotonic()
            process, hosts, servers = self.start()
            print(f"a server was ready after {time.monotonic() - begun:.2f} s")
            self.assertRegex(hosts, r"^127\.0\.0\.1:\d+$")
            self.assertEqual(len(servers), 1)
            self.assertIn("Mode: standalone", answer(hosts))
            process.send_signal(number)
            self.assertEqual(process.wait(PATIENCE), 0)
            self.assert_gone(servers)

    def test_an_ensemble(self):
        out, err = self.run_it("-v", "--ensemble", 3, "--tick", 200, "--", "sh", "-c", 'echo "$PADDOCK_SERVERS"; "$0" ls /', PADDOCK)
        hosts = out.splitlines()[0].split(",")
        self.assertEqual([host.split(":")[0] for host in hosts], ["127.0.0.1", "127.0.0.2", "127.0.0.3"])
        self.assertIn("directory", out)
        self.assertIn(out.splitlines()[0], err)

    def test_the_command(self):
        """Its status, its signals, its descriptors, its input; and the servers end with it."""
        out, err = self.run_it("sh", "-c", "echo $PADDOCK_SERVERS; ls /proc/$$/fd; exit 42", status=42)
        hosts, *descriptors = out.split()
        self.assertEqual((set(descriptors), err), ({"0", "1", "2"}, ""))
        self.assertRaises(OSError, answer, hosts)
        self.run_it("--", "sh", "-c", "kill -KILL $$", status=128 + signal.SIGKILL)
        self.run_it("--", "/no/such/command", status=127)
        self.run_it("--", "/", status=126)
        done = subprocess.run([PADDOCK, "server", "--", "cat"], input="asked", capture_output=True, text=True, timeout=90, check=True)
        self.assertEqual(done.stdout, "asked")

    def test_signals_are_passed_on(self):
        process, word, servers = self.start("sh", "-c", "trap 'exit 9' TERM; trap 'echo usr1' USR1; echo ready; while :; do sleep 0.05; done")
        self.assertEqual(word, "ready")
        process.send_signal(signal.SIGUSR1)
        self.assertEqual(process.stdout.readline(), "usr1\n")
        process.terminate()
        self.assertEqual(process.wait(PATIENCE), 9)
        self.assert_gone(servers)

    def test_a_terminal(self):
        """Ctrl-C is for the command alone, once: it finishes with its servers, and paddock after it."""
        script = "trap 'echo said; \"$0\" ls / >/dev/null && echo served; exit 5' INT; echo ready; while :; do sleep 0.05; done"
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(PADDOCK, [PADDOCK, "server", "--", "sh", "-c", script, PADDOCK])
        text = ""
        try:
            while chunk := os.read(terminal, 1000):
                text += chunk.decode()
                if "ready" in text and "^C" not in text:
                    os.write(terminal, b"\x03")
                    text += "^C"
        except OSError:
            pass  # the end of a terminal
        os.close(terminal)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 5, text)
        self.assertEqual((text.count("said"), text.count("served")), (1, 1), text)

    def test_nohup(self):
        """Signals that the caller has ignored end nothing."""
        process = subprocess.Popen(["nohup", PADDOCK, "server"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdout.close)
        hosts = process.stdout.readline().strip()
        process.send_signal(signal.SIGHUP)
        self.assertIn("standalone", answer(hosts))
        process.terminate()
        self.assertEqual(process.wait(PATIENCE), 0)

    def test_killed(self):
        """Nothing outlives it: neither the servers nor the command."""
        for command in ([], ["--", "sh", "-c", "echo $$; exec sleep 600"]):
            process, line, started = self.start("--ensemble", 3, *command)
            self.assertEqual(len(started), 3 + bool(command), line)
            process.kill()
            process.wait(PATIENCE)
            self.assert_gone(started)

    def test_a_server_that_ends(self):
        """It is said; without a server and a command there is nothing to wait for."""
        process = subprocess.Popen([PADDOCK, "server"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        hosts = process.stdout.readline().strip()
        os.kill(children(process.pid)[0], signal.SIGKILL)
        _, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 69)
        self.assertIn(f"the server at {hosts} has ended", err)

    def test_data_and_port(self):
        """Data in a folder stay, at the port that was asked for; two do not share either."""
        with tempfile.TemporaryDirectory(suffix=" \u00e9=#") as folder:
            port = free_port()
            options = ("--data", f"{folder}/data", "--port", port)
            out, _ = self.run_it(*options, "--", "sh", "-c", 'echo "$PADDOCK_SERVERS"; "$0" run /kept -- true', PADDOCK)
            self.assertEqual(out.strip(), f"127.0.0.1:{port}")
            process, _, _ = self.start(*options)
            with self.subTest("of two"):
                self.assertIn("other servers use it", self.run_it("--data", f"{folder}/data", status=69)[1])
                self.assertIn(f"port {port}", self.run_it("--port", port, status=69)[1])
            listed = subprocess.run([PADDOCK, "ls", "-s", f"127.0.0.1:{port}", "/"], capture_output=True, text=True, check=True, timeout=60)
            self.assertIn("/kept", listed.stdout)
            process.terminate()
            self.assertEqual(process.wait(PATIENCE), 0)
            self.assertTrue(pathlib.Path(folder, "data/node1/version-2").is_dir())

    def test_wrong_input(self):
        for arguments in (["--ensemble", 2], ["--ensemble", 0], ["--tick", 0], ["--tick", 60001], ["--tick", "x"], ["--port", -1],
                          ["--port", 65536], ["--no-such"]):
            out, err = self.run_it(*arguments, status=64)
            self.assertEqual(out, "")
            self.assertRegex(err, "^paddock: .*(possible|see --help)")
        out, err = self.run_it("--data", "/proc/none", status=69)
        self.assertIn("choose another folder", err)

    def test_nothing_installed(self):
        """What is missing is named, with the fix."""
        def without(**changed):
            return self.run_it(status=69, env=dict(os.environ, **changed))[1]
        self.assertIn("install default-jre-headless", without(PATH="/nonexistent"))
        self.assertRegex(without(PADDOCK_TEST_CLASSPATH="/no/such.jar"), "/no/such.jar .*install libzookeeper-java")
        empty = without(PADDOCK_TEST_CLASSPATH=os.environ["PDK_SOURCE"])
        self.assertTrue(re.search("ended at once; is .* all that it needs", empty) and "ClassNotFound" in empty, empty)

    def test_a_full_output(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([PADDOCK, "server"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=90, check=False)
        self.assertEqual(done.returncode, 70)
        self.assertIn("No space", done.stderr)


if __name__ == "__main__":
    unittest.main()
