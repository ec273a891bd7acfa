"""The same on an event loop."""
import asyncio
import gc
import logging
import os
import unittest

import paddock
from paddock import _calls, aio
from server import SECONDS, Server, _numbers, delete


def opened(hosts="", **options):
    return aio.Session(hosts or Server.hosts, **{"session_timeout": 5, "server_tick": 0.2, **options})


async def until(condition, what):
    async def look():
        while not condition():
            await asyncio.sleep(0.005)
    try:
        await asyncio.wait_for(look(), SECONDS)
    except asyncio.TimeoutError:
        raise AssertionError(f"never: {what}") from None


class Loop(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.path = f"/python/{next(_numbers)}"
        self.session = await opened().open()

    async def asyncTearDown(self):
        await self.session.close(10)
        self.assertFalse(self.session._answers)

    async def test_lock(self):
        lock, order = aio.Lock(self.session, self.path), []

        async def work(number):
            async with lock as hold:
                order.append((hold.token, hold.handover))
                await asyncio.sleep(0)
                self.assertTrue(hold.valid)
        await asyncio.gather(*(work(number) for number in range(8)))
        self.assertEqual(order, sorted(set(order)))
        self.assertEqual(len(order), 8)
        hold = await lock.acquire()
        self.assertEqual((await lock.holder()).token, hold.token)
        self.assertEqual(len(await lock.contenders()), 1)
        self.assertIsNone(await aio.Lock(self.session, self.path).acquire(blocking=False))
        with self.assertRaises(TimeoutError):
            await lock.acquire(timeout=0.05)
        await self.session.ensure(hold, 0.5)
        with self.assertRaises(paddock.WrongThread):
            hold.ensure(0.5)
        self.assertTrue(await self.session.check_sequencer(hold.sequencer))
        self.assertTrue(lock.release())
        await self.session.flush()
        self.assertFalse(await self.session.check_sequencer(hold.sequencer))
        with self.assertRaises(paddock.NotHeld):
            lock.release()
        with self.assertRaises(paddock.Invalid):
            paddock.Lock(self.session, self.path)

    async def test_cancelled(self):
        lock = aio.Lock(self.session, self.path)
        async with lock:
            tasks = [asyncio.ensure_future(lock.acquire()) for _ in range(3)]
            await until(lambda: len(lock._waiters) == 3, "they wait")
            tasks[0].cancel()
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(lock.acquire(), 0.02)
            await until(tasks[0].cancelled, "it is cancelled")
            lock.cancel()
            for task in tasks[1:]:
                with self.assertRaises(paddock.Canceled):
                    await task
        for turn in range(20):  # at any moment, also when the answer is there
            task = asyncio.ensure_future(lock.acquire())
            for _ in range(turn % 5):
                await asyncio.sleep(0.0005)
            if task.cancel():
                await asyncio.wait([task])
            if not task.cancelled():
                task.result().release()
        async with lock:
            pass

    async def test_lost(self):
        told, tasks, lock = [], [], aio.Lock(self.session, self.path)

        async def on_lost(reason):
            tasks.append(asyncio.current_task())
            told.append(reason)
        with self.assertRaises(paddock.Lost):
            async with lock as hold:
                hold.on_lost(on_lost)
                await asyncio.get_running_loop().run_in_executor(None, delete, hold.node)
                await until(lambda: told, "it is told")
        self.assertEqual(told, [paddock.Reason.NODE_GONE])
        self.assertIsNotNone(tasks[0])

    async def test_a_coroutine_that_fails_is_logged(self):
        async def fail(event, _):
            if event == paddock.Event.CONNECTED:
                raise KeyError("told")
        with self.assertLogs("paddock", logging.ERROR) as logged:
            async with opened(on_event=fail):
                await until(lambda: logged.output, "it is logged")
        self.assertIn("KeyError", logged.output[0])

    async def test_closed_while_tasks_wait(self):
        alive = len(_calls._alive)
        session = await opened().open()
        lock = aio.Lock(session, self.path)
        hold = await lock.acquire()
        told = []
        hold.on_lost(told.append)
        task = asyncio.ensure_future(lock.acquire())
        await until(lambda: len(lock._waiters), "it waits")
        await session.close()
        with self.assertRaises(paddock.Closed):
            await task
        self.assertEqual(told, [paddock.Reason.CLOSED])
        self.assertFalse(hold.release())
        with self.assertRaises(paddock.Closed):
            await lock.acquire()
        del session, lock, hold, task
        gc.collect()
        await until(lambda: len(_calls._alive) <= alive, "nothing is left of it")

    async def test_no_server(self):
        with self.assertRaises(paddock.Unavailable):
            await opened("127.0.0.1:1", connect_timeout=0.1).open()
        for hosts in ("127.0.0.1:1", ""):
            session = opened(hosts, connect_timeout=0.1)
            task = asyncio.ensure_future(session.open())
            await asyncio.sleep(0)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
        await until(lambda: session.closed, "the session that nobody awaits is closed")
        with self.assertRaises(paddock.WrongThread):
            await opened()._ask(lambda user: 0)

    async def test_read_write_semaphore_stripes_set(self):
        rw = aio.RWLock(self.session, self.path + "/rw")
        async with rw.read as one, rw.read as two:
            self.assertNotEqual(one.token, two.token)
            self.assertIsNone(await rw.write.acquire(blocking=False))
            self.assertEqual(len(await rw.contenders()), 2)
        slots = aio.Semaphore(self.session, self.path + "/slots", max_leases=2)
        async with slots:
            self.assertIsNone(await slots.permits(2).acquire(blocking=False))
            self.assertEqual(len(await slots.lease_holders()), 1)
        striped = aio.Striped(self.session, self.path + "/striped", 8)
        async with striped.key("a") as hold, striped.any() as other:
            self.assertEqual(striped.stripe(hold), paddock.stripe_of("a", 8))
            self.assertNotEqual(striped.stripe(other), striped.stripe(hold))
        async with striped.keys("abc") as held:
            self.assertTrue(held.valid)
        rights = aio.Set([aio.Lock(self.session, self.path + "/lock"), rw.write, slots.permits(2)])
        async with rights as held:
            self.assertEqual(len(held.parts), 3)
            await self.session.ensure(held, 0.5)
            with self.assertRaises(paddock.Busy):
                await rights.acquire(timeout=0)

    async def test_election(self):
        election, seen, told = aio.Election(self.session, self.path, "one"), [], []

        async def lead():
            leadership = await election.wait()
            await election.publish(leadership, b"here")
            told.append((await election.leader()).data)
            return len(await election.contenders())
        with election.observe(lambda who, token: seen.append(who)):
            self.assertEqual(await election.run(lead), 1)
            await until(lambda: seen[-2:] == ["one", None], "it is observed")
        self.assertEqual(told, [b"here"])

        async def forever():
            try:
                election.resign()
                await asyncio.sleep(SECONDS)
            finally:
                told.append("cancelled")
        with self.assertRaises(paddock.Lost):
            await election.run(forever)
        self.assertEqual(told[-1], "cancelled")
        with self.assertRaises(paddock.NotHeld):
            await election.wait(0)
        election.join()
        first = await election.wait()
        election.resign()
        self.assertGreater((await election.wait()).token, first.token)
        election.leave()

    async def test_member(self):
        views = []
        with paddock.Watcher(self.session, self.path, views.append):
            async with aio.Member(self.session, self.path, b"one") as member:
                membership = await member.wait(SECONDS)
                await member.set_data(b"two")
                await until(lambda: views and [one.data for one in views[-1].members] == [b"two"], "it is seen")
                self.assertEqual(views[-1].members[0].token, membership.token)
            await until(lambda: not views[-1].members, "it has left")

    async def test_job_and_lease_lock(self):
        job = aio.Job(self.session, self.path + "/job", every=3600)
        async with await job.acquire() as run:
            with self.assertRaises(paddock.Skipped) as caught:
                await job.acquire()
            self.assertEqual(caught.exception.runs[0].token, run.token)
        self.assertEqual([(one.state.name, one.outcome) for one in await job.history()], [("FINISHED", 0)])
        lock = aio.LeaseLock(self.session, self.path + "/lease", "a secret of sixteen or more")
        (await lock.acquire()).leave_standing()
        async with lock as hold:
            self.assertTrue(hold.valid)
        await lock.acquire()
        self.assertTrue(await lock.release())

    async def test_guarded(self):
        async with aio.Lock(self.session, self.path + "/lock") as hold, await aio.Guarded.open(hold, self.path + "/data") as data:
            with self.assertRaises(paddock.Absent):
                await data.read()
            await data.create(b"one")
            await data.write(b"two" * 5000)
            self.assertEqual(await data.read(), b"two" * 5000)
            await data.write(b"")
            self.assertEqual(await data.read(), b"")
            await data.delete()
        with self.assertRaises(paddock.Invalid):
            await data.read()

    async def test_revocation(self):
        asked, lock = [], aio.Lock(self.session, self.path)
        async with lock as hold:
            hold.on_request(lambda who, by: asked.append(who))
            await self.session.request_release(self.path, who="nightly")
            await until(lambda: asked, "it is asked")
        hold = await lock.acquire()
        self.assertEqual((await self.session.break_hold(hold.node, hold.token)).identity.split(":")[1], str(os.getpid()))
        await until(lambda: not hold.valid, "it is lost")
        hold.release()
