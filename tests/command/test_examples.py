#!/usr/bin/python3
"""Every example of the command's pages and of its help is run: with the lock free, and with it taken.

An example is a line, or a whole script. It runs in a tree of its own, with stubs in place of the programs that it starts. With the lock
free its program has run. With the lock taken it has not run before the lock was released; an example that does not wait has its status,
and its program has not run at all.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import socket
import subprocess
import textwrap
import time
import unittest

from bench import PADDOCK, PATIENCE, Case, wait_for

SOURCE = pathlib.Path(os.environ["PDK_SOURCE"])
PAGES = ("docs/command.md", "docs/coming-from-flock.md")
MANUALS = ("command/paddock.1", "command/paddock.7")
STUBS = ("backup", "backup-all", "make", "move", "put", "report", "scheduler", "start-web", "work", "write-orders")
# Another test starts the servers of these: test_server.
ELSEWHERE = ("paddock server",)
# Starts behind a script that stands before it on the page.
FOLLOWS = {"setsid scheduler": "exec {lock}<"}


# ---- what the pages have

def is_synopsis(line):
    return "…" in line or re.search(r"\[[^ ]", line)


def split(block):
    """The examples of a block: each line that starts paddock itself; or the block, when it is a script."""
    code = [re.sub(r"\s+# .*", "", line).rstrip() for line in block if line.strip() and not line.lstrip().startswith("#")]
    code = [line for line in code if not re.match(r"export \w+=", line)]
    if any("exec" in line.split() or line.startswith("setsid") for line in code):
        return ["\n".join(code)]
    lines = [re.sub(r"^(?:[\d*/,-]+ ){5} *|^ExecStart=(?:/usr/bin/)?", "", line) for line in code]
    return [line for line in lines if line.startswith("paddock ") and not is_synopsis(line)]


def of_markdown(text):
    for match in re.finditer(r"^```sh\n((?:.*\n)*?)```|((?:^    .*\n+)+)", text, re.M):
        yield from split((match[1] or textwrap.dedent(match[2])).splitlines())


def of_manual(text):
    for match in re.finditer(r"^\.Bd .*\n((?:[^.].*\n)+)\.Ed|^\.Dl (.*)", text, re.M):
        plain = re.sub(r"\\(.)", lambda escape: {"&": "", "e": "\\"}.get(escape[1], escape[1]), match[1] or match[2])
        yield from split(plain.splitlines())


def of_help():
    out = subprocess.run([PADDOCK, "--help"], capture_output=True, text=True, check=True).stdout
    for verb in (line.split()[0] for line in out.splitlines() if line.startswith("  ")):
        text = subprocess.run([PADDOCK, verb, "--help"], capture_output=True, text=True, check=True).stdout
        examples = text.rpartition("\nExamples:\n")[2].splitlines()
        assert len(examples) == 2 and all(line.startswith(f"  paddock {verb}") for line in examples), text
        yield from (line.strip() for line in examples)


def examples():
    found = [one for page in PAGES for one in of_markdown((SOURCE / page).read_text())]
    found += [one for page in MANUALS for one in of_manual((SOURCE / page).read_text())]
    found += of_help()
    whole = []
    for one in dict.fromkeys(found):
        before = next((start for words, start in FOLLOWS.items() if one.startswith(words)), None)
        if before:  # with the beginning of the script, without its work
            first = next(script for script in whole if script.startswith(before))
            one = re.sub(r"\nwork\n.*", "", first, flags=re.S) + "\n" + one
        whole.append(one)
    return whole


# ---- an example in its tree

class Example:
    """Runs an example, in both states. `case` is the test."""

    def __init__(self, case, number, text):
        self.case, self.text, self.folder = case, text, case.file(str(number))
        self.folder.mkdir()
        words = re.search(r"paddock (\w+)(.*)", text)
        self.verb, self.words = words[1], shlex.split(words[2], comments=True) if words[2].count('"') % 2 == 0 else words[2].split()
        self.options = self.words[:self.words.index("--")] if "--" in self.words else self.words
        self.paths = re.findall(r"(?<!\S)/[\w/]*\w", " ".join(self.options)) or ["/jobs/any"]
        self.script = "\n" in text or "exec" in text.split()

    def run(self):
        for taken in (False, True):
            self.state, self.root = "taken" if taken else "free", f"/{self.folder.name}-{'taken' if taken else 'free'}"
            self.case.server.client.ensure_path(self.root)
            self.ran = self.folder / f"ran-{self.state}"
            self.environment = dict(self.case.environment, PADDOCK_SERVERS=self.case.server.hosts + self.root, RAN=str(self.ran), USER="operator",
                                    PATH=f"{self.case.stubs}:{os.environ['PATH']}", PADDOCK_TOKEN="5", PADDOCK_HANDOVER="0", token="5", handover="0",
                                    node="_c_00000000-0000-0000-0000-000000000000-lock-0000000000", PADDOCK_SEQUENCER=f"pdk1 {self.root}{self.paths[0]}/x-lock-0000000001 exclusive 1 0")
            self.holder = self.hold() if taken else None
            try:
                getattr(self, f"of_{self.verb}", self.of_look)()
            finally:
                self.release()

    # ---- the state

    def spawn(self, *words, **more):
        process = subprocess.Popen([*map(str, words)], stdin=more.pop("stdin", subprocess.DEVNULL), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env=self.environment, cwd=self.folder, **more)
        self.case.addCleanup(self.case.end, process)
        return process

    def kind(self):
        """The holder takes all permits, and excludes readers."""
        for word, value in zip(self.options, self.options[1:]):
            if word == "--slots":
                return ["--slots", f"{value}/{value}"]
        return []

    def hold(self):
        if self.verb == "elect":
            process = self.spawn(PADDOCK, "elect", "--id", "other", self.paths[0], "--", "sh", "-c", "echo ready; exec sleep 60")
        elif self.verb == "job":
            process = self.spawn(PADDOCK, "job", self.paths[0], "--", "sh", "-c", "echo ready; exec sleep 60")
        else:
            process = self.spawn(PADDOCK, "hold", *["--on-ask=term"] * (self.verb == "ask"), "--ready-fd", "1", *self.kind(),
                                 *self.paths)
        line = process.stdout.readline()
        self.case.assertNotEqual(line, "", self.text)
        if line.startswith("pdk1"):
            node = line.split()[1]
            self.environment.update(PADDOCK_SEQUENCER=line.rstrip(), token=line.split()[3], node=node.rpartition("/")[2])
        return process

    def release(self):
        if self.holder:
            self.holder.terminate()
            self.holder.communicate(timeout=PATIENCE)
            self.holder = None

    def stand(self):
        """How many nodes of contenders there are; a semaphore has them in two directories."""
        directories = [self.root + path + below for path in self.paths for below in ("", "/leases", "/locks")]
        return len([name for path in directories for name in self.case.nodes(path) if re.search(r"\d{10}$", name)])

    # ---- the example

    def start(self):
        text = self.text.replace("/var/lib/", f"{self.folder}/").replace("--listen 8080", "--listen 0")
        file = self.folder / f"example-{self.state}"
        own = '"$0"' in text  # a script that locks itself: its work is behind
        file.write_text(f"#!/bin/bash\n{text}\n{'work' * own}\n")
        file.chmod(0o755)
        if "--notify" in self.options:
            self.systemd = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            self.case.addCleanup(self.systemd.close)
            self.systemd.bind(f"{self.folder}/notify-{self.state}")
            self.environment["NOTIFY_SOCKET"] = f"{self.folder}/notify-{self.state}"
        words = [file] if self.script or ";" in text else ["bash", "-c", f"exec {text}"]
        process = self.spawn(*words, stdin=subprocess.PIPE)
        process.stdin.close()
        process.stdin = None
        return process

    def has_run(self):
        return self.ran.exists()

    def end(self, process, *statuses):
        out, err = process.communicate(timeout=PATIENCE)
        status = process.returncode
        if self.text.endswith("echo $?"):
            status = out.split()[-1]
            out, status = out[:-len(status) - 1], int(status)
        self.case.assertIn(status, statuses, f"{self.state}: {self.text}\n{out}\n{err}")
        return out, err

    def refused(self):
        """The statuses of an example that does not wait for long; none: it waits."""
        if re.search(r"\|\| exit 1$", self.text, re.M) or ("read -r" in self.text and " -n " in self.text):
            return [1]
        short = re.search(r" (-[ex]?n|--try|--nonblock|--nb|-w 5s) ", self.text)
        codes = [int(value) for word, value in zip(self.options, self.options[1:]) if word == "-E"]
        return (codes or [75]) if short else []

    def of_run(self):
        self.held = self.stand()
        process, refused = self.start(), self.refused()
        if self.holder and refused:
            out, _ = self.end(process, *refused)
            self.case.assertEqual((out, self.has_run()), ("", False), self.text)
            return
        if self.holder:
            wait_for(f"the queue of {self.text}", lambda: self.stand() > self.held)
            self.case.assertFalse(self.has_run(), self.text)
            self.release()
        out, _ = self.end(process, 0)
        if not out and not self.text.endswith("-c cat"):
            wait_for(f"the program of {self.text}", self.has_run)  # a script may leave it behind

    def of_hold(self):
        if self.script:
            self.of_run()
            return
        process = self.start()
        if not self.holder:
            if "--ready-fd" in self.options:
                self.case.assertRegex(process.stdout.readline(), rf"^pdk1 {self.root}{self.paths[0]}/\S+ exclusive \d+ 0$")
            if "--notify" in self.options:
                wait_for("READY", lambda: "READY=1" in self.systemd.recv(4096).decode())
        wait_for(f"the nodes of {self.text}", lambda: self.stand() == (2 if self.holder else 1))
        process.terminate()
        tells = {"--ready-fd", "--notify"}.intersection(self.options)  # otherwise the TERM may come between the node and the grant
        out, _ = self.end(process, *[143] * bool(self.holder or not tells), *[0] * (not self.holder))
        self.case.assertEqual(out, "")

    def of_elect(self):
        process = self.start()
        if "--observe" in self.options:
            wanted = "other" if self.holder else r"^0  -$|null"
            while not re.search(wanted, process.stdout.readline()):
                self.case.assertIsNone(process.poll())
            process.terminate()
            self.end(process, 0)
            return
        if self.holder:
            wait_for(f"the candidate of {self.text}", lambda: self.stand() == 2)
        else:
            wait_for(f"a term of {self.text}", self.has_run)
        process.terminate()
        self.end(process, 0, 143)
        self.case.assertEqual(self.has_run(), not self.holder)

    def of_job(self):
        out, _ = self.end(self.start(), 77 if self.holder and "--history" not in self.options else 0)
        if "--history" in self.options:
            self.case.assertEqual("running" in out, bool(self.holder))
        else:
            self.case.assertEqual(self.has_run(), not self.holder, self.text)

    def of_wait(self):
        process = self.start()
        if self.holder:
            time.sleep(0.3)
            self.case.assertIsNone(process.poll(), self.text)
            self.release()
        self.end(process, 0)

    def of_look(self):
        """show, ls, top, help: they end by themselves, and see the holder."""
        out, _ = self.end(self.start(), *(0, 1)[:1 if self.holder or self.verb == "help" else 2])  # free: there may be no such path
        if self.verb == "show":
            self.case.assertEqual(f":{self.holder.pid}" in out if self.holder else False, bool(self.holder), out)

    def of_watch(self):
        process = self.start()
        self.case.assertEqual(len(json.loads(process.stdout.readline())["contenders"]), 1 if self.holder else 0)
        process.terminate()
        self.end(process, 0)

    def of_check(self):
        self.end(self.start(), 0 if self.holder else 1)

    def of_ask(self):
        self.end(self.start(), 0 if self.holder else 1)
        if self.holder:
            self.case.assertEqual(self.holder.wait(timeout=PATIENCE), 0)

    def of_break(self):
        self.end(self.start(), 0 if self.holder else 1)
        if self.holder:
            self.case.assertEqual(self.holder.wait(timeout=PATIENCE), 76)

    def of_doctor(self):
        self.end(self.start(), 0, 1)

    def of_fence(self):
        """Taken: a later token was admitted. Readers have to find the file."""
        file = next(word for word in self.words if word.endswith(".fence"))
        file = self.folder / pathlib.Path(file).name
        later = ["9"] if self.holder else ["1"] if "--create" not in self.options else []
        file.unlink(missing_ok=True)
        for token in later:
            self.end(self.spawn(PADDOCK, "fence", "--create", file, token, "--", "true"), 0)
        self.environment["token"] = "5"
        self.end(self.start(), 79 if self.holder else 0)
        self.case.assertEqual(self.has_run(), not self.holder)


class Examples(Case):
    def setUp(self):
        super().setUp()
        self.stubs = self.file("stubs")
        self.stubs.mkdir()
        os.symlink(PADDOCK, self.stubs / "paddock")
        for name in STUBS:
            (self.stubs / name).write_text('#!/bin/sh\necho "${0##*/} $*" >> "$RAN"\n')
            (self.stubs / name).chmod(0o755)

    def test_all(self):
        found = [text for text in examples() if not text.startswith(ELSEWHERE)]
        self.assertGreater(len(found), 50)

        def run(number_and_text):
            try:
                Example(self, *number_and_text).run()
            except Exception as wrong:  # of a thread
                return f"{number_and_text[1]}\n{type(wrong).__name__}: {wrong}"
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            failed = [told for told in pool.map(run, enumerate(found)) if told]
        self.assertFalse(failed, "\n\n".join(failed))


class Help(unittest.TestCase):
    """The help, and the words about a mistyped one; no server is asked."""

    def paddock(self, status, *words):
        environment = {name: value for name, value in os.environ.items() if name != "PADDOCK_SERVERS"}
        done = subprocess.run([PADDOCK, *words], capture_output=True, text=True, check=False, timeout=PATIENCE, env=environment)
        self.assertEqual(done.returncode, status, (words, done.stdout, done.stderr))
        return done.stdout, done.stderr

    def test_versions(self):
        texts = {self.paddock(0, word) for word in ("-V", "--version")}
        self.assertEqual(len(texts), 1)
        self.assertRegex(texts.pop()[0], r"^paddock \d+\.\d+\.\d+\n$")

    def test_help(self):
        usage, _ = self.paddock(0, "help")
        for word in ("-h", "--help"):
            self.assertEqual(self.paddock(0, word)[0], usage)
        self.assertEqual(self.paddock(64)[1], usage)
        for verb in re.findall(r"^  (\w+) ", usage, re.M):
            text, _ = self.paddock(0, "help", verb)
            for word in ("-h", "--help", "-?"):
                self.assertEqual(self.paddock(0, verb, word)[0], text)
            self.assertEqual([line for line in text.splitlines() if len(line) > 80], [])
            self.assertRegex(text, rf"^[A-Z][^:]*\.\n\nUsage:\n  paddock {verb} ")
            self.assertRegex(text, rf"\n\nExamples:\n  paddock {verb}.*\n  paddock {verb}.*\n$")
        with open("/dev/full", "w", encoding="ascii") as full:
            for words in (["help"], ["run", "--help"], ["-V"]):
                self.assertEqual(subprocess.run([PADDOCK, *words], stdout=full, stderr=subprocess.DEVNULL, check=False).returncode, 70)

    def test_mistyped(self):
        for words, meant in ((["rnu"], "run"), (["elct"], "elect"), (["lock"], "run"), (["list"], "ls"), (["/a", "true"], "run"), (["help", "docter"], "doctor"),
                             (["run", "--shred", "/a", "--", "true"], "--shared"), (["run", "--time-out", "5", "/a", "--", "true"], "--timeout"),
                             (["hold", "-timeout", "5", "/a"], "--timeout"), (["show", "--jsn", "/a"], "--json"),
                             (["fence", "--craete", "f", "1", "--", "true"], "--create"), (["server", "--ensmble", "3"], "--ensemble")):
            _, err = self.paddock(64, *words)
            self.assertRegex(err, rf"^paddock: .*; did you mean {meant}\? ?.*\n$", words)
        for words in (["zzz"], ["help", "zzz"], ["help", "run", "hold"], ["run", "--zzzzzz", "/a", "--", "true"], ["run", "-Z", "/a", "--", "true"]):
            _, err = self.paddock(64, *words)
            self.assertRegex(err, r"^paddock: [^\n]*\n$", words)
            self.assertNotIn("did you mean", err)
        self.assertIn("behind --", self.paddock(64, "run", "/a", "ls", "-l")[1])
        self.assertNotIn("\x1b", self.paddock(64, "run", "--\x1b[2J", "/a")[1] + self.paddock(64, "\x1b[2J")[1])

    def test_habits_that_are_refused(self):
        for option in ("-o", "--close", "-F", "--no-fork", "-u", "--unlock"):
            _, err = self.paddock(64, "run", option, "/a", "--", "true")
            self.assertIn("leave it out", err)
        _, err = self.paddock(64, "run", "-s", "/a", "--", "true")
        self.assertIn("--shared", err)


if __name__ == "__main__":
    unittest.main()
