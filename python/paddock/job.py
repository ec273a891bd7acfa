"""The job: run once per period across a fleet, by the servers' clocks."""
from __future__ import annotations

import dataclasses
import enum
import types
from typing import Any, List, Optional, Type

from ._calls import acquired, bounded, check, error, ffi, lib, ms, options, seconds, string, text
from .errors import Error, Skipped
from .hold import Hold
from .lock import Recipe
from .session import BaseSession


class Retry(enum.IntEnum):
    """Which run may follow one that died."""

    NEXT_PERIOD = lib.PDK_JOB_RETRY_NEXT_PERIOD
    AT_ONCE = lib.PDK_JOB_RETRY_AT_ONCE


class State(enum.IntEnum):
    """The state of a run."""

    RUNNING = lib.PDK_JOB_RUNNING
    FINISHED = lib.PDK_JOB_FINISHED
    DIED = lib.PDK_JOB_DIED


@dataclasses.dataclass(frozen=True)
class Run:
    """A run, as the record has it. Moments are in seconds since 1970 by the servers' clocks."""

    token: int
    start: float
    end: Optional[float]
    next: float
    """The earliest start of the next run, if this one finishes."""
    until: Optional[float]
    """Until when it may stand; None: there is no limit."""
    who: str
    state: State
    outcome: int


def runs(raw: Any) -> List[Run]:
    """The runs that the caller owns, which end here."""
    try:
        found = [lib.pdk_job_runs_run(raw, i) for i in range(lib.pdk_job_runs_count(raw))]
        return [Run(token=one.token, start=one.start_ms / 1000, end=one.end_ms / 1000 if one.end_ms else None,
                    next=one.next_ms / 1000, until=one.until_ms / 1000 if one.until_ms else None, who=text(one.who),
                    state=State(one.state), outcome=one.outcome) for one in found]
    finally:
        lib.pdk_job_runs_free(raw)


def skipped(status: int, raw: Any) -> Error:
    """The exception, with the runs of a job that is not due."""
    found = error(status)
    if isinstance(found, Skipped):
        found.runs = runs(raw)
    return found


class BaseJob(Recipe):
    """What a job has on threads and on an event loop."""

    def __init__(self, session: BaseSession, path: str, every: float = 0, *, at_least: float = 0, at_most: float = 0,
                 retry: Retry = Retry.NEXT_PERIOD, keep: Optional[int] = None, identifier: Optional[str] = None, at: float = 0,
                 zone: Optional[str] = None, schedule: Optional[str] = None) -> None:
        """Times are in seconds. every: the period; 0: at_least alone decides. at_least: no other run starts for so long after the
        start of one. at_most: for so long a run stands; 0: as long as its hold is valid. retry: which run may follow one that died.
        keep: how many runs the record keeps. at: when a period ends, after midnight. zone: whose days the periods are, such as
        "Europe/Berlin". schedule: a cron expression such as "30 2 * * *", in place of every and at."""
        super().__init__(session, path, "pdk_job",
                         options("pdk_job_options", every_ms=seconds(every), at_least_ms=seconds(at_least),
                                 at_most_ms=seconds(at_most), retry=int(retry), history=keep, identity=identifier,
                                 at_ms=seconds(at), zone=zone, schedule=schedule))


class JobHold(Hold):
    """A run. `finish` tells its outcome; a `with` block does so at its end: 0, or 1 after an exception. A release without an outcome
    leaves a run that died."""

    def __init__(self, session: BaseSession, job: Any) -> None:
        super().__init__(session)
        self._job = ffi.gc(lib.pdk_job_ref(job), lib.pdk_job_unref)

    _rest = "it is released now, and shown as died"

    def finish(self, outcome: int = 0, timeout: Optional[float] = 10.0) -> None:
        """Tell the outcome, 0 by custom for a success, and release the hold. After a failure it is still to be released."""
        def call() -> None:
            status = lib.paddock_job_finish(self._job, self._cell, outcome, ms(timeout))
            if status != lib.PDK_OK:
                raise error(status) if self._owned else self._not_held()
        bounded(call)

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[types.TracebackType]) -> None:
        if not self._owned:
            return
        try:
            self.finish(1 if kind else 0)
        except Error:
            if self._owned:
                self.release()
            if kind is None:
                raise


class Job(BaseJob):
    """A job. Each process of the fleet tries when it thinks that it is time: `with job.acquire():` runs it, and raises Skipped where
    it is not due."""

    def acquire(self, timeout: Optional[float] = 10.0) -> JobHold:
        """Begin a run, if there may be one now. It never waits for another's run to end."""
        found = ffi.new("pdk_job_runs **")
        try:
            return acquired(lambda limit, out: int(lib.pdk_job_acquire(self._raw, limit, out, found)), timeout, self._waiters,
                            JobHold(self._session, self._raw))
        except Skipped as reason:
            reason.runs = runs(found[0])
            raise

    def history(self, timeout: Optional[float] = 10.0) -> List[Run]:
        """The last runs, the newest first."""
        def call() -> List[Run]:
            out = ffi.new("pdk_job_runs **")
            check(lib.pdk_job_history(self._session._raw, string(self.path), ms(timeout), out))
            return runs(out[0])
        return bounded(call)
