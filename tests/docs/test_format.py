"""What `docs/format.md` says in tables is so: examples of glued lines, tables of the store, codes, events."""

from __future__ import annotations

import re

import pytest

from docs.generate import ROOT
from pivcs.session import codes
from pivcs.session.classify import classify_line
from pivcs.store import schema
from pivcs.store.store import Store

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


def section(heading: str) -> str:
    found = re.search(rf"^### {re.escape(heading)}\n(.*?)(?=^##|\Z)", _TEXT, re.MULTILINE | re.DOTALL)
    assert found is not None, heading
    return found[1]


def test_every_table_and_column_of_the_store_is_documented_and_there() -> None:
    documented: dict[str, list[str]] = {}
    for names, kind in re.findall(r"^\| (`[^|]+`) \| ([^|]*?) ?\|(?: .+)? \|$", section("9.2 Tables"), re.MULTILINE):
        columns = re.findall(r"`(\w+)`", names)
        if not kind:
            (table,) = columns
            documented[table] = []
        else:
            documented[table] += columns
    with Store.in_memory() as store:
        connection = store.database.connection
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        there = {name: [row[1] for row in connection.execute(f"PRAGMA table_info({name})")] for name in tables}
    files = ["file_size", "file_mtime", "file_ctime", "device", "inode"]
    assert set(files) <= set(documented["stream"])
    assert {name: sorted(columns) for name, columns in documented.items()} == {
        name: sorted(columns) for name, columns in there.items()
    }


def test_marks_of_the_file_are_the_documented_ones() -> None:
    text = section("9.1 The file")
    assert f"0x{schema.APPLICATION_ID:x} (`pivc`, {schema.APPLICATION_ID})" in text
    assert f"is the format version of the store, {schema.FORMAT_VERSION}." in text
    assert not schema.FEATURES


def test_every_code_is_documented() -> None:
    cells = re.findall(r"\| (\d+) \| `(\w+)`", section("9.5 Codes"))
    assert {(int(code), name) for code, name in cells} == {
        (code, name) for table in (codes.TYPES, codes.ROLES) for name, code in table.items()
    }


def test_every_kind_of_event_is_documented() -> None:
    listed = set(re.findall(r"^\| `(\w+)` \|", section("9.9 Events"), re.MULTILINE))
    source = "".join((ROOT / "pivcs" / "ops" / name).read_text(encoding="utf-8") for name in ("sync.py", "remote.py"))
    written = set(re.findall(r"Event\([^()]*\"(\w+)\",", source)) | {"rewritten", "truncated"}
    assert listed == written
