from __future__ import annotations

from typing import Any

import pytest

from pivcs.session.context import BrokenEntry, build_context, build_context_entries, build_projection, entry_messages
from pivcs.session.settings import Model

CLOCK = "2026-01-01T00:00:00.000Z"
MS = 1_767_225_600_000


def entry(ident: str, kind: str = "message", **fields: Any) -> dict[str, Any]:
    return {"type": kind, "id": ident, "parentId": None, "timestamp": CLOCK} | fields


def said(ident: str, role: str = "user", content: object = "text") -> dict[str, Any]:
    return entry(ident, message={"role": role, "content": content, "timestamp": 1})


def compaction(ident: str, first: str | None = None, **fields: Any) -> dict[str, Any]:
    kept = {} if first is None else {"firstKeptEntryId": first}
    return entry(ident, "compaction", summary=f"summary {ident}", tokensBefore=9, **kept, **fields)


def ids(values: Any) -> str:
    return " ".join(value["id"] for value in values)


def texts(path: list[Any]) -> list[Any]:
    return [message.get("summary") or message.get("content") for message in build_context(path).messages]  # type: ignore[attr-defined]


def test_without_compaction_the_context_is_the_path() -> None:
    path = [said("a"), entry("b", "label", targetId="a"), said("c", "assistant")]
    assert build_context_entries(path) == tuple(path)
    assert build_context_entries([]) == ()
    assert build_context([]).messages == ()


@pytest.mark.parametrize(
    ("first", "expected"),
    [("a", "k a b d"), ("b", "k b d"), ("k", "k d"), ("unknown", "k d"), (None, "k d"), ("d", "k d")],
)
def test_a_compaction_keeps_from_the_entry_that_it_names(first: str | None, expected: str) -> None:
    assert ids(build_context_entries([said("a"), said("b"), compaction("k", first), said("d")])) == expected


def test_an_older_compaction_in_the_kept_range_is_silent_and_system_messages_before_are_dropped() -> None:
    path = [said("a"), compaction("k", "a"), said("s", "system", "old"), said("b"), compaction("l", "a"),
            said("t", "system", "new")]  # fmt: skip
    assert ids(build_context_entries(path)) == "l a k b t"
    assert texts(path) == ["summary l", "text", "text", "new"]


def test_a_compaction_brings_its_system_message() -> None:
    system = {"role": "system", "content": "replayed"}
    messages = build_context([said("a"), compaction("k", systemMessage=system)]).messages
    assert messages == (
        system, {"role": "compactionSummary", "summary": "summary k", "tokensBefore": 9, "timestamp": MS},
    )  # fmt: skip


def edit(ident: str, target: str, *replacement: Any) -> dict[str, Any]:
    return entry(ident, "context_edit", targetId=target, **({"replacement": replacement[0]} if replacement else {}))


def test_the_latest_edit_of_an_entry_counts() -> None:
    path = [said("a"), edit("e", "a", None), edit("f", "a", {"content": "later"})]
    assert texts(path) == ["later"]
    assert texts(path[:2]) == []


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        ("user", "new"), ("custom", "new"), ("system", "text"), ("assistant", [{"type": "text", "text": "new"}]),
        ("toolResult", [{"type": "text", "text": "new"}]), ("unknown", "text"),
    ],
)  # fmt: skip
def test_an_edit_replaces_the_content_of_four_roles(role: str, expected: object) -> None:
    assert texts([said("a", role), edit("e", "a", {"content": "new"})]) == [expected]


def test_an_edit_that_a_compaction_cut_off_has_no_effect() -> None:
    assert texts([said("a"), edit("e", "a", None), said("b"), compaction("k", "b")]) == ["summary k", "text"]
    assert texts([said("a"), said("b"), edit("e", "b", None), compaction("k", "b")]) == ["summary k"]
    assert texts([said("a"), compaction("k", "a"), edit("e", "k", None)]) == ["text"]


def test_an_edit_without_content_leaves_a_message_without_content() -> None:
    (message,) = build_context([said("a"), edit("e", "a", {})]).messages
    assert message == {"role": "user", "timestamp": 1}


@pytest.mark.parametrize(
    ("role", "expected"), [("user", []), ("assistant", []), ("toolResult", []), ("system", ""), ("bashExecution", None)]
)
def test_missing_content_becomes_empty_content(role: str, expected: object) -> None:
    (null,) = entry_messages(said("a", role, None))
    assert isinstance(null, dict)
    assert null["content"] == expected
    (absent,) = entry_messages(entry("a", message={"role": role}))
    assert absent == ({"role": role} if expected is None else {"role": role, "content": expected})


def test_custom_messages_and_branch_summaries_are_messages_and_other_types_are_none() -> None:
    custom = entry("a", "custom_message", customType="c", content=None, display=False, details=1)
    assert entry_messages(custom) == (
        {"role": "custom", "customType": "c", "content": [], "display": False, "details": 1, "timestamp": MS},
    )
    summary = entry("b", "branch_summary", fromId="root", summary="s") | {"timestamp": "no time"}
    assert entry_messages(summary) == ({"role": "branchSummary", "summary": "s", "fromId": "root", "timestamp": None},)
    silent = (summary | {"summary": ""}, entry("c", "usage"), entry("d", "custom"), entry("e", "future"), 17, "x", [])
    assert [entry_messages(value) for value in silent] == [()] * 7


def test_entries_at_which_pi_fails_are_named() -> None:
    for broken in (entry("bad", "message"), entry("bad", message=None)):
        with pytest.raises(BrokenEntry, match="'bad' has no message") as caught:
            build_context([broken, said("b"), compaction("k", "b")])
        assert caught.value.entry_id == "bad"
    with pytest.raises(BrokenEntry, match="'e' edits an entry but has no replacement"):
        build_context([said("a"), edit("e", "a")])
    assert texts([said("a", "system"), edit("e", "a")]) == ["text"]
    assert texts([said("a"), edit("e", "unknown")]) == ["text"]


def test_settings_are_those_of_the_whole_path() -> None:
    level = entry("t", "thinking_level_change", thinkingLevel="x")
    path = [entry("m", "model_change", provider="p", modelId="m"), level, said("a"), compaction("k")]
    assert build_projection(path).settings.model == Model("p", "m")
    assert build_context(path).settings.thinking_level == "x"


def test_the_values_of_the_path_are_left_alone() -> None:
    path = [said("a"), edit("e", "a", {"content": "new"}), said("b", content=None)]
    before = repr(path)
    build_context(path)
    assert repr(path) == before


def test_a_path_of_200_000_entries_with_an_edit_for_every_second_one() -> None:
    """Anything but linear work would not end here."""
    path = [said(f"{place:08x}") for place in range(200_000)]
    path += [edit(f"e{place:07x}", f"{place:08x}", None) for place in range(0, 200_000, 2)]
    path.insert(1, compaction("k", f"{0:08x}"))
    assert len(build_context(path).messages) == 100_001
