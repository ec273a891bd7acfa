"""Every recipe but the lock, for threads."""
import contextlib
import datetime
import gc
import pathlib
import select
import tempfile
import threading

import paddock
from server import SECONDS, Case, Server, delete, opened, until


class RWLocks(Case):
    def test_sides(self):
        lock = paddock.RWLock(self.session, self.path)
        self.assertIs(lock.read, lock.read)
        readers = [lock.read.acquire(), paddock.RWLock(self.session, self.path).read.acquire()]
        self.assertEqual([one.shared for one in lock.contenders()], [True, True])
        with self.assertRaises(paddock.Upgrade):
            lock.write.acquire()
        for reader in readers:
            reader.detach_thread()
        self.assertIsNone(lock.write.acquire(blocking=False))
        for reader in readers:
            reader.release()
        with lock.write as writer:
            writer.downgrade()
            self.assertTrue(writer.valid)
            other = paddock.RWLock(self.session, self.path).read.acquire(timeout=SECONDS)
            other.release()
            with self.assertRaises(paddock.Invalid):
                writer.downgrade()


class Semaphores(Case):
    def test_permits(self):
        semaphore = paddock.Semaphore(self.session, self.path, max_leases=3)
        with semaphore as one, semaphore.permits(2) as two:
            self.assertNotEqual(one.token, two.token)
            self.assertEqual(len(semaphore.lease_holders()), 3)
            self.assertIsNone(semaphore.acquire(blocking=False))
        with self.assertRaises(paddock.Mismatch):
            paddock.Semaphore(self.session, self.path, max_leases=4).acquire()
        with self.assertRaises(paddock.Invalid):
            semaphore.permits(4).acquire()


class Stripes(Case):
    def test_keys(self):
        striped = paddock.Striped(self.session, self.path, 8)
        with striped.key("customer/7") as hold:
            self.assertEqual(striped.stripe(hold), paddock.stripe_of("customer/7", 8))
            self.assertEqual(striped.lock(striped.stripe(hold)).holder().token, hold.token)
            with self.assertRaises(paddock.Deadlock):
                striped.key(b"customer/7").acquire()
        with striped.keys(["a", "b", "c"]) as held:
            self.assertTrue(held.of("b").valid)
            self.assertEqual(held.of("a").token, next(p.hold.token for p in held.parts
                                                      if p.path == f"{self.path}/{paddock.stripe_of('a', 8):04}"))
        with striped.any() as one, striped.any() as two:
            self.assertNotEqual(striped.stripe(one), striped.stripe(two))
        with self.assertRaises(paddock.Invalid):
            paddock.stripe_of("a", 0)


class Sets(Case):
    def test_all_or_none(self):
        orders, prices = paddock.Lock(self.session, self.path + "/a"), paddock.RWLock(self.session, self.path + "/b")
        slots = paddock.Semaphore(self.session, self.path + "/c", max_leases=3)
        rights = paddock.Set([orders, prices.read, slots.permits(2)])
        with rights as held:
            self.assertTrue(held.valid)
            self.assertGreater(held.remaining, 0)
            held.ensure(0.5)
            self.assertEqual([part.path for part in held.parts], [self.path + "/a", self.path + "/b", self.path + "/c"])
            self.assertEqual(held.parts[0].hold.token, orders.holder().token)
            self.assertIsNone(paddock.Lock(self.session, self.path + "/a").acquire(blocking=False))
        self.assertFalse(held.valid)
        with self.assertRaises(paddock.Invalid):
            paddock.Set([])._acquire(0)
        with self.assertRaises(paddock.Invalid):
            paddock.Set([self.session])

    def test_lost(self):
        told = []
        with self.assertRaises(paddock.Lost), paddock.Set([paddock.Lock(self.session, self.path + end) for end in "ab"]) as held:
            held.on_lost(told.append)
            delete(held.parts[1].hold.node)
            until(lambda: told, "it is told")
            self.assertTrue(select.select([held], [], [], 0)[0])
            self.assertTrue(held.parts[0].hold.valid)
        self.assertEqual(held.reason, paddock.Reason.NODE_GONE)

    def test_majority(self):
        """Of three ensembles, which are here one server by three names."""
        names = [Server.hosts, Server.link, Server.hosts.replace("127.0.0.1", "localhost")]
        with contextlib.ExitStack() as opening:
            open_ones = [opening.enter_context(opened(hosts)) for hosts in names]
            locks = [paddock.Lock(session, f"{self.path}/{number}") for number, session in enumerate(open_ones)]
            with paddock.Set(locks, need=2, patience=1) as held:
                self.assertTrue(held.valid)
                self.assertGreaterEqual(len([part for part in held.parts if part.hold and part.hold.valid]), 2)
            with self.assertRaises(paddock.Invalid):
                paddock.Set(locks, need=1).acquire()

    def test_collected(self):
        rights = paddock.Set([paddock.Lock(self.session, self.path)])
        rights.acquire()
        with self.assertWarnsRegex(ResourceWarning, "SetHold.*never released"):
            del rights
            gc.collect()
        paddock.Lock(self.session, self.path).acquire().release()


