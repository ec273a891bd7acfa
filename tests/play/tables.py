"""Tables for people."""
import statistics


def table(head, rows, indent="  "):
    """The first column is aligned to the left, the others to the right."""
    cells = [[str(cell) for cell in row] for row in [head, *rows]]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    lines = []
    for row in cells:
        first, *others = [cell.ljust(width) if column == 0 else cell.rjust(width)
                          for column, (cell, width) in enumerate(zip(row, widths))]
        lines.append(indent + "  ".join([first, *others]).rstrip())
    return "\n".join(lines)


def milliseconds(ns):
    return [one / 1e6 for one in ns]


def median_max(ns, digits=0):
    """'median / max' in ms, of nanoseconds."""
    if not ns:
        return "-"
    ms = milliseconds(ns)
    return f"{statistics.median(ms):.{digits}f} / {max(ms):.{digits}f}"


def few(faults, most=6):
    """The first faults, and how many more there are."""
    return faults[:most] + ([f"and {len(faults) - most} more like the last"] if len(faults) > most else [])
