"""Checks of the prose of the pages: that its lines are wrapped, its paragraphs whole, and its sentences read once. The sentences
of comments in C have to be read once as well.

A page is read as `scripts/wrap` reads it: markdown-it finds paragraphs, items of lists, and cells of tables.
"""
import difflib
import pathlib
import re
import subprocess

from markdown_it import MarkdownIt

WRAP = pathlib.Path(__file__).resolve().parents[2] / "scripts/wrap"
REPEATED_WORDS = 7  # so many words in a row, in two sentences beside each other, are a splice
REPEATED_ON_A_PAGE = 10  # and so many in any two sentences of a page are one thing said twice
# (words that stop a reader, the words to write)
STOPS = [(re.compile(pattern), advice) for pattern, advice in (
    (r"^(Whom?|Whoever|What|Whatever)\b(?!.*\?$)", "begin with the subject, and name it"),
    (r"[;:] ([Ww]hom?|[Ww]hoever|[Ww]hat)\b(?!.*\?$)", "begin with the subject, and name it"),
    (r"\b(?:of|to|for|from|by|with|than|as|over|beside|behind|before|after) (who)\b", "name who that is"),
    (r"\b([Tt]hat of)\b", "repeat the noun"),
    (r"\b([Tt]hose that)\b", "repeat the noun"),
    (r"\b([Aa]new)\b", "again, or a new one"),
)]
# The comment of a field begins small; in a cell that names a topic, that is allowed.
STOPS_IN_COMMENTS = [*STOPS, (re.compile(r"^(whom?|whoever|what|whatever)\b(?!.*\?$|:)"), "begin with the subject, and name it")]
# The folders whose comments are read so.
COMMENTED = ("include", "src", "recipes", "command", "testing", "examples")
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|/\*(.*?)\*/|//([^\n]*)', re.S)
DRAWN = re.compile(r"[─│┌┐└┘├┤▲▼►◄]")  # a line of a picture
ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|cf|vs)\.|\.\.\.|…)$")  # these end no sentence
NAMES = re.compile(r"kazoo|stunnel|lib\w+|chaos|reprotest|lintian|autopkgtest|\w+\d|[\w/-]+\.md")  # these may begin one


def blocks(text):
    """(line, kind, text without markup) of each paragraph and each cell. A block's code reads `CODE`."""
    opened = []
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.nesting == 1:
            opened.append(token)
        elif token.nesting == -1:
            opened.pop()
        elif token.type == "inline":
            words = "".join({"text": child.content, "code_inline": "CODE"}.get(child.type, " " * child.type.endswith("break"))
                            for child in token.children)
            yield (token.map or opened[-1].map or opened[-2].map)[0] + 1, opened[-1].tag, words


def sentences(words):
    """The sentences of a block. A dot of an abbreviation ends none."""
    found = [""]
    for part in re.split(r"(?<=[.!?…]) +|(?<=[.!?][)\"”]) +", words):
        found[-1] += part
        if ABBREVIATION.search(part):
            found[-1] += " "
        else:
            found.append("")
    return [one.strip() for one in found if one.strip()]


def pages(tree):
    for path in tree.files:
        if path.suffix == ".md":
            yield path, path.read_text()


def check_wrapped(tree):
    names = [path for path, _ in pages(tree)]
    run = subprocess.run([WRAP, "--check", *names], capture_output=True, text=True)
    for line in run.stdout.splitlines():
        name, number = line.rsplit(":", 1)
        yield pathlib.Path(name), int(number), "not wrapped: ./run format"
    if run.stderr:
        yield WRAP, 1, run.stderr.strip()


def check_spliced(tree):
    for path, text in pages(tree):
        found = [(line, words) for line, kind, words in blocks(text) if kind == "p"]
        for line, words in found:
            yield from ((path, line, what) for what in splices(words))
        yield from ((path, line, f"said twice, in line {first}, too: {run}") for line, first, run in told_twice(found))


def splices(words):
    """What says that the lines of a paragraph were not written for each other."""
    found = sentences(words)
    for one, other in zip(found, found[1:]):
        if other[0].islower() and not NAMES.match(other):
            yield f"a sentence ended, and here another goes on: {other[:40]}"
        run = repeated(one, other)
        if run:
            yield f"said twice: {run}"
    if len(found) > 1 and not re.search(r"[.!?:;…][)\"”]?$", found[-1]):
        yield f"a sentence without an end: {found[-1][-40:]}"


def told_twice(paragraphs):
    """(line, line of the first, words) of sentences of a page, not of one paragraph, that share many words in a row."""
    first, told = {}, set()
    for line, words in paragraphs:
        for sentence in sentences(words):
            plain = [word for word in sentence.split() if "CODE" not in word]
            for at in range(len(plain) - REPEATED_ON_A_PAGE + 1):
                run = " ".join(plain[at:at + REPEATED_ON_A_PAGE])
                before = first.setdefault(run, line)
                if before != line and (before, line) not in told:
                    told.add((before, line))
                    yield line, before, run


def repeated(one, other):
    """The words in a row that two sentences share, if they are many."""
    one, other = one.split(), other.split()
    same = difflib.SequenceMatcher(None, one, other, autojunk=False).find_longest_match()
    return " ".join(one[same.a:same.a + same.size]) if same.size >= REPEATED_WORDS else ""


def comments(text):
    """(line, words) of each paragraph of a comment in C, and of each item of a list, without its term. A picture has none."""
    for match in COMMENT.finditer(text):
        words, line = "", text.count("\n", 0, match.start()) + 1
        for number, row in enumerate((match[1] or match[2] or "").split("\n"), line):
            row = re.sub(r"^\s*\*", "", row)
            begins = not row.strip() or re.search(r"\S {2,}\S|^ {4,}", row) or DRAWN.search(row)
            if begins and words:
                yield line, words
            if begins:
                words, line = "", number
            words = "" if DRAWN.search(row) else (words + " " + re.split(r"(?<=\S) {2,}", row.strip())[-1]).strip()
        if words:
            yield line, words


def check_words(tree):
    for path, text in pages(tree):
        for line, kind, words in blocks(text):
            if kind in ("p", "td"):
                yield from ((path, line, what) for what in stops(words, STOPS))
    for path in tree.sources():
        if tree.under(path, *COMMENTED):
            for line, words in comments(path.read_text()):
                yield from ((path, line, what) for what in stops(words, STOPS_IN_COMMENTS))


def stops(words, patterns):
    """What stops a reader in these words."""
    for sentence in sentences(words):
        for pattern, advice in patterns:
            for found in pattern.finditer(sentence):
                yield f"`{found[1]}` stops a reader; {advice}: {sentence[max(0, found.start() - 20):found.end() + 30]}"
