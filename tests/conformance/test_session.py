from __future__ import annotations

import hashlib
from typing import Any

import pytest

from pivcs.session.listitem import Listed, NotListed, list_item
from pivcs.session.settings import Settings, settings_of
from pivcs.session.times import format_time
from pivcs.session.tree import EntryId, SessionTree
from pivcs.session.values import Effect, NotASession, open_values
from tests.conformance.conftest import Case


def test_fixture_is_the_file_that_was_judged(case: Case) -> None:
    assert len(case.data) == case.expected["bytes"]
    assert hashlib.sha256(case.data).hexdigest() == case.expected["sha256"]


def test_opening_has_the_same_result_and_effect(case: Case) -> None:
    expected = case.expected["open"]
    if not expected["ok"]:
        with pytest.raises(NotASession) as refusal:
            open_values(case.data, case.path.name)
        assert refusal.value.pi_message == expected["error"]
        assert expected["effect"] == "none"
        return
    assert case.opening.effect.value == expected["effect"]
    assert case.opening.appended.decode() == expected.get("appended", "")


def test_header_is_the_same(opened: Case) -> None:
    if opened.opening.effect is Effect.HEADER_WRITTEN:
        assert opened.opening.header is None
        return
    header = opened.migrated[0]
    assert isinstance(header, dict)
    assert header == opened.expected["header"]
    assert list(header) == list(opened.expected["header"])
    assert header["id"] == opened.expected["sessionId"]
    assert header["cwd"] == opened.expected["cwd"]


def test_entries_are_the_same(opened: Case) -> None:
    tree = opened.tree
    assert list(tree.ids) == opened.expected["entryIds"]
    types = [entry.get("type") if isinstance(entry, dict) else None for entry in tree.entries]
    assert types == opened.expected["entryTypes"]
    assert len(tree) == opened.expected["entryCount"]
    assert len(tree.distinct_ids) == opened.expected["distinctIds"]


def test_leaf_name_and_labels_are_the_same(opened: Case) -> None:
    tree = opened.tree
    assert tree.leaf == opened.expected["leafId"]
    assert tree.leaf_is_undefined == opened.expected.get("leafIsUndefined", False)
    assert tree.name == opened.expected["name"]
    labels = {
        target: {"label": label.text, "timestamp": label.timestamp}
        for target, label in tree.labels.items()
        if target in tree
    }
    assert labels == opened.expected["labels"]


def test_roots_and_children_are_the_same(opened: Case) -> None:
    tree = opened.tree
    assert list(tree.roots) == opened.expected["roots"]
    children = {ident: list(found) for ident in tree.distinct_ids if (found := tree.children(ident))}
    assert children == opened.expected["children"]


def test_tree_is_drawn_in_the_same_order(opened: Case) -> None:
    assert [nested(opened.tree, root) for root in opened.tree.roots] == opened.expected["tree"]


def test_walk_meets_the_tree_in_order(opened: Case) -> None:
    """Where an id is repeated the walk does not go below its later appearances, so these are left out here too."""
    seen: set[object] = set()
    expected = []
    stack = [(node, 0) for node in reversed(opened.expected["tree"])]
    while stack:
        node, depth = stack.pop()
        expected.append((node["id"], depth, node["id"] in seen))
        if node["id"] not in seen:
            seen.add(node["id"])
            stack.extend((child, depth + 1) for child in reversed(node.get("children", [])))
    assert [tuple(visit) for visit in opened.tree.walk()] == expected


def test_leaves_have_the_same_paths(opened: Case) -> None:
    tree = opened.tree
    assert list(tree.leaves()) == [leaf["id"] for leaf in opened.expected["leaves"]]
    for leaf in opened.expected["leaves"]:
        assert list(tree.path(leaf["id"])) == leaf["path"]


def test_settings_are_the_same_at_leaves_and_points(leafy: Case) -> None:
    asked = {leaf["id"]: leaf["context"] for leaf in leafy.expected["leaves"]} | (leafy.expected.get("points") or {})
    assert asked
    for ident, expected in asked.items():
        path = leafy.tree.path(ident)
        found = settings_of(leafy.tree.entry(step) for step in path)
        assert plain(found) == {"thinkingLevel": expected["thinkingLevel"], "model": expected["model"]}, ident


def test_migration_is_the_same(migration: Case) -> None:
    expected = migration.expected["migrated"]
    assert migration.migrated == expected
    # Equal objects may differ in the order of their keys, which pi writes to the file.
    assert list(map(key_order, migration.migrated)) == list(map(key_order, expected))


def test_migrated_file_is_what_pi_left_on_disk(migration: Case) -> None:
    rewritten = open_values(migration.path.with_suffix(".migrated.jsonl").read_bytes(), "migrated")
    assert rewritten.effect is Effect.NONE
    ids = iter(rewritten.entries)
    names: dict[object, object] = {}
    for entry in migration.tree.entries:
        other = next(ids)
        assert isinstance(entry, dict)
        assert isinstance(other, dict)
        names[entry["id"]] = other["id"] if migration.expected.get("idsNormalized") else entry["id"]
    own = [rename(entry, names) for entry in migration.migrated]
    assert own == list(rewritten.values)
    assert list(map(key_order, own)) == list(map(key_order, rewritten.values))


def test_list_item_is_the_same(case: Case) -> None:
    expected = case.expected["list"]
    if expected is None:
        with pytest.raises(NotListed):
            list_item(case.path)
        return
    assert shown(list_item(case.path)) == {"name": None, "parentSessionPath": None} | expected


def shown(item: Listed) -> dict[str, Any]:
    return {
        "path": item.path.name,
        "id": item.id,
        "cwd": item.cwd,
        "name": item.name,
        "parentSessionPath": item.parent_session,
        "created": None if item.created is None else format_time(item.created),
        "modified": format_time(item.modified),
        "messageCount": item.message_count,
        "firstMessage": item.first_message,
        "allMessagesText": item.all_messages_text,
    }


def nested(tree: SessionTree, root: EntryId) -> dict[str, Any]:
    """Build the nested form of the answers, without recursion; an id that is repeated is expanded every time."""
    top: dict[str, Any] = {}
    stack: list[tuple[EntryId, dict[str, Any]]] = [(root, top)]
    while stack:
        ident, node = stack.pop()
        node["id"] = ident
        if ident is not None and ident in tree.labels:
            node["label"] = tree.labels[ident].text
        if children := tree.children(ident):
            node["children"] = [{} for _ in children]
            stack.extend(zip(children, node["children"], strict=True))
    return top


def plain(settings: Settings) -> dict[str, Any]:
    model = settings.model and {"provider": settings.model.provider, "modelId": settings.model.model_id}
    return {"thinkingLevel": settings.thinking_level, "model": model}


def key_order(value: object) -> list[str]:
    """Return the keys of an object and of its message, in order."""
    assert isinstance(value, dict)
    message = value.get("message")
    return [*value, *(message if isinstance(message, dict) else ())]


def rename(value: object, names: dict[object, object]) -> object:
    """Return a value with its ids replaced."""
    assert isinstance(value, dict)
    if value.get("type") == "session":
        return value
    keys = ("id", "parentId", "firstKeptEntryId")
    return {key: names.get(item, item) if key in keys else item for key, item in value.items()}
