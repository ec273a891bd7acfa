"""Selftest: the table of faults in docs/chaos.md agrees with the catalogue and with the tests."""
import re

from play.processes import ROOT

from faults_server import catalogue

TABLE = ROOT / "docs/chaos.md"
ROWS = 50
TEST = re.compile(r"`((?:unit|integration|fuzz|conformance)/[\w.]+)`(?: \(([\w, ]+)\))?")


def rows(text):
    """Number → (the faults of chaos that show it, where else it is shown)."""
    cells = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in text.splitlines()
             if re.match(r"\| \d+ \|", line)]
    return {int(number): (chaos, elsewhere) for number, _, chaos, elsewhere in cells}


def named(table):
    """Name of a fault → the rows that name it."""
    found = {}
    for number, (chaos, _) in table.items():
        for name in re.findall(r"`([\w-]+)`", chaos):
            found.setdefault(name, []).append(number)
    return found


def missing(table):
    """Tests that the table names and that do not exist."""
    for number, (_, elsewhere) in table.items():
        for name, functions in TEST.findall(elsewhere):
            path = ROOT / "tests" / (name if "." in name else f"{name}.c")
            text = path.read_text() if path.exists() else ""
            yield from (f"{number}: {one}" for one in [name, *filter(None, functions.split(", "))]
                        if not text or ("/" not in one and not re.search(rf"\b{one}\b", text)))


def unlike(table, faults):
    """Faults for which the table names other rows than the fault itself."""
    told = named(table)
    return [name for name in {*told, *faults}
            if name not in faults or sorted(told.get(name, [])) != sorted(faults[name].rows)]


def first_function(table):
    return next(functions.split(", ")[0] for _, elsewhere in table.values() for _, functions in TEST.findall(elsewhere)
                if functions)


def checks():
    text, faults = TABLE.read_text(), catalogue()
    table = rows(text)
    yield "docs/chaos.md: every row is there once", len(re.findall(r"^\| \d+ \|", text, re.M)) == ROWS == len(table)
    yield f"docs/chaos.md: the rows of each fault {unlike(table, faults)}", unlike(table, faults) == []
    yield f"docs/chaos.md: the tests {list(missing(table))}", list(missing(table)) == []
    yield "docs/chaos.md: no row is empty", all(chaos or elsewhere for chaos, elsewhere in table.values())
    one = first_function(table)
    spoilt = rows(text.replace("`leader-killed`", "").replace(one, f"no_{one}"))
    yield "docs/chaos.md: a fault that it does not name", unlike(spoilt, faults) == ["leader-killed"]
    yield "docs/chaos.md: a test that is not there", {told.split()[1] for told in missing(spoilt)} == {f"no_{one}"}
