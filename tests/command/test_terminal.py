#!/usr/bin/python3
"""What a terminal gets: nothing that others wrote acts on it; what its keys do; and what happens when it goes away."""
import fcntl
import os
import pty
import re
import select
import signal
import socket
import struct
import termios
import time
import unicodedata
import unittest

from bench import PADDOCK, PATIENCE, Case, alive, state, wait_for

# Escape sequences, a new line, C1, right-to-left, separators, no UTF-8, a backslash.
HOSTILE = b"\x1b]0;owned\x07\x1b[2J\x1b[?1049h\nfake\r\x7f \xc2\x9b31m \xe2\x80\xaegnp \xe2\x80\xa8 \xf3\xa0\x80\x81 \xff\xfe\xc0\x80 \\x41"
NAME = "\u202egnp \u2028\u200b\u00ad\\x1b[2J"  # what ZooKeeper lets into a name
CTRL_C, CTRL_Z = b"\x03", b"\x1a"
DRAWN = ("\x1b[H", "\x1b[J", "\x1b[?7l", "\x1b[?7h")  # by `watch` itself


class Terminal(Case):
    def begin(self, *arguments):
        """paddock on a terminal of its own, as the leader of its session: its pid, and our side."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(PADDOCK, ["paddock", *map(str, arguments)], self.environment)
        self.addCleanup(self.reap, pid)
        return pid, terminal

    @staticmethod
    def reap(pid):
        try:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass

    @staticmethod
    def read(terminal, until=b""):
        """What it gets until those bytes, or until its end."""
        seen, end = b"", time.monotonic() + PATIENCE
        found = until.search if isinstance(until, re.Pattern) else lambda text: until and until in text
        while not found(seen) and select.select([terminal], [], [], max(0, end - time.monotonic()))[0]:
            try:
                seen += os.read(terminal, 65536)
            except OSError:
                break
        return seen

    def status(self, pid):
        found = wait_for("its end", lambda: (result := os.waitpid(pid, os.WNOHANG))[0] and result)
        return os.waitstatus_to_exitcode(found[1])


class Hostile(Terminal):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for number, data in enumerate((HOSTILE, b"\x1b" * 1000000)):  # ZooKeeper takes no more than 1 MiB
            cls.node("/hostile/lock", f"_c_00000000-0000-0000-0000-000000000000-lock-{number:010}", data)
        cls.node("/hostile/election", "_c_00000000-0000-0000-0000-000000000000-latch-0000000001", HOSTILE)
        cls.node(f"/hostile/{NAME}", "_c_00000000-0000-0000-0000-000000000000-lock-0000000001", HOSTILE)
        cls.token = cls.node("/hostile/gone", "_c_00000000-0000-4000-8000-000000000000-lock-0000000001", HOSTILE)

    @classmethod
    def node(cls, path, name, data):
        cls.server.client.ensure_path(path)
        return cls.server.client.exists(cls.server.client.create(f"{path}/{name}", data, ephemeral=True)).czxid

    def assert_harmless(self, seen, drawn=()):
        text = seen.decode()  # it is UTF-8
        for sequence in drawn:
            text = text.replace(sequence, "")
        bad = {c for c in text.replace("\r\n", "") if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs", "Co", "Cn")}
        self.assertEqual(bad, set(), text[:2000])

    def look(self, status, *arguments):
        pid, terminal = self.begin(*arguments)
        seen = self.read(terminal)
        os.close(terminal)
        self.assertEqual(self.status(pid), status, seen)
        self.assert_harmless(seen)
        return seen.decode()

    def test_data_and_names(self):
        for path in ("/hostile/lock", "/hostile/election", f"/hostile/{NAME}"):
            for options in ([], ["--json"]):
                seen = self.look(0, "show", *options, path)
                self.assertIn("owned", seen)
                self.assertLess(len(seen), 20000)
        for verb in ("ls", "top"):
            for options in (["--once"] if verb == "top" else [], ["--json"]):
                self.assertIn("gnp", self.look(0, verb, *options, "/hostile"))
        self.assertIn("owned", self.look(0, "break", "--token", self.token, "/hostile/gone/_c_00000000-0000-4000-8000-000000000000-lock-0000000001"))

    def test_live(self):
        for arguments, drawn in ((("watch", "/hostile/lock"), DRAWN), (("watch", "--json", "/hostile/lock"), ()), (("top", "/hostile"), DRAWN),
                                 (("elect", "--observe", "/hostile/election"), ()), (("elect", "--observe", "--json", "/hostile/election"), ())):
            pid, terminal = self.begin(*arguments)
            seen = self.read(terminal, until=b"owned")
            os.kill(pid, signal.SIGTERM)
            seen += self.read(terminal)
            os.close(terminal)
            self.assertEqual(self.status(pid), 0)
            self.assertIn(b"owned", seen)
            self.assert_harmless(seen, drawn)

    def test_arguments(self):
        """What is said about the user's own words does no harm either: they may come from a file name."""
        words = HOSTILE.decode(errors="surrogateescape").replace("\0", "")
        for arguments in (("run", words, "--", "true"), ("run", "/a" + words, "--", "true"), ("show", "/" + words), ("ls", "/" + words),
                          ("show", "-s", words, "/a"), ("run", "--config", words, "/a", "--", "true"), (words,), ("check", words),
                          ("run", "--" + words, "/a", "--", "true"), ("fence", "/" + words, words, "--", "true"),
                          ("elect", "--listen", words, "/a", "--", "true"), ("run", "--slots", words, "/a", "--", "true")):
            self.look(64, *(os.fsencode(argument).decode(errors="surrogateescape") for argument in arguments))
        self.assertIn("owned", self.look(127, "run", "/hostile/mine", "--", "/no/" + words))


