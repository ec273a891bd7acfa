"""A run, read from its logs: players, claims, grants and how they ended, faults, all with their times."""
import bisect
from dataclasses import dataclass, field

from play.logbook import S
from play.spans import spans

from judges import judge_taken
from judges.judge_fault import NEVER, Fault
from judges.judge_settings import DRIVER, Settings, listed

OURS = "paddock"
SEVERAL = "all"  # the kind of a grant of several
# Callbacks and lines of a log wait for a processor, which they share with servers, players and other programs.
SLACK_NS = 1 * S
# A run of all faults that lasts so long must show everything that the judges look for.
THOROUGH_NS = 600 * S
# What a player tells of a claim, and what of a hold; the last row is of some recipes (judge_job, judge_lease, judge_group).
ANSWERS = ("granted", "failed")
OF_A_HOLD = ("used", "guarding", "guarded", "lost", "releasing", "ended", "valid", "remaining",
             "finishing", "finished", "giving", "gave", "set", "looked")
# Lines of a player that are of no claim.
OF_NO_CLAIM = ("view", "leader", "listening", "peeked")
TROUBLE = {"restless": "did not come to rest", "unfinished": "did not end well"}


@dataclass
class Player:
    who: str
    client: str
    recipe: str
    role: str
    path: str
    stops: list = field(default_factory=list)  # [stopped, resuming, resumed]
    stopping: int = None  # from then on it may have been stopped
    halts: list = field(default_factory=list)  # for each stop, when it may have begun
    started: int = 0
    killing: int = NEVER  # from then on it may have been dead
    killed: int = NEVER
    trouble: list = field(default_factory=list)  # its own faults, in words
    claims: int = 0
    threads: int = None  # None: not told
    handovers: int = None  # at most so many in a row; None: not told
    counted: dict = None  # what the library has counted, if the player lived to tell

    @property
    def ours(self):
        return self.client == OURS

    def pauses(self):
        """When it certainly did not run. A doubtful case is decided against us: ours may run from `resuming` on."""
        return [(stopped, resuming if self.ours else resumed) for stopped, resuming, resumed in self.stops]

    def running(self, begin, end):
        """For how much of that time it certainly ran."""
        return end - begin - sum(max(0, min(end, until) - max(begin, since))
                                 for since, (*_, until) in zip(self.halts, self.stops))


@dataclass
class Hold:
    claim: object
    granted: int
    token: int
    handover: int
    fields: dict
    spans: list = field(default_factory=list)
    sampled: bool = False  # the sampler told its last word of it
    lost: list = field(default_factory=list)  # ns of each LOST
    ended: list = field(default_factory=list)  # (ns, how): it was released, and no callback can come any more
    remaining: list = field(default_factory=list)  # (ns, the least that remained of its lease until then, in ms)
    untold: bool = False  # it was lost so late that its release came first
    told: set = field(default_factory=set)  # the reasons that LOST told
    reasons: set = field(default_factory=set)  # why it ended, as far as it was told
    taken: tuple = None  # from when until when it was valid only because an administrator had deleted its node
    releasing: int = NEVER  # its player was about to release it
    parts: list = field(default_factory=list)  # of a grant of several: a hold for each place

    @property
    def player(self):
        return self.claim.player

    @property
    def place(self):
        """The path that it excludes others from."""
        at = self.fields.get("at")
        return f"{self.player.path}/{at}" if at else self.player.path

    @property
    def grant(self):
        return self.token, self.handover

    @property
    def last(self):
        """The last instant at which it was seen valid. 0: never."""
        return max((span.last for span in self.spans), default=0)

    def over(self):
        """When its player knew of its end: at LOST, or at its own release."""
        return min([*self.lost, *(ns for ns, _ in self.ended)], default=NEVER)

    @property
    def node_gone(self):
        return "NODE_GONE" in self.reasons

    def taken_at(self, ns):
        return self.taken is not None and self.taken[0] <= ns <= self.taken[1]

    def was_lost(self):
        return bool(self.lost) or any(how == "lost" for _, how in self.ended)

    def cut_short(self):
        """Its player was killed while it held."""
        return any(span.cut_short for span in self.spans)

    def tell(self):
        return f"{self.player.who} (n={self.claim.n}, token {self.token}.{self.handover})"


