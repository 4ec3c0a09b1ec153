"""Which streams of a session have all of its bytes."""

from __future__ import annotations

from pathlib import Path

from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from pivcs.ops.access import view_of
from pivcs.ops.kept_streams import kept_views, prefix_digests
from pivcs.ops.sync import sync_file
from pivcs.session.source import BytesSource
from pivcs.store.store import Store
from tests.builders import CLOCK, build_session


@given(st.binary(max_size=200), st.data())
def test_digests_are_those_of_the_beginnings(data: bytes, choice: st.DataObject) -> None:
    sizes = choice.draw(st.lists(st.integers(0, len(data))))
    assert prefix_digests(BytesSource(data), sizes) == {size: blake3(data[:size]).digest() for size in sizes}


def test_beginnings_and_copies_of_other_streams_are_left_out(tmp_path: Path) -> None:
    whole, other = build_session("a-b-c"), build_session("a-b-d")
    files = {"whole": whole, "copy": whole, "beginning": build_session("a-b"), "torn": whole[:-5], "other": other}
    with Store.in_memory() as store:
        for name, data in files.items():
            path = tmp_path / f"{name}.jsonl"
            path.write_bytes(data)
            sync_file(store, path, CLOCK)
        (tmp_path / "copy.jsonl").write_bytes(build_session("a"))  # its older generation is a copy
        sync_file(store, tmp_path / "copy.jsonl", CLOCK)
        for stream in store.streams():
            kept = [
                b"".join(view.source.iter_range(0, view.table.end + view.table.pending))
                for view in kept_views(view_of(store, stream))
            ]
            assert sorted(kept) == sorted([whole, other])
