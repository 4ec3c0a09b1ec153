"""What somebody said, as text in a heading or in a cell of a table that is Markdown as GitHub and others read it.

No markup, no HTML, no image and no link comes of it, and it reads in `git show` nearly as it was said. So only those
signs are escaped that would mean something where they stand. What becomes a link by itself (addresses, `@name`, `#1`)
is put into a code span: an escaped sign would not keep it from being one, as that is looked for in what is shown.
"""

from __future__ import annotations

import re
import string
from typing import Final

from pivcs.gitbridge.page_summary import short

_PIECES: Final = re.compile(r"(?P<word>[^\s|`\\]*?(?:://|www\.|@|#[0-9])[^\s|`\\]*)|(?P<run>[*]+|_+|~+|[$]+)|(?P<sign>.)",
                            re.IGNORECASE | re.DOTALL)  # fmt: skip
_PUNCTUATION: Final = frozenset(string.punctuation)
_TAG: Final = re.compile(r"<(?=[A-Za-z/!?])")
_ENTITY: Final = re.compile(r"&(?=#?[A-Za-z0-9]+;)")


def escaped(text: str) -> str:
    """Return text for a cell of a table or a heading, in one line that is not long."""
    text = short(text)
    shown = ""
    for found in reversed(list(_PIECES.finditer(text))):
        shown = _piece(text, found, shown) + shown
    return shown


def _piece(text: str, found: re.Match[str], behind: str) -> str:
    """Return a piece of a text, which stands before what is written already."""
    piece, start, end = found[0], found.start(), found.end()
    if found["word"] is not None:
        return f"`{piece}`"
    if found["run"] is not None:
        return _escape_each(piece) if _ends_something(text, start, end) else piece
    follows = text[end : end + 1]
    if piece == "\\":
        return "\\\\" if not behind or behind[0] in _PUNCTUATION else piece
    if piece in "|`" or (piece == "]" and follows in tuple("([:")) or (piece == "[" and follows == "["):
        return f"\\{piece}"
    if piece == "#" and not text[end:].strip("# "):  # the end of a heading
        return "\\#"
    if _TAG.match(text, start):
        return "&lt;"
    if _ENTITY.match(text, start):
        return "&amp;"
    return piece


def _ends_something(text: str, start: int, end: int) -> bool:
    """Whether a run of signs could end what such a run before it has begun; that one needs no escape then.

    What stands behind a space ends nothing, and an underscore within a word neither begins nor ends anything.
    """
    if start == 0 or text[start - 1] == " ":
        return False
    return text[start] != "_" or not (text[start - 1].isalnum() and text[end : end + 1].isalnum())


def _escape_each(run: str) -> str:
    return "".join(f"\\{sign}" for sign in run)
