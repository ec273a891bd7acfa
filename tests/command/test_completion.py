#!/usr/bin/python3
"""The completions of bash, zsh and fish, and the manual page, name every verb and option that the program's help names."""
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from bench import PADDOCK

FOLDER = pathlib.Path(os.environ["PDK_SOURCE"], "command")
# zsh's own functions, in place of which the specifications are printed.
STUBS = """
compdef() { : }
_arguments() { print -rl -- "$@" }
_describe() { print -rl -- ${(P)2} }
_values() { shift; print -rl -- "$@" }
"""


def run(*words, **more):
    return subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=60, check=True, **more).stdout


def verbs():
    return [line.split()[0] for line in run(PADDOCK, "--help").splitlines() if line.startswith("  ")]


def options(verb):
    """Those that the help names, -x and --xyz."""
    found = set()
    for line in run(PADDOCK, verb, "--help").splitlines():
        match = re.match(r"  (?:(-\w), )?(--[\w-]+)", line)
        if match:
            found |= {option for option in match.groups() if option and option not in ("-h", "-?")}
    return found


class Completion(unittest.TestCase):
    def compare(self, complete_verbs, complete_options):
        self.assertEqual(sorted(complete_verbs() - {"--help", "-V", "--version"}), sorted(verbs()))
        for verb in verbs():
            self.assertEqual(complete_options(verb), options(verb), verb)

    def need(self, shell):
        if not shutil.which(shell):
            self.skipTest(f"{shell} is not installed; its completion was not checked")

    def test_help(self):
        self.assertEqual(len(verbs()), len(set(verbs())))
        self.assertLess({"-s", "--servers", "--slots", "--help"}, options("run"))
        self.assertNotIn("--servers", options("fence"))

    def test_manual(self):
        """paddock(1) has every verb, and every option with its long name."""
        page = (FOLDER / "paddock.1").read_text()
        self.assertEqual([verb for verb in verbs() if f".Ss paddock {verb}\n" not in page], [])
        missing = {option for verb in verbs() for option in options(verb) if not re.search(rf"Fl [^\n]*{option[1:]}\b|[, ]{option[1:]}\b", page)}
        self.assertEqual(missing - {"--help"}, set())

    def test_bash(self):
        def complete(*words):
            script = f'. {FOLDER}/completion.bash; COMP_WORDS=(paddock "$@"); COMP_CWORD=$#; _paddock; printf "%s\\n" "${{COMPREPLY[@]}}"'
            return set(run("bash", "-c", script, "bash", *words, cwd="/proc/self/task").split())
        self.compare(lambda: complete(""), lambda verb: {word for word in complete(verb, "-") if word[0] == "-"})

    def test_zsh(self):
        self.need("zsh")
        run("zsh", "-n", FOLDER / "completion.zsh")

        def complete(current, *words):
            script = f"{STUBS}; words=(paddock {' '.join(words)}); CURRENT={current}; . {FOLDER}/completion.zsh"
            return run("zsh", "-f", "-c", script).splitlines()

        def complete_options(verb):
            found = (re.match(r"(?:\([^)]*\))?(--?[\w-]+)", spec) for spec in complete(3, verb) if spec != "-S")
            return {match.group(1) for match in found if match}
        self.compare(lambda: {re.split(r"[:\[]", line)[0] for line in complete(2)}, complete_options)

    def test_fish(self):
        self.need("fish")
        run("fish", "--no-execute", FOLDER / "completion.fish")

        def complete(line):
            script = f"source {FOLDER}/completion.fish; complete -C '{line}'"
            # The function that reads the command line works on the one that is completed.
            found = run("fish", "--no-config", "-c", script, cwd="/proc/self/task", env=dict(os.environ, HOME="/nonexistent"))
            return {line.split("\t")[0].rstrip("=") for line in found.splitlines()}
        self.compare(lambda: complete("paddock ") | complete("paddock -"),
                     lambda verb: {word for word in complete(f"paddock {verb} -") if word[0] == "-"})


if __name__ == "__main__":
    unittest.main()
