#!/usr/bin/python3 -B
"""Paddock's player for what is told step by step (README.md): it holds, is asked, asks, or lists who is in the queue."""
import argparse
import queue
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples/python"))

from paddock import FOREVER, Hold, Session, check, ffi, lib, text  # noqa: E402  # run names the library and its headers

SESSION_MS, LIST_MS, ASK_MS = 20000, 5000, 60000
asked = queue.Queue()


def say(*words):
    print(*words, sep="\t", flush=True)


@ffi.callback("pdk_request_fn")
def on_asked(_hold, who, _until, _user):
    asked.put(text(who))


class Named(Session):
    """A session whose holders have that identity."""

    def __init__(self, hosts, identity):
        options, out = ffi.new("pdk_session_options *"), ffi.new("pdk_session **")
        check(lib.pdk_session_options_init(options, ffi.sizeof(options[0])))
        options.session_timeout_ms, options.label = SESSION_MS, identity
        check(lib.pdk_session_open(hosts.encode(), options, out))
        self.raw = ffi.gc(out[0], lib.pdk_session_unref)


class Player:
    """The functions of its recipe differ in their names alone."""

    def __init__(self, options, session, identity):
        self.options, self.session, self.identity = options, session, identity
        self.kind = options.recipe if options.recipe in ("lock", "election") else "rwlock"
        settings = ffi.new(f"pdk_{self.kind}_options *")
        check(self.call("options_init", settings, ffi.sizeof(settings[0])))
        settings.naming = lib.PDK_NAMING_KAZOO if options.mode == "kazoo" else lib.PDK_NAMING_CURATOR
        if self.kind == "election":
            settings.identity = identity
        if options.linger_ms:
            settings.linger_ms = settings.max_handover_ms = options.linger_ms
        out = ffi.new(f"pdk_{self.kind} **")
        check(self.call("new", session.raw, options.path.encode(), settings, out))
        self.raw = ffi.gc(out[0], getattr(lib, f"pdk_{self.kind}_unref"))

    def call(self, name, *arguments):
        return getattr(lib, f"pdk_{self.kind}_{name}")(*arguments)

    def take(self):
        out = ffi.new("pdk_hold **")
        if self.kind == "election":
            check(self.call("join", self.raw, ffi.NULL))
        acquire = {"lock": "acquire", "election": "wait"}.get(self.options.recipe, f"acquire_{self.options.recipe}")
        check(self.call(acquire, self.raw, FOREVER, out))
        return Hold(out[0])

    def give(self, hold):
        check(self.call("resign", self.raw) if self.kind == "election" else hold.release())

    def hold(self):
        """Until the end of standard input, which also comes when the driver dies."""
        hold = self.take()
        say("held")
        sys.stdin.read()
        self.give(hold)

    def linger(self):
        """Nobody holds, and the node is there all the same. Again for each line of standard input."""
        self.give(self.take())
        say("lingers")
        for _ in sys.stdin:
            self.give(self.take())
            say("lingers")

    def visit(self):
        """For each line of standard input: how long it waited, in ms."""
        for _ in sys.stdin:
            began = time.monotonic()
            hold = self.take()
            say("visited", f"{(time.monotonic() - began) * 1000:.2f}")
            self.give(hold)

    def let_go(self):
        hold = self.take()
        check(lib.pdk_hold_on_request(hold.raw, on_asked, ffi.NULL, ffi.NULL))
        say("held")
        say("asked", asked.get())
        self.give(hold)

    def ask(self):
        check(lib.pdk_session_request_release(self.session.raw, self.options.path.encode(), ffi.NULL, self.identity, ASK_MS, LIST_MS))

    def list(self):
        out = ffi.new("pdk_contenders **")
        check(self.call("list", self.raw, LIST_MS, out))
        for i in range(lib.pdk_contenders_count(out[0])):
            say("contender", text(lib.pdk_contenders_node(out[0], i)), text(lib.pdk_contenders_identity(out[0], i)))
        lib.pdk_contenders_free(out[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    for name in ("hosts", "path", "identity"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--mode", choices=("curator", "kazoo"), required=True)
    parser.add_argument("--recipe", choices=("lock", "election", "read", "write"), default="lock")
    parser.add_argument("--linger-ms", type=int, default=0)
    options = parser.parse_args()
    identity = ffi.new("char[]", options.identity.encode())
    with Named(options.hosts, identity) as session:
        player = Player(options, session, identity)
        say("ready")
        {"hold": player.hold, "linger": player.linger, "visit": player.visit, "yield": player.let_go, "ask": player.ask, "list": player.list}[sys.stdin.readline().strip()]()
    say(f"done {options.identity}")


if __name__ == "__main__":
    main()
