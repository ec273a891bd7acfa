#!/usr/bin/python3
"""`paddock elect` on a real server: terms, the gate, events, the check, observers, and that nothing of the work outlives a term."""
import ctypes
import json
import os
import pathlib
import pty
import re
import select
import signal
import socket
import subprocess
import threading
import time
import unittest

from bench import PADDOCK, PATIENCE, WITHOUT_HTTP, Case, alive, children, state, wait_for
import openmetrics

PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 17, 0x4206, 0x4207  # of one thread, where SIGSTOP stops all


class Elect(Case):
    timeout = 20  # of sessions, s: none is lost, however busy the machine is

    def stand(self, *options, work="echo started >> {log}; exec sleep 60", name="log", **more):
        """A candidate, whose command writes into a file of that name."""
        log = self.file(name)
        return self.start("elect", self.path, "--session-timeout", self.timeout, *options, "--", "sh", "-c", work.format(log=log), **more)

    def lines(self, name="log"):
        return self.file(name).read_text().splitlines() if self.file(name).exists() else []

    def await_lines(self, count, name="log"):
        return wait_for(f"{count} lines in {name}", lambda: len(self.lines(name)) >= count and self.lines(name))

    def finish_by(self, process, number, status):
        process.send_signal(number)
        return self.finish(process, status)


