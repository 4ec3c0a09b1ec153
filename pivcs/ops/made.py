"""What the entries of a session made of files: the lines that each wrote, and what each left, as git would name it.

Nothing here knows git but for one rule: the id of a file's content is the digest of `blob`, its length, and the bytes.
All paths of the session are walked once, so that what was tried and given up is found, too.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterator
from typing import Final

from pivcs.objects.table import TOOL_USE
from pivcs.ops.made_patch import lines_of_patch
from pivcs.ops.tree_walk import walk_tree
from pivcs.ops.view import SessionView
from pivcs.session.codes import ASSISTANT, TOOL_RESULT
from pivcs.workspace.base import Base
from pivcs.workspace.calls import Shell, operation_of
from pivcs.workspace.line_origins import is_telling
from pivcs.workspace.linediff import opcodes
from pivcs.workspace.replay import Replay
from pivcs.workspace.state import Change, FilePath

COMMON: Final = frozenset((
    b"else:", b"else {", b"} else {", b"else", b"try:", b"try {", b"finally:", b"return", b"return;", b"return None",
    b"return null;", b"return True", b"return False", b"return true;", b"return false;", b"return nil", b"pass",
    b"break", b"break;", b"continue", b"continue;", b"default:", b"done", b"</div>", b"{/* */}", b"@Override",
    b"@property", b"@staticmethod", b"@classmethod", b"begin", b"then",
))  # fmt: skip
"""Lines that everybody writes, without what is around them."""

_COMMAND: Final = {"command": ""}
_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9._+@~ -]+")
"""Names that JSON writes as they are, so that bytes can be searched for them."""

Identity = tuple[str, int, int]
"""Id, time and kind of an entry."""


class MadeFile:
    """What the entries of one session made of one file. Rows are those of tool results, in file order.

    `written` has the rows that put a line into the file, `taken` the lines that some entry took out, `moved` those that
    an entry took out and put in again, `most` how often a line stood in the file at once, where it was more than once.
    `left` has the rows after which the file was known as a whole, by the id of its content; `left_lf` the same by what
    that id would be with LF at line ends, for content that has CR LF. Lines are without their ends. `is_whole`: the
    file was known as a whole whenever it was changed, so `most` can be trusted.
    """

    __slots__ = ("_written", "has_crlf", "is_whole", "left", "left_lf", "most", "moved", "path", "taken")

    def __init__(self, path: FilePath) -> None:
        self.path = path
        self._written: dict[bytes, int | array[int]] = {}
        self.taken: set[bytes] = set()
        self.moved: set[bytes] = set()
        self.most: dict[bytes, int] = {}
        self.left: dict[bytes, list[int]] = {}
        self.left_lf: dict[bytes, list[int]] = {}
        self.is_whole = True
        self.has_crlf = False

    def writers(self, line: bytes) -> Collection[int]:
        """Return the rows that wrote a line, oldest first."""
        found = self._written.get(line, ())
        return (found,) if isinstance(found, int) else found

    def has_written(self, line: bytes, row: int) -> bool:
        """Whether a row wrote a line."""
        found = self._written.get(line)
        if found is None or isinstance(found, int):
            return found == row
        place = bisect_left(found, row)
        return place < len(found) and found[place] == row

    def lines(self) -> Collection[bytes]:
        """Return the lines that were written."""
        return self._written.keys()

    def note(self, row: int, taken: Collection[bytes], written: Collection[bytes]) -> None:
        """Remember what a row took out of the file and put in."""
        mine = set(taken)
        self.taken |= mine
        for line in written:
            known = self._written.get(line)
            if known is None:
                self._written[line] = row
            elif isinstance(known, int):
                if known != row:
                    self._written[line] = array("I", (known, row))
            elif known[-1] != row:
                known.append(row)
            if line in mine:
                self.moved.add(line)


class Made:
    """What the entries of one session made of files: `files` by path, `calls` the row of the answer that called for
    each row that changed something."""

    def __init__(self, view: SessionView, hash_name: str) -> None:
        self.view = view
        self.files: dict[FilePath, MadeFile] = {}
        self.calls: dict[int, int] = {}
        self._hash_name = hash_name

    def take(self, change: Change) -> None:
        """Take one change in; those that tell of a file without changing it are passed over."""
        before, after = change.before, change.after
        known = len(before.patches) if before is not None else 0
        patches = after.patches[known:] if after.changed_at == change.row else ()
        if not patches and (change.kind not in ("write", "edit") or after.content is None):
            return
        file = self.files.get(change.path)
        if file is None:
            file = self.files[change.path] = MadeFile(change.path)
        self.calls[change.row] = change.call_row
        for patch in patches:
            file.is_whole = False
            file.note(change.row, *lines_of_patch(patch))
        if patches or after.content is None:
            return
        if file.has_crlf is False and b"\r\n" in after.content:
            file.has_crlf = True
        old = [] if before is None or before.content is None else bare_lines(before.content)
        new = bare_lines(after.content)
        file.note(change.row, *_difference(old, new))
        if len(set(new)) != len(new):
            for line, count in Counter(new).items():
                if count > file.most.get(line, 1):
                    file.most[line] = count
        if after.is_exact:
            file.left.setdefault(blob_id(after.content, self._hash_name), []).append(change.row)
            if b"\r\n" in after.content:
                plain = blob_id(after.content.replace(b"\r\n", b"\n"), self._hash_name)
                file.left_lf.setdefault(plain, []).append(change.row)


def made_of(
    view: SessionView,
    base: Base | None = None,
    *,
    names: Collection[str] | None = None,
    hash_name: str = "sha1",
    known: Container[Identity] = frozenset(),
) -> Made:
    """Return what the entries of a session made of files, on every path of it.

    With `names` only of files whose path ends in one of them; what is told of these is the same. `hash_name` is the
    hash that names contents, `sha1` or `sha256`. What entries in `known` did is not noted: other sessions of which this
    one has copies did it. Takes one walk over the session's calls and their results, of which
    only those are parsed that may name such a file, and a line diff for each change. Holds the different lines that
    were written.
    """
    made = Made(view, hash_name)
    for change in _changes(view, base, _naming(names)):
        is_wanted = names is None or posixpath.basename(change.path.text) in names
        if is_wanted and (not known or identity_of(view, change.row) not in known):
            made.take(change)
    return made


def identity_of(view: SessionView, row: int) -> Identity:
    """Return what an entry keeps when it is copied to another session."""
    return view.table.name(row), view.table.time[row], view.table.code[row]


class _Walk:
    """A replay that is fed what tells of some files, commands left out: whether these changed a file nobody needs to
    guess where only equal content counts, and so what is told of a file does not depend on the others."""

    __slots__ = ("replay", "wanted")

    def __init__(self, replay: Replay) -> None:
        self.replay = replay
        self.wanted = False
        """Whether the results that come now belong to an answer that may name a file."""

    def fork(self) -> _Walk:
        """Return a copy for another path."""
        copy = _Walk(self.replay.fork())
        copy.wanted = self.wanted
        return copy


def _changes(view: SessionView, base: Base | None, matters: Callable[[bytes], bool]) -> Iterator[Change]:
    table = view.table
    has_result = bytearray(len(table) + 1)
    for row in table.nodes():
        if table.code[row] == TOOL_RESULT:
            has_result[min(table.parent[row], len(table))] = 1
    for row, walk in walk_tree(view, lambda: _Walk(Replay(view.header.cwd, base)), _Walk.fork):
        code = table.code[row]
        if code == ASSISTANT:
            walk.wanted = bool(has_result[row] or table.flags[row] & TOOL_USE) and matters(view.record(row))
            if walk.wanted:
                yield from walk.replay.apply(row, view.entry(row))
        elif code == TOOL_RESULT and (walk.wanted or matters(view.record(row))):
            # A result names the file only sometimes, but nested calls of a script stand in it.
            entry = view.entry(row)
            name = entry.message.tool_name if entry.message is not None else None
            if not isinstance(operation_of(name or "", _COMMAND), Shell):
                yield from walk.replay.apply(row, entry)


def _naming(names: Collection[str] | None) -> Callable[[bytes], bool]:
    """Return whether a record may have one of some names in it."""
    if names is None or not all(_PLAIN_NAME.fullmatch(name) for name in names):
        return lambda record: True
    wanted = [name.encode() for name in names]
    return lambda record: any(name in record for name in wanted) or b"\\u00" in record


def _difference(old: list[bytes], new: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    """Return the lines that a change took out and those that it put in."""
    if not old:
        return [], new
    taken, written = [], []
    for code in opcodes(old, new):
        if code.tag != "equal":
            taken += old[code.before_start : code.before_end]
            written += new[code.after_start : code.after_end]
    return taken, written


def bare_lines(content: bytes) -> list[bytes]:
    """Return the lines of a file without their ends, LF or CR LF."""
    lines = content.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return [bare(line) for line in lines] if b"\r" in content else lines


def bare(line: bytes) -> bytes:
    """Return a line without the CR of its end."""
    return line[:-1] if line.endswith(b"\r") else line


def tells(line: bytes) -> bool:
    """Whether a line alone says who wrote it: not blank, no mere punctuation, nothing that everybody writes."""
    return is_telling(line) and line.strip() not in COMMON


def blob_id(content: bytes, hash_name: str = "sha1") -> bytes:
    """Return what git calls a file's content."""
    state = hashlib.new(hash_name, b"blob %d\0" % len(content), usedforsecurity=False)
    state.update(content)
    return state.digest()
