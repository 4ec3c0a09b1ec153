"""What users type to name an entry, resolved to a row: the one place that reads revisions (`docs/revisions.md`).

Kinds of name, tried in this order: `HEAD` or `@`, a branch, a tag, a label, an entry id, a line (`L7`), the beginning
of an id (four characters and more). Explicit forms: `heads/x`, `tags/x`, `label:"any text"`, `entry/x`. Behind a name
`@{n}` is where HEAD or a branch was n moves ago, `~n` and `^` go to ancestors. `:/text` is the newest entry that
contains a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from pivcs.errors import InputError
from pivcs.objects.table import NODE
from pivcs.ops.names import Found, Names, Place, quoted
from pivcs.ops.predicates import contains
from pivcs.ops.reflog import branch_moves, head_at
from pivcs.ops.view import SessionView
from pivcs.session.fields import LineKind

SHOWN_CANDIDATES: Final = 8
LONGEST: Final = 10_000
"""Characters that a revision may have."""

_STEP: Final = re.compile(r"~([0-9]{0,18})|(\^)|@\{([0-9]{1,18})\}")
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)


class UnknownRevision(InputError):
    """A name that nothing in the session has."""

    def __init__(self, text: str, where: str, *, hint: str | None = None) -> None:
        super().__init__(
            f"no branch, tag, label, entry or object id '{_shortened(text)}' in '{where}'",
            hint=hint or "`pivcs log` shows the ids that can be typed here; the id of a session goes behind -s",
        )
        self.text = text


class AmbiguousRevision(InputError):
    """A name that several entries have; `candidates` are their rows."""

    def __init__(self, text: str, kind: str, names: Sequence[str], candidates: Sequence[int]) -> None:
        shown = ", ".join(names[:SHOWN_CANDIDATES]) + (", …" if len(names) > SHOWN_CANDIDATES else "")
        hint = "type one of their ids" if kind == "label" else "type more of the id"
        super().__init__(f"'{text}' is the {kind} of {len(candidates)} entries: {shown}", hint=hint)
        self.text = text
        self.candidates = tuple(candidates)


class NoSuchAncestor(InputError):
    """`~n` or `^` goes beyond the root."""


class NoSuchMove(InputError):
    """`@{n}` goes beyond the first position, or stands behind what has no history."""


class NoEntryThere(InputError):
    """A line was named that holds no entry."""


class InAnotherStream(InputError):
    """A name is that of an entry in another source or generation, where only this one will do."""


class Target(NamedTuple):
    """What a revision names: a row of a view, which may be that of another stream of the session.

    `warnings` say what else the name could mean.
    """

    view: SessionView
    row: int
    warnings: tuple[str, ...] = ()


def resolve(view: SessionView, text: str) -> int:
    """Return the node's row that a revision names in this stream. Raises as `resolve_target`, and `InAnotherStream`."""
    return _here(view, text, resolve_target(view, text))


def resolve_row(view: SessionView, text: str) -> int:
    """Return the row that a revision names, which for `L7` may be a line that is no entry. Raises as `resolve`."""
    return _here(view, text, Resolver(view).target(text))


def resolve_target(view: SessionView, text: str) -> Target:
    """Return the node that a revision names, in whatever stream of the session it is.

    Raises `UnknownRevision`, `AmbiguousRevision`, `NoSuchAncestor`, `NoSuchMove`, `NoEntryThere`.
    """
    return Resolver(view).node(text)


def name_of(view: SessionView, row: int) -> str:
    """Return the shortest text that `resolve` takes back to a node's row: its branch, its id, or a part of its oid."""
    return Names(view).name_of(row)


def _here(view: SessionView, text: str, target: Target) -> int:
    if target.view is not view:
        raise InAnotherStream(
            f"'{_shortened(text)}' is in '{target.view.where}', another source or generation of the session",
            hint="here only an entry of the stream that is shown will do",
        )
    return target.row