class Terms(Elect):
    timeout = 2

    def test_what_it_says(self):
        """Each step of a candidate, by default; and no step twice."""
        first = self.stand("--id", "one", "--pause", "60", "--check", "true", work="echo started >> {log}; read line; exit 3", stdin=subprocess.PIPE)
        self.await_lines(1)
        token = self.server.client.exists(f"{self.path}/{self.nodes()[0]}").czxid
        second = self.stand("--id", "two", name="second")
        said = iter(second.stderr.readline, "")
        self.assertEqual(next(said), f"paddock: we stand for {self.path}, as two\n")
        self.assertEqual(next(said), f"paddock: one leads {self.path}, token {token}\n")
        first.stdin.close()
        first.stdin = None
        said = (line for line in said if "nobody leads" not in line)  # it may be told in between
        self.assertRegex(next(said), rf"^paddock: we lead {self.path}, token \d+\n$")
        said = [line for line in (first.stderr.readline() for _ in range(4))]
        self.assertEqual(said, ["paddock: the check succeeds\n", f"paddock: we stand for {self.path}, as one\n",
                                f"paddock: we lead {self.path}, token {token}\n",
                                f"paddock: we do not lead {self.path} any more (its command ended with 3)\n"])
        for process in (first, second):
            process.terminate()
            process.wait()

    def test_one_after_the_other(self):
        """One leads; when it ends the next one does, whose command has the environment of `run`."""
        first = self.stand("--id", "one")
        self.await_lines(1)
        second = self.stand("--id", "two", name="second", work="env | grep ^PADDOCK_ > {log}; exec sleep 60")
        wait_for("two candidates", lambda: len(self.nodes()) == 2)
        data = sorted(self.server.client.get(f"{self.path}/{node}")[0] for node in self.nodes())
        self.assertEqual(data, [b"one", b"two"])
        self.assertFalse(self.file("second").exists())
        self.finish_by(first, signal.SIGTERM, 143)
        values = dict(line.split("=", 1) for line in self.await_lines(8, "second"))
        self.assertEqual(values["PADDOCK_SEQUENCER"], f"pdk1 {values['PADDOCK_ZNODE']} leader {values['PADDOCK_TOKEN']} 0")
        self.assertEqual(values["PADDOCK_PATH"], self.path)
        self.finish_by(second, signal.SIGTERM, 143)
        self.assert_no_node()

    def test_again_and_again(self):
        """A command that ends by itself gives way to the next candidate, and is run again."""
        a = self.stand("--pause", "0.1", work="echo a $PADDOCK_TOKEN >> {log}; exit 3")
        b = self.stand("--pause", "0.1", work="echo b $PADDOCK_TOKEN >> {log}")
        wait_for("turns", lambda: sum(line[0] == "a" for line in self.lines()) > 2 and sum(line[0] == "b" for line in self.lines()) > 2)
        tokens = [int(line.split()[1]) for line in self.lines()]
        self.assertEqual(tokens, sorted(set(tokens)))
        for process in (a, b):
            process.terminate()
            self.assertIn(self.finish_any(process), (3, 0, 143))
        self.assert_no_node()

    def finish_any(self, process):
        process.communicate(timeout=30)
        return process.returncode

    def test_the_whole_family(self):
        """TERM goes to the group, and what is left of it is killed before the node goes; the status is the command's."""
        process = self.start("elect", self.path, "--", *self.family("trap 'exit 5' TERM"))
        pids = [self.number("leader"), self.number("worker")]
        self.finish_by(process, signal.SIGTERM, 5)
        self.assertFalse(any(map(alive, pids)))
        self.assert_no_node()

    def test_signals(self):
        holder = self.stand()
        self.await_lines(1)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1):
            process = self.stand(name="never")
            wait_for("two candidates", lambda: len(self.nodes()) == 2)
            self.finish_by(process, number, 128 + number)
            self.assertEqual(len(self.nodes()), 1)
        self.assertFalse(self.file("never").exists())
        self.finish_by(holder, signal.SIGHUP, 129)
        process = self.stand(work="trap 'echo hup >> {log}' HUP; echo up >> {log}; while :; do sleep 0.05; done", name="daemon")
        self.await_lines(1, "daemon")
        process.send_signal(signal.SIGHUP)
        self.await_lines(2, "daemon")
        self.finish_by(process, signal.SIGINT, 130)

    def test_terminal(self):
        """The command of each term has the terminal's foreground. Ctrl-C reaches it, and the program ends when it dies of that."""
        script = f"echo $(ps -o pgid=,tpgid= -p $$) >> {self.file('groups')}; " \
                 f"[ -e {self.file('last')} ] || exit 0; read answer; echo got $answer; while :; do sleep 0.05; done"
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(PADDOCK, ["paddock", "elect", self.path, "--pause", "0.1", "--", "sh", "-c", script], self.environment)
        self.await_lines(2, "groups")
        self.file("last").touch()
        begun = len(self.lines("groups"))
        os.write(terminal, b"yes\n")
        seen = b""
        while b"got yes" not in seen:
            seen += os.read(terminal, 1000)
        os.write(terminal, b"\x03")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 130)
        os.close(terminal)
        self.assertGreaterEqual(len(self.lines("groups")), begun)
        for line in self.lines("groups"):
            group, foreground = line.split()
            self.assertEqual(group, foreground)
        self.assert_no_node()

    def test_stopped_between(self):
        """paddock stands still from the gate on until its session is over: the work does not begin under the old leadership."""
        gate = f"[ -e {self.file('once')} ] || {{ touch {self.file('once')}; kill -STOP $(ps -o ppid= -p $PPID); }}"
        process = self.stand("--on-elected", gate, work="date +%s%N >> {log}; exec sleep 60")
        wait_for("a stopped paddock", lambda: state(process.pid) == "T")
        successor = self.stand(name="next", work="date +%s%N > {log}; exec sleep 60")
        self.await_lines(1, "next")
        process.send_signal(signal.SIGCONT)
        wait_for("a candidate again", lambda: len(self.nodes()) == 2)
        self.assertFalse(self.file("log").exists())
        self.finish_by(successor, signal.SIGTERM, 143)
        self.await_lines(1)
        self.finish_by(process, signal.SIGTERM, 143)

    def test_killed(self):
        """kill -9 of paddock: the command is dead at once, and so are its guardians."""
        process = self.start("elect", self.path, "--check", "true", "--on-leader", "true", "--", *self.family())
        pids = [self.number("leader"), self.number("worker"), *children(process.pid)]
        self.assertEqual(len(pids), 5)
        process.kill()
        wait_for("their death", lambda: not any(map(alive, pids)), 2)

    def test_pause(self):
        """After a term that ended by itself it stands again when the pause is over."""
        process = self.stand("--pause", "1.5", work="date +%s%N >> {log}")
        first, second = map(int, self.await_lines(2))
        self.assertGreater(second - first, 1.5e9)
        process.terminate()
        process.communicate(timeout=PATIENCE)

    def test_max_hold(self):
        process = self.stand("--max-hold", "0.3", "--pause", "0", work="echo x >> {log}; exec sleep 60")
        self.await_lines(3)
        self.finish_by(process, signal.SIGTERM, 143)


