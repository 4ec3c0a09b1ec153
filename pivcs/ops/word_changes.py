"""What changed between two texts of a conversation, word by word."""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from pivcs.workspace.linediff import opcodes

_TOKEN: Final = re.compile(r"\w+|\s+|[^\w\s]")


class Piece(NamedTuple):
    """A stretch of text: of both (`same`), of the first only (`old`), of the second only (`new`)."""

    kind: Literal["same", "old", "new"]
    text: str


class WordChanges(NamedTuple):
    """The pieces of both texts in order, and how much is shared: 1.0 for equal texts, 0.0 for nothing in common."""

    pieces: tuple[Piece, ...]
    likeness: float


def word_changes(old: str, new: str) -> WordChanges:
    """Compare two texts. The pieces that are `same` or `old` make the first, those that are `same` or `new` the second.

    Spaces between two changes belong to both, so that whole phrases are replaced instead of every word in them.
    """
    if old == new:
        return WordChanges((Piece("same", old),) if old else (), 1.0)
    first, second = _TOKEN.findall(old), _TOKEN.findall(new)
    found: list[tuple[str, str]] = []
    for code in opcodes(first, second):
        if code.tag == "equal":
            found += [("same", word) for word in first[code.before_start : code.before_end]]
        else:
            found += [("old", word) for word in first[code.before_start : code.before_end]]
            found += [("new", word) for word in second[code.after_start : code.after_end]]
    words = sum(2 if kind == "same" else 1 for kind, word in found if not word.isspace())
    shared = sum(2 for kind, word in found if kind == "same" and not word.isspace())
    return WordChanges(tuple(_joined(found)), shared / words if words else 0.0)


def _joined(found: list[tuple[str, str]]) -> list[Piece]:
    """Join words to pieces: between two changes a lone space does not part them."""
    pieces: list[Piece] = []
    old: list[str] = []
    new: list[str] = []
    for place, (kind, word) in enumerate(found):
        if kind == "old":
            old.append(word)
        elif kind == "new":
            new.append(word)
        elif (old or new) and word.isspace() and place + 1 < len(found) and found[place + 1][0] != "same":
            old.append(word)
            new.append(word)
        else:
            _close(pieces, old, new)
            if pieces and pieces[-1].kind == "same":
                pieces[-1] = Piece("same", pieces[-1].text + word)
            else:
                pieces.append(Piece("same", word))
    _close(pieces, old, new)
    return pieces


def _close(pieces: list[Piece], old: list[str], new: list[str]) -> None:
    if old:
        pieces.append(Piece("old", "".join(old)))
    if new:
        pieces.append(Piece("new", "".join(new)))
    old.clear()
    new.clear()
