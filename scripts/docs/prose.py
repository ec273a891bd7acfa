"""The text of a comment: its paragraphs, pictures and lists, and the same in the language of manual pages, mdoc(7).

A comment is laid out so:

    text                 a paragraph
        picture          4 columns or more from the text: as it stands
      term  text         2 columns from the text, and two blanks after the term: an item of a list
      - text             a bullet
"""
import re

STATUSES = re.compile(r"PDK_[A-Z_]+(, PDK_[A-Z_]+)*$")
ITEM = re.compile(r"( {1,3})(\S.*?) {2,}(\S.*)$")
BULLET = re.compile(r"( {0,3})- +(\S.*)$")
WORD = re.compile(r"(?P<before>[(\[]*)(?P<core>`[^`]+`|\*?[A-Za-z_][A-Za-z0-9_]*(?:\(\))?)(?P<after>[.,:;)\]?!]*)$")
WIDTH = 78


def indent(line):
    return len(line) - len(line.lstrip(" "))


def parse(lines):
    """The blocks of a comment: ("text", words), ("literal", lines), ("list", [(term, blocks)]) or ("bullets", [blocks])."""
    blocks, at = [], 0
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            at += 1
        elif indent(line) >= 4:
            at = literal(lines, at, blocks)
        elif BULLET.match(line):
            at = items(lines, at, blocks, "bullets", BULLET)
        elif ITEM.match(line):
            at = items(lines, at, blocks, "list", ITEM)
        else:
            end = at + 1
            while end < len(lines) and lines[end].strip() and not indent(lines[end]) and not BULLET.match(lines[end]):
                end += 1
            blocks.append(("text", " ".join(lines[at:end])))
            at = end
    return blocks


def literal(lines, at, blocks):
    end = at
    while end < len(lines) and (not lines[end].strip() or indent(lines[end]) >= 4):
        end += 1
    taken = lines[at:end]
    while not taken[-1].strip():
        taken.pop()
    margin = min(indent(line) for line in taken if line.strip())
    blocks.append(("literal", [line[margin:] for line in taken]))
    return end


def items(lines, at, blocks, kind, pattern):
    """A list: its items begin in one column, and all that is further right belongs to them."""
    margin, found = indent(lines[at]), []
    while at < len(lines) and indent(lines[at]) == margin and (match := pattern.match(lines[at])):
        term, first = match.groups()[1:] if kind == "list" else ("", match.group(2))
        column, body = match.start(match.lastindex), [first]
        at += 1
        while at < len(lines) and lines[at].strip() and indent(lines[at]) > margin:
            body.append(" " * max(0, indent(lines[at]) - column) + lines[at].lstrip())
            at += 1
        if kind == "list" and re.match(r"\S+ {2,}\S", first):
            body = [" " + line for line in body]  # a list in the item
        found.append((term, parse(body)) if kind == "list" else parse(body))
    blocks.append((kind, found))
    return at


def sentences(text):
    """The sentences of a paragraph."""
    found = re.split(r"(?<=[.?!])(?<!\.\.) +(?=[^a-z]|[a-z]+_)", text)
    return [one for one in found if one]


def plain(text):
    """Text in a line that is no macro's: nothing of it is a command."""
    text = text.replace("\\", "\\e")
    return "\\&" + text if text[:1] in (".", "'") else text


def argument(text):
    """Text as one argument of a macro."""
    return '"' + text.replace("\\", "\\e").replace('"', "\\(dq") + '"'


class Writer:
    """Writes blocks as mdoc. It knows the names of the interface, those of this page, and the words that are parameters."""

    def __init__(self, known, own, parameters):
        self.known, self.own, self.parameters = known, own, parameters
        self.lines = []

    def add(self, *lines):
        self.lines.extend(lines)

    def macro(self, core):
        """The macro for a word that is a name, and its arguments; None for any other."""
        bare = core.strip("`").removesuffix("()").lstrip("*")
        if core.endswith("()") and bare not in self.known:
            return "Fn " + bare
        if bare in self.own:
            return ("Fn " if self.own[bare] == "function" else "Vt ") + bare
        if bare in self.known:
            return f"Xr {bare} 3"
        if re.fullmatch(r"PDK_[A-Z0-9_]+", bare):
            return "Dv " + bare
        if core.startswith("`"):
            return ("Va " if re.fullmatch(r"\w+", bare) else "Ql ") + core.strip("`")
        if bare in self.parameters and (core != bare or "_" in bare):
            return "Fa " + core
        return "Va " + bare if re.fullmatch(r"[a-z]+(_[a-z]+)+", bare) else None

    def text(self, text):
        """A paragraph, without a break before it: each sentence on lines of its own."""
        for sentence in sentences(text):
            line = ""
            for word in sentence.split():
                match = WORD.match(word)
                macro = self.macro(match["core"]) if match else None
                if macro:
                    self.flush(line)
                    line = ""
                    before, after = " ".join(match["before"]), " ".join(match["after"])
                    name, rest = macro.split(" ", 1)
                    self.add(" ".join(filter(None, ["." + name, before, rest, after])))
                elif len((line + word).encode()) > WIDTH:
                    self.flush(line)
                    line = word
                else:
                    line = f"{line} {word}" if line else word
            self.flush(line)

    def words(self, text):
        """Text without names, on lines that are not too long."""
        line = ""
        for word in text.split():
            if len((line + word).encode()) > WIDTH:
                self.flush(line)
                line = ""
            line = f"{line} {word}" if line else word
        self.flush(line)

    def flush(self, line):
        if line:
            ends_in_a_dot = re.search(r"\.\"[,;)]?$|…$", line)  # a dot that ends no sentence
            self.add(plain(line) + ("\\&" if ends_in_a_dot else ""))

    def blocks(self, blocks, first=True):
        """Blocks, with a break between them. first: nothing stands before them."""
        for kind, body in blocks:
            if not first and kind == "text":
                self.add(".Pp")
            if kind == "text":
                self.text(body)
            elif kind == "literal":
                self.add(".Bd -literal", *[plain(line) or "" for line in body], ".Ed")
            elif kind == "bullets":
                self.add(".Bl -dash")
                for item in body:
                    self.add(".It")
                    self.blocks(item)
                self.add(".El")
            else:
                self.definitions(body)
            first = False

    def definitions(self, body):
        self.add(".Bl -tag -width Ds")
        for term, item in body:
            self.add(self.term(term))
            self.blocks(item)
        self.add(".El")

    def term(self, term):
        if STATUSES.match(term):
            return ".It Dv " + term.replace(",", " ,")
        names = term.split(", ")
        if all(name in self.parameters for name in names):
            return ".It Fa " + " , ".join(names)
        if term in self.own:
            return f".It Fn {term}"
        if term in self.known:
            return f".It Xr {term} 3"
        return f".It {argument(term)}" if not re.fullmatch(r"\w+", term) else f".It Sy {term}"
