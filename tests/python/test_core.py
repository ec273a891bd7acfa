"""The session, the lock, the hold, the errors."""
import contextlib
import gc
import logging
import os
import pathlib
import re
import signal
import socket
import sys
import threading
import time
import warnings

import paddock
from paddock import _calls, errors
from paddock._native import ffi, lib
from server import SECONDS, Case, delete, opened, until


class Locks(Case):
    def test_with(self):
        lock = paddock.Lock(self.session, self.path)
        with lock as hold:
            self.assertTrue(hold.valid)
            self.assertTrue(lock.is_acquired)
            self.assertGreater(hold.token, 0)
            self.assertEqual(hold.handover, 0)
            self.assertEqual(int(hold.token_text), hold.token)
            self.assertGreater(hold.remaining, 0)
            self.assertTrue(hold.node.startswith(self.path + "/"))
            self.assertEqual(hold.reason, paddock.Reason.NONE)
            hold.ensure(0.5)
            self.assertIn("valid", repr(hold))
            self.assertFalse(hold.mixed)
            self.assertEqual(lock.holder().token, hold.token)
            self.assertTrue(self.session.check_sequencer(hold.sequencer))
        self.assertFalse(hold.valid)
        self.assertFalse(lock.is_acquired)
        self.assertIn("released", repr(hold))
        self.session.flush()
        self.assertIsNone(lock.holder())
        self.assertFalse(self.session.check_sequencer(hold.sequencer))
        with lock as later:
            self.assertGreater((later.token, later.handover), (hold.token, hold.handover))

    def test_acquire_as_a_statement_holds(self):
        lock = paddock.Lock(self.session, self.path)
        lock.acquire()
        gc.collect()
        self.assertTrue(lock.is_acquired)
        self.assertTrue(lock.release())
        with self.assertRaises(paddock.NotHeld):
            lock.release()

    def test_released_inside_of_its_block(self):
        lock = paddock.Lock(self.session, self.path)
        with lock as hold:
            hold.release()
            with lock as second:
                self.assertTrue(second.valid)
        with self.assertRaises(paddock.NotHeld):
            hold.release()
        with lock.acquire() as hold:
            lock.release()
        self.assertFalse(hold.valid)

    def test_an_exception_releases(self):
        lock = paddock.Lock(self.session, self.path)
        with self.assertRaises(KeyError):
            with lock as hold:
                raise KeyError
        self.assertFalse(hold.valid)

    def test_try(self):
        ours, theirs = (paddock.Lock(self.session, self.path) for _ in range(2))
        with ours:
            self.assertIsNone(theirs.acquire(blocking=False))
            with self.assertRaises(paddock.Busy) as caught:
                theirs.acquire(timeout=0)
            self.assertTrue(caught.exception.retriable)
            self.assertEqual(caught.exception.status, paddock.Status.BUSY)
            self.assertRegex(str(caught.exception), f"^{self.path}: ")
            self.assertIn("paddock.Busy", repr(type(caught.exception)))
        self.assertTrue(theirs.acquire(blocking=False).release())

    def test_deadlock(self):
        lock = paddock.Lock(self.session, self.path)
        with lock as hold:
            with self.assertRaises(paddock.Deadlock):
                lock.acquire()
            hold.detach_thread()
            with self.assertRaises(TimeoutError) as caught:
                lock.acquire(timeout=0.05)
            self.assertIsInstance(caught.exception, paddock.Timeout)

    def test_reentrant(self):
        lock = paddock.Lock(self.session, self.path, reentrant=True)
        with lock as outer:
            with lock as inner:
                self.assertEqual(inner.token, outer.token)
            self.assertTrue(outer.valid)
            kept = lock.acquire()
        self.assertFalse(outer.valid)
        self.assertTrue(kept.valid)
        kept.release()

    def test_threads_exclude_each_other(self):
        lock, counts = paddock.Lock(self.session, self.path), [0]

        def work():
            for _ in range(20):
                with lock:
                    before = counts[0]
                    time.sleep(0)
                    counts[0] = before + 1
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(counts[0], 80)

    def test_other_threads_run_while_one_waits(self):
        lock = paddock.Lock(self.session, self.path)
        got = []
        hold = lock.acquire()
        waiting = threading.Thread(target=lambda: got.append(lock.acquire(timeout=SECONDS)))
        waiting.start()
        until(lambda: len(lock.contenders()) >= 1 and waiting.is_alive(), "the thread waits")
        self.assertEqual(got, [])
        hold.release()
        waiting.join()
        self.assertTrue(got[0].valid)
        got[0].release()  # by another thread than the one that acquired it

    def test_cancel(self):
        lock = paddock.Lock(self.session, self.path)
        caught = []

        def wait():
            try:
                lock.acquire()
            except paddock.Canceled as reason:
                caught.append(reason)
        with lock:
            thread = threading.Thread(target=wait)
            thread.start()
            until(lambda: lock._waiters, "it waits")
            lock.cancel()
            thread.join()
        self.assertEqual(len(caught), 1)
        lock.acquire().release()

    def test_lost(self):
        lock, told = paddock.Lock(self.session, self.path), []
        with self.assertRaises(paddock.Lost):
            with lock as hold:
                hold.on_lost(told.append)
                with self.assertRaises(paddock.Invalid):
                    hold.on_lost(told.append)
                delete(hold.node)
                until(lambda: told, "it is told")
                self.assertFalse(hold.valid)
                self.assertEqual(hold.remaining, 0)
                self.assertIn("NODE_GONE", repr(hold))
        self.assertEqual(told, [paddock.Reason.NODE_GONE])

    def test_lost_is_false_of_a_release(self):
        hold = paddock.Lock(self.session, self.path).acquire()
        delete(hold.node)
        until(lambda: not hold.valid, "it is lost")
        self.assertFalse(hold.release())
        with self.assertRaises(paddock.NotHeld):
            hold.release()

    def test_a_callback_that_fails_is_logged(self):
        hold = paddock.Lock(self.session, self.path).acquire()
        with self.assertLogs("paddock", logging.ERROR) as logged:
            hold.on_lost(lambda reason: {}[reason])
            delete(hold.node)
            until(lambda: logged.output, "it is logged")
        self.assertIn("KeyError", logged.output[0])
        hold.release()

    def test_collected(self):
        lock = paddock.Lock(self.session, self.path)
        lock.acquire()
        with self.assertWarnsRegex(ResourceWarning, re.escape(self.path) + ".*never released"):
            del lock
            gc.collect()
        with paddock.Lock(self.session, self.path) as hold:  # it was released
            self.assertTrue(hold.valid)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            del hold
            gc.collect()

    def test_collected_where_warnings_are_errors(self):
        seen, hook = [], sys.unraisablehook
        sys.unraisablehook = lambda what: seen.append(what.exc_type)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", ResourceWarning)
                paddock.Lock(self.session, self.path).acquire()
                gc.collect()
        finally:
            sys.unraisablehook = hook
        self.assertEqual(seen, [ResourceWarning])
        paddock.Lock(self.session, self.path).acquire(timeout=SECONDS).release()

    def test_a_hold_outlives_its_lock(self):
        hold = paddock.Lock(self.session, self.path).acquire()
        gc.collect()
        self.assertTrue(hold.valid)
        hold.release()

    def test_invalid(self):
        with self.assertRaises(ValueError) as caught:
            paddock.Lock(self.session, "no/slash")
        self.assertIsInstance(caught.exception, paddock.Invalid)
        for make in (lambda: paddock.Lock(self.session, self.path + "\0"), lambda: paddock.Lock(self.session, self.path, linger=2**40),
                     lambda: paddock.Lock(self.session, self.path).acquire(timeout=-1)):
            with self.assertRaises(paddock.Invalid):
                make()

    def test_identifier(self):
        with paddock.Lock(self.session, self.path, "worker 7", naming=paddock.Naming.KAZOO) as hold:
            first = paddock.Lock(self.session, self.path).contenders()[0]
        self.assertEqual((first.identity, first.token, first.shared, first.data), ("worker 7", hold.token, False, None))
        self.assertIn("__lock__", first.node)


