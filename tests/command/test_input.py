#!/usr/bin/python3
"""Bad input is said in words with the fix, has its status, and leaves no lock; and no credentials are seen anywhere."""
import concurrent.futures
import contextlib
import os
import pathlib
import resource
import signal
import subprocess
import unittest

from bench import BUILD, PATIENCE, Case, Way, children, wait_for

SECRET = "open sesame"


class Listener(Way):
    """It keeps all that clients say."""
    seen = b""

    def passed(self, data, up):
        self.seen += data if up else b""
        return data


class Bad(Case):
    def refused(self, status, *arguments, says):
        out, err = self.paddock(status, *arguments)
        self.assertEqual(out, "")
        self.assertRegex(err, r"^paddock: .+\n$", arguments)
        self.assertIn(says, err, arguments)
        self.assert_no_node()

    def test_server_lists(self):
        for servers in (":", ",", "host:", "host:0", "host:99999", "host:x", "host:2181//a", "host:2181/a/../b", "[::1", "a b:1",
                        "host:2181,,", "\u202e:1"):
            self.refused(64, "run", "-s", servers, self.path, "--", "true", says=":")
            self.environment["PADDOCK_SERVERS"] = servers
            self.refused(64, "run", self.path, "--", "true", says=":")
            self.environment["PADDOCK_SERVERS"] = self.server.hosts

    def test_configurations(self):
        """One that is no file, may not be read, is no text, or has what it may not have."""
        config = self.file("config")
        self.refused(64, "run", "--config", self.folder, self.path, "--", "true", says=str(self.folder))
        self.refused(64, "run", "--config", config, self.path, "--", "true", says="No such file")
        for content in (b"\xff\xfe\0\0", b"[paddock]\nservers", b"[paddock]\nservers=a b:1\n", b"[paddock]\nsession-timeout=soon\n",
                        b"[paddock]\ntoken-base=1.5\n", b"[paddock]\n\x1b[2J=1\n", b"x" * 100000):
            config.write_bytes(content)
            self.environment.pop("PADDOCK_SERVERS", None)
            self.refused(64, "run", "--config", config, self.path, "--", "true", says="paddock: ")
        self.environment["PADDOCK_SERVERS"] = self.server.hosts
        config.write_text("[paddock]\n")
        config.chmod(0)
        if not os.access(config, os.R_OK):
            self.refused(64, "run", "--config", config, self.path, "--", "true", says="ermission denied")
        folder = self.file(".config")
        folder.mkdir()
        (folder / "paddock.conf").mkdir()  # where it looks by itself, too
        self.refused(64, "run", self.path, "--", "true", says="paddock.conf")

    def test_a_line_that_no_pipe_takes_as_a_whole(self):
        """Cut between two characters."""
        config = self.file("config")
        for begin in ("", "x", "xx"):
            config.write_text(begin + "\u20ac" * 50000, encoding="utf-8")
            _, err = self.paddock(64, "run", "--config", config, self.path, "--", "true")
            self.assertRegex(err, "^paddock: .+\u20ac\u2026\n$")
            self.assertIn(len(err.encode()), range(4094, 4097))

    def test_a_configuration_out_of_reach(self):
        """The home is none, is another user's, or a loop: with servers it is as good as absent, with one warning."""
        if os.geteuid() == 0:
            self.open_to_nobody()
        as_nobody = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        closed, loop = self.file("closed"), self.file("loop")
        (closed / ".config").mkdir(parents=True)
        (closed / ".config").chmod(0)
        loop.symlink_to(loop)
        self.addCleanup((closed / ".config").chmod, 0o700)
        for home in ("/dev/null", closed, loop):
            environment = dict(self.environment, HOME=str(home))
            _, err = self.paddock(0, "run", self.path, "--", "true", env=environment, **as_nobody)
            self.assertRegex(err, rf"^paddock: warning: {home}/.config/paddock.conf: .+ not used\n$")
            del environment["PADDOCK_SERVERS"]
            _, err = self.paddock(0, "run", "-s", self.server.hosts, self.path, "--", "true", env=environment, **as_nobody)
            self.assertRegex(err, r"^paddock: warning: .+\n$")
            _, err = self.paddock(64, "run", self.path, "--", "true", env=environment, **as_nobody)
            self.assertRegex(err, rf"^paddock: {home}/.config/paddock.conf: .+ the servers with -s\n$")

    def test_shortage(self):
        """Too few descriptors for a session are no servers that do not answer."""
        for most in range(4, 10):
            for arguments in (["run", self.path, "--", "true"], ["hold", "--stdin", self.path], ["job", "--every", "1d", "--at-most", "1h", self.path, "--", "true"]):
                process = self.start(arguments[0], "--connect-timeout", "0.5", *arguments[1:], preexec_fn=lambda n=most: resource.setrlimit(resource.RLIMIT_NOFILE, (n, n)))
                _, err = process.communicate(timeout=20)
                self.assertIn(process.returncode, (0, 70), f"{arguments} with {most}: {err}")
                self.assertTrue(not process.returncode or "escriptor" in err or "open files" in err, err)

    def test_relative_paths(self):
        for path in ("locks/a", "", ".", "./a", "~/a", "/", "/a/", "/a//b", "/a/../b", "/a/./b", "/" + "x" * 600):
            for arguments in (["run", path, "--", "true"], ["run", self.path, path, "--", "true"], ["hold", path], ["show", path],
                              ["elect", path, "--", "true"], ["wait", path], ["watch", path], ["ask", path]):
                self.refused(64, *arguments, says="paddock: ")

    def test_each_signal(self):
        """The status is that of the shell: 128 and its number; of every signal that ends a command."""
        harmless = {signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
        for number in sorted(set(signal.Signals) - harmless):
            self.paddock(128 + number, "run", self.path, "--", "sh", "-c", f"ulimit -c 0; kill -{int(number)} $$")
        self.assert_no_node()


class Numbers(Case):
    """Every number that an option takes, by its first and last value, and what is beyond: never another number than was given."""
    WORDS = ("", "x", "5x", "nan", "1e400", "99999999999999999999", "-99999999999999999999")
    SECONDS = (*WORDS, "inf", "-inf", "-1")

    def refused(self, option, value, *arguments):
        _, err = self.paddock(64, *arguments[:1], f"{option}={value}", *arguments[1:])
        self.assertRegex(err, rf"^paddock: .*{option.strip('-')}.*\n$", (arguments, option, value))

    def test_options(self):
        claim = ("run", self.path, "--", "true")
        work = ("elect", self.path, "--", "true")
        job = ("job", self.path, "--", "true")
        for option, arguments, beyond in (
                ("--session-timeout", claim, (*self.SECONDS, "0.3", "601")),
                ("--connect-timeout", claim, (*self.SECONDS, "0", "86401")),
                ("--wait", claim, (*self.SECONDS, "1e10")),
                ("--max-hold", claim, (*self.SECONDS, "0", "1e10")),
                ("--lock-delay", claim, (*self.SECONDS, "86401")),
                ("--token-base", claim, (*self.WORDS, "-1", "1.5")),
                ("--digest-fd", claim, (*self.WORDS, "-1", "-5", "1.5", "4294967296")),
                ("--slots", claim, (*self.WORDS, "0", "-1", "10001", "3/0", "3/4", "3/", "/", "101/101", "4294967297")),
                ("--check-every", work, (*self.SECONDS, "0", "86401")),
                ("--pause", work, (*self.SECONDS, "86401")),
                ("--listen", work, ("", ":", "x", "-1", "65536", "99999", "4294967297", "127.0.0.1:65536", "127.0.0.1:-1", "[::1]:99999",
                                    " 8080", "80 80", "+80", "0x50")),
                ("--every", job, (*self.SECONDS, "3653d", "1w")),
                ("--at-least", job, (*self.SECONDS, "3653d")),
                ("--at-most", job, (*self.SECONDS, "3653d")),
                ("--keep", job, (*self.WORDS, "0", "-1", "101", "4294967297")),
                ("--every", ("watch", self.path), (*self.SECONDS, "0.01", "3601")),
                ("--within", ("ask", self.path), (*self.SECONDS, "1e10")),
                ("--idle", ("doctor",), (*self.SECONDS, "1e10")),
                ("--limit", ("top",), (*self.WORDS, "-1", "4294967296")),
                ("--ready-fd", ("hold", self.path), (*self.WORDS, "-1", "4294967296")),
                ("--ensemble", ("server",), (*self.WORDS, "0", "2", "-1", "4294967297")),
                ("--tick", ("server",), (*self.WORDS, "0", "-1", "60001", "4294967297")),
                ("--port", ("server",), (*self.WORDS, "-1", "65536", "99999", "4294967296"))):
            for value in beyond:
                with self.subTest(option=option, value=value):
                    self.refused(option, value, *arguments)
        self.assert_no_node()

    def test_units_of_time(self):
        """Every option of a time takes them; test_command_duration knows the meaning of each. No server is there, so each gets that far."""
        work, away = (self.path, "--", "true"), ("-s", "127.0.0.1:1", "--connect-timeout", "1ms")
        for status, verb, option, rest in ((69, "run", "--session-timeout", work), (69, "run", "--wait", work), (69, "run", "--lock-delay", work),
                                           (69, "run", "--max-hold", work), (69, "run", "--timeout", work), (69, "elect", "--check-every", work),
                                           (69, "elect", "--pause", work), (69, "job", "--every", work), (69, "job", "--at-least", work),
                                           (69, "job", "--at-most", work), (69, "watch", "--every", (self.path,)),
                                           (69, "ask", "--within", (self.path,)), (1, "doctor", "--idle", ())):
            for value in ("1.5s", "0.025m"):
                with self.subTest(verb=verb, option=option, value=value):
                    self.paddock(status, verb, *away, option, value, *rest)
        self.paddock(69, "run", "-s", "127.0.0.1:1", "--connect-timeout", "0.1s", *work)

    def test_tokens(self):
        for mark in ("", "x", "0", "-1", "5x", "9223372036854775808", "5:", "5:-1", "5:4294967296", "5:x"):
            self.paddock(64, "fence", "--create", self.file("fence"), mark, "--", "true")

    def test_ports_of_servers(self):
        """Each verb that dials by itself."""
        for port in ("0", "65536", "99999", "-1", "x", "+1", " 1"):
            for verb in ("ls", "top", "doctor", "show", "wait"):
                with self.subTest(verb=verb, port=port):
                    path = [] if verb in ("ls", "top", "doctor") else [self.path]
                    _, err = self.paddock(64, verb, "-s", f"127.0.0.1:{port}", "--connect-timeout", "0.3", *path)
                    self.assertIn("65535", err)

    def test_configurations(self):
        config = self.file("config")
        for key, values in (("session-timeout", (*self.WORDS, "inf", "0", "601")), ("token-base", (*self.WORDS, "-1", "1.5"))):
            for value in values:
                with self.subTest(key=key, value=value):
                    config.write_text(f"[paddock]\n{key}={value}\n")
                    _, err = self.paddock(64, "run", "--config", config, self.path, "--", "true")
                    self.assertIn(key, err)


class Programs(unittest.TestCase):
    """The programs of the tests, too: a run of 0 rounds would pass without having looked at anything."""

    def test_numbers(self):
        source, programs, runs = pathlib.Path(os.environ["PDK_SOURCE"]), BUILD / "tests/programs", []
        for option, command in (
                ("--seconds", [source / "scripts/dashboard"]), ("--seconds", [source / "scripts/fuzz", BUILD]),
                ("--minutes", [source / "docker/chaos/chaos"]), ("--times", [source / "docker/chaos/chaos", "--fault", "cut"]),
                ("--session", [source / "docker/chaos/chaos"]), ("--turns", [source / "tests/interop/run"]),
                ("--count", [source / "tests/mutants/draw"]), ("--times", [source / "tests/command/series"]),
                ("--at-once", [source / "tests/command/series"]), ("--commands", [source / "tests/command/series"]),
                ("--queue", [source / "tests/command/series"]), ("--seconds", [source / "tests/trials/trial", "rwlock"]),
                ("--session", [source / "tests/trials/trial", "election"]), ("--tick", [source / "tests/trials/trial", "rwlock"]),
                ("--times", [source / "tests/fencing/play", "hosts"]), ("--at-once", [source / "tests/fencing/play", "hosts"]),
                ("--cycles", [programs / "soak"]), ("--handovers", [programs / "soak"]),
                ("--rounds", [programs / "majority"]), ("--processes", [programs / "majority"]), ("--members", [programs / "group_storm"]),
                ("--sessions", [programs / "group_storm"]), ("--watchers", [programs / "group_storm"]),
                ("--writers", [programs / "fence_crash"]), ("--kills", [programs / "fence_crash"]), ("--nodes", [programs / "zk"]),
                ("--tick", [programs / "zk"]), ("--minutes", [BUILD / "tests/sim/sim"]), ("--schedules", [BUILD / "tests/sim/sim"]),
                ("--jobs", [BUILD / "tests/sim/sim"])):
            if command[0].name != "zk":  # there 0 is the default
                runs.append([*command, option, "0"])
            if BUILD in command[0].parents:  # a script takes a second to start
                runs.append([*command, option, "99999999999999999999"])
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for command, done in zip(runs, pool.map(self.run_one, runs)):
                self.assertIn(done.returncode, (1, 2), (command, done.stdout + done.stderr))
                self.assertNotIn("Traceback", done.stderr, command)

    @staticmethod
    def run_one(command):
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False)


