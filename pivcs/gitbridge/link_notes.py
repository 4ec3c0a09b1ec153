"""What ties commits to sessions, as git notes under `refs/notes/pivcs` (`docs/git-bridge.md`, "Links to code commits").

A note has a part for each session; what others wrote into it stays, and so do the parts of sessions that nobody looked
at now. Written again it is the same bytes, so nothing is written. Prompts and reasoning are not in it: a note is pushed
easily, and shown to everybody.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from pivcs.errors import StateError
from pivcs.gitbridge.base import read_object
from pivcs.gitbridge.link_result import CommitLink
from pivcs.gitbridge.link_tree import NotesTree, NoteWriter
from pivcs.gitbridge.objects import BLOB, COMMIT, Identity, commit_bytes
from pivcs.gitbridge.refs_update import RefUpdate, read_refs, update_refs
from pivcs.gitbridge.repository import Repository
from pivcs.gitbridge.streams import ADDRESS, WRITER
from pivcs.ops.made_match import How
from pivcs.ops.view import SessionView

if TYPE_CHECKING:
    from dulwich.object_store import DiskObjectStore

REF: Final = "refs/notes/pivcs"
_MESSAGE: Final = b"Notes added by 'pivcs link'\n"
_TRIES: Final = 3
_BEGIN: Final = re.compile(rb"Pivcs-Link: ([0-9a-f]{64})\Z")
_OURS: Final = b"Pivcs-"
_PLAIN: Final = re.compile(r"[!#-~]+(?: [!#-~]+)*")


class NotesMoved(StateError):
    """Somebody else changes the notes all the time, or they are not what notes are."""


class Noted(NamedTuple):
    """What became of notes: how many were written, how many taken away, and the commit that has them, None for none."""

    written: int
    removed: int
    commit: str | None


def write_notes(repository: Repository, links: Iterable[CommitLink], views: tuple[SessionView, ...]) -> Noted:
    """Write the notes of commits; that of a commit which has one is changed where sessions have another part in it.

    `views` are the sessions that were looked at. Raises `OtherHash`, `OtherRefs`, `RefsNotWritten`, `NotWritten`,
    `NotesMoved`, `MissingObject`.
    """
    keys = {view.key.hex.encode() for view in views if view.key is not None}
    parts = {link.commit.ident: (dict(_parts(link, views)), link.commit.time) for link in links}
    for _ in range(_TRIES):
        done = _written(repository, parts, keys)
        if done is not None:
            return done
    raise NotesMoved(f"the ref '{REF}' cannot be moved", hint="somebody else writes notes, or it is a symbolic ref")


def _written(
    repository: Repository, parts: Mapping[str, tuple[dict[bytes, bytes], int]], keys: set[bytes]
) -> Noted | None:
    """Write notes once; None when the ref was moved meanwhile."""
    with repository.objects() as objects:
        old = read_refs(repository, "refs/notes/").get(REF)
        tree_id, time = _notes_commit(objects, old) if old is not None else (None, 0)
        tree = NotesTree(objects, tree_id)
        texts: dict[str, bytes] = {}
        removed = 0
        for commit, (mine, made) in parts.items():
            blob = tree.find(commit)
            before = read_object(objects, blob, b"blob", REF) if blob is not None else b""
            after = merged(before, mine, keys)
            if after == before:
                continue
            time = max(time, made)
            if after:
                texts[commit] = after
            else:
                tree.set(commit, None)
                removed += 1
        if not texts and not removed:
            return Noted(0, 0, old.hex() if old is not None else None)
        with NoteWriter(repository, objects, 2 * len(texts)) as writer:
            for commit, text in texts.items():
                tree.set(commit, writer.add(BLOB, text))
            who = Identity(WRITER, ADDRESS, max(time, 0))
            made_tree = tree.write(writer)
            commit_id = writer.add(
                COMMIT, commit_bytes(made_tree, [old] if old is not None else [], who, who, _MESSAGE)
            )
            writer.finish()
            outcome = update_refs(repository, [RefUpdate(REF, old, commit_id)])[0].outcome
    return Noted(len(texts), removed, commit_id.hex()) if outcome in ("new", "moved", "same") else None


def _notes_commit(objects: DiskObjectStore, ident: bytes) -> tuple[str, int]:
    """Return the tree and the time of the commit that has the notes."""
    from dulwich.objects import Commit, ObjectID

    try:
        found = objects[ObjectID(ident.hex().encode())]
    except KeyError as error:
        raise NotesMoved(f"'{REF}' names {ident.hex()[:12]}, which is not in the repository") from error
    if not isinstance(found, Commit):
        raise NotesMoved(f"'{REF}' names no commit, so it has no notes")
    return found.tree.decode("ascii"), found.commit_time


def _parts(link: CommitLink, views: tuple[SessionView, ...]) -> Iterator[tuple[bytes, bytes]]:
    """Yield the part of a note for each session that the commit is tied to, by the session's key."""
    entries = link.entries()
    keys = [view.key.hex if view.key is not None else None for view in views]
    for key in dict.fromkeys(keys):
        mine = [(writer, lines) for writer, lines in entries if keys[writer.session] == key]
        if not mine or key is None:
            continue
        text = [f"Pivcs-Link: {key}", f"Pivcs-Lines: {sum(lines for _, lines in mine)} of {link.added}"]
        for writer, lines in mine:
            table = views[writer.session].table
            text.append(f"Pivcs-Entry: {table.object_id(writer.row).hex} {lines} {_quoted(table.name(writer.row))}")
        for file in link.files:
            counts = [count for writer, count in file.lines if keys[writer.session] == key]
            if counts:
                how = "whole" if file.how is How.EXACT and not file.hand else "part"
                text.append(f"Pivcs-File: {sum(counts)} of {file.added} {how} {_quoted(file.path)}")
        yield key.encode(), "".join(f"{line}\n" for line in text).encode("ascii")


def _quoted(text: str) -> str:
    """Return a text as it is when it is plain ASCII, else as JSON in ASCII."""
    return text if _PLAIN.fullmatch(text) else json.dumps(text)


def merged(note: bytes, mine: Mapping[bytes, bytes], keys: set[bytes]) -> bytes:
    """Return a note with the parts of the sessions `keys` replaced by `mine`; all else in it stays.

    The parts of sessions stand at the end, sorted. A note that says all of it already is returned as it is.
    """
    others, parts, is_doubled = _split(note)
    wanted = {key: part for key, part in parts.items() if key not in keys} | dict(mine)
    if wanted == parts and not is_doubled:
        return note
    blocks = [wanted[key] for key in sorted(wanted)]
    if others and not others.endswith(b"\n"):
        others += b"\n"
    return b"\n".join(([others] if others else []) + blocks)


def _split(note: bytes) -> tuple[bytes, dict[bytes, bytes], bool]:
    """Return what others wrote, the parts of sessions by their keys, and whether one was there twice, as joining notes
    may leave it."""
    others: list[bytes] = []
    parts: dict[bytes, bytes] = {}
    is_doubled = False
    key = None
    lines = note.split(b"\n")
    for place, line in enumerate(lines):
        end = b"\n" if place + 1 < len(lines) else b""
        found = _BEGIN.match(line)
        if found is not None:
            key = found[1]
            is_doubled = is_doubled or key in parts
            parts[key] = line + b"\n"
            if others and others[-1] == b"\n":
                others.pop()  # the blank line before a part
        elif key is not None and line.startswith(_OURS):
            parts[key] += line + b"\n"
        else:
            key = None
            others.append(line + end)
    text = b"".join(others)
    return (text if text.strip(b"\n") or not parts else b""), parts, is_doubled
