"""JSON documents are valid JSON of the same value, and harmless on a terminal."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.render.documents import encode

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 62), 1 << 62) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(VALUES)
def test_a_document_is_read_back_as_it_was(value: object):
    assert json.loads(encode(value)) == value


@pytest.mark.parametrize("sign", [*"\x00\x1b\x7f\x80\x9b\x9f\u2028\u202e\u2066\u200f"])
def test_what_a_terminal_would_obey_is_escaped(sign: str):
    written = encode({f"a{sign}": [f"{sign}é\u200d\xa0"]})
    assert sign not in written.decode()
    assert "é\u200d\xa0" in written.decode()
    assert json.loads(written) == {f"a{sign}": [f"{sign}é\u200d\xa0"]}


def test_what_is_no_text_is_replaced():
    assert json.loads(encode(["\ud83d"])) == ["\ufffd"]
