"""Commits and the entries that made them, as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from pivcs.gitbridge.base import decode_path
from pivcs.gitbridge.commits import Exported
from pivcs.gitbridge.link_notes import REF, Noted
from pivcs.gitbridge.link_paths import Decided, Place
from pivcs.gitbridge.link_result import CommitLink, HandHunk, LinkedFile
from pivcs.ops.made_match import How
from pivcs.ops.view import SessionView
from pivcs.render.amounts import plural
from pivcs.render.link_documents import LinkTeller, prompt_text, prompts_of
from pivcs.render.log_text import NARROWEST, Looks, fitted
from pivcs.render.style import Role, Span
from pivcs.render.text import one_line, visible
from pivcs.render.width import wrap

SHORT: Final = 12
"""Digits of a commit's id that are shown."""
_ENTRIES: Final = 20
"""Entries of a commit that a list shows; the rest is counted."""
_PROMPT_LINES: Final = 12
"""Lines of a prompt that are quoted; the rest is counted."""
_TEXT: Final = 500
"""Characters of a line that people see."""
_EXPORTED: Final = {
    "snapshot": "files as they were on the disk",
    "stream": "a session's file",
    "names": "names of branches and tags",
    "page": "the start page",
}
_DECIDED: Final = {
    Decided.REPOSITORY: "its directory is in the repository",
    Decided.CONTENT: "by what its files held",
    Decided.PATHS: "by the names of its files alone",
    Decided.UNKNOWN: "cannot be told",
}


def link_lines(
    teller: LinkTeller, links: Iterable[CommitLink], refs: Mapping[str, Sequence[str]], looks: Looks, *,
    untied: bool,
) -> Iterator[str]:  # fmt: skip
    """Yield commits with the entries that made them; with `untied` also those that no entry has a part in, and those
    that an export wrote."""
    others = cut = shown = exported = 0
    for link in links:
        if link.commit.exported is not None and not untied:
            exported += 1
            continue
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
    if exported:
        yield looks.styler(Role.DIM, f"{plural(exported, 'commit')} written by an export passed by")
    elif not (shown or others or cut):
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
    """Yield a commit with all entries that made it, their prompts, its files, and what was changed by hand; of one that
    an export wrote which entry it is."""
    yield from _head(link, refs, looks)
    yield from _exported_entry(teller, link, looks)
    yield from _prompts(teller, link, looks)
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
    """Say how much of a commit is of entries, or what it is when an export wrote it."""
    if link.commit.exported is not None:
        return exported_words(link.commit.exported)
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


def _exported_entry(teller: LinkTeller, link: CommitLink, looks: Looks) -> Iterator[str]:
    found = teller.exported_entry(link.commit)
    if found is not None:
        view = teller.views[found.session]
        name = visible(teller.name(found), keep="")
        yield f"  in session {visible(view.where, keep='')}:"
        spans: list[Span] = [
            (Role.PLAIN, "    "), (Role.ID, name), (Role.PLAIN, f"  {one_line(view.subject(found.row))}")
        ]
        yield looks.styler.spans(fitted(spans, looks.columns)).rstrip()


def exported_words(exported: Exported) -> str:
    """Say what a commit is that an export wrote."""
    if exported.kind == "entry":
        entry = f"entry {exported.entry}" if exported.entry else "an entry"
        return f"written by an export: {one_line(entry)}, node {(exported.node or '')[:SHORT]}"
    return f"written by an export: {_EXPORTED[exported.kind]}"


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


def _prompts(teller: LinkTeller, link: CommitLink, looks: Looks) -> Iterator[str]:
    """Yield the prompts behind a commit, quoted, each with the entries that made it."""
    for session, prompt, entries in prompts_of(teller, link):
        view = teller.views[session]
        yield ""
        where = f" in session {visible(view.where, keep='')}" if len(teller.views) > 1 else ""
        if prompt is None:
            yield "  " + looks.styler(Role.DIM, f"without a prompt{where}")
        else:
            yield "  " + looks.styler(Role.USER, f"prompt {visible(view.table.name(prompt), keep='')}{where}")
            yield from _quoted(view, prompt, looks)
        for writer, count in entries:
            spans: list[Span] = [
                (Role.PLAIN, "    "), (Role.ID, visible(teller.name(writer), keep="")),
                (Role.DIM, f"  {plural(count, 'line')}  "), (Role.TOOL, one_line(view.subject(writer.row))),
            ]  # fmt: skip
            yield looks.styler.spans(fitted(spans, looks.columns)).rstrip()


def _quoted(view: SessionView, prompt: int, looks: Looks) -> Iterator[str]:
    lines = prompt_text(view, prompt).strip().split("\n")
    for line in lines[:_PROMPT_LINES]:
        safe = visible(line.rstrip("\r"), keep="\t")
        pieces = [safe] if looks.columns is None else wrap(safe, max(looks.columns - 4, NARROWEST))
        for piece in pieces or [""]:
            yield f"  {looks.styler(Role.DIM, '>')} {piece}".rstrip()
    if len(lines) > _PROMPT_LINES:
        name = visible(view.table.name(prompt), keep="")
        yield "  " + looks.styler(Role.DIM, f"(+{plural(len(lines) - _PROMPT_LINES, 'line')}; `pivcs show {name}`)")


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
