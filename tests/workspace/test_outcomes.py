"""What results say."""

from __future__ import annotations

import pytest

from pivcs.session.entries import Message
from pivcs.workspace.calls import Read
from pivcs.workspace.outcomes import outcome_of, shown_by


def result(text: object = "", **fields: object) -> Message:
    content = [{"type": "text", "text": text}] if isinstance(text, str) else text
    return Message({"role": "toolResult", "content": content, **fields})


@pytest.mark.parametrize(
    ("fields", "ok"),
    [
        ({}, True),
        ({"isError": False}, True),
        ({"isError": True}, False),
        ({"details": {"status": "failed"}}, False),
        ({"details": {"status": "error"}}, False),
        ({"details": {"status": "completed"}}, True),
        ({"details": None}, True),
        ({"details": "text"}, True),
    ],
)
def test_success_is_told_by_error_and_status(fields: dict[str, object], ok: bool) -> None:
    assert outcome_of(result(**fields)).ok is ok


@pytest.mark.parametrize(
    ("text", "absent", "not_found"),
    [
        ("ENOENT: no such file or directory, access '/a'", True, False),
        ("Could not edit file: a. Error code: ENOENT.", True, False),
        ("File not found: a", True, False),
        ("EACCES: permission denied, access '/a'", False, False),
        ("Could not find the exact text in a. The old text must match.", False, True),
        ("Could not find edits[1] in a.", False, True),
        ("Found 2 occurrences of the text in a.", False, False),
    ],
)
def test_failures_tell_what_they_tell(text: str, absent: bool, not_found: bool) -> None:
    outcome = outcome_of(result(text, isError=True))
    assert (outcome.says_absent, outcome.says_not_found) == (absent, not_found)
    well = outcome_of(result(text))
    assert (well.says_absent, well.says_not_found) == (False, False)


@pytest.mark.parametrize("text", ["", "a\n", "a", "[link]\n\n[other]", "a\n\n[note]", "# Title\n\n...\n"])
def test_text_without_a_note_is_the_whole_file(text: str) -> None:
    shown = shown_by(Read("f"), outcome_of(result(text)))
    assert shown is not None
    assert (shown.whole, shown.exact, shown.content) == (True, True, text.encode())


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("a\n\n[Showing lines 1-2000 of 3000. Use offset=2001 to continue.]", "a"),
        ("a\n\n[Showing lines 1-9 of 30 (50.0KB limit). Use offset=10 to continue.]", "a"),
        ("a\n\n[5 more lines in file. Use offset=6 to continue.]", "a"),
        ("a\n\n... (12 more lines not shown. Use offset=2 to continue reading)", "a"),
    ],
)
def test_text_with_a_note_is_a_part(text: str, part: str) -> None:
    shown = shown_by(Read("f"), outcome_of(result(text)))
    assert shown is not None
    assert (shown.whole, shown.text, shown.first) == (False, part, 0)


@pytest.mark.parametrize(
    "message",
    [
        result("[Line 1 is 60.0KB, exceeds 50.0KB limit. Use bash: sed -n '1p' f | head -c 51200]"),
        result("a", details={"truncation": {"truncated": True}}),
        result("Read image file [image/png]"),
        result([{"type": "text", "text": "x"}, {"type": "image", "data": "AAAA", "mimeType": "image/png"}]),
        result([]),
        result(None),
        result("a", isError=True),
    ],
)
def test_nothing_is_shown_where_it_cannot_be_told(message: Message) -> None:
    assert shown_by(Read("f"), outcome_of(message)) is None


def test_offset_and_limit_show_lines_from_there() -> None:
    shown = shown_by(Read("f", 10, 3), outcome_of(result("a\nb")))
    assert shown is not None
    assert (shown.whole, shown.first) == (False, 9)
    assert shown_by(Read("f", 1.5), outcome_of(result("a"))) is None


def test_replacement_character_may_stand_for_other_bytes() -> None:
    shown = shown_by(Read("f"), outcome_of(result("a\ufffd")))
    assert shown is not None
    assert not shown.exact