class Resolver:
    """Resolves many revisions of one view."""

    def __init__(self, view: SessionView) -> None:
        self.view = view
        self.names = Names(view)
        self._views: dict[int, SessionView] = {}

    def node(self, text: str) -> Target:
        """As `resolve_target`."""
        target = self.target(text)
        table = target.view.table
        if not table.is_node(target.row):
            kind = LineKind(table.kind[target.row]).name.lower()
            article = "an" if kind[0] in "aeiou" else "a"
            what = "the header" if kind == "header" else f"{article} {kind} line"
            line = table.line_number(target.row)
            raise NoEntryThere(f"line {line} of '{target.view.where}' is {what}, no entry")
        return Target(target.view, table.first_row(target.row), target.warnings)

    def target(self, text: str) -> Target:
        """As `resolve_target`, but for lines that are no entries."""
        if not text:
            raise UnknownRevision(text, self.view.where, hint="a revision is not empty; HEAD is where pi would resume")
        if len(text) > LONGEST:
            raise UnknownRevision(text, self.view.where, hint=f"a revision has at most {LONGEST:,} characters")
        if text.startswith(":/"):
            found = self._newest_containing(text)
            if found is not None:
                return found
        # A label may itself end in `~2`, so the longest name wins.
        name, steps = text, list[re.Match[str]]()
        for name, steps in _splits(text):
            back = int(steps[0][3]) if steps and steps[0][3] else None
            target = self._moved_back(text, name, back) if back is not None else self._named(name, text)
            if target is not None:
                return _ancestor(text, target, steps[back is not None :])
        hint = "the session has no entry yet" if self.view.head is None else None
        raise UnknownRevision(text, self.view.where, hint=hint or self._where_else(name) or self.suggestion(name))

    def _named(self, name: str, text: str) -> Target | None:
        if not name or len(name) > self.names.longest:
            return None
        explicit = self.names.find_explicit(name)
        if explicit is not None:
            return self._chosen(explicit, text, ())
        kinds = self.names.find(name)
        found = next(kinds, None)
        return None if found is None else self._chosen(found, text, kinds)

    def _chosen(self, found: Found, text: str, others: Iterator[Found] | tuple[()]) -> Target:
        if len(found.places) > 1:
            rows = [row for _, row in found.places]
            raise AmbiguousRevision(text, found.kind, [self.view.table.name(row) for row in rows], rows)
        place = found.places[0]
        warnings = [self._warning(text, found.kind, other) for other in others if set(other.places) != {place}]
        return Target(self._view_of(place), place[1], tuple(warnings))

    def _warning(self, text: str, kind: str, other: Found) -> str:
        row = other.places[0][1]
        spelled = {"tag": f"tags/{text}", "label": f"label:{quoted(text)}", "entry id": f"entry/{text}"}
        typed = spelled.get(other.kind) if len(other.places) == 1 else None
        means = "HEAD" if kind == "HEAD" else f"the {kind}"
        return f"'{text}' means {means}; it is also the {other.kind} of " + (
            f"another entry, '{typed}'" if typed else f"'{self.view.table.name(row)}'"
        )

    def _view_of(self, place: Place) -> SessionView:
        stream = place[0]
        if stream is None:
            return self.view
        if stream.id not in self._views:
            from pivcs.ops.access import view_of

            assert self.view.store is not None
            self._views[stream.id] = view_of(self.view.store, stream)
        return self._views[stream.id]

    def _moved_back(self, text: str, name: str, moves: int) -> Target | None:
        """Return where HEAD (also as an empty name) or a branch was so many moves ago."""
        if name in ("", "HEAD", "@"):
            row = head_at(self.view, moves)
            if row is not None:
                return Target(self.view, row)
            count = sum(1 for flags in self.view.table.flags if flags & NODE)
        else:
            branch = name.removeprefix("heads/")
            if branch not in self.names.branches:
                if self._named(name, text) is None:
                    return None
                raise NoSuchMove(f"'{name}' has no history, so there is no '{text}'", hint="HEAD and branches have one")
            history = branch_moves(self.view, branch)
            row = history[moves].row if moves < len(history) else None
            if row is not None:
                return Target(self.view, row)
            count = len(history)
            if moves < count:
                raise NoSuchMove(f"'{branch}' was deleted {moves} moves ago, so there is no '{text}'")
        hint = f"`pivcs reflog{'' if name in ('', 'HEAD', '@') else ' ' + name}` shows the history"
        raise NoSuchMove(f"'{text}' goes beyond the first position: there are {count}", hint=hint)

    def _newest_containing(self, text: str) -> Target | None:
        quotes = _QUOTED.match(text, 2)
        if quotes is not None:
            wanted, rest = re.sub(r'\\(["\\])', r"\1", quotes[1]), text[quotes.end() :]
            steps = list(_STEP.finditer(rest))
            if "".join(step[0] for step in steps) != rest or any(step[3] for step in steps):
                return None
        else:
            wanted, steps = text[2:], []
        if not wanted:
            raise UnknownRevision(text, self.view.where, hint=":/ is followed by the text that an entry contains")
        has = contains(wanted)
        for row in range(len(self.view.table) - 1, -1, -1):
            if self.view.table.is_node(row) and has(self.view, row):
                return _ancestor(text, Target(self.view, self.view.table.first_row(row)), steps)
        raise UnknownRevision(text, self.view.where, hint="no entry contains this text; capitals count")

    def _where_else(self, text: str) -> str | None:
        from pivcs.ops.in_other_streams import where_else

        return where_else(self.view, text)

    def suggestion(self, text: str) -> str | None:
        """Return a hint with the name that is most like a text, if one is."""
        from difflib import get_close_matches

        view = self.view
        branches = list(self.names.branches)[:1000]
        tips = (view.table.name(row) for row in view.tips()[-1000:])
        known = [*branches, *view.refs.tags, *self.names.elsewhere, *self.names.labels, *tips]
        close = get_close_matches(text[:400], known, n=1)
        if close:
            return f"did you mean '{close[0]}'?"
        # A file at an entry (`REV:PATH`) of which the entry is unknown.
        revision, colon, path = text.partition(":")
        close = get_close_matches(revision[:400], known, n=1) if colon else []
        return f"did you mean '{close[0]}:{_shortened(path)}'?" if close else None


