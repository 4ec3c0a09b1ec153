"""What the shell completes: names and ids of the session that a command line is about, and sessions.

The program starts anew for each press of a key, so only what the store knows already is looked at: nothing is synced.
Completion never fails and never says anything: without an answer there are no proposals.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from pivcs.store.store import Store

MOST: Final = 200
"""Proposals that are given."""


def revisions(context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Propose branches, tags, labels and entry ids; files where a path or a session file is begun."""
    try:
        with context.scope(cleanup=False):
            if os.sep in typed and os.path.isdir(os.path.dirname(typed)):
                return [_item(typed, "file")]
            return [*_names_quietly(context, typed), *_files(typed)][:MOST]
    except Exception:  # a proposal that cannot be made is none
        return []


def sessions(context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Propose ids of sessions that the store knows, and session files."""
    try:
        with context.scope(cleanup=False):
            return [*_session_ids(typed), *_files(typed)][:MOST]
    except Exception:
        return []


def remotes(context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Propose the remotes of the repository, and directories."""
    try:
        from pivcs.gitbridge.remotes import read_settings
        from pivcs.gitbridge.repository import find_repository

        with context.scope(cleanup=False):
            names = [
                name.removeprefix("remote.").removesuffix(".url")
                for name in read_settings(find_repository(os.getcwd()), None)
                if name.startswith("remote.") and name.endswith(".url")
            ]
            found = [_item(_quoted(name)) for name in sorted(names) if name.startswith(typed)]
            return found or [_item(typed, "dir")]
    except Exception:
        return []


def _files(typed: str) -> Iterator[CompletionItem]:
    """Leave files to the shell where one in the directory would do."""
    directory, name = os.path.split(typed)
    with os.scandir(directory or ".") as found:
        if any(item.name.startswith(name) and (directory or item.name.endswith(".jsonl")) for item in found):
            yield _item(typed, "file")


def _names_quietly(context: click.Context, typed: str) -> list[CompletionItem]:
    try:
        return list(_names(context, typed))
    except Exception:  # no session, a damaged store, anything: files can be proposed all the same
        return []


def _names(context: click.Context, typed: str) -> Iterator[CompletionItem]:
    from pivcs.cli.target import split_target, surroundings
    from pivcs.ops.proposals import known_view, names_like

    given = [each for each in context.params.get("arguments") or () if isinstance(each, str)]
    session, _ = split_target(given, context.params.get("session"))
    store = _known_store()
    try:
        view = known_view(store, session, surroundings())
        if view is not None:
            for name, what in names_like(view, typed, most=MOST):
                yield _item(_quoted(name), what=_plain(what))
    finally:
        if store is not None:
            store.close()


def _session_ids(typed: str) -> Iterator[CompletionItem]:
    from pivcs.ops.summary import decode_summary

    store = _known_store()
    if store is None:
        return
    try:
        for stream in store.current_streams():
            facts = decode_summary(stream.summary)
            if facts.id and facts.id.startswith(typed) and facts.id.isprintable():
                yield _item(_quoted(facts.id), what=_plain(facts.name or facts.first_prompt or ""))
    finally:
        store.close()


def _known_store() -> Store | None:
    """Return the store if there is one that can be opened."""
    from pivcs.cli.target import places
    from pivcs.errors import PivcsError
    from pivcs.store.store import Store

    try:
        return Store.open(places().store(), create=False)
    except PivcsError:
        return None


def _item(value: str, kind: str = "plain", what: str | None = None) -> CompletionItem:
    from click.shell_completion import CompletionItem  # 5 ms that no other command needs

    return CompletionItem(value, kind, what)


def _quoted(name: str) -> str:
    """Return a proposal as it has to be typed: zsh and fish quote by themselves, bash does not."""
    return shlex.quote(name) if os.environ.get("_PIVCS_COMPLETE", "").startswith("bash") else name


def _plain(text: str) -> str:
    """Return one line without control characters: the protocol with the shell is made of lines."""
    return "".join(each for each in text[:60] if each.isprintable())
