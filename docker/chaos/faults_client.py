"""Faults of contenders and of their links. A link is a site's: whoever else runs there is hit as well."""
import time

from faults import Fault, Missed, Target

LOSS_PERCENT, SLOW_MS, JITTER_MS = 30, 150, 100
SHIFT_S = 3600


class ClientFault(Fault):
    lane = "client"

    def aim(self, scene, random):
        victim = scene.victim(random)
        return victim and Target(victim.name, [victim], victim)


class Killed(ClientFault):
    def strike(self, scene, target):
        if not [player for player in target.players if player.alive and scene.cast.kill(player)]:
            raise Missed("it ended by itself")  # which is looked after elsewhere

    def undo(self, scene, target):
        for player in target.players:
            if player.doomed and player.slot not in scene.cast.players:
                scene.cast.replace(player)


class Restarted(Killed):
    """All that play on one path."""

    def aim(self, scene, random):
        path = random.choice(scene.cast.paths)
        return Target(path, scene.cast.of(path=path))


class Paused(ClientFault):
    def strike(self, scene, target):
        if not target.what.alive:
            raise Missed("it ended by itself")
        scene.cast.stop(target.what)

    def undo(self, scene, target):
        if target.what.alive:
            scene.cast.resume(target.what)


class Overslept(Paused):
    """If possible, one that holds something exclusive for long: it is likely to be using what it then no longer has."""

    def aim(self, scene, random):
        keepers = [player for player in scene.holding() if player.slot.role == "keep" and player.slot.recipe != "semaphore"]
        victim = scene.choose(random, keepers) or scene.victim(random)
        return victim and Target(victim.name, [victim], victim)


class SiteFault(ClientFault):
    """A rule for all that leaves or reaches the victim's site."""

    def __init__(self, name, rows, words, span, rule, severs=False):
        super().__init__(name, rows, words, span)
        self.rule, self.severs = rule, severs

    def aim(self, scene, random):
        victim = scene.victim(random)
        if victim is None:
            return None
        return Target(f"{victim.site.name},{victim.name}", scene.cast.of(site=victim.slot.site), victim)

    def strike(self, scene, target):
        target.what.site.wire(*self.rule.format(target.what.path).split())

    def undo(self, scene, target):
        target.what.site.heal()


class Frozen(SiteFault):
    def strike(self, scene, target):
        scene.cast.freeze(target.what.site)

    def undo(self, scene, target):
        scene.cast.thaw(target.what.site)


class Shifted(ClientFault):
    """All that run at the victim's site."""

    def aim(self, scene, random):
        victim = scene.victim(random)
        if victim is None:
            return None
        seconds = random.choice([-SHIFT_S, SHIFT_S])
        return Target(f"{victim.site.name},{victim.name},{seconds:+}s", scene.cast.of(site=victim.slot.site), (victim, seconds))

    def strike(self, scene, target):
        victim, seconds = target.what
        clock = scene.cast.clocks[victim.slot.site]
        clock.set(seconds)
        victim.site.run("grep", "-q", clock.path, f"/proc/{victim.pid}/maps")
        shown_s = int(victim.site.run(*clock.under("date", "+%s"))) - time.time()
        if abs(shown_s - seconds) > SHIFT_S / 2:
            raise Missed(f"it is {seconds} s ahead, and shows {shown_s:.0f}")

    def undo(self, scene, target):
        victim, _ = target.what
        scene.cast.clocks[victim.slot.site].set(0)


class Starved(ClientFault):
    """Standard input, output and error are all that it could open again, and those it has."""
    severs = True
    # How many there may be, else as many as a process that begins there.
    LIMIT = 'prlimit --pid "$1" --nofile="${2:-$(ulimit -S -n)}:"'
    LEAST = 3

    def limit(self, player, *count):
        player.site.run("sh", "-c", self.LIMIT, "sh", player.pid, *count)

    def strike(self, scene, target):
        victim = target.what
        self.limit(victim, self.LEAST)
        victim.site.wire("kill", "clients")  # whoever else is there connects again
        if victim.pid in victim.site.connections():
            raise Missed("it is still connected")

    def undo(self, scene, target):
        victim = target.what
        victim.site.heal()
        if victim.alive:
            self.limit(victim)


NOW, BRIEF, USUAL, LONG = (0, 0.2), (0.05, 0.5), (0.3, 1.2), (1.3, 2.0)
FAULTS = [
    Killed("client-killed", [5, 7], "a contender is killed (SIGKILL), often the holder, and replaced", NOW),
    Restarted("clients-restarted", [47, 5], "all contenders of a path are killed and replaced at once", NOW),
    Overslept("client-paused", [18, 5], "a contender is stopped (SIGSTOP) for longer than its session lives", LONG),
    Paused("client-paused-briefly", [19, 28], "a contender is stopped for less than that", BRIEF),
    Frozen("site-frozen", [18], "all contenders at a site are frozen together", (0.1, 1.5), ""),
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
    Starved("descriptors-gone", [27], "a contender's connection is destroyed, and it has no descriptor for another", LONG),
]
