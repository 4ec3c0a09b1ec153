"""A list of sessions as text, and as documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, takewhile

from pivcs.ops.listing import ListedSession, one_row_each
from pivcs.render.amounts import format_bytes, plural
from pivcs.render.documents import Document, time_text
from pivcs.render.log_text import Looks, fitted
from pivcs.render.style import Role, Span
from pivcs.render.text import one_line
from pivcs.render.width import pad, truncate

LONGEST_ID = 24


def list_lines(sessions: Sequence[ListedSession], looks: Looks, *, with_cwd: bool) -> Iterator[str]:
    """Yield a line for each session: when, id, name or first prompt, and how much there is; with `with_cwd` where.

    What was imported of a session that has a file stands in the line of that file.
    """
    folded = one_row_each(sessions)
    sessions = [row.listed for row in folded]
    ids = shortest_ids([session.facts.id or session.path.name for session in sessions])
    rows = [
        (
            looks.when(session.facts.time),
            truncate(one_line(short), LONGEST_ID),
            plural(session.facts.entries, "entry", "entries"),
            plural(session.branches, "branch", "branches"),
            format_bytes(session.size),
        )
        for session, short in zip(sessions, ids, strict=True)
    ]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(5)]
    for (session, others), row in zip(folded, rows, strict=True):
        spans: list[Span] = [(Role.PLAIN, pad(row[0], widths[0]) + "  "), (Role.ID, pad(row[1], widths[1]) + "  ")]
        amounts = [pad(text, width, right=True) for text, width in zip(row[2:], widths[2:], strict=True)]
        spans.append((Role.DIM, "  ".join(amounts) + "  "))
        states = [*map(_shown(session), session.state), *([_more(others)] if others else [])]
        if states:
            spans.append((Role.WARNING, f"[{', '.join(states)}] "))
        if session.facts.name:
            spans.append((Role.HEADING, one_line(session.facts.name)))
        else:
            spans.append((Role.PLAIN, one_line(session.facts.first_prompt or "(no prompt)")))
        if with_cwd and session.facts.cwd:
            spans.append((Role.DIM, f"  {one_line(session.facts.cwd)}"))
        yield looks.styler.spans(fitted(spans, looks.columns)).rstrip(" ")


def _shown(session: ListedSession) -> Callable[[str], str]:
    """Return what shows a state; where something came from is said with it."""
    origin = f"imported from {one_line(session.origin)}" if session.origin else "imported"
    return lambda state: origin if state == "imported" else state


def _more(origins: Sequence[str | None]) -> str:
    """Return what says that a session also goes on in other ways, which came from repositories."""
    names = list(dict.fromkeys(one_line(origin) for origin in origins if origin))
    return f"+{len(origins)} imported" + (f" from {', '.join(names)}" if names else "")


def session_document(session: ListedSession) -> Document:
    """Return a session of a list as a JSON object."""
    return {
        "path": str(session.path),
        "id": session.facts.id,
        "key": session.key,
        "name": session.facts.name,
        "first_prompt": session.facts.first_prompt,
        "cwd": session.facts.cwd,
        "time": time_text(session.facts.time),
        "size": session.size,
        "entries": session.facts.entries,
        "tips": session.facts.tips,
        "branches": session.branches,
        "state": list(session.state),
        "origin": session.origin,
    }


def shortest_ids(ids: Sequence[str], least: int = 8) -> list[str]:
    """Return the shortest beginning of each id, at least `least` characters, that no other id has; file names whole."""
    ordered = sorted(set(ids))
    shared = dict.fromkeys(ordered, least)
    for one, other in pairwise(ordered):
        alike = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
        common = sum(1 for _ in alike) + 1
        shared[one] = max(shared[one], common)
        shared[other] = max(shared[other], common)
    return [ident if ident.endswith(".jsonl") else ident[: shared[ident]] for ident in ids]
