"""What restoring files would do or has done, as text and as a document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pivcs.ops.log import logged
from pivcs.ops.restore_apply import Applied, Restored
from pivcs.ops.restore_plan import ACTIONS, Action, PlannedFile, RestorePlan
from pivcs.ops.view import SessionView
from pivcs.render.amounts import plural
from pivcs.render.diff_text import unified_lines
from pivcs.render.documents import Document
from pivcs.render.log_text import Looks, fitted, subject_spans
from pivcs.render.style import Role, Span
from pivcs.render.text import visible
from pivcs.store.kept import CHANGED, DONE

_ROLES: Final[dict[Action, Role]] = {
    "create": Role.ADDITION, "change": Role.PLAIN, "mode": Role.PLAIN, "delete": Role.DELETION,
    "conflict": Role.ERROR, "unknown": Role.WARNING, "refused": Role.WARNING, "outside": Role.DIM,
}  # fmt: skip
_DONE: Final[dict[Action, str]] = {
    "create": "created", "change": "changed", "mode": "mode set", "delete": "deleted",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shown:
    """A plan with what it is about: the entry, the directory, what the base is, and what was done, if anything was."""

    view: SessionView
    row: int
    directory: Path
    plan: RestorePlan
    note: str
    applied: Applied | None = None


def restore_lines(shown: Shown, looks: Looks, *, how: str | None) -> Iterator[str]:
    """Yield what is done to which file; with `how`, the options that do it, the plan is one that can be applied."""
    view, row = shown.view, shown.row
    name: list[Span] = [(Role.ID, visible(view.table.name(row), keep="")), (Role.PLAIN, " ")]
    about = subject_spans(logged(view, row), view.subject(row))
    yield looks.styler.spans(fitted([(Role.HEADING, "files at "), *name, *about], looks.columns))
    yield looks.styler(Role.DIM, f"in {visible(str(shown.directory), keep='')}")
    yield looks.styler(Role.DIM, visible(shown.plan.snapshot or shown.note, keep=""))
    outcomes = _outcomes(shown.applied)
    for action in ACTIONS:
        for file in shown.plan.files:
            if file.action == action != "unchanged":
                yield looks.styler.spans(fitted(_spans(file, view, outcomes.get(id(file))), looks.columns))
    yield _summary(shown, looks)
    if how is not None and shown.plan.to_do():
        yield looks.styler(Role.DIM, f"nothing was written; {how} does it, and `pivcs undo` takes that back")
    if shown.applied is None and shown.plan.counts()["conflict"]:
        yield looks.styler(Role.DIM, "conflicts are left alone; --force overwrites them, too")


def patch_lines(plan: RestorePlan, old: Mapping[str, bytes], looks: Looks) -> Iterator[str]:
    """Yield the changes of a plan as unified diffs; `old` has what files have on the disk."""
    for file in plan.files:
        changes = file.action in ("create", "change", "delete", "conflict")
        if changes and file.wanted is not None and (file.action == "create" or file.path.text in old):
            yield from unified_lines(file.path, old.get(file.path.text), file.wanted.content, looks)


def _outcomes(applied: Applied | None) -> dict[int, Restored]:
    return {} if applied is None else {id(restored.file): restored for restored in applied.files}


def _spans(file: PlannedFile, view: SessionView, restored: Restored | None) -> list[Span]:
    action, reason, role = file.action.ljust(8), file.reason, _ROLES[file.action]
    if restored is not None and restored.outcome == DONE:
        action = _DONE[file.action].ljust(8)
    elif restored is not None:
        action, role = "left    " if restored.outcome == CHANGED else "failed  ", Role.ERROR
        reason = restored.reason or "it was not tried any more"
    since = _since(file, view)
    details = [part for part in (file.source if restored is None else None, reason, since) if part]
    if file.forced:
        details.append("forced")
    spans = [(role, action), (Role.PLAIN, "  " + visible(file.path.text, keep=""))]
    return [*spans, (Role.DIM, "  (" + visible("; ".join(details), keep="") + ")")] if details else spans


def _since(file: PlannedFile, view: SessionView) -> str | None:
    name = _since_name(file, view)
    return f"since {name}" if name is not None else None


def _since_name(file: PlannedFile, view: SessionView) -> str | None:
    """Return the entry since which a file is not known."""
    since = file.state.unknown_since if file.state is not None and file.action == "unknown" else None
    return view.table.name(since) if since is not None and since >= 0 else None


def _summary(shown: Shown, looks: Looks) -> str:
    counts = shown.plan.counts()
    words = [f"{counts[action]:,} {_count_word(action)}" for action in ACTIONS if counts[action]]
    if shown.applied is None:
        return looks.styler(Role.HEADING, ", ".join(words) or "no file is known there")
    done = len(shown.applied.files) - shown.applied.undone
    operation = f" (op {shown.applied.operation})" if shown.applied.operation is not None else ""
    left = f", {plural(shown.applied.undone, 'file')} not" if shown.applied.undone else ""
    if not shown.applied.files:
        return looks.styler(Role.HEADING, f"nothing to do: {', '.join(words) or 'no file is known there'}")
    return looks.styler(Role.HEADING, f"{plural(done, 'file')} restored{left}{operation}")


def _count_word(action: Action) -> str:
    words = {"mode": "with another mode", "conflict": "in conflict", "delete": "to delete", "change": "to change"}
    return words.get(action, "to create" if action == "create" else action)


def restore_document(shown: Shown) -> Document:
    """Return the same as a JSON document."""
    outcomes = _outcomes(shown.applied)
    return {
        "schema": "pivcs.restore/1",
        "source": shown.view.where,
        "key": shown.view.key.hex if shown.view.key is not None else None,
        "entry": shown.view.table.name(shown.row),
        "oid": shown.view.table.digest(shown.row).hex(),
        "directory": str(shown.directory),
        "base": shown.note,
        "snapshot": shown.plan.snapshot,
        "applied": shown.applied is not None,
        "operation": shown.applied.operation if shown.applied is not None else None,
        "counts": dict(shown.plan.counts()),
        "files": [_file_document(file, shown.view, outcomes.get(id(file))) for file in shown.plan.files],
    }


def _file_document(file: PlannedFile, view: SessionView, restored: Restored | None) -> Document:
    return {
        "path": file.path.text,
        "inside": file.path.inside,
        "action": file.action,
        "reason": file.reason,
        "provenance": file.state.provenance.value if file.state is not None else None,
        "base": file.state.base if file.state is not None else None,
        "since": _since_name(file, view),
        "forced": file.forced,
        "outcome": restored.outcome if restored is not None else None,
        "failure": restored.reason if restored is not None else None,
    }
