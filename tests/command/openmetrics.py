"""A strict reader of the part of OpenMetrics 1.0 that Paddock writes. Anything else is an error."""
import dataclasses
import re

SAMPLE = re.compile(r'([a-z][a-z0-9_]*)(?:\{([a-z]+)="([^"\\]*)"\})? ([0-9]+(?:\.[0-9]+)?)')
SUFFIXES = {"gauge": {""}, "counter": {"_total"}, "histogram": {"_bucket", "_count", "_sum"}}


@dataclasses.dataclass
class Family:
    metadata: dict = dataclasses.field(default_factory=dict)  # TYPE, HELP, UNIT
    samples: dict = dataclasses.field(default_factory=dict)  # (name, value of the label): number, in their order


def require(fine, what):
    if not fine:
        raise ValueError(what)


def read_metadata(line, families, current):
    """The name of the family that the line is about."""
    words = line.split(" ", 3)
    require(len(words) == 4 and words[0] == "#" and words[1] in ("TYPE", "HELP", "UNIT") and words[3], line)
    name = words[2]
    require(name == current or name not in families, f"{line}: the family is not in one piece")
    family = families.setdefault(name, Family())
    require(words[1] not in family.metadata and not family.samples, f"{line}: twice, or behind samples")
    family.metadata[words[1]] = words[3]
    return name


def check_family(name, family):
    kind, unit = family.metadata["TYPE"], family.metadata.get("UNIT", "")
    require(family.metadata["HELP"], name)
    require(not unit or name.endswith("_" + unit), f"{name}: the unit is {unit}")
    require({sample.removeprefix(name) for sample, _ in family.samples} <= SUFFIXES[kind], f"{name}: samples of a {kind}")
    if kind == "histogram":
        buckets = [(float(label), number) for (sample, label), number in family.samples.items() if sample.endswith("_bucket")]
        require(buckets == sorted(buckets) and buckets[-1][0] == float("inf"), f"{name}: buckets")
        require([number for _, number in buckets] == sorted(number for _, number in buckets), f"{name}: buckets count less")
        require(family.samples[name + "_count", ""] == buckets[-1][1] and (name + "_sum", "") in family.samples, f"{name}: count")


def read(text):
    """{name of the family: Family}; ValueError where the text is not as it has to be."""
    require(text.endswith("\n# EOF\n"), "no end")
    families, current = {}, None
    for line in text.split("\n")[:-2]:
        if line.startswith("#"):
            current = read_metadata(line, families, current)
            continue
        match = SAMPLE.fullmatch(line)
        require(match and current and match[1].startswith(current), line)
        key = match[1], match[3] or ""
        require(key not in families[current].samples, f"{line}: twice")
        families[current].samples[key] = float(match[4])
    for name, family in families.items():
        check_family(name, family)
    return families
