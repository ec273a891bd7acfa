"""What is recorded: scenes on a terminal, each from a real run on a throw-away server."""
import os
import pathlib
import subprocess
import tempfile
import time

from lease import Run
from terminal import Failed, Session

PROMPT = "$ "
WIDE = 80
CTRL_C, CTRL_Z = "\x03", "\x1a"


class Stage:
    """A server, a folder, and machines with names of their own on which programs run."""

    def __init__(self, build, run, tick=200):
        self.build, self.run = build, run
        self.hosts, self.link, self.order = run.servers("--tick", tick)
        self.folder = tempfile.TemporaryDirectory()
        self.environment = {"PATH": f"{build / 'command'}:{os.environ['PATH']}", "HOME": self.folder.name, "TERM": "xterm", "LANG": "C.UTF-8",
                            "PS1": PROMPT, "PADDOCK_SERVERS": self.hosts, "CUT": self.link, "HISTFILE": ""}

    def machine(self, name):
        """Begins a command that runs on a machine of that name. When its process is killed, all that it started is."""
        user = [] if os.geteuid() == 0 else ["--map-root-user", "--user"]
        return ["unshare", *user, "--uts", "--pid", "--mount-proc", "--fork", "--kill-child",
                "sh", "-c", 'hostname "$0" && exec "$@"', name]

    def on(self, name, *words):
        return self.run.start(*self.machine(name), *words, env=self.environment, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def holder(self, name, path, *options):
        """Somebody on that machine who queues there, and works until `finish`."""
        return self.on(name, "paddock", "run", "--session-timeout", "4", *options, path, "--", "sh", "-c",
                       'until [ -e "$HOME/$0" ]; do sleep 0.1; done', name)

    def finish(self, name):
        pathlib.Path(self.folder.name, name).touch()

    def shell(self, columns, rows, name="ops"):
        return Session([*self.machine(name), "bash", "--norc", "--noprofile", "-i"], columns, rows, self.environment, self.folder.name)


def demo(build, columns, rows):
    """./run demo --quick: the frames, from the moment on when its servers run."""
    session = Session([build / "demo/demo", "--quick"], columns, rows, said=f"{PROMPT}./run demo --quick\r\n\r\n")
    if session.finish(90) != 0:
        raise Failed(f"the demo: {session.text()}")
    begun = session.frames[1][0] - 0.4
    return [session.frames[0], *((at - begun, top, rows) for at, top, rows in session.frames[1:])]


def watch(build, columns, rows):
    """The frames of `paddock watch`, and what was done meanwhile."""
    path, notes = "/jobs/backup", []
    with Run(build) as run:
        stage = Stage(build, run)
        shell = stage.shell(columns, rows)

        def note(words):
            notes.append((shell.now(), words))
        shell.until(r"^\$")
        shell.frames = [(0.0, *shell.frames[-1][1:])]
        shell.begun = time.monotonic()
        note("three machines want the lock of a job")
        stage.holder("web1", path)
        shell.wait(0.5)
        second = stage.holder("web2", path)
        shell.wait(0.5)
        stage.holder("web3", path)
        shell.type(f"paddock watch --every 0.2 {path}")
        shell.until("web3")
        shell.wait(2)
        note("web1 has finished")
        stage.finish("web1")
        shell.until(r"(?s)\A(?!.*web1)")
        shell.wait(2)
        note("a fourth comes")
        stage.holder("web4", path)
        shell.until("web4")
        shell.wait(1.5)
        note("the machine web2 dies: its session has to expire")
        second.kill()
        shell.until(r"(?s)\A(?!.*web2)")
        note("web3 is granted the lock, with a larger token")
        shell.wait(3)
        frames = list(shell.frames)
        shell.type("\x03", enter=False)
        shell.close()
    return frames, notes


# ---- each verb, for readers of this project: typed at a terminal of 80 columns

PROMPTED = r"\$\n*\Z"


def typed(stage, shell, line):
    """A line, until the prompt is back. (line, seconds, key): a key is pressed after that time, and Ctrl-C after as long again.
    (line, seconds, order): the servers get an order, and the line ends by itself."""
    words, seconds, deed = line if isinstance(line, tuple) else (line, 0, "")
    shell.type(words, key_by_key=False)
    shell.wait(seconds)
    if len(deed) > 1:
        stage.order(deed)
    elif deed:
        shell.type(deed, enter=False)
        if deed != CTRL_C:
            shell.wait(seconds)
            shell.type(CTRL_C, enter=False)
    shell.until(PROMPTED)


def busy(stage):
    """Holders and waiters at some paths."""
    for name in ("web1", "web2", "web3"):
        stage.holder(name, "/jobs/backup", "--on-ask", "term")
        time.sleep(0.4)
    for name in ("db1", "db2"):
        stage.holder(name, "/pools/build", "--slots", "2")
        time.sleep(0.3)
    stage.on("app1", "paddock", "elect", "/leaders/scheduler", "--session-timeout", "4", "--", "sleep", "600")
    time.sleep(0.5)


VERBS = {
    "run": ["paddock run /free -- echo working", "paddock run -v /free -- echo working", "paddock run -n /jobs/backup -- echo working; echo status $?",
            "paddock run -w 1 /jobs/backup -- echo working; echo status $?", ("paddock run /jobs/backup -- echo working", 6, CTRL_C),
            ("paddock run /free -- sleep 60", 2, CTRL_Z),
            ("paddock run -s $CUT --session-timeout 4 /free -- sleep 60", 2, "cut victim"), "echo status $?",
            "paddock run --slots 3 /pools/free -- sh -c 'echo token $PADDOCK_TOKEN'", "paddock run -n --slots 2 /pools/build -- true; echo status $?"],
    "hold": [("paddock hold /free", 2, CTRL_C), ("paddock hold /jobs/backup", 5, CTRL_C)],
    "elect": [("paddock elect /leaders/mine -- sh -c 'echo I lead; exec sleep 60'", 3, CTRL_C), ("paddock elect --observe /leaders/scheduler", 2, CTRL_C)],
    "show": ["paddock show /jobs/backup", "paddock show /pools/build", "paddock show /nowhere; echo status $?", "paddock show --json /jobs/backup"],
    "watch": [("paddock watch /jobs/backup", 3, CTRL_C)],
    "ls": ["paddock ls", "paddock ls /jobs", "paddock ls /nowhere; echo status $?"],
    "top": [("paddock top", 3, CTRL_C), "paddock top --json"],
    "wait": ["paddock wait /free && echo free", "paddock wait -w 1 /jobs/backup; echo status $?"],
    "check": ["paddock run /free -- sh -c 'paddock check \"$PADDOCK_SEQUENCER\"; echo status $?'", "paddock check nonsense; echo status $?"],
    "doctor": ["paddock doctor /; echo status $?"],
    "fence": ["paddock fence --create orders.fence 10:0 -- echo written", "paddock fence orders.fence 9:0 -- echo written; echo status $?"],
    "job": ["paddock job --every 1h /jobs/nightly -- echo done", "paddock job -v --every 1h /jobs/nightly -- echo done; echo status $?",
            "paddock job --history /jobs/nightly"],
    "ask": ["paddock ask --within 5 /jobs/backup; echo status $?", "paddock ask /nowhere; echo status $?"],
    "break": ["paddock show /jobs/backup", "paddock break --token 1 /jobs/backup/x; echo status $?"],
    "server": ["paddock server -- sh -c 'echo $PADDOCK_SERVERS'"],
}


def verb(build, name, folder):
    """Writes FOLDER/NAME.txt."""
    with Run(build) as run:
        stage = Stage(build, run)
        busy(stage)
        shell = stage.shell(WIDE, 24)
        shell.until(r"^\$")
        for line in VERBS[name]:
            typed(stage, shell, line)
        pathlib.Path(folder, f"{name}.txt").write_text(shell.transcript())
        shell.close()
