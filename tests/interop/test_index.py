"""The index beside the real pi."""

from __future__ import annotations

import pytest

from benchmarks.generate import session_lines
from pivcs.objects.index import index_source
from pivcs.session.source import BytesSource
from tests.interop.pi import Pi

pytestmark = pytest.mark.interop


def test_index_finds_the_parents_and_the_leaf_that_pi_finds(pi: Pi) -> None:
    data = b"".join(session_lines(400_000, seed=5))
    (theirs,) = pi.open([data])
    table, _ = index_source(BytesSource(data))
    parents = {}
    for row in table.nodes():
        above = table.parent_of(row)
        parents[table.name(row)] = None if above is None else table.name(above)
    entries = theirs["entries"]
    assert isinstance(entries, list)
    assert parents == {entry["id"]: entry["parentId"] for entry in entries}
    last = table.last_node()
    assert last is not None
    assert table.name(last) == theirs["leaf"]
