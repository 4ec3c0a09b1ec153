"""What can go wrong with a store, each with what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pivcs.errors import DataError, StateError, UnsupportedFormat

DAMAGE_HINT: Final = "`pivcs fsck` says what is affected; session files that still exist can be synced into a new store"


class StoreBusy(StateError):
    """Another process has been writing for longer than we wait."""

    def __init__(self, path: str) -> None:
        super().__init__(f"store '{path}' is busy: another pivcs is writing", hint="try again when it is done")


class StoreReadOnly(StateError):
    """The store cannot be written."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"cannot write store '{path}': {reason}", hint="PIVCS_DIR or --store name another place")


class StoreFull(StateError):
    """The disk is full, or a quota is reached."""

    def __init__(self, path: str) -> None:
        super().__init__(f"cannot write store '{path}': no space left", hint="nothing was lost; free some space")


class NoStore(StateError):
    """There is no store at a place that was named."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"no store at '{path}'", hint="`pivcs sync` makes one")


class StoreDamaged(DataError):
    """The store's own data does not fit together."""

    def __init__(self, path: str, what: str) -> None:
        super().__init__(
            f"store '{path}' is damaged: {what}",
            hint=DAMAGE_HINT,
        )


class UnreadableStore(StoreDamaged):
    """The store's file cannot even be opened."""

    def __init__(self, error: StoreDamaged) -> None:
        DataError.__init__(
            self,
            error.message,
            hint="restore a backup of the file, or move it away and sync again the session files that still exist",
        )


class NewerStore(UnsupportedFormat):
    """The store was written by a newer pivcs."""

    def __init__(self, path: str, found: str, supported: str) -> None:
        super().__init__(
            f"store '{path}' has {found}, this pivcs knows {supported}",
            hint="update pivcs, or name another place with PIVCS_DIR or --store",
        )


class StoreMoved(StateError):
    """The store was moved to another place while it was being opened."""

    def __init__(self, path: str, target: str) -> None:
        super().__init__(f"store '{path}' was moved to '{target}'", hint="name its new place with PIVCS_DIR or --store")


class StreamMoved(StateError):
    """Another process has written to the same stream since it was read."""

    def __init__(self, where: str) -> None:
        super().__init__(f"a session in store '{where}' was changed by another pivcs meanwhile", hint="try again")