class Waiting(Terminal):
    @staticmethod
    def widen(terminal, columns):
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    @staticmethod
    def drawn(seen):
        return [line for line in re.findall(rb"\r\x1b\[K([^\r]*)", seen) if line]

    def test_the_line(self):
        """What a wait is for, after 2 s: on one line, no wider than the terminal, that is gone when the wait is over."""
        self.environment["TERM"] = "xterm"
        holder = self.hold("--label", "me")
        others = {"wide": [], "narrow": [], "quiet": ["-q"]}
        begun = {name: self.begin("run", *options, self.path, "--", "echo", "entered") for name, options in others.items()}
        self.widen(begun["wide"][1], 300)
        self.widen(begun["narrow"][1], 40)
        wait_for("four in the queue", lambda: len(self.nodes()) == 4)
        seen = {name: self.read(begun[name][1], until=b" s, " if name == "wide" else b"waiting for") for name in ("wide", "narrow")}
        holder.terminate()
        for name, (pid, terminal) in begun.items():
            seen[name] = seen.get(name, b"") + self.read(terminal, until=b"entered\r\n")
            self.assertEqual(self.status(pid), 0)
            os.close(terminal)
        lines = "\n".join(line.decode() for line in self.drawn(seen["wide"]))
        self.assertRegex(lines, rf"(?m)^waiting for {self.path}: held by {socket.gethostname()}:{holder.pid}:me for \d+ s, [123] ahead$")
        self.assertTrue(self.drawn(seen["narrow"]))
        self.assertEqual([line for line in self.drawn(seen["narrow"]) if len(line) > 39], [])
        for name in ("wide", "narrow"):
            self.assertTrue(seen[name].endswith(b"\r\x1b[Kentered\r\n"), seen[name])
        self.assertEqual(seen["quiet"], b"entered\r\n")
        self.finish(holder, 143)

    def test_the_line_of_others(self):
        """Of permits, of several paths, and of a verb that stands in no queue."""
        self.environment["TERM"] = "xterm"
        slots, several = self.path + "-s", self.path + "-several"
        holders = [self.hold("--slots", "2", "--label", name, path=slots) for name in "ab"] + [self.hold(path=several)]
        waits = ((["run", "--slots", "2", slots, "--", "true"], rf"{slots}: held by \S+:\d+:[ab] and 1 more for \d+ s"),
                 (["run", self.path + "-free", several, "--", "true"],
                  rf"{self.path}-free, {several}: {several} is held by \S+:{holders[2].pid} for \d+ s, 1 ahead"),
                 (["wait", several], rf"{several}: held by \S+:{holders[2].pid} for \d+ s, [12] ahead"))
        begun = [(self.begin(*arguments), line) for arguments, line in waits]
        for (_, terminal), _ in begun:
            self.widen(terminal, 300)
        seen = [self.read(terminal, until=b"held by") for (_, terminal), _ in begun]
        for holder in holders:
            holder.terminate()
            self.finish(holder, 143)
        for before, ((pid, terminal), line) in zip(seen, begun):
            all_of_it = before + self.read(terminal)
            os.close(terminal)
            self.assertEqual(self.status(pid), 0, all_of_it)
            self.assertRegex("\n".join(each.decode() for each in self.drawn(all_of_it)), rf"(?m)^waiting for {line}$")
            self.assertTrue(all_of_it.endswith(b"\r\x1b[K"), all_of_it)

    def test_taken(self):
        """Somebody who sits at a terminal is told; a script has the status."""
        holder = self.hold()
        pid, terminal = self.begin("run", "-n", self.path, "--", "true")
        self.assertEqual(self.read(terminal), f"paddock: {self.path} is not free\r\n".encode())
        self.assertEqual(self.status(pid), 75)
        os.close(terminal)
        self.assertEqual(self.paddock(75, "run", "-n", self.path, "--", "true"), ("", ""))
        holder.terminate()
        self.finish(holder, 143)


