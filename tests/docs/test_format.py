"""The examples of glued lines in `docs/format.md` are what the reader answers."""

from __future__ import annotations

import re

import pytest

from docs.generate import ROOT
from pivcs.session.classify import classify_line

_TEXT = (ROOT / "docs" / "format.md").read_text(encoding="utf-8")
_SECTION = _TEXT[_TEXT.index("## 5. Glued lines") : _TEXT.index("## 6. ")]
_A, _B = (line.strip().encode() for line in _SECTION.splitlines() if line.startswith('    {"type":"label",'))
_ROWS = re.findall(r"^\| `(.+?)` \| (\w+) \| (?:`(.+?)` )?\| ", _SECTION, re.MULTILINE)
_TOKENS = {"A": _A, "B": _B, "A-": _A[:-5], "NUL": b"\0", "CR": b"\r"}


def spelled(tokens: str) -> list[bytes]:
    return [_TOKENS.get(token, token.encode()) for token in tokens.split()]


def test_table_of_examples_is_found() -> None:
    assert {kind for _, kind, _ in _ROWS} == {"glued", "damaged", "blank", "entry"}


@pytest.mark.parametrize(("tokens", "kind", "taken"), _ROWS)
def test_example_of_a_line(tokens: str, kind: str, taken: str) -> None:
    line = b"".join(spelled(tokens))
    verdict = classify_line(line, version1=False)
    assert verdict.kind.name.lower() == kind
    records = [line[record.start : record.end] for record in verdict.records]
    assert records == ([line] if kind == "entry" else spelled(taken))
