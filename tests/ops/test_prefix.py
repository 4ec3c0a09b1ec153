from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.ops import prefix
from pivcs.ops.prefix import first_difference, make_probes, move_last_probe, needs_whole, probes_match
from pivcs.session.source import BytesSource
from pivcs.store.content import layout_of
from pivcs.store.records import FileStat
from pivcs.store.store import Store
from tests.ops.syncing import session, share
from tests.store.filling import add, new_source
from tests.store.limits import small_chunks

DATA = session(60)


@given(st.integers(0, 20_000), st.integers(0, 20_000))
def test_unchanged_file_matches_its_pieces(size: int, grown: int) -> None:
    data = (DATA * 2)[:size]
    file = BytesSource(data + b"more" * (grown // 4))
    probes = make_probes(BytesSource(data), size)
    assert probes_match(file, probes)
    moved = move_last_probe(probes, file, size + grown // 4 * 4)
    assert len(moved) == len(probes) or size == 0
    assert probes_match(file, moved)


@pytest.mark.parametrize("size", [0, 1, 63, 64, 4095, 4096, 4097, len(DATA)])
def test_edit_at_the_beginning_or_the_end_does_not_match(size: int) -> None:
    data = DATA[:size]
    probes = make_probes(BytesSource(data), size)
    for at in {0, size // 2, size - 1} if size else ():
        changed = data[:at] + bytes((data[at] ^ 1,)) + data[at + 1 :]
        assert not probes_match(BytesSource(changed), probes)
    if size:
        assert not probes_match(BytesSource(data[:-1]), probes)


def test_end_moves_with_the_file() -> None:
    old, new = DATA[:15_000], DATA[:18_000]
    probes = move_last_probe(make_probes(BytesSource(old), len(old)), BytesSource(new), len(new))
    assert not probes_match(BytesSource(new[:-1] + b"?"), probes)


@given(st.integers(0, len(DATA)), st.none() | st.integers(0, len(DATA) - 1), st.integers(0, len(DATA) + 500))
@share(0.8)
def test_difference_is_found_wherever_it_is(size: int, edit: int | None, now: int) -> None:
    """The shorter of the two is a prefix of the other exactly when no difference is found."""
    with small_chunks(), Store.in_memory() as store:
        known = DATA[:size]
        stream = add(store, new_source(store), known)
        data = bytearray(DATA + b"x" * 500)
        if edit is not None:
            data[edit] ^= 1
        file = bytes(data[:now])
        found = first_difference(store, stream, BytesSource(file), len(file))
        common = min(len(known), len(file))
        assert (found is None) == (known[:common] == file[:common])
        if found is not None:
            assert edit is not None
            starts = [offset for offset, _, _ in layout_of(store.database, stream)] + [stream.tail_start]
            assert found == max(start for start in starts if start <= edit)


@pytest.mark.parametrize(
    ("size", "verified", "change", "whole"),
    [
        (prefix.WHOLE, prefix.WHOLE, {"size": prefix.WHOLE + 1}, True),
        (prefix.WHOLE + 1, prefix.WHOLE + 1, {"size": prefix.WHOLE + 2}, False),
        (5 << 20, 5 << 20, {"size": 5 << 20}, True),
        (5 << 20, 5 << 20, {"size": 6 << 20}, False),
        (5 << 20, 5 << 20, {"size": 10 << 20}, True),
        (5 << 20, 3 << 20, {"size": 6 << 20}, True),
        (5 << 20, 5 << 20, {"size": 6 << 20, "inode": 9}, True),
        (5 << 20, 5 << 20, {"size": 6 << 20, "device": 9}, True),
        (5 << 20, 5 << 20, {"size": 6 << 20, "mtime": 9, "ctime": 9}, False),
    ],
)
def test_whole_prefix_is_compared_when_pieces_do_not_tell(
    size: int, verified: int, change: dict[str, int], whole: bool
) -> None:
    then = FileStat(size, 1, 1, 1, 1)
    with Store.in_memory() as store:
        stream = add(store, new_source(store), b"")._replace(size=size, verified_size=verified, file=then)
    now = FileStat(**({"size": size, "mtime": 1, "ctime": 1, "device": 1, "inode": 1} | change))
    assert needs_whole(stream, now) is whole
