"""Warnings about repositories that have something which was forgotten here."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

import click

from pivcs.cli.file_target import project_views
from pivcs.cli.output import to_stderr, warn
from pivcs.cli.target import STORE, current_directory, open_store, reader
from pivcs.errors import StateError
from pivcs.gitbridge.remotes import Remote, shown_address
from pivcs.gitbridge.repository import Repository
from pivcs.ops.access import CannotWrite, Reader
from pivcs.ops.view import SessionView
from pivcs.render.amounts import plural
from pivcs.render.forget_text import delete_commands, update_commands
from pivcs.store.errors import NoStore
from pivcs.store.store import Store


class SessionForgotten(StateError):
    """A session that was forgotten here is to leave the machine."""

    def __init__(self, where: str, key: bytes) -> None:
        super().__init__(
            f"the session in '{where}' was forgotten here, so it goes nowhere",
            hint=f"`pivcs forget --remember {key.hex()[:16]}` lets it be taken in again",
        )


def known_store() -> Store | None:
    """Return the store if there is one already."""
    opened: Store | None = click.get_current_context().meta.get(STORE)
    if opened is not None:
        return opened
    try:
        return open_store(create=False)
    except (NoStore, *CannotWrite):
        return None


def leaving_views() -> tuple[SessionView, ...]:
    """Return the sessions of the current project that may leave the machine; a warning names those that were forgotten
    here and still have a file."""
    return without_forgotten(project_views(None, leaving_reader()))


def leaving_reader() -> Reader:
    """Return what opens sessions that are to leave the machine."""
    return reader()._replace(if_forgotten="it is left out")


def without_forgotten(views: Iterable[SessionView]) -> tuple[SessionView, ...]:
    """Return sessions without those that were forgotten."""
    forgotten = _forgotten_keys()
    return tuple(view for view in views if view.key is None or view.key.digest not in forgotten)


def refuse_forgotten(views: Iterable[SessionView]) -> None:
    """See that no session was forgotten that is to leave by its name. Raises `SessionForgotten`."""
    forgotten = _forgotten_keys()
    for view in views:
        if view.key is not None and view.key.digest in forgotten:
            raise SessionForgotten(view.where, view.key.digest)


def _forgotten_keys() -> frozenset[bytes]:
    store = known_store()
    return frozenset(store.forgotten.sessions()) if store is not None else frozenset()


def warn_of_forgotten(repository: Repository, remote: Remote, refs: Sequence[str]) -> None:
    """Say which refs of a remote hold something forgotten, and what deletes them there."""
    if refs:
        where = str(repository.root or repository.common_dir)
        told = f"{plural(len(refs), 'ref')} of {remote.shown} still {_holds(refs)} something that was forgotten here"
        _warn_with(f"{told}; to delete:", delete_commands(where, remote.shown, refs))


def warn_of_imported(where: str, streams: Sequence[str], given: str) -> None:
    """Say which streams of a repository hold something forgotten, and what deletes their refs there.

    `given` is what the user called the repository, `where` its path when that is one.
    """
    if not streams:
        return
    refs = [name for name in streams if name.startswith("refs/")]
    shown = shown_address(given)
    told = f"{plural(len(streams), 'stream')} of '{shown}' still {_holds(streams)} something that was forgotten here"
    lines: list[str] = []
    if os.path.isdir(os.path.join(current_directory(), given)):
        lines += update_commands(where, refs)
    else:
        lines += delete_commands(None, shown, refs)
    if len(refs) < len(streams):
        lines.append("its branch `sessions` has it, and keeps it in its history: delete that, and export anew")
    _warn_with(f"{told}; to delete:", lines)


def _warn_with(text: str, lines: Iterable[str]) -> None:
    warn(text)
    for line in lines:
        to_stderr(f"  {line}")


def _holds(names: Sequence[str]) -> str:
    return "holds" if len(names) == 1 else "hold"
