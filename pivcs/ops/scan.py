"""Looking through all that is kept of a session for secrets, once: what was looked through before is remembered.

Entries, headers and other lines of JSON are looked through string by string, as they are once escapes are resolved. Of
lines that are no JSON the text is looked through: they leave the machine as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Final, NamedTuple

from pivcs.objects.table import DOUBLED
from pivcs.ops.access import view_of
from pivcs.ops.live_file import LiveReading
from pivcs.ops.records import iter_records
from pivcs.ops.scan_strings import KEY, Texts, place_of
from pivcs.ops.scan_text import find_secrets, masked, rules_version
from pivcs.ops.view import SessionView
from pivcs.session.describe import LONGEST
from pivcs.session.fields import LineKind
from pivcs.session.jsontext import NotJson, parse_json
from pivcs.store.errors import StoreBusy, StoreFull, StoreReadOnly
from pivcs.store.scans import Scanned, ScannedSecret
from pivcs.store.store import Store

BATCH: Final = 1 << 20
"""Characters of texts that are looked through at once."""
OVERLAP: Final = 1 << 14
"""Bytes that the pieces of a line have in common which is too long to be parsed."""
PENDING: Final = "the unfinished last line"

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([\"\\/bfnrt]))")
_ESCAPED: Final = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class Finding(NamedTuple):
    """A secret that was found. `entry` is what the entry or line is called, empty for the unfinished last line, and
    `row` its row in the stream; `place` where in the entry, `line` the line's number in the text there.

    `fingerprint` stands for rule and secret, and `excerpt` is as much of the secret as may be shown. An id may be a
    secret, too, so `entry` has what is secret in it cut short.
    """

    row: int | None
    entry: str
    rule: str
    place: str
    line: int
    fingerprint: str
    excerpt: str


class SessionScan(NamedTuple):
    """What was found in a session, in the order of its lines. `read` is the number of bytes that had to be read; the
    rest of `size` bytes was looked through before."""

    view: SessionView
    findings: tuple[Finding, ...]
    read: int
    size: int


Advance = Callable[[int], None]


def scan_session(view: SessionView, advance: Advance = lambda _: None) -> SessionScan:
    """Look through all streams that are kept of a session: its sources and their generations leave with it.

    What several of them have is found once, in the stream of `view` if it is in there. `advance` is told of bytes done.
    """
    seen: set[tuple[str, str, str, int]] = set()
    findings: list[Finding] = []
    read = size = 0
    for stream in _streams(view):
        scan = scan_stream(stream, advance)
        read, size = read + scan.read, size + scan.size
        for finding in scan.findings:
            entry = "" if finding.row is None else stream.table.name(finding.row)
            same = (finding.fingerprint, entry, finding.place, finding.line)
            if same not in seen:
                seen.add(same)
                findings.append(finding if stream is view else finding._replace(row=None))
    return SessionScan(view, tuple(findings), read, size)


def _streams(view: SessionView) -> Iterator[SessionView]:
    yield view
    if view.store is not None and view.stream is not None and view.stream.session is not None:
        for stream in view.store.streams_of_session(view.stream.session):
            if stream.id != view.stream.id:
                yield view_of(view.store, stream)


def scan_stream(view: SessionView, advance: Advance = lambda _: None) -> SessionScan:
    """Look through one stream; of one in the store only what has come since the last time, and remember it there."""
    known = _known(view)
    first = 0 if known is None else known.rows
    found = [] if known is None else list(known.secrets)
    start = 0 if known is None else known.end
    new = list(_new_secrets(view, first, advance))
    found += new
    if view.table.end > start:
        _remember(view, Scanned(rules_version(), len(view.table), view.table.end, tuple(found)))
    findings = [_finding(view, secret) for secret in found]
    if view.table.pending:
        data = view.source.read_range(view.table.end, view.table.pending)
        batch = Texts()
        batch.begin(None)
        _add_line(batch, data)
        findings += [_finding(view, secret) for secret in _secrets(batch)]
    size = view.table.end + view.table.pending
    return SessionScan(view, tuple(findings), size - start, size)


def bytes_left(view: SessionView) -> int:
    """Return how many bytes of a session's own stream were not looked through yet."""
    known = _known(view)
    return view.table.end - (0 if known is None else known.end)


