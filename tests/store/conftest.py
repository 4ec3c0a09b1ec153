"""A store of each kind: what holds for one must hold for the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pivcs.store.store import Store
from tests.store.other_user import open_place

__all__ = ["open_place"]


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A new store, in memory and in a file."""
    opened = Store.in_memory() if request.param == "memory" else Store.open(tmp_path / "store.db", create=True)
    with opened:
        yield opened
