"""The real pi opens every file that our commands write, resumes where they say, and goes on from there."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pivcs.errors import PivcsError
from pivcs.objects.table import POSITIONAL
from pivcs.ops.checkout import Written, checkout
from pivcs.ops.cherry_pick import cherry_pick
from pivcs.ops.fork import fork
from pivcs.ops.merge_base import range_rows
from pivcs.ops.summaries import conversation_text, left_behind, summary_entry, touched_files
from pivcs.ops.switch import resume_at
from pivcs.ops.view import SessionView
from pivcs.ops.writing import Writer
from pivcs.session.context import BrokenEntry
from pivcs.session.jsontext import parse_json
from pivcs.session.manager import Session
from tests.builders import CLOCK
from tests.interop.pi import MANAGER, Pi
from tests.interop.pi_writing import ask_writer
from tests.interop.steps import do, drawn_runs, message
from tests.ops.syncing import Box
from tests.ops.views import view_of
from tests.session.worlds import make_world

pytestmark = pytest.mark.interop

SCRIPT = Path(__file__).with_name("pi_going_back.mjs")
MORE = [["appendMessage", message("user", content="On from here.")], ["appendSessionInfo", "went back"]]


def what_pi_would_store(pi: Pi, requests: list[dict[str, str]]) -> list[Any]:
    done = subprocess.run(
        [pi._folder / "node", SCRIPT],
        input=json.dumps({"manager": str(pi._folder / MANAGER), "requests": requests}).encode(),
        env=os.environ | {"HOME": str(pi._scratch), "PI_CODING_AGENT_DIR": str(pi._scratch / "agent")},
        cwd=pi._scratch, capture_output=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    answers = json.loads(done.stdout)
    assert isinstance(answers, list)
    return answers


def sessions(directory: Path, count: int) -> Iterator[Path]:
    """Yield files of random sessions that have a conversation."""
    for place, steps in enumerate(drawn_runs(count)):
        path = directory / f"{place}.jsonl"
        session = Session.open(path, cwd="/home/dev/project", world=make_world(seed=place * 100))
        do(session, [step for step in steps if step[0] != "createBranchedSession"])
        if session.is_saved and session.entry_count:
            yield path


def context_at(session: Session, leaf: str | None) -> Any:
    try:
        return list(session.build_context(leaf).messages)
    except BrokenEntry:
        return "error"


def assert_pi_agrees(theirs: Any, view: SessionView, row: int, done: Written) -> None:
    """pi resumes at the leaf that we named, and sees there what it would see at the entry itself."""
    assert theirs["leaf"] == done.leaf
    session = Session.open(done.path)
    assert theirs["name"] == session.name
    assert theirs["labels"] == {key: label.text for key, label in session.labels.items() if key in session}
    old = Session.in_memory(values=[parse_json(view.record(each)) for each in view.table.path(row)])
    expected = context_at(old, old.leaf)
    answer = theirs["contexts"][done.leaf]
    assert (answer if answer == "error" else answer["messages"]) == expected


def test_pi_resumes_at_what_was_checked_out(pi: Pi, tmp_path: Path) -> None:
    random = Random(5)
    box = Box(tmp_path)
    asked: list[tuple[SessionView, int, Written]] = []
    for path in sessions(tmp_path / "s", 120):
        view = box.reader.open_path(path)
        for row in random.sample(list(view.table.nodes()), min(2, view.node_count())):
            asked.append((view, row, checked_out(view, row, tmp_path / "new" / f"{len(asked)}.jsonl")))
    answers = ask_writer(pi, [{"read": str(done.path)} for _, _, done in asked])
    for (view, row, done), theirs in zip(asked, answers, strict=True):
        assert theirs["ids"] == [view.table.name(each) for each in view.table.path(row)]
        assert_pi_agrees(theirs, view, row, done)
    assert len(asked) > 100


def checked_out(view: SessionView, row: int, path: Path, **options: Any) -> Written:
    return checkout(view, row, world=make_world(seed=99), output=path, **options)


def test_pi_resumes_at_what_was_switched_to(pi: Pi, tmp_path: Path) -> None:
    random = Random(6)
    box = Box(tmp_path)
    asked: list[tuple[SessionView, int, Written]] = []
    for path in sessions(tmp_path / "s", 120):
        before = path.read_bytes()
        view = box.reader.open_path(path)
        row = random.choice(list(view.table.nodes()))
        writer = Writer(box.now, "switch", box.warnings.append, make_world(seed=7_000 + len(asked)))
        asked.append((view, row, resume_at(view, row, writer)))
        after = path.read_bytes()
        assert after.startswith(before)
        assert after[len(before) :].count(b"\n") == 1
    for (view, row, done), theirs in zip(
        asked, ask_writer(pi, [{"read": str(done.path)} for _, _, done in asked]), strict=True
    ):
        session = Session.open(done.path)
        assert theirs["ids"] == [entry["id"] for entry in session.entries if isinstance(entry, dict)]
        assert_pi_agrees(theirs, view, row, done)
    assert len(asked) > 50


def test_pi_goes_on_below_and_what_it_appends_syncs_as_such(pi: Pi, tmp_path: Path) -> None:
    random = Random(7)
    box = Box(tmp_path)
    written: list[Written] = []
    for path in sessions(tmp_path / "s", 40):
        view = box.reader.open_path(path)
        row = random.choice(list(view.table.nodes()))
        seed = 9_000 + 10 * len(written)
        writer = Writer(box.now, "switch", box.warnings.append, make_world(seed=seed))
        written.append(checked_out(view, row, tmp_path / "new" / path.name))
        written.append(resume_at(view, row, writer))
    for done in written:
        assert box.sync(done.path).outcome in ("new", "unchanged")
    runs = [
        {"run": MORE, "file": str(done.path), "clock": CLOCK, "seed": 20_000 + place * 10}
        for place, done in enumerate(written)
    ]
    for done, theirs in zip(written, ask_writer(pi, runs), strict=True):
        synced = box.sync(done.path)
        assert (synced.outcome, synced.rows) == ("appended", 2)
        view = box.reader.open_path(done.path)
        first = view.table.row_named(theirs["results"][0])
        assert first is not None
        parent = view.table.parent_of(first)
        assert parent is not None
        assert view.table.name(parent) == done.leaf
        assert view.name == "went back"
        assert view.refs.head_branch is not None


def test_summaries_are_about_what_pi_would_sum_up(pi: Pi, tmp_path: Path) -> None:
    random = Random(8)
    asked: list[tuple[SessionView, int]] = []
    requests = []
    folder = Path(os.environ["PIVCS_FIXTURES"]) / "pi" if "PIVCS_FIXTURES" in os.environ else None
    real = [folder / f"{name}.jsonl" for name in ("agent_run", "agent_branches", "compaction_two")] if folder else []
    for path in [*sessions(tmp_path / "s", 100), *real]:
        data = path.read_bytes()
        view = view_of(data)
        nodes = [row for row in view.table.nodes() if not view.table.flags[row] & POSITIONAL]
        for row in random.sample(nodes, min(3, len(nodes))):
            asked.append((view, row))
            requests.append({"file": str(pi.copy(data)), "target": view.table.name(row)})
    met = 0
    for (view, row), theirs in zip(asked, what_pi_would_store(pi, requests), strict=True):
        left = left_behind(view, row)
        assert left.from_id == theirs["from"]
        assert [entry["id"] for entry in left.entries if isinstance(entry, dict)] == theirs["entries"]
        assert touched_files(left.entries) == (theirs["read"], theirs["modified"])
        assert conversation_text(left.entries) == theirs["text"]
        met += bool(theirs["text"])
    assert met > 40


def test_pi_reads_a_summary_as_its_own(pi: Pi, tmp_path: Path) -> None:
    box = Box(tmp_path)
    path = next(sessions(tmp_path / "s", 10))
    view = box.reader.open_path(path)
    row = next(iter(view.table.nodes()))
    entry = summary_entry(left_behind(view, row), "Tried it, no use.")
    new = checked_out(view, row, tmp_path / "new.jsonl", entries=[entry])
    same = resume_at(view, row, Writer(box.now, "switch", box.warnings.append, make_world(seed=500)), entry)
    answers = ask_writer(pi, [{"read": str(each.path)} for each in (new, same)])
    for done, theirs in zip((new, same), answers, strict=True):
        assert theirs["leaf"] == done.leaf
        last = theirs["contexts"][done.leaf]["messages"][-1]
        assert last["role"] == "branchSummary"
        assert "Tried it, no use." in last["summary"]
        assert last["fromId"] == view.table.name(view.head or 0)


def test_pi_sees_the_replayed_messages(pi: Pi, tmp_path: Path) -> None:
    random = Random(9)
    box = Box(tmp_path)
    done: list[tuple[Session, Written]] = []
    for path in sessions(tmp_path / "s", 150):
        view = box.reader.open_path(path)
        first, last, onto = (random.choice(list(view.table.nodes())) for _ in range(3))
        writer = Writer(box.now, "cherry-pick", box.warnings.append, make_world(seed=30_000 + 20 * len(done)))
        try:
            written = cherry_pick(view, range_rows(view, first, last), onto, writer, None)
        except PivcsError:
            continue
        done.append((Session.open(path), written))
    for (session, written), theirs in zip(
        done, ask_writer(pi, [{"read": str(each.path)} for _, each in done]), strict=True
    ):
        assert theirs["leaf"] == written.leaf
        for old, new in written.replayed:
            before, after = session.entry(old), session.entry(new)
            assert isinstance(before, dict)
            assert isinstance(after, dict)
            assert before.get("message") == after.get("message")
            assert theirs["contexts"][new] == "error" or theirs["contexts"][new]["ids"]
    assert len(done) > 20


def test_pi_opens_forks_where_they_end(pi: Pi, tmp_path: Path) -> None:
    random = Random(10)
    box = Box(tmp_path)
    done = []
    for place, path in enumerate(sessions(tmp_path / "s", 60)):
        view = box.reader.open_path(path)
        row = random.choice(list(view.table.nodes()))
        done.append(fork(view, row, at=False, world=make_world(seed=60_000 + place * 40, clock=CLOCK + place * 10**8)))
    for written, theirs in zip(done, ask_writer(pi, [{"read": str(each.path)} for each in done]), strict=True):
        assert theirs["leaf"] == written.leaf
        assert theirs["id"] == written.session_id
