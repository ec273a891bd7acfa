#!/usr/bin/python3
"""`paddock run` on a real server: exit statuses, signals, the child's surroundings."""
import os
import pty
import signal
import socket
import subprocess
import time
import unittest

from kazoo.security import make_digest_acl
from bench import PADDOCK, PATIENCE, Case, alive, state, wait_for


class Statuses(Case):
    def test_of_the_command(self):
        for status in (0, 1, 42, 255):
            self.paddock(status, "run", self.path, "--", "sh", "-c", f"exit {status}")
            self.assert_no_node()

    def test_of_a_command_that_a_signal_ended(self):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV):
            self.paddock(128 + number, "run", self.path, "--", "sh", "-c", f"kill -{int(number)} $$")
            self.assert_no_node()

    def test_busy(self):
        holder = self.hold()
        self.paddock(75, "run", "-n", self.path, "--", "true")
        self.paddock(75, "run", "--try", self.path, "--", "true")
        self.paddock(9, "run", "-n", "-E", "9", self.path, "--", "true")
        start = time.monotonic()
        self.paddock(75, "run", "-w", "0.3", self.path, "--", "true")
        self.assertGreaterEqual(time.monotonic() - start, 0.3)
        self.assertEqual(len(self.nodes()), 1)
        holder.terminate()
        self.finish(holder, 128 + signal.SIGTERM)
        self.assert_no_node()

    def test_habits_of_flock(self):
        holder = self.hold()
        for option in ("-n", "--nb", "--nonblock", "-xn", "-en"):
            self.paddock(75, "run", option, self.path, "--", "true")
        start = time.monotonic()
        self.paddock(3, "run", "--timeout", "300ms", "-E", "3", self.path, "-c", "true")
        self.assertGreaterEqual(time.monotonic() - start, 0.3)
        holder.terminate()
        self.finish(holder, 128 + signal.SIGTERM)
        out, _ = self.paddock(4, "run", self.path, "-c", "echo $PADDOCK_PATH | tr l L; exit 4", env=dict(self.environment, SHELL="/usr/sbin/nologin"))
        self.assertEqual(out, self.path.replace("l", "L") + "\n")
        self.paddock(0, "run", "-x", "--command=", self.path)
        leader = self.start("elect", self.path + "-e", "-c", "echo ready; exec sleep 60")
        self.assertEqual(leader.stdout.readline(), "ready\n")
        leader.terminate()
        self.finish(leader, 128 + signal.SIGTERM)
        self.paddock(5, "job", self.path + "-j", "-c", "exit 5")
        for arguments in (["-c", "true", "--", "true"], ["-c"], ["-x", "--shared", "-c", "true"], ["-e", "--slots", "2", "-c", "true"]):
            self.assertIn("paddock: ", self.paddock(64, "run", self.path, *arguments)[1])

    def test_inside_itself(self):
        """A command that asks for what its own paddock holds would wait for itself; only for that."""
        for outer, inner in (("run", "run"), ("run", "hold"), ("elect", "elect")):
            rest = ["--", "true"] if inner != "hold" else []
            script = f'timeout 15 "$0" {inner} "$1" {" ".join(rest)}; test $? = 64 && kill -9 $$'
            process = self.start(outer, self.path, "--", "sh", "-c", script, PADDOCK, self.path)
            said = process.communicate(timeout=30)[1].splitlines() if outer == "run" else iter(process.stderr.readline, "")
            self.assertTrue(any("holds it, and waits for the command" in line for line in said))
            process.terminate()
            process.wait(timeout=PATIENCE)  # the next one is another recipe
        self.paddock(64, "run", self.path + "-b", self.path, "--", PADDOCK, "run", self.path, self.path + "-c", "--", "true")
        self.paddock(0, "run", self.path, "--", PADDOCK, "run", self.path + "-other", "--", "true")
        self.paddock(0, "run", "--shared", self.path, "--", PADDOCK, "run", "--shared", self.path, "--", "true")
        self.paddock(0, "run", "--slots", "2", self.path + "-s", "--", PADDOCK, "run", "--slots", "2", self.path + "-s", "--", "true")

    def test_a_lock_and_permits(self):
        """Of one path they do not exclude each other, so whoever comes second is refused, and enters nothing."""
        for first, second, word in ((["--slots", "2"], [], "permits"), (["--slots", "2"], ["--shared"], "permits"), ([], ["--slots", "2"], "a lock")):
            holder = self.hold(*first)
            for verb, rest in (("run", ["--", "sh", "-c", "echo entered"]), ("hold", ["--ready-fd", "1"])):
                out, err = self.paddock(69, verb, *second, self.path, *rest)
                self.assertEqual(out, "")
                self.assertRegex(err, rf"^paddock: {self.path}: \S+:{holder.pid} holds {word}.* there, ")
            holder.terminate()
            self.finish(holder, 143)
            self.paddock(0, "run", *second, self.path, "--", "true")

    def test_an_election_beside(self):
        """Neither a lock nor permits exclude a leader, and the other way round. Who comes second is refused, and gives back."""
        leader = self.start("elect", self.path, "--", "sh", "-c", "echo ready; exec sleep 60")
        self.assertEqual(leader.stdout.readline(), "ready\n")
        for options in ([], ["--shared"], ["--slots", "2"], ["--naming", "kazoo"]):
            out, err = self.paddock(69, "run", *options, self.path, "--", "echo", "entered")
            self.assertEqual(out, "")
            self.assertRegex(err, rf"{self.path}: \S+:{leader.pid} holds the leadership")
        leader.terminate()
        self.finish(leader, 143)
        for options, word in (([], "a lock"), (["--shared"], "a lock"), (["--slots", "2"], "permits")):
            holder = self.hold(*options)
            out, err = self.paddock(69, "elect", "--on-deposed", "echo told", self.path, "--", "echo", "entered")
            self.assertEqual(out, "")
            self.assertRegex(err, rf"{self.path}: \S+:{holder.pid} holds {word}")
            holder.terminate()
            self.finish(holder, 143)
        self.assert_no_node(self.path + "/leases")
        self.assertFalse([name for name in self.nodes() if name[0] == "_"])

    def test_two_kinds_at_once(self):
        """However they come, no two of different kinds run at a time."""
        inside, log = self.file("inside"), self.file("log")
        script = f"mkdir {inside} || echo overlap >> {log}; echo in >> {log}; sleep 0.1; rmdir {inside}"
        for _ in range(3):
            several = [self.start("run", *options, self.path, "--", "sh", "-c", script) for options in ([], ["--slots", "1"])]
            self.assertLessEqual({process.wait(timeout=PATIENCE) for process in several}, {0, 69})
        self.assertNotIn("overlap", log.read_text() if log.exists() else "")

    def test_names_of_other_clients(self):
        """kazoo's lock waits for one with its names, and is granted one beside Curator's: the pages warn of that."""
        for naming, excluded in (("kazoo", True), ("curator", False)):
            holder = self.hold("--naming", naming)
            theirs = self.server.client.Lock(self.path)
            self.assertEqual(not theirs.acquire(blocking=False), excluded)
            if not excluded:
                theirs.release()
            self.paddock(75, "run", "-n", self.path, "--", "true")
            self.paddock(75, "run", "-n", "--naming", "kazoo", "--shared", self.path, "--", "true")
            for verb in ("show", "top"):
                self.assertIn(str(holder.pid), self.paddock(0, verb, "--naming", naming, self.path)[0])
            holder.terminate()
            self.finish(holder, 143)
        leader = self.start("elect", "--naming", "kazoo", "--id", "us", self.path, "--", "sh", "-c", "echo ready; exec sleep 60")
        self.assertEqual(leader.stdout.readline(), "ready\n")
        self.assertEqual(self.server.client.Election(self.path).contenders(), ["us"])
        self.paddock(75, "run", "-n", self.path, "--", "true")  # in kazoo's names the two are one queue
        observer = self.start("elect", "--observe", "--naming", "kazoo", self.path)
        self.assertRegex(observer.stdout.readline(), "us")
        for options in (["--naming", "zoo"], ["--naming", "kazoo", "--slots", "2"]):
            self.assertIn("--naming", self.paddock(64, "run", *options, self.path, "--", "true")[1])

    def test_a_missing_chroot(self):
        """It is made, and told, or refused: locks of a mistyped one exclude nobody."""
        self.environment["PADDOCK_SERVERS"] += f"{self.path}/mistyped"
        for verb, *rest in (("run", "/a", "--", "echo", "ran"), ("hold", "/a"), ("elect", "/a", "--", "echo", "ran"),
                            ("job", "/a", "--", "echo", "ran")):
            out, err = self.paddock(64, verb, "--no-create", *rest)
            self.assertEqual(out, "")
            self.assertRegex(err, rf"the chroot {self.path}/mistyped is missing, and --no-create")
            self.assert_no_node()
        self.assertIn(f"the chroot {self.path}/mistyped was missing", self.paddock(0, "run", "/a", "--", "true")[1])
        self.assertEqual(self.paddock(0, "run", "--no-create", "/a", "--", "true"), ("", ""))
        self.assertEqual(self.paddock(0, "run", "/b", "--", "true"), ("", ""))
        self.paddock(69, "run", "--no-create", "-s", "127.0.0.1:1/a", "--connect-timeout", "0.3", "/a", "--", "true")

    def test_the_hold_outside(self):
        """A command is told of its own hold alone: nothing of the variables of a hold around it."""
        script = "env | grep ^PADDOCK_ | grep -v ^PADDOCK_SERVERS | cut -d= -f1 | sort"
        plain, _ = self.paddock(0, "run", self.path, "--", "sh", "-c", script)
        inside, _ = self.paddock(0, "run", self.path + "-b", self.path + "-c", "--", PADDOCK, "run", self.path, "--", "sh", "-c", script)
        self.assertEqual(inside, plain)
        self.environment["PADDOCK_MINE_2"] = "kept"
        inside, _ = self.paddock(0, "run", self.path, "--", "sh", "-c", script)
        self.assertIn("PADDOCK_MINE_2\n", inside)

    def test_unreachable(self):
        _, err = self.paddock(69, "run", "-s", "127.0.0.1:1", "--connect-timeout", "0.3", self.path, "--", "true")
        self.assertIn("(127.0.0.1:1: Connection refused)", err)

    def test_a_try_has_the_time_for_an_answer(self):
        """Of a listener that says nothing: no less than --connect-timeout, and no more."""
        with socket.create_server(("127.0.0.1", 0)) as silent:
            servers = f"127.0.0.1:{silent.getsockname()[1]}"
            for seconds in (0.5, 6):  # the library's own limit for a try is in between
                start = time.monotonic()
                _, err = self.paddock(69, "run", "-n", "-s", servers, "--connect-timeout", seconds, self.path, "--", "true")
                self.assertGreaterEqual(time.monotonic() - start, seconds)
                self.assertRegex(err, rf"^paddock: no server of {servers} answers \({servers}( takes connections, and gives no session|: .*)\); "
                                      r"look at -s, and whether they run\n$")

    def test_a_timeout_too_short_for_a_lease(self):
        """It is told as that, and at once."""
        start = time.monotonic()
        for verb, *rest in (("run", "--", "true"), ("hold",), ("elect", "--", "true"), ("job", "--", "true"), ("show",)):
            _, err = self.paddock(69, verb, "--session-timeout", "0.5", "--connect-timeout", "60", self.path, *rest)
            self.assertRegex(err, r"session timeout of 500 ms, as the servers give it, is too short for a lease, .*--session-timeout, 500 ms now")
            self.assertNotRegex(err, r"no server|_ms|pdk_")
        self.assertLess(time.monotonic() - start, 60)

    def test_permission_denied(self):
        """A status of its own, whoever asks; and words with the path, once, and without names of the library."""
        self.server.client.ensure_path("/locks")
        self.server.client.create(self.path, acl=[make_digest_acl("alice", "sesame", all=True)])
        for verb, *rest in (("run", "--", "true"), ("hold",), ("elect", "--", "true"), ("job", "--", "true"), ("show",), ("wait",), ("ask",),
                            ("elect", "--observe"), ("ls",), ("top",)):
            _, err = self.paddock(80, verb, self.path, *rest)
            refused = err.splitlines()[-1]
            self.assertRegex(refused, rf"permission denied: .*\(-102\)|permission denied: .*access control", verb)
            self.assertEqual(refused.count(self.path), 1, refused)
            self.assertNotRegex(refused, r"pdk_|PDK_")

    def test_timestamps(self):
        _, err = self.paddock(64, "run", "--timestamps", "relative", "--", "true")
        self.assertRegex(err, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z paddock: ")

    def test_usage(self):
        for arguments in ([], [self.path], ["--", "true"], ["locks/relative", "--", "true"], ["--no-such", self.path, "--", "true"],
                          ["-w", "-1", self.path, "--", "true"], ["--slots", "0", self.path, "--", "true"],
                          ["--slots", "2/3", self.path, "--", "true"], ["-E", "300", self.path, "--", "true"],
                          ["--lock-delay", "-1", self.path, "--", "true"], ["--slots", "2", "--shared", self.path, "--", "true"], [self.path, "true"],
                          [self.path, "relative", "--", "true"], [self.path, self.path, "--", "true"], [self.path, "--"],
                          ["--on-ask=term", self.path, "/locks/other", "--", "true"], ["/a//b", "--", "true"],
                          ["--on-suspend", "laugh", self.path, "--", "true"], ["--session-timeout", "x", self.path, "--", "true"],
                          ["-s", "127.0.0.1", "--config", self.file("none"), self.path, "--", "true"],
                          ["-s", "a host:2181", self.path, "--", "true"], ["--digest-file", self.file("none"), self.path, "--", "true"]):
            _, err = self.paddock(64, "run", *arguments)
            self.assertIn("paddock: ", err, arguments)
        self.environment.pop("PADDOCK_SERVERS")
        _, err = self.paddock(64, "run", self.path, "--", "true")
        self.assertIn("PADDOCK_SERVERS", err)
        self.paddock(64)
        self.paddock(64, "sing")

    def test_a_command_that_cannot_be_executed(self):
        self.file("plain").write_text("no program\n")
        self.paddock(127, "run", self.path, "--", self.file("missing"))
        self.paddock(126, "run", self.path, "--", self.file("plain"))
        self.paddock(126, "run", self.path, "--", self.folder)
        self.assert_no_node()

    def test_too_long(self):
        self.paddock(124, "run", "--max-hold", "0.3", self.path, "--", "sleep", "60")
        self.assert_no_node()

    def test_delay(self):
        """After a release the next one runs at once; after a holder that was killed, not before the delay."""
        def run(status, *options):
            start = time.monotonic()
            self.paddock(status, "run", "--session-timeout", 2, *options, self.path, "--", "true")
            return time.monotonic() - start
        run(0, "--lock-delay", "1.5")
        self.paddock(64, "run", self.path, "--", "true")  # another delay than the others
        self.paddock(64, "elect", "--lock-delay", "1", self.path, "--", "true")
        self.paddock(64, "run", "--lock-delay", "1.5", "--shared", self.path, "--", "true")
        holder = self.hold("--session-timeout", "2", "--lock-delay", "1.5")
        holder.kill()
        holder.wait()
        wait_for("the end of its session", lambda: not any(name.startswith("_c_") for name in self.nodes()))
        run(75, "--lock-delay", "1.5", "-n")
        self.assertGreaterEqual(run(0, "--lock-delay", "1.5"), 1.0)  # less what has passed since
        self.paddock(0, "run", "-n", "--lock-delay", "1.5", self.path, "--", "true")

    def test_kinds(self):
        reader = self.hold("--shared")
        self.paddock(0, "run", "-n", "--shared", self.path, "--", "true")
        reader.terminate()
        self.finish(reader, 143)
        slots = self.path + "_slots"
        first = self.hold("--slots", "3/2", path=slots)
        self.paddock(0, "run", "-n", "--slots", "3", slots, "--", "true")
        self.paddock(75, "run", "-n", "--slots", "3/2", slots, "--", "true")
        self.paddock(64, "run", "-n", "--slots", "4", slots, "--", "true")
        first.terminate()
        self.finish(first, 143)


class Servers(Case):
    def test_the_first_one_that_is_named_counts(self):
        good, wrong = self.server.hosts, "127.0.0.1:1"
        config = self.file(".config")
        config.mkdir()

        def run(status, *options, environment=None, configured=None):
            self.environment.pop("PADDOCK_SERVERS", None)
            if environment:
                self.environment["PADDOCK_SERVERS"] = environment
            (config / "paddock.conf").write_text(f"[paddock]\nservers={configured}\n" if configured else "")
            self.paddock(status, "run", *options, "--connect-timeout", "0.5", self.path, "--", "true")

        run(0, configured=good)
        run(69, configured=wrong)
        run(0, environment=good, configured=wrong)
        run(69, environment=wrong, configured=good)
        run(0, "-s", good, environment=wrong, configured=wrong)
        self.file("other").write_text(f"[paddock]\nservers={good}\nsession-timeout=3\n")
        run(0, "--config", self.file("other"), configured=wrong)
        for bad in ("no key", "[paddock]\ncolour=red\n", "[paddock]\ntoken-base=x\n", "[paddock]\ntoken-base=1\n"):
            self.file("other").write_text(bad)
            run(64, "--config", self.file("other"), configured=good)

    def test_generation(self):
        """A token base from the command line or the file is before every token: of the command, and of those that look."""
        base = 1 << 48
        self.file("other").write_text(f"[paddock]\nservers={self.server.hosts}\ntoken-base={2 * base}\n")
        for generation, options in ((0, []), (1, ["--token-base", base]), (2, ["--config", self.file("other")])):
            process = self.start("run", *options, self.path, "--", "sh", "-c", "echo $PADDOCK_TOKEN; exec sleep 60")
            token = process.stdout.readline().strip()
            self.assertEqual(int(token) // base, generation)
            looks = [self.paddock(0, verb, "--json", *options, path)[0] for verb, path in (("show", self.path), ("top", "/locks"))]
            self.assertEqual([f'"{token}"' in look for look in looks], [True] * 2, looks)
            process.terminate()
            self.finish(process, 143)
        self.paddock(64, "run", "--token-base", "5", self.path, "--", "true")

    def test_credentials(self):
        path = "/credentials/lock"  # only their user may change it
        self.file("secret").write_text("alice:open sesame\n")
        look = ["sh", "-c", "env; tr '\\0' ' ' < /proc/$PPID/cmdline; ls -l /proc/self/fd"]
        with open(self.file("secret"), encoding="ascii") as secret:
            for options in (["--digest-file", self.file("secret")], ["--digest-fd", secret.fileno()]):
                out, err = self.paddock(0, "run", "-v", *options, path, "--", *look, pass_fds=[secret.fileno()])
                self.assertNotIn("sesame", out + err)
                if options[0] == "--digest-fd":
                    self.assertNotIn("secret", out)
        process = self.start("run", "--digest-file", self.file("secret"), path, "--", "sh", "-c", "echo ready; sleep 60")
        process.stdout.readline()
        acls, _ = self.server.client.get_acls(f"{path}/{self.nodes(path)[0]}")
        self.assertTrue(any(acl.id.scheme == "digest" and acl.id.id.startswith("alice:") for acl in acls), acls)
        process.terminate()
        self.finish(process, 143)


class Surroundings(Case):
    def test_environment(self):
        out, _ = self.paddock(0, "run", "--label", "nightly", self.path, "--", "sh", "-c", "env | grep ^PADDOCK_")
        values = dict(line.split("=", 1) for line in out.splitlines())
        self.assertEqual(values["PADDOCK_PATH"], self.path)
        self.assertTrue(values["PADDOCK_ZNODE"].startswith(self.path + "/"))
        self.assertGreater(int(values["PADDOCK_TOKEN"]), 0)
        self.assertEqual(values["PADDOCK_TOKEN_PADDED"], values["PADDOCK_TOKEN"].zfill(20))
        self.assertEqual(values["PADDOCK_HANDOVER"], "0")
        self.assertEqual(values["PADDOCK_SEQUENCER"],
                         f"pdk1 {values['PADDOCK_ZNODE']} exclusive {values['PADDOCK_TOKEN']} 0")
        self.assertRegex(values["PADDOCK_SESSION"], "^0x[0-9a-f]+$")

    def test_several(self):
        """All or nothing. The first is without a number, and each has one."""
        paths = [f"{self.path}/{name}" for name in "bca"]
        out, _ = self.paddock(0, "run", *paths, "--", "sh", "-c", "env | grep ^PADDOCK_")
        values = dict(line.split("=", 1) for line in out.splitlines())
        self.assertEqual((values["PADDOCK_PATH"], values["PADDOCK_COUNT"]), (paths[0], "3"))
        for i, path in enumerate(paths, 1):
            self.assertEqual(values[f"PADDOCK_PATH_{i}"], path)
            self.assertTrue(values[f"PADDOCK_ZNODE_{i}"].startswith(path + "/"))
            self.assertEqual(values[f"PADDOCK_SEQUENCER_{i}"],
                             f"pdk1 {values[f'PADDOCK_ZNODE_{i}']} exclusive {values[f'PADDOCK_TOKEN_{i}']} {values[f'PADDOCK_HANDOVER_{i}']}")
            self.assertEqual(values[f"PADDOCK_TOKEN_PADDED_{i}"], values[f"PADDOCK_TOKEN_{i}"].zfill(20))
        self.assertEqual([values[f"PADDOCK_{name}"] for name in ("ZNODE", "TOKEN", "SEQUENCER")],
                         [values[f"PADDOCK_{name}_1"] for name in ("ZNODE", "TOKEN", "SEQUENCER")])
        holder = self.hold(path=paths[1])
        self.paddock(75, "run", "-n", *paths, "--", "true")
        self.paddock(75, "run", "-w", "2", *paths, "--", "true")
        for path in (paths[0], paths[2]):
            self.assert_no_node(path)
        waiter = self.start("run", *paths, "--", "sh", "-c", "echo ready; exec sleep 60")
        wait_for("a second node", lambda: len(self.nodes(paths[1])) == 2)
        holder.terminate()
        self.finish(holder, 143)
        self.assertEqual(waiter.stdout.readline(), "ready\n")
        for path in paths:
            self.paddock(75, "run", "-n", path, "--", "true")
        self.server.client.delete(f"{paths[2]}/{self.nodes(paths[2])[0]}")  # one is lost: the command dies, all is released
        self.assertIn("NODE_GONE", self.finish(waiter, 76)[1])
        for path in paths:
            self.assert_no_node(path)

    def test_several_of_a_kind(self):
        many = [f"{self.path}/{i:03}{'x' * 200}" for i in range(100)]
        out, _ = self.paddock(0, "run", "--slots", "2", *many, "--", "sh", "-c", "echo $PADDOCK_COUNT; echo $PADDOCK_PATH_100")
        self.assertEqual(out, f"100\n{many[99]}\n")
        self.paddock(64, "run", *many, self.path + "/more", "--", "true")
        readers = [self.path + "/r1", self.path + "/r2"]
        reader = self.hold("--shared", path=readers[0])
        self.paddock(0, "run", "-n", "--shared", *readers, "--", "true")
        self.paddock(75, "run", "-n", *readers, "--", "true")
        reader.terminate()
        self.finish(reader, 143)

    def test_input_group_mask_and_descriptors(self):
        script = "cat; ps -o pid=,pgid= -p $$; ls /proc/$$/fd; exec grep -E '^(SigBlk|SigIgn)' /proc/self/status"
        process = self.start("run", self.path, "--", "sh", "-c", script, stdin=subprocess.PIPE)
        out, err = process.communicate("line\n", timeout=20)
        line, group, *descriptors, blocked, ignored, _ = out.split("\n")
        self.assertEqual((line, process.returncode), ("line", 0), err)
        pid, pgid = group.split()
        self.assertEqual(pid, pgid)
        self.assertEqual(int(blocked.split()[1], 16), 0)
        self.assertEqual(int(ignored.split()[1], 16) & 0x7fffffff, 0, ignored)
        self.assertEqual(set(descriptors), {"0", "1", "2"}, out)

    def test_no_shell(self):
        out, _ = self.paddock(0, "run", self.path, "--", "printf", "%s|", "a b", "$HOME", "*", "--try")
        self.assertEqual(out, "a b|$HOME|*|--try|")

    def test_terminal(self):
        """The command has the terminal's foreground; Ctrl-C reaches it, and its status is the program's."""
        script = f"trap 'echo interrupted; exit 7' INT; echo $(ps -o pgid=,tpgid= -p $$) > {self.file('groups')}; " \
                 "read answer; echo got $answer; while :; do sleep 0.05; done"
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(PADDOCK, ["paddock", "run", self.path, "--", "sh", "-c", script], self.environment)
        groups = wait_for("the groups", lambda: self.file("groups").exists() and self.file("groups").read_text().split())
        self.assertEqual(groups[0], groups[1])
        os.write(terminal, b"yes\n")
        seen = b""
        while b"got yes" not in seen:
            seen += os.read(terminal, 1000)
        os.write(terminal, b"\x03")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 7)
        os.close(terminal)
        self.assert_no_node()

    def test_a_script_that_locks_itself(self):
        script = self.file("script")
        script.write_text(f'#!/bin/sh\n[ "$PADDOCK_PATH" = {self.path} ] || exec {PADDOCK} run -n {self.path} -- "$0" "$@"\n'
                          f'echo "in $1"; {PADDOCK} run -n {self.path} -- true; echo $?\n')
        script.chmod(0o755)
        done = subprocess.run([script, "a b"], env=self.environment, capture_output=True, text=True, timeout=30, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "in a b\n75\n"), done.stderr)
        self.assert_no_node()

    def test_exclusive(self):
        """Ten contenders at once: none starts before the one before it has ended."""
        log = self.file("log")
        script = f"mkdir {self.file('inside')} || echo overlap >> {log}; echo in >> {log}; rmdir {self.file('inside')}"
        for process in [self.start("run", self.path, "--", "sh", "-c", script) for _ in range(10)]:
            self.finish(process, 0)
        self.assertEqual(log.read_text(), "in\n" * 10)
        self.assert_no_node()


