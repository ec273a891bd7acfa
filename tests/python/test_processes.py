"""What several processes do: exclude each other, and kazoo; fork; end without a close."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import kazoo.client

import paddock
from server import SECONDS, Case, Server, act, opened, until

COUNT = """
import pathlib, sys, time, paddock
hosts, path, file, times = sys.argv[1:]
file = pathlib.Path(file)
with paddock.Session(hosts, session_timeout=5, server_tick=0.2) as session:
    lock = paddock.Lock(session, path, naming=paddock.Naming.KAZOO)
    for _ in range(int(times)):
        with lock:
            number = int(file.read_text())
            time.sleep(0.002)
            file.write_text(str(number + 1))
"""


def python(code, *arguments, **options):
    return subprocess.Popen([sys.executable, "-X", "dev", "-c", code, *map(str, arguments)], text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, **options)


class Processes(Case):
    def finished(self, process, status=0):
        said = process.communicate(timeout=SECONDS)[0]
        self.assertEqual(process.returncode, status, said)
        return said

    def test_two_of_them_and_kazoo(self):
        """What all count in one file is all there."""
        with tempfile.TemporaryDirectory(prefix="paddock-test-") as folder:
            file = pathlib.Path(folder) / "number"
            file.write_text("0")
            processes = [python(COUNT, Server.hosts, self.path, file, 25) for _ in range(2)]
            client = kazoo.client.KazooClient(Server.hosts)
            client.start()
            lock = client.Lock(self.path, "kazoo")
            until(lambda: int(file.read_text() or 0) > 0, "they count")
            for _ in range(25):
                with lock:
                    number = int(file.read_text())
                    time.sleep(0.002)
                    file.write_text(str(number + 1))
            client.stop()
            client.close()
            for process in processes:
                self.finished(process)
            self.assertEqual(file.read_text(), "75")

    def test_kazoo_waits_for_ours(self):
        client = kazoo.client.KazooClient(Server.hosts)
        client.start()
        theirs = client.Lock(self.path, "kazoo")
        ours = paddock.Lock(self.session, self.path, naming=paddock.Naming.KAZOO)
        with ours:
            self.assertFalse(theirs.acquire(blocking=False))
        with theirs:
            self.assertEqual(ours.holder().identity, "kazoo")
            self.assertIsNone(ours.acquire(blocking=False))
        client.stop()
        client.close()

    def test_fork(self):
        hold = paddock.Lock(self.session, self.path).acquire()
        child = os.fork()
        if not child:
            status = 1
            try:
                assert not hold.valid and not hold.sequencer
                for call in (hold.release, self.session.flush, lambda: paddock.Lock(self.session, "/x")):
                    try:
                        call()
                    except paddock.Forked:
                        pass
                    else:
                        raise AssertionError(call)
                with opened() as own:
                    assert paddock.Lock(own, self.path).acquire(blocking=False) is None
                    paddock.Lock(own, self.path + "/other").acquire().release()
                status = 0
            finally:
                os._exit(status)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertTrue(hold.valid)
        self.assertTrue(hold.release())

    def test_the_end_of_a_process_releases(self):
        code = """import sys, threading, paddock
session = paddock.Session(sys.argv[1], session_timeout=60, on_event=print)
lock = paddock.Lock(session, sys.argv[2])
lock.acquire().on_lost(print)
def wait():
    try:
        paddock.Lock(session, sys.argv[2]).acquire()
    except paddock.Closed:
        pass
threading.Thread(target=wait, daemon=True).start()
sys.exit(7)"""
        said = self.finished(python(code, Server.hosts, self.path), 7)
        self.assertNotIn("no authentication", said)  # a line of the log
        self.assertIn("ResourceWarning", said)
        self.assertNotIn("Traceback", said)
        paddock.Lock(self.session, self.path).acquire(timeout=SECONDS).release()  # long before the session would have expired

    def test_interrupted(self):
        """Ctrl-C ends a program that waits, with Python's own words, and what it held is released."""
        code = """import sys, paddock
with paddock.Session(sys.argv[1], session_timeout=60) as session, paddock.Lock(session, sys.argv[2] + "/held"):
    paddock.Lock(session, sys.argv[2]).acquire()"""
        lock = paddock.Lock(self.session, self.path)
        with lock:
            process = python(code, Server.hosts, self.path)
            until(lambda: len(lock.contenders()) == 2, "it waits")
            process.send_signal(2)
            said = self.finished(process, -2)
        self.assertIn("KeyboardInterrupt", said)
        paddock.Lock(self.session, self.path + "/held").acquire(timeout=SECONDS).release()

    def test_the_page(self):
        """The programs of the page run as they stand."""
        page = (pathlib.Path(os.environ["PDK_SOURCE"]) / "python/README.md").read_text()
        programs = re.findall(r"```python\n(.*?)```", page, re.S)
        said = [self.finished(python(code.replace("127.0.0.1:2181", Server.hosts))) for code in programs]
        self.assertRegex(said[0], r"^token \d+ valid for \d+ s\nothers see \S+:\d+:nightly\n$")
        self.assertRegex(said[1], r"(?s)token \d+\n.*we lead\n")  # a loop that debugs says when it was slow


class Cut(Case):
    """On a link that is cut."""

    def test_suspended_and_expired(self):
        events = []
        with opened(Server.link, session_timeout=2, on_event=lambda event, left: events.append((event, left))) as session:
            lost = []
            hold = paddock.Lock(session, self.path).acquire()
            hold.on_lost(lost.append)
            act("cut way")
            try:
                until(lambda: lost, "it is lost")
            finally:
                act("heal way")
            self.assertEqual(lost, [paddock.Reason.LEASE])
            with self.assertRaises(paddock.Lost):
                hold.ensure(0.1)
            self.assertFalse(hold.release())
            until(lambda: len(events) >= 3, "it goes on")
        self.assertEqual([event for event, _ in events[:2]], [paddock.Event.CONNECTED, paddock.Event.SUSPENDED])
        self.assertIn(events[2][0], (paddock.Event.RESTORED, paddock.Event.EXPIRED))
