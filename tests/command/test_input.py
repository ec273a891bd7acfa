#!/usr/bin/python3
"""Bad input is said in words with the fix, has its status, and leaves no lock; and no credentials are seen anywhere."""
import contextlib
import os
import pathlib
import signal
import socket
import threading
import unittest

from bench import Case, children, wait_for

SECRET = "open sesame"


class Listener:
    """A way to a server, which keeps all that clients say."""

    def __init__(self, server):
        self.server, self.seen = server, b""
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            host, port = self.server.rsplit(":", 1)
            server = socket.create_connection((host, int(port)))
            threading.Thread(target=self.carry, args=(client, server, True), daemon=True).start()
            threading.Thread(target=self.carry, args=(server, client, False), daemon=True).start()

    def carry(self, one, other, keep):
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                self.seen += data if keep else b""
                other.sendall(data)
        with contextlib.suppress(OSError):
            other.shutdown(socket.SHUT_WR)

    def close(self):
        self.socket.close()


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


class Credentials(Case):
    def setUp(self):
        super().setUp()
        self.file("secret").write_text(f"alice:{SECRET}\n")
        self.options = ["--digest-file", self.file("secret")]
        self.path = "/secrets/" + self._testMethodName

    def below(self, pid):
        return [pid, *(each for child in children(pid) for each in self.below(child))]

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
            for pid in pids:
                for name in ("cmdline", "environ"):
                    self.assertNotIn(SECRET.encode(), pathlib.Path(f"/proc/{pid}/{name}").read_bytes())
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
        config.write_text(f"[paddock]\nservers={proxy.address}\ndigest-file={self.file('secret')}\n")
        self.environment.pop("PADDOCK_SERVERS", None)
        self.paddock(0, *run)
        self.assertIn(SECRET.encode(), proxy.seen)
        self.paddock(0, "run", "-s", proxy.address, "--config", config, self.path, "--", "true")  # the same servers
        config.write_text(f"[paddock]\nservers=127.0.0.1:1\ndigest-file={self.file('secret')}\n")
        for others in (["-s", proxy.address], []):
            self.environment["PADDOCK_SERVERS"] = proxy.address
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
            for words in (self.path, "world:anyone", "accept_unprotected"):
                self.assertIn(words, err)
        self.paddock(0, "run", *self.options, "--accept-unprotected", self.path, "--", "true")
        config = self.file("config")
        config.write_text(f"[paddock]\nservers={self.server.hosts}\naccept-unprotected=true\n")
        self.paddock(0, "run", *self.options, "--config", config, self.path, "--", "true")
        config.write_text("[paddock]\naccept-unprotected=maybe\n")
        self.paddock(64, "run", *self.options, "--config", config, self.path, "--", "true")

    def test_another_user(self):
        """Refused in words, without either secret."""
        self.paddock(0, "run", *self.options, self.path, "--", "true")
        self.file("other").write_text("bob:another secret\n")
        process = self.start("run", "-v", "--digest-file", self.file("other"), "-w", "5", self.path, "--", "true")
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 69, err)
        for secret in (SECRET, "another secret"):
            self.assertNotIn(secret, out + err)


if __name__ == "__main__":
    unittest.main()