class Signals(Case):
    """On the main thread, where these tests run."""

    @contextlib.contextmanager
    def handler(self, function):
        before = signal.signal(signal.SIGUSR1, function)
        try:
            yield
        finally:
            signal.signal(signal.SIGUSR1, before)

    def waiting(self, lock, then):
        """Calls it once this thread waits for the lock, on another thread."""
        def run():
            until(lambda: lock._waiters, "it waits")
            time.sleep(0.02)
            then()
        thread = threading.Thread(target=run)
        thread.start()
        return thread

    def test_keyboard_interrupt(self):
        lock, other = (paddock.Lock(self.session, self.path) for _ in range(2))
        with other as hold:
            hold.detach_thread()
            thread = self.waiting(lock, lambda: os.kill(os.getpid(), signal.SIGINT))
            with self.assertRaises(KeyboardInterrupt):
                lock.acquire()
            thread.join()
        self.assertFalse(lock._waiters)
        with lock:
            pass
        self.assertEqual(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def test_a_handler_that_returns(self):
        lock, other, came = paddock.Lock(self.session, self.path), paddock.Lock(self.session, self.path), []
        hold = other.acquire()
        hold.detach_thread()

        def then():
            os.kill(os.getpid(), signal.SIGUSR1)
            until(lambda: came, "the handler runs")
            hold.release()
        with self.handler(lambda *_: came.append(threading.current_thread())):
            thread = self.waiting(lock, then)
            with lock:
                self.assertEqual(came, [threading.main_thread()])
            thread.join()

    def test_a_handler_that_waits_itself(self):
        lock, other, second = (paddock.Lock(self.session, self.path + end) for end in ("", "", "/second"))
        hold, came = other.acquire(), []
        hold.detach_thread()

        def wait(*_):
            with second:
                came.append(signal.signal(signal.SIGUSR1, signal.SIG_IGN))

        def then():
            os.kill(os.getpid(), signal.SIGUSR1)
            until(lambda: came, "the handler has waited")
            hold.release()
        with self.handler(wait):
            thread = self.waiting(lock, then)
            with lock:
                self.assertEqual(signal.getsignal(signal.SIGUSR1), signal.SIG_IGN)
            thread.join()
            os.kill(os.getpid(), signal.SIGUSR1)  # ignored, as the handler has said

    def test_while_it_opens(self):
        """A session that finds no server is left at once."""
        begun, server = time.monotonic(), socket.create_server(("127.0.0.1", 0))
        with self.handler(lambda *_: (_ for _ in ()).throw(OSError("it came"))), server:
            timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGUSR1))
            timer.start()
            with self.assertRaisesRegex(OSError, "it came"):
                opened("127.0.0.1:%d" % server.getsockname()[1], connect_timeout=10 * SECONDS)
            timer.join()
        self.assertLess(time.monotonic() - begun, 10 * SECONDS)

    def test_before_the_call(self):
        with self.handler(lambda *_: (_ for _ in ()).throw(OSError("it came"))), self.assertRaisesRegex(OSError, "it came"):
            os.kill(os.getpid(), signal.SIGUSR1)
            paddock.Lock(self.session, self.path).acquire()


    def test_at_any_moment(self):
        """An exception in the midst of an acquisition or a release loses no lock."""
        class Alarm(Exception):
            pass

        def fail(*_):
            raise Alarm
        before, rounds, interrupted = signal.signal(signal.SIGALRM, fail), 200, 0
        hook, sys.unraisablehook = sys.unraisablehook, lambda what: None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            try:
                for turn in range(rounds):
                    try:
                        signal.setitimer(signal.ITIMER_REAL, 0.0001 + 0.000015 * turn)
                        hold = paddock.Lock(self.session, self.path).acquire()
                        hold.release()
                        signal.setitimer(signal.ITIMER_REAL, 0)
                    except Alarm:
                        interrupted += 1
                    hold = None  # where the release was not reached
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, before)
            hold = None
            gc.collect()
        sys.unraisablehook = hook
        self.assertGreater(interrupted, 10)
        paddock.Lock(self.session, self.path).acquire(timeout=SECONDS).release()
        self.assertFalse([one for one in gc.get_objects() if isinstance(one, paddock.Hold) and one.valid])


