"""Reads the public headers: what they declare, and what their comments say. The headers are the only source of the manual.

    header ── head comment, and paragraphs: lines without an empty line between them
      └─ page ── the declarations of one paragraph; later ones join it when their comment begins "The same", or when they have
           │     none
           └─ unit ── a comment and the declarations right below it, which share it

A comment that an empty line follows is about the whole paragraph after it. One that begins "----" opens a section, and is about
the type without a comment that comes next. The head comment is about the type that is named as the header is.

What a status means is said once, in the header that has their table: above the table, and for those that every call may have in the
section of their type. A comment names the latter in one item, "Common", as PDK_INVALID, CLOSED; its page has them in full.
"""
import dataclasses
import pathlib
import re

# These macros are no values: how a symbol is marked, and the table that an enum is made of.
NOT_VALUES = {"PDK_API", "PDK_MUST_USE", "PDK_BEGIN_DECLS", "PDK_END_DECLS", "PDK_STATUS_MAP", "PDK_STATUS_ENUM"}
STATUS = re.compile(r'X\((\w+), (\d+), "([^"]*)"\)')


class Broken(Exception):
    """A header that the manual cannot be made of: where, and what is missing."""


@dataclasses.dataclass
class Declaration:
    kind: str  # function, callback, struct, enum, opaque or macro
    name: str
    text: str  # as it stands in the header, without PDK_API and PDK_MUST_USE
    line: int

    @property
    def returns(self):
        """The type that a function returns."""
        return re.match(r"(.*?[\s*])\w+\(", self.text, re.S).group(1).strip()

    @property
    def parameters(self):
        """The parameters of a function, as they are declared."""
        inside = re.search(r"\w\(\s*(.*)\)\s*;$", self.text, re.S).group(1)
        return [] if inside == "void" else [" ".join(one.split()) for one in split_outside(inside)]


@dataclasses.dataclass
class Unit:
    comment: list
    declarations: list
    line: int
    section: str = ""  # the words after "----" of the section comment that is about it

    def of(self, *kinds):
        return [d for d in self.declarations if d.kind in kinds]


@dataclasses.dataclass
class Page:
    header: "Header"
    units: list
    preamble: list = dataclasses.field(default_factory=list)  # of the paragraph
    overview: bool = False  # the page of the header itself

    @property
    def declarations(self):
        return [d for unit in self.units for d in unit.declarations]

    @property
    def names(self):
        """What the page is found by: functions and types."""
        found = [d.name for d in self.declarations if d.kind != "macro"]
        return found or [self.header.page_name]

    @property
    def name(self):
        return self.header.page_name if self.overview else self.names[0]

    def functions(self):
        return [d for d in self.declarations if d.kind == "function"]


@dataclasses.dataclass
class Header:
    path: pathlib.Path
    head: list
    pages: list
    statuses: dict  # name: (value, text), in the header that has the table
    table: list = dataclasses.field(default_factory=list)  # the comment of that table: what each status means

    @property
    def stem(self):
        return self.path.stem

    @property
    def page_name(self):
        own = "pdk_" + self.stem
        types = {d.name for page in self.pages for d in page.declarations if d.kind in ("opaque", "enum", "struct")}
        return own if own in types else "paddock" if self.stem == "paddock" else "paddock_" + self.stem


def split_outside(text):
    """The parts between commas that are not in parentheses."""
    parts, depth = [""], 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return parts


def comment_lines(text):
    """The lines of a comment, without the stars: a line of text begins at column 0."""
    lines = text.strip()[2:-2].rstrip().split("\n")
    return [lines[0].removeprefix(" ")] + [re.sub(r"^\s*\* ?", "", line).rstrip() for line in lines[1:]]


TOKEN = re.compile(r"""
    (?P<comment>/\*.*?\*/)
  | (?P<blank>\n[ \t]*(?=\n))
  | (?P<directive>\#(?:\\\n|[^\n])*)
  | (?P<marks>PDK_(?:BEGIN|END)_DECLS\b)
  | (?P<code>static\ inline\b[^;{]*\{.*?^\}|(?:PDK_API|typedef|struct)\b(?:\{(?:/\*.*?\*/|[^}])*\}|[^;{])*;)
""", re.S | re.X | re.M)


def tokens(path, text):
    """(kind, text, line) of all that stands at the outermost level."""
    at = 0
    for match in [*TOKEN.finditer(text), None]:
        between = text[at:match.start() if match else None]
        if between.strip():
            line = text.count("\n", 0, at + len(between) - len(between.lstrip())) + 1
            raise Broken(f"{path}:{line}: not understood: {between.strip().splitlines()[0]}")
        if not match:
            return
        at = match.end()
        yield match.lastgroup, match.group(), text.count("\n", 0, match.start()) + 1


