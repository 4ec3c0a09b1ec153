"""The files of two entries compared: as diffs, as a list with counts, as names, as documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from pivcs.ops.file_diff import FileDiff
from pivcs.render.amounts import plural
from pivcs.render.columns import column_lines
from pivcs.render.diff_text import CONTEXT, diff_lines, is_binary, name_bytes, patch_bytes, quoted, shown
from pivcs.render.documents import Document
from pivcs.render.log_text import Looks
from pivcs.render.style import Role, Span
from pivcs.render.text import visible
from pivcs.workspace.state import FileState

_LETTERS: Final = {"added": "A", "deleted": "D", "modified": "M", "unknown": "?"}
_GRAPH: Final = 30
"""Columns of the marks behind the counts of a list."""


class Counts(NamedTuple):
    """Lines that a diff adds and removes; None for a binary file."""

    added: int
    removed: int


def counts_of(diff: FileDiff) -> Counts | None:
    """Return how many lines a file's diff adds and removes; None for a binary file."""
    lines = list(diff_lines(diff.path, diff.before, diff.after, 0))
    if any(line.text.startswith(b"Binary files ") and line.role is Role.PLAIN for line in lines):
        return None
    added = sum(line.role is Role.ADDITION for line in lines)
    return Counts(added, sum(line.role is Role.DELETION for line in lines))


def file_diff_lines(diffs: Sequence[FileDiff], looks: Looks, context: int = CONTEXT) -> Iterator[str]:
    """Yield the diffs of files for people; what is not known exactly is said above a diff, or instead of it."""
    for diff in diffs:
        lines = list(shown(diff_lines(diff.path, diff.before, diff.after, context), looks))
        if not lines:
            yield looks.styler(Role.HEADING, f"{visible(diff.path.text, keep='')} may differ")
        yield from lines[:1]
        for note in diff.notes:
            yield looks.styler(Role.WARNING, f"({note})")
        yield from lines[1:]
        for patch in _patches(diff):
            yield looks.styler(Role.WARNING, "(a change of which the whole file is not known)")
            for line in patch.rstrip("\n").split("\n"):
                role = {"+": Role.ADDITION, "-": Role.DELETION}.get(line[:1], Role.PLAIN)
                yield looks.styler(role, visible(line.rstrip("\r"), keep="\t"))


def _patches(diff: FileDiff) -> tuple[str, ...]:
    """Return the changes that only the second side has, of a file that is not known as a whole there."""
    one, two = diff.before_state, diff.after_state
    if two is None or not two.patches:
        return ()
    shared = one.patches if one is not None and two.patches[: len(one.patches)] == one.patches else ()
    return two.patches[len(shared) :]


def file_diff_bytes(diffs: Sequence[FileDiff], context: int = CONTEXT) -> Iterator[bytes]:
    """Yield the diffs of files as `git apply` takes them, without those that `left_out` names."""
    for diff in diffs:
        if left_out(diff) is None:
            yield from patch_bytes(diff.path, diff.before, diff.after, context)


def left_out(diff: FileDiff) -> str | None:
    """Return why a file cannot be in a patch for `git apply`; None when it can."""
    if diff.status == "unknown":
        return "; ".join(diff.notes)
    if not diff.path.inside:
        # git would take `/etc/hosts` for the file `etc/hosts` of the work tree.
        return "it is outside of the working directory"
    if is_binary(diff.before) or is_binary(diff.after):
        return "it is binary"
    return None


def stat_lines(diffs: Sequence[FileDiff], looks: Looks) -> Iterator[str]:
    """Yield a line a file with the number of changed lines, and the sums, as `git diff --stat` does."""
    counted = [(diff, None if diff.status == "unknown" else counts_of(diff)) for diff in diffs]
    most = max((sum(counts) for _, counts in counted if counts is not None), default=0)
    rows: list[list[Span]] = []
    for diff, counts in counted:
        path = (Role.PLAIN, visible(diff.path.text, keep=""))
        if counts is None:
            what = "not known" if diff.status == "unknown" else "binary"
            rows.append([path, (Role.WARNING, what), (Role.PLAIN, "")])
            continue
        scale = min(1.0, _GRAPH / most) if most else 1.0
        plus, minus = (_scaled(count, scale) for count in counts)
        rows.append([path, (Role.PLAIN, str(sum(counts))), (Role.PLAIN, looks.styler.spans(
            [(Role.ADDITION, "+" * plus), (Role.DELETION, "-" * minus)]
        ))])  # fmt: skip
    # The marks are painted already, so the last column must not be cut.
    yield from column_lines(rows, looks._replace(columns=None), right=frozenset((1,)))
    known = [counts for _, counts in counted if counts is not None]
    added, removed = sum(counts.added for counts in known), sum(counts.removed for counts in known)
    yield f"{plural(len(diffs), 'file')} changed, {plural(added, 'insertion')}(+), {plural(removed, 'deletion')}(-)"


def _scaled(count: int, scale: float) -> int:
    return max(1, round(count * scale)) if count else 0


def name_status_lines(diffs: Sequence[FileDiff]) -> Iterator[str]:
    """Yield a letter (A, D, M, ?) and the path of each file."""
    for diff in diffs:
        yield f"{_LETTERS[diff.status]}\t{visible(quoted(name_bytes(diff.path)).decode('utf-8', 'replace'))}"


def file_diff_document(diff: FileDiff, context: int = CONTEXT) -> Document:
    """Return a file that differs as a document; `patch` is null where nothing exact can be said."""
    counts = None if diff.status == "unknown" else counts_of(diff)
    patch = b"".join(patch_bytes(diff.path, diff.before, diff.after, context)) if diff.status != "unknown" else None
    return {
        "path": diff.path.text,
        "inside": diff.path.inside,
        "status": diff.status,
        "added": None if counts is None else counts.added,
        "removed": None if counts is None else counts.removed,
        "notes": list(diff.notes),
        "before": _side(diff.before_state),
        "after": _side(diff.after_state),
        "patch": None if patch is None else patch.decode("utf-8", "replace"),
    }


def _side(state: FileState | None) -> Document | None:
    if state is None:
        return None
    size = None if state.content is None else len(state.content)
    return {"provenance": state.provenance.value, "size": size, "patches": len(state.patches)}
