"""Commits and the entries that made them, as text and as documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from pivcs.gitbridge.base import decode_path
from pivcs.gitbridge.link import CommitLink, HandHunk, LinkedFile
from pivcs.gitbridge.link_notes import REF, Noted
from pivcs.gitbridge.link_paths import Decided, Place
from pivcs.gitbridge.objects import LATEST_TIME
from pivcs.ops.made_match import How, Writer
from pivcs.ops.view import SessionView
from pivcs.ops.whereabouts import Whereabouts
from pivcs.render.amounts import plural
from pivcs.render.documents import Document, session_document, time_text
from pivcs.render.log_text import Looks, fitted
from pivcs.render.style import Role, Span
from pivcs.render.text import one_line, visible

SHORT: Final = 12
"""Digits of a commit's id that are shown."""
_ENTRIES: Final = 20
"""Entries of a commit that a list shows; the rest is counted."""
_TEXT: Final = 500
"""Characters of a line that people see."""
_DECIDED: Final = {
    Decided.REPOSITORY: "its directory is in the repository",
    Decided.CONTENT: "by what its files held",
    Decided.PATHS: "by the names of its files alone",
    Decided.UNKNOWN: "cannot be told",
}


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


def link_lines(
    teller: LinkTeller, links: Iterable[CommitLink], refs: Mapping[str, Sequence[str]], looks: Looks, *,
    untied: bool,
) -> Iterator[str]:  # fmt: skip
    """Yield commits with the entries that made them; with `untied` also those that no entry has a part in."""
    others = cut = shown = 0
    for link in links:
        if not link.is_tied and not untied:
            cut += link.commit.is_cut
            others += not link.commit.is_cut
            continue
        if shown:
            yield ""
        shown += 1
        yield from _head(link, refs, looks)
        yield from _entries(teller, link, looks, most=_ENTRIES)
    if others:
        if shown:
            yield ""
        yield looks.styler(Role.DIM, f"no entry has a part in {plural(others, 'other commit' if shown else 'commit')}")
    if not (shown or others or cut):
        yield looks.styler(Role.DIM, "there is no commit to look at")
    if cut:
        yield looks.styler(Role.WARNING, _cut(cut))


def _cut(count: int) -> str:
    return (
        f"the shallow clone ends at {plural(count, 'commit')}: what was changed there cannot be told;"
        " `git fetch --deepen=100` gets more"
    )


def commit_lines(
    teller: LinkTeller, link: CommitLink, refs: Mapping[str, Sequence[str]], looks: Looks
) -> Iterator[str]:
    """Yield a commit with all entries that made it, their prompts, its files, and what was changed by hand."""
    yield from _head(link, refs, looks)
    yield from _entries(teller, link, looks, most=None)
    if link.files:
        yield ""
        for file in link.files:
            yield looks.styler.spans(fitted(_file(file), looks.columns))
    by_hand = [(file, hunk) for file in link.files for hunk in file.by_hand]
    if by_hand and link.is_tied:
        yield ""
        yield looks.styler(Role.HEADING, "changed by hand, or unknown:")
        named = None
        for file, hunk in by_hand:
            if file is not named:
                yield looks.styler(Role.HEADING, visible(file.path, keep=""))
                named = file
            yield from _hand(hunk, looks)
        if link.is_cut_short:
            yield looks.styler(Role.DIM, "(there is more; `git show` has it)")


def _head(link: CommitLink, refs: Mapping[str, Sequence[str]], looks: Looks) -> Iterator[str]:
    commit = link.commit
    spans: list[Span] = [(Role.ID, f"commit {commit.ident[:SHORT]}")]
    names = refs.get(commit.ident, ())
    if names:
        spans += [(Role.DIM, " ("), (Role.BRANCH, visible(", ".join(names), keep="")), (Role.DIM, ")")]
    spans += [(Role.DIM, f" {looks.when(commit.time * 1000)} "), (Role.PLAIN, one_line(commit.subject))]
    yield looks.styler.spans(fitted(spans, looks.columns))
    if commit.is_cut:
        yield "  " + looks.styler(Role.WARNING, _cut(1))
        return
    yield "  " + looks.styler(Role.PLAIN, summary(link))


def summary(link: CommitLink) -> str:
    """Say how much of a commit is of entries."""
    merge = "compared with the first parent: " if len(link.commit.parents) > 1 else ""
    if not link.files:
        return merge + "nothing was changed"
    if not link.is_tied:
        return merge + f"{plural(link.added, 'line')} added, none by an entry"
    entries = plural(len(link.entries()), "entry", "entries")
    if not link.added:
        return merge + f"no line added; as {entries} left it"
    share = f"{link.added - link.hand} of {plural(link.added, 'added line')} by {entries} ({link.percent()} %)"
    return merge + share + (f", {link.hand} by hand or unknown" if link.hand else "")


