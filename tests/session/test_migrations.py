from __future__ import annotations

import copy
from typing import Any

import pytest

from pivcs.session.migrations import migrate, needs_migration


def number(place: int) -> str:
    return f"n{place}"


def migrated(*values: object) -> list[Any]:
    before = copy.deepcopy(values)
    result = migrate(values, number)
    assert values == before, "the values that were passed in stay untouched"
    return result


HEADER_1 = {"type": "session", "id": "s", "timestamp": "t", "cwd": "/w", "provider": "acme", "branchedFrom": "/old"}


def test_version_1_entries_are_numbered_and_chained() -> None:
    header, first, second = migrated(HEADER_1, {"type": "message", "timestamp": "t"}, {"id": "old", "parentId": "x"})
    assert list(header.items()) == [*HEADER_1.items(), ("version", 3)]
    assert list(first.items()) == [("type", "message"), ("timestamp", "t"), ("id", "n1"), ("parentId", None)]
    assert list(second.items()) == [("id", "n2"), ("parentId", "n1")]


def test_second_header_is_no_entry_but_gets_the_version() -> None:
    values = migrated(HEADER_1, {"type": "custom"}, {"type": "session", "version": 1, "id": "t"}, {"type": "custom"})
    assert values[2] == {"type": "session", "version": 3, "id": "t"}
    assert values[3]["parentId"] == values[1]["id"]


def compaction(index: object) -> dict[str, object]:
    return {"type": "compaction", "timestamp": "t", "summary": "s", "firstKeptEntryIndex": index, "tokensBefore": 1}


@pytest.mark.parametrize(("index", "kept"), [
    (1, "n1"), (2.0, "n2"), (3, "n3"), (0, None), (4, None), (5, None), (99, None), (-1, None), (1.5, None),
    (float("inf"), None),
])
def test_index_of_the_first_kept_entry_becomes_its_id(index: object, kept: str | None) -> None:
    found = migrated(HEADER_1, {"type": "custom"}, {"type": "custom"}, compaction(index), {"type": "custom"})[3]
    assert list(found) == ["type", "timestamp", "summary", "tokensBefore", "id", "parentId"] + (
        ["firstKeptEntryId"] if kept else []
    )
    assert found.get("firstKeptEntryId") == kept


def test_index_of_a_later_entry_finds_the_id_that_it_still_has() -> None:
    found = migrated(HEADER_1, compaction(2), {"type": "custom", "id": "old"})
    assert found[1]["firstKeptEntryId"] == "old"
    assert found[2]["id"] == "n2"


def test_index_that_is_no_number_stays() -> None:
    assert migrated(HEADER_1, compaction("1"))[1]["firstKeptEntryIndex"] == "1"
    assert migrated(HEADER_1, compaction(True))[1]["firstKeptEntryIndex"] is True


def test_values_that_are_no_objects_stay() -> None:
    assert migrated(HEADER_1, 5, {"type": "custom"}, ["x"])[1:] == [
        5, {"type": "custom", "id": "n2", "parentId": None}, ["x"],
    ]


def test_version_2_keeps_ids_and_renames_the_hook_role() -> None:
    header = {"type": "session", "version": 2, "id": "s"}
    hook = {"type": "message", "id": "a", "parentId": None, "message": {"role": "hookMessage", "content": "x"}}
    other = {"type": "custom_message", "id": "b", "parentId": "a", "role": "hookMessage"}
    assert migrated(header, hook, other) == [
        {"type": "session", "version": 3, "id": "s"},
        {"type": "message", "id": "a", "parentId": None, "message": {"role": "custom", "content": "x"}},
        other,
    ]


def test_version_1_goes_all_the_way() -> None:
    hook = {"type": "message", "message": {"content": "x", "role": "hookMessage"}}
    found = migrated(HEADER_1, hook)[1]
    assert list(found["message"].items()) == [("content", "x"), ("role", "custom")]


@pytest.mark.parametrize("version", [3, "3", 4])
def test_newer_versions_stay(version: object) -> None:
    header = {"type": "session", "version": version, "id": "s"}
    hook = {"type": "message", "message": {"role": "hookMessage"}}
    assert migrated(header, hook) == [header, hook]
    assert not needs_migration(header)


def test_without_header_nothing_is_migrated() -> None:
    assert migrated({"type": "custom"}) == [{"type": "custom"}]
    assert migrated() == []


@pytest.mark.parametrize("version", [None, 1, "1", "", False])
def test_version_that_is_absent_or_below_2_is_version_1(version: object) -> None:
    assert migrated({"type": "session", "version": version}, {"type": "custom"})[1]["id"] == "n1"