class Losses(Elect):
    def test_cut_off(self):
        """The command is dead before the next one's begins, by what they wrote; and it is run again after the connection is back."""
        self.environment["PADDOCK_SERVERS"] = self.server.link
        process = self.start("elect", self.path, "--session-timeout", 2, "--on-deposed", f"echo $PADDOCK_REASON >> {self.file('why')}",
                             "--", *self.family())
        pids = [self.number("leader"), self.number("worker")]
        other = self.stand("-s", self.server.hosts, name="other", work="date +%s%N >> {log}; exec sleep 60")
        wait_for("two candidates", lambda: len(self.nodes()) == 2)
        self.server.order("cut victim")
        begun = int(self.await_lines(1, "other")[0])
        self.assertFalse(any(map(alive, pids)))
        self.assertLess(max(map(int, self.file("ticks").read_text().split())), begun)
        self.server.order("heal victim")
        wait_for("a candidate again", lambda: len(self.nodes()) == 2)
        self.file("leader").unlink()
        self.finish_by(other, signal.SIGTERM, 143)
        self.number("leader")
        self.assertEqual(len(self.lines("why")), 1)
        process.kill()

    def test_node_gone(self):
        """A node that somebody deletes: killed, and elected again."""
        process = self.stand("-v")
        self.await_lines(1)
        self.server.client.delete(f"{self.path}/{self.nodes()[0]}")
        self.await_lines(2)
        _, err = self.finish_by(process, signal.SIGTERM, 143)
        self.assertIn("NODE_GONE", err)

    def test_guardian_killed(self):
        process = self.start("elect", self.path, "--check", "true", "--", *self.family())
        pids = [self.number("leader"), self.number("worker")]
        guardians = children(process.pid)
        self.assertEqual(len(guardians), 2)
        os.kill(guardians[1], signal.SIGKILL)
        process.wait(30)
        self.assertEqual(process.returncode, 70)
        self.assertFalse(any(map(alive, pids)))
        self.assert_no_node()


