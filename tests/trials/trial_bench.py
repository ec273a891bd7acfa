"""The bench of a trial: three servers, the player processes, and how they are killed, paused, cut off and healed."""
import os
import signal
import time
from pathlib import Path

from kazoo.client import KazooClient
from play.bench import Bench
from play.event_log import EventLog, now
from play.logbook import Logbook
from play.nodes import left_over
from play.processes import Broken, Process, die_with_parent

HERE = Path(__file__).resolve().parent
READY_S, DONE_S, STOP_S = 60, 30, 10
PATH = "/trial"


class Player(Process):
    def __init__(self, name, argv, errors, log, link):
        super().__init__(name, argv, errors, die_with_parent)
        self.log, self.link = log, link
        self.stopped = False

    def thread_states(self):
        """The state letters of its threads. A thread that ends meanwhile has none."""
        for task in Path(f"/proc/{self.child.pid}/task").iterdir():
            try:
                yield (task / "stat").read_text().rsplit(")", 1)[1].split()[0]
            except FileNotFoundError:
                pass

    def stop(self):
        """Returns when every thread is stopped."""
        os.kill(self.child.pid, signal.SIGSTOP)
        end = time.monotonic() + STOP_S
        while any(state not in "TtZX" for state in self.thread_states()):
            if time.monotonic() > end:
                raise Broken(f"{self.name} does not stop")
            time.sleep(0.001)
        self.stopped = True

    def go_on(self):
        os.kill(self.child.pid, signal.SIGCONT)
        self.stopped = False


class TrialBench(Bench):
    def __init__(self, build, work, session_ms, tick_ms):
        super().__init__(build, work)
        self.session_ms, self.tick_ms = session_ms, tick_ms
        self.links = {}
        self.logbook = Logbook(self.work)
        self.driver_log = EventLog(self.work / "driver.log")
        self.note = self.driver_log.note

    def raise_servers(self, links):
        """Starts three servers. Each name in links gets a link of its own to all of them, which can be cut."""
        arguments = ["--nodes", "3", "--tick", str(self.tick_ms)]
        for name in links:
            arguments += ["--link", name]
        for line in self.raise_server(*arguments):
            word, name, hosts = line.split()
            if word == "link":
                self.links[name] = hosts

    def start(self, name, program, *more, link=None, wait=True):
        """Starts a player. program is the name of a C program, or of a Java source in this folder, NAME.java."""
        if program.endswith(".java"):
            # Java knows CLOCK_MONOTONIC only. The difference is the time for which the machine has slept.
            command, more = self.java(HERE / program), (*more, "--clock", now() - time.monotonic_ns())
        else:
            command = [self.find(program)]
        log = self.work / f"{name}.log"
        argv = command + ["--hosts", self.links[link] if link else self.hosts, "--path", PATH, "--identity", name,
                          "--log", log, "--session", self.session_ms, *more]
        player = Player(name, argv, self.work / f"{name}.err", log, link)
        self.enlist(player)
        self.note("started", who=name)
        if wait:
            player.expect("ready", READY_S)
        return player

    def expect_alive(self, player):
        """The next action on the player would hide that it ended by itself."""
        if not player.alive:
            raise Broken(f"{player.name} ended by itself, status {player.child.returncode}: {player.complaint()}")

    def kill(self, player):
        self.expect_alive(player)
        when = self.note("killing", who=player.name)
        Process.kill(player)
        self.note("killed", who=player.name)
        return when

    def pause(self, player):
        self.expect_alive(player)
        when = self.note("stopping", who=player.name)
        player.stop()
        self.note("stopped", who=player.name)
        return when

    def resume(self, player):
        when = self.note("resuming", who=player.name)
        player.go_on()
        self.note("resumed", who=player.name)
        return when

    def cut(self, player):
        when = self.note("cutting", who=player.name)
        self.order("cut", player)
        self.note("cut", who=player.name)
        return when

    def heal(self, player):
        when = self.note("healing", who=player.name)
        self.order("heal", player)
        self.note("healed", who=player.name)
        return when

    def order(self, what, player):
        self.server.say(f"{what} {player.link}")
        self.server.expect("ok", 10)

    def finish(self, player):
        """The player gives up what it has, and ends well."""
        self.expect_alive(player)
        self.note("finishing", who=player.name)
        player.end_input()
        player.expect("done", DONE_S)
        if player.wait(DONE_S) != 0:
            raise Broken(f"{player.name} failed: {player.complaint()}")
        self.note("finished", who=player.name)

    def rest(self, players, paths, seconds):
        """All players rest, and stay connected. A node that is still on the paths after so many seconds is a fault."""
        for player in players:
            player.say("rest")
        for player in players:
            player.expect("rested", DONE_S)
        zk = KazooClient(hosts=self.hosts)
        zk.start(timeout=10)
        try:
            left = left_over(zk, paths, seconds)
        finally:
            zk.stop()
            zk.close()
        return [f"left behind: {', '.join(left)}"] if left else []

    def close(self):
        super().close()
        self.driver_log.close()
