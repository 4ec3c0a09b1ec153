"""What changed between two texts of a conversation, word by word."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Final, Literal, NamedTuple

MOST_WORDS: Final = 500
"""Words of the differing middle of each text that are compared; longer ones count as replaced as a whole."""
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
    shortest = min(len(first), len(second))
    start = next((place for place in range(shortest) if first[place] != second[place]), shortest)
    rest = shortest - start
    end = next((place for place in range(rest) if first[-1 - place] != second[-1 - place]), rest)
    middle = _middle(first[start : len(first) - end], second[start : len(second) - end])
    found = [("same", word) for word in first[:start]] + middle + [("same", word) for word in first[len(first) - end :]]
    words = sum(2 if kind == "same" else 1 for kind, word in found if not word.isspace())
    shared = sum(2 for kind, word in found if kind == "same" and not word.isspace())
    return WordChanges(tuple(_joined(found)), shared / words if words else 0.0)


def _middle(first: list[str], second: list[str]) -> list[tuple[str, str]]:
    if max(len(first), len(second)) > MOST_WORDS:
        return [("old", word) for word in first] + [("new", word) for word in second]
    found: list[tuple[str, str]] = []
    for tag, begin, end, other, last in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if tag == "equal":
            found += [("same", word) for word in first[begin:end]]
        else:
            found += [("old", word) for word in first[begin:end]] + [("new", word) for word in second[other:last]]
    return found


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
