"""A page of the manual, section 3, from a page of a header: what is put where."""
import pathlib
import re

from headers import Broken, comment_lines
from prose import STATUSES, Writer, argument, parse, plain, sentences

# Of a comment's sentences these are about threads, and go to that section.
ABOUT_THREADS = re.compile(r"^(Any thread may|A callback may|For the thread|Call it from one thread)|"
                           r"^Each of them (blocks|waits)")
BLOCKS = re.compile(r"\bBlocks\b|\bBoth block\b")
MAY_BLOCK = re.compile(r"\bOtherwise it blocks\b")
WAITS_NOT = re.compile(r"\b(Does not wait|does not wait|Do not wait|do not wait|Never waits)\b")
WAITS = re.compile(r"\b[Ww]aits for the disk\b")
# The item of a comment that names those statuses of the call that every call may have.
COMMON = "Common"
# What to link: by header.
LIBRARIES = {"fence": ["paddock-fence"], "testing": ["paddock-testing"], "status": ["paddock", "paddock-fence"], "version": ["paddock", "paddock-fence"]}


def listed(names, last="and"):
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + f" {last} " + names[-1]


def in_text(unit):
    """The words of a comment, in one line."""
    return " ".join(line.strip() for line in unit.comment)


def read_examples(folder):
    """The programs of a folder, by the pages that they are for: (the comment at the head, the rest of the text)."""
    found = {}
    for path in sorted(pathlib.Path(folder).glob("*.c")):
        head = re.match(r"(/\*.*?\*/)\n", path.read_text(), re.S)
        if not head:
            raise Broken(f"{path}:1: no comment at the head says what the program does")
        found[path.stem] = (comment_lines(head.group(1)), path.read_text()[head.end():])
    return found


class Interface:
    """All pages, by their names, and the examples. Without examples it is the interface alone, of which no page is made."""

    def __init__(self, headers, examples=None):
        self.headers, self.examples = headers, examples
        self.pages = [page for header in headers.values() for page in header.pages]
        self.home = {name: page for page in self.pages for name in [page.name, *page.names]}
        with_table = next((header for header in headers.values() if header.statuses), None)
        self.statuses = with_table.statuses if with_table else {}
        self.common = self.read_common(with_table) if with_table else {}
        self.meanings = self.common | dict(statuses(parse(with_table.table))) if with_table else {}
        for name in self.statuses:
            if name not in self.meanings:
                raise Broken(f"{with_table.path}:1: {name}: no comment says what it means")
        if examples is not None:
            self.check_examples()

    def check_examples(self):
        for page in self.pages:
            if page.overview and page.name not in self.examples:
                raise Broken(f"{page.header.path}:1: {page.name}: there is no example {page.name}.c")
        for name in self.examples:
            if name not in {page.name for page in self.pages}:
                raise Broken(f"{name}.c: an example of no page")

    @staticmethod
    def read_common(header):
        """The statuses that every call may have, and what they mean: the section of the type that the table makes."""
        unit = next(unit for page in header.pages for unit in page.units if any("PDK_STATUS_MAP" in d.text for d in unit.declarations))
        return dict(statuses(parse(unit.comment)))

    def parse(self, comment, where):
        """The blocks of a comment. An item "Common" is there as the statuses that it names. What they mean joins a row of the
        comment's own about the same one."""
        return [(kind, self.in_full(body, where) if kind == "list" else body) for kind, body in parse(comment)]

    def in_full(self, rows, where):
        named = [name for term, item in rows if term == COMMON for name in self.names(item, where)]
        own = {name for name, _ in statuses([("list", rows)])}
        for name, item in statuses([("list", rows)]):
            said = (self.statuses[name][1], self.common[name][0][1]) if name in self.common and item != self.common[name] else ()
            if any(text.startswith(item[0][1]) for text in said):
                raise Broken(f"{where}: {name} says nothing special here: name it in {COMMON}")
        found = []
        for term, item in rows:
            if term in named:
                item = item + [(kind, "Or " + body if kind == "text" else body) for kind, body in self.common[term]]
            if term != COMMON:
                found.append((term, item))
        return found + [(name, self.common[name]) for name in named if name not in own]

    def answers(self, page):
        """The statuses that the functions of each unit can answer, [(name, blocks)] by the unit's id: those of its comment, or of the
        comment before, and those for all of the header."""
        found, before, for_all = {}, None, statuses(self.parse(page.header.head, page.header.path))
        for unit in page.units:
            functions = [f.name for f in unit.of("function") if f.returns == "pdk_status"]
            if not functions:
                continue
            where = f"{page.header.path}:{unit.line}: {listed(functions)}"
            before = statuses(self.parse(unit.comment, where)) or before
            if not before:
                raise Broken(f"{where}: the comment lists no statuses")
            found[id(unit)] = before + [(name, item) for name, item in for_all if name not in dict(before)]
            if "PDK_OK" not in dict(found[id(unit)]):
                raise Broken(f"{where}: the comment does not list PDK_OK")
            for name in dict(found[id(unit)]):
                if name not in self.statuses:
                    raise Broken(f"{where}: there is no status {name}")
        return found

    def names(self, item, where):
        """The statuses that an item "Common" names."""
        words = item[0][1] if len(item) == 1 and item[0][0] == "text" else ""
        if not re.fullmatch(r"PDK_[A-Z_]+(, [A-Z_]+)*", words):
            raise Broken(f"{where}: {COMMON} is no list of statuses, as PDK_INVALID, CLOSED")
        found = ["PDK_" + name for name in words.removeprefix("PDK_").split(", ")]
        for name in found:
            if name not in self.common or found.count(name) > 1:
                raise Broken(f"{where}: {COMMON} names {name}, which " + ("is there twice" if name in self.common else "not every call may have"))
        return found

    def summary(self, page):
        """One line that says what a page is about."""
        unit = next((unit for unit in page.units if unit.section or unit.comment), None)
        if page.overview:
            text = page.header.head
        elif page.preamble:
            text = page.preamble
        elif unit.section:
            text = [unit.section]
        else:
            text = unit.comment
        first = next((body for kind, body in parse(text) if kind == "text"), None)
        if not first:
            where = page.units[0].line
            raise Broken(f"{page.header.path}:{where}: {page.name}: the comment does not begin with a sentence that says what it is")
        words = sentences(first)[0].rstrip(".?:")
        before, colon, after = words.partition(": ")
        if colon:
            words = after if len(before.split()) <= 4 else before
        words = words.replace("`", "")
        if words == "One more reference":
            words = "References to a " + re.sub(r"^pdk_|_ref$", "", page.name).replace("_", " ")
        return words if re.match(r"[A-Z]{2}|[A-Z]\w*[A-Z_]", words) else words[0].lower() + words[1:]


