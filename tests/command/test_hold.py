#!/usr/bin/python3
"""`paddock hold` on a real server: what begins it, what ends it, and what systemd hears."""
import os
import resource
import signal
import socket
import subprocess
import time
import unittest

from bench import PADDOCK, SLACK, Case, alive, children, wait_for


class Hold(Case):
    def begin(self, *options, **more):
        """A holder, and the end of a pipe from which its sequencer was read."""
        reading, writing = os.pipe()
        process = self.start("hold", self.path, "--session-timeout", 2, "--ready-fd", writing, *options, pass_fds=[writing], **more)
        os.close(writing)
        reader = os.fdopen(reading, encoding="utf-8")
        self.addCleanup(reader.close)
        self.assertRegex(reader.readline(), rf"^pdk1 {self.path}/\S+ exclusive \d+ 0\n$")
        return process, reader

    def test_several(self):
        reading, writing = os.pipe()
        process = self.start("hold", self.path + "/b", self.path + "/a", "--ready-fd", writing, pass_fds=[writing])
        os.close(writing)
        with os.fdopen(reading, encoding="utf-8") as reader:
            for name in "ba":
                self.assertRegex(reader.readline(), rf"^pdk1 {self.path}/{name}/\S+ exclusive \d+ 0\n$")
                self.paddock(75, "hold", "-n", f"{self.path}/{name}")
            process.terminate()
            self.finish(process, 0)
            self.assertEqual(reader.read(), "")

    def test_signals_end_it(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            process, reader = self.begin()
            self.assertEqual(len(self.nodes()), 1)
            self.paddock(75, "hold", "-n", self.path)
            process.send_signal(number)
            self.finish(process, 0)
            self.assertEqual(reader.read(), "")
            self.assert_no_node()

    def test_what_it_says(self):
        """Each step, and why it lets go; nothing with -q."""
        first = self.start("hold", self.path)
        self.assertRegex(first.stderr.readline(), rf"^paddock: holding {self.path}, token \d+\n$")
        second = self.start("hold", "--stdin", self.path, stdin=subprocess.PIPE)
        self.assertEqual(second.stderr.readline(), f"paddock: waiting for {self.path}, 1 ahead\n")
        quiet = self.start("hold", "-q", self.path)
        wait_for("three in the queue", lambda: len(self.nodes()) == 3)
        first.terminate()
        self.assertEqual(self.finish(first, 0)[1], f"paddock: releasing {self.path}: TERM\n")
        self.assertRegex(second.stderr.readline(), rf"^paddock: holding {self.path}, token \d+\n$")
        self.assertEqual(self.finish(second, 0)[1], f"paddock: releasing {self.path}: standard input has ended\n")
        wait_for("the third", lambda: len(self.nodes()) == 1)
        several = self.start("hold", self.path + "-b", self.path)
        self.assertEqual(several.stderr.readline(), f"paddock: waiting for {self.path}-b, {self.path}\n")
        quiet.terminate()
        self.assertEqual(self.finish(quiet, 0), ("", ""))
        for path in (self.path + "-b", self.path):
            self.assertRegex(several.stderr.readline(), rf"^paddock: holding {path}, token \d+\n$")

    def test_the_release_waits_for_no_guardian(self):
        process, _ = self.begin()
        guardian, = children(process.pid)
        os.kill(guardian, signal.SIGSTOP)
        self.addCleanup(lambda: alive(guardian) and os.kill(guardian, signal.SIGCONT))
        process.terminate()
        wait_for("the release", lambda: not self.nodes())
        os.kill(guardian, signal.SIGCONT)
        self.finish(process, 0)

    def test_signals_while_queued(self):
        process, _ = self.begin()
        second = self.start("hold", self.path)
        wait_for("the second in the queue", lambda: len(self.nodes()) == 2)
        second.terminate()
        self.finish(second, 143)
        self.assertEqual(len(self.nodes()), 1)
        process.terminate()
        self.finish(process, 0)

    def test_the_reader_goes(self):
        process, reader = self.begin()
        time.sleep(0.2)
        self.assertIsNone(process.poll())
        reader.close()
        self.finish(process, 0)
        self.assert_no_node()

    def test_a_reader_that_takes_nothing(self):
        """A file on a disk that is full: what fits is written once, the rest ends the hold, and is no success."""
        with open("/dev/full", "wb") as full:
            process = self.start("hold", "--ready-fd", full.fileno(), self.path, pass_fds=[full.fileno()])
        _, err = self.finish(process, 70)
        self.assertIn("No space left", err)
        self.assert_no_node()
        with self.file("ready").open("wb") as ready:
            process = self.start("hold", "--ready-fd", ready.fileno(), self.path, pass_fds=[ready.fileno()],
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10)))
        self.finish(process, 70)
        self.assertEqual(self.file("ready").read_text(), f"pdk1 {self.path}"[:10])
        self.assert_no_node()

    def test_input_ends(self):
        process, _ = self.begin("--stdin", stdin=subprocess.PIPE)
        process.stdin.write("ignored\n")
        process.stdin.flush()
        time.sleep(0.2)
        self.assertIsNone(process.poll())
        process.stdin.close()
        process.stdin = None
        self.finish(process, 0)
        self.assert_no_node()

    def test_a_descriptor_of_a_shell(self):
        """The lock lasts as long as the shell keeps the descriptor."""
        script = f'exec {{lock}}< <(exec "$0" hold --ready-fd 1 {self.path}); read -r sequencer <&"$lock"; ' \
                 f'"$0" hold -n {self.path}; echo "$? $sequencer"; exec {{lock}}<&-; exec "$0" run -w 10 {self.path} -- true'
        process = subprocess.run(["bash", "-c", script, PADDOCK], env=self.environment, capture_output=True, text=True, timeout=30)
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertRegex(process.stdout, "^75 pdk1 ")

    def test_lost(self):
        for how in ("node", "cut"):
            self.environment["PADDOCK_SERVERS"] = self.server.link
            process, reader = self.begin()
            if how == "node":
                self.server.client.delete(f"{self.path}/{self.nodes()[0]}")
            else:
                self.server.order("cut victim")
            self.assertEqual(reader.read(), "")
            if how == "cut":
                self.server.order("heal victim")
            _, err = self.finish(process, 76)
            self.assertIn("is lost", err)
            wait_for("no node", lambda: not self.nodes())

    def test_systemd(self):
        for name in (str(self.file("notify")), f"\0paddock-test-{os.getpid()}"):
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            self.addCleanup(listener.close)
            listener.settimeout(10)
            listener.bind(name)
            self.environment.update(NOTIFY_SOCKET=name.replace("\0", "@"), WATCHDOG_USEC="200000")
            process, _ = self.begin("--notify")
            heard = []
            while len(heard) < 5:
                heard.append(listener.recv(1000).decode())
            self.assertEqual(heard[0], "STATUS=waiting for the lock")
            self.assertRegex(heard[1], rf"^READY=1\nSTATUS=holding {self.path}, token \d+$")
            self.assertEqual(heard[2:], ["WATCHDOG=1"] * 3)
            process.terminate()
            self.finish(process, 0)
            while heard[-1] == "WATCHDOG=1":
                heard.append(listener.recv(1000).decode())
            self.assertEqual(heard[-1], "STOPPING=1")

    def test_killed(self):
        """kill -9: the reader sees the end at once. The lock lasts until the reader has closed its end, too, or the session expires."""
        for also in ([], ["--stdin"]):
            process, reader = self.begin("--session-timeout", 20, *also, stdin=subprocess.PIPE)
            process.kill()
            process.wait()
            self.assertEqual(reader.read(), "")
            time.sleep(0.5)
            self.assertEqual(len(self.nodes()), 1)
            if also:
                process.stdin.close()
            else:
                reader.close()
            process.stdin = None if also else process.stdin
            wait_for("no node", lambda: not self.nodes(), 8 * SLACK)

    def test_killed_with_other_copies(self):
        """kill -9: whoever has the pipe more than once sees the end at once, too: a descriptor that the script left open, and that of the words."""
        self.file("digest").write_text("user:password\n")
        self.file("digest").chmod(0o644)  # a warning
        for quiet in (True, False):
            read, write = os.pipe()
            more = os.dup(write)
            other = {"stderr": subprocess.DEVNULL, "pass_fds": (write, more)} if quiet else {"stderr": write, "pass_fds": (write,)}
            process = self.start("hold", "--digest-file", self.file("digest"), "--session-timeout", 20, "--ready-fd", write, self.path, **other)
            os.close(write)
            os.close(more)
            with open(read, encoding="utf-8") as reader:
                wait_for("the sequencer", lambda: reader.readline().startswith("pdk1 "))
                process.kill()
                now = time.monotonic()
                reader.read()
                self.assertLess(time.monotonic() - now, 8)
                self.assertEqual(len(self.nodes()), 1)
            wait_for("no node", lambda: not self.nodes(), 8 * SLACK)

    def test_killed_with_its_script(self):
        script = f'exec {{lock}}< <(exec "$0" hold --ready-fd 1 --session-timeout 20 {self.path}); read -r sequencer <&"$lock"; echo $! $sequencer; sleep 60'
        process = subprocess.Popen(["bash", "-c", script, PADDOCK], env=self.environment, stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(self.end, process)
        self.assertRegex(process.stdout.readline(), r"^\d+ pdk1 ")
        os.killpg(process.pid, signal.SIGKILL)
        self.assertEqual(process.stdout.read(), "")
        wait_for("no node", lambda: not self.nodes(), 8 * SLACK)

    def test_killed_without_a_reader(self):
        """Nobody can tell when the work under it is over: the session expires."""
        process = self.start("hold", "--session-timeout", 2, self.path)
        wait_for("it", self.nodes)
        process.kill()
        time.sleep(0.5)
        self.assertEqual(len(self.nodes()), 1)
        wait_for("no node", lambda: not self.nodes())

    def test_a_daemon_that_outlives_the_lock(self):
        """As flock -o: started under the lock, which goes while it runs on."""
        daemon = f"setsid sh -c 'echo $$ > {self.file('daemon')}; exec sleep 60' > /dev/null 2>&1 < /dev/null {{lock}}<&- &"
        script = f'exec {{lock}}< <(exec "$0" hold --ready-fd 1 {self.path}); read -r sequencer <&"$lock" || exit; {daemon} ' \
                 f'while [ ! -s {self.file("daemon")} ]; do sleep 0.01; done; exec {{lock}}<&-; exec "$0" run -w 10 {self.path} -- true'
        subprocess.run(["bash", "-c", script, PADDOCK], env=self.environment, capture_output=True, timeout=30, check=True)
        self.assertTrue(alive(self.number("daemon")))
        os.kill(self.number("daemon"), signal.SIGKILL)
        self.assert_no_node()

    def test_usage(self):
        for arguments in ([], [self.path, "more"], ["--on-ask=term", self.path, "/other"], ["relative"], [self.path, "--ready-fd", "77"], [self.path, "--notify"]):
            _, err = self.paddock(64, "hold", *arguments)
            self.assertIn("paddock: ", err)
        self.environment["NOTIFY_SOCKET"] = str(self.file("nobody"))
        self.paddock(64, "hold", self.path, "--notify")
        self.paddock(69, "hold", self.path, "-s", "127.0.0.1:1", "--connect-timeout", "0.2")


if __name__ == "__main__":
    unittest.main()
