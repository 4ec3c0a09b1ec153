"""A picture of a terminal, as SVG: what commands wrote, with their colours. `docs/generate.py` makes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

_SIZE: Final = 14
_WIDTH: Final = 8.43
"""What a character takes across, in a monospaced font of that size."""
_LINE: Final = 19
_MARGIN: Final = 16
_BAR: Final = 30
_CODE: Final = re.compile(r"\x1b\[([0-9;]*)m|\x1b\[K")
_COLOURS: Final = {31: "#e5737a", 32: "#8fc378", 33: "#e2c07c", 34: "#6fb3f0", 35: "#c78ddd", 36: "#60b9c4"}
_TEXT: Final = "#cfd3da"
_DIM: Final = "#8a919e"


def terminal(title: str, lines: Sequence[str], columns: int) -> str:
    """Return a picture of lines with ANSI colours, as wide as `columns` characters; what is longer is cut."""
    width, height = round(columns * _WIDTH) + 2 * _MARGIN, len(lines) * _LINE + _BAR + 2 * _MARGIN
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="{escape(title)}">',
        f'<rect width="{width}" height="{height}" rx="8" fill="#1d2026"/>',
        *(f'<circle cx="{_MARGIN + 4 + 18 * place}" cy="16" r="5" fill="#3a404b"/>' for place in range(3)),
        f'<text x="{width / 2:.0f}" y="21" text-anchor="middle" font-family="sans-serif" font-size="13" fill="{_DIM}">'
        f"{escape(title)}</text>",
        f'<g font-family="ui-monospace,Menlo,Consolas,DejaVu Sans Mono,monospace" font-size="{_SIZE}" '
        f'fill="{_TEXT}" xml:space="preserve">',
    ]
    for number, line in enumerate(lines):
        spans = "".join(_spans(line, columns))
        if spans:
            out.append(f'<text x="{_MARGIN}" y="{_BAR + _MARGIN + number * _LINE + 10}">{spans}</text>')
    return "\n".join([*out, "</g>", "</svg>", ""])


def _spans(line: str, columns: int) -> Iterator[str]:
    """Yield the pieces of a line, each in its colour."""
    colour, bold, column, at = _TEXT, False, 0, 0
    codes = [*_CODE.finditer(line), None]
    for code in codes:
        text = line[at : code.start() if code is not None else len(line)][: columns - column]
        if text:
            look = f'fill="{colour}"' + (' font-weight="bold"' if bold else "")
            yield f'<tspan x="{_MARGIN + column * _WIDTH:.1f}" {look}>{escape(text)}</tspan>'
            column += len(text)
        if code is None:
            return
        at = code.end()
        for number in (int(part or 0) for part in (code[1] or "").split(";") if code[1] is not None):
            if number in (0, 39):
                colour = _TEXT
                bold = bold and number != 0
            elif number == 1:
                bold = True
            elif number == 2:
                colour = _DIM
            else:
                colour = _COLOURS.get(number, colour)