class Elections(Case):
    def test_callbacks_and_data(self):
        told, seen, data = [], [], []
        election = paddock.Election(self.session, self.path, "one")
        with election.observe(lambda who, token: seen.append(who)), election.observe_data(lambda one: data.append(one and one.data)):
            election.join(elected=lambda leadership: told.append("elected"), deposed=told.append,
                          leader=lambda who, token: told.append(who))
            leadership = election.wait(SECONDS)
            election.publish(leadership, b"at 10.0.0.1")
            self.assertEqual(election.leader().data, b"at 10.0.0.1")
            until(lambda: b"at 10.0.0.1" in data and "one" in seen, "observers hear it")
            self.assertEqual([one.identity for one in election.contenders()], ["one"])
            self.assertFalse(hasattr(leadership, "release"))
            with self.assertRaises(paddock.Invalid):
                election.join()
            election.resign()
            self.assertFalse(leadership.valid)
            self.assertGreater(election.wait(SECONDS).token, leadership.token)
            election.leave()
            until(lambda: 0 < told.count("elected") == told.count(paddock.Reason.NONE) and None in seen, "it is told")
        self.assertIn("one", told)
        with self.assertRaises(paddock.NotHeld):
            election.wait(0)

    def test_run(self):
        ran = []
        election = paddock.Election(self.session, self.path)
        election.run(ran.append, 1)
        self.assertEqual(ran, [1])
        other = paddock.Election(self.session, self.path)
        other.join()
        other.wait()
        waiting = threading.Thread(target=election.run, args=(ran.append, 2))
        waiting.start()
        until(lambda: election._waiters, "it waits")
        election.cancel()
        waiting.join()
        self.assertEqual(ran, [1])
        other.leave()

    def test_service(self):
        said = []

        def work(term):
            self.assertFalse(term.is_ending)
            said.append(term.leadership.token)
            select.select([term], [], [], SECONDS)
            said.append(term.is_ending)
            said.append(term)
        election = paddock.Election(self.session, self.path)
        with election.service(work, started=lambda token: said.append("started"),
                              stopped=lambda token, reason: said.append(reason)) as service:
            until(lambda: len(said) == 2, "it works")
            service.resign()
            until(lambda: len(said) == 7, "it works again")
        self.assertEqual(said[0], "started")
        self.assertEqual(said[2], True)
        self.assertEqual(said[4], paddock.Reason.NONE)
        self.assertTrue(said[3].is_ending)  # a term that is over is safe to ask
        with self.assertRaises(paddock.NotHeld):
            said[3].fileno()
        self.assertIsNone(election.leader())

    def test_collected(self):
        election = paddock.Election(self.session, self.path)
        election.join()
        election.wait()
        with self.assertWarnsRegex(ResourceWarning, "never left"):
            del election
            gc.collect()
        service = paddock.Election(self.session, self.path).service(lambda term: select.select([term], [], []))
        with self.assertWarnsRegex(ResourceWarning, "never closed"):
            del service
            gc.collect()

    def test_failed(self):
        failed = []
        session = opened()
        election = paddock.Election(session, self.path)
        election.join(failed=failed.append)
        election.wait()
        session.close()
        self.assertIsInstance(failed[0], paddock.Closed)
        with self.assertRaises(paddock.Closed):
            paddock.Election(session, self.path)
        with opened() as other:
            election = paddock.Election(other, self.path)
            with self.assertRaises(ZeroDivisionError):
                election.run(lambda: [other.close(), 1 // 0])
        del election
        gc.collect()  # without a warning


class Groups(Case):
    def test_members(self):
        views, told = [], []
        with paddock.Watcher(self.session, self.path, views.append) as watcher:
            with paddock.Member(self.session, self.path, b"one", joined=lambda membership: told.append(membership.valid),
                                lost=told.append) as member:
                membership = member.wait(SECONDS)
                until(lambda: views and [one.data for one in views[-1].members] == [b"one"], "it is seen")
                self.assertEqual(views[-1].members[0].token, membership.token)
                member.set_data(b"two")
                until(lambda: [one.data for one in views[-1].members] == [b"two"], "its data are seen")
                self.assertEqual((views[-1].changes[0].before.data, views[-1].changes[0].after.data), (b"one", b"two"))
            until(lambda: not views[-1].members and len(told) == 2, "it has left")
            self.assertEqual(told, [True, paddock.Reason.NONE])
            self.assertGreater(views[-1].number, 1)
            with self.assertRaises(paddock.NotHeld):
                member.leave()
        watcher.close()

    def test_collected(self):
        member = paddock.Member(self.session, self.path)
        member.wait()
        with self.assertWarnsRegex(ResourceWarning, "never left"):
            del member
            gc.collect()


class Jobs(Case):
    def test_runs(self):
        job = paddock.Job(self.session, self.path, every=3600, at_least=1, identifier="one")
        self.assertEqual(job.history(), [])
        with job.acquire() as run:
            self.assertTrue(run.valid)
            with self.assertRaises(paddock.Skipped) as caught:
                paddock.Job(self.session, self.path, every=3600).acquire()
            self.assertEqual(caught.exception.runs[0].state, paddock.State.RUNNING)
        with self.assertRaises(paddock.Skipped) as caught:
            job.acquire()
        last = caught.exception.runs[0]
        self.assertEqual((last.state, last.outcome, last.who, last.token), (paddock.State.FINISHED, 0, "one", run.token))
        self.assertGreater(last.next, last.start)
        self.assertIsNone(last.until)

    def test_schedule(self):
        job = paddock.Job(self.session, self.path, schedule="0 0 1 1 *", zone="Europe/Berlin")
        with job.acquire():
            pass
        with self.assertRaises(paddock.Skipped) as caught:
            job.acquire()
        self.assertEqual(datetime.datetime.fromtimestamp(caught.exception.runs[0].next, datetime.timezone.utc).strftime("%d.%m. %H:%M"), "31.12. 23:00")
        with self.assertRaises(paddock.Invalid):
            paddock.Job(self.session, self.path, every=60, schedule="@daily")

    def test_failures(self):
        job = paddock.Job(self.session, self.path)
        with self.assertRaises(KeyError), job.acquire():
            raise KeyError
        run = job.acquire()
        run.finish(7)
        with self.assertRaises(paddock.NotHeld):
            run.finish(7)
        job.acquire().release()
        with self.assertWarnsRegex(ResourceWarning, "died"):
            job.acquire()
            gc.collect()
        self.session.flush()
        self.assertEqual([(run.state.name, run.outcome) for run in job.history()],
                         [("DIED", 0), ("DIED", 0), ("FINISHED", 7), ("FINISHED", 1)])


class LeaseLocks(Case):
    def test_taken_back(self):
        secret = "a secret of sixteen or more"
        lock, other = paddock.LeaseLock(self.session, self.path, secret, 60), paddock.LeaseLock(self.session, self.path, 2 * secret)
        hold = lock.acquire()
        self.assertTrue(hold.leave_standing())
        self.session.flush()
        self.assertIsNone(other.acquire(blocking=False))
        with lock as again:
            self.assertGreater(again.token, hold.token)
        with self.assertRaises(paddock.NotHeld):
            again.release()
        with other.acquire(timeout=SECONDS) as theirs:
            self.assertTrue(theirs.valid)
        with self.assertRaises(paddock.Invalid):
            paddock.LeaseLock(self.session, self.path, "short")


class GuardedNodes(Case):
    def test_data(self):
        lock = paddock.Lock(self.session, self.path + "/lock")
        with lock as hold, paddock.Guarded(hold, self.path + "/data") as data:
            with self.assertRaises(LookupError):
                data.read()
            data.create(b"one")
            with self.assertRaises(paddock.Exists):
                data.create(b"one")
            data.write(bytes(range(256)) * 100)
            self.assertEqual(data.read(), bytes(range(256)) * 100)
            data.write(b"")
            self.assertEqual(data.read(), b"")
            late = paddock.Guarded(hold, self.path + "/data")
        with self.assertRaises(paddock.Invalid):
            data.read()
        with lock as hold, paddock.Guarded(hold, self.path + "/data") as data:
            with self.assertRaises((paddock.Lost, paddock.NotHeld)):
                late.write(b"late")
            data.delete()
            with self.assertRaises(paddock.Absent):
                data.delete()


class Fences(Case):
    def test_memory(self):
        fence = paddock.Fence()
        self.assertEqual(fence.mark, (0, 0))
        fence.admit(7, 1)
        fence.advance(9)
        with self.assertRaises(paddock.Stale) as caught:
            fence.admit(7, 1)
        self.assertIn("9", str(caught.exception))
        fence.admit_shared(12)
        self.assertEqual(fence.mark, (12, 0))
        for mark in ((0, 0), (-1, 0), (2**63, 0), (1, -1)):
            with self.assertRaises(paddock.Invalid):
                fence.admit(*mark)

    def test_file(self):
        with tempfile.TemporaryDirectory(prefix="paddock-test-") as folder:
            path = pathlib.Path(folder)
            with self.assertRaises(OSError):
                paddock.Fence(path / "mark")
            fence = paddock.Fence(path / "mark", create=True)
            with open(path / "data", "wb", buffering=0) as file:
                fence.write(7, 0, file, b"seven")
                with self.assertRaises(paddock.Stale):
                    fence.write(6, 0, file, b"six")
            self.assertEqual((path / "data").read_bytes(), b"seven")
            self.assertEqual(paddock.Fence(path / "mark").mark, (7, 0))

    def test_map(self):
        fences = paddock.FenceMap(2)
        fences.admit("a", 7)
        fences.admit_shared(b"\0b", 8)
        fences.advance("a", 9)
        self.assertEqual((len(fences), fences.mark("a"), fences.mark("c")), (2, (9, 0), (0, 0)))
        with self.assertRaises(paddock.Stale):
            fences.admit("a", 8)
        with self.assertRaises(paddock.Limit):
            fences.admit("c", 1)
        fences.forget("a")
        self.assertEqual(len(fences), 1)

    def test_texts(self):
        with paddock.Lock(self.session, self.path) as hold:
            found = paddock.Sequencer.parse(hold.sequencer)
            self.assertEqual((found.node, found.token, found.mode), (hold.node, hold.token, paddock.Mode.EXCLUSIVE))
            self.assertEqual(paddock.parse_token(hold.token_text), hold.token)
        for parse in (paddock.Sequencer.parse, paddock.parse_token):
            with self.assertRaises(paddock.Invalid):
                parse("12x")
