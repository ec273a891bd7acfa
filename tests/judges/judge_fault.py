"""What was done in a run: a fault, as the driver noted it."""
from dataclasses import dataclass, field

NEVER = 1 << 62


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
