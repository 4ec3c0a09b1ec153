from __future__ import annotations

from typing import Any

from pivcs.session.context import Projection, build_context, build_context_entries, build_projection
from pivcs.session.tree import SessionTree
from tests.conformance.conftest import Case
from tests.conformance.test_session import plain


def path_to(tree: SessionTree, ident: str) -> list[object]:
    return [tree.entry(step) for step in tree.path(ident)]


def ids_of(values: Any) -> list[object]:
    return [value.get("id") for value in values]


def test_contexts_at_leaves_are_the_same(leafy: Case) -> None:
    for leaf in leafy.expected["leaves"]:
        path = path_to(leafy.tree, leaf["id"])
        assert ids_of(build_context_entries(path)) == leaf["contextEntryIds"]
        context = build_context(path)
        assert list(context.messages) == leaf["context"]["messages"]
        # Equal objects may differ in the order of their keys.
        assert [list(message) for message in dicts(context.messages)] == [*map(list, leaf["context"]["messages"])]
        assert plain(context.settings) == {key: leaf["context"][key] for key in ("thinkingLevel", "model")}


def test_projections_at_points_are_the_same(leafy: Case) -> None:
    points = leafy.expected["points"] or {}
    assert points or len(leafy.tree) > 100
    for ident, expected in points.items():
        projection = build_projection(path_to(leafy.tree, ident))
        assert ids_of(part.entry for part in projection.entries) == expected["contextEntryIds"]
        assert roles(projection) == expected["roles"]
        assert plain(projection.settings) == {key: expected[key] for key in ("thinkingLevel", "model")}


def dicts(messages: Any) -> list[dict[str, object]]:
    assert all(isinstance(message, dict) for message in messages)
    return list(messages)


def roles(projection: Projection) -> list[object]:
    return [message["role"] for message in dicts(projection.messages)]
