#!/usr/bin/python3
"""`paddock job` on a real server."""
import datetime
import json
import os
import pathlib
import re
import tempfile
import time
import unittest
import unittest.mock
import zoneinfo

from bench import BUILD, PATIENCE, Case, wait_for

EVERY = ("--every", "3650d")  # nobody sees the end of it


class Job(Case):
    def runs(self):
        return json.loads(self.paddock(0, "job", "--history", "--json", self.path)[0])["runs"]

    def test_once(self):
        self.assertEqual(self.runs(), [])
        out, _ = self.paddock(3, "job", self.path, *EVERY, "--", "sh", "-c", "echo $PADDOCK_TOKEN; exit 3")
        [run] = self.runs()
        self.assertEqual((run["token"], run["state"], run["outcome"]), (out.strip(), "finished", 3))
        self.assertLessEqual(run["start_ms"], run["end_ms"])
        out, err = self.paddock(77, "job", "-v", self.path, *EVERY, "--", "echo", "again")
        self.assertEqual(out, "")
        self.assertIn("skipped", err)
        self.assertEqual(self.runs(), [run])
        out, _ = self.paddock(0, "job", "--history", self.path)
        self.assertRegex(out, rf"^2\S+  finished   3  \S+ s  token {run['token']}  \S+.*\n$")

    def test_while_it_runs(self):
        runner = self.start("job", self.path, "--", "sleep", "60")
        wait_for("the state", lambda: [run["state"] for run in self.runs()] == ["running"])
        self.paddock(77, "job", self.path, "--", "true")
        self.assertRegex(self.paddock(0, "job", "--history", self.path)[0], r"running    -  -  token")
        runner.terminate()
        self.finish(runner, 143)
        self.assertEqual([(run["state"], run["outcome"]) for run in self.runs()], [("finished", 143)])

    def test_others_only_ask(self):
        """They say nothing of a run, for as long as it asks: it is skipped."""
        holder = self.hold(path=f"{self.path}/lock")
        self.paddock(77, "job", self.path, "--", "true")
        self.assertEqual(self.runs(), [])
        holder.terminate()
        self.finish(holder, 143)

    def test_at_most(self):
        begun = time.monotonic()
        _, err = self.paddock(76, "job", "--at-most", "1500ms", self.path, "--", "sleep", "60")
        self.assertNotIn("not recorded", err)  # nobody has tried
        self.assertGreater(time.monotonic() - begun, 0.2)
        self.assertEqual([run["state"] for run in self.runs()], ["died"])
        self.paddock(0, "job", "--keep", "1", self.path, "--", "true")
        self.assertEqual([run["state"] for run in self.runs()], ["finished"])

    def test_times_that_cron_names(self):
        for fields in ("0 0 29 2 *", " @yearly", "@yearly"):
            path = f"{self.path}-{len(fields)}"
            if fields.startswith(" "):
                self.paddock(64, "job", "--every", fields, path, "--", "true")
                continue
            self.paddock(0, "job", "--every", fields, path, "--", "true")
            _, err = self.paddock(77, "job", "-v", "--every", fields, path, "--", "true")
            self.assertRegex(err, r"the next run may start at \d+-(02-29|01-01)T00:00:00Z")

    def test_retry(self):
        runner = self.start("job", "--session-timeout", "2", self.path, *EVERY, "--", "sleep", "60")
        wait_for("the state", lambda: [run["state"] for run in self.runs()] == ["running"])
        runner.kill()
        runner.wait()
        wait_for("the state", lambda: [run["state"] for run in self.runs()] == ["died"])
        self.paddock(77, "job", self.path, *EVERY, "--", "true")
        self.paddock(0, "job", self.path, *EVERY, "--retry", "--", "true")
        self.paddock(77, "job", self.path, *EVERY, "--retry", "--", "true")
        self.assertEqual([run["state"] for run in self.runs()], ["finished", "died"])

    def test_usage(self):
        for words in (("job",), ("job", self.path), ("job", self.path, "--"), ("job", "--history"), ("job", "relative", "--", "true"),
                      ("job", "--history", self.path, "--", "true"), ("job", "--every", "x", self.path, "--", "true"),
                      ("job", "--at-least", "-1s", self.path, "--", "true"), ("job", "--at-most", "3653d", self.path, "--", "true"),
                      *(("job", "--at", at, self.path, "--", "true") for at in ("", "24:00", "1:30", "01:60", "01:30:60", "01", "01:30:00:00",
                                                                                "-1:30", "01:3x", "noon", " 1:30", "1e0:0")),
                      *(("job", "--tz", zone, self.path, "--", "true") for zone in ("", "Europe/Nowhere", "/etc/localtime", "CEST", "../UTC")),
                      ("job", "--tz", "Europe/Berlin", "--every", "1h", self.path, "--", "true"),
                      *(("job", "--every", fields, self.path, "--", "true") for fields in ("* * * *", "0 0 30 2 *", "60 * * * *", "@reboot", "@", " ")),
                      ("job", "--every", "@daily", "--at", "01:30", self.path, "--", "true"),
                      ("job", "--every", "@daily", "--tz", "Europe/Nowhere", self.path, "--", "true"),
                      ("job", "--at", "01:30", "--every", "1h", self.path, "--", "true"),
                      ("job", "--keep", "101", self.path, "--", "true"), ("job", self.path, self.path, "--", "true")):
            self.assertRegex(self.paddock(64, *words)[1], "^paddock: (?!options)", words)
        self.paddock(127, "job", self.path, "--", "/no/such/command")
        with open("/dev/full", "w") as full:
            self.assertIn("No space left", self.paddock(70, "job", "--history", self.path, stdout=full)[1])

    def test_a_foreign_record(self):
        self.server.client.ensure_path(self.path)
        self.server.client.create(f"{self.path}/record", b"paddock-job 2\n")
        self.assertIn("later version", self.paddock(69, "job", self.path, "--", "true")[1])
        self.server.client.set(f"{self.path}/record", b"\x1b[2J")
        self.assertIn("no record", self.paddock(69, "job", self.path, "--", "true")[1])
        self.assertIn("no record", self.paddock(69, "job", "--history", self.path)[1])


