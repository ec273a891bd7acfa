"""Faults of players and of their links. A link belongs to a site: it hits all players there."""
import time

from play.faults import Fault, Missed, Target

LOSS_PERCENT, SLOW_MS, JITTER_MS = 30, 150, 100
SHIFT_S = 3600
SHARED = ("semaphore", "group")  # their grants exclude nobody


class ClientFault(Fault):
    lane, fatal = "client", False

    def aim(self, chaos, random):
        victim = chaos.victim(random, self.fatal)
        return victim and Target(victim.name, [victim], victim)


class Killed(ClientFault):
    fatal = True

    def strike(self, chaos, target):
        if not [player for player in target.players if player.alive and chaos.players.kill(player)]:
            raise Missed("it ended by itself")  # look_after finds that

    def undo(self, chaos, target):
        for player in target.players:
            if player.doomed and player.slot not in chaos.players.by_slot:
                chaos.players.replace(player)


class Restarted(Killed):
    """All players of one path."""

    def aim(self, chaos, random):
        path = random.choice(chaos.players.paths)
        return Target(path, chaos.players.of(path=path))


class Paused(ClientFault):
    def strike(self, chaos, target):
        if not target.what.alive:
            raise Missed("it ended by itself")
        chaos.players.stop(target.what)

    def undo(self, chaos, target):
        if target.what.alive:
            chaos.players.resume(target.what)


class Overslept(Paused):
    """Hits a keeper of an exclusive grant, if there is one: it is likely to use the resource when its grant is gone."""

    def aim(self, chaos, random):
        keepers = [player for player in chaos.holding() if player.slot.role == "keep"
                   and player.slot.recipe not in SHARED]
        victim = chaos.choose(random, keepers) or chaos.victim(random)
        return victim and Target(victim.name, [victim], victim)


class SiteFault(ClientFault):
    """A rule for all packets that leave or reach the victim's site."""

    def __init__(self, name, rows, words, span, rule, severs=False):
        super().__init__(name, rows, words, span)
        self.rule, self.severs = rule, severs

    def aim(self, chaos, random):
        victim = chaos.victim(random)
        if victim is None:
            return None
        return Target(f"{victim.site.name},{victim.name}", chaos.players.of(site=victim.slot.site), victim)

    def strike(self, chaos, target):
        target.what.site.wire(*self.rule.format(target.what.path).split())

    def undo(self, chaos, target):
        target.what.site.heal()


class Frozen(SiteFault):
    def strike(self, chaos, target):
        chaos.players.freeze(target.what.site)

    def undo(self, chaos, target):
        chaos.players.thaw(target.what.site)


class Shifted(ClientFault):
    """The wall clock of all players at the victim's site."""

    def aim(self, chaos, random):
        victim = chaos.victim(random)
        if victim is None:
            return None
        seconds = random.choice([-SHIFT_S, SHIFT_S])
        return Target(f"{victim.site.name},{victim.name},{seconds:+}s", chaos.players.of(site=victim.slot.site), (victim, seconds))

    def strike(self, chaos, target):
        victim, seconds = target.what
        clock = chaos.players.clocks[victim.slot.site]
        clock.set(seconds)
        victim.site.run("grep", "-q", clock.path, f"/proc/{victim.pid}/maps")
        shown_s = int(victim.site.run(*clock.under("date", "+%s"))) - time.time()
        if abs(shown_s - seconds) > SHIFT_S / 2:
            raise Missed(f"it is {seconds} s ahead, and shows {shown_s:.0f}")

    def undo(self, chaos, target):
        victim, _ = target.what
        chaos.players.clocks[victim.slot.site].set(0)


class Starved(ClientFault):
    """It may have no more descriptors than standard input, output and error."""
    severs = True
    # Sets the limit to this number, or to that of a new process at the site.
    LIMIT = 'prlimit --pid "$1" --nofile="${2:-$(ulimit -S -n)}:"'
    LEAST = 3

    def limit(self, player, *count):
        player.site.run("sh", "-c", self.LIMIT, "sh", player.pid, *count)

    def strike(self, chaos, target):
        victim = target.what
        self.limit(victim, self.LEAST)
        victim.site.wire("kill", "clients")  # the other players there connect again
        if victim.pid in victim.site.connections():
            raise Missed("it is still connected")

    def undo(self, chaos, target):
        victim = target.what
        victim.site.heal()
        if victim.alive:
            self.limit(victim)


NOW, BRIEF, USUAL, LONG = (0, 0.2), (0.05, 0.5), (0.3, 1.2), (1.3, 2.0)
FAULTS = [
    Killed("client-killed", [5, 7], "a player is killed (SIGKILL), often the holder, and replaced", NOW),
    Restarted("clients-restarted", [47, 5], "all players of a path are killed and replaced at once", NOW),
    Overslept("client-paused", [18, 5], "a player is stopped (SIGSTOP) for longer than its session lives", LONG),
    Paused("client-paused-briefly", [19, 28], "a player is stopped for less than that", BRIEF),
    Frozen("site-frozen", [18], "all players at a site are frozen together", (0.1, 1.5), ""),
    SiteFault("client-cut", [15, 5], "a site is cut off from all servers in silence", LONG, "cut clients",
              severs=True),
    SiteFault("client-cut-in", [15, 2], "likewise, one way: it hears nothing of the servers", USUAL, "cut clients --in",
              severs=True),
    SiteFault("client-cut-out", [15], "likewise: the servers hear nothing of it", USUAL, "cut clients --out", severs=True),
    SiteFault("client-reset", [15], "a site's connections to servers are refused", BRIEF, "reset clients", severs=True),
    SiteFault("connections-killed", [1], "a site's connections are destroyed, once: requests get lost on the way", NOW,
              "kill clients"),
    SiteFault("client-lossy", [16], f"{LOSS_PERCENT} % of a site's packets are lost", USUAL, f"loss {LOSS_PERCENT} clients"),
    SiteFault("client-slow", [17], f"{SLOW_MS} ms and up to {JITTER_MS} more on every packet of a site", USUAL,
              f"slow {SLOW_MS} {JITTER_MS}"),
    SiteFault("answer-lost", [2, 30], "a site hears no answer that names a node of one path, though the request was done",
              USUAL, "mute {}/"),
    Shifted("clock-shifted", [20], "the wall clock of a site is set an hour ahead or back, and later right again", LONG),
    Starved("descriptors-gone", [27], "a player's connection is destroyed, and it has no descriptor for another", LONG),
]