@dataclass
class Claim:
    player: Player
    n: str
    kind: str
    asked: int
    timeout_ms: int = None  # -1: for ever; None: not told
    answered: int = NEVER
    status: str = None  # why nothing was granted
    queued: tuple = None  # when it was known to stand in the queue, and the session of that entry
    hold: Hold = None
    fields: dict = field(default_factory=dict)


def number_or_none(event, key):
    return None if event.get(key) in (None, "-") else event.number(key)


def goes_on(claim, event):
    """Whether this `granted` is the same grant once more: a writer goes on as a reader, or a peer was suspended in
    between."""
    if event.what != "granted" or not claim or not claim.hold or claim.hold.ended:
        return False
    if claim.player.ours and (claim.kind, event["kind"]) != ("write", "read"):
        return False
    return claim.hold.grant == (event.number("token"), int(event.get("handover", "0")))


class Record:
    def __init__(self, logbook):
        self.settings = Settings.of(logbook)
        self.players, self.calms, self.left = {}, [], {}
        self.shown = []  # (when, path, server, names): the nodes of a path on which a claim waited in vain
        self.faults, self.takers = [], {}  # takers: by path, also faults that were missed
        self.tokens_deleted = False  # whether the driver notes them
        self.claims, self.uses = {}, {}  # uses: by place
        self.parts = {}  # of grants of several, like claims
        self.notes = {}  # by what was noted: (event, hold) of players, (event, None) of the driver
        self.guarded, self.guarded_last = {}, {}  # by path: what holders told of the guarded znode; what stands there at the end
        self.misplaced = []  # lines that make no sense where they are
        self.begin, self.end = logbook.events[0].ns, logbook.events[-1].ns
        self.play_end = next((event.ns for event in logbook.named("resting")), self.end)
        self._read_driver(logbook.by(DRIVER))
        for event in logbook.events:
            if event.who == DRIVER:
                continue
            if event.who in self.players:
                self._read_player(event, self.players[event.who])
            else:
                self.misplaced.append(event)
        for span in spans(logbook):
            key = span.who, span.fields.get("n")
            claim = self.claims.get(key) or self.parts.get(key)
            if claim and claim.hold:
                claim.hold.spans.append(span)
        self.holds = [claim.hold for claim in self.claims.values() if claim.hold]
        for hold in self.holds:
            for one in [hold, *hold.parts]:
                one.taken = judge_taken.taken(self, one)

    # ---- reading

    def _read_driver(self, events):
        faults = {}
        for event in events:
            if event.what == "started" and event.get("client"):
                self.players[event["who"]] = Player(event["who"], event["client"], event["recipe"], event["role"],
                                                    event["path"], started=event.ns, threads=number_or_none(event, "threads"),
                                                    handovers=number_or_none(event, "handovers"))
            elif event.what == "fault":
                faults[event["id"]] = self._fault(event)
            elif event.what == "missed":
                faults[event["id"]].missed = True
            elif event.what in ("struck", "healing", "healed") and event["id"] in faults:
                setattr(faults[event["id"]], event.what, event.ns)
            elif event.what == "calm":
                self.calms.append([event.ns, self.end])
            elif event.what == "calm-over":
                self.calms[-1][1] = event.ns
            elif event.what == "shown":
                names = {node.rsplit(":", 2)[0] for node in listed(event["nodes"])}
                self.shown.append((event.ns, event["path"], event["server"], names))
            elif event.what == "left":
                self.left.setdefault(event["path"], []).extend(listed(event["nodes"]))
            elif event.what == "guarded":
                self.guarded_last[event["path"]] = event
            elif event.what == "deleted":
                self._read_deleted(event, faults.values())
            elif event.what in ("ran", "stands"):
                self.notes.setdefault(event.what, []).append((event, None))
            elif event.what in ("stopping", "stopped", "resuming", "resumed", "killing", "killed", "died"):
                self._read_harm(event, self.players[event["who"]])
            elif event.what in TROUBLE:
                self.players[event["who"]].trouble.append(TROUBLE[event.what])
        in_order = sorted(faults.values(), key=lambda one: one.begin)
        self.faults = [fault for fault in in_order if not fault.missed]
        self.begins = [fault.begin for fault in self.faults]
        for fault in in_order:
            if fault.takes:
                self.takers.setdefault(fault.target, []).append(fault)

    def _fault(self, event):
        holders = [tuple(pair.rsplit(":", 1)) for pair in listed(event.get("holder"))]
        return Fault(event["id"], event["name"], event["lane"], event.get("target", "-"), set(listed(event.get("who"))),
                     holders, event.get("severed") == "1", event.get("takes") == "1", event.ns,
                     None if event.get("near") is None else set(listed(event["near"])))

    def _read_deleted(self, event, faults):
        those = [fault for fault in faults if fault.takes and event["node"].startswith(f"{fault.target}/")]
        if those and event.get("token"):
            self.tokens_deleted = True
            those[-1].deleted.add(event["token"])

    def _read_harm(self, event, player):
        """A player that could not be stopped is told to resume all the same. That says nothing of the time before."""
        if event.what == "killing":
            player.killing = event.ns
        elif event.what in ("killed", "died"):
            player.killed = event.ns
            if event.what == "died":
                player.trouble.append("ended by itself")
        elif event.what == "stopping":
            player.stopping = event.ns
        elif event.what == "stopped":
            player.stops.append([event.ns, NEVER, NEVER])
            player.halts.append(event.ns if player.stopping is None else player.stopping)
        elif player.stops:
            which = 1 if event.what == "resuming" else 2
            player.stops[-1][which] = min(player.stops[-1][which], event.ns)

    def _read_player(self, event, player):
        """A line of a part has the number of its claim, a dot, and its own."""
        n, _, part = event.get("n", "").partition(".")
        claim = self.claims.get((event.who, n))
        if event.what == "counted":
            player.counted = event.fields
        elif event.what in OF_NO_CLAIM:
            self.notes.setdefault(event.what, []).append((event, None))
        elif event.what == "queued":
            if claim:
                claim.queued = event.ns, event["session"]
        elif event.what == "claim":
            player.claims += 1
            timeout = event.get("timeout")
            self.claims[event.who, n] = Claim(player, n, event["kind"], event.ns, timeout and int(timeout), fields=event.fields)
        elif event.what in ANSWERS and not part:
            if claim and claim.answered == NEVER:
                self._read_answer(event, claim)
            elif not goes_on(claim, event):
                self.misplaced.append(event)
        elif event.what in (*OF_A_HOLD, *ANSWERS):
            if not claim or not claim.hold:
                self.misplaced.append(event)
            elif part:
                self._read_part(event, claim)
            else:
                self._read_hold(event, claim.hold)

    def _read_answer(self, event, claim):
        claim.answered = event.ns
        if event.what == "failed":
            claim.status = event["status"]
        else:
            claim.hold = Hold(claim, event.ns, event.number("token"), int(event.get("handover", "0")), event.fields)

    def _read_part(self, event, whole):
        """Its end is that of the whole."""
        key = event.who, event["n"]
        if event.what == "granted" and key not in self.parts:
            part = Claim(whole.player, event["n"], event["kind"], whole.asked)
            self._read_answer(event, part)
            part.hold.lost, part.hold.ended = whole.hold.lost, whole.hold.ended
            self.parts[key] = part
            whole.hold.parts.append(part.hold)
        elif event.what == "used" and key in self.parts:
            self._read_hold(event, self.parts[key].hold)
        elif event.what != "valid" or key not in self.parts:
            self.misplaced.append(event)

    def _read_hold(self, event, hold):
        if event.what == "used":
            self.uses.setdefault(hold.place, []).append((event, hold))
        elif event.what in ("guarding", "guarded"):
            self.guarded.setdefault(hold.player.path, []).append((event, hold))
        elif event.what == "remaining":
            hold.remaining.append((event.ns, event.number("least")))
        elif event.what == "lost":
            hold.lost.append(event.ns)
            hold.told.add(event["reason"])
            hold.reasons.add(event["reason"])
        elif event.what == "valid":
            hold.sampled = True
            hold.reasons |= {event.get("reason", "NONE")} - {"NONE"}
        elif event.what == "releasing":
            hold.releasing = event.ns
        elif event.what == "ended":
            hold.ended.append((event.ns, event["how"]))
            hold.untold = event.get("told") == "0"
        else:
            self.notes.setdefault(event.what, []).append((event, hold))

    # ---- asking

    def of(self, client):
        return [player for player in self.players.values() if player.client == client]

    def paths(self, client, role=None):
        return sorted({player.path for player in self.of(client) if role in (None, player.role)})

    def guarded_paths(self, client):
        return sorted({player.path for player in self.of(client) if player.ours and player.recipe in self.settings.guarded})

    def holds_by_path(self, client):
        found = {path: [] for path in self.paths(client)}
        for hold in self.holds:
            if hold.player.client == client:
                found[hold.player.path].append(hold)
        return found

    def grants_by_place(self, client, whoever=False):
        """What excludes others: of a grant of several its parts. whoever: also the grants of other clients on its paths."""
        found = {path: [] for path in self.paths(client)}
        for whole in self.holds:
            if whole.player.client == client or (whoever and whole.player.path in found):
                for hold in whole.parts if whole.claim.kind == SEVERAL else [whole]:
                    found.setdefault(hold.place, []).append(hold)
        return found

    def unharmed(self, path):
        """Whether nothing was done that could make a player of that path write late."""
        return not any(self.touches(fault, path) for fault in self.faults) and not any(
            player.stops or player.killed != NEVER for player in self.players.values() if player.path == path)

    def of_recipe(self, recipe):
        """The holds of ours on each path of that recipe, in the order of their tokens."""
        found = {}
        for hold in self.holds:
            if hold.player.ours and hold.player.recipe == recipe:
                found.setdefault(hold.player.path, []).append(hold)
        return {path: sorted(holds, key=lambda one: one.grant) for path, holds in sorted(found.items())}

    def wiped(self, path, begin, end):
        """Whether an administrator may have deleted all of that path at some time in between."""
        return any(fault.name == "path-wiped" and fault.begin <= end and begin <= self.until(fault)
                   for fault in self.takers.get(path, ()))

    def touches(self, fault, path):
        """Whether it hits a player of that path."""
        return fault.lane == "server" or path == fault.target or any(
            self.players[who].path == path for who in fault.who if who in self.players)

    def until(self, fault):
        """When it was over."""
        return min(fault.healed, self.end)

    def aftermath(self, fault):
        """Until then it may be a cause."""
        return self.until(fault) + self.settings.session_ns + SLACK_NS

    @property
    def thorough(self):
        """All faults struck, for so long that each had its chance."""
        return self.settings.everything and self.play_end - self.begin >= THOROUGH_NS

    def since(self, fault, player):
        """From then on it may be why a grant was lost. Peers are told as soon as a connection breaks. Ours are told
        when a lease ends, not before the fault has struck. But a fault may take many steps, and its first step may
        have been enough."""
        return min(fault.struck, fault.begin + SLACK_NS) if player.ours else fault.begin

    def cause(self, players, ns, by_hand):
        """The youngest fault that hits one of them, and was not over for longer than a session timeout; or None.
        by_hand: only faults that delete nodes; else only those of servers and clients."""
        if by_hand:
            those = [fault for one in players for fault in self.takers.get(one.path, ()) if fault.begin <= ns]
        else:
            those = [fault for fault in self.faults[:bisect.bisect_right(self.begins, ns)] if fault.lane != "data"
                     and any(fault.hits(one) and self.since(fault, one) <= ns for one in players)]
        return max((fault for fault in those if ns <= self.aftermath(fault)), key=lambda one: one.begin, default=None)
