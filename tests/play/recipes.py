"""What is played of each recipe, and with which numbers. The players in C have the same ones (plays.h)."""
PERMITS = 3
DELAY_MS, LEASE_MS = 1500, 9000
JOB_EVERY_MS, JOB_AT_LEAST_MS, JOB_AT_MOST_MS = 4000, 1000, 1500
# The recipe of each, and its roles. Those of the second row have one: the servers share two processors with all players.
PLAYS = {"lock": ("turns", "keep"), "election": ("turns", "keep"), "rwlock": ("turns", "keep"), "semaphore": ("turns", "keep"),
         "delay": ("keep",), "all": ("turns",), "striped": ("turns",), "job": ("turns",), "lease": ("keep",), "group": ("keep",)}
RECIPES = tuple(PLAYS)
# Those that the peers' players know, too.
OF_PEERS = ("lock", "election", "rwlock", "semaphore")
THREADS = {"turns": 2, "keep": 1}
OTHER_THREADS = {"job": 1, "group": 2}
# The longest use and the longest pause after it: long enough for a fault to strike within.
HOLD_US, THINK_US = 200_000, 300_000
OTHER_THINK_US = {"all": 700_000, "striped": 700_000}
# Keepers of these give back by themselves, within so long.
KEEP_MS = {"delay": 8000, "lease": 8000}
# A claim of these may wait for so many turns of each of the others: a set waits in the queue of one place after the other.
TURNS = {"all": 4, "striped": 4}
# For so long a claim of these may wait although nobody holds, or nobody may be granted: a lock-delay, and a claim that gives up in
# it; a record that stands; a period that had its run, and the next one, if that died.
EXTRA_MS = {"delay": DELAY_MS * 17 // 16 + 500, "lease": LEASE_MS + 1500, "job": 2 * JOB_EVERY_MS}


def threads(recipe, role):
    return OTHER_THREADS.get(recipe, THREADS[role])


def by_recipe(numbers, recipes):
    """For the log: "recipe:number,…"."""
    return ",".join(f"{recipe}:{numbers[recipe]}" for recipe in recipes if recipe in numbers) or "-"
