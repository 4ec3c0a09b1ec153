"""What one line is, for a line that is held whole."""

from __future__ import annotations

import orjson

from pivcs.session.fields import Fields, LineKind, Record, Verdict, fields_of, is_entry, is_header
from pivcs.session.jsonscan import JsonScanner
from pivcs.session.jsontext import is_blank
from pivcs.session.salvage import salvage


def classify_line(line: bytes, *, version1: bool) -> Verdict:
    """Return what a line without its LF is (pi format 2.3, `docs/format.md`, "Lines").

    `version1`: the first header of the file has no version or one below 2, so that every object but headers is an
    entry (pi format 8).
    """
    utf8 = True
    try:
        value: object = orjson.loads(line)
    except orjson.JSONDecodeError:
        if is_blank(line):
            return Verdict(LineKind.BLANK)
        utf8 = _is_utf8(line)
        # Scanned, not parsed: values would take a hundred times the memory of a line of brackets.
        scanner = JsonScanner()
        taken = scanner.feed(line)
        scanner.finish()
        if scanner.state != "done" or line[taken:].strip(b" \t\n\r"):
            return verdict_of_torn(salvage(line, version1=version1), utf8=utf8)
        fields = scanner.fields if scanner.is_object else None
    else:
        fields = fields_of(value) if isinstance(value, dict) else None
    return verdict_of_value(fields, len(line), version1=version1, utf8=utf8)


def verdict_of_value(fields: Fields | None, length: int, *, version1: bool, utf8: bool) -> Verdict:
    """Return what a line of `length` bytes is that holds one JSON value; `fields` is None unless it is an object."""
    if fields is not None:
        records = (Record(0, length, fields),)
        if is_header(fields):
            return Verdict(LineKind.HEADER, records, utf8)
        if is_entry(fields, version1=version1):
            return Verdict(LineKind.ENTRY, records, utf8)
    return Verdict(LineKind.FOREIGN, (), utf8)


def verdict_of_torn(records: tuple[Record, ...], *, utf8: bool) -> Verdict:
    """Return what a line is that holds no JSON value, but these records."""
    return Verdict(LineKind.GLUED if records else LineKind.DAMAGED, records, utf8)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
