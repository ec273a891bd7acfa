"""What the tests share: the server, and waiting."""
import itertools
import os
import subprocess
import time
import unittest

import kazoo.client

import paddock

SECONDS = 30  # by then it has come, on any machine
_numbers = itertools.count()


class Server:
    """A server, and a link to it that can be cut."""

    hosts = link = ""
    process = None

    def __enter__(self):
        Server.process = subprocess.Popen([f"{os.environ['PDK_BUILD']}/tests/programs/zk", "--tick", "200", "--min-session", "400",
                                           "--link", "way"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for line in Server.process.stdout:
            words = line.split()
            if words[0] == "link":
                Server.link = words[2]
            if words[0] == "hosts":
                Server.hosts = words[1]
                return self
        raise AssertionError("the server did not start")

    def __exit__(self, *_):
        Server.process.stdin.close()
        Server.process.wait(SECONDS)
        Server.process.stdout.close()


def act(words):
    """cut way, heal way"""
    print(words, file=Server.process.stdin, flush=True)
    assert Server.process.stdout.readline() == "ok\n", words


def until(condition, what):
    """Waits until it is true."""
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(0.005)


def delete(node):
    """An administrator deletes a znode."""
    client = kazoo.client.KazooClient(Server.hosts)
    client.start()
    try:
        client.delete(node)
    finally:
        client.stop()
        client.close()


def opened(hosts="", **options):
    """A session."""
    return paddock.Session(hosts or Server.hosts, **{"session_timeout": 5, "server_tick": 0.2, "access": paddock.Access.OPEN, **options})


class Case(unittest.TestCase):
    """A session for the tests of a class, and a path for each of them."""

    session = None

    @classmethod
    def setUpClass(cls):
        cls.session = opened()

    @classmethod
    def tearDownClass(cls):
        cls.session.close(10)

    def setUp(self):
        self.path = f"/python/{next(_numbers)}"
