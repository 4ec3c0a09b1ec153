from __future__ import annotations

from pivcs.session.jsontext import NotJson, is_blank, parse_json
from pivcs.session.jsonwrite import dump_json
from tests.conformance.conftest import Case


def rewritten(line: bytes) -> str | None:
    try:
        return dump_json(parse_json(line)).decode()
    except NotJson:
        return None


def test_lines_are_written_again_as_the_engine_writes_them(case: Case) -> None:
    expected = case.expected["reserialize"]
    lines = case.data.split(b"\n")
    changed = {
        str(number): again
        for number, line in enumerate(lines, 1)
        if not is_blank(line) and (again := rewritten(line)) != line.decode("utf-8", "replace")
    }
    assert changed == (expected.get("lines") or {})
    assert expected["stable"] is (not changed)
