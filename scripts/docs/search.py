"""The index of the search: one entry for each page of the manual, and for each part of a guide below a heading.

It is JSON in a script, since a page that was opened from a file may fetch nothing, but may load a script. An entry is
[address, title, a line about it, other words of its text].
"""
import html
import json
import re
from collections import Counter

WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]+")
TOO_COMMON = 0.15  # of the entries: a word that so many have tells nothing


class Index:
    def __init__(self):
        self.entries = []

    def add(self, address, title, about, text):
        self.entries.append((address, title, about, {word.lower() for word in WORD.findall(text)}))

    def add_html(self, address, title, about, text):
        """The same for text with tags."""
        self.add(address, title, about, html.unescape(re.sub(r"<[^>]*>", " ", text)))

    def script(self):
        count = Counter(word for *_, words in self.entries for word in words)
        common = {word for word, times in count.items() if times > TOO_COMMON * len(self.entries) + 1}
        rows = [[address, title, about, " ".join(sorted(words - common))] for address, title, about, words in self.entries]
        return f"window.paddockIndex = {json.dumps(rows, ensure_ascii=False, separators=(',', ':'))};\n"