# The clock is set by a library that is preloaded, as no sanitizer allows.
@unittest.skipIf(re.search(r"^PDK_SANITIZE\S*=.", (BUILD / "CMakeCache.txt").read_text(), re.M), "a build with sanitizers")
class Zones(Case):
    """The servers' clock is set, and a job is asked for when cron would ask for it, by the clocks of Berlin."""
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.clock = pathlib.Path(folder.name) / "clock"
        cls.clock.write_bytes(bytes(8))
        with unittest.mock.patch.dict(os.environ, LD_PRELOAD=str(BUILD / "docker/chaos/wallclock.so"), PADDOCK_WALLCLOCK=str(cls.clock)):
            super().setUpClass()

    def set_clock(self, when):
        """Of the servers, in place: they have mapped the file."""
        ahead = int(when.timestamp() - time.time())
        with self.clock.open("r+b") as file:
            file.write(ahead.to_bytes(8, "little", signed=True))

    def nights(self, *options, first, days=3, hour=(1, 36), zone="Europe/Berlin"):
        """How often it ran, each night at that time by the clocks of the zone. Two machines ask, 20 s apart."""
        ran = []
        for day in range(days):
            local = datetime.datetime(*first, *hour, tzinfo=zoneinfo.ZoneInfo(zone)) + datetime.timedelta(days=day)
            ran.append(0)
            for late in (0, 20):
                self.set_clock(local.astimezone(datetime.timezone.utc) + datetime.timedelta(seconds=late))
                process = self.start("job", *options, self.path, "--", "true")
                process.communicate(timeout=PATIENCE)
                self.assertIn(process.returncode, (0, 77))
                ran[-1] += process.returncode == 0
        return ran

    def test_summer_time_begins(self):
        """With days of UTC the night after is skipped: its 01:36 is the day before, there."""
        self.assertEqual(self.nights("--every", "1d", first=(2027, 3, 27)), [1, 1, 0])
        self.path += "/zone"
        self.assertEqual(self.nights("--at", "12:00", "--tz", "Europe/Berlin", first=(2027, 3, 27)), [1, 1, 1])

    def test_the_hour_that_is_not(self):
        self.assertEqual(self.nights("--at", "02:30", "--tz", "Europe/Berlin", first=(2027, 3, 27), hour=(3, 5)), [1, 1, 1])
        self.path += "/cron"
        self.assertEqual(self.nights("--every", "30 2 * * *", "--tz", "Europe/Berlin", first=(2027, 3, 27), hour=(3, 5)), [1, 1, 1])

    def test_cron_asks_every_hour(self):
        """The record decides: at 9:00 and 13:00 of working days a period begins, and the first ask in it runs."""
        begun = datetime.datetime(2027, 3, 26, 7, 0, 20, tzinfo=datetime.timezone.utc)  # a Friday, 8:00 in Berlin; summer time begins on Sunday
        ran = []
        for hour in (0, 1, 2, 5, 6, 30, 50, 71, 72, 73):
            self.set_clock(begun + datetime.timedelta(hours=hour))
            process = self.start("job", "--every", "0 9,13 * * mon-fri", "--tz", "Europe/Berlin", self.path, "--", "true")
            process.communicate(timeout=PATIENCE)
            self.assertIn(process.returncode, (0, 77))
            ran += [hour] if process.returncode == 0 else []
        self.assertEqual(ran, [0, 1, 5, 72])

    def test_summer_time_ends(self):
        self.assertEqual(self.nights("--at", "01:30", "--tz", "Europe/Berlin", first=(2027, 10, 30)), [1, 1, 1])
        self.assertEqual(self.nights("--at", "02:15", "--tz", "Europe/Berlin", first=(2028, 10, 28), hour=(2, 36)), [1, 1, 1])
        when = datetime.datetime(2028, 10, 29, 1, 36, tzinfo=datetime.timezone.utc)  # 02:36 for the second time
        self.path += "/again"
        self.set_clock(when - datetime.timedelta(hours=1))
        self.paddock(0, "job", "--at", "02:15", "--tz", "Europe/Berlin", self.path, "--", "true")
        self.set_clock(when)
        self.paddock(77, "job", "--at", "02:15", "--tz", "Europe/Berlin", self.path, "--", "true")

    def test_around_the_end_of_a_period(self):
        """Two machines ask around midnight: twice in a night, unless the period ends at another hour, or with --at-least."""
        around = datetime.datetime(2027, 6, 1, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin"))
        for options, ran in ((("--tz", "Europe/Berlin"), 2), (("--tz", "Europe/Berlin", "--at", "12:00"), 1),
                             (("--tz", "Europe/Berlin", "--at-least", "1h"), 1)):
            self.path += "/next"
            runs = 0
            for late in (-10, 10):
                self.set_clock(around + datetime.timedelta(seconds=late))
                process = self.start("job", *options, self.path, "--", "true")
                process.communicate(timeout=PATIENCE)
                runs += process.returncode == 0
            self.assertEqual(runs, ran, options)

    def test_two_zones(self):
        """Machines with other zones: once in a period of each, and each is told."""
        berlin, york = ("--tz", "Europe/Berlin", "--at", "01:00"), ("--tz", "America/New_York", "--at", "01:00")
        begun = datetime.datetime(2027, 3, 26, 2, 0, tzinfo=datetime.timezone.utc)
        runs = []
        for hour in range(0, 96, 3):
            self.set_clock(begun + datetime.timedelta(hours=hour))
            status, err = self.start_one("job", *(york if hour % 2 else berlin), self.path, "--", "true")
            runs.append(status == 0)
            if hour:
                self.assertEqual("has other periods" in err, self.other(runs, hour), (hour, err))
                self.assertEqual("has other periods" in err, "the same --every, --at and --tz (" in err, err)
        self.assertIn(sum(runs), (4, 5))

    def start_one(self, *arguments):
        process = self.start(*arguments)
        _, err = process.communicate(timeout=PATIENCE)
        self.assertIn(process.returncode, (0, 77), err)
        return process.returncode, err

    @staticmethod
    def other(runs, hour):
        """Whether the newest run before this one was of the other zone."""
        before = max(3 * i for i, ran in enumerate(runs[:-1]) if ran)
        return before % 2 != hour % 2


if __name__ == "__main__":
    unittest.main()
