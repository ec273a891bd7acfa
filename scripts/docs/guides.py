"""The guides as HTML: Markdown as CommonMark and its tables have it, with links to the manual.

markdown-it reads what GitHub reads: CommonMark, and tables. Pandoc would do as well, and is 168 MB; python3-markdown has rules of its own
for lists and blocks. It gives tokens, so links are moved before they are written.
"""
import html
import posixpath
import re

from markdown_it import MarkdownIt

from code_blocks import coloured


PICTURES = (".svg", ".png", ".gif", ".webp")


def reader():
    return MarkdownIt("commonmark").enable("table")


def text_of(inline):
    return "".join(child.content for child in inline.children if child.type in ("text", "code_inline"))


def slug(title, used):
    """The anchor of a heading, as GitHub makes it."""
    base = re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")
    count = used.get(base, -1) + 1
    used[base] = count
    return f"{base}-{count}" if count else base


def up(path):
    """The way from a page to the root of the site."""
    return "../" * path.count("/")


class Guide:
    """One Markdown file, whose page has its path with another suffix."""

    def __init__(self, root, path):
        self.root, self.path = root, path
        self.page = path.removesuffix(".md") + ".html"
        self.tokens = reader().parse((root / path).read_text())
        self.headings = []  # (level, title, anchor)
        used = {}
        for at, token in enumerate(self.tokens):
            if token.type == "heading_open":
                title = text_of(self.tokens[at + 1])
                anchor = slug(title, used)
                token.attrSet("id", anchor)
                self.headings.append((int(token.tag[1]), title, anchor))
        self.title = self.headings[0][1] if self.headings else path
        self.wanted = set()  # files and folders that are no guides, and are linked

    def parts(self):
        """(anchor, title, text) of what stands below each heading."""
        found = [["", self.title, []]]
        for token in self.tokens:
            if token.type == "heading_open" and token.tag in ("h2", "h3"):
                found.append([token.attrGet("id"), "", []])
            elif token.type == "inline" and found[-1][1] == "":
                found[-1][1] = text_of(token)
            elif token.type == "inline":
                found[-1][2].append(text_of(token))
        return [(anchor, title, " ".join(texts)) for anchor, title, texts in found]

    def render(self, guides, home):
        """The HTML of the body. home: the page and the anchor of each name in the manual."""
        reader_ = reader()
        for token in self.tokens:
            for child in [token, *(token.children or [])]:
                if child.type in ("html_block", "html_inline"):
                    child.content = re.sub(r'\b(src|srcset|href)="([^"]+)"', lambda match: self.in_html(*match.groups(), guides), child.content)
                elif child.type == "link_open":
                    child.attrSet("href", self.moved(child.attrGet("href"), guides))
                elif child.type == "image":
                    self.wanted.add(self.resolve(child.attrGet("src")))
        reader_.add_render_rule("code_inline", lambda me, tokens, at, options, env: self.code(tokens, at, home))
        reader_.add_render_rule("fence", lambda me, tokens, at, options, env: fence(tokens[at]))
        reader_.add_render_rule("table_open", lambda *_: '<div class="wide"><table>\n')
        reader_.add_render_rule("table_close", lambda *_: "</table></div>\n")
        return reader_.renderer.render(self.tokens, reader_.options, {})

    def in_html(self, name, href, guides):
        """An attribute of HTML that stands in the page as it is: a picture between two others, or a link around one."""
        if name == "href":
            return f'href="{self.moved(href, guides)}"'
        if not re.match(r"[a-z]+:", href):
            self.wanted.add(self.resolve(href))
        return f'{name}="{href}"'

    def resolve(self, href):
        return posixpath.normpath(posixpath.join(posixpath.dirname(self.path), href))

    def moved(self, href, guides):
        """Where a link of the file leads in the site."""
        if re.match(r"[a-z]+:|#", href):
            return href
        target, _, anchor = href.partition("#")
        path = self.resolve(target)
        if path in guides:
            page = guides[path].page
        else:
            self.wanted.add(path)
            page = page_of(self.root, path)
        return posixpath.relpath(page, posixpath.dirname(self.page) or ".") + ("#" + anchor if anchor else "")

    def code(self, tokens, at, home):
        """Code in a line of text, with a link if it is a name of the manual; not inside of a link or of a heading."""
        words = tokens[at].content
        inside = sum((token.type == "link_open") - (token.type == "link_close") for token in tokens[:at])
        name = words.removesuffix("()")
        shown = f"<code>{html.escape(words)}</code>"
        return shown if inside or name not in home else f'<a href="{up(self.page)}{home[name]}">{shown}</a>'


def page_of(root, path):
    """The page for a file or a folder that is no guide. Pictures are taken as they are."""
    if path.endswith(PICTURES):
        return path
    return path + ("/index.html" if (root / path).is_dir() else ".html")


def fence(token):
    """A block of code; the file that it is from stands above it."""
    language, _, source = token.info.strip().partition(" ")
    above = f'<p class="from">{html.escape(source)}</p>' if source else ""
    return f"{above}<pre><code>{coloured(token.content, language or 'text')}</code></pre>\n"