class Hooks(Elect):
    def test_gate(self):
        """The work begins after the gate has ended with 0, never otherwise; it runs under the hold."""
        gate = f"echo gate $PADDOCK_TOKEN >> {self.file('log')}; [ -e {self.file('open')} ]"
        process = self.stand("--pause", "0.1", "--on-elected", gate, work="echo work $PADDOCK_TOKEN >> {log}; exec sleep 60")
        self.await_lines(2)
        self.assertEqual({line.split()[0] for line in self.lines()}, {"gate"})
        self.file("open").touch()
        wait_for("the work", lambda: "work" in self.file("log").read_text())
        *_, gate, work = self.lines()
        self.assertEqual(gate.split()[1], work.split()[1])
        self.finish_by(process, signal.SIGTERM, 143)

    def test_a_gate_that_is_ended(self):
        process = self.stand("--on-elected", f"echo gate >> {self.file('log')}; sleep 60", work="echo work >> {log}")
        self.await_lines(1)
        self.finish_by(process, signal.SIGTERM, 143)
        self.assertEqual(self.lines(), ["gate"])

    def test_a_gate_that_ends_well_when_it_is_told_to(self):
        """It had not let the work begin."""
        gate = f"trap 'exit 0' TERM; echo gate >> {self.file('log')}; while :; do sleep 0.02; done"
        process = self.stand("--on-elected", gate, work="echo work >> {log}")
        self.await_lines(1)
        self.finish_by(process, signal.SIGTERM, 0)
        self.assertEqual(self.lines(), ["gate"])

    def test_a_check_that_fails_during_the_gate(self):
        gate = f"trap 'echo end >> {self.file('log')}; exit 0' TERM; echo gate >> {self.file('log')}; while :; do sleep 0.02; done"
        self.file("well").touch()
        process = self.stand("--check", f"[ -e {self.file('well')} ]", "--check-every", "0.1", "--on-elected", gate, work="echo work >> {log}")
        self.await_lines(1)
        self.file("well").unlink()
        self.await_lines(2)
        wait_for("no candidate", lambda: not self.nodes())
        self.finish_by(process, signal.SIGTERM, 143)
        self.assertEqual(self.lines(), ["gate", "end"])

    def test_events(self):
        """In order, and the last one, too, before the program ends; each leader that stays is told."""
        leader = f"echo leader $PADDOCK_LEADER $PADDOCK_LEADER_TOKEN >> {self.file('events')}"
        deposed = f"sleep 0.2; echo deposed $PADDOCK_TOKEN $PADDOCK_REASON $PADDOCK_PATH >> {self.file('events')}"
        process = self.stand("--id", "me", "--on-leader", leader, "--on-deposed", deposed, work="echo $PADDOCK_TOKEN > {log}; exec sleep 60")
        [token] = self.await_lines(1)
        wait_for("the leader", lambda: f"leader me {token}" in self.lines("events"))
        other = self.stand("--id", "other", name="other")
        wait_for("two candidates", lambda: len(self.nodes()) == 2)
        self.finish_by(process, signal.SIGTERM, 143)
        self.assertGreater(self.lines("events").index(f"deposed {token} NONE {self.path}"), self.lines("events").index(f"leader me {token}"))
        self.finish_by(other, signal.SIGTERM, 143)

    def test_an_event_knows_nothing_of_another(self):
        """Each is told of its own: no token of a term that is over, no leader beside a reason."""
        leader = f"echo leader ${{PADDOCK_TOKEN-}} ${{PADDOCK_REASON-}} >> {self.file('events')}"
        deposed = f"echo deposed ${{PADDOCK_LEADER-}} ${{PADDOCK_LEADER_TOKEN-}} >> {self.file('events')}"
        process = self.stand("--pause", "0", "--on-leader", leader, "--on-deposed", deposed, work="sleep 0.2")
        wait_for("three terms", lambda: self.lines("events").count("deposed") >= 3 and self.lines("events").count("leader") >= 2)
        process.terminate()
        process.communicate(timeout=PATIENCE)
        self.assertEqual(set(self.lines("events")), {"leader", "deposed"})

    def test_an_event_that_fails(self):
        process = self.stand("--on-leader", "exit 9")
        self.await_lines(1)
        self.assertTrue(any("status 9" in line for line in iter(process.stderr.readline, "")))
        self.finish_by(process, signal.SIGTERM, 143)

    def test_check(self):
        """A sick candidate does not stand; a sick leader resigns, and stands again when it is well."""
        process = self.stand("--check", f"[ -e {self.file('well')} ]", "--check-every", "0.1", "--pause", "0",
                             work="trap 'echo end >> {log}; exit 0' TERM; echo work >> {log}; while :; do sleep 0.02; done")
        time.sleep(0.5)
        self.assertEqual((self.nodes(), self.lines()), ([], []))
        self.file("well").touch()
        self.await_lines(1)
        self.file("well").unlink()
        self.await_lines(2)
        wait_for("no candidate", lambda: not self.nodes())
        self.file("well").touch()
        self.await_lines(3)
        self.assertEqual(self.lines(), ["work", "end", "work"])
        self.finish_by(process, signal.SIGTERM, 0)

    def test_a_check_that_hangs(self):
        process = self.stand("-v", "--check", f"echo x >> {self.file('checks')}; sleep 60", "--check-every", "0.1")
        self.await_lines(2, "checks")
        self.assertEqual((self.nodes(), self.lines()), ([], []))
        self.finish_by(process, signal.SIGTERM, 143)

    def test_a_check_that_ends_well_too_late(self):
        check = f"trap 'exit 0' TERM; echo x >> {self.file('checks')}; sleep 60 & wait"
        process = self.stand("--check", check, "--check-every", "0.1")
        self.await_lines(3, "checks")
        self.assertEqual((self.nodes(), self.lines()), ([], []))
        self.finish_by(process, signal.SIGTERM, 143)

    def test_checks_have_a_pace(self):
        process = self.stand("--check", f"echo x >> {self.file('checks')}", "--check-every", "0.5")
        self.await_lines(1, "checks")
        time.sleep(2)
        self.assertLessEqual(len(self.lines("checks")), 6)
        self.await_lines(3, "checks")
        self.finish_by(process, signal.SIGTERM, 143)


