"""Runs selftests: pairs (words, passed)."""
import itertools


def run(*checks):
    """Prints each check. True when one failed, for sys.exit."""
    wrong = 0
    for what, passed in itertools.chain(*checks):
        wrong += not passed
        print(("ok: " if passed else "FAILED: ") + what)
    return wrong > 0
