"""What commands append to a session file is what the real pi appends, and pi reads it as we do."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pivcs.ops import operations
from pivcs.ops.context_view import context_at
from pivcs.ops.labelling import rename_session, set_label
from pivcs.ops.making import append_to, new_session, read_entries, user_message
from pivcs.ops.writing import Writer
from pivcs.session.manager import Session
from tests.builders import CLOCK, CWD, build_session, header_line, message_line
from tests.interop.pi import MANAGER, Pi
from tests.interop.pi_writing import ask_writer
from tests.interop.steps import do, drawn_runs, message
from tests.ops.syncing import Box
from tests.session.worlds import make_world

pytestmark = pytest.mark.interop

TREE = build_session("a-b-c, b-d", labels={"a": "start"})
A, B = "aaaaaaaa", "bbbbbbbb"


class Commands(Box):
    """Commands about one session file, in the world in which pi runs."""

    def __init__(self, directory: Path, seed: int = 0) -> None:
        super().__init__(directory)
        self.world = make_world(seed=seed)

    @property
    def writer(self) -> Writer:
        return Writer(self.now, "test", self.warnings.append, self.world)

    def label(self, ident: str, text: str | None) -> None:
        view = self.reader.open(str(self.path))
        row = view.table.row_named(ident)
        assert row is not None
        set_label(view, row, text, self.writer)

    def rename(self, *names: str) -> None:
        for name in names:
            rename_session(self.reader.open(str(self.path)), name, self.writer)

    def say(self, *values: object) -> None:
        lines = [json.dumps(value).encode() for value in values]
        entries, numbers = read_entries(lines, self.world, self.warnings.append)
        append_to(self.reader.open(str(self.path)), entries, self.writer, numbers)


USER = message("user", content="Hello.")
ANSWER = message("assistant", content=[{"type": "text", "text": "Yes \u2028 \U0001f600."}])
CASES: dict[str, tuple[list[list[Any]], Callable[[Commands], None]]] = {
    "label": ([["appendLabelChange", B, "any text"]], lambda box: box.label(B, "any text")),
    "label again": ([["appendLabelChange", A, " "]], lambda box: box.label(A, " ")),
    "cleared label": ([["appendLabelChange", A, {"undefined": True}]], lambda box: box.label(A, None)),
    "name": ([["appendSessionInfo", " a\r\nb "]], lambda box: box.rename(" a\r\nb ")),
    "two names": (
        [["appendSessionInfo", "a"], ["appendSessionInfo", ""]],
        lambda box: box.rename("a", ""),
    ),
    "messages": ([["appendMessage", USER], ["appendMessage", ANSWER]], lambda box: box.say(USER, ANSWER)),
    "other entries": (
        [["appendCustomEntry", "mine", {"b": 1.0, "7": None}], ["appendModelChange", "p", "m"]],
        lambda box: box.say(
            {"type": "custom", "customType": "mine", "data": {"b": 1.0, "7": None}},
            {"type": "model_change", "provider": "p", "modelId": "m"},
        ),
    ),
}


@pytest.mark.parametrize("data", [TREE, TREE[:-1], TREE + b"{torn"], ids=["whole", "no LF", "torn"])
def test_appended_bytes_are_those_of_pi(data: bytes, pi: Pi, tmp_path: Path) -> None:
    requests = []
    for place, (steps, _) in enumerate(CASES.values()):
        path = pi.copy(data)
        requests.append({"run": steps, "file": str(path), "cwd": CWD, "clock": CLOCK, "seed": place})
    answers = ask_writer(pi, requests)
    for place, ((name, (_, act)), theirs) in enumerate(zip(CASES.items(), answers, strict=True)):
        box = Commands(tmp_path / str(place), seed=place)
        box.write(data)
        act(box)
        assert "error" not in theirs["results"], name
        # Our commands may look at the clock once for several lines, so times are compared where one line was written.
        ours, expected = box.path.read_bytes(), base64.b64decode(theirs["text"])
        assert without_times(ours) == without_times(expected), name
        assert ours.startswith(data)
        if len(theirs["results"]) == 1:
            assert ours == expected, name


def without_times(data: bytes) -> list[bytes]:
    lines = data.split(b"\n")
    for place, line in enumerate(lines):
        if b'"timestamp":"' in line:
            before, _, after = line.partition(b'"timestamp":"')
            lines[place] = before + after[24:]
    return lines


def test_pi_reads_what_commands_and_undo_wrote(pi: Pi, tmp_path: Path) -> None:
    box = Commands(tmp_path)
    box.write(TREE)
    random = Random(5)
    files, expected = [], []
    for _ in range(60):
        before = box.path.read_bytes()
        random.choice(
            [
                lambda: box.label(random.choice([A, B]), random.choice(["x", "y", "start", None])),
                lambda: box.rename(random.choice(["one", "two", ""])),
                lambda: undone(box),
            ]
        )()
        assert box.path.read_bytes().startswith(before)
        session = Session.open(box.path)
        files.append(pi.copy(box.path.read_bytes()))
        labels = {ident: label.text for ident, label in session.labels.items()}
        expected.append((session.leaf, session.name, labels))
    answers = ask_writer(pi, [{"read": str(path)} for path in files])
    assert [(each["leaf"], each["name"], each["labels"]) for each in answers] == expected


def undone(box: Commands) -> None:
    for act in (operations.undo, operations.redo, operations.undo):
        try:
            act(box.store, now=box.now, world=box.world)
        except operations.NothingToUndo:
            return


def test_pi_opens_new_sessions_and_goes_on(pi: Pi, tmp_path: Path) -> None:
    paths = []
    for place, entries in enumerate(([], [user_message("Hello.", make_world())])):
        paths.append(tmp_path / f"{place}.jsonl")
        world = make_world(seed=place)
        new_session(tmp_path, world=world, entries=entries, session_id="mine", output=paths[-1])
    for place, answer in enumerate(ask_writer(pi, [{"read": str(path)} for path in paths])):
        assert (answer["id"], answer["cwd"], len(answer["ids"])) == ("mine", str(tmp_path), place)
    runs = [
        {"run": [["appendMessage", USER]], "file": str(path), "cwd": CWD, "clock": CLOCK, "seed": 9} for path in paths
    ]
    for place, (path, answer) in enumerate(zip(paths, ask_writer(pi, runs), strict=True)):
        data = path.read_bytes()
        assert data == base64.b64decode(answer["text"])
        entries = list(map(json.loads, data.splitlines()[1:]))
        assert [entry["parentId"] for entry in entries] == [None, *(entry["id"] for entry in entries)][: place + 1]


def tokens_by_pi(pi: Pi, files: Sequence[Path]) -> list[dict[str, list[float] | None]]:
    done = subprocess.run(
        [pi._folder / "node", Path(__file__).with_name("pi_tokens.mjs")],
        input=json.dumps({"manager": str(pi._folder / MANAGER), "files": [str(file) for file in files]}).encode(),
        env=os.environ | {"HOME": str(pi._scratch), "PI_CODING_AGENT_DIR": str(pi._scratch / "agent")},
        cwd=pi._scratch, capture_output=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    answers = json.loads(done.stdout)
    assert isinstance(answers, list)
    return answers


def measured_sessions(directory: Path, count: int) -> list[Path]:
    """Return random sessions in which answers have usage of all kinds."""
    random = Random(11)
    paths = []
    for place, steps in enumerate(drawn_runs(count)):
        steps = [step for step in steps if step[0] != "createBranchedSession"]
        for step in steps:
            if step[0] == "appendMessage" and step[1].get("role") == "assistant":
                counts = {key: random.choice([0, 7, 1000]) for key in ("input", "output", "cacheRead", "cacheWrite")}
                step[1]["usage"] = counts | {"totalTokens": random.choice([0, 5000])}
                step[1]["stopReason"] = random.choice(["stop", "stop", "toolUse", "aborted", "error"])
                step[1]["content"] = [
                    {"type": "text", "text": "\U0001f600 text"},
                    {"type": "thinking", "thinking": "hm", "thinkingSignature": "long"},
                    {"type": "toolCall", "id": "1", "name": "read", "arguments": {"path": "é", "n": 1.0}},
                ]
        path = directory / f"{place}.jsonl"
        do(Session.open(path, cwd=CWD, world=make_world(seed=place * 100)), steps)
        if path.exists():
            paths.append(path)
    return paths


def test_tokens_are_estimated_as_by_pi(pi: Pi, tmp_path: Path) -> None:
    image = [{"type": "image", "data": "AAAA", "mimeType": "image/png"}, {"type": "text", "text": "see"}]
    path = tmp_path / "image.jsonl"
    path.write_bytes(header_line() + message_line(A, None, content=image))
    paths = [path, *measured_sessions(tmp_path, 150)]
    compared = measured = 0
    for path, expected in zip(paths, tokens_by_pi(pi, [pi.copy(path.read_bytes()) for path in paths]), strict=True):
        box = Box(tmp_path)
        view = box.reader.open(str(path))
        for ident, tokens in expected.items():
            row = view.table.row_named(ident)
            if tokens is None or row is None:
                continue
            estimate = context_at(view, row).estimate
            assert [estimate.tokens, estimate.measured] == tokens, (path, ident)
            compared += 1
            measured += estimate.measured > 0
    assert compared > 500
    assert measured > 50
