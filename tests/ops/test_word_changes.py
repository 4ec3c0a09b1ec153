"""Changes of texts, word by word."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pivcs.ops.word_changes import Piece, word_changes

TEXTS = st.lists(st.sampled_from(["one", "two", "three", " ", "  ", "\n", ".", ",", "é"]), max_size=20).map("".join)


def shown(old: str, new: str) -> str:
    marks = {"same": "{}", "old": "[-{}-]", "new": "{{+{}+}}"}
    return "".join(marks[piece.kind].format(piece.text) for piece in word_changes(old, new).pieces)


@given(TEXTS, TEXTS)
def test_pieces_make_both_texts(old: str, new: str):
    pieces, likeness = word_changes(old, new)
    assert "".join(piece.text for piece in pieces if piece.kind != "new") == old
    assert "".join(piece.text for piece in pieces if piece.kind != "old") == new
    assert 0 <= likeness <= 1
    assert (likeness == 1) >= (old == new)


def test_changed_words_are_marked():
    assert shown("Use Decimal now.", "Use cents now.") == "Use [-Decimal-]{+cents+} now."


def test_phrase_is_replaced_as_a_whole():
    assert shown("in one go please", "in many steps please") == "in [-one go-]{+many steps+} please"


def test_nothing_in_common():
    assert word_changes("one", "two") == ((Piece("old", "one"), Piece("new", "two")), 0.0)
    assert word_changes("", "") == ((), 1.0)
