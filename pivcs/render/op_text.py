"""Operations and what they changed, as text and as documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from pivcs.ops.appended import value_text
from pivcs.ops.operation_log import LoggedOperation
from pivcs.ops.operations import Undone
from pivcs.render.amounts import plural
from pivcs.render.documents import Document, time_text
from pivcs.render.log_text import Looks, fitted
from pivcs.render.style import Role, Span
from pivcs.render.text import one_line, visible
from pivcs.store.refs import Operation, RefChange

SHOWN_CHANGES: Final = 10
_OID: Final = 12
"""Hexadecimal digits of an object id that a change shows."""


def operation_lines(logged: LoggedOperation, looks: Looks, *, full: bool) -> Iterator[str]:
    """Yield an operation and, below it, its changes; without `full` at most `SHOWN_CHANGES`."""
    operation = logged.operation
    keys = {change.session for change in logged.changes}
    session = f"  session {next(iter(keys)).hex()[:8]}" if len(keys) == 1 else ""
    yield looks.styler.spans(
        fitted(
            [
                (Role.ID, f"op {operation.id}"),
                (Role.DIM, f"  {looks.when(operation.time)}  "),
                (Role.PLAIN if operation.kind == "sync" else Role.HEADING, f"{operation.kind:<4}"),
                (Role.DIM, session),
                (Role.PLAIN, "  " + one_line(operation.command)),
            ],
            looks.columns,
        )
    )
    shown = logged.changes if full else logged.changes[:SHOWN_CHANGES]
    for line in changes_lines(shown, looks):
        yield "    " + line
    left = len(logged.changes) - len(shown)
    if left:
        yield "    " + looks.styler(Role.DIM, f"(+{plural(left, 'change')}; --full lists them)")


def _change(change: RefChange) -> list[Span]:
    if change.ref in ("label", "session-name"):
        return _text_change(change)
    if change.ref == "entries":
        return _appended(change)
    if change.ref == "files":
        counts = visible(value_text(change.new) or value_text(change.old) or "", keep="")
        return [(Role.PLAIN, f"files {counts}  in {visible(change.name, keep='')}")]
    if change.ref == "file":
        said = "deleted" if change.new is None else "restored"
        return [(Role.PLAIN, f"{said} "), (Role.PLAIN, visible(change.name, keep=""))]
    if change.ref == "forgotten":
        oid = change.old.hex()[:_OID] if change.old is not None else ""
        return [(Role.PLAIN, "forgotten "), (Role.ID, visible(change.name, keep="")), (Role.PLAIN, f"  {oid}")]
    if change.ref == "snapshot":
        said = "deleted" if change.new is None else "taken" if change.old is None else "changed"
        return [(Role.PLAIN, "snapshot "), (Role.LABEL, visible(change.name, keep="")), (Role.PLAIN, f"  {said}")]
    name: list[Span] = [
        (Role.PLAIN, f"{change.ref} "),
        (Role.BRANCH if change.ref == "branch" else Role.LABEL, visible(change.name, keep="")),
        (Role.PLAIN, "  "),
    ]
    old = change.old.hex()[:_OID] if change.old is not None else None
    new = change.new.hex()[:_OID] if change.new is not None else None
    if old is None:
        return [*name, (Role.PLAIN, "new, at "), (Role.ID, new or "")]
    if new is None:
        return [*name, (Role.PLAIN, "deleted, was at "), (Role.ID, old)]
    return [*name, (Role.ID, old), (Role.PLAIN, " -> "), (Role.ID, new)]


def _text_change(change: RefChange) -> list[Span]:
    what: list[Span] = [(Role.PLAIN, change.ref.replace("-", " "))]
    if change.ref == "label":
        what += [(Role.PLAIN, " of "), (Role.ID, visible(change.name, keep=""))]
    old, new = value_text(change.old), value_text(change.new)
    if new is None:
        return [*what, (Role.PLAIN, "  cleared, was "), _quoted(old)]
    before: list[Span] = [_quoted(old), (Role.PLAIN, " -> ")] if old is not None else []
    return [*what, (Role.PLAIN, "  "), *before, _quoted(new)]


def _quoted(text: str | None) -> Span:
    return (Role.LABEL, f'"{one_line(text)}"' if text else "none")


def _appended(change: RefChange) -> list[Span]:
    return [
        (Role.PLAIN, "appended "),
        (Role.ID, visible(change.name, keep="")),
        (Role.PLAIN, "  up to "),
        (Role.ID, (change.new or b"").hex()[:_OID]),
    ]


def changes_lines(changes: Iterable[RefChange], looks: Looks) -> Iterator[str]:
    """Yield a line for each change of a ref; a branch that goes and one that comes in its place are a renaming."""
    gone: RefChange | None = None
    for change in changes:
        renamed = gone is not None and change.old is None and change.new == gone.old
        if gone is not None and not renamed:
            yield _painted(_change(gone), looks)
        if renamed:
            assert gone is not None
            yield _painted(_renaming(gone, change), looks)
            gone = None
        elif change.new is None and change.ref == "branch":
            gone = change
        else:
            gone = None
            yield _painted(_change(change), looks)
    if gone is not None:
        yield _painted(_change(gone), looks)


def _painted(spans: list[Span], looks: Looks) -> str:
    return looks.styler.spans(fitted(spans, looks.columns))


def _renaming(old: RefChange, new: RefChange) -> list[Span]:
    return [
        (Role.PLAIN, f"{old.ref} "),
        (Role.BRANCH, visible(old.name, keep="")),
        (Role.PLAIN, " -> "),
        (Role.BRANCH, visible(new.name, keep="")),
        (Role.PLAIN, "  at "),
        (Role.ID, (new.new or b"").hex()[:_OID]),
    ]


def undone_lines(done: Undone, kind: str, looks: Looks) -> Iterator[str]:
    """Yield what an undo or redo was about, and what it set back."""
    said = "undone" if kind == "undo" else "done again"
    yield looks.styler.spans(
        fitted(
            [
                (Role.HEADING, f"{said}: "),
                (Role.ID, f"op {done.operation.id}"),
                (Role.DIM, f"  {looks.when(done.operation.time)}  "),
                (Role.PLAIN, one_line(done.operation.command)),
            ],
            looks.columns,
        )
    )
    for line in changes_lines(done.changes, looks):
        yield "    " + line


def operation_document(logged: LoggedOperation) -> Document:
    """Return an operation as a JSON object."""
    operation = logged.operation
    return {
        "id": operation.id,
        "time": time_text(operation.time),
        "kind": operation.kind,
        "command": operation.command,
        "about": operation.about,
        "changes": [change_document(change) for change in logged.changes],
    }


def change_document(change: RefChange) -> Document:
    """Return a change of a ref as a JSON object."""
    shown = value_text if change.ref in ("label", "session-name", "files") else _hex
    return {
        "session": change.session.hex(),
        "ref": change.ref,
        "name": change.name,
        "old": shown(change.old),
        "new": shown(change.new),
    }


def _hex(value: bytes | None) -> str | None:
    return value.hex() if value is not None else None


def changes_document(changes: Sequence[RefChange], about: Operation | None = None) -> Document:
    """Return what a command changed as a JSON document; `about` is the operation that was undone or done again."""
    return {
        "schema": "pivcs.refs/1",
        "about": about.id if about is not None else None,
        "command": about.command if about is not None else None,
        "changes": [change_document(change) for change in changes],
    }
