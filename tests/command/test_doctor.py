#!/usr/bin/python3
"""`paddock doctor`: nothing is found on a good ensemble of three, and each planted fault is, with its fix."""
import json
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import time
import unittest
import unittest.mock

from kazoo.security import READ_ACL_UNSAFE, make_digest_acl

from bench import BUILD, SLACK, Case, Packets, Server, Way, children, wait_for

WALLCLOCK = str(BUILD / "docker/chaos/wallclock.so")
UUID = "00000000-0000-0000-0000-000000000000"


def version(address):
    """What a server says of itself."""
    with socket.create_connection(address.rsplit(":", 1)) as server:
        server.sendall(b"srvr")
        return re.match(r"Zookeeper version: ([\d.]+)", server.makefile().read()).group(1)


def refuses(address):
    try:
        socket.create_connection(address.rsplit(":", 1)).close()
    except ConnectionRefusedError:
        return True
    return False


def says(address, words):
    try:
        with socket.create_connection(address.rsplit(":", 1)) as server:
            server.sendall(b"srvr")
            return words in server.makefile().read()
    except OSError:
        return False


class Proxy(Way):
    """It is late, or says something else of the server."""

    def __init__(self, hosts, delay=0, words=None):
        super().__init__(hosts, words)
        self.delay = delay

    def passed(self, data, _up):
        time.sleep(self.delay)
        return data


class Keeper(Packets):
    """It answers as ClickHouse Keeper: sessions are counted, and none is taken back. Unless `create2`, it hangs up on that request."""

    SAYS = "ClickHouse Keeper version: v24.8.4.13-stable-53813f6\nLatency min/avg/max: 0/0/0\nZxid: 34\nMode: standalone\nNode count: 4\n"

    def __init__(self, hosts, create2, words=SAYS):
        super().__init__(hosts, {"srvr": words, "conf": "server_id=1\n"})
        self.create2, self.count, self.owners = create2, 0, {}

    def pieces(self, begin):
        frames = super().pieces(begin)

        def passed(source, up):
            first = not begin.isalpha()
            for data in frames(source, up):
                if first and up:  # a new session, whichever it asks for
                    data = data[:8] + bytes(8) + data[16:20] + bytes(8) + data[28:32] + bytes(16) + data[48:]
                elif first:
                    self.count += 1
                    self.owners[data[12:20]] = struct.pack(">q", self.count)
                    data = data[:12] + struct.pack(">q", self.count) + data[20:24] + bytes(16) + data[40:]
                first = False
                yield data
        return passed

    def pass_on(self, body, asked, up):
        if up and struct.unpack(">i", body[4:8])[0] in ((19,) if self.create2 else (15, 19)):
            raise ConnectionError
        for theirs, ours in [] if up else self.owners.items():
            body = body.replace(theirs, ours)
        return body


class Doctor(Case):
    def ask(self, status, *options, hosts=None):
        """The findings, {code: [finding…]}."""
        if hosts:
            self.environment["PADDOCK_SERVERS"] = hosts
        out, _ = self.paddock(status, "doctor", "--json", *options)
        self.assertTrue(out.isascii() and out.strip().isprintable() and out.count("\n") == 1, out)
        self.answer = json.loads(out)
        self.assertEqual(set(self.answer), {"servers", "clock_ahead_ms", "findings"})
        found = {}
        for finding in self.answer["findings"]:
            self.assertEqual(set(finding), {"code", "subject", "what", "fix"})
            self.assertTrue(all(finding.values()), finding)
            found.setdefault(finding["code"], []).append(finding)
        return found

    def another(self, *options):
        server = Server(*options)
        self.addCleanup(server.stop)
        return server

    def proxy(self, **more):
        proxy = Proxy(self.server.hosts, **more)
        self.addCleanup(proxy.close)
        return proxy

    def make(self, below, name, data=b"", **more):
        self.server.client.ensure_path(f"{self.path}/{below}")
        return self.server.client.create(f"{self.path}/{below}/{name}", data, ephemeral=True, **more)


