"""Which session a name opens."""

from pivcs.ops.access import Reader
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
