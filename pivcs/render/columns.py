"""Lists with columns: each is as wide as its widest text, the last takes what is left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pivcs.render.log_text import Looks, fitted
from pivcs.render.style import Role, Span
from pivcs.render.width import columns_of, truncate


def column_lines(
    rows: Sequence[Sequence[Span]], looks: Looks, *, right: frozenset[int] = frozenset(), longest: int = 40
) -> Iterator[str]:
    """Yield a line for each row of safe texts; columns in `right` are set to the right.

    On a terminal all but the last column are cut to `longest` columns; columns without any text are left out.
    """
    if not rows:
        return
    if looks.columns is None:
        cut = [list(row) for row in rows]
    else:
        cut = [[*((role, truncate(text, longest)) for role, text in row[:-1]), row[-1]] for row in rows]
    widths = [max(columns_of(row[column][1]) for row in cut) for column in range(len(rows[0]) - 1)]
    for row in cut:
        spans: list[Span] = []
        for column, (width, (role, text)) in enumerate(zip(widths, row, strict=False)):
            if not width:
                continue
            blank = " " * (width - columns_of(text))
            spans += [(Role.PLAIN, blank), (role, text)] if column in right else [(role, text), (Role.PLAIN, blank)]
            spans.append((Role.PLAIN, "  "))
        yield looks.styler.spans(fitted([*spans, row[-1]], looks.columns)).rstrip(" ")