class Credentials(Case):
    OVER = (FileNotFoundError, ProcessLookupError)

    def setUp(self):
        super().setUp()
        self.file("secret").write_text(f"alice:{SECRET}\n")
        self.options = ["--digest-file", self.file("secret")]
        self.path = "/secrets/" + self._testMethodName

    def below(self, pid):
        with contextlib.suppress(*self.OVER):
            return [pid, *(each for child in children(pid) for each in self.below(child))]
        return [pid]

    def words_of(self, pid):
        """Of a hook that has ended since, none: it has told them itself."""
        with contextlib.suppress(*self.OVER):
            return b"".join(pathlib.Path(f"/proc/{pid}/{name}").read_bytes() for name in ("cmdline", "environ"))
        return b""

    def test_of_every_process(self):
        """In no argument and no environment of paddock, its guardians, the command, the gate, the check and the events; in no log."""
        say = f"env >> {self.file('told')}; tr '\\0' ' ' < /proc/$$/cmdline >> {self.file('told')}; ls -l /proc/$$/fd >> {self.file('told')}"
        for arguments in (["run", *self.options, "-v", "--timing", self.path, "--", "sh", "-c", f"{say}; echo ready; exec sleep 60"],
                          ["elect", *self.options, "-v", "--on-elected", say, "--on-leader", say, "--check", say, self.path + "/elect", "--",
                           "sh", "-c", f"{say}; echo ready; exec sleep 60"]):
            process = self.start(*arguments)
            self.assertEqual(process.stdout.readline(), "ready\n")
            pids = self.below(process.pid)
            self.assertGreater(len(pids), 2)
            self.assertIn(b"PADDOCK_SERVERS=", self.words_of(process.pid))
            for pid in pids:
                self.assertNotIn(SECRET.encode(), self.words_of(pid))
            process.terminate()
            out, err = self.finish(process, 143)
            self.assertNotIn(SECRET, out + err)
        self.assertNotIn(SECRET, self.file("told").read_text())
        self.assertIn("PADDOCK_TOKEN", self.file("told").read_text())

    def test_of_every_verb(self):
        holder = self.start("hold", "-v", *self.options, self.path)
        wait_for("its node", self.nodes)
        for verb in ("show", "ls", "top", "ask", "doctor", "wait -w 0", "check"):
            words = verb.split()
            subject = f"pdk1 {self.path}/x-lock-0000000001 exclusive 1 0" if verb == "check" else self.path
            process = self.start(*words, "-v", *self.options, subject)
            out, err = process.communicate(timeout=60)
            self.assertIn(process.returncode, (0, 1, 64, 75), err)
            self.assertNotIn(SECRET, out + err)
        holder.terminate()
        out, err = self.finish(holder, 0)
        self.assertNotIn(SECRET, out + err)

    def test_what_is_wrong_is_not_quoted(self):
        for content in (SECRET, ":" + SECRET, SECRET * 200, "", "\0" + SECRET):
            self.file("secret").write_text(content)
            out, err = self.paddock(64, "run", *self.options, self.path, "--", "true")
            self.assertIn("user:password", err)
            self.assertNotIn(SECRET, out + err)
        reading, writing = os.pipe()
        os.write(writing, SECRET.encode())
        os.close(writing)
        out, err = self.paddock(64, "run", "--digest-fd", reading, self.path, "--", "true", pass_fds=[reading])
        os.close(reading)
        self.assertNotIn(SECRET, out + err)

    def test_of_a_standard_descriptor(self):
        """It is /dev/null once the credentials are read, of the command, too; and nothing of ours takes its number."""
        process = self.start("run", "--digest-fd", 0, self.path, "--", "sh", "-c", "readlink /proc/$$/fd/0", stdin=subprocess.PIPE)
        out, err = process.communicate(f"alice:{SECRET}\n", timeout=PATIENCE)
        self.assertEqual((process.returncode, out, err), (0, "/dev/null\n", ""))
        process = self.start("hold", "--stdin", "--digest-fd", 0, self.path, stdin=subprocess.PIPE)
        process.communicate(f"alice:{SECRET}\n", timeout=PATIENCE)
        self.assertEqual(process.returncode, 0)
        self.assert_no_node()

    def test_a_pipe_is_no_file(self):
        """Neither as a file of credentials nor as a configuration: it would be waited for."""
        os.mkfifo(self.file("pipe"))
        for option in ("--digest-file", "--config"):
            out, err = self.paddock(64, "run", option, self.file("pipe"), self.path, "--", "true")
            self.assertIn("pipe", err)
            self.assertEqual(out, "")

    def test_a_file_that_others_may_read(self):
        for mode, told in ((0o600, None), (0o640, None), (0o604, "others may read it"), (0o602, "others may write it")):
            self.file("secret").chmod(mode)
            _, err = self.paddock(0, "run", *self.options, self.path, "--", "true")
            self.assertEqual(err.count("warning"), 1 if told else 0, err)
            self.assertIn(told or "", err)

    def test_for_whom_it_is(self):
        """The password of a configuration goes to its own servers, and to nobody else, however those are named."""
        self.file("secret").chmod(0o600)
        proxy = Listener(self.server.hosts)
        self.addCleanup(proxy.close)
        config = self.file("config")
        run = ["run", "--config", config, self.path, "--", "true"]
        config.write_text(f"[paddock]\nservers={proxy.hosts}\ndigest-file={self.file('secret')}\n")
        self.environment.pop("PADDOCK_SERVERS", None)
        self.paddock(0, *run)
        self.assertIn(SECRET.encode(), proxy.seen)
        self.paddock(0, "run", "-s", proxy.hosts, "--config", config, self.path, "--", "true")  # the same servers
        config.write_text(f"[paddock]\nservers=127.0.0.1:1\ndigest-file={self.file('secret')}\n")
        for others in (["-s", proxy.hosts], []):
            self.environment["PADDOCK_SERVERS"] = proxy.hosts
            proxy.seen = b""
            self.path += "-open"
            _, err = self.paddock(0, "run", *others, "--config", config, self.path, "--", "true")
            self.assertNotIn(SECRET.encode(), proxy.seen)
            self.assertIn("digest-file", err)
            _, err = self.paddock(0, "run", *others, "--config", config, *self.options, self.path + "-given", "--", "true")
            self.assertIn(SECRET.encode(), proxy.seen)
            self.assertEqual(err, "")

    def test_a_directory_that_strangers_may_change(self):
        self.file("secret").chmod(0o600)
        self.server.client.create(self.path, makepath=True)
        for more in ([], ["-n"]):
            out, err = self.paddock(69, "run", *self.options, *more, self.path, "--", "echo", "entered")
            self.assertEqual(out, "")
            for words in (self.path, "world:anyone", "--accept-unprotected"):
                self.assertIn(words, err)
        self.paddock(0, "run", *self.options, "--accept-unprotected", self.path, "--", "true")
        config = self.file("config")
        config.write_text(f"[paddock]\nservers={self.server.hosts}\naccept-unprotected=true\n")
        self.paddock(0, "run", *self.options, "--config", config, self.path, "--", "true")
        config.write_text("[paddock]\nservers=127.0.0.1:1\naccept-unprotected=true\n")  # of other servers
        _, err = self.paddock(69, "run", *self.options, "--config", config, self.path, "--", "true")
        self.assertIn("its accept-unprotected is for its servers", err)
        self.paddock(0, "run", *self.options, "--config", config, "--accept-unprotected", self.path, "--", "true")
        config.write_text("[paddock]\naccept-unprotected=maybe\n")
        self.paddock(64, "run", *self.options, "--config", config, self.path, "--", "true")

    def test_another_user(self):
        """Refused in words, without either secret."""
        self.paddock(0, "run", *self.options, self.path, "--", "true")
        self.file("other").write_text("bob:another secret\n")
        process = self.start("run", "-v", "--digest-file", self.file("other"), "-w", "5", self.path, "--", "true")
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 80, err)
        self.assertIn("permission denied", err)
        self.assertEqual(err.count(f"{self.path}: permission denied"), 1, err)
        for secret in (SECRET, "another secret"):
            self.assertNotIn(secret, out + err)


if __name__ == "__main__":
    unittest.main()
