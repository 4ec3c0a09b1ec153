"""Session files with a fault, as commands and operations see them."""

from __future__ import annotations

from pathlib import Path

from pivcs.ops import log as ops
from pivcs.ops.status import status_of
from pivcs.ops.view import SessionView, open_file
from tests.builders import header_line, message_line

H = header_line()


def E(ident: str, parent: str | None = None, text: str = "text", role: str = "user") -> bytes:  # noqa: N802
    """A minimal message entry; one letter stands for an id of eight."""
    full = ident * 8 if len(ident) == 1 else ident
    above = parent * 8 if parent is not None and len(parent) == 1 else parent
    return message_line(full, above, role, text)


def opened(tmp_path: Path, data: bytes) -> SessionView:
    """Write a file and read it; it must still be the same afterwards."""
    path = tmp_path / "session.jsonl"
    path.write_bytes(data)
    view = open_file(path)
    table = view.table
    ends = [table.offset[row] + table.length[row] for row in range(len(table)) if table.kind[row] != 6]
    starts = [table.offset[row] for row in range(len(table)) if table.kind[row] != 6]
    joined = b"".join(data[start:end] + b"\n" for start, end in zip(starts, ends, strict=True))
    assert joined + data[table.end :] == data == path.read_bytes()
    assert sum(table.counts().values()) == table.line_count()
    return view


def ids(view: SessionView) -> list[str]:
    """Names of the nodes in file order; repeated letters are cut to one."""
    names = [view.table.name(row) for row in view.table.nodes()]
    return [name[0] if len(name) == 8 and len(set(name)) == 1 else name for name in names]


def found(view: SessionView) -> list[tuple[str, int]]:
    """Kind and line of the findings."""
    return [(finding.kind, finding.line) for finding in status_of(view).findings]


def texts(view: SessionView) -> list[str]:
    """What the log says of each node of the tree, oldest first."""
    return [view.subject(row) for row in reversed(ops.rows_of_tree(view))]
