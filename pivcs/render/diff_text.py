"""Changes of files as unified diffs: the bytes that `git apply` takes, or the same made safe for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from pivcs.render.log_text import Looks
from pivcs.render.style import Role
from pivcs.render.text import visible
from pivcs.workspace.line_origins import lines_of
from pivcs.workspace.linediff import Opcode, grouped_opcodes
from pivcs.workspace.state import Change, FilePath, FileState
from pivcs.workspace.texts import encode

CONTEXT: Final = 3
"""Unchanged lines around a change, as in git."""
_NO_LF: Final = b"\\ No newline at end of file"
_HEADING_BYTES: Final = 80
_SHOWN_WIDTH: Final = 500
"""Characters of a line that people see; a minified file has one line of a megabyte."""
_QUOTED: Final = dict(zip(b'\a\b\t\n\v\f\r"\\', (b"\\" + bytes((each,)) for each in b'abtnvfr"\\'), strict=True))


class DiffLine(NamedTuple):
    """A line of a diff without its LF, and what it is."""

    role: Role
    text: bytes


def diff_lines(
    path: FilePath, before: bytes | None, after: bytes | None, context: int = CONTEXT, *, executable: bool = False
) -> Iterator[DiffLine]:
    """Yield the unified diff of a file as git writes it; None is a file that does not exist.

    Nothing is yielded for two equal versions. Files with a NUL in their first 8,000 bytes are binary, as for git.
    """
    if before == after:
        return
    name = name_bytes(path)
    old, new = (b"a/" + name, b"b/" + name) if path.inside else (name, name)
    mode = b"100755" if executable else b"100644"
    yield DiffLine(Role.HEADING, b"diff --git " + quoted(old) + b" " + quoted(new))
    if before is None:
        yield DiffLine(Role.HEADING, b"new file mode " + mode)
    if after is None:
        yield DiffLine(Role.HEADING, b"deleted file mode " + mode)
    nothing = b"/dev/null"
    if is_binary(before) or is_binary(after):
        names = (nothing if before is None else quoted(old)), (nothing if after is None else quoted(new))
        yield DiffLine(Role.PLAIN, b"Binary files " + names[0] + b" and " + names[1] + b" differ")
        return
    if not before and not after:
        return
    yield DiffLine(Role.HEADING, b"--- " + (nothing if before is None else _named(old)))
    yield DiffLine(Role.HEADING, b"+++ " + (nothing if after is None else _named(new)))
    yield from _hunks(lines_of(before or b""), lines_of(after or b""), context)


def _hunks(before: Sequence[bytes], after: Sequence[bytes], context: int) -> Iterator[DiffLine]:
    heading, searched = b"", 0
    for hunk in grouped_opcodes(before, after, context):
        first, last = hunk[0], hunk[-1]
        # Only what was not searched for the hunk above: a file may have no line that could be a heading.
        heading = _heading(before, searched, first.before_start) or heading
        searched = first.before_start
        old = _range(first.before_start, last.before_end)
        new = _range(first.after_start, last.after_end)
        yield DiffLine(Role.ID, b"@@ -" + old + b" +" + new + b" @@" + heading)
        for code in hunk:
            yield from _code_lines(code, before, after)


def _code_lines(code: Opcode, before: Sequence[bytes], after: Sequence[bytes]) -> Iterator[DiffLine]:
    if code.tag == "equal":
        yield from _marked(Role.PLAIN, b" ", before[code.before_start : code.before_end])
        return
    yield from _marked(Role.DELETION, b"-", before[code.before_start : code.before_end])
    yield from _marked(Role.ADDITION, b"+", after[code.after_start : code.after_end])


def _marked(role: Role, mark: bytes, lines: Sequence[bytes]) -> Iterator[DiffLine]:
    for line in lines:
        if line.endswith(b"\n"):
            yield DiffLine(role, mark + line[:-1])
        else:
            yield DiffLine(role, mark + line)
            yield DiffLine(Role.PLAIN, _NO_LF)


def _range(start: int, end: int) -> bytes:
    count = end - start
    first = start + 1 if count else start
    return b"%d" % first if count == 1 else b"%d,%d" % (first, count)


def _heading(lines: Sequence[bytes], start: int, end: int) -> bytes:
    """Return what git puts behind a hunk's range: the last of some lines that begins with a letter, `_` or `$`."""
    for at in range(end - 1, start - 1, -1):
        first = lines[at][:1]
        if first.isalpha() or first in (b"_", b"$"):
            return b" " + lines[at].rstrip()[:_HEADING_BYTES].rstrip()
    return b""


