"""Which session a name opens."""

from pivcs.ops.access import Reader, primary_stream
from pivcs.ops.sync import sync_file
from pivcs.session.layout import Surroundings
from pivcs.store.store import Store
from tests.builders import build_session


def test_file_that_is_gone_can_be_named_without_a_slash(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "copy").write_bytes(build_session("a-b"))
    with Store.in_memory() as store:
        sync_file(store, tmp_path / "copy", 0)
        (tmp_path / "copy").unlink()
        warnings: list[str] = []
        reader = Reader(store, Surroundings({}, str(tmp_path), str(tmp_path)), 0, warnings.append)
        assert reader.open("copy").node_count() == 2
        assert len(warnings) == 1


def test_file_that_another_session_took_over_is_not_chosen_where_a_live_one_has_the_session(tmp_path):
    a, b = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    first, second = build_session("a-b"), build_session("c-d").replace(b"019b7715", b"019c0000")
    a.write_bytes(first)
    b.write_bytes(second)
    with Store.in_memory() as store:
        key = sync_file(store, a, 0).stream.session
        sync_file(store, b, 0)
        a.write_bytes(second)
        b.write_bytes(first)
        sync_file(store, a, 1)
        live = sync_file(store, b, 1).stream
        assert primary_stream(store, key) == live
        b.write_bytes(second)
        sync_file(store, b, 2)
        assert store.bytes_of(primary_stream(store, key)).read_range(0, 10_000) == first