class Observe(Elect):
    def test_lines(self):
        observer = self.start("elect", "--observe", self.path)
        json_observer = self.start("elect", "--observe", "--json", self.path)
        self.assertEqual(observer.stdout.readline(), "0  -\n")
        empty = json.loads(json_observer.stdout.readline())
        self.assertEqual((empty["path"], empty["leader"], empty["token"]), (self.path, None, "0"))
        process = self.stand("--id", "evil\x1b[2J", work="echo $PADDOCK_TOKEN > {log}; exec sleep 60")
        [token] = self.await_lines(1)
        self.assertEqual(observer.stdout.readline(), f"{token}  evil\\x1b[2J\n")
        shown = json.loads(json_observer.stdout.readline())
        self.assertEqual((shown["leader"], shown["token"], set(shown)), ("evil\x1b[2J", token, {"path", "at_ms", "leader", "token"}))
        self.finish_by(process, signal.SIGTERM, 143)
        self.assertEqual(observer.stdout.readline(), "0  -\n")
        self.assert_no_node()
        for each in (observer, json_observer):
            self.finish_by(each, signal.SIGTERM, 0)


def get(address, path, *options):
    """The status and the body, by curl."""
    done = subprocess.run(["curl", "-sS", "--max-time", "20", "-w", "\n%{http_code}", *options, f"http://{address}{path}"],
                          capture_output=True, text=True, check=True)
    body, _, code = done.stdout.rpartition("\n")
    return int(code), body


