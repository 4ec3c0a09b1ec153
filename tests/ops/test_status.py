"""What is wrong with a file is found, and told with its place."""

from __future__ import annotations

import pytest

from pivcs.ops.status import EXCERPT, status_of
from pivcs.session.fields import LineKind
from tests.builders import build_session, header_line, message_line
from tests.ops.views import view_of

GOOD = build_session("a-b")
A, B, C = (message_line(name * 8, parent) for name, parent in (("a", None), ("b", "aaaaaaaa"), ("c", "bbbbbbbb")))


def findings(data: bytes) -> list[tuple[str, int, int, int, str]]:
    return [(f.kind, f.line, f.offset, f.length, f.detail) for f in status_of(view_of(data)).findings]


def test_good_file_has_no_findings():
    assert findings(GOOD) == []
    assert findings(b"") == []


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b'{"type":"mess', "damaged-line"),
        (b"\0" * 4096, "damaged-line"),
        (b"not json", "damaged-line"),
        (b'{"type":"x","id":"y","v":NaN}', "damaged-line"),
        (b"null", "foreign-line"),
        (b'{"type":"note"}', "foreign-line"),
        (header_line("x")[:-1], "second-header"),
    ],
)
def test_line_that_is_no_entry_is_named_with_line_offset_and_length(line: bytes, kind: str):
    data = GOOD + line + b"\n" + C
    assert findings(data) == [(kind, 4, len(GOOD), len(line), "")]
    found = status_of(view_of(data)).findings[0]
    assert found.excerpt == line[:EXCERPT].decode()


def test_blank_lines_are_counted_but_no_finding():
    status = status_of(view_of(GOOD + b"\n \n" + C))
    assert status.findings == ()
    assert status.lines[LineKind.BLANK] == 2


def test_glued_line_says_how_much_was_salvaged():
    start = len(header_line())
    assert findings(header_line() + A[:-1] + B + C) == [("glued-line", 2, start, len(A) + len(B) - 2, "2 salvaged")]
    torn = header_line() + A + B[:50] + C
    assert [finding[0] for finding in findings(torn)] == ["glued-line", "missing-parent"]
    assert findings(torn)[1] == ("missing-parent", 3, start + len(A) + 50, len(C) - 1, "bbbbbbbb")


def test_orphan_names_the_parent_that_is_missing():
    assert findings(header_line() + C) == [("missing-parent", 2, len(header_line()), len(C) - 1, "bbbbbbbb")]


def test_bytes_that_are_no_utf8_are_named():
    line = A.replace(b"text", b"te\xe9t")
    assert findings(header_line() + line)[0][:3] == ("not-utf-8", 2, len(header_line()))


def test_missing_header_is_named_once():
    assert findings(A + B)[-1] == ("no-header", 1, 0, 0, "")


def test_pending_bytes_are_named_as_the_next_line():
    data = GOOD + C[:-1]
    assert findings(data) == [("pending-line", 4, len(GOOD), len(C) - 1, "")]
    assert status_of(view_of(data)).pending == len(C) - 1


def test_counts():
    data = header_line() + A + A + b"\n" + b"{torn\n" + b"[]\n" + B[:-1] + C + header_line("x") + b"tail"
    status = status_of(view_of(data))
    assert status.lines == {
        LineKind.HEADER: 2,
        LineKind.ENTRY: 2,
        LineKind.GLUED: 1,
        LineKind.FOREIGN: 1,
        LineKind.DAMAGED: 1,
        LineKind.BLANK: 1,
    }
    assert sum(status.lines.values()) == status.line_count == 8
    assert (status.nodes, status.salvaged, status.tips, status.pending) == (3, 2, 1, 4)
    assert status.size == len(data)


def test_tips_and_labels_are_counted():
    status = status_of(view_of(build_session("a-b-c, b-d, a-e", labels={"c": "x", "d": "y"})))
    assert (status.tips, status.labels) == (3, 2)
