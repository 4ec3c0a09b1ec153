"""The same steps done by the real pi and by us give the same bytes, and each goes on with the other's files."""

from __future__ import annotations

import base64
import json
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pivcs.session.context import BrokenEntry
from pivcs.session.jsontext import parse_json
from pivcs.session.manager import Session
from pivcs.session.replay import convert_to_llm
from pivcs.session.tree import SessionTree
from tests.builders import CLOCK, CWD, header_line, message_line
from tests.interop.odd_sessions import odd_session
from tests.interop.pi import Pi
from tests.interop.pi_writing import ask_writer
from tests.interop.steps import do, drawn_runs, message
from tests.interop.test_reading import model_answer
from tests.session.worlds import make_world

pytestmark = pytest.mark.interop

def same_but_for_session_id(data: bytes) -> bytes:
    """Leave out the id of the first line: of a session's id pi's source of randomness cannot be set."""
    header, lf, rest = data.partition(b"\n")
    value = parse_json(header)
    assert isinstance(value, dict)
    shown = {key: item for key, item in value.items() if key not in ("id", "parentSession")}
    return json.dumps([*value]).encode() + json.dumps(shown).encode() + lf + rest


def answer_of(session: Session) -> Any:
    try:
        context = session.build_context()
    except BrokenEntry:
        return "error"
    model = context.settings.model
    return {
        "messages": list(context.messages),
        "thinkingLevel": context.settings.thinking_level,
        "model": model and model_answer(model),
    }


def test_the_same_steps_give_the_same_bytes(pi: Pi, tmp_path: Path) -> None:
    runs = drawn_runs(250)
    requests = []
    for place, steps in enumerate(runs):
        theirs, ours = tmp_path / "pi" / str(place) / "s.jsonl", tmp_path / "we" / str(place) / "s.jsonl"
        for path in (theirs, ours):
            path.parent.mkdir(parents=True)
            if place % 4:  # else the file has yet to appear
                path.write_bytes(header_line())
        requests.append({"run": steps, "file": str(theirs), "cwd": CWD, "clock": CLOCK, "seed": place})
    forked = 0
    for place, (steps, theirs_did) in enumerate(zip(runs, ask_writer(pi, requests), strict=True)):
        session = Session.open(tmp_path / "we" / str(place) / "s.jsonl", cwd=CWD, world=make_world(seed=place))
        results = do(session, steps)
        shown = [found for found in results if not str(found).endswith(".jsonl")]
        expected = [found for found in theirs_did["results"] if not str(found).endswith(".jsonl")]
        assert shown == expected, steps
        assert session.leaf == theirs_did["leaf"], steps
        answer = answer_of(session)
        assert answer == theirs_did["context"], steps
        if answer != "error":
            assert convert_to_llm(answer["messages"]) == theirs_did["llm"]
        assert session.file is not None
        assert session.is_saved is (theirs_did["text"] is not None)
        if theirs_did["text"] is not None:
            written = session.file.read_bytes()
            assert same_but_for_session_id(written) == same_but_for_session_id(base64.b64decode(theirs_did["text"]))
            assert Session.open(session.file).entries == session.entries
        forked += session.file.name != "s.jsonl"
    assert forked > 20


def test_contexts_of_odd_sessions_are_those_of_pi(pi: Pi, tmp_path: Path) -> None:
    random = Random(1600)
    files = []
    while len(files) < 300:
        data = odd_session(random)
        try:
            session = Session.in_memory(CWD, [parse_json(line) for line in data.split(b"\n") if line.startswith(b'{"')])
        except ValueError:
            continue
        if session.entry_count and b'"session"' in data.split(b"\n")[0]:
            files.append(data)
    paths = [pi.copy(data) for data in files]
    asked = 0
    for data, theirs in zip(files, ask_writer(pi, [{"read": str(path)} for path in paths]), strict=True):
        path = tmp_path / "odd.jsonl"
        path.write_bytes(data)
        session = Session.open(path)
        assert session.leaf == theirs["leaf"]
        assert session.name == theirs["name"]
        assert {key: label.text for key, label in session.labels.items() if key in session} == theirs["labels"]
        for ident, expected in theirs["contexts"].items():
            asked += 1
            if expected == "error":
                with pytest.raises(BrokenEntry):
                    session.build_projection(ident)
                continue
            projection = session.build_projection(ident)
            ids = [part.entry.get("id") if isinstance(part.entry, dict) else None for part in projection.entries]
            assert ids == expected["ids"]
            assert [len(part.messages) for part in projection.entries] == expected["counts"]
            assert list(projection.messages) == expected["messages"], (ident, data)
    assert asked > 2_000
    for path in paths:
        path.unlink()


def test_pi_goes_on_with_our_session_and_we_with_what_it_appended(pi: Pi, tmp_path: Path) -> None:
    session = Session.create(tmp_path, tmp_path / "sessions")
    question = session.append_message(message("user", content="Which?"))
    answer = session.append_message(message("assistant", content=[{"type": "text", "text": "This."}]))
    session.append_label(question, "start")
    session.branch(answer)
    assert session.file is not None
    steps = [["appendMessage", message("user", content="More.")], ["appendSessionInfo", "ours and theirs"]]
    (did,) = ask_writer(pi, [{"run": steps, "file": str(session.file), "clock": CLOCK, "seed": 77}])
    mine = session.append_message(message("user", content="At the same time."))
    assert session.name == "ours and theirs"
    assert session.leaf == mine
    assert [entry["id"] for entry in session.children(answer) if isinstance(entry, dict)][-1] == mine
    assert set(did["results"]) <= set(session.tree().ids)
    (theirs,) = ask_writer(pi, [{"read": str(session.file)}])
    assert theirs["ids"] == list(SessionTree(session.entries).ids)
    assert theirs["leaf"] == mine
    assert theirs["name"] == session.name
    assert theirs["labels"] == {question: "start"}
    assert (theirs["id"], theirs["cwd"]) == (session.id, session.cwd)
    assert theirs["contexts"][mine]["messages"] == list(session.build_context().messages)


def test_pi_and_we_append_at_once_and_no_line_is_torn_or_lost(pi: Pi, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(header_line() + message_line("aaaaaaaa"))
    data = [{"number": number, "text": "x" * (number % 90) ** 2} for number in range(2_000)]
    steps = [["appendCustomEntry", "pi", value] for value in data]
    with ThreadPoolExecutor(1) as pool:
        theirs = pool.submit(ask_writer, pi, [{"run": steps, "file": str(path), "clock": CLOCK, "seed": 1}])
        session = Session.open(path)
        ours = 0
        while not theirs.done() or ours < 200:
            session.append_custom("we", {"number": ours})
            ours += 1
        theirs.result()
    session.append_custom("we", {"number": ours})
    lines = [parse_json(line) for line in path.read_bytes().splitlines()]
    assert [line["id"] for line in lines[1:]] == list(session.tree().ids)  # type: ignore[index]
    writers = [line.get("customType") for line in lines if isinstance(line, dict)]
    assert sum(one != other for one, other in pairwise(writers)) > 3
    for writer, count in (("pi", 2_000), ("we", ours + 1)):
        own = [line for line in lines if isinstance(line, dict) and line.get("customType") == writer]
        assert [line["data"]["number"] for line in own] == list(range(count))
        assert [line["parentId"] for line in own[1:]] == [line["id"] for line in own[:-1]]
