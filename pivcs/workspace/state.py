"""What is known of one file at one entry, and how it is known."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Provenance(StrEnum):
    """How a file's state at an entry is known.

    `whole`: it was written or read as a whole. `derived`: edits were applied to a known base. `patch`: it was edited,
    but from what is not known. `unknown`: something that leaves no trace (a shell command that names it, somebody else)
    has changed it or may have. `snapshot`: it is in a snapshot of the work tree.
    """

    WHOLE = "whole"
    DERIVED = "derived"
    PATCH = "patch"
    UNKNOWN = "unknown"
    SNAPSHOT = "snapshot"


class FilePath(NamedTuple):
    """A file as a session means it. `text` has slashes and no `.` or `..`: relative to the session's working directory
    when `inside`, absolute when it is not."""

    text: str
    inside: bool


@dataclass(frozen=True, slots=True)
class FileState:
    """What is known of a file at one point of a path.

    `content` is exact for `whole`, `derived` and `snapshot`: None there means that the file is known not to exist. For
    `unknown` it is what was last known, if anything; for `patch` it is None and `patches` are the texts of the diffs
    that were applied, oldest first. `changed_at` is the row of the tool result behind the last change that a tool call
    made, None when there was only reading; `known_at` the row that tells the state; `unknown_since` the row of the
    shell command, or of the read that showed the change, for `unknown`. `base` is the label of the base that the
    content comes from, or was derived from, None when the session itself tells it.
    """

    path: FilePath
    provenance: Provenance
    content: bytes | None
    known_at: int
    changed_at: int | None = None
    unknown_since: int | None = None
    base: str | None = None
    patches: tuple[str, ...] = ()

    @property
    def is_exact(self) -> bool:
        """Whether content (or absence) is known, not only what it once was."""
        return self.provenance in (Provenance.WHOLE, Provenance.DERIVED, Provenance.SNAPSHOT)


class Change(NamedTuple):
    """What one tool result did to, or told about, one file.

    `kind` is `write`, `edit`, `read` (the state was told or confirmed), `shell` (it may have changed), `unseen` (it is
    not what it should be: something changed it since it was last known) or `snapshot`. `row` is the row of the tool
    result, `call_row` that of the answer with the call. `before` is None when nothing was known of the file.
    """

    kind: str
    path: FilePath
    row: int
    call_row: int
    before: FileState | None
    after: FileState