class Listen(Elect):
    def setUp(self):
        super().setUp()
        if WITHOUT_HTTP:
            self.skipTest("built without libmicrohttpd (PDK_HTTP=OFF)")

    def listen(self, *options, where="0", **more):
        process = self.stand("-v", "--listen", where, *options, **more)
        found = re.search(r"listening on (\S+) port (\d+)", process.stderr.readline())
        return process, f"[{found[1]}]:{found[2]}" if ":" in found[1] else f"{found[1]}:{found[2]}"

    def assert_json(self, leader, other, process):
        """Who accepts it hears who leads, from each candidate; a proxy that accepts anything gets the words."""
        def ask(address, accept="application/json"):
            code, text = get(address, "/leader", "-H", f"Accept: {accept}")
            return code, json.loads(text)
        code, ours = ask(leader)
        self.assertEqual((code, ours["path"], ours["leads"]), (200, self.path, True))
        self.assertEqual(ours["identity"], f"{socket.gethostname()}:{process.pid}")
        self.assertRegex(ours["token"], r"^[1-9]\d*$")
        theirs = wait_for("the leader as the other knows it", lambda: (found := ask(other))[1]["identity"] and found)
        self.assertEqual(theirs, (503, dict(ours, leads=False)))
        self.assertEqual(ask(leader, "text/html, Application/JSON;q=0.5")[0], 200)
        for accept in ("*/*", "text/plain", "application/json;q=0", "application/jsonx"):
            self.assertEqual(get(leader, "/leader", "-H", f"Accept: {accept}")[1], "leader\n", accept)
        head = get(leader, "/leader", "-i", "-H", "Accept: application/json")[1]
        self.assertRegex(head, r"(?i)content-type: application/json\r?\n")
        self.assertRegex(head, r"(?i)vary: accept\r?\n")

    def test_leader(self):
        """200 for the one that leads, from when its work begins until it ends."""
        first, at_first = self.listen("--on-elected", f"while [ ! -e {self.file('open')} ]; do sleep 0.02; done")
        self.assertTrue(at_first.startswith("127.0.0.1:"))
        wait_for("a node", self.nodes)
        self.assertEqual(get(at_first, "/leader"), (503, "not the leader\n"))
        self.file("open").touch()
        self.await_lines(1)
        second, at_second = self.listen(where="127.0.0.1:0", name="second")
        wait_for("two candidates", lambda: len(self.nodes()) == 2)
        self.assertEqual(get(at_first, "/leader"), (200, "leader\n"))
        self.assertEqual(get(at_second, "/leader")[0], 503)
        self.assert_json(at_first, at_second, first)
        for address in (at_first, at_second):
            self.assertEqual(get(address, "/healthz"), (200, "ok\n"))
        self.assertEqual(get(at_first, "/")[0], 404)
        self.assertEqual(get(at_first, "/leader", "-X", "POST")[0], 405)
        self.assertEqual(get(at_first, "/leader", "-I")[0], 200)
        self.finish_by(first, signal.SIGTERM, 143)
        self.await_lines(1, "second")
        self.assertEqual(get(at_second, "/leader")[0], 200)
        self.finish_by(second, signal.SIGTERM, 143)

    def test_methods(self):
        """A proxy that asks with OPTIONS, as HAProxy does, with HEAD or with a slash at the end is told the same."""
        process, address = self.listen("--on-elected", f"while [ ! -e {self.file('open')} ]; do sleep 0.02; done")
        wait_for("figures", lambda: get(address, "/metrics")[0] == 200)
        for leader in (503, 200):
            for page, status in (("/leader", leader), ("/healthz", 200), ("/metrics", 200), ("/", 404), ("/leaders", 404), ("/leader//", 404)):
                for path in (page, page + "?from=proxy", *([page + "/"] if page != "/" and status != 404 else [])):
                    self.assertEqual(get(address, path)[0], status, path)
                    self.assertEqual(get(address, path, "-I")[0], status, path)
                    self.assertEqual(get(address, path, "-X", "OPTIONS")[0], status, path)
                    self.assertEqual(get(address, path, "-0", "-X", "OPTIONS")[0], status, path)
            for method in ("POST", "PUT", "DELETE", "TRACE", "PATCH", "NONSENSE"):
                code, head = get(address, "/leader", "-i", "-X", method)
                self.assertEqual(code, 405, method)
                self.assertIn("Allow: GET, HEAD, OPTIONS\r\n" if "\r\n" in head else "Allow: GET, HEAD, OPTIONS\n", head)
            self.assertIn("Allow: GET, HEAD, OPTIONS", get(address, "/leader", "-i", "-X", "OPTIONS")[1])
            self.assertEqual(get(address, "/leader", "--data", "x" * 100000)[0], 405)
            self.file("open").touch()
            self.await_lines(1)
        self.finish_by(process, signal.SIGTERM, 143)

    def test_a_busy_address(self):
        """It is a state of the world: 69, with which units are started again. The second gets it when the first has gone."""
        process, address = self.listen()
        port = address.rpartition(":")[2]
        for where in (address, port, "192.0.2.1:8080"):
            _, err = self.paddock(69, "elect", self.path, "--listen", where, "--", "true")
            self.assertIn(f"--listen {where}: ", err)
        if os.geteuid() != 0:
            self.assertIn("CAP_NET_BIND_SERVICE", self.paddock(69, "elect", self.path, "--listen", "1", "--", "true")[1])
        self.finish_by(process, signal.SIGTERM, 143)
        process, _ = self.listen(where=port)
        self.finish_by(process, signal.SIGTERM, 143)

    def drip(self, address, count, source="127.0.0.1", request=b"GET /leader HTTP/1.1\r\nHost: x\r\n"):
        """Connections that never end their request, each with one byte more every now and then. The number of those that stand."""
        host, _, port = address.rpartition(":")
        drips, ended = [], threading.Event()
        for _ in range(count):
            drips.append(socket.create_connection((host, int(port)), timeout=20, source_address=(source, 0)))
            drips[-1].sendall(request)
            drips[-1].setblocking(False)

        def drip_on():
            while not ended.wait(0.1):
                for each in list(drips):
                    try:
                        each.send(b"X")
                        if each.recv(1000) == b"":
                            raise ConnectionError
                    except BlockingIOError:
                        pass
                    except OSError:
                        drips.remove(each)
                        each.close()

        thread = threading.Thread(target=drip_on)
        thread.start()

        def stop():
            ended.set()
            thread.join()
            for each in drips:
                each.close()
        self.addCleanup(stop)
        return lambda: len(drips)

    def test_connections_that_drip(self):
        """They keep no answer from anybody, whatever address they come from; and none of them stands for long."""
        process, address = self.listen(where="0.0.0.0:0")
        address = f"127.0.0.1:{address.rpartition(':')[2]}"
        self.await_lines(1)
        standing = self.drip(address, 150)
        for source in ("127.0.0.2", "127.0.0.1"):
            for page in ("/leader", "/healthz", "/metrics"):
                self.assertEqual(get(address, page, "--interface", source, "--max-time", "3")[0], 200, (source, page))
        more = [self.drip(address, 100, source) for source in ("127.0.0.3", "127.0.0.4")]
        for source in ("127.0.0.2", "127.0.0.1", "127.0.0.3"):
            self.assertEqual(get(address, "/healthz", "--interface", source, "--max-time", "3")[0], 200, source)
        for each in (standing, *more):
            wait_for("their end", lambda stand=each: stand() == 0)
        self.assertEqual(get(address, "/leader")[0], 200)
        self.finish_by(process, signal.SIGTERM, 143)

    def test_a_slow_request(self):
        """It is answered within its time, and the connection is closed then: it has one request."""
        process, address = self.listen()
        self.await_lines(1)
        host, _, port = address.rpartition(":")
        with socket.create_connection((host, int(port)), timeout=20) as connection:
            for part in (b"GET /leader HTTP/1.1\r\n", b"Host: x\r\n", b"\r\n"):
                connection.sendall(part)
                time.sleep(0.3)
            text = b"".join(iter(lambda: connection.recv(1000), b""))
        self.assertRegex(text, rb"^HTTP/1.1 200 OK\r\n(?s:.*)\r\nConnection: close\r\n(?s:.*)\r\n\r\nleader\n$")
        self.finish_by(process, signal.SIGTERM, 143)

    def test_lease(self):
        """503 as soon as the lease is over: before the next one leads."""
        self.environment["PADDOCK_SERVERS"] = self.server.link
        process, address = self.listen("--session-timeout", "2")
        self.await_lines(1)
        successor = self.stand("-s", self.server.hosts, name="next")
        wait_for("two candidates", lambda: len(self.nodes()) == 2)
        self.server.order("cut victim")
        leads = True
        while leads:
            next_one = self.lines("next")  # before the question: an answer may be old when it is read
            leads = get(address, "/leader")[0] == 200
            self.assertFalse(leads and next_one)
        self.await_lines(1, "next")
        self.assertEqual(get(address, "/leader")[0], 503)
        self.server.order("heal victim")
        self.finish_by(successor, signal.SIGTERM, 143)
        process.kill()

    def hold_up(self, process):
        """The program's own thread stands still, and no other one. Returns how it goes on."""
        libc = ctypes.CDLL(None, use_errno=True)

        def order(request):
            self.assertEqual(libc.ptrace(request, process.pid, None, None), 0, os.strerror(ctypes.get_errno()))
        order(PTRACE_SEIZE)
        order(PTRACE_INTERRUPT)
        self.assertEqual(os.waitpid(process.pid, 0)[0], process.pid)  # its stop; or Popen took it for its end
        return lambda: order(PTRACE_DETACH)

    def test_hangs(self):
        """The program's own thread stands still: its guardian ends the command, /leader says so at once, and /healthz soon."""
        process, address = self.listen("--session-timeout", 2, work="trap 'date +%s%N > {log}; exit' TERM; echo $$ > {log}.pid; while :; do sleep 0.02; done")
        self.number("log.pid")
        self.hold_up(process)
        wait_for("another answer", lambda: get(address, "/leader")[0] == 503)
        self.await_lines(1)
        self.assertEqual(get(address, "/leader"), (503, "not the leader\n"))
        wait_for("503", lambda: get(address, "/healthz") == (503, "paddock hangs\n"))
        self.assertEqual(get(address, "/metrics")[0], 200)
        process.kill()

    def test_hangs_for_a_while(self):
        """It goes on with a lease that was renewed meanwhile: the command is ended all the same, so it is 503 until the next term."""
        work = "trap 'echo over >> {log}' TERM; echo $$ > {log}.pid; while :; do sleep 0.02; done"
        process, address = self.listen("--session-timeout", 6, "--pause", 60, work=work)
        self.number("log.pid")
        go_on = self.hold_up(process)
        self.await_lines(1)
        go_on()
        said, ended = "", False
        while not ended:
            ended = "we do not lead" in said
            self.assertEqual(get(address, "/leader")[0], 503, said)
            said += os.read(process.stderr.fileno(), 1000).decode() if select.select([process.stderr], [], [], 0)[0] else ""
        self.finish_by(process, signal.SIGTERM, 143)

    def test_stopped_and_continued(self):
        """Who asks while it is stopped is answered by what is true then: the next one leads."""
        process, address = self.listen("--session-timeout", 2)
        self.await_lines(1)
        successor = self.stand("--session-timeout", 20, name="next")
        wait_for("two candidates", lambda: len(self.nodes()) == 2)
        process.send_signal(signal.SIGSTOP)
        tasks = pathlib.Path(f"/proc/{process.pid}/task")
        wait_for("its stop", lambda: all(state(f"{process.pid}/task/{task.name}") == "T" for task in tasks.iterdir()))
        with socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2])), timeout=PATIENCE) as asker:
            asker.sendall(b"GET /leader HTTP/1.1\r\nHost: x\r\n\r\n")
            self.await_lines(1, "next")
            process.send_signal(signal.SIGCONT)
            self.assertEqual(asker.recv(1000)[:13], b"HTTP/1.1 503 ")
        process.kill()
        self.finish_by(successor, signal.SIGTERM, 143)

    def test_metrics(self):
        """What a scraper reads agrees with what happened."""
        process, address = self.listen("--on-elected", f"while [ ! -e {self.file('open')} ]; do sleep 0.02; done", "--pause", "0.1",
                                       work="echo term >> {log}; sleep 0.1")
        self.file("open").touch()
        self.await_lines(3)
        code, text = get(address, "/metrics")
        self.assertEqual(code, 200)
        terms = len(self.lines())
        families = openmetrics.read(text)
        granted = families["paddock_claims"].samples["paddock_claims_total", "granted"]
        self.assertIn(granted, range(3, terms + 2))
        self.assertIn(families["paddock_hold_seconds"].samples["paddock_hold_seconds_count", ""], (granted - 1, granted))
        self.assertEqual(families["paddock_session_timeout_seconds"].samples["paddock_session_timeout_seconds", ""], 20)
        self.assertEqual(families["paddock_connected"].samples["paddock_connected", ""], 1)
        self.assertEqual(sum(families["paddock_losses"].samples.values()), 0)
        delay = families["paddock_callback_delay_seconds"].samples["paddock_callback_delay_seconds", ""]
        self.assertGreater(delay, 0)
        for _ in range(2):  # another reader; a reading resets nothing
            families = openmetrics.read(get(address, "/metrics")[1])
            self.assertGreaterEqual(families["paddock_callback_delay_seconds"].samples["paddock_callback_delay_seconds", ""], delay)
        head = subprocess.run(["curl", "-sSI", f"http://{address}/metrics"], capture_output=True, text=True, check=True).stdout
        self.assertIn("Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8", head)
        process.kill()

    def test_metrics_without_a_server(self):
        """The figures say so."""
        process, address = self.listen("-s", "192.0.2.1:1")
        wait_for("figures", lambda: get(address, "/metrics")[0] == 200)
        families = openmetrics.read(get(address, "/metrics")[1])
        self.assertEqual(families["paddock_connected"].samples["paddock_connected", ""], 0)
        self.assertEqual(families["paddock_lease_seconds"].samples["paddock_lease_seconds", ""], 0)
        self.assertEqual(families["paddock_lease_least_seconds"].samples, {})
        process.kill()

    def test_usage(self):
        for where in ("127.0.0.1:x", "x:y:z", "[::1]", "", "no.such.host.invalid:0"):
            _, err = self.paddock(64, "elect", self.path, "--listen", where, "--", "true")
            self.assertIn("--listen", err)


class Usage(Elect):
    def test_usage(self):
        for arguments in ([], [self.path], [self.path, "--"], ["relative", "--", "true"], [self.path, "more", "--", "true"],
                          [self.path, "--observe", "--", "true"], [self.path, "--observe", "--id", "x"], ["--observe"],
                          [self.path, "--check-every", "0", "--", "true"], [self.path, "--pause", "-1", "--", "true"],
                          [self.path, "--pause", "nan", "--", "true"], ["/a//b", "--", "true"], [self.path, "--no-such", "--", "true"]):
            _, err = self.paddock(64, "elect", *arguments)
            self.assertIn("paddock: ", err, arguments)
        for more in (["--", "true"], ["--observe"]):
            self.paddock(69, "elect", "-s", "127.0.0.1:1", "--connect-timeout", "0.3", self.path, *more)
        self.paddock(127, "elect", self.path, "--", self.file("missing"))
        self.file("plain").write_text("no program\n")
        self.paddock(126, "elect", self.path, "--", self.file("plain"))
        self.assert_no_node()


if __name__ == "__main__":
    unittest.main()
