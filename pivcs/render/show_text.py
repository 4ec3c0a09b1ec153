"""One entry, all of it: as text and as a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import orjson

from pivcs.ops import log as ops
from pivcs.ops.log import LoggedEntry
from pivcs.ops.view import SHOWN_WHOLE, SessionView
from pivcs.render.amounts import format_bytes, plural
from pivcs.render.documents import encode, entry_document
from pivcs.render.log_text import NARROWEST, Looks, heading
from pivcs.render.style import Role
from pivcs.render.text import one_line, visible
from pivcs.render.width import wrap
from pivcs.session.fields import LineKind
from pivcs.session.parts import Part

PART_LINES: Final = 200
"""Lines of one part that are shown unless all of it is asked for."""
_MARKS: Final = {"removed": ("-", Role.DELETION), "added": ("+", Role.ADDITION), "thinking": ("|", Role.DIM)}


def entry_lines(view: SessionView, entry: LoggedEntry, looks: Looks, *, full: bool) -> Iterator[str]:
    """Yield an entry as text. Long parts are cut at `PART_LINES` with a count, unless `full`."""
    yield from heading(view, entry, looks)
    table = view.table
    offset, length = table.offset[entry.row], table.length[entry.row]
    yield f"Line:   {table.line_number(entry.row)}, {format_bytes(length)} at offset {offset}"
    if length > SHOWN_WHOLE:
        yield ""
        yield "    " + looks.styler(Role.WARNING, "too long to be shown; --raw writes it")
        return
    parts = ops.parts(view, entry.row)
    if not parts:
        yield ""
        yield "    " + one_line(view.subject(entry.row))
    before = ""
    for part in parts:
        if (before, part.kind) != ("removed", "added"):
            yield ""
        before = part.kind
        yield from _part_lines(part, looks, full=full)


def _part_lines(part: Part, looks: Looks, *, full: bool) -> Iterator[str]:
    style = looks.styler
    if part.kind == "call":
        yield "    " + style(Role.TOOL, f"> {one_line(part.title)}")
    elif part.title:
        yield "    " + style(Role.DIM if part.kind != "error" else Role.ERROR, one_line(part.title))
    elif part.kind == "thinking":
        yield "    " + style(Role.DIM, "thinking")
    lines = part.text.rstrip("\n").split("\n") if part.text else []
    shown = lines if full else lines[:PART_LINES]
    mark, role = _MARKS.get(part.kind, ("", Role.ERROR if part.kind == "error" else Role.PLAIN))
    indent = "    " + (mark + " " if mark else "")
    width = None if looks.columns is None else max(looks.columns - len(indent), NARROWEST)
    for line in shown:
        safe = visible(line.rstrip("\r"), keep="\t")
        for piece in [safe] if width is None else wrap(safe, width):
            yield (style(Role.PLAIN, indent) + style(role, piece)).rstrip(" ")
    if len(shown) < len(lines):
        yield "    " + style(Role.DIM, f"(+{plural(len(lines) - len(shown), 'line')}; --full shows all)")


def line_lines(view: SessionView, row: int, looks: Looks) -> Iterator[str]:
    """Yield a line that is no entry, as text."""
    table = view.table
    kind = LineKind(table.kind[row]).name.lower()
    yield looks.styler(Role.HEADING, f"line {table.line_number(row)} ({kind})")
    yield f"Offset: {table.offset[row]}, {format_bytes(table.length[row])}"
    length = min(table.length[row], 4096)
    yield ""
    text = visible(view.source.read_range(table.offset[row], length).decode("utf-8", "replace"), keep="")
    if text.strip():
        yield "    " + text
    if length < table.length[row]:
        yield "    " + looks.styler(Role.DIM, f"(+{plural(table.length[row] - length, 'byte')}; --raw writes all)")


def entry_json(entries: Iterable[tuple[SessionView, LoggedEntry]]) -> Iterator[bytes]:
    """Yield entries with their whole values as a JSON document.

    The value is the session's own text where JSON can carry it as it is, so numbers keep their spelling. It is null for
    a record that is too long to be shown.
    """
    yield b'{"schema":"pivcs.show/1","entries":['
    for number, (view, entry) in enumerate(entries):
        head = encode(entry_document(view, entry))
        yield (b",\n" if number else b"\n") + head[:-1] + b',"value":' + _value(view, entry.row) + b"}"
    yield b"\n]}\n"


def _value(view: SessionView, row: int) -> bytes:
    if view.table.length[row] > SHOWN_WHOLE:
        return b"null"
    record = view.record(row).strip(b" \t\r\n")
    try:
        orjson.loads(record)
    except orjson.JSONDecodeError:
        # Not UTF-8, or lone surrogates, which are fine as escapes: the text is JSON for other readers all the same.
        return record.decode("utf-8", "replace").encode()
    return record
