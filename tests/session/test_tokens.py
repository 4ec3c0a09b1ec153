"""Tokens of a context; that they are pi's is shown with the real client."""

from __future__ import annotations

from typing import Any

import pytest

from pivcs.session.context import build_projection
from pivcs.session.tokens import Estimate, estimate_tokens, tokens_of


def entry(ident: str, **fields: Any) -> dict[str, Any]:
    return {"type": "message", "id": ident, **fields}


def answer(ident: str, total: object, **fields: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": [], "usage": {"totalTokens": total}, **fields}
    return entry(ident, message=message)


USER = entry("u", message={"role": "user", "content": "12345678"})


def estimate(*path: dict[str, Any]) -> Estimate:
    return estimate_tokens(build_projection(path), path)


def test_last_answer_says_what_came_before_it() -> None:
    path = (USER, answer("a", 100), USER, answer("b", 200), USER)
    assert estimate(*path) == Estimate(202, 200, path[3])


@pytest.mark.parametrize("fields", [{"stopReason": "error"}, {"stopReason": "aborted"}, {"usage": None}, {"usage": {}}])
def test_failed_answers_and_such_without_usage_say_nothing(fields: dict[str, Any]) -> None:
    path = (USER, answer("a", 100), answer("b", 200, **fields))
    assert estimate(*path) == Estimate(100, 100, path[1])


@pytest.mark.parametrize(
    "later",
    [
        {"type": "context_edit", "id": "e", "targetId": "u", "replacement": None},
        {"type": "compaction", "id": "c", "firstKeptEntryId": "u", "summary": "1234", "tokensBefore": 1},
    ],
)
def test_what_changes_the_context_later_makes_usage_worthless(later: dict[str, Any]) -> None:
    result = estimate(USER, answer("a", 100), later)
    assert (result.measured, result.answer, result.tokens < 5) == (0, None, True)


def test_system_messages_count_as_what_they_come_to() -> None:
    first = {"role": "system", "content": "", "sections": {"a": "x" * 400}, "timestamp": 1}
    second = {"role": "system", "content": "", "sections": {"a": "x" * 40}, "timestamp": 2}
    assert estimate(entry("s", message=first), entry("t", message=second)).tokens == 10


@pytest.mark.parametrize(
    "message",
    [
        5, None, "text", {}, {"role": 5}, {"role": "assistant", "content": "text"}, {"role": "user", "content": 5},
        {"role": "bashExecution"}, {"role": "branchSummary", "summary": 5}, {"role": "system", "sections": [1]},
        {"role": "assistant", "content": [{"type": "toolCall"}], "usage": 5},
    ],
)  # fmt: skip
def test_parts_of_a_wrong_shape_count_as_little(message: object) -> None:
    assert 0 <= tokens_of(message) <= 1


def test_characters_beyond_the_first_plane_count_twice() -> None:
    assert tokens_of({"role": "user", "content": "\U0001f600" * 4}) == 2
    assert tokens_of({"role": "user", "content": "é\ud83d" * 4}) == 2