class Good(Doctor):
    """Three servers, with locks on them."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server("--nodes", "3", "--tick", "500")
        cls.addClassCleanup(cls.server.stop)

    def test_nothing(self):
        self.file("secret").write_text("alice:sesame\n")
        holders = [self.hold(), self.hold("--slots", "3/2", "--digest-file", self.file("secret"), path=self.path + "/slots"),
                   self.hold("--shared", path=self.path + "/shared")]
        self.paddock(0, "run", self.path + "/past", "--", "true")
        self.assertEqual(self.ask(0), {})
        self.assertEqual(sorted(server.pop("mode") for server in self.answer["servers"]), ["follower", "follower", "leader"])
        for server in self.answer["servers"]:
            self.assertLess(server.pop("write_ms"), 500 * SLACK)
            self.assertEqual(server.pop("version"), version(server["address"]))
            self.assertIn(server.pop("address"), self.server.hosts)
            self.assertEqual(server, {"serves": True, "tick_ms": 500, "min_session_ms": 1000, "max_session_ms": 60000})
        self.assertLess(abs(self.answer["clock_ahead_ms"]), 2000)
        out, _ = self.paddock(0, "doctor", self.path)
        self.assertTrue(out.endswith("\nnothing found\n"), out)
        self.assertLessEqual(max(map(len, out.splitlines())), 80, out)
        self.assertEqual(self.ask(0, "--digest-file", self.file("secret"), f"{self.path}/slots"), {})
        self.assert_no_node("/paddock-doctor")
        for holder in holders:
            holder.terminate()
            self.finish(holder, 143)


class Servers(Doctor):
    def test_unreachable(self):
        [finding] = self.ask(1, hosts=f"127.0.0.1:1,{self.server.hosts}")["unreachable"]
        self.assertEqual(finding["subject"], "127.0.0.1:1")
        self.assertEqual([server["serves"] for server in self.answer["servers"]], [False, True])
        out, _ = self.paddock(1, "doctor")
        self.assertRegex(out, r"(?m)^unreachable: 127.0.0.1:1: .*refused\n    fix: start it")
        found = self.ask(1, hosts="nowhere.invalid:2181")
        self.assertEqual(list(found), ["unreachable"])

    def test_silent(self):
        """Something listens, and is no ZooKeeper that serves."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            address = f"127.0.0.1:{listener.getsockname()[1]}"
            self.assertEqual(self.ask(1, "--connect-timeout", "0.5", hosts=address)["silent"][0]["subject"], address)
        liar = self.proxy(words={"srvr": "This ZooKeeper instance is not currently serving requests\n", "\0\0\0-": "HTTP/1.1 400 \x1b[2J"})
        self.assertIn("silent", self.ask(1, hosts=liar.hosts))
        out, _ = self.paddock(1, "doctor")
        self.assertTrue(all(line.isprintable() for line in out.splitlines()), out)

    def test_no_quorum(self):
        """Two servers of three are dead: the third one has no quorum."""
        server = self.another("--nodes", "3", "--tick", "500")
        for pid in children(server.process.pid)[1:]:
            os.kill(pid, signal.SIGKILL)
        wait_for("two that are dead", lambda: sum(map(refuses, server.hosts.split(","))) == 2)
        found = self.ask(1, "--connect-timeout", "3", hosts=server.hosts)
        self.assertEqual({code: len(findings) for code, findings in found.items()}, {"unreachable": 2, "silent": 1})
        self.assertEqual([server["serves"] for server in self.answer["servers"]], [False] * 3)

    def test_version(self):
        old = self.proxy(words={"srvr": "Zookeeper version: 3.4.13-2d71af4, built on then\nMode: standalone\n"})
        self.assertIn("3.4.13", self.ask(1, hosts=old.hosts)["version"][0]["what"])

    def test_foreign(self):
        """A server that is no ZooKeeper says so itself, or shows it. run says at once what it lacks."""
        for create2, words in ((False, Keeper.SAYS), (False, "srvr is not executed because it is not in the whitelist.\n"), (True, Keeper.SAYS)):
            keeper = Keeper(self.server.hosts, create2, words)
            self.addCleanup(keeper.close)
            found = self.ask(1, hosts=keeper.hosts)
            self.assertEqual(list(found), ["foreign"])
            whole = " ".join(finding["what"] for finding in found["foreign"])
            self.assertIn("ClickHouse Keeper v24.8.4.13:" if words == Keeper.SAYS else "counts its sessions", whole)
            self.assertEqual("create2" in whole, not create2)
            _, err = self.paddock(0 if create2 else 69, "run", "-v", "--connect-timeout", "600", f"{self.path}/{create2}", "--", "true")
            self.assertIn("no ZooKeeper", err)
            self.assertEqual("create2" in err, not create2)
            self.assertNotIn("answers", err)

    def test_separate_and_unequal(self):
        """Servers of two ensembles, with other limits."""
        other = self.another("--tick", "300", "--max-session", "50000")
        found = self.ask(1, hosts=f"{self.server.hosts},{other.hosts}")
        self.assertEqual({finding["subject"] for finding in found["separate"]}, {self.server.hosts, other.hosts})
        self.assertTrue(any("does not show" in finding["what"] for finding in found["separate"]))
        text = " ".join(finding["what"] for finding in found["unequal"])
        self.assertIn("tickTime is 300 ms", text)
        self.assertIn("from 600 to 50000 ms", text)

    def test_limits(self):
        """A minimum below two ticks, and a maximum below what is asked for."""
        server = self.another("--tick", "2000", "--min-session", "1000", "--max-session", "10000")
        found = self.ask(1, hosts=server.hosts)
        self.assertEqual(set(found), {"minimum", "clamped"})
        self.assertIn("10000 ms", found["clamped"][0]["what"])
        self.assertEqual(self.ask(1, "--session-timeout", "8", hosts=server.hosts).keys(), {"minimum"})

    def test_short(self):
        self.assertIn("short", self.ask(1, "--session-timeout", "0.5", hosts=self.server.hosts))

    def test_slow(self):
        late = self.proxy(delay=0.2)
        self.assertIn("quorum write takes", self.ask(1, "--session-timeout", "9", hosts=late.hosts)["slow"][0]["what"])

    def test_clock(self):
        """The clock here is an hour ahead."""
        self.file("ahead").write_bytes(struct.pack("q", 3600))
        self.environment.update(PADDOCK_WALLCLOCK=str(self.file("ahead")), LD_PRELOAD=WALLCLOCK)
        found = self.ask(1, hosts=self.server.hosts)
        self.assertEqual(list(found), ["clock"])
        self.assertLess(abs(self.answer["clock_ahead_ms"] - 3600000), 10000 * SLACK)

    def test_rate(self):
        """The leader's clock is set while it is looked at."""
        ahead = self.file("ahead")
        ahead.write_bytes(struct.pack("q", 0))
        with unittest.mock.patch.dict(os.environ, PADDOCK_WALLCLOCK=str(ahead), LD_PRELOAD=WALLCLOCK):
            server = self.another()
        process = self.start("doctor", "--json", "-s", server.hosts)
        wait_for("the first node of the doctor", lambda: (stat := server.client.exists("/paddock-doctor")) and stat.cversion > 0)
        with ahead.open("r+b") as file:
            file.write(struct.pack("q", 60))
        out, _ = self.finish(process, 1)
        self.assertIn("rate", [finding["code"] for finding in json.loads(out)["findings"]])

    def test_credentials(self):
        """A server that knows no digest."""
        self.file("secret").write_text("alice:sesame\n")
        server = self.another("--property", "zookeeper.DigestAuthenticationProvider.enabled=false")
        _, err = self.paddock(80, "ls", "--digest-file", self.file("secret"), "-s", server.hosts)
        self.assertNotIn("sesame", err)
        _, err = self.paddock(80, "run", "--no-create", "--digest-file", self.file("secret"), "-s", server.hosts + "/a", "/b", "--", "true")
        self.assertRegex(err, f"{server.hosts}/a: the servers refuse the credentials")
        self.assertIn("credentials", self.ask(1, "--digest-file", self.file("secret"), hosts=server.hosts))


    def test_authentication_is_demanded(self):
        """By SASL alone. It is told at once, and nobody's disk is blamed; and run ends in time."""
        server = self.another(*(word for each in ("enforce.auth.enabled=true", "enforce.auth.schemes=sasl",
                                                   "authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider")
                                for word in ("--property", "zookeeper." + each)))
        self.file("secret").write_text("alice:sesame\n")
        for options in ([], ["--digest-file", self.file("secret")]):
            begun = time.monotonic()
            found = self.ask(1, *options, hosts=server.hosts)
            self.assertEqual(list(found), ["credentials"])
            self.assertIn("enforce.auth", found["credentials"][0]["what"])
            for more in ([], ["-w", "3"], ["--no-create"]):
                _, err = self.paddock(80, "run", *options, *more, "-s", server.hosts + "/a", self.path, "--", "true")
                self.assertIn("enforce.auth.schemes", err)
            self.assertLess(time.monotonic() - begun, 20 * SLACK)

    def test_a_leader_that_serves_nobody(self):
        server = self.another("--nodes", "3", "--tick", "500")
        for pid in children(server.process.pid):  # whoever starts an ensemble waits for a leader that serves: so each is started anew
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8").split("\0")[:-1]
            folder = os.readlink(f"/proc/{pid}/cwd")
            os.kill(pid, signal.SIGKILL)
            one = subprocess.Popen([words[0], "-Dzookeeper.leaderServes=no", *words[1:]], cwd=folder, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
            self.addCleanup(one.wait)
            self.addCleanup(one.kill)
        wait_for("two that follow", lambda: sum(says(one, "Mode: follower") for one in server.hosts.split(",")) == 2)
        found = self.ask(1, hosts=server.hosts)
        self.assertEqual({code: len(findings) for code, findings in found.items()}, {"leader": 1})
        self.assertIn("leaderServes", found["leader"][0]["fix"])

    def test_too_many_connections(self):
        """Nobody but us has the address of a link."""
        server = self.another("--line", "maxClientCnxns=3")
        held = [socket.create_connection(server.hosts.rsplit(":", 1)) for _ in range(5)]
        found = self.ask(1, "--connect-timeout", "3", hosts=server.hosts)
        self.assertEqual(list(found), ["connections"], found)
        self.assertIn("maxClientCnxns", found["connections"][0]["fix"])
        for one in held:
            one.close()

    def test_throttled(self):
        """A session a second."""
        properties = ("tokens=1", "fill_time=1000", "fill_count=1")
        server = self.another(*(word for each in properties for word in ("--property", f"zookeeper.connection_throttle_{each}")))
        self.assertIn("throttled", self.ask(1, hosts=server.hosts))
        self.assertEqual([one["serves"] for one in self.answer["servers"]], [True])


class Trees(Doctor):
    def look(self, *options, status=1):
        return {code: [(finding["subject"], finding["what"]) for finding in findings]
                for code, findings in self.ask(status, *options, self.path, hosts=self.server.hosts).items()}

    def test_counter(self):
        self.make("old", f"_c_{UUID}-lock-2147483000")
        self.make("young", f"_c_{UUID}-lock-2000000000")
        found = self.look()
        self.assertEqual(list(found), ["counter"])
        self.assertEqual([subject for subject, _ in found["counter"]], [f"{self.path}/old"])
        self.assertIn("2147483000", found["counter"][0][1])

    def test_container(self):
        """A persistent directory that is empty for long. One that was never used, and one that is in use, are none."""
        for name in ("used", "fresh", "busy"):
            self.server.client.ensure_path(f"{self.path}/{name}")
        for name in ("used", "busy"):
            self.server.client.create(f"{self.path}/{name}/x", b"")
        self.server.client.delete(f"{self.path}/used/x")
        self.server.client.ensure_path(f"{self.path}/later")
        time.sleep(1.1)
        self.assertEqual(self.look(status=0), {})
        found = self.look("--idle", "1")
        self.assertEqual([subject for subject, _ in found.pop("container")], [f"{self.path}/used"])
        self.assertEqual(found, {})

    def test_open(self):
        """With credentials directories of locks should be this user's alone."""
        self.file("secret").write_text("alice:sesame\n")
        self.make("open", f"_c_{UUID}-lock-0000000001")
        self.make("closed", f"_c_{UUID}-lock-0000000001")
        self.server.client.add_auth("digest", "alice:sesame")
        self.server.client.set_acls(f"{self.path}/closed", [make_digest_acl("alice", "sesame", all=True)])
        self.assertEqual(list(self.look()), ["hidden"])
        found = self.look("--digest-file", self.file("secret"))
        self.assertEqual([subject for subject, _ in found.pop("open")], [f"{self.path}/open"])
        self.assertEqual(found, {})
        theirs = make_digest_acl("bob", "other", create=True)  # anybody else is a stranger, too
        self.server.client.set_acls(f"{self.path}/open", [make_digest_acl("alice", "sesame", all=True), theirs])
        self.assertIn(f"digest:{theirs.id.id}", self.look("--digest-file", self.file("secret"))["open"][0][1])

    def test_orphan(self):
        self.server.client.ensure_path(f"{self.path}/stuck")
        self.server.client.create(f"{self.path}/stuck/_c_{UUID}-lock-0000000003", b"")
        found = self.look()
        self.assertEqual([subject for subject, _ in found.pop("orphan")], [f"{self.path}/stuck/_c_{UUID}-lock-0000000003"])
        self.assertEqual(found, {})

    def test_lock(self):
        """Where the doctor may make no node the clocks are not compared, and it says so."""
        server = self.another()
        server.client.create("/paddock-doctor", b"", acl=READ_ACL_UNSAFE)
        self.assertEqual(list(self.ask(1, hosts=server.hosts)), ["lock"])
        self.assertIsNone(self.answer["clock_ahead_ms"])

    def test_chroot(self):
        """One that is missing is found, and not made."""
        found = self.ask(1, hosts=self.server.hosts + self.path)
        self.assertEqual([(code, finding["subject"]) for code, [finding] in found.items()], [("chroot", self.path)])
        self.assertIsNone(self.answer["clock_ahead_ms"])
        self.assertIsNone(self.server.client.exists(self.path))
        self.server.client.ensure_path(self.path)
        self.assertEqual(self.ask(0, hosts=self.server.hosts + self.path), {})

    def test_hidden(self):
        """A tree that may not be read is no good tree."""
        self.server.client.ensure_path(f"{self.path}/open")
        for name in "ab":
            self.server.client.create(f"{self.path}/{name}", b"", acl=[make_digest_acl("bob", "other", all=True)])
        found = self.look()
        self.assertEqual(list(found), ["hidden"])
        [(subject, what)] = found["hidden"]
        self.assertIn(subject, (f"{self.path}/a", f"{self.path}/b"))
        self.assertIn("1 more", what)
        self.file("secret").write_text("bob:other\n")
        self.assertNotIn("hidden", self.look("--digest-file", self.file("secret"), status=0))

    def test_mixed(self):
        """Recipes and names that do not exclude each other."""
        for below, labels in (("two", ("-lock-", "-latch-")), ("names", ("-lock-", "__lock__")), ("one", ("-__READ__", "-lock-"))):
            for sequence, label in enumerate(labels):
                self.make(below, f"_c_{UUID}{label}{sequence:010}")
        self.make("three", f"_c_{UUID}-lock-0000000001")
        self.server.client.ensure_path(f"{self.path}/three/locks")
        self.make("three/leases", f"_c_{UUID}-lease-0000000001")
        found = self.look()
        self.assertEqual({code: sorted(subject for subject, _ in each) for code, each in found.items()},
                         {"mixed": [f"{self.path}/three", f"{self.path}/two"], "names": [f"{self.path}/names"]})

    def test_path(self):
        self.assertEqual([subject for subject, _ in self.look()["path"]], [self.path])

    def test_usage(self):
        for arguments in (["/a", "/b"], ["relative"], ["/a//b"], ["--idle", "-1"], ["--idle", "nan"], ["--no-such"]):
            self.assertIn("paddock: ", self.paddock(64, "doctor", *arguments)[1])
        with open("/dev/full", "w", encoding="ascii") as full:
            self.assertIn("No space left", self.paddock(70, "doctor", stdout=full)[1])


if __name__ == "__main__":
    unittest.main()
