"""What an edit makes of a file: pi's own edit tool is the judge."""

from __future__ import annotations

import base64
import json
import subprocess
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pivcs.workspace.calls import Edit, operation_of
from pivcs.workspace.editing import apply_with_details
from pivcs.workspace.edits import EditRefused, Rules, apply_edit
from pivcs.workspace.evidence import Verdict, judge
from tests.interop.pi import MANAGER, Pi

pytestmark = pytest.mark.interop

PIECES = [
    *["a", "b", "ab", "foo", "x = 1", "(", "return", ""] * 3,
    " ", "  ", "\t", "\u00a0", "\u2003", "\u3000", "\u2019", "'", "\u201c", '"', "\u2013", "-", "\u2212", "\ufb01",
    "fi", "\u00bd", "e\u0301", "\u00e9", "\ufeff", "\u2028", "\u0085", "\x1c", "\U0001f600", "\u212b", "\uff21", "A",
    "\u1e9b\u0323",
]  # fmt: skip
ENDS = ["\n"] * 8 + ["\r\n", "\r\n", "\r", "\n\n", " \n", "\r\r\n", "\n\r"]


def text(random: Random, lines: int, ends: list[str]) -> str:
    return "".join(
        "".join(random.choices(PIECES, k=random.randrange(4))) + random.choice(ends) for _ in range(lines)
    ) + random.choice(["", "", "last", " ", "x \u00a0"])


def disguised(random: Random, part: str) -> str:
    """Return a text that may match only in normalised form."""
    for old, new in random.sample(
        [("'", "\u2019"), ("-", "\u2014"), ("\u2013", "-"), ("\u00a0", " "), ("fi", "\ufb01"), ("\n", " \n"),
         ("\r\n", "\n"), ("\n", "\r\n"), ("\u00e9", "e\u0301"), (" \n", "\n"), ("\u2003", " "), ("\u201c", '"')], 3,
    ):  # fmt: skip
        part = part.replace(old, new)
    return part


def case(random: Random) -> dict[str, Any]:
    lines = random.choice([0, 1, 2, 3, 5, 8, 120])
    ends = random.choice([["\n"], ["\n"], ["\r\n"], ["\r"], ENDS])
    content = random.choice(["", "", "", "\ufeff"]) + text(random, lines, ends)
    edits = []
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        start = random.randrange(len(content) + 1)
        old = content[start : start + random.choice([1, 2, 4, 9, 20, 60])]
        if random.random() < 0.5:
            old = disguised(random, old)
        if random.random() < 0.05:
            old = random.choice(["", "\n", " ", "\u00a0", "nowhere"])
        made = text(random, random.randrange(3), ends)
        new = random.choice([old + "!", "", made, "new\nlines\n", old.strip(), "\r\ny"])
        edits.append({"oldText": old, "newText": new})
    raw = content.encode()
    if random.random() < 0.05:
        raw += b"\xff\xfe\xe2\x82"
    shape = random.randrange(5)
    arguments: dict[str, Any] = {"path": "file", "edits": edits}
    if shape == 0:
        arguments["edits"] = json.dumps(edits)
    elif shape == 1:
        arguments["edits"] = edits[0]
    elif shape == 2:
        arguments = {"path": "file", "edits": edits[1:], **edits[0]}
    elif shape == 3:
        arguments = {"path": "file", **edits[0]}
    return {"content": base64.b64encode(raw).decode(), "arguments": arguments}


def answers_of(pi: Pi, cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    done = subprocess.run(
        [pi._folder / "node", Path(__file__).with_name("pi_edits.mjs")],
        input=json.dumps({"manager": str(pi._folder / MANAGER), "cases": cases}).encode(),
        capture_output=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    answers = json.loads(done.stdout)
    assert len(answers) == len(cases)
    return list(answers)


def test_edits_make_the_bytes_that_pi_makes(pi: Pi) -> None:
    random = Random(17)
    cases = [case(random) for _ in range(8_000)]
    seen: Counter[str] = Counter()
    for given, theirs in zip(cases, answers_of(pi, cases), strict=True):
        content = base64.b64decode(given["content"])
        edit = operation_of("edit", given["arguments"])
        assert isinstance(edit, Edit)
        assert edit.replacements is not None
        try:
            ours = apply_edit(content, edit.replacements, Rules.LINE_ENDS_STAY)
        except EditRefused:
            assert "error" in theirs, (content, edit, theirs)
            seen["refused"] += 1
            continue
        assert "error" not in theirs, (content, edit, theirs)
        expected = base64.b64decode(theirs["content"])
        assert ours.content == expected, (content, edit)
        details = theirs["details"]
        assert judge(ours, details) is Verdict.AGREES, (content, edit, details)
        assert judge(ours, {"diff": details["diff"]}) is Verdict.AGREES, (content, edit, details)
        assert apply_with_details(content, edit, details).content == expected
        seen["done"] += 1
    assert seen["done"] > 1_000
    assert seen["refused"] > 1_000


def test_details_of_another_file_do_not_agree(pi: Pi) -> None:
    random = Random(18)
    cases = [case(random) for _ in range(3_000)]
    denied = 0
    for given, theirs in zip(cases, answers_of(pi, cases), strict=True):
        if "error" in theirs:
            continue
        edit = operation_of("edit", given["arguments"])
        assert isinstance(edit, Edit)
        # One line more in front: the texts around the change are the same, but not its place.
        other = b"one more\n" + base64.b64decode(given["content"]).removeprefix(b"\xef\xbb\xbf")
        for details in (theirs["details"], {"diff": theirs["details"]["diff"]}):
            assert apply_with_details(other, edit, details).content is None, (other, edit, details)
            denied += 1
    assert denied > 500