def is_binary(content: bytes | None) -> bool:
    """Whether git would call a file's content binary."""
    return content is not None and b"\0" in content[:8000]


def name_bytes(path: FilePath) -> bytes:
    """Return the bytes of a file's name: those that a disk has, or else what the client makes of lone surrogates."""
    try:
        return path.text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return encode(path.text)


def _named(name: bytes) -> bytes:
    # Like git, so that nobody takes what follows a space for a date.
    return quoted(name) + (b"\t" if b" " in name else b"")


def quoted(name: bytes) -> bytes:
    """Return a name as git writes it in headers: as a C string if it has control characters, quotes or backslashes."""
    if not any(byte < 0x20 or byte in (0x22, 0x5C, 0x7F) for byte in name):
        return name
    parts = [
        _QUOTED.get(byte) or (b"\\%03o" % byte if byte < 0x20 or byte == 0x7F else bytes((byte,))) for byte in name
    ]
    return b'"' + b"".join(parts) + b'"'


def patch_bytes(
    path: FilePath, before: bytes | None, after: bytes | None, context: int = CONTEXT
) -> Iterator[bytes]:
    """Yield the diff of a file as `git apply` takes it."""
    for line in diff_lines(path, before, after, context):
        yield line.text + b"\n"


def unified_lines(
    path: FilePath, before: bytes | None, after: bytes | None, looks: Looks, context: int = CONTEXT
) -> Iterator[str]:
    """Yield the diff of a file for people: coloured, and with everything visible that a terminal would obey."""
    return shown(diff_lines(path, before, after, context), looks)


def shown(lines: Iterator[DiffLine], looks: Looks) -> Iterator[str]:
    """Yield lines of a diff for people. Very long lines are cut, with a mark."""
    for role, raw in lines:
        text = raw.decode("utf-8", "replace")
        if len(text) > _SHOWN_WIDTH:
            text = text[:_SHOWN_WIDTH] + f"… (+{len(text) - _SHOWN_WIDTH} characters)"
        yield looks.styler(role, visible(text.removesuffix("\r"), keep="\t"))


def change_lines(change: Change, looks: Looks, context: int = CONTEXT) -> Iterator[str]:
    """Yield what one change did to a file: its diff, or the patch that the result told when only that is known.

    Nothing is yielded for what changed nothing that is known: reading, and commands that may have changed a file.
    """
    before, after = change.before, change.after
    if change.kind not in ("write", "edit", "unseen"):
        return
    if not after.is_exact:
        patches = after.patches[len(before.patches if before is not None else ()) :] or after.patches[-1:]
        if change.kind == "edit" and patches:
            yield from _patch_lines(change.path, patches[-1], looks)
        return
    known = before is not None and (before.content is not None or before.is_exact)
    note = None
    if change.kind == "unseen":
        note = "changed by something that no entry shows; seen here"
    elif not known:
        note = "what it was before is not known"
    lines = unified_lines(change.path, _content(before) if known else None, after.content, looks, context)
    for number, line in enumerate(lines):
        yield line
        if note is not None and number == 0:
            yield looks.styler(Role.WARNING, f"({note})")


def _content(state: FileState | None) -> bytes | None:
    return None if state is None else state.content


def _patch_lines(path: FilePath, patch: str, looks: Looks) -> Iterator[str]:
    """Yield the text of a patch as the result told it, or the display form of a diff (pi format 17.2)."""
    name = quoted(name_bytes(path))
    yield from shown(iter([DiffLine(Role.HEADING, b"diff --git a/" + name + b" b/" + name)]), looks)
    yield looks.styler(Role.WARNING, "(only the change is known, not the whole file)")
    marks = {"+": Role.ADDITION, "-": Role.DELETION, "@": Role.ID}
    lines = patch.rstrip("\n").split("\n")
    skipped = 2 if lines[0].startswith("--- ") and len(lines) > 1 and lines[1].startswith("+++ ") else 0
    yield from shown(
        (
            DiffLine(marks.get(line[:1], Role.PLAIN), encode(line))
            for line in lines[skipped:]
        ),
        looks,
    )
