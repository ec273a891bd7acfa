"""Follows every link of a folder of HTML pages. Links to other hosts are not followed."""
import html.parser
import pathlib
import re
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.twice = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id":
                (self.twice if value in self.anchors else []).append(value)
                self.anchors.add(value)
            elif name in ("href", "src"):
                self.links.append((self.getpos()[0], value))


def broken(folder):
    """A line for each link that leads nowhere, and for each anchor that stands twice on a page; and the number of links."""
    folder = pathlib.Path(folder)
    pages = {path: Page(path.read_text()) for path in sorted(folder.rglob("*.html"))}
    problems, count = [], 0
    for path, page in pages.items():
        where = path.relative_to(folder)
        problems += [f"{where}: the anchor {anchor} stands twice" for anchor in page.twice]
        for line, link in page.links:
            if re.match(r"[a-z]+:", link):
                continue
            count += 1
            file, _, anchor = urllib.parse.unquote(link).partition("#")
            target = (path.parent / file).resolve() if file else path.resolve()
            if target.is_dir() or not target.is_file() or not target.is_relative_to(folder.resolve()):
                problems.append(f"{where}:{line}: a link to {link}, which does not exist")
            elif anchor and target.suffix == ".html" and anchor not in pages[folder / target.relative_to(folder.resolve())].anchors:
                problems.append(f"{where}:{line}: a link to {link}, where there is no such anchor")
    if not count:
        problems.append(f"{folder}: no links")
    return problems, count
