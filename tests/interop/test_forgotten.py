"""The real pi opens a session in which entries were forgotten: they keep their place in its tree and say nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from pivcs.ops.access import view_of
from pivcs.ops.forget import forget, plan_forget
from pivcs.store.store import Store
from tests.builders import build_session
from tests.interop.pi import Pi
from tests.interop.test_reading import comparable, our_answer
from tests.ops.syncing import NOW, Box
from tests.store.filling import bytes_of

pytestmark = pytest.mark.interop


@pytest.mark.parametrize("name", ["a", "b", "c", "d"])
def test_forgotten_entry_keeps_its_place_in_pis_tree(pi: Pi, tmp_path: Path, name: str) -> None:
    data = build_session("a-b-c, b-d", kinds={"d": "name"}, texts={"d": "A name."}, leaf="c")
    with Store.in_memory() as store:
        view = view_of(store, Box(tmp_path, store).put(data))
        row = view.table.row_named(name * 8)
        assert row is not None
        forget(view, plan_forget(view, row), row, NOW)
        stored = bytes_of(store, store.streams()[0])
    before, after = pi.open([data, stored])
    assert comparable(after) == our_answer(stored, after)
    assert after["ids"] == before["ids"]
    assert after["leaf"] == before["leaf"]
    assert after["tree"] == before["tree"]
