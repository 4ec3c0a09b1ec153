"""What `fsck` can find, and how bad each finding is (`docs/fsck.md`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

ERROR: Final = "error"
WARNING: Final = "warning"
INFO: Final = "info"

SEVERITIES: Final[dict[str, str]] = {
    # The store against itself
    "database-damaged": ERROR,
    "dangling-reference": ERROR,
    "chunk-missing": ERROR,
    "chunk-unreadable": ERROR,
    "chunk-changed": ERROR,
    "tail-unreadable": ERROR,
    "bytes-missing": ERROR,
    "segment-unreadable": ERROR,
    "rows-missing": ERROR,
    "rows-differ": ERROR,
    "id-unknown": ERROR,
    "facts-differ": ERROR,
    "key-differs": ERROR,
    "summary-differs": ERROR,
    "labels-differ": ERROR,
    "branch-lost": ERROR,
    "probes-differ": WARNING,
    "kept-damaged": ERROR,
    "snapshot-damaged": ERROR,
    "chunks-unused": INFO,
    "erasure-unfinished": WARNING,
    "entry-forgotten": INFO,
    # Session files against the store
    "source-bytes-changed": ERROR,
    "source-line-changed": ERROR,
    "source-line-missing": ERROR,
    "source-line-inserted": ERROR,
    "source-lines-swapped": ERROR,
    "source-cut": ERROR,
    "source-unreadable": WARNING,
    "source-gone": INFO,
    "source-ahead": INFO,
    "source-touched": INFO,
    "source-has-forgotten": INFO,
    # The session files' format
    "damaged-line": WARNING,
    "glued-line": WARNING,
    "missing-parent": WARNING,
    "second-header": WARNING,
    "not-utf-8": WARNING,
    "no-header": WARNING,
    "two-writers": WARNING,
    "entries-without-id": WARNING,
    "foreign-line": INFO,
    "pending-line": INFO,
}
"""Every finding there is, and how bad it is: an error means that bytes or what is known of them are not as they were
written, a warning that something about a session is unusual and may harm, an info that it is worth knowing."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a person should know.

    `id` is a key of `SEVERITIES`. `source` is the path of the session file and `generation` which one of it, None when
    it is about the store as a whole; `line` counts from 1, `offset` is in bytes of the stream. `detail` is raw text.
    """

    id: str
    source: str | None = None
    generation: int | None = None
    line: int | None = None
    offset: int | None = None
    detail: str = ""

    @property
    def severity(self) -> str:
        """`error`, `warning` or `info`."""
        return SEVERITIES[self.id]