def declaration(kind, text, line):
    """The declaration in the code or in the directive; None where it is not one of the interface, as names with pdk__ are not."""
    if kind == "directive":
        match = re.match(r"#[ \t]*define[ \t]+(PDK_\w+)\b(?=[^\n])", text)
        return None if not match or match.group(1) in NOT_VALUES else Declaration("macro", match.group(1), text, line)
    if "pdk__" in text.partition("{")[0]:
        return None
    if text.startswith(("PDK_API", "static inline")):
        text = re.sub(r"^(PDK_API|static inline)\s+(PDK_MUST_USE\s+)?|\s*\{.*", "", text, flags=re.S).rstrip(";") + ";"
        return Declaration("function", re.search(r"(\w+)\(", text).group(1), text, line)
    if callback := re.match(r"typedef [^{;]*\(\*(\w+)\)\(", text):
        return Declaration("callback", callback.group(1), text, line)
    name = re.search(r"(\w+)\s*;$|^struct (\w+)", text)
    name = name.group(1) or name.group(2)
    kind = "enum" if text.startswith("typedef enum") else "struct"
    return Declaration(kind if "{" in text else "opaque", name, text, line)


class Reader:
    """Puts the tokens of a header together."""

    def __init__(self, path):
        self.path = path
        self.header = Header(path, [], [], {})
        self.page = None  # that of the paragraph
        self.comment = self.preamble = self.section = None
        self.unit = None

    def read(self):
        seen_head = False
        for kind, text, line in tokens(self.path, self.path.read_text()):
            if kind == "comment" and "SPDX-License" in text:
                continue
            if kind == "comment" and not seen_head:
                self.header.head, seen_head = comment_lines(text), True
            elif kind == "comment":
                self.comment, self.unit = (comment_lines(text), line), None
            elif kind == "blank":
                self.end_paragraph()
            elif kind in ("code", "directive"):
                if "PDK_STATUS_MAP(X)" in text:
                    self.header.statuses = {"PDK_" + name: (int(value), words) for name, value, words in STATUS.findall(text)}
                    self.header.table, self.comment = self.comment[0] if self.comment else [], None
                elif found := declaration(kind, text, line):
                    self.add(found)
                else:
                    self.comment = None
        if not self.header.head:
            raise Broken(f"{self.path}:1: no comment at the head says what the header is about")
        return self.header

    def end_paragraph(self):
        if self.comment and self.comment[0][0].startswith("----"):
            self.section = self.comment[0]
        elif self.comment:
            self.preamble = self.comment[0]
        self.comment = self.page = self.unit = None

    def add(self, found):
        if self.unit is None:
            self.begin_unit(found)
        self.unit.declarations.append(found)

    def begin_unit(self, found):
        comment = self.comment[0] if self.comment else []
        self.unit = Unit(comment, [], found.line)
        self.comment = None
        joins = comment[0].startswith("The same") if comment else found.kind == "macro"
        if joins and self.header.pages:
            self.page = self.page or self.header.pages[-1]
        if not comment and found.kind != "macro":
            self.take_section(found)
        if self.page is None:
            self.page = Page(self.header, [], self.preamble or [])
            self.preamble = None
            self.header.pages.append(self.page)
        self.page.units.append(self.unit)

    def take_section(self, found):
        """A type without a comment: the section's is about it, and the head's, if the header has its name."""
        if self.section:
            self.unit.section = self.section[0].strip("- ")
            self.unit.comment = self.section[1:]
            self.section = None
        elif found.name != "pdk_" + self.header.stem:
            raise Broken(f"{self.path}:{found.line}: {found.name}: no comment says what it is")


def with_overview(header):
    """The page of the header comes first. It is the page of the type with its name, if there is one. Macros that stand alone have no name
    that a page is found by: they are on that page, too."""
    named = [page for page in header.pages if any(one.kind != "macro" for one in page.declarations)]
    first = next((page for page in named if header.page_name in page.names), None) or Page(header, [])
    first.overview = True
    for page in header.pages:
        if page not in named:
            first.preamble = first.preamble or page.preamble
            first.units += page.units
    first.units = first.units or [Unit([], [], 1)]
    header.pages = [first, *(page for page in named if page is not first)]
    return header


def read(folder):
    """The headers of a folder, by name."""
    return {path.stem: with_overview(Reader(path).read()) for path in sorted(pathlib.Path(folder).glob("*.h"))}
