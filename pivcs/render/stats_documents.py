"""Statistics as documents and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from pivcs.ops.stats import Asked, Group, Statistics
from pivcs.ops.stats_sums import Sums
from pivcs.render.documents import Document, time_text
from pivcs.render.text import visible


def statistics_document(found: Statistics, asked: Asked) -> Document:
    """Return statistics as a JSON object."""
    return {
        "schema": "pivcs.stats/1",
        "by": found.by,
        "since": time_text(asked.since),
        "until": time_text(asked.until),
        "sessions": found.sessions,
        "copies": found.copies,
        "total": sums_document(found.counts.total),
        "abandoned": sums_document(found.counts.abandoned),
        "groups": [_group_document(group) for group in found.groups],
    }


def _group_document(group: Group) -> Document:
    return {
        "name": group.key.name,
        "session": group.key.session,
        "id": group.key.id,
        "copies": group.copies,
        "total": sums_document(group.counts.total),
        "abandoned": sums_document(group.counts.abandoned),
    }


def sums_document(sums: Sums) -> Document:
    """Return sums as a JSON object; counts are whole numbers."""
    return {
        "entries": sums.entries,
        "prompts": sums.prompts,
        "answers": sums.answers,
        "turns": sums.turns,
        "tool_calls": sums.tool_calls,
        "errors": sums.errors,
        "input": round(sums.input),
        "output": round(sums.output),
        "cache_read": round(sums.cache_read),
        "cache_write": round(sums.cache_write),
        "tokens": round(sums.tokens),
        "cost": sums.cost,
        "time": sums.time,
        "began": time_text(sums.began),
        "ended": time_text(sums.ended),
        "unreadable": sums.unreadable,
    }


def csv_lines(found: Statistics) -> Iterator[str]:
    """Yield statistics as lines of CSV: one of titles, then one for each group, or for all without groups.

    A cell that a spreadsheet would take for a formula begins with an apostrophe.
    """
    sums = list(sums_document(found.counts.total))
    titles = [*(("name", "session", "id", "copies") if found.by else ()), *sums]
    yield _row([*titles, *(f"abandoned_{name}" for name in sums if name not in ("began", "ended"))])
    for group in found.groups if found.by else [None]:
        counts = found.counts if group is None else group.counts
        cells: list[object] = [] if group is None else [*group.key, group.copies]
        cells += sums_document(counts.total).values()
        cells += [value for name, value in sums_document(counts.abandoned).items() if name not in ("began", "ended")]
        yield _row(cells)


def _row(cells: list[object]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow([_safe(cell) if isinstance(cell, str) else cell for cell in cells])
    return out.getvalue()


def _safe(text: str) -> str:
    shown = visible(text, keep="").replace("\n", " ")
    return f"'{shown}" if shown.startswith(("=", "+", "-", "@")) else shown