class Sessions(Case):
    def test_log(self):
        with self.assertLogs("paddock", logging.WARNING) as logged:
            opened().close()
        self.assertIn("WARNING:paddock.session:no authentication", logged.output[0])
        with self.assertNoLogs("paddock", logging.DEBUG):
            opened(log_level=logging.ERROR).close()

    def test_figures(self):
        with paddock.Lock(self.session, self.path):
            figures = self.session.stats()
        self.assertGreaterEqual(figures["claims_granted"], 1)
        self.assertGreaterEqual(figures["wait_time"].count, 1)
        self.assertIn("# EOF", self.session.stats_text())
        self.assertGreater(self.session.token_seen, 0)
        self.assertNotEqual(self.session.id, 0)
        self.assertEqual(self.session.timeout, 5)
        self.assertTrue(self.session.identity.endswith(f":{os.getpid()}"))

    def test_figures_of_paths(self):
        with opened(stats_paths=2) as session:
            with paddock.Lock(session, self.path):
                pass
            session.reset_extremes()
            self.assertEqual(session.stats_of_paths()["lock", self.path]["claims_granted"], 1)

    def test_events_and_close(self):
        events = []
        session = opened(label="cron", on_event=lambda event, left: events.append((event, left)))
        self.assertTrue(session.identity.endswith(":cron"))
        lock = paddock.Lock(session, self.path)
        hold = lock.acquire()
        session.close()
        session.close()
        self.assertTrue(session.closed)
        self.assertEqual(events, [(paddock.Event.CONNECTED, 0), (paddock.Event.CLOSED, 0)])
        self.assertEqual(hold.reason, paddock.Reason.CLOSED)
        self.assertFalse(hold.release())
        with self.assertRaises(paddock.Closed):
            lock.acquire()
        self.assertEqual(lib.pdk_session_dispatch(session._raw, ffi.NULL), paddock.Status.INVALID)

    def test_no_server(self):
        with self.assertRaises(ConnectionError) as caught:
            paddock.Session("127.0.0.1:1", connect_timeout=0.1, access=paddock.Access.OPEN)
        self.assertIsInstance(caught.exception, paddock.Unavailable)

    def test_a_callback_may_not_wait(self):
        caught = []
        lock = paddock.Lock(self.session, self.path)

        def event(*_):
            try:
                lock.acquire()
            except paddock.WrongThread as reason:
                caught.append(reason)
        opened(on_event=event).close()
        self.assertTrue(caught)

    def test_collected(self):
        alive = len(_calls._alive)
        session = opened(on_event=lambda *_: None)
        self.assertGreater(len(_calls._alive), alive)
        with self.assertWarnsRegex(ResourceWarning, "never closed"):
            del session
            gc.collect()
        until(lambda: len(_calls._alive) <= alive, "its callbacks are forgotten")

    def test_revocation(self):
        asked, lock = [], paddock.Lock(self.session, self.path)
        with lock as hold:
            hold.on_request(lambda who, by: asked.append((who, by)))
            self.session.request_release(self.path, who="nightly", within=60)
            until(lambda: asked, "it is asked")
            self.assertEqual(asked[0][0], "nightly")
            self.assertGreater(asked[0][1], time.time())
        with self.assertRaises(paddock.Gone):
            self.session.flush()
            self.session.request_release(self.path)
        hold = lock.acquire()
        self.assertEqual(self.session.break_hold(hold.node, hold.token).token, hold.token)
        until(lambda: not hold.valid, "it is lost")
        hold.release()

    def test_checker(self):
        checker = paddock.Checker(self.session, 10)
        with paddock.Lock(self.session, self.path) as hold:
            self.assertTrue(checker.check(hold.sequencer))
            self.assertTrue(checker.check(hold.sequencer, 0))
        self.session.flush()
        until(lambda: not checker.check(hold.sequencer), "it is gone")

    def test_access(self):
        entry = paddock.AccessEntry(paddock.Permission.ALL, "world", "anyone")
        with opened(access=paddock.Access.LIST, access_list=[entry]) as session, paddock.Lock(session, self.path):
            pass