class Keys(Terminal):
    """Keys of the terminal; and it goes away: its session gets HUP, as when a connection of ssh ends."""

    SLEEPS = ("sh", "-c", "echo the-command $$; exec sleep 60")

    def begin_command(self, *options, verb="run"):
        """paddock, our side of its terminal, and the command's pid."""
        pid, terminal = self.begin(verb, *options, self.path, "--", *self.SLEEPS)
        return pid, terminal, self.command_of(terminal)

    def command_of(self, terminal):
        return int(re.search(rb"the-command (\d+)\r\n", self.read(terminal, until=re.compile(rb"the-command \d+\r\n")))[1])

    def until(self, terminal, words):
        self.assertIn(words, self.read(terminal, until=words))

    def press(self, terminal, key, words):
        os.write(terminal, key)
        self.until(terminal, words)

    def test_ctrl_z(self):
        """It is refused with a line, again and again, and the command goes on; Ctrl-C ends it."""
        for verb, *options in (["run"], ["elect"], ["job", "--every", "1d", "--at-most", "1h"]):
            self.path += verb
            pid, terminal, command = self.begin_command(*options, verb=verb)
            for _ in range(2):
                self.press(terminal, CTRL_Z, b"Ctrl-Z is refused: the command holds " + self.path.encode())
                wait_for("a running command", lambda: state(command) == "S")
            os.write(terminal, CTRL_C)
            self.assertEqual(self.status(pid), 128 + signal.SIGINT)
            os.close(terminal)
            self.assert_no_node(self.path + "/lock" if verb == "job" else self.path)

    def test_ctrl_z_in_a_queue(self):
        """It stops as any program does, under a shell. Here is none, so it is refused."""
        holder = self.hold()
        pid, terminal = self.begin("run", self.path, "--", "true")
        wait_for("the second in the queue", lambda: len(self.nodes()) == 2)
        self.press(terminal, CTRL_Z, b"Ctrl-Z is refused: no shell is there")
        os.write(terminal, CTRL_C)
        self.assertEqual(self.status(pid), 128 + signal.SIGINT)
        os.close(terminal)
        holder.terminate()
        self.finish(holder, 143)

    def test_ctrl_z_of_a_hold(self):
        pid, terminal = self.begin("hold", "--ready-fd", 1, self.path)
        self.assertTrue(self.read(terminal, until=b"\r\n"))
        self.press(terminal, CTRL_Z, b"Ctrl-Z is refused: " + self.path.encode())
        self.assertEqual(len(self.nodes()), 1)
        os.write(terminal, CTRL_C)
        self.assertEqual(self.status(pid), 0)
        os.close(terminal)

    def test_a_command_that_was_stopped(self):
        """By STOP from elsewhere it stands still, and the terminal is paddock's: Ctrl-Z continues it, and Ctrl-C ends it."""
        pid, terminal, command = self.begin_command()
        for key in (CTRL_Z, CTRL_C):
            os.kill(command, signal.SIGSTOP)
            words = b"the command is stopped, and holds %s: kill -CONT %d continues it\r\n" % (self.path.encode(), pid)
            self.assertIn(words, self.read(terminal, until=words))
            self.assertEqual(state(command), "T")
            os.write(terminal, key)
            wait_for("its end, or that it goes on", lambda: state(command) != "T")
        self.assertEqual(self.status(pid), 128 + signal.SIGINT)
        os.close(terminal)

    def test_stops_without_end(self):
        """A command that stops itself again and again is told each time, and a paddock that stands still reads none of that: the
        guardian ends the command in time all the same."""
        pid, terminal = self.begin("run", "--session-timeout", 2, self.path, "--", "sh", "-c",
                                   "echo the-command $$; trap '' TERM; while :; do kill -TSTP $$; done")
        command = self.command_of(terminal)
        os.kill(pid, signal.SIGSTOP)
        self.paddock(0, "run", self.path, "--", "true")
        self.assertFalse(alive(command))
        os.kill(pid, signal.SIGCONT)
        os.close(terminal)
        self.assertEqual(self.status(pid), 76)

    def begin_shell(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve("/bin/bash", ["bash", "--norc", "--noediting", "-i"], dict(self.environment, PS1="", HISTFILE=""))
        self.addCleanup(self.reap, pid)
        return pid, terminal

    def test_foreground(self):
        """A job of a shell that wants the terminal in the background stands still until fg, for which a shell that takes the job for
        running sends no signal."""
        pid, terminal = self.begin_shell()
        os.write(terminal, f"{PADDOCK} run {self.path} -- sh -c 'read word; echo we have $word' &\n".encode())
        words = b"the command wants the terminal, and stands still until it is in the foreground (fg)"
        self.assertIn(words, self.read(terminal, until=words))
        os.write(terminal, b"fg\n")
        self.read(terminal, until=b"run")
        os.write(terminal, b"plenty\n")
        self.assertIn(b"we have plenty\r\n", self.read(terminal, until=b"we have plenty\r\n"))
        os.write(terminal, b"exit\n")
        self.status(pid)
        os.close(terminal)
        self.assert_no_node()

    def test_foreground_while_suspended(self):
        """fg does not continue what stands still for the connection; the connection does."""
        self.environment["PADDOCK_SERVERS"] = self.server.link
        pid, terminal = self.begin_shell()
        os.write(terminal, f"{PADDOCK} run --session-timeout 8 --on-suspend=stop {self.path} -- "
                           f"sh -c 'echo $$ > {self.file('pid')}; read word; echo we have $word' &\n".encode())
        self.until(terminal, b"stands still until it is in the foreground (fg)")
        self.server.order("reset victim")
        self.until(terminal, b"the command is stopped until it is back")
        os.write(terminal, b"fg\n")
        time.sleep(0.5)
        self.assertEqual(state(self.number("pid")), "T")
        self.server.order("heal victim")
        self.until(terminal, b"the command goes on")
        os.write(terminal, b"plenty\n")
        self.until(terminal, b"we have plenty\r\n")
        os.write(terminal, b"exit\n")
        self.status(pid)
        os.close(terminal)
        self.assert_no_node()

    def test_the_terminal_that_it_wants_goes(self):
        """Nobody can bring it to the foreground any more. It goes on, and its read fails."""
        pid, terminal = self.begin_shell()
        os.write(terminal, f"nohup {PADDOCK} run {self.path} -- sh -c 'read word </dev/tty' 2>{self.file('words')} >&2 &\n".encode())
        wait_for("a command that wants the terminal", lambda: self.file("words").exists() and "(fg)" in self.file("words").read_text())
        self.assertEqual(len(self.nodes()), 1)
        os.close(terminal)
        self.reap(pid)
        wait_for("no node", lambda: not self.nodes())

    def test_ctrl_z_after_a_tstp(self):
        """TSTP to paddock, which its command survives, is no order for a Ctrl-Z later on."""
        pid, terminal = self.begin("run", self.path, "--", "sh", "-c",
                                   "trap 'echo survived' TSTP; echo the-command $$; until read word; do :; done; trap - TSTP; echo as before; "
                                   "exec sleep 60")
        command = self.command_of(terminal)
        os.kill(pid, signal.SIGTSTP)
        self.until(terminal, b"survived")
        time.sleep(1.1)
        os.write(terminal, b"\n")
        self.until(terminal, b"as before")
        self.press(terminal, CTRL_Z, b"Ctrl-Z is refused: the command holds " + self.path.encode())
        wait_for("a running command", lambda: state(command) == "S")
        os.write(terminal, CTRL_C)
        self.assertEqual(self.status(pid), 128 + signal.SIGINT)
        os.close(terminal)

    def test_running(self):
        pid, terminal = self.begin("run", self.path, "--", "sh", "-c", f"echo $$ > {self.file('pid')}; sleep 60 & wait")
        command = self.number("pid")
        os.close(terminal)
        self.assertEqual(self.status(pid), 128 + signal.SIGHUP)
        self.assertFalse(alive(command))
        self.assert_no_node()

    def test_a_command_that_goes_on(self):
        """It ignores HUP, and keeps the lock; TERM ends it. What is said meanwhile goes nowhere, and does no harm."""
        pid, terminal = self.begin("run", "-v", "--timing", self.path, "--", "sh", "-c",
                                   f"trap '' HUP; echo $$ > {self.file('pid')}; while :; do sleep 0.05; echo x; done")
        command = self.number("pid")
        os.close(terminal)
        self.assertEqual(len(self.nodes()), 1)
        self.assertEqual((os.waitpid(pid, os.WNOHANG)[0], alive(command)), (0, True))
        os.kill(pid, signal.SIGTERM)
        self.assertEqual(self.status(pid), 128 + signal.SIGTERM)
        self.assertFalse(alive(command))
        self.assert_no_node()

    def test_queued(self):
        holder = self.hold()
        pid, terminal = self.begin("run", self.path, "--", "true")
        wait_for("the second in the queue", lambda: len(self.nodes()) == 2)
        os.close(terminal)
        self.assertEqual(self.status(pid), 128 + signal.SIGHUP)
        self.assertEqual(len(self.nodes()), 1)
        holder.terminate()
        self.finish(holder, 143)

    def test_without_a_command(self):
        ready, written = os.pipe()
        os.set_inheritable(written, True)
        for arguments, status in ((["hold", "--ready-fd", written, self.path], 0), (["watch", self.path], 0),
                                  (["elect", "--observe", self.path], 0),
                                  (["elect", self.path, "--", "sh", "-c", "echo ready; exec sleep 60"], 128 + signal.SIGHUP)):
            pid, terminal = self.begin(*arguments)
            self.assertTrue(os.read(ready if arguments[0] == "hold" else terminal, 100))  # in line alone, HUP is a failure
            os.close(terminal)
            self.assertEqual(self.status(pid), status, arguments)
            self.assert_no_node()
        os.close(ready)
        os.close(written)


if __name__ == "__main__":
    unittest.main()
