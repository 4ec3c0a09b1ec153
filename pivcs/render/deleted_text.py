"""Session files that were deleted, as text and as a document."""

from __future__ import annotations

from collections.abc import Iterator

from pivcs.ops.trash import Deleted
from pivcs.render.amounts import format_bytes
from pivcs.render.documents import Document
from pivcs.render.log_text import Looks
from pivcs.render.style import Role
from pivcs.render.text import visible


def deleted_lines(deleted: Deleted, looks: Looks) -> Iterator[str]:
    """Yield what was deleted, and how its bytes can be had."""
    said = "deleted for good" if deleted.permanently else "moved to the trash"
    yield f"{said}: {visible(str(deleted.path), keep='')} ({format_bytes(deleted.size)})"
    if deleted.key is not None:
        yield looks.styler(Role.DIM, f"pivcs cat {deleted.key[:16]}")


def deleted_document(deleted: Deleted) -> Document:
    """Return what was deleted as a JSON document."""
    return {
        "schema": "pivcs.deleted/1",
        "path": str(deleted.path),
        "key": deleted.key,
        "size": deleted.size,
        "permanently": deleted.permanently,
    }