def _entries(teller: LinkTeller, link: CommitLink, looks: Looks, *, most: int | None) -> Iterator[str]:
    found = link.entries()
    digits = max((len(str(count)) for _, count in found), default=1)
    session = None
    for writer, count in found[:most]:
        if len(teller.views) > 1 and writer.session != session:
            session = writer.session
            yield "  " + looks.styler(Role.DIM, f"session {visible(teller.views[session].where, keep='')}")
        prompt = teller.prompt_text(writer)
        spans: list[Span] = [
            (Role.PLAIN, "    "), (Role.ID, visible(teller.name(writer), keep="")),
            (Role.DIM, f"  {count:>{digits}} {'line ' if count == 1 else 'lines'}  "),
            (Role.USER if prompt is not None else Role.DIM, one_line(prompt) if prompt is not None else "(no prompt)"),
        ]  # fmt: skip
        yield looks.styler.spans(fitted(spans, looks.columns)).rstrip()
    if most is not None and len(found) > most:
        more = f"(+{len(found) - most} entries; `pivcs show commit/{link.commit.ident[:SHORT]}` has all)"
        yield "    " + looks.styler(Role.DIM, more)


def _file(file: LinkedFile) -> list[Span]:
    change = file.change
    name = visible(file.path, keep="")
    if change.old_path != change.path:
        name = f"{visible(decode_path(change.old_path), keep='')} -> {name}"
    return [(Role.PLAIN, f"  {change.status} {name}"), (Role.DIM, f"  {file_words(file)}")]


def file_words(file: LinkedFile) -> str:
    """Say what is known of one file of a commit."""
    change = file.change
    if change.is_submodule:
        return "another repository's commit, not looked into"
    ends = ", but for line ends" if file.is_converted else ""
    mine = file.added - file.hand
    if file.how is How.EXACT:
        if not file.hand:
            return f"as an entry left it{ends}, all of it"
        lines = plural(file.added, "line")
        return f"as an entry left it{ends}; {mine} of {lines} by entries, the rest was there before"
    if change.old == change.new:
        return "its mode changed" if change.old_mode != change.new_mode else "renamed"
    if change.is_binary:
        return "binary, not known to the sessions"
    if file.how is How.LINES:
        hand = f", {file.hand} by hand or unknown" if file.hand else ""
        return f"{mine} of {plural(file.added, 'line')} by entries{ends}{hand}"
    if change.new is None:
        return "deleted, by hand or unknown"
    return f"{plural(file.added, 'line')} by hand or unknown"


def _hand(hunk: HandHunk, looks: Looks) -> Iterator[str]:
    first = (hunk.written or hunk.taken)[0]
    yield "  " + looks.styler(Role.ID, f"line {first.number}" + (" (before)" if not hunk.written else ""))
    for mark, role, lines in (("-", Role.DELETION, hunk.taken), ("+", Role.ADDITION, hunk.written)):
        for line in lines:
            text = visible(line.text.decode("utf-8", "replace").rstrip("\r"), keep="\t")
            yield "  " + looks.styler(role, mark + (text if len(text) <= _TEXT else text[:_TEXT] + "…"))


def places_lines(views: Sequence[SessionView], places: Sequence[Place], looks: Looks) -> Iterator[str]:
    """Yield how it was decided where the files of sessions are, for those whose directory is not in the repository."""
    for view, place in zip(views, places, strict=True):
        if place.decided is not Decided.REPOSITORY:
            where = f"'{place.prefix or '.'}'" if place.prefix is not None else "unknown"
            text = f"session {view.where}: its files are in {where}, {_DECIDED[place.decided]}"
            yield looks.styler(Role.DIM, visible(text, keep=""))


def noted_line(noted: Noted, looks: Looks) -> str:
    """Say what became of the notes."""
    if not noted.written and not noted.removed:
        return looks.styler(Role.DIM, f"the notes in {REF} are as they were")
    gone = f", {noted.removed} taken away" if noted.removed else ""
    return f"{plural(noted.written, 'note')} written to {REF}{gone}; `git log --notes=pivcs` shows them"


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
        "added": link.added,
        "removed": link.removed,
        "by_hand": link.hand,
        "percent": link.percent(),
        "entries": [_entry_document(teller, writer, count) for writer, count in link.entries()],
        "files": [_file_document(teller, file, hand=hand) for file in link.files],
    }
    return document | {"cut": link.is_cut_short} if hand else document


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