def _known(view: SessionView) -> Scanned | None:
    if view.store is None or view.stream is None:
        return None
    known = view.store.scans.scanned(view.stream.id)
    if known is None or known.rules != rules_version() or known.rows > len(view.table):
        return None
    return known


def _remember(view: SessionView, scanned: Scanned) -> None:
    """Note what was found, where that can be done, unless the stream has changed meanwhile."""
    store: Store | None = view.store
    if store is None or view.stream is None or store.read_only:
        return
    with suppress(StoreBusy, StoreReadOnly, StoreFull), store.writing():
        if store.stream(view.stream.id) == view.stream:
            store.scans.put_scanned(view.stream.id, scanned)


def _finding(view: SessionView, secret: ScannedSecret) -> Finding:
    entry = "" if secret.row is None else _shown(view.table.name(secret.row))
    return Finding(
        secret.row, entry, secret.rule, secret.place, secret.line, secret.fingerprint, secret.excerpt
    )


def _new_secrets(view: SessionView, first: int, advance: Advance) -> Iterator[ScannedSecret]:
    """Yield what is found in the rows from `first` on."""
    table = view.table
    rows = [
        row
        for row in range(first, len(table))
        if table.kind[row] != LineKind.BLANK and not table.flags[row] & DOUBLED
    ]
    batch = Texts()
    with LiveReading(view) as read:
        for row, record in zip(rows, iter_records(view, rows, read), strict=True):
            batch.begin(row)
            if record is not None:
                _add_line(batch, record)
            else:
                for text in _texts_in_pieces(view, row):
                    batch.add_text(text)
                    yield from _secrets(batch)
                    batch.begin(row)
            if batch.size >= BATCH:
                yield from _secrets(batch)
            advance(table.length[row])
    yield from _secrets(batch)


def _add_line(batch: Texts, record: bytes) -> None:
    """Add the strings of a line, or its text when it is no JSON."""
    try:
        value = parse_json(record)
    except NotJson:
        batch.add_text(_unescaped(record.decode("utf-8", "replace")))
        return
    batch.add_value(value)


def _texts_in_pieces(view: SessionView, row: int) -> Iterator[str]:
    """Yield the text of a line that is too long to be parsed, in pieces that overlap."""
    held = b""
    for piece in view.iter_record(row):
        data = held + piece
        yield _unescaped(data.decode("utf-8", "replace"))
        held = data[-OVERLAP:]


def _unescaped(text: str) -> str:
    """Return a text with JSON's escapes resolved, though it is no JSON as a whole."""

    def resolved(found: re.Match[str]) -> str:
        return chr(int(found[1], 16)) if found[1] else _ESCAPED[found[2]]

    return _ESCAPE.sub(resolved, text) if "\\" in text else text


def _secrets(batch: Texts) -> Iterator[ScannedSecret]:
    """Yield what is found in a batch, and make room in it."""
    last: ScannedSecret | None = None
    found: set[int] = set()
    for hit in find_secrets(batch.texts, batch.names):
        found.add(hit.text)
        text, name = batch.texts[hit.text], batch.names[hit.text]
        place = place_of(batch.wheres[hit.text], _shown) + (" (key)" if name == KEY else "")
        line = 1 + text.count("\n", 0, hit.start)
        secret = ScannedSecret(batch.row_of(hit.text), hit.rule, place, line, hit.fingerprint(), hit.excerpt())
        if secret != last:  # a line may have one twice
            yield secret
        last = secret
    batch.forget(found)


_shown: Final = lru_cache(maxsize=1024)(masked)


def safe_title(view: SessionView) -> str:
    """Return a session's name, its first prompt or where it is, with what is secret in it cut short."""
    title = view.name or view.first_prompt or view.where
    if len(title) >= LONGEST:  # a secret that is cut off looks like none
        title = f"{' '.join(title.split()[:-1])}…"
    return masked(title)
