#!/usr/bin/python3
"""A server that lies to `doctor`, `ls` and `top`, which speak its protocol themselves: they end in time, with a status and words."""
import json
import socket
import struct
import unittest

from bench import Case, Packets

INTS = (-1, 0, 1, 2**31 - 1, -2**31)
LONGS = (-1, 0, 2**63 - 1, -2**63)
STATUSES = (0, 1, 69)  # fine or found; nothing there; no server to be had
CHILDREN, DATA = 12, 4


def numbers(body, at):
    """A list's count or a length, wherever it stands."""
    return [body[:at] + struct.pack(">i", value) + body[at + 4:] for value in INTS]


def lies_about(kind, body):
    """What may come in the place of that answer, whose header has 16 bytes."""
    lies = [body[:size] for size in (0, 3, 4, 12, 15, 16, 17, 20, 23, len(body) - 1, len(body) - 8, len(body) - 68)]
    lies += [body + b"x" * 100, body[:16] + b"\xff" * (len(body) - 16), body[:16] + bytes(len(body) - 16)]
    lies += numbers(body, 0) + numbers(body, 12) + numbers(body, 16)
    stat = len(body) - 68
    for at in (0, 8, 16, 24, 44, 60):  # the numbers of eight bytes
        lies += [body[:stat + at] + struct.pack(">q", value) + body[stat + at + 8:] for value in LONGS]
    for at in (32, 36, 40, 52, 56):
        lies += numbers(body, stat + at)
    if kind == CHILDREN:
        for name in (b"", b".", b"..", b"a/b", b"x" * 5000, b"\xff\xfe", b"\x1b[2J", b"-lock-0000000000", b"lock--2147483648", b"\0"):
            lies.append(body[:16] + struct.pack(">ii", 1, len(name)) + name + body[stat:])
        lies.append(body[:16] + struct.pack(">iii", 2, 1, -1) + b"a" + body[stat:])
        lies.append(body[:16] + struct.pack(">ii", 1, 1) + b"a" + body[stat:])  # deeper and deeper
    return lies


class Liar(Packets):
    """It tells the lie of that number in each answer to requests of that type, and says what it was asked to of the server."""

    def __init__(self, hosts, kind=None, number=0, words=None):
        super().__init__(hosts, words)
        self.kind, self.number = kind, number
        self.told, self.all = 0, None

    def pass_on(self, body, asked, up):
        xid, what = struct.unpack(">ii", body[:8])
        if up:
            asked[xid] = what
        elif self.kind and asked.get(xid) == self.kind and len(body) >= 16 + 4 + 68:
            lies = lies_about(self.kind, body)
            self.all = len(lies)
            self.told += 1
            return lies[self.number % len(lies)]
        return body


class Lies(Case):
    def lie(self, **more):
        liar = Liar(self.server.hosts, **more)
        self.addCleanup(liar.close)
        self.environment["PADDOCK_SERVERS"] = liar.hosts
        return liar

    def ask(self, *arguments):
        process = self.start(*arguments)
        out, err = process.communicate(timeout=120)
        self.assertIn(process.returncode, STATUSES, f"{arguments}: {process.returncode}: {out}{err}")
        self.assertTrue(all(line.isprintable() for line in (out + err).splitlines()), out + err)

    def test_own_words(self):
        """A tickTime whose double is no number, and others."""
        version = "Zookeeper version: 3.8.0-1, built on then\nMode: standalone\n"
        for tick in (2**31 - 1, 2**64, -2**63, "x"):
            self.lie(words={"srvr": version, "conf": f"clientPort=1\ntickTime={tick}\n"})
            doctor = self.start("doctor", "--json")
            out, err = doctor.communicate(timeout=120)
            self.assertIn(doctor.returncode, (0, 1), f"{tick}: {doctor.returncode}: {err}")
            self.assertIsNone(json.loads(out)["servers"][0]["tick_ms"], tick)
        for words in ("\n", "Zookeeper version: " + "9" * 60000, "Zookeeper version: -99999999999999999999.-5", "\0\0Mode: \x1b[2J\n"):
            self.lie(words={"srvr": words, "conf": words})
            self.ask("doctor", "--connect-timeout", "2")

    def play(self, kind, *verb):
        """Every lie, each against the verb."""
        told, number, count = 0, 0, 1
        while number < count:
            liar = self.lie(kind=kind, number=number)
            self.ask(*verb, self.path)
            count, told, number = liar.all or count, told + bool(liar.told), number + 1
        self.assertGreater(count, 60)
        self.assertEqual(told, count)

    def test_lists(self):
        self.hold()
        self.play(CHILDREN, "ls")

    def test_data(self):
        self.hold()
        self.play(DATA, "top")


if __name__ == "__main__":
    unittest.main()
