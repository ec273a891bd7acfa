"""Code as HTML, coloured by pygments: keywords, comments, texts, numbers. style.css has the colours."""
import html

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.util import ClassNotFound

FORMATTER = HtmlFormatter(nowrap=True)


def coloured(text, language="", path=""):
    """The text as it stands between <pre> and </pre>. language: the word behind a fence. path: of the file that it is from. A language
    that pygments does not know has no colours."""
    try:
        lexer = get_lexer_by_name(language, stripnl=False) if language else get_lexer_for_filename(path, stripnl=False)
    except ClassNotFound:
        return html.escape(text)
    return highlight(text, lexer, FORMATTER)
