"""The vectors of `docs/format.md`, "Store": what one sync of a stream stores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pivcs.ops.sync import sync_file
from pivcs.store.rows import id_number
from pivcs.store.store import Store
from tests.builders import CLOCK
from tests.objects import reference

_VECTORS = reference.load("store.json")


@pytest.mark.parametrize("vector", _VECTORS["streams"], ids=lambda vector: vector["name"])
def test_what_a_sync_stores(vector: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(reference.bytes_of(vector))
    with Store.in_memory() as store:
        stream = sync_file(store, path, CLOCK).stream
        assert stream is not None
        segments = store.database.connection.execute("SELECT first_row, data FROM segment").fetchall()
        assert [(first, data.hex()) for first, data in segments] == [(0, vector["segment"])]
        assert stream.probes.hex() == vector["probes"]
        assert json.loads(stream.summary) == vector["summary"]


def test_numbers_of_ids() -> None:
    assert [id_number(each["id"]) for each in _VECTORS["numbers"]] == [each["number"] for each in _VECTORS["numbers"]]
    assert len(_VECTORS["numbers"]) > 5
