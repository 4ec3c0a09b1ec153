"""Diffs of files with changed words marked in their lines, as `git diff --word-diff` shows them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from pivcs.ops.file_diff import FileDiff
from pivcs.ops.word_changes import Piece, word_changes
from pivcs.render.diff_text import diff_lines, shown
from pivcs.render.file_diff_text import file_diff_lines
from pivcs.render.log_text import Looks
from pivcs.render.spans import change_spans, wrapped
from pivcs.render.style import Role
from pivcs.workspace.line_origins import lines_of
from pivcs.workspace.linediff import Opcode, grouped_opcodes


def word_diff_lines(diffs: Sequence[FileDiff], looks: Looks, context: int) -> Iterator[str]:
    """Yield the diffs of files for people, with `[-old-]{+new+}` inside of lines.

    What is no change of a text (a new file, a deleted or a binary one, one that is not known) is as in any diff.
    """
    for diff in diffs:
        lines = list(diff_lines(diff.path, diff.before, diff.after, context))
        if diff.before is None or diff.after is None or not any(line.text.startswith(b"@@ ") for line in lines):
            yield from file_diff_lines([diff], looks, context)
            continue
        yield from shown(takewhile(lambda line: not line.text.startswith(b"@@ "), iter(lines)), looks)
        for note in diff.notes:
            yield looks.styler(Role.WARNING, f"({note})")
        before, after = lines_of(diff.before), lines_of(diff.after)
        headings = [line for line in lines if line.text.startswith(b"@@ ")]
        for heading, hunk in zip(headings, grouped_opcodes(before, after, context), strict=True):
            yield from shown(iter([heading]), looks)
            for code in hunk:
                yield from _code_lines(code, before, after, looks)


def _code_lines(code: Opcode, before: Sequence[bytes], after: Sequence[bytes], looks: Looks) -> Iterator[str]:
    old = _text(before[code.before_start : code.before_end])
    new = _text(after[code.after_start : code.after_end])
    changes = (Piece("same", old),) if code.tag == "equal" else word_changes(old, new).pieces
    for line in wrapped(change_spans(_by_line(changes)), None):
        yield looks.styler.spans(line)


def _by_line(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Yield pieces that end before line breaks, so that marks do not reach over several lines."""
    for piece in pieces:
        for number, part in enumerate(piece.text.split("\n")):
            if number:
                yield Piece("same", "\n")
            if part:
                yield Piece(piece.kind, part)


def _text(lines: Sequence[bytes]) -> str:
    """Return lines as text without the last line end."""
    return b"".join(lines).decode("utf-8", "replace").removesuffix("\n")
