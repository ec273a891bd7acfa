"""Mechanical mutations of C text, as ./draw draws them.

A mutation is (line, operator, what it changes in words, the whole text after it). It changes nothing in assertions, in lines of
the log, and outside of functions.
"""
import re

DECLARATION = re.compile(r"^(?:static|const|struct|enum|union|unsigned|u?int\d*_t|bool|char|size_t|void|g\w+|G[A-Z]\w+|pdk_\w+|pthread_\w+"
                         r"|pdk__\w+|atomic_\w+|sigset_t|ssize_t) [^=;(]*[=;\[]")
NO_STATEMENT = re.compile(r"^(?:return|break|continue|case|default|goto|else|do|if|for|while|switch)\b")
NO_CHANGE = re.compile(r"\b(?:assert\w*|pdk__assert_locked|pdk__log\w*|pdk__fail) ?\(|^\(void\)")
COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}


def mask(text):
    """The text, of the same length, with blanks for comments, strings and directives."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group())
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|^#[^\n]*(?:\\\n[^\n]*)*', blank, text,
                  flags=re.S | re.M)


def words_of(text):
    """In one line, without comments: whoever changes those changes no mutant."""
    return " ".join(re.sub(r"/\*.*?(?:\*/|\Z)", "", text, flags=re.S).split())


def closing(masked, at):
    """The offset of the parenthesis that closes the one at `at`."""
    depth = 0
    for i in range(at, len(masked)):
        depth += {"(": 1, ")": -1}.get(masked[i], 0)
        if depth == 0:
            return i
    return len(masked)


def independent(one, two):
    """Calls of the same function for two things, or assignments that have nothing to do with each other."""
    calls = [re.match(r"\w+(?=\()", statement) for statement in (one, two)]
    if all(calls) and calls[0].group() == calls[1].group():
        return True
    sets = [re.fullmatch(r"([\w>.\[\]-]+) = ([^()]*|g_\w+\(.*\));", statement, re.S) for statement in (one, two)]
    return all(sets) and sets[0].group(1) not in two and sets[1].group(1) not in one


class Source:
    def __init__(self, text):
        self.text, self.masked = text, mask(text)
        self.bodies = []  # (begin, end) of functions: from a brace in a line that begins at the margin to one at the margin
        for match in re.finditer(r"^[^\s#}][^;{}=]*\)\s*\{(.*?)\}$(?=\n(?:\n|\S|\Z))", self.masked, re.S | re.M):
            self.bodies.append(match.span(1))

    def in_body(self, at):
        return any(begin <= at < end for begin, end in self.bodies)

    def statement_around(self, at):
        begin = max(self.masked.rfind(c, 0, at) for c in ";{}") + 1
        end = min((i for i in (self.masked.find(c, at) for c in ";{}") if i >= 0), default=len(self.masked))
        return self.masked[begin:end].strip()

    def line(self, at):
        return self.text.count("\n", 0, at) + 1

    def statements(self):
        """(begin, end) of the simple statements, each with its semicolon."""
        for begin, end in self.bodies:
            for match in re.finditer(r"(?:(?<=[;{}\n)])|(?<=else))[ \n]*([A-Za-z_*(+-][^;{}]*?;)", self.masked[begin:end]):
                a, b = begin + match.start(1), begin + match.end(1)
                while True:  # what a condition governs
                    head = re.match(r"(?:else )?(?:if|while|for|switch) ?(?=\()|else\s+|case [^:]*:\s*|default:\s*", self.masked[a:b])
                    if not head:
                        break
                    a = closing(self.masked, a + head.end()) + 1 if self.masked[a + head.end()] == "(" else a + head.end()
                    if a >= b:
                        break
                    a += len(self.masked[a:b]) - len(self.masked[a:b].lstrip())
                if a >= b:
                    continue
                words = self.masked[a:b]
                if words != ";" and words.count("(") == words.count(")") and not NO_STATEMENT.match(words) and \
                        not DECLARATION.match(words) and not NO_CHANGE.search(words):
                    yield a, b

    def change(self, operator, begin, end, new):
        """Lines keep their numbers."""
        old = self.text[begin:end]
        if new == "{}":
            new += "\n" * old.count("\n")
        words = f"{words_of(old)} -> {words_of(new)}"
        return self.line(begin), operator, words, self.text[:begin] + new + self.text[end:]

    def in_line(self, operator, begin, end, new):
        """A small change, told by the line that has it, as it is afterwards."""
        text = self.text[:begin] + new + self.text[end:]
        number = self.line(begin)
        return number, operator, words_of(text.splitlines()[number - 1]), text

    def deleted(self):
        for a, b in self.statements():
            if not re.search(r"^(?:\+\+|--)?[\w>.\[\]-]+(?:\+\+|--| [+-]= [^;]*)?;$", self.masked[a:b]):
                yield self.change("deleted", a, b, "{}")

    def forgotten(self):
        for a, b in self.statements():
            if re.search(r"\+\+;|--;|^(?:\+\+|--)|^\S+ [+-]= ", self.masked[a:b]):
                yield self.change("forgotten", a, b, "{}")
        for match in re.finditer(r"(?<=[(=\[] )(\+\+|--)(?=\w)|(?<=[(\[,])(\+\+|--)(?=\w)", self.masked):
            if self.in_body(match.start()):
                yield self.in_line("forgotten", match.start(), match.end(), "")

    def swapped(self):
        all_of_them = list(self.statements())
        for (a, b), (c, d) in zip(all_of_them, all_of_them[1:]):
            between = self.text[b:c]
            same = re.fullmatch(r"\n( *)", between)
            if same and not independent(self.masked[a:b], self.masked[c:d]) and self.text[:a].rfind("\n") == a - 1 - len(same.group(1)) and self.text[a:b] != self.text[c:d]:
                header = self.masked[:a].rstrip().rsplit("\n", 1)[-1]
                if re.match(r"\s*(?:if|while|for|else)\b", header) and not header.endswith(("{", ";")):
                    continue  # the first one alone is governed by a condition
                yield self.change("swapped", a, d, self.text[c:d] + between + self.text[a:b])

    def negated(self):
        for match in re.finditer(r"\b(?:if|while) \(", self.masked):
            end = closing(self.masked, match.end() - 1)
            if self.in_body(match.start()):
                yield self.change("negated", match.end(), end, f"!({self.text[match.end():end]})")

    def either(self):
        for match in re.finditer(r"&&", self.masked):
            if self.in_body(match.start()) and not NO_CHANGE.search(self.statement_around(match.start())):
                yield self.in_line("&& to ||", match.start(), match.end(), "||")

    def compared(self):
        for match in re.finditer(r"(?<= )(<=|>=|<|>)(?= )", self.masked):
            around = self.statement_around(match.start())
            if self.in_body(match.start()) and not NO_CHANGE.search(around):
                yield self.in_line("compared", match.start(), match.end(), COMPARISONS[match.group()])


def mutations(text):
    """{operator: [mutation…]}"""
    source = Source(text)
    return {name: list(getattr(source, name)()) for name in
            ("deleted", "forgotten", "swapped", "negated", "either", "compared")}
