"""A run, read from its logs: players, claims, grants and how they ended, faults, all with their times."""
import bisect
from dataclasses import dataclass, field

from play.logbook import MS, S
from play.spans import spans

import judge_taken

OURS = "paddock"
DRIVER = "driver"
NEVER = 1 << 62
# Callbacks and lines of a log wait for a processor, which they share with servers, players and other programs.
SLACK_NS = 1 * S
# A run of all faults that lasts so long must show everything that the judges look for.
THOROUGH_NS = 600 * S
TROUBLE = {"restless": "did not come to rest", "unfinished": "did not end well"}


@dataclass
class Settings:
    session_ms: int
    tick_ms: int
    clients: list
    recipes: list
    seed: int
    permits: int
    hold_us: dict  # by recipe, the longest use of the resource
    faults: list  # by name, or "all"
    guarded: list = field(default_factory=list)  # the recipes whose holders also write to a guarded znode
    counted: bool = False  # players of ours tell at their end what the library has counted

    @classmethod
    def of(cls, logbook):
        """From the first line of the driver's log, so that a folder of logs can be judged by itself."""
        told = next(event for event in logbook.named("settings") if event.who == DRIVER)
        holds = dict(pair.split(":") for pair in told["hold_us"].split(","))
        return cls(told.number("session"), told.number("tick"), told["clients"].split(","), told["recipes"].split(","),
                   told.number("seed"), told.number("permits"), {recipe: int(us) for recipe, us in holds.items()},
                   told["faults"].split(","), listed(told.get("guarded")), told.get("counted") == "1")

    @property
    def session_ns(self):
        return self.session_ms * MS

    @property
    def everything(self):
        return self.faults == ["all"]


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
    killed: int = NEVER
    trouble: list = field(default_factory=list)  # its own faults, in words
    claims: int = 0
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
    lost: list = field(default_factory=list)  # ns of each LOST
    ended: list = field(default_factory=list)  # (ns, how): it was released, and no callback can come any more
    remaining: list = field(default_factory=list)  # (ns, the least that remained of its lease until then, in ms)
    untold: bool = False  # it was lost so late that its release came first
    told: set = field(default_factory=set)  # the reasons that LOST told
    reasons: set = field(default_factory=set)  # why it ended, as far as it was told
    taken: tuple = None  # from when until when it was valid only because an administrator had deleted its node

    @property
    def player(self):
        return self.claim.player

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
    hold: Hold = None


@dataclass
class Fault:
    id: str
    name: str
    lane: str
    target: str
    who: set
    holders: list  # (path, who) of those that held when it began
    severed: bool  # those in `who` reach no server at all
    takes: bool  # an administrator deletes nodes that grants stand on
    begin: int
    near: set = None  # the players at the server that it was done to; None: not told
    struck: int = NEVER
    healing: int = NEVER
    healed: int = NEVER
    missed: bool = False  # it could not be done, or not to the end
    deleted: set = field(default_factory=set)  # the tokens of the nodes that it deleted

    @property
    def inflicted(self):
        return self.struck != NEVER

    def hits(self, player):
        return self.lane == "server" or player.who in self.who or player.path == self.target

    def tries(self, player):
        """Whether it shows what the player keeps: of a server's fault, where it is told, those at that server alone."""
        return self.hits(player) and (self.near is None or player.who in self.near)


def goes_on(claim, event):
    """Whether this `granted` is the same grant once more: a writer goes on as a reader, or a peer was suspended in
    between."""
    if event.what != "granted" or not claim or not claim.hold or claim.hold.ended:
        return False
    if claim.player.ours and (claim.kind, event["kind"]) != ("write", "read"):
        return False
    return claim.hold.grant == (event.number("token"), int(event.get("handover", "0")))


def listed(text):
    return [] if text in (None, "-", "") else text.split(",")


class Record:
    def __init__(self, logbook):
        self.settings = Settings.of(logbook)
        self.players, self.calms, self.left = {}, [], {}
        self.shown = []  # (when, path, server, names): the nodes of a path on which a claim waited in vain
        self.faults, self.takers = [], {}  # takers: by path, also faults that were missed
        self.tokens_deleted = False  # whether the driver notes them
        self.claims, self.uses = {}, {}
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
            claim = self.claims.get((span.who, span.fields.get("n")))
            if claim and claim.hold:
                claim.hold.spans.append(span)
        self.holds = [claim.hold for claim in self.claims.values() if claim.hold]
        for hold in self.holds:
            hold.taken = judge_taken.taken(self, hold)

    # ---- reading

    def _read_driver(self, events):
        faults = {}
        for event in events:
            if event.what == "started" and event.get("client"):
                self.players[event["who"]] = Player(event["who"], event["client"], event["recipe"], event["role"],
                                                    event["path"], started=event.ns)
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
            elif event.what in ("stopping", "stopped", "resuming", "resumed", "killed", "died"):
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
        if event.what in ("killed", "died"):
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
        key = event.who, event.get("n")
        if event.what == "counted":
            player.counted = event.fields
            return
        if event.what == "claim":
            player.claims += 1
            timeout = event.get("timeout")
            self.claims[key] = Claim(player, event["n"], event["kind"], event.ns, timeout and int(timeout))
            return
        claim = self.claims.get(key)
        if event.what in ("granted", "failed"):
            if not claim or claim.answered != NEVER:
                if not goes_on(claim, event):
                    self.misplaced.append(event)
                return
        elif event.what in ("used", "guarding", "guarded", "lost", "ended", "valid", "remaining"):
            if not claim or not claim.hold:
                self.misplaced.append(event)
                return
        if event.what == "used":
            self.uses.setdefault(player.path, []).append((event, claim.hold))
        elif event.what in ("guarding", "guarded"):
            self.guarded.setdefault(player.path, []).append((event, claim.hold))
        elif event.what == "granted":
            claim.answered = event.ns
            claim.hold = Hold(claim, event.ns, event.number("token"), int(event.get("handover", "0")), event.fields)
        elif event.what == "failed":
            claim.answered, claim.status = event.ns, event["status"]
        elif event.what == "remaining":
            claim.hold.remaining.append((event.ns, event.number("least")))
        elif event.what == "lost":
            claim.hold.lost.append(event.ns)
            claim.hold.told.add(event["reason"])
            claim.hold.reasons.add(event["reason"])
        elif event.what == "valid":
            claim.hold.reasons |= {event.get("reason", "NONE")} - {"NONE"}
        elif event.what == "ended":
            claim.hold.ended.append((event.ns, event["how"]))
            claim.hold.untold = event.get("told") == "0"

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
