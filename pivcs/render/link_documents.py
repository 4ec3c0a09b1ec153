"""Commits and the entries that made them, as documents; and what text says of them, too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from pivcs.gitbridge.base import decode_path
from pivcs.gitbridge.commits import CommitInfo
from pivcs.gitbridge.link_notes import REF, Noted
from pivcs.gitbridge.link_paths import Place
from pivcs.gitbridge.link_result import CommitLink, LinkedFile
from pivcs.gitbridge.objects import LATEST_TIME
from pivcs.ops import log
from pivcs.ops.made_match import Writer
from pivcs.ops.view import SessionView
from pivcs.ops.whereabouts import Whereabouts
from pivcs.render.documents import Document, session_document, time_text


class LinkTeller:
    """Says what entries are; the same is asked for many commits."""

    def __init__(self, views: Sequence[SessionView]) -> None:
        self.views = views
        self._whereabouts = cache(lambda number: Whereabouts(views[number]))

    def prompt(self, writer: Writer) -> int | None:
        """Return the row of the prompt before an entry."""
        return self._whereabouts(writer.session).prompt(writer.row)

    def prompt_text(self, writer: Writer) -> str | None:
        """Return the prompt before an entry in one line, raw."""
        row = self.prompt(writer)
        return self.views[writer.session].subject(row) if row is not None else None

    def name(self, writer: Writer) -> str:
        """Return what an entry is called, raw."""
        return self.views[writer.session].table.name(writer.row)

    def exported_entry(self, commit: CommitInfo) -> Writer | None:
        """Return the entry that a review commit is, or that a snapshot was taken at, if a session has it."""
        node = commit.exported.node if commit.exported is not None else None
        for number, view in enumerate(self.views if node is not None else ()):
            for row in view.table.rows_with_digest_prefix(bytes.fromhex(node or "")):
                return Writer(number, row)
        return None


def prompts_of(teller: LinkTeller, link: CommitLink) -> list[tuple[int, int | None, list[tuple[Writer, int]]]]:
    """Return sessions and rows of the prompts behind a commit, with the entries after each and their lines."""
    found: dict[tuple[int, int | None], list[tuple[Writer, int]]] = {}
    for writer, count in link.entries():
        found.setdefault((writer.session, teller.prompt(writer)), []).append((writer, count))
    return [(session, prompt, entries) for (session, prompt), entries in found.items()]


def prompt_text(view: SessionView, row: int) -> str:
    """Return what a prompt says, raw."""
    return "\n\n".join(part.text for part in log.parts(view, row) if part.kind == "text")


def sessions_documents(views: Sequence[SessionView], places: Sequence[Place]) -> list[Document]:
    """Return the sessions that were looked at, and how it was decided where their files are."""
    return [
        {"session": session_document(view), "directory": place.prefix, "decided": place.decided.value}
        for view, place in zip(views, places, strict=True)
    ]


def noted_document(noted: Noted | None) -> Document | None:
    """Return what became of the notes."""
    if noted is None:
        return None
    return {"ref": REF, "written": noted.written, "removed": noted.removed, "commit": noted.commit}


def commit_document(
    teller: LinkTeller, link: CommitLink, refs: Mapping[str, Sequence[str]], *, hand: bool = False
) -> Document:
    """Return a commit and what ties it to entries, with `hand` also what was changed by hand."""
    commit = link.commit
    document: Document = {
        "commit": commit.ident,
        "parents": list(commit.parents),
        "time": time_text(min(commit.time, LATEST_TIME) * 1000),
        "subject": commit.subject,
        "refs": list(refs.get(commit.ident, ())),
        "shallow": commit.is_cut,
        "exported": commit.exported._asdict() if commit.exported is not None else None,
        "added": link.added,
        "removed": link.removed,
        "by_hand": link.hand,
        "percent": link.percent(),
        "entries": [_entry_document(teller, writer, count) for writer, count in link.entries()],
        "files": [_file_document(teller, file, hand=hand) for file in link.files],
    }
    if hand:
        document["prompts"] = [
            {"session": session, "entry": teller.views[session].table.name(prompt),
             "text": prompt_text(teller.views[session], prompt)}
            for session, prompt, _ in prompts_of(teller, link) if prompt is not None
        ]  # fmt: skip
        document["cut"] = link.is_cut_short
    return document


def _entry_document(teller: LinkTeller, writer: Writer, count: int) -> Document:
    table = teller.views[writer.session].table
    prompt = teller.prompt(writer)
    return {
        "session": writer.session,
        "entry": teller.name(writer),
        "oid": table.object_id(writer.row).hex,
        "time": time_text(table.time_of(writer.row)),
        "prompt_entry": table.name(prompt) if prompt is not None else None,
        "prompt": teller.prompt_text(writer),
        "lines": count,
    }


def _file_document(teller: LinkTeller, file: LinkedFile, *, hand: bool) -> Document:
    change = file.change
    document: Document = {
        "path": file.path,
        "old_path": decode_path(change.old_path) if change.old_path != change.path else None,
        "status": change.status,
        "how": file.how.value,
        "line_ends": file.is_converted,
        "binary": change.is_binary,
        "submodule": change.is_submodule,
        "added": file.added,
        "removed": file.removed,
        "by_hand": file.hand,
        "left_by": teller.name(file.left_by) if file.left_by is not None else None,
        "lines": [
            {"session": writer.session, "entry": teller.name(writer), "lines": count} for writer, count in file.lines
        ],
    }
    if hand:
        document["hunks"] = [
            {"removed": _numbered(hunk.taken), "added": _numbered(hunk.written)} for hunk in file.by_hand
        ]
    return document


def _numbered(lines: Iterable[tuple[int, bytes]]) -> list[Document]:
    return [{"line": number, "text": text.decode("utf-8", "replace")} for number, text in lines]