class Maker:
    """Makes one page."""

    def __init__(self, interface, page, version, date):
        self.all, self.page, self.version, self.date = interface, page, version, date
        own = {d.name: d.kind for d in page.declarations if d.kind != "macro"}
        own.setdefault(page.name, "page")
        known = set(interface.home) - {"paddock"}
        parameters = {re.search(r"(\w+)(\[\w*\])?$", p).group(1) for d in page.functions() for p in d.parameters if "(" not in p}
        parameters |= set(re.findall(r"(?:\(\*)?(\w+)\)?(?=[,)]|\()", " ".join(
            d.text for d in page.declarations if d.kind in ("callback", "function"))))
        parameters -= {"int64_t", "size_t", "void"} | set(own)
        self.out = Writer(known, own, parameters)
        self.threads = []  # the sentences about threads, as they are met
        self.lists = interface.answers(page)

    def make(self):
        out, page = self.out, self.page
        out.add('.\\" Made from paddock/' + page.header.path.name + " by scripts/docs/manual: change it there.",
                f".Dd {self.date}", f".Dt {page.name.upper()} 3", ".Os", ".Sh NAME")
        names = list(dict.fromkeys([page.name, *page.names]))
        out.add(*[f".Nm {name} ," for name in names[:-1]], f".Nm {names[-1]}",
                f".Nd {plain(self.all.summary(page))}")
        self.synopsis()
        self.description()
        self.returns()
        self.thread_rules()
        self.example()
        self.see_also()
        return "\n".join(out.lines) + "\n"

    def synopsis(self):
        out, header = self.out, self.page.header
        out.add(".Sh SYNOPSIS", f".In paddock/{header.path.name}")
        for one in self.page.declarations:
            if one.kind == "macro":
                out.add(".Fd " + plain(" ".join(re.sub(r"\\\n|\n", " ", one.text).split())))
            elif one.kind == "function":
                out.add(f".Ft {argument(one.returns)}" if " " in one.returns else f".Ft {one.returns}", f".Fo {one.name}",
                        *[f".Fa {argument(p)}" for p in one.parameters or ["void"]], ".Fc")
            else:
                out.add(".Bd -literal", *[plain(line) for line in self.bare(one.text)], ".Ed")
        out.add(".Pp", "Link with")
        programs = [f"$(pkg-config --cflags --libs {library})" for library in LIBRARIES.get(header.stem, ["paddock"])]
        for i, program in enumerate(programs):
            out.add(*(["or"] if i else []), f".Dl cc program.c {program}")

    def bare(self, text):
        """A type without its comments."""
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        if "PDK_STATUS_MAP" in text:
            body = [f"    {name} = {value}," for name, (value, _) in self.all.statuses.items()]
            return ["typedef enum pdk_status {", *body, "} pdk_status;"]
        return [line.rstrip() for line in text.split("\n") if line.strip()]

    def description(self):
        out, page = self.out, self.page
        out.add(".Sh DESCRIPTION")
        first = True
        if page.overview:
            out.blocks(self.parse(page.header.head))
            first = False
        if page.preamble:
            out.blocks(self.without_threads(self.parse(page.preamble)), first)
            first = False
        told = [unit for unit in page.units if unit.comment or unit.section or unit.of("struct", "enum")]
        for unit in told:
            blocks = self.body(unit)
            if len(told) > 1:
                out.add(f".Ss {listed([self.title(d) for d in unit.declarations])}")
                first = True
            if not first and (blocks or unit.section):
                out.add(".Pp")
            if unit.section:
                out.text(unit.section[0].upper() + unit.section[1:].rstrip(".") + ".")
                if blocks and blocks[0][0] == "text":
                    out.add(".Pp")
            out.blocks(blocks)
            self.members(unit)
            first = first and not blocks
        if page.overview:
            self.contents()
        elif not page.functions() and not any(d.kind == "callback" for d in page.declarations):
            self.told_by()

    @staticmethod
    def title(one):
        return one.name + "()" if one.kind == "function" else one.name

    def body(self, unit):
        """The blocks of a unit's comment that describe it: those about statuses and threads are put elsewhere."""
        comment = unit.comment
        if not self.page.overview:
            comment = [re.sub(r'("\w+") above', rf"\1 in {self.page.header.page_name}", line) for line in comment]
        blocks = self.parse(comment, unit)
        functions = unit.of("function")
        if functions and any(f.returns == "pdk_status" for f in functions):
            blocks = [(kind, [item for item in body if not STATUSES.match(item[0])] if kind == "list" else body) for kind, body in blocks]
            blocks = [block for block in blocks if block[1]]
        return self.without_threads(blocks)

    def parse(self, comment, unit=None):
        about = unit.declarations[0].name if unit and unit.declarations else self.page.name
        return self.all.parse(comment, f"{self.page.header.path}:{unit.line if unit else 1}: {about}")

    def without_threads(self, blocks):
        kept = []
        for kind, body in blocks:
            if kind == "text" and re.match(r"(Thread|Inside): ", body):
                label, rest = body.split(": ", 1)
                self.threads.append(rest[0].upper() + rest[1:] if label == "Thread" else body)
            elif kind == "text":
                moved = [one for one in sentences(body) if ABOUT_THREADS.search(one)]
                self.threads += [one for one in moved if one not in self.threads]
                if stay := [one for one in sentences(body) if one not in moved]:
                    kept.append((kind, " ".join(stay)))
            else:
                kept.append((kind, body))
        return kept

    def members(self, unit):
        """What is in a struct or an enum, with the comments that stand in it."""
        out = self.out
        for one in unit.of("struct", "enum"):
            if "PDK_STATUS_MAP" in one.text:
                out.add(".Bl -tag -width Ds")
                for name, (value, text) in self.all.statuses.items():
                    out.add(f".It Dv {name} = {value} Pq {text}")
                    out.blocks([("text", "See above.")] if name in self.all.common else self.all.meanings[name])
                out.add(".El")
                continue
            out.add(".Bl -tag -width Ds")
            for names, comment in members(one):
                out.add(".It " + " , ".join(("Dv " if one.kind == "enum" else "Va ") + argument(name) for name in names))
                out.blocks(self.parse(comment))
            out.add(".El")

    def contents(self):
        """The other pages of the header."""
        pages = [page for page in self.page.header.pages if page is not self.page]
        if self.page.name == "paddock":
            pages = [header.pages[0] for header in self.all.headers.values() if header.stem != "paddock"]
        if not pages:
            return
        self.out.add(".Ss Pages", ".Bl -tag -width Ds")
        for page in pages:
            self.out.add(".It " + " , ".join(f"Xr {name} 3" for name in page.names))
            self.out.words(self.all.summary(page))
        self.out.add(".El")

    def returns(self):
        out, page = self.out, self.page
        if not page.functions():
            self.returns_of_a_type()
            return
        out.add(".Sh RETURN VALUES")
        first = True
        for unit in page.units:
            of_status = [f for f in unit.of("function") if f.returns == "pdk_status"]
            others = [f for f in unit.of("function") if f.returns not in ("pdk_status", "void")]
            nothing = [f for f in unit.of("function") if f.returns == "void"]
            if not first and (of_status or others or nothing):
                out.add(".Pp")
            if of_status:
                self.status_list(unit, of_status)
            if others:
                self.calls(others)
                out.add("returns" if len(others) == 1 else "return", ".Bl -tag -width Ds",
                        ".It Vt " + argument(listed(list(dict.fromkeys(f.returns for f in others)), "or")))
                out.blocks(parse(unit.comment)[:1] if parse(unit.comment) else [])
                out.add(".El")
            if nothing:
                self.calls(nothing)
                out.add("returns nothing." if len(nothing) == 1 else "return nothing.")
            first = first and not (of_status or others or nothing)

    def calls(self, functions):
        for i, one in enumerate(functions):
            self.out.add(f".Fn {one.name}" + (" ," if i < len(functions) - 2 else ""),
                         *(["and"] if i == len(functions) - 2 else []))

    def status_list(self, unit, functions):
        """The statuses of functions, with the text of each."""
        self.calls(functions)
        self.out.add("answers" if len(functions) == 1 else "answer", ".Bl -tag -width Ds")
        for name, item in self.lists[id(unit)]:
            meaning = self.all.statuses[name][1]
            self.out.add(f".It Dv {name}" + ("" if item == [("text", meaning)] else f" Pq {meaning}"))
            self.out.blocks(item)
        self.out.add(".El")

    def returns_of_a_type(self):
        """Which statuses the functions of the header answer. Other pages of types have no such section."""
        out, page = self.out, self.page
        if page.name == "pdk_status":
            out.add(".Sh RETURN VALUES", "Every function that can fail returns it.")
            return
        comments = " ".join(in_text(unit) for one in page.header.pages for unit in one.units) + " ".join(page.header.head)
        answered = {name for one in page.header.pages for unit in one.units for name, _ in statuses(self.parse(unit.comment, unit))}
        mentioned = [name for name in self.all.statuses
                     if page.name != "paddock" and (name in answered or re.search(rf"\b{name}\b", comments))]
        if not page.overview or not mentioned and page.name != "paddock":
            return
        out.add(".Sh RETURN VALUES",
                "The functions of this header answer these statuses." if mentioned else "All statuses that a function can answer.",
                "The page of each function says which of them, and when.", ".Bl -tag -width Ds")
        for name in mentioned or self.all.statuses:
            out.add(f".It Dv {name}", self.all.statuses[name][1])
        out.add(".El")

    def told_by(self):
        """Where a type is met."""
        if users := self.users():
            self.out.add(".Pp", "These use it:")
            self.out.lines.extend(f".Xr {name} 3" + (" ," if i < len(users) - 1 else " .") for i, name in enumerate(users))

    def users(self):
        """The names whose declarations, or members' comments, have a type of this page."""
        names = re.compile(r"\b(" + "|".join(self.page.names) + r")\b")
        return sorted({d.name for page in self.all.pages if page is not self.page for d in page.declarations
                       if d.kind != "macro" and names.search(d.text)})

    def thread_rules(self):
        out, page = self.out, self.page
        out.add(".Sh THREADS")
        rules = head_rules(page.header) or head_rules(self.all.headers.get("paddock", page.header))
        if not rules and not self.threads:
            raise Broken(f"{page.header.path}:{page.units[0].line}: {page.name}: no comment says which thread may call it")
        callbacks = all(d.kind == "callback" for d in page.declarations)
        rules = [] if callbacks and self.threads else rules
        for i, text in enumerate(self.threads):
            out.add(*([".Pp"] if i else []))
            out.text(text)
        if self.threads and rules:
            out.add(".Pp")
        for rule in rules:
            rule = re.sub(r"\b(call|function) below\b", r"\1 of this header", rule)
            out.text(rule.replace("its comment says otherwise", "its page says otherwise"))
        for unit in page.units:
            functions, words = unit.of("function"), in_text(unit)
            if not functions:
                continue
            told = "block" if BLOCKS.search(words) else "wait for the disk" if WAITS.search(words) else ""
            if not told and MAY_BLOCK.search(words):
                told = "may block"
            if not told and WAITS_NOT.search(words):
                told = "do not wait"
            wrong = dict(self.lists.get(id(unit), [])).get("PDK_WRONG_THREAD")
            if wrong and wrong == self.all.common.get("PDK_WRONG_THREAD") and "block" not in told:
                raise Broken(f'{page.header.path}:{unit.line}: {functions[0].name}: PDK_WRONG_THREAD is in {COMMON}, and no word "Blocks"')
            self.tell(functions, told, wrong)

    def tell(self, functions, told, wrong):
        """Whether functions wait, and what they answer in a callback."""
        if not told and not wrong:
            return
        out, one = self.out, len(functions) == 1
        out.add(".Pp")
        self.calls(functions)
        if told:
            verb, _, rest = told.partition(" ")
            told = told if not one or verb == "may" else f"{'does' if verb == 'do' else verb + 's'} {rest}".strip()
            out.add(told + ("," if wrong else "."))
        if wrong:
            out.add(*(["and"] if told else []), "answers" if one else "answer", ".Dv PDK_WRONG_THREAD", "when")
            out.text(sentences(wrong[0][1])[0].rstrip(".") + ".")

    def example(self):
        """The program of the page, as it stands in its file, behind what its comment says."""
        if self.page.name in self.all.examples:
            comment, text = self.all.examples[self.page.name]
            self.out.add(".Sh EXAMPLES")
            self.out.blocks(parse(comment))
            self.out.add(".Bd -literal", *[plain(line) for line in text.rstrip("\n").split("\n")], ".Ed")

    def see_also(self):
        page, text = self.page, "\n".join(self.out.lines)
        names = set(re.findall(r"^\.(?:It )?Xr (\S+) 3", text, re.M))
        names |= {name for d in page.declarations for name in re.findall(r"\bpdk_\w+", d.text)} & set(self.all.home)
        if page.name == "paddock" or page.overview:
            names -= {name for one in page.header.pages for name in one.names[1:]}
        names |= {page.header.page_name, "pdk_status"} | ({"pdk_last_error"} if "PDK_" in text else set())
        names = sorted({self.all.home[name].name for name in names if name in self.all.home} - {page.name, "paddock"})
        self.out.add(".Sh SEE ALSO")
        rest = ([] if page.name == "paddock" else ["paddock 3"]) + (["paddock 7"] if page.overview else [])
        every = sorted([f"{name} 3" for name in names] + rest[:1], key=str.lower) + rest[1:]
        if page.name == "paddock":
            every = ["paddock 1", *sorted(f"{name} 3" for name in names), "paddock 7"]
        self.out.add(*[f".Xr {name}" + (" ," if i < len(every) - 1 else "") for i, name in enumerate(every)])