class Errors(Case):
    def test_each_status_has_a_class(self):
        named = {name[len("PDK_"):]: value for value, name in ffi.typeof("pdk_status").elements.items()}
        self.assertEqual({status.name: status.value for status in paddock.Status}, named)
        for status in paddock.Status:
            if status:
                self.assertTrue(issubclass(errors.CLASSES[status], paddock.Error))
        self.assertIsInstance(errors.error(9999, "later"), paddock.Error)

    def test_each_value_has_a_name(self):
        for python, c in ((paddock.Reason, "pdk_reason"), (paddock.Event, "pdk_session_event"), (paddock.Access, "pdk_access"),
                          (paddock.Naming, "pdk_naming"), (paddock.Mode, "pdk_mode"), (paddock.State, "pdk_job_state"),
                          (paddock.Retry, "pdk_job_retry"), (paddock.Permission, "pdk_permission")):
            members = python.__members__.values()
            self.assertEqual({member.value for member in members}, set(ffi.typeof(c).elements), c)

    def test_every_function_is_used(self):
        """A function of the headers that the package does not use is named here."""
        left_out = {
            r"borrow|secret": "handles of libzookeeper and secrets of guardians are for programs in C",
            r"^pdk_(claim_position|claim_on_queued|claim_ref|set_claim_(position|ref))$": "a claim is an awaited call",
            r"_(ref|unref|new|options_init|callbacks_init)$": "by the name of the type",
            r"_max(_ms)?$|^pdk_version_|^pdk_status_is_|^pdk_histogram_b|_cancel$|is_raised$|^pdk_(reason|status)_name$": "by other means"}
        source = pathlib.Path(os.environ["PDK_SOURCE"]) / "python"
        text = "".join(path.read_text() for path in [*source.glob("paddock/*.py"), *source.glob("*.c")])
        used = set(re.findall(r"\bpdk_\w+", text))
        self.assertEqual([name for name in dir(lib) if name.startswith("pdk_") and name not in used and
                          not any(re.search(pattern, name) for pattern in left_out)], [])

    def test_every_option_is_an_argument(self):
        """A field of the headers' options that Python leaves out is named here."""
        left_out = {"pdk_session_options": {"dispatch", "on_event_user", "on_event_user_free", "on_log", "on_log_user",
                                            "on_log_user_free", "access_count"}}
        renamed = {"identity": "identifier", "open_in_background": "in_background", "history": "keep"}
        for kind, of in (("pdk_session_options", paddock.Session), ("pdk_lock_options", paddock.Lock),
                         ("pdk_rwlock_options", paddock.RWLock), ("pdk_semaphore_options", paddock.Semaphore),
                         ("pdk_striped_options", paddock.Striped), ("pdk_set_options", paddock.Set),
                         ("pdk_election_options", paddock.Election), ("pdk_job_options", paddock.Job),
                         ("pdk_lease_lock_options", paddock.LeaseLock), ("pdk_checker_options", paddock.Checker)):
            names = of.__init__.__code__.co_varnames
            for field, _ in ffi.typeof(kind).fields:
                name = renamed.get(field, field[:-3] if field.endswith("_ms") else field)
                if field != "size" and field not in left_out.get(kind, ()):
                    self.assertIn(name, names, f"{kind}.{field}")
