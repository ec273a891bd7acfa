"""The table of the results, its lines, and the page: docs/performance.md with its picture."""
import subprocess
from pathlib import Path

import picture
import rows
from play.processes import Broken

ROOT = Path(__file__).resolve().parents[2]
PAGE, SVG = ROOT / "docs/performance.md", ROOT / "docs/performance.svg"
NAMES = {"paddock": "Paddock", "before": "before", "floor": "bare client", "curator": "Curator", "kazoo": "kazoo"}
PEERS = ("curator", "kazoo")


def number(value):
    """With three digits, and no more."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def value_of(row, result, side):
    value = result.value(side, row.unit)
    return ("stuck" if side in result.out else "–") if value is None else f"{number(value)} {row.unit}"


def ratio_of(row, result, side):
    ratio = result.ratio(side, row.unit)
    return f"{number(ratio.median)} ({number(ratio.low)}–{number(ratio.high)})" if ratio else "–"


def line(row, result):
    """The row in one line of a terminal."""
    values = ", ".join(f"{NAMES[side]} {value_of(row, result, side)}" for side in present([result]))
    ratios = ", ".join(f"{NAMES[side]} {ratio_of(row, result, side)}" for side in present([result])[1:])
    return f"{values}; ratios to: {ratios}; {len(result.rounds)} rounds"


def present(found):
    """The sides of these rows, ours first."""
    return [side for side in rows.SIDES if any(side in round_ for result in found for round_ in result.rounds) or any(side in result.out for result in found)]


def measured(results):
    return [(row, results.rows[row.name]) for row in rows.ROWS if row.name in results.rows]


def cells(*words):
    return "| " + " | ".join(words) + " |"


def table(results):
    shown = present(results.rows.values())
    head = ["", *(NAMES[side] for side in shown), *(f"÷ {NAMES[side]}" for side in shown[1:])]
    return "\n".join([cells(*head), "|" + "---|" * len(head), *(
        cells(row.title, *(value_of(row, result, side) for side in shown), *(ratio_of(row, result, side) for side in shown[1:]))
        for row, result in measured(results))])


def crossed(results, lines):
    """The ratios that are below their line in three of four rounds: on a machine that is busy with other work the median alone
    says little, and on a quiet one the two are close. A side that is out crosses none."""
    found = []
    for text in lines:
        if text.strip() and not text.startswith("#"):
            name, side, least = text.split()
            result = results.rows.get(name)
            ratio = result and result.ratio(side, rows.find(name).unit)
            if ratio and ratio.high < float(least):
                found.append(f"{name}, by {NAMES[side]}: {number(ratio.median)} ({number(ratio.low)}–{number(ratio.high)}), and not {least}")
    return found


# ---- the page

def size(kilobytes):
    return f"{number(kilobytes)} kB" if kilobytes >= 1 else f"{number(kilobytes * 1000)} B"


def packets(results):
    def counted(result, side):
        one = result.counts.get(side)
        return f"{one.sent:.2f}, {one.received:.2f}, {size(one.kilobytes)}" if one else "–"
    shown = present(results.rows.values())
    return "\n".join([cells("", *(NAMES[side] for side in shown)), "|---|---|---|---|---|", *(
        cells(row.title, *(counted(result, side) for side in shown)) for row, result in measured(results) if result.counts)])


IDLE = (("paddock", 15, ""), ("paddock", 60, ", with a session timeout of 60 s"), ("curator", 15, ""), ("kazoo", 15, ""))


def idle(results):
    def cell(client, seconds, what):
        one = results.idle.get(f"{client}-{what}-{seconds}")
        return f"{one.packets:.2f}, {one.writes:.2f}" if one else "–"
    return "\n".join([cells("", "holds nothing", "holds one lock"), "|---|---|---|", *(
        cells(NAMES[client] + words, cell(client, seconds, "nothing"), cell(client, seconds, "held")) for client, seconds, words in IDLE)])


def better(results):
    """The rows in which Curator or kazoo is faster than we are, or not surely slower; and the bare client in one sentence."""
    found = [(row, side, result.ratio(side, row.unit)) for row, result in measured(results) for side in PEERS]
    table_ = [cells(row.title, NAMES[side], f"{number(1 / ratio.median)} ({number(1 / ratio.high)}–{number(1 / ratio.low)})")
              for row, side, ratio in found if ratio and ratio.low < 1]
    if table_:
        yield "In these rows Curator or kazoo is faster, or the quartiles do not tell. The number is their speed by ours.\n"
        yield "\n".join(["| | | |", "|---|---|---|", *table_, ""])
    floors = [result.ratio("floor", row.unit).median for row, result in measured(results)]
    yield f"The bare client is faster in {sum(one < 1 for one in floors)} of {len(floors)} rows, and {1 / min(floors):.2f} times as fast in one of them."
    yield "An idle session of Curator or kazoo writes nothing. Ours writes, since [a lease](../ARCHITECTURE.md#why-the-lease-is-safe) needs a quorum."


def stuck(results):
    names = [f"{NAMES[side]}, {row.title}" for row, result in measured(results) for side in result.out]
    return f"“Stuck” was not measured, since the client did not get on ({'; '.join(names)}).\n\n" if names else ""


def text(results):
    facts = "\n".join(cells(what, words) for what, words in results.machine.items())
    meanings = "\n".join(f"* **{row.title}.** {row.words}" for row, _ in measured(results))
    return f"""# Performance

