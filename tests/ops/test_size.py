"""Deep chains, many branches, long lines: answered, without recursion, in bounded memory."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

from pivcs.ops import log as ops
from pivcs.ops.revision import resolve
from pivcs.ops.status import status_of
from pivcs.render.log_graph import graph_lines
from pivcs.render.log_text import Looks, oneline
from pivcs.render.style import Styler
from tests.builders import header_line
from tests.ops.views import view_of

LOOKS = Looks(Styler(False))


def chain(count: int, parent_of: object = None) -> bytes:
    """A session of `count` entries; the parent's number comes from a function, else it is the one before."""
    find = parent_of if callable(parent_of) else lambda number: number - 1
    line = (
        '{"type":"message","id":"%08x","parentId":%s,"timestamp":"2026-01-01T00:00:00.000Z",'
        '"message":{"role":"user","content":"entry %d"}}\n'
    )
    parents = ("null" if number == 0 else f'"{find(number):08x}"' for number in range(count))
    return header_line() + "".join(line % (at, parent, at) for at, parent in enumerate(parents)).encode()


@contextmanager
def shallow_stack() -> Iterator[None]:
    """Let recursion over the session fail soon."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len_of_stack() + 150)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def len_of_stack() -> int:
    frame, depth = sys._getframe(), 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    return depth


def test_chain_of_200_000_entries():
    data = chain(200_000)
    with shallow_stack():
        view = view_of(data)
        rows = ops.rows_of_path(view, view.head)
        assert len(rows) == len(ops.rows_of_tree(view)) == 200_000
        lines = list(graph_lines(view, rows[:50] + rows[-50:], LOOKS, count=20))
        assert len(lines) >= 20
        assert view.table.name(resolve(view, "HEAD~199999")) == "00000000"
        assert len(ops.turns_of(view, rows)) == 1
        assert status_of(view).tips == 1
    assert oneline(ops.logged(view, rows[0]), view.subject(rows[0]), LOOKS).endswith("user: entry 199999")


def test_graph_of_a_long_chain_is_drawn_whole():
    view = view_of(chain(10_000))
    with shallow_stack():
        lines = list(graph_lines(view, ops.rows_of_tree(view), LOOKS))
    assert len(lines) == 10_000
    assert lines[-1] == "* 00000000 user: entry 0"


def test_20_000_branches_of_one_entry():
    view = view_of(chain(20_001, lambda number: 0))
    with shallow_stack():
        rows = ops.rows_of_tree(view)
        assert len(view.tips()) == 20_000
        assert rows[-1] == 1
        first = [line for _, line in zip(range(200), graph_lines(view, rows, LOOKS), strict=False)]
        assert first[0].startswith("@ 00004e20 (HEAD -> b-00004e20) user: ")
        whole = list(graph_lines(view, rows, LOOKS))
    assert sum(" user: entry " in line for line in whole) == 20_001
    assert max(map(len, whole)) < 200


def test_branches_that_part_at_10_000_places():
    # Every second entry has two children, one of which is a tip.
    view = view_of(chain(20_000, lambda number: number - 1 if number % 2 else number - 2))
    with shallow_stack():
        lines = list(graph_lines(view, ops.rows_of_tree(view), LOOKS))
    assert len(view.tips()) >= 9_999
    assert max(map(len, lines)) < 200


def test_columns_take_little_memory():
    data = chain(30_000)
    tracemalloc.start()
    try:
        view = view_of(data)
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(view.table) == 30_001
    assert held < 10_000_000
    assert peak < 25_000_000
