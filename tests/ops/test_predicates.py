"""What entries can be chosen by."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pivcs.ops.dates import BadDate, parse_date
from pivcs.ops.entry_text import texts_of
from pivcs.ops.predicates import (
    BadPattern,
    Predicate,
    contains,
    has_failed,
    has_role,
    has_text,
    has_type,
    is_after,
    is_before,
    rows_where,
    touches_file,
    uses_tool,
)
from pivcs.ops.view import SessionView
from pivcs.workspace.paths import spellings
from tests.builders import (
    CLOCK,
    bash_line,
    build_session,
    entry_line,
    header_line,
    label_line,
    message_line,
    tool_call_line,
    tool_result_line,
)
from tests.ops.trees import views
from tests.ops.views import name_of, view_of

VIEW = view_of(
    header_line(cwd="/home/dev/project")
    + message_line("a0000000", None, "user", "Fix the caf\u00e9 \u201ctotals\u201d.\nAll of them.")
    + message_line("a1000000", "a0000000", "assistant", [{"type": "thinking", "thinking": "hmm, cents"}])
    + tool_call_line("a2000000", "a1000000", "edit", {"path": "src/shop/price.py", "edits": [{"newText": "deep"}]})
    + tool_result_line("a3000000", "a2000000", "edit", "no match", is_error=True)
    + tool_call_line("a4000000", "a3000000", "bash", {"command": "pytest src/shop", "timeout": 5})
    + tool_result_line("a5000000", "a4000000", "bash", "14 passed")
    + tool_call_line("a6000000", "a5000000", "Read", {"file_path": "/etc/hosts"})
    + bash_line("a7000000", "a6000000", "ls -la", "total 0")
    + entry_line("compaction", "a8000000", "a7000000", summary="We fixed it.", firstKeptEntryId="a7000000")
    + label_line("a9000000", "a8000000", "a0000000", "start here")
    + message_line("aa000000", "a9000000", "narrator", "Meanwhile")
    + entry_line("notes", "ab000000", "aa000000", content="remember")
    + message_line("ac000000", "ab000000", "assistant", "cut", stopReason="aborted")
)


def wanted(predicate: Predicate, view: SessionView = VIEW) -> str:
    """Return the second letters of the names of the wanted entries."""
    return "".join(name_of(view, row)[1] for row in rows_where(view, predicate))


@pytest.mark.parametrize(
    ("predicate", "names"),
    [
        (has_role("user"), "0"),
        (has_role("assistant"), "1246c"),
        (has_role("toolResult"), "35"),
        (has_role("tool"), "35"),
        (has_role("bash"), "7"),
        (has_role("narrator"), "a"),
        (has_role("nobody"), ""),
        (has_type("message"), "01234567ac"),
        (has_type("compaction"), "8"),
        (has_type("label"), "9"),
        (has_type("notes"), "b"),
        (has_type("session"), ""),
        (has_failed(), "3c"),
        (uses_tool("edit"), "23"),
        (uses_tool("bash"), "45"),
        (uses_tool("?ead"), "6"),
        (uses_tool("*"), "23456"),
        (uses_tool("ed"), ""),
        (contains("caf\u00e9"), "0"),
        (contains("totals\u201d.\nAll"), "0"),
        (contains("Totals"), ""),
        (contains("deep"), "2"),
        (contains("toolCall"), ""),
        (contains("start here"), "9"),
        (has_text("fix(ed)?"), "8"),
        (has_text("fix(ed)?", ignore_case=True), "08"),
        (has_text("^All"), "0"),
        (has_text("cents"), "1"),
        (has_text("src/shop"), "24"),
        (has_text("[0-9]+ passed$"), "5"),
        (has_text("total 0"), "7"),
        (has_text("remember|Meanwhile"), "ab"),
        (has_text("a1000000"), ""),
    ],
)
def test_predicate_and_what_it_wants(predicate: Predicate, names: str):
    assert wanted(predicate) == names


@pytest.mark.parametrize(
    ("glob", "names"),
    [
        ("price.py", "2"),
        ("*.py", "2"),
        ("src/shop/price.py", "2"),
        ("./src/shop/price.py", "2"),
        ("/home/dev/project/src/shop/price.py", "2"),
        ("src/*.py", ""),
        ("src/**.py", "2"),
        ("src/**/price.py", "2"),
        ("**/price.p[xy]", "2"),
        ("price.p[!y]", ""),
        ("price.p[z-a]", ""),
        ("src", "2"),
        ("src/", "2"),
        ("shop", ""),
        ("*", "26"),
        ("/etc/*", "6"),
        ("hosts", "6"),
        ("HOSTS", ""),
        ("price?py", "2"),
        ("src?shop/price.py", ""),
        ("price[.py", ""),
        ("", ""),
    ],
)
def test_file_glob(glob: str, names: str):
    assert wanted(touches_file(glob)) == names


@pytest.mark.parametrize(
    ("path", "more"),
    [
        ("@src/a.py", "src/a.py"),
        ("file:///home/dev/my%20file", "/home/dev/my file"),
        ("a\u00a0b.txt", "a b.txt"),
        ("../other/x", "/home/dev/other/x"),
        ("/home/dev/project/x/../y", "y"),
        ("src\\a.py", "src/a.py"),
        ("C:\\dev\\a.py", "C:/dev/a.py"),
    ],
)
def test_path_is_read_as_pi_reads_it(path: str, more: str):
    assert more in spellings(path, "/home/dev/project")


def test_path_without_a_working_directory_is_as_given():
    assert spellings("a/b", None) == {"a/b", "b"}


@given(views(), st.text(max_size=3) | st.sampled_from(["one", "}{", "wo w", "/", "src/", "\u2028", "\ufffd"]))
def test_bytes_never_exclude_a_text_that_is_there(view: SessionView, text: str):
    meant = [row for row in view.table.nodes() if any(text in each for each in texts_of(view.value(row)))]
    assert list(rows_where(view, contains(text))) == meant
    if text.isalnum() and text.isascii():
        assert list(rows_where(view, has_text(text))) == meant


def test_text_that_json_escapes_is_found():
    line = message_line("aaaaaaaa", None, "user", "XYZ a/b").replace(b"XYZ a/b", rb"\u0058YZ a\/b\ttab")
    view = view_of(header_line() + line)
    assert [wanted(contains(text), view) for text in ("XYZ", "a/b", "b\ttab", "b\\t")] == ["a", "a", "a", ""]


def test_deep_arguments_need_no_deep_stack():
    deep: object = "bottom"
    for _ in range(300):
        deep = [deep]
    view = view_of(header_line() + tool_call_line("aaaaaaaa", None, "x", {"a": deep}))
    assert wanted(contains("bottom"), view) == "a"


@pytest.mark.parametrize("pattern", ["[", "(", "*", "a{99999999999}", "(?P<"])
def test_pattern_that_is_none(pattern: str):
    with pytest.raises(BadPattern, match="is no regular expression"):
        has_text(pattern)


def test_times_part_entries_in_two():
    view = view_of(build_session("a-b-c"))
    assert wanted(is_after(CLOCK + 2000), view) == "bc"
    assert wanted(is_before(CLOCK + 2000), view) == "a"
    timeless = view_of(header_line() + b'{"type":"x","id":"aaaaaaaa","parentId":null}\n')
    assert wanted(is_after(-(1 << 62)), timeless) + wanted(is_before(1 << 62), timeless) == ""


_ZONE = timezone(timedelta(hours=2))
_NOW = datetime(2026, 3, 31, 1, 30, 15, tzinfo=_ZONE)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("now", _NOW),
        ("today", datetime(2026, 3, 31, tzinfo=_ZONE)),
        ("Yesterday", datetime(2026, 3, 30, tzinfo=_ZONE)),
        ("2 days ago", _NOW - timedelta(days=2)),
        ("2.days.ago", _NOW - timedelta(days=2)),
        ("an hour ago", _NOW - timedelta(hours=1)),
        ("3 weeks", _NOW - timedelta(weeks=3)),
        ("90 seconds ago", _NOW - timedelta(seconds=90)),
        ("1 month ago", datetime(2026, 2, 28, 1, 30, 15, tzinfo=_ZONE)),
        ("2 years ago", datetime(2024, 3, 31, 1, 30, 15, tzinfo=_ZONE)),
        ("2026-02-03", datetime(2026, 2, 3, tzinfo=_ZONE)),
        ("2026-02-03 10:30", datetime(2026, 2, 3, 10, 30, tzinfo=_ZONE)),
        ("2026-02-03T10:30:05", datetime(2026, 2, 3, 10, 30, 5, tzinfo=_ZONE)),
        ("2026-02-03T10:30:05Z", datetime(2026, 2, 3, 10, 30, 5, tzinfo=UTC)),
        ("2026-02-03 10:30 +01:00", datetime(2026, 2, 3, 9, 30, tzinfo=UTC)),
        (" 2026-02-03t10:30:00.000z ", datetime(2026, 2, 3, 10, 30, tzinfo=UTC)),
    ],
)
def test_date_as_people_type_it(text: str, meant: datetime):
    assert parse_date(text, int(_NOW.timestamp() * 1000), _ZONE) == int(meant.timestamp() * 1000)


@pytest.mark.parametrize(
    "text",
    [
        "", "soon", "2026-13-01", "2026-02-30", "2026-02-03T25:00", "999999999 years ago", "2 fortnights ago",
        "-1 days ago", "2026-02-03T99:00Z", "20260203", "\ud800", "9" * 50 + " days ago",
    ],
)  # fmt: skip
def test_text_that_is_no_date(text: str):
    with pytest.raises(BadDate) as caught:
        parse_date(text, CLOCK, UTC)
    assert caught.value.hint


def test_date_without_a_zone_is_local(monkeypatch: pytest.MonkeyPatch):
    import time

    monkeypatch.setenv("TZ", "XXX-3")
    time.tzset()
    try:
        assert parse_date("2026-01-01", CLOCK) == CLOCK - 3 * 3_600_000
    finally:
        monkeypatch.undo()
        time.tzset()