`./run bench --page` wrote this page. The clients play in turns, each for a slice of a third of a second, and
{min(len(result.rounds) for _, result in measured(results))} rounds or more make a row. So other work on the machine meets all
of them alike. A value is the median of the slices, and a ratio is our speed by that client's in the same round: 2 means that Paddock is twice as
fast. It is the median of the rounds, with the quartiles. Values of two runs are not to be compared; ratios are.

![Our speed by that of a bare client, of Curator and of kazoo](performance.svg)

{table(results)}

{stuck(results)}The bare client is a small program on the same C client library ([bare.c](../tests/bench/bare.c)). It makes a node, lists,
watches the node ahead, and lists again unless that was the only one. Where nobody else can be there it does not list. It has no lease, and never
knows whether it still holds. So it is a floor, and no lock to be used.

## The rows

{meanings}

## An acquisition in packets

Packets that the client sends, packets that it receives, and bytes that it receives, for each acquisition. A renewal or a ping in the slice is
counted, too.

{packets(results)}

## An idle session

Packets a second in both directions, and transactions a second, which a quorum has to write. The session timeout is 15 s unless a row says
otherwise. [Operations](operations.md#the-cost-of-an-idle-session) says what ours are for.

{idle(results)}

## Where others are better

{chr(10).join(better(results))}

## The machine

One server serves all, on the same machine as the clients, with its data on tmpfs: no disk and no network is measured. All clients are
given a number for an address, and look up no name. Each of them sets TCP_NODELAY by itself. The JVM of Curator has all its compilers, and each client
warms up for two seconds. The server runs as in the project's tests: its JVM compiles for a quick start, and it does not wait for a disk.

| | |
|---|---|
{facts}

A run counts an acquisition from grant to grant. A slice ends when a holder finds the gate closed; it waits there with
the lock until the client's next slice. So each acquisition is counted once, also one that crosses an end.

    ./run bench             # all rows, in under 10 minutes; it fails when a ratio is below its line in tests/bench/lines
    ./run bench --quick     # in under 2 minutes
    ./run bench cycle       # one row; --list names them
"""


def write(results):
    if results.quick or len(results.rows) < len(rows.ROWS) or "before" in present(results.rows.values()):
        raise Broken("a page is made from a full run, without --before")
    picture.draw(results, SVG)
    PAGE.write_text(text(results))
    subprocess.run([ROOT / "scripts/wrap", PAGE], check=True)