def _splits(text: str) -> Iterator[tuple[str, list[re.Match[str]]]]:
    """Yield the ways to take a text as a name and steps behind it, the longest name first."""
    found: list[re.Match[str]] = []
    name = text
    yield name, found
    while (step := _last_step(name)) is not None:
        name, found = name[: step.start()], [step, *found]
        yield name, found


def _last_step(text: str) -> re.Match[str] | None:
    begin = max(text.rfind(sign) for sign in ("~", "^", "@{"))
    step = _STEP.match(text, begin) if begin >= 0 else None
    return step if step is not None and step.end() == len(text) else None


def _ancestor(text: str, target: Target, steps: Sequence[re.Match[str]]) -> Target:
    row, table = target.row, target.view.table
    above = 0
    for step in steps:
        if step[3]:
            raise NoSuchMove(f"in '{text}' a move stands behind an ancestor", hint="`@{n}` follows the name itself")
        for _ in range(1 if step[2] else int(step[1] or 1)):
            parent = table.parent_of(row)
            if parent is None:
                are = "entry is" if above == 1 else "entries are"
                raise NoSuchAncestor(f"'{_shortened(text)}' goes beyond the root: only {above} {are} above it")
            row = parent
            above += 1
    return Target(target.view, row, target.warnings)


def _shortened(text: str) -> str:
    return text if len(text) <= 400 else f"{text[:200]}…{text[-20:]}"
