"""What `pivcs diff` shows: the page of a comparison, some of its sections, or its document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from pivcs.cli.bases import base_for, snapshots_on
from pivcs.cli.output import Output, warn
from pivcs.ops.compare_context import ContextDifference, compare_contexts
from pivcs.ops.comparison import Comparison, compare
from pivcs.ops.file_diff import FileDiff, file_diffs
from pivcs.ops.revision import Target
from pivcs.ops.view import SessionView
from pivcs.render.comparison_documents import comparison_document
from pivcs.render.comparison_text import Wanted, page_lines
from pivcs.render.comparison_turns import mark_of
from pivcs.render.documents import encode
from pivcs.render.file_diff_text import (
    file_diff_bytes,
    file_diff_document,
    file_diff_lines,
    left_out,
    name_status_lines,
    stat_lines,
)
from pivcs.render.spans import more
from pivcs.render.style import Role
from pivcs.render.text import one_line
from pivcs.render.word_diff_text import word_diff_lines
from pivcs.workspace.base import Base

FOLDED: Final = 40
"""Lines of diffs that the page shows unless all are asked for."""


class Asked(NamedTuple):
    """What is asked for beyond sections: only names of files (`only`, or `status` with what became of them), and what
    `--base` says. `words` marks changed words inside of the lines of files."""

    wanted: Wanted
    names: str | None = None
    words: bool = False
    base: str | None = None


class _Files:
    """The files of a comparison, found out when they are asked for."""

    def __init__(self, targets: Sequence[Target], base: str | None) -> None:
        self._targets = targets
        self._option = base
        self._bases: dict[int, Base | None] = {}

    def between(self, first: Target, second: Target, names: tuple[str, str]) -> list[FileDiff]:
        """Return how the files of two entries differ; `names` are what notes call these."""
        bases = self._base(first.view), self._base(second.view)
        snapshots = snapshots_on(first.view, first.row), snapshots_on(second.view, second.row)
        return file_diffs((first.view, first.row), (second.view, second.row), bases, names, snapshots)

    def of_two(self, comparison: Comparison) -> list[FileDiff]:
        """Return how the files of the first two sides differ."""
        first, second = comparison.sides[:2]
        return self.between(self._targets[0], self._targets[1], (one_line(first.name), one_line(second.name)))

    def _base(self, view: SessionView) -> Base | None:
        if id(view) not in self._bases:
            self._bases[id(view)] = base_for(view, self._option)[0]
        return self._bases[id(view)]


def show(targets: Sequence[Target], asked: Asked, output: Output, *, as_json: bool) -> bool:
    """Write a comparison; return whether the sides differ. Raises as `context_at` where contexts are asked for."""
    comparison = compare(targets)
    files = _Files(targets, asked.base)
    context: ContextDifference | None = None
    if "context" in asked.wanted.sections and len(targets) == 2:
        context = compare_contexts(targets[0], targets[1])
    if as_json:
        documents = [file_diff_document(each) for each in files.of_two(comparison)] if len(targets) == 2 else None
        output.bytes([encode(comparison_document(comparison, context=context, files=documents)), b"\n"])
    elif asked.names is not None:
        if len(targets) == 2:
            named = name_status_lines(files.of_two(comparison))
            output.lines(named if asked.names == "status" else (line.partition("\t")[2] for line in named))
        else:
            output.lines(_per_side(comparison, files, output))
    elif len(targets) == 2 and _is_patch(asked, output):
        diffs = files.of_two(comparison)
        for diff in diffs:
            why = left_out(diff)
            if why is not None:
                warn(f"'{diff.path.text}' is left out of the patch: {why}")
        output.bytes(file_diff_bytes(diffs, asked.wanted.context_lines))
    else:
        lines = _file_lines(comparison, files, asked, output) if _has_files(asked.wanted) else ()
        output.lines(page_lines(comparison, output.looks, asked.wanted, files=lines, context=context))
    return comparison.differs


def _is_patch(asked: Asked, output: Output) -> bool:
    """Whether nothing but diffs of files goes to a file or a pipe: `git apply` needs their exact bytes."""
    plain = not output.is_terminal and not output.looks.styler.colour and not asked.words
    return asked.wanted.sections == {"files"} and plain


def _has_files(wanted: Wanted) -> bool:
    return wanted.has("files") or "stat" in wanted.sections


def _file_lines(comparison: Comparison, files: _Files, asked: Asked, output: Output) -> Iterator[str]:
    """Yield how files differ: of two sides their diffs, of more sides what each changed since they parted."""
    wanted = asked.wanted
    if len(comparison.sides) != 2:
        yield from _per_side(comparison, files, output)
        return
    diffs = files.of_two(comparison)
    if not diffs:
        return
    if not wanted.has("files"):
        yield from stat_lines(diffs, output.looks)
        return
    diffed = word_diff_lines if asked.words else file_diff_lines
    lines = list(diffed(diffs, output.looks, wanted.context_lines))
    if wanted.shape.full or "files" in wanted.sections or len(lines) <= FOLDED + 1:
        yield from lines
        return
    yield from stat_lines(diffs, output.looks)
    yield ""
    yield from lines[:FOLDED]
    yield output.looks.styler(Role.DIM, more(len(lines) - FOLDED, "line"))


def _per_side(comparison: Comparison, files: _Files, output: Output) -> Iterator[str]:
    for place, side in enumerate(comparison.sides):
        mark = output.looks.styler(*mark_of(comparison, place))
        if side.base is None:
            yield f"  {mark} (nothing is shared that its files could be compared with)"
            continue
        names = ("where they parted", one_line(side.name))
        changed = files.between(Target(side.view, side.base), Target(side.view, side.row), names)
        for line in list(stat_lines(changed, output.looks))[:-1] if changed else ("(no file changed)",):
            yield f"  {mark} {line}"
