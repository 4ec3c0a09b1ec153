"""What `fsck` found, as text and as a document: what each finding means and what to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from pivcs.ops.fsck_finding import ERROR, INFO, WARNING, Finding
from pivcs.render.amounts import format_bytes, plural
from pivcs.render.documents import Document, streamed
from pivcs.render.log_text import Looks
from pivcs.render.style import Role
from pivcs.render.text import one_line

SHOWN_ALIKE: Final = 10
"""Findings of one kind in one file that are listed."""

_BACKUP: Final = "take the latest `pivcs store backup`, or sync the session files into a new store (--store)"
_RESTORE: Final = "keep this store, and sync the session file, if it still exists, into a new one (--store)"
_REBUILD: Final = "the bytes are good: `pivcs cat FILE` gives them; sync them into a new store (--store)"
_KEPT: Final = "`pivcs cat FILE` gives the bytes that were there; `pivcs sync` keeps both"
_PI: Final = "nothing, if pi shows the session as you expect"

MEANING: Final[dict[str, tuple[str, str]]] = {
    "database-damaged": ("the store's file is damaged", _BACKUP),
    "dangling-reference": ("rows of the store do not fit together", _RESTORE),
    "chunk-missing": ("bytes are missing: a chunk is not there", _RESTORE),
    "chunk-unreadable": ("bytes cannot be read: a chunk is damaged", _RESTORE),
    "chunk-changed": ("bytes are not what was stored", _RESTORE),
    "tail-unreadable": ("the last bytes cannot be read", _RESTORE),
    "bytes-missing": ("the stored pieces do not follow each other", _RESTORE),
    "segment-unreadable": ("rows of the index cannot be read", _REBUILD),
    "rows-missing": ("rows of the index are missing", _REBUILD),
    "rows-differ": ("the index says something else than the bytes", _REBUILD),
    "id-unknown": ("ids are missing in the list of known ids", _REBUILD),
    "facts-differ": ("facts about the stream are not what its bytes say", _REBUILD),
    "key-differs": ("the session key is not what the bytes say", _REBUILD),
    "summary-differs": ("the summary for lists is not what the bytes say", _REBUILD),
    "labels-differ": ("the labels for lists are not what the lines say", _REBUILD),
    "branch-lost": ("a branch names no entry of the conversation", "`pivcs branch` shows and moves branches"),
    "probes-differ": ("pieces kept to recognise the file are wrong", "nothing: the next sync compares the whole file"),
    "kept-damaged": (
        "what an undo of a restore needs is damaged", "nothing brings it back; other files of the operation are good"
    ),
    "snapshot-damaged": (
        "files of a snapshot are missing or damaged", "nothing brings them back; `pivcs snapshot --delete` removes it"
    ),
    "chunks-unused": ("chunks that no session uses", "`pivcs gc --apply` removes them"),
    "erasure-unfinished": ("forgotten bytes may still stand in free parts of the store's file", "`pivcs gc --apply`"),
    "entry-forgotten": ("an entry that was forgotten: its object id stays, its bytes are gone", "nothing"),
    "source-bytes-changed": ("the file was changed in this line", _KEPT),
    "source-line-changed": ("the file has another line here", _KEPT),
    "source-line-missing": ("lines are missing in the file from here on", _KEPT),
    "source-line-inserted": ("lines were inserted in the file before this one", _KEPT),
    "source-lines-swapped": ("lines of the file were swapped", _KEPT),
    "source-cut": ("the file ends here", _KEPT),
    "source-unreadable": ("the file cannot be read", "look at its permissions"),
    "source-gone": ("the file is not there any more", "nothing is lost: `pivcs cat FILE` gives its bytes"),
    "source-ahead": ("the file has grown since the last sync", "`pivcs sync`"),
    "source-touched": ("the file's times or place on the disk changed, its bytes did not", "nothing"),
    "source-has-forgotten": (
        "the file still has the bytes of a forgotten entry", "edit the file, or delete it with `pivcs delete`"
    ),
    "damaged-line": ("no JSON: pi skips this line", _PI),
    "glued-line": ("several records in one line: pi skips it", "`pivcs log` shows what was salvaged"),
    "missing-parent": ("the parent is not in the file above", _PI),
    "second-header": ("another header", _PI),
    "not-utf-8": ("bytes that are not UTF-8", _PI),
    "no-header": ("the file has no header: pi refuses it", "nothing is lost: `pivcs log FILE` shows it"),
    "two-writers": (
        "two programs wrote to this file at once: a turn goes on after lines of another",
        "`pivcs log --graph` shows both; keep one pi open for each session",
    ),
    "entries-without-id": (
        "entries of version 1 below a newer header: pi cannot link them",
        "the file that it was forked from has them as they were",
    ),
    "foreign-line": ("JSON, but no entry", _PI),
    "pending-line": ("no line end: a torn write, or one that is under way", "run it again when pi is done"),
}
"""What each finding means, and what to do."""

_COUNTED: Final = {
    "chunks-unused": "chunk",
    "source-ahead": "byte",
    "two-writers": "line",
    "entries-without-id": "line",
}
_ROLES: Final = {ERROR: Role.ERROR, WARNING: Role.WARNING, INFO: Role.DIM}


def message_of(finding: Finding) -> str:
    """Return what a finding says, without the place; raw text."""
    meaning = MEANING[finding.id][0]
    detail = finding.detail
    if finding.id in _COUNTED:
        detail = plural(int(detail), _COUNTED[finding.id])
    return f"{meaning} ({detail})" if detail else meaning


def fsck_lines(findings: Iterable[Finding], checked: int, size: int, looks: Looks, *, every: bool) -> Iterator[str]:
    """Yield a line for each finding, what to do about each kind, and how many there are; `checked` streams of `size`
    bytes were looked at. Without `every` only the first of many alike in one file are shown."""
    style = looks.styler
    counts: Counter[str] = Counter()
    alike: Counter[tuple[str, str | None]] = Counter()
    hints: dict[str, str] = {}
    path: str | None = None
    for finding in findings:
        counts[finding.severity] += 1
        alike[finding.id, finding.source] += 1
        hints.setdefault(finding.id, MEANING[finding.id][1])
        if not every and alike[finding.id, finding.source] > SHOWN_ALIKE:
            continue
        if finding.source is not None and finding.source != path:
            path = finding.source
            yield style(Role.HEADING, one_line(path))
        place = _place(finding)
        text = f"{finding.severity}: {place}{one_line(message_of(finding))}"
        indent = "  " if finding.source is not None else ""
        yield indent + style(_ROLES[finding.severity], text) + style(Role.DIM, f" [{finding.id}]")
    hidden = sum(count - SHOWN_ALIKE for count in alike.values() if count > SHOWN_ALIKE and not every)
    if hidden:
        yield style(Role.DIM, f"(+{plural(hidden, 'finding')}; --all shows them)")
    if hints:
        yield ""
        yield "What to do:"
        width = max(map(len, hints))
        for kind, hint in hints.items():
            yield f"  {kind:<{width}}  {hint}"
        yield ""
    parts = [plural(counts[kind], kind) if kind != INFO else f"{counts[kind]} info" for kind in _ROLES if counts[kind]]
    yield f"{plural(checked, 'stream')}, {format_bytes(size)}: {', '.join(parts) or 'all good'}"


def _place(finding: Finding) -> str:
    parts = []
    if finding.generation is not None and finding.generation > 1:
        parts.append(f"generation {finding.generation}")
    if finding.line is not None and finding.id != "no-header":
        parts.append(f"line {finding.line}")
    if finding.offset is not None and finding.id != "no-header":
        parts.append(f"offset {finding.offset}")
    return ", ".join(parts) + ": " if parts else ""


def fsck_document(findings: Iterable[Finding], store: str, checked: int, size: int) -> Iterator[bytes]:
    """Yield what was found as a JSON document, a finding a line."""
    head: Document = {"store": store, "streams": checked, "size": size}
    return streamed("pivcs.fsck/1", head, "findings", map(_finding, findings))


def _finding(finding: Finding) -> Document:
    return {
        "id": finding.id,
        "severity": finding.severity,
        "source": finding.source,
        "generation": finding.generation,
        "line": finding.line,
        "offset": finding.offset,
        "message": message_of(finding),
        "hint": MEANING[finding.id][1],
    }