class Signals(Case):
    def test_queued(self):
        holder = self.hold()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2):
            process = self.start("run", self.path, "--", "touch", self.file("ran"))
            wait_for("the second in the queue", lambda: len(self.nodes()) == 2)
            process.send_signal(number)
            self.finish(process, 128 + number)
            self.assertEqual(len(self.nodes()), 1, number)
        self.assertFalse(self.file("ran").exists())
        holder.terminate()
        self.finish(holder, 143)

    def test_stopped_while_queued(self):
        """In a group of its own: the system stops none of a group whose parents are all in another session, as this test's may be."""
        holder = self.hold()
        process = self.start("run", self.path, "--", "true", preexec_fn=os.setpgrp)
        wait_for("the second in the queue", lambda: len(self.nodes()) == 2)
        process.send_signal(signal.SIGTSTP)
        wait_for("a stopped paddock", lambda: state(process.pid) == "T")
        process.send_signal(signal.SIGCONT)
        holder.terminate()
        self.finish(holder, 143)
        self.finish(process, 0)

    def test_running(self):
        """Each is passed on to the group; the command decides."""
        names = "TERM INT HUP QUIT USR1 USR2 WINCH".split()
        traps = "".join(f"trap 'echo {name}' {name}; " for name in names)
        process = self.start("run", self.path, "--", "bash", "-c",
                             f"{traps} trap 'echo done; exit 3' CONT; echo ready; while :; do sleep 0.02; done")
        self.assertEqual(process.stdout.readline(), "ready\n")
        for name in names:
            process.send_signal(getattr(signal, "SIG" + name))
            self.assertEqual(process.stdout.readline(), name + "\n")
        process.send_signal(signal.SIGCONT)
        self.finish(process, 3)
        self.assert_no_node()

    def test_stop_and_continue(self):
        process = self.start("run", self.path, "--", "sh", "-c", f"echo $$ > {self.file('pid')}; exec sleep 60")
        pid = self.number("pid")
        process.send_signal(signal.SIGTSTP)
        wait_for("a stopped command", lambda: state(pid) == "T")
        self.assertEqual(len(self.nodes()), 1)
        process.send_signal(signal.SIGCONT)
        wait_for("a running command", lambda: state(pid) == "S")
        process.terminate()
        self.finish(process, 143)

    def test_the_whole_group(self):
        process = self.start("run", self.path, "--", *self.family(":"))
        leader, worker = self.number("leader"), self.number("worker")
        process.terminate()
        self.finish(process, 143)
        self.assertFalse(alive(leader) or alive(worker))
        self.assert_no_node()

    def test_what_is_left_behind(self):
        """A command that ends while what it started goes on, in a session of its own: that is ended before the release."""
        script = f"setsid sh -c 'echo $$ > {self.file('left')}; exec sleep 60' & while [ ! -s {self.file('left')} ]; do :; done"
        self.paddock(0, "run", self.path, "--", "sh", "-c", script)
        self.assertFalse(alive(self.number("left")))
        self.assert_no_node()


if __name__ == "__main__":
    unittest.main()
