"""A file with who wrote each of its lines, as text and as a document."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from pivcs.ops.blame import Author, Blame, BlamedLine, Kind
from pivcs.ops.view import SessionView
from pivcs.ops.whereabouts import Whereabouts
from pivcs.render.documents import Document, time_text
from pivcs.render.log_text import Looks
from pivcs.render.style import Role, Span
from pivcs.render.text import one_line, visible
from pivcs.render.width import columns_of, pad, truncate
from pivcs.workspace.line_origins import How

_BRANCH_COLUMNS: Final = 14
_PROMPT_COLUMNS: Final = 28
_MODEL_COLUMNS: Final = 14


class Told(NamedTuple):
    """What is said of the origin of a line."""

    entry: str
    branch: str
    when: str
    model: str
    prompt: str


class Teller:
    """Says where lines come from; the same is asked for many lines."""

    def __init__(self, blame: Blame, looks: Looks) -> None:
        self.views = blame.views
        self._looks = looks
        self.whereabouts = cache(lambda number: Whereabouts(blame.views[number]))
        self.told = cache(self._told)

    def _told(self, line: BlamedLine) -> Told:
        author = line.author
        if author.kind is not Kind.ENTRY or author.row is None:
            return Told("--------", "", "", "", self.unknown(line))
        view, places = self.views[author.view], self.whereabouts(author.view)
        row = author.row
        prompt = places.prompt(row)
        said = "(no prompt)" if prompt is None else one_line(view.subject(prompt))
        if line.how is not How.WRITTEN:
            said = ("moved: " if line.how is How.MOVED else "moved or reformatted: ") + said
        branch = places.branch(row) or ""
        if places.is_abandoned(row):
            branch = f"{branch}?" if branch else "?"
        time = self._looks.when(view.table.time_of(row))
        return Told(visible(view.table.name(row), keep=""), one_line(branch), time, one_line(places.model(row) or ""),
                    said)  # fmt: skip

    def unknown(self, line: BlamedLine) -> str:
        """Say what is known of a line that no entry wrote as it is."""
        author = line.author
        if line.elsewhere is not None:
            return f"unknown; {self.first_written(line.elsewhere)}"
        if author.kind is Kind.BASE:
            return one_line(author.label or "base")
        if author.kind is Kind.BEFORE:
            return "was there before"
        if author.kind is Kind.UNTOLD:
            return "no session tells of the file"
        return "changed by something unseen"

    def first_written(self, author: Author) -> str:
        """Say where the text of a line was first written."""
        view, places = self.views[author.view], self.whereabouts(author.view)
        if author.row is None:
            return "unknown"
        name = visible(view.table.name(author.row), keep="")
        if places.is_abandoned(author.row):
            return f"first written on an abandoned branch, {name}"
        return f"first written at {name}"


def blame_lines(blame: Blame, looks: Looks) -> Iterator[str]:
    """Yield each line of the file with the entry, branch, time, model and prompt behind it.

    A `?` behind a branch says that it was abandoned: HEAD does not contain it.
    """
    teller = Teller(blame, looks)
    shown = [_asked(line) for line in blame.lines]
    told = [teller.told(line) for line in shown]
    widths = [max((columns_of(part) for part in column), default=0) for column in zip(*told, strict=True)]
    if not told:
        return
    branch, model = min(widths[1], _BRANCH_COLUMNS), min(widths[3], _MODEL_COLUMNS)
    prompt = min(widths[4], _prompt_columns(looks))
    digits = len(str(len(blame.lines)))
    for line, say in zip(blame.lines, told, strict=True):
        known = line.author.kind is Kind.ENTRY
        spans: list[Span] = [
            (Role.ID if known else Role.DIM, pad(say.entry, widths[0])),
            (Role.BRANCH, " " + pad(truncate(say.branch, branch), branch) if branch else ""),
            (Role.DIM, " " + pad(say.when, widths[2]) if widths[2] else ""),
            (Role.ASSISTANT, " " + pad(truncate(say.model, model), model) if model else ""),
            (Role.USER if known else Role.DIM, " " + pad(truncate(say.prompt, prompt), prompt)),
            (Role.DIM, f" {line.number:>{digits}} "),
            (Role.PLAIN, visible(line.text.decode("utf-8", "replace").rstrip("\r\n"), keep="\t")),
        ]
        yield looks.styler.spans(spans).rstrip()


def _asked(line: BlamedLine) -> BlamedLine:
    """Return a line without what makes it different from others of the same origin: what is asked for it is kept."""
    return line._replace(number=0, text=b"")


def _prompt_columns(looks: Looks) -> int:
    return _PROMPT_COLUMNS if looks.columns is None else max(_PROMPT_COLUMNS, looks.columns // 4)


def author_document(view: SessionView, places: Whereabouts, row: int) -> Document:
    """Return the entry that wrote a line."""
    prompt = places.prompt(row)
    return {
        "session": view.where,
        "entry": view.table.name(row),
        "oid": view.table.object_id(row).hex,
        "branch": places.branch(row),
        "abandoned": places.is_abandoned(row),
        "time": time_text(view.table.time_of(row)),
        "model": places.model(row),
        "prompt_entry": view.table.name(prompt) if prompt is not None else None,
        "prompt": view.subject(prompt) if prompt is not None else None,
    }


def blame_documents(blame: Blame) -> tuple[list[Document], Iterator[Document]]:
    """Return the entries that wrote lines, and a document for each line, which names its author by number."""
    places = cache(lambda number: Whereabouts(blame.views[number]))
    numbers: dict[tuple[int, int], int] = {}
    for line in blame.lines:
        for author in (line.author, line.elsewhere):
            if author is not None and author.kind is Kind.ENTRY and author.row is not None:
                numbers.setdefault((author.view, author.row), len(numbers))

    def number_of(author: Author | None) -> int | None:
        known = author is not None and author.kind is Kind.ENTRY and author.row is not None
        return numbers[author.view, author.row] if author is not None and author.row is not None and known else None

    authors = [author_document(blame.views[view], places(view), row) for view, row in numbers]
    lines: Iterator[Document] = (
        {
            "line": line.number,
            "text": line.text.decode("utf-8", "replace").rstrip("\r\n"),
            "kind": line.author.kind.value,
            "how": line.how.value,
            "author": number_of(line.author),
            "base": line.author.label,
            "elsewhere": number_of(line.elsewhere),
        }
        for line in blame.lines
    )
    return authors, lines
