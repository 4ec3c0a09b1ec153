"""What a store is called among others, and the names that others have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.gitbridge.names_file import encode_names
from pivcs.store.remote import RemoteNames, StoreNames, decode_names
from pivcs.store.store import Store

KEY, ID = b"k" * 32, b"i" * 16
PAIRS = st.lists(st.tuples(st.text(st.characters(codec="utf-8")), st.binary(min_size=32, max_size=32))).map(tuple)


def test_id_is_given_once() -> None:
    with Store.in_memory() as store:
        assert store.remote.id() is None
        with store.writing():
            assert store.remote.give_id(ID) == ID
            assert store.remote.give_id(b"j" * 16) == ID
        assert store.remote.id() == ID
        with pytest.raises(ValueError, match="16 bytes"):
            store.remote.give_id(b"short")


def test_names_take_the_place_of_what_their_store_had_before() -> None:
    with Store.in_memory() as store:
        with store.writing() as connection:
            connection.execute("INSERT INTO session (key) VALUES (?)", (KEY,))
            for data in (b"old", b"new"):
                store.remote.put_names(KEY, RemoteNames(ID, data))
            store.remote.put_names(KEY, RemoteNames(b"a" * 16, b"other"))
            store.remote.put_names(b"unknown session" + bytes(17), RemoteNames(ID, b"x"))
        assert store.remote.names(KEY) == [(b"a" * 16, b"other"), (ID, b"new")]
        assert store.remote.latest_change(KEY) == 0


@given(st.integers(0, 1 << 60), PAIRS, PAIRS)
def test_names_come_back_from_their_text(
    time: int, branches: tuple[tuple[str, bytes], ...], tags: tuple[tuple[str, bytes], ...]
) -> None:
    names = StoreNames(time, branches, tags)
    assert decode_names(encode_names(names, KEY, ID), KEY, ID) == names
    assert decode_names(encode_names(names, KEY, ID), b"o" * 32, ID) is None
    assert decode_names(encode_names(names, KEY, ID), KEY, b"o" * 16) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'"format"', b'"formal"'), (b"names 1", b"names 2"), (b'"time": 5', b'"time": "5"'),
        (b'"tags": []', b'"tags": 1'),
        (b'"node": "', b'"node": "zz'), (b'"node": "', b'"node": "00'), (b'"name"', b'"nome"'), (b"{", b"["),
    ],
)  # fmt: skip
def test_text_that_is_not_of_names_has_none(before: bytes, after: bytes) -> None:
    text = encode_names(StoreNames(5, (("x", bytes(32)),), ()), KEY, ID)
    assert before in text
    assert decode_names(text.replace(before, after, 1), KEY, ID) is None
    for damaged in (b"\xff", b"[" * 100_000, b"1", b""):
        assert decode_names(damaged, KEY, ID) is None
