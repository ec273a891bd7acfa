#!/usr/bin/python3
"""Whom the guardian may end, and whom it can: numbers that change hands, other users, a machine without /proc, and the first process of
a container. Namespaces and other users need root; who is not root is told so."""
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

from bench import BUILD, NOBODY, PADDOCK, PATIENCE, SLACK, Case, alive, children, state, wait_for

ROOT = os.geteuid() == 0
IN_NAMESPACE = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
# In a chroot /proc cannot be mounted so: its root is no mount.
NAMESPACES = ROOT and subprocess.run([*IN_NAMESPACE, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0
# Becomes root for good, as sudo does, and then runs the rest.
BECOME = "#define _GNU_SOURCE\n#include <unistd.h>\nint main(int c, char **v) { (void)c; return setresuid(0, 0, 0) || execvp(v[1], v + 1); }\n"


class Reach(Case):
    def unshared(self, *command, **more):
        """A process that is number 1 of a PID namespace, with a /proc of its own."""
        process = subprocess.Popen([*IN_NAMESPACE, *map(str, command)], env=self.environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
        self.addCleanup(self.end, process)
        return process

    def write(self, name, text):
        path = self.file(name)
        path.write_text(text)
        path.chmod(0o755)
        return path


# ---- in the namespace: the number of a dead leader is given to somebody else

def in_namespace(path, folder):
    """The command ends and leaves behind who ignores TERM in a session of its own. Then an unrelated process gets the command's number,
    if the kernel gives it away, and leads a session, so a group, with that number. Prints what became of it."""
    folder = pathlib.Path(folder)
    left = f"trap '' TERM; echo $$ > {folder}/left; while :; do sleep 0.1; done"
    command = f"echo $$ > {folder}/leader; setsid sh -c \"$0\" & while [ ! -s {folder}/left ]; do sleep 0.01; done"
    process = subprocess.Popen([PADDOCK, "run", "-v", path, "--", "sh", "-c", command, left], stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if "what it left behind" in line:
            break
    leader = int((folder / "leader").read_text())
    pathlib.Path("/proc/sys/kernel/ns_last_pid").write_text(str(leader - 1))
    stranger = subprocess.Popen(["sleep", "60"], start_new_session=True)
    print("reused" if stranger.pid == leader else "kept", flush=True)
    process.wait(PATIENCE)
    print("died" if stranger.poll() is not None else "lives", flush=True)
    stranger.kill()


@unittest.skipUnless(NAMESPACES, "a PID namespace, whose numbers can be chosen, needs root, and no chroot")
class Numbers(Reach):
    def test_a_number_that_changes_hands(self):
        """Nobody but the command dies, whoever gets its number."""
        process = self.unshared(sys.executable, __file__, "--in-namespace", self.path, self.folder)
        out, _ = self.finish(process, 0)
        self.assertEqual(out.split()[1:], ["lives"], out)
        self.assertEqual(out.split()[0], "kept", "the number was given away while something of the command was left")

    def test_many_left_behind(self):
        """The pin is no child that anybody waits for: all the others are reaped, and then the end is seen."""
        script = "for i in $(seq 50); do setsid sleep 60 & sleep 60 & done; sleep 0.3; exit 5"
        self.paddock(5, "run", self.path, "--", "sh", "-c", script)
        self.assert_no_node()


@unittest.skipUnless(ROOT, "a program that becomes root is made by root")
class Users(Reach):
    def setUp(self):
        super().setUp()
        self.open_to_nobody()
        source = self.write("become.c", BECOME)
        self.become = self.file("become")
        subprocess.run(["cc", "-o", self.become, source], check=True)
        self.become.chmod(0o4755)

    def start_as_nobody(self, *arguments):
        process = subprocess.Popen([*NOBODY, PADDOCK, *map(str, arguments)], env=self.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, process)
        self.addCleanup(self.leave)
        return process

    def command(self):
        """Runs as root. It goes on until the file `stop` is there, and ignores what it can."""
        return [self.become, "sh", "-c", f"exec > /dev/null 2>&1; trap '' TERM; echo $$ > {self.file('other')}; while [ -d {self.folder} ] && [ ! -e {self.file('stop')} ]; do date +%s%N >> "
                f"{self.file('ticks')}; sleep 0.02; done; rm {self.file('other')}; exit 3"]

    def release(self):
        self.file("stop").touch()

    def leave(self):
        """The folder goes after this, and no process may write there any more."""
        self.release()
        with contextlib.suppress(FileNotFoundError):
            pid = int(self.file("other").read_text(encoding="ascii") or 0)
            wait_for("the end of the other process", lambda: not pid or not alive(pid))

    def test_it_is_told_and_the_lock_is_kept(self):
        """Said at the start, when it is seen, and when KILL is refused; the lock stays until the command is gone."""
        process = self.start_as_nobody("run", "--max-hold", "0.5", self.path, "--", *self.command())
        pid = self.number("other")
        said = ""
        while "cannot be killed" not in said:
            line = process.stderr.readline()
            self.assertTrue(line, said)
            said += line
        self.assertIn(f"{self.become} becomes another user (0)", said)
        self.assertIn(f"process {pid} of the command belongs to another user, and cannot be ended", said)
        time.sleep(0.3)
        self.assertTrue(alive(pid) and process.poll() is None)
        self.paddock(75, "run", "-n", self.path, "--", "true")
        self.release()
        self.finish(process, 124)
        self.assert_no_node()

    def test_its_own_status(self):
        """A command that nobody has to end ends as any other one."""
        process = self.start_as_nobody("run", self.path, "--", *self.command())
        self.number("other")
        self.release()
        self.finish(process, 3)

    def test_the_lease_is_over(self):
        """The servers give the lock away, and that is a status of its own."""
        process = self.start_as_nobody("run", "--session-timeout", "2", "-s", self.server.link, self.path, "--", *self.command())
        pid = self.number("other")
        self.server.order("cut victim")
        out, err = process.communicate(timeout=PATIENCE)
        self.server.order("heal victim")
        self.assertEqual(process.returncode, 78, out + err)
        self.assertIn(f"process {pid} of its command runs on", err)
        self.assertTrue(alive(pid))

    def test_the_lease_is_over_and_so_is_the_process(self):
        """It has ended since KILL was refused, and the guardian has not told so yet: nothing runs beside that of the next holder."""
        process = self.start_as_nobody("run", "--max-hold", "0.5", "--session-timeout", "6", "-s", self.server.link, self.path, "--", *self.command())
        pid = self.number("other")
        [guardian] = children(process.pid)
        wait_for("its word", lambda: "cannot be killed" in process.stderr.readline())
        os.kill(guardian, signal.SIGSTOP)
        self.release()
        wait_for("its end", lambda: state(pid) == "Z")
        self.server.order("cut victim")
        wait_for("the loss", lambda: "is lost" in process.stderr.readline())
        time.sleep(0.3)
        os.kill(guardian, signal.SIGCONT)
        self.server.order("heal victim")
        self.finish(process, 76)

    def test_killed_keeper(self):
        """The guardian ends no session while such a one lives, and says that it cannot end it."""
        process = self.start_as_nobody("run", "--session-timeout", "20", self.path, "--", *self.command())
        pid = self.number("other")
        process.kill()
        self.assertIn(f"process {pid} belongs to another user", process.stderr.readline() + process.stderr.readline())
        time.sleep(0.5)
        self.assertEqual(len(self.nodes()), 1)
        self.assertTrue(alive(pid))
        self.release()
        wait_for("the end of the session", lambda: not self.nodes(), 10 * SLACK)

    def test_somebody_below(self):
        """Not the command, but what it starts: seen while it runs."""
        script = self.write("script", f"#!/bin/sh\n{' '.join(map(str, self.command()[:2]))} {self.write('inner', self.command()[3])}\nexit 7\n")
        process = self.start_as_nobody("run", self.path, "--", script)
        wait_for("its word", lambda: "cannot be ended" in process.stderr.readline())
        self.release()
        self.finish(process, 7)

    def test_a_check_that_hangs(self):
        """elect: one that cannot be ended has failed."""
        hang = self.write("hang", "#!/bin/sh\n[ -e \"$1/again\" ] || { touch \"$1/again\"; exit 0; }\n"
                          f"exec {self.become} sh -c 'echo $$ > '$1'/other; while [ ! -e '$1'/stop ]; do sleep 0.02; done'\n")
        process = self.start_as_nobody("elect", "-v", "--check", f"{hang} {self.folder}", "--check-every", "0.3", self.path, "--", "sleep", "60")
        self.number("other")
        wait_for("a leader that resigns", lambda: "we do not lead" in process.stderr.readline())
        self.release()


@unittest.skipUnless(NAMESPACES, "a mount namespace, where /proc can be hidden, needs root, and no chroot")
class WithoutProc(Reach):
    def test_nothing_is_left(self):
        """Who left the session and ignores TERM is found by its number, and that this takes longer is said."""
        left = f"trap '' TERM; echo $$ > {self.file('left')}; while :; do date +%s%N >> {self.file('ticks')}; sleep 0.02; done"
        script = f"setsid sh -c \"$0\" & while [ ! -s {self.file('left')} ]; do sleep 0.01; done"
        self.environment["LD_LIBRARY_PATH"] = str(BUILD)  # a path that is relative to a program is found by /proc
        hidden = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs none /proc && exec \"$@\"", "sh"]
        process = subprocess.Popen([*hidden, PADDOCK, "run", self.path, "--", "sh", "-c", script, left], env=self.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, process)
        self.addCleanup(lambda: alive(self.number("left")) and os.kill(self.number("left"), signal.SIGKILL))
        _, err = self.finish(process, 0)
        self.assertFalse(alive(self.number("left")), err)
        self.assertIn("there is no /proc here", err)
        self.assert_no_node()


@unittest.skipUnless(NAMESPACES, "a PID namespace needs root, and no chroot")
class FirstProcess(Reach):
    def verbs(self):
        script = f"trap 'exit 7' TERM; echo ready > {self.file('ready')}; while :; do sleep 0.02; done"
        command = ["--", "sh", "-c", script]
        return {"run": (["run", self.path, *command], 7), "elect": (["elect", self.path, *command], 7), "job": (["job", self.path, *command], 7),
                "server": (["server", *command], 7), "hold": (["hold", "--ready-fd", "1", self.path], 0)}

    @staticmethod
    def zombies(pids):
        return [pid for pid in pids if state(pid) == "Z"]

    def test_orphans_are_reaped(self):
        """Of those whose parent was put into the container from outside, too. Signals reach the child, whose status is the container's."""
        for verb, (arguments, status) in self.verbs().items():
            with self.subTest(verb):
                self.file("ready").unlink(missing_ok=True)
                process = self.unshared(PADDOCK, *arguments)
                if verb == "hold":
                    process.stdout.readline()
                else:
                    wait_for("its command", self.file("ready").exists, 3 * PATIENCE)
                [first] = children(process.pid)
                enter = ["nsenter", f"--pid=/proc/{first}/ns/pid", f"--mount=/proc/{first}/ns/mnt"]
                orphan = f"(while [ ! -e {self.file('go')} ]; do sleep 0.02; done; exit 4) &"
                self.file("go").unlink(missing_ok=True)
                subprocess.run([*enter, "sh", "-c", f"for i in 1 2 3 4 5; do {orphan} done"], check=True)
                wait_for("five adopted", lambda: len(children(first)) >= 6)
                self.file("go").touch()
                wait_for("no zombie", lambda: len(children(first)) == 1 and not self.zombies(children(first)))
                os.kill(first, signal.SIGTERM)
                self.finish(process, status)

    def test_statuses(self):
        for status in (0, 5):
            self.finish(self.unshared(PADDOCK, "run", self.path, "--", "sh", "-c", f"exit {status}"), status)
        process = self.unshared(PADDOCK, "run", self.path, "--", "sleep", "60")
        [first] = wait_for("it", lambda: children(process.pid))
        [keeper] = wait_for("the keeper", lambda: children(first))
        wait_for("the command", lambda: len(self.nodes()) == 1)
        os.kill(keeper, signal.SIGKILL)
        self.finish(process, 137)
        self.assert_no_node()  # the guardian had the time to end the session

    def test_its_output_ends(self):
        """Who reads the sequencer sees the end when paddock lets go, not when the container ends."""
        process = self.unshared(PADDOCK, "hold", "--ready-fd", "1", "-s", self.server.link, "--session-timeout", "2", self.path)
        process.stdout.readline()
        [first] = children(process.pid)
        self.assertFalse([name for name in os.listdir(f"/proc/{first}/fd") if re.match("pipe", os.readlink(f"/proc/{first}/fd/{name}"))])
        os.kill(first, signal.SIGTERM)
        self.finish(process, 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--in-namespace"]:
        in_namespace(*sys.argv[2:])
    else:
        unittest.main()
