"""Paddock: distributed locks and related recipes on ZooKeeper.

    with paddock.Session("127.0.0.1:2181") as session:
        with paddock.Lock(session, "/orders/lock") as hold:
            write(b"...", hold.token)

A hold has a token, which grows with each grant, and knows by a lease that only a quorum of servers can prolong when it is no longer
valid. `paddock.aio` has the same for asyncio. The C library's own pages have all that is not about Python.
"""
from ._native import lib as _lib
from .contenders import Contender
from .election import Election, Leadership, Observer, Service, Term
from .errors import (Absent, Auth, Busy, Canceled, Closed, Damaged, Deadlock, Error, Exhausted, Exists, Forked, Gone, Invalid, Limit,
                     Lost, Mismatch, NoPermission, NotHeld, Replaced, Resolve, Rewound, Skipped, Stale, Status, System, Timeout,
                     Unavailable, Unprotected, Unsupported, Upgrade, WrongThread, text as _text)
from .fence import Fence, FenceMap, Mode, Sequencer, parse_token
from .group import Change, Member, MemberInfo, Membership, View, Watcher
from .guarded import Guarded
from .hold import Grant, Hold, Reason
from .job import Job, JobHold, Retry, Run, State
from .lease_lock import LeaseHold, LeaseLock
from .lock import Lock, Naming
from .rwlock import RWLock
from .semaphore import Semaphore
from .session import Access, AccessEntry, Checker, Event, Histogram, Permission, Session, token_base_above
from .sets import Part, Set, SetHold
from .striped import Striped, stripe_of

__version__ = _text(_lib.pdk_version())
"""The version of the library that is loaded."""

__all__ = [
    "Absent", "Access", "AccessEntry", "Auth", "Busy", "Canceled", "Change", "Checker", "Closed", "Contender", "Damaged", "Deadlock",
    "Election", "Error", "Event", "Exhausted", "Exists", "Fence", "FenceMap", "Forked", "Gone", "Grant", "Guarded", "Histogram",
    "Hold", "Invalid", "Job", "JobHold", "Leadership", "LeaseHold", "LeaseLock", "Limit", "Lock", "Lost", "Member", "MemberInfo",
    "Membership", "Mismatch", "Mode", "Naming", "NoPermission", "NotHeld", "Observer", "Part", "Permission", "RWLock", "Reason",
    "Replaced", "Resolve", "Retry", "Rewound", "Run", "Semaphore", "Sequencer", "Service", "Session", "Set", "SetHold", "Skipped",
    "Stale", "State", "Status", "Striped", "System", "Term", "Timeout", "Unavailable", "Unprotected", "Unsupported", "Upgrade",
    "View", "Watcher", "WrongThread", "parse_token", "stripe_of", "token_base_above"]