def statuses(blocks):
    """The items of lists that are about a status: [(name, blocks)]."""
    return [(name, item) for kind, body in blocks if kind == "list" for term, item in body if STATUSES.match(term)
            for name in term.split(", ")]


def head_rules(header):
    """What the head comment says about threads, for all of the header."""
    found = []
    for kind, body in parse(header.head):
        texts = [body] if kind == "text" else [sentences(item[0][1])[0] for item in body] if kind == "bullets" else []
        for text in texts:
            if text.startswith("Threads: "):
                found.append(text[9].upper() + text[10:])
            else:
                found += [one for one in sentences(text) if re.match(r"(Any thread|A callback) may\b", one)]
    return found


def members(one):
    """([name…], comment) of each member of a struct, or of each value of an enum; members without a comment share the one before."""
    inside = one.text[one.text.index("{") + 1:one.text.rindex("}")]
    pattern = r"(/\*.*?\*/)|([^;/]+;)" if one.kind == "struct" else r"(/\*.*?\*/)|([^,/]+(?:,|$))"
    found, pending, last_line = [], None, None
    for match in re.finditer(pattern, inside, re.S):
        comment, code = match.groups()
        if comment:
            newline = inside.rfind("\n", 0, match.start())
            if found and inside[newline:match.start()].strip():
                found[-1][1].extend(comment_lines(comment))  # on the line of the member
            else:
                pending = comment_lines(comment)
        elif code.strip():
            name = " ".join(code.strip().rstrip(";,").split())
            if pending is None and found and last_line == "commented":
                found[-1][0].append(name)
            else:
                found.append(([name], pending or []))
            last_line, pending = "commented" if pending else last_line if pending is None and last_line else None, None
    return found
