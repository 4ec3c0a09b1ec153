"""What pi answers after opening a file, and what we answer without touching it."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from benchmarks.generate import session_lines
from pivcs.session.settings import Model, settings_of
from pivcs.session.tree import SessionTree
from pivcs.session.values import NotASession, open_values
from tests.builders import build_session
from tests.interop.odd_sessions import odd_session
from tests.interop.pi import Answer, Pi

pytestmark = pytest.mark.interop


def our_answer(data: bytes, theirs: Answer) -> Answer:
    """Give, in the form of `pi_answers.mjs`, our answers to the questions that pi could answer for this file."""
    try:
        opening = open_values(data, "FILE")
    except NotASession:
        return {"ok": False}
    tree = SessionTree(opening.entries)
    path = tree.path(tree.leaf)
    settings = settings_of(tree.entry(ident) for ident in path)
    model = settings.model
    return {
        "ok": True,
        "effect": opening.effect.value,
        "ids": list(tree.ids),
        "leaf": tree.leaf,
        "leafIsUndefined": tree.leaf_is_undefined,
        "name": tree.name,
        "tree": theirs["tree"] and tree_answer(tree),
        "paths": {
            ident: ended and list(tree.path(ident))
            for ident, ended in dict_of(theirs["paths"]).items()
        },
        "settings": theirs["settings"]
        and {"model": model and model_answer(model), "thinkingLevel": settings.thinking_level},
    }


def tree_answer(tree: SessionTree) -> Answer:
    shown = list(dict.fromkeys(visit.id for visit in tree.walk()))
    return {
        "roots": list(tree.roots),
        "children": sorted_pairs([ident, list(tree.children(ident))] for ident in shown if tree.children(ident)),
        "labels": {ident: [*tree.labels[ident]] for ident in shown if ident in tree.labels},
    }


def model_answer(model: Model) -> Answer:
    return {"provider": model.provider, "modelId": model.model_id}


def comparable(theirs: Answer) -> Answer:
    """Leave out what only describes the file, and sort what has no order."""
    if not theirs["ok"]:
        return {"ok": False}
    kept = {key: value for key, value in theirs.items() if key not in ("header", "sessionId", "entries")}
    tree = dict_of(kept["tree"])
    if tree:
        kept["tree"] = tree | {"children": sorted_pairs(tree["children"])}
    return kept


def sorted_pairs(pairs: object) -> list[object]:
    return sorted(pairs, key=repr)  # type: ignore[call-overload]


def dict_of(value: object) -> Answer:
    return value if isinstance(value, dict) else {}


def test_odd_sessions_read_as_pi_reads_them(pi: Pi) -> None:
    random = Random(20260101)
    files = [odd_session(random) for _ in range(600)]
    answers = pi.open(files)
    assert len(answers) == len(files)
    assert sum(bool(answer["ok"]) for answer in answers) > 500
    assert sum(dict_of(answer.get("tree")) != {} for answer in answers) > 400
    for data, theirs in zip(files, answers, strict=True):
        assert our_answer(data, theirs) == comparable(theirs), data


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(build_session("a-b-c-d, b-e-f, a-9", labels={"c": "kept", "e": "left"}), id="branches and labels"),
        pytest.param(build_session("a-b-c, b-d", leaf="c"), id="an earlier branch is current"),
        pytest.param(build_session("a-b, c-d, e"), id="three roots"),
        pytest.param(build_session("a-b-c", kinds={"c": "compaction"}), id="compaction last"),
        pytest.param(build_session(""), id="header only"),
        pytest.param(b"", id="empty file"),
        pytest.param(build_session("a-b", header=b""), id="no header"),
    ],
)
def test_built_session_reads_as_pi_reads_it(pi: Pi, data: bytes) -> None:
    (theirs,) = pi.open([data])
    assert our_answer(data, theirs) == comparable(theirs)


def test_generated_session_is_as_pi_would_write_it(pi: Pi, tmp_path: Path) -> None:
    path = tmp_path / "generated.jsonl"
    path.write_bytes(b"".join(session_lines(1_000_000, seed=7)))
    assert pi.ask([{"stable": str(path)}]) == [[]]
