#!/usr/bin/python3
"""The units for systemd: well formed, and what they start does what their heads say. systemd itself is played here."""
import configparser
import os
import pathlib
import re
import shutil
import signal
import subprocess
import unittest

from kazoo.security import make_digest_acl
from bench import PADDOCK, Case, wait_for

FOLDER = pathlib.Path(os.environ["PDK_SOURCE"], "command")


def read(name):
    unit = configparser.ConfigParser(interpolation=None, comment_prefixes="#")
    unit.optionxform = str
    unit.read(FOLDER / f"paddock-{name}@.service", encoding="utf-8")
    return unit


def words(line, environment):
    """$NAME as a word of its own is split at blanks, and may be none; ${NAME} is one word."""
    for word in line.split():
        match = re.fullmatch(r"\$(\w+)", word)
        if match:
            yield from environment[match[1]].split()
        else:
            yield re.sub(r"\$\{(\w+)\}", lambda found: environment[found[1]], word)


def sample(name):
    """The lines of a sample, with those that it has as comments."""
    return re.sub(r"(?m)^#(?=[\w-]+=)", "", (FOLDER / "samples" / name).read_text(encoding="utf-8"))


class Units(Case):
    def begin(self, name, instance, **settings):
        """As systemd starts paddock-NAME@INSTANCE."""
        service = read(name)["Service"]
        environment = dict(self.environment, **dict(pair.split("=", 1) for pair in service["Environment"].replace("%i", instance).split()))
        environment.update(settings)
        program, *arguments = words(service["ExecStart"], environment)
        self.assertEqual(program, "paddock")
        process = subprocess.Popen([PADDOCK, *arguments], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, process)
        return process

    def stop(self, name, process):
        """TERM to the main process alone."""
        self.assertEqual(read(name)["Service"]["KillMode"], "mixed")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
        self.assertIn(str(process.returncode), ["0", *read(name)["Service"]["SuccessExitStatus"].split()])

    def test_run(self):
        log = self.file("log")
        script = self.file("script")
        script.write_text(f'#!/bin/sh\necho "$PADDOCK_PATH $*" >> {log}\nexec sleep 60\n')
        script.chmod(0o755)
        process = self.begin("run", "nightly", PADDOCK_COMMAND=f"{script} a  b")
        wait_for("the command", log.exists)
        second = self.begin("run", "nightly", PADDOCK_COMMAND=f"{script} second")
        wait_for("two in the queue", lambda: len(self.nodes("/jobs/nightly")) == 2)
        self.stop("run", process)
        wait_for("the second command", lambda: log.read_text() == "/jobs/nightly a b\n/jobs/nightly second\n")
        self.stop("run", second)
        self.assert_no_node("/jobs/nightly")

    def test_elect(self):
        processes = [self.begin("elect", "chief", PADDOCK_COMMAND="sleep 60", PADDOCK_OPTIONS=f"--id machine{i} --pause 0.5",
                                PADDOCK_LOCK=self.path) for i in range(2)]
        wait_for("two candidates", lambda: len(self.nodes()) == 2)
        for process in processes:
            self.stop("elect", process)
        self.assert_no_node()

    def test_sample_of_the_settings(self):
        """NAME.env is what both units can be started with."""
        settings = dict(line.split("=", 1) for line in sample("NAME.env").splitlines() if re.match(r"\w+=", line))
        self.assertEqual(set(settings), {"PADDOCK_SERVERS", "PADDOCK_COMMAND", "PADDOCK_OPTIONS", "PADDOCK_LOCK"})
        settings.update(PADDOCK_SERVERS=self.server.hosts, PADDOCK_COMMAND="sleep 60", PADDOCK_LOCK=self.path,
                        PADDOCK_OPTIONS=settings["PADDOCK_OPTIONS"].replace("8080", "0"))
        elect = self.begin("elect", "x", **settings)
        wait_for("the candidate", self.nodes)
        self.stop("elect", elect)
        settings["PADDOCK_OPTIONS"] = settings["PADDOCK_OPTIONS"].replace("--listen 0", "")
        run = self.begin("run", "x", **settings)
        wait_for("the holder", self.nodes)
        self.stop("run", run)

    def test_sample_of_the_configuration(self):
        """The command reads paddock.conf as it is, and with all of its lines. It names every key that there is."""
        file, secret = self.file("paddock.conf"), self.file("secret")
        secret.write_text("alice:sesame\n")
        del self.environment["PADDOCK_SERVERS"]
        servers = f"servers={self.server.hosts}"
        file.write_text(re.sub("servers=.*", servers, (FOLDER / "samples/paddock.conf").read_text(encoding="utf-8")))
        self.paddock(0, "run", "--config", file, self.path, "--", "true")
        everything = sample("paddock.conf").replace("/etc/paddock.digest", str(secret))
        file.write_text(re.sub("servers=.*", servers, everything))
        self.paddock(0, "run", "--config", file, f"{self.path}/private", "--", "true")
        self.assertIn("digest", str(self.server.client.get_acls(f"{self.path}/private")[0]))
        file.write_text(f"[paddock]\n{servers}\nno-such=1\n")
        _, err = self.paddock(64, "run", "--config", file, self.path, "--", "true")
        known = re.search(r"known are ([^;\n]*)", err)[1].split(", ")
        self.assertEqual(re.findall(r"(?m)^([\w-]+)=", everything), known)

    def test_failures(self):
        """What no restart mends is not started again."""
        self.server.client.create("/closed", acl=[make_digest_acl("alice", "sesame", all=True)])
        for name in ("run", "elect"):
            service = read(name)["Service"]
            for settings in ({"PADDOCK_COMMAND": str(self.file("missing"))}, {"PADDOCK_COMMAND": "true", "PADDOCK_LOCK": "relative"},
                             {"PADDOCK_COMMAND": "true", "PADDOCK_OPTIONS": "--no-such"},
                             {"PADDOCK_COMMAND": "true", "PADDOCK_LOCK": "/closed"}):
                process = self.begin(name, "x", **settings)
                process.communicate(timeout=30)
                self.assertIn(str(process.returncode), service["RestartPreventExitStatus"].split())

    def test_verified(self):
        """By systemd-analyze(1), where it is."""
        if not shutil.which("systemd-analyze"):
            self.skipTest("systemd-analyze is not installed")
        for name in ("run", "elect"):
            unit = self.file(f"paddock-{name}@x.service")
            unit.write_text((FOLDER / f"paddock-{name}@.service").read_text().replace("ExecStart=paddock", f"ExecStart={PADDOCK}"))
            done = subprocess.run(["systemd-analyze", "--man=no", "verify", unit], capture_output=True, text=True, check=False)
            self.assertNotIn(unit.name, done.stderr)
            unit.write_text(unit.read_text().replace("KillMode=", "KillModus="))
            done = subprocess.run(["systemd-analyze", "--man=no", "verify", unit], capture_output=True, text=True, check=False)
            self.assertIn(unit.name, done.stderr)

    def test_hardened(self):
        """The drop-in is understood, and leaves a unit little to do harm with."""
        if not shutil.which("systemd-analyze"):
            self.skipTest("systemd-analyze is not installed")
        for name in ("run", "elect"):
            unit = self.file(f"paddock-{name}@x.service")
            unit.write_text((FOLDER / f"paddock-{name}@.service").read_text().replace("ExecStart=paddock", f"ExecStart={PADDOCK}"))
            self.assertGreater(self.exposure(unit), 80)
            folder = self.file(f"{unit.name}.d")
            folder.mkdir()
            (folder / "hardening.conf").write_text(sample("hardening.conf"))
            done = subprocess.run(["systemd-analyze", "--man=no", "verify", unit], capture_output=True, text=True, check=False)
            self.assertNotIn(unit.name, done.stderr)
            self.assertLess(self.exposure(unit), 20)

    def exposure(self, unit):
        """0: it may do nothing that systemd could forbid; 100: everything."""
        done = subprocess.run(["systemd-analyze", "security", "--no-pager", "--offline=yes", unit], capture_output=True, text=True, check=False)
        return 10 * float(re.search(r"exposure level for \S+: ([\d.]+)", done.stdout)[1])


if __name__ == "__main__":
    unittest.main()
