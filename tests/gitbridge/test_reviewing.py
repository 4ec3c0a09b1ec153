"""An export that goes on where an earlier one ended has the same commits as one that makes everything anew."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pivcs.gitbridge import reviewing
from pivcs.gitbridge.review_options import Granularity
from tests.gitbridge import git as judge
from tests.gitbridge.git import needs_git
from tests.gitbridge.reviews import STEPS, Step, exported, grown, refs
from tests.talks import Talk

pytestmark = needs_git


@settings(max_examples=30, deadline=None)
@given(STEPS, st.sampled_from(Granularity), st.integers(1, 4))
def test_going_on_gives_the_same_commits_as_beginning_anew(steps: list[Step], granularity: Granularity, stride: int):
    states = grown(steps)
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory, "grown")
        for data in [*states[::stride], states[-1]]:
            done = exported(place, data, granularity=granularity)
            assert all(moved.outcome != "refused" for moved in done.sessions[0].moved)
        exported(Path(directory, "once"), states[-1], granularity=granularity)
        once = refs(Path(directory, "once"))
        assert {name: commit for name, commit in refs(place).items() if name in once} == once
        judge.check(place)


def _written(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the rows whose commits are made from now on."""
    rows: list[int] = []
    real = reviewing.write_review

    def noted(*arguments: object, **options: object):
        for written in real(*arguments, **options):  # type: ignore[arg-type]
            rows.append(written.row)
            yield written

    monkeypatch.setattr(reviewing, "write_review", noted)
    return rows


def _long_talk() -> Talk:
    talk = Talk()
    talk.prompt("Go.")
    talk.write("a.py", "x = 1\n")
    for number in range(30):
        talk.edit("a.py", f"x = {number + 1}", f"x = {number + 2}")
    talk.say("Done.")
    return talk


def test_an_entry_more_costs_an_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    talk = _long_talk()
    exported(tmp_path / "review", talk.data)
    rows = _written(monkeypatch)
    talk.prompt("And now?")
    done = exported(tmp_path / "review", talk.data)
    assert len(rows) == done.sessions[0].new == 1
    rows.clear()
    assert exported(tmp_path / "review", talk.data).objects == 0
    assert rows == []


def test_an_entry_on_top_of_book_keeping_goes_on_from_the_branch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    talk = _long_talk()
    talk.raw({"type": "session_info", "name": "named"})
    exported(tmp_path / "review", talk.data)
    rows = _written(monkeypatch)
    talk.prompt("And now?")
    exported(tmp_path / "review", talk.data)
    assert len(rows) == 2


def test_a_branch_from_further_above_is_made_from_its_root(tmp_path: Path):
    talk = _long_talk()
    exported(tmp_path / "review", talk.data)
    talk.at = f"{5:08x}"
    talk.prompt("Another way.")
    exported(tmp_path / "review", talk.data)
    exported(tmp_path / "once", talk.data)
    assert refs(tmp_path / "review") == refs(tmp_path / "once")


@pytest.mark.parametrize("harm", ["gone", "cut", "changed", "not ours"])
def test_what_was_left_is_passed_over_when_it_is_harmed(tmp_path: Path, harm: str, monkeypatch: pytest.MonkeyPatch):
    talk = _long_talk()
    exported(tmp_path / "review", talk.data)
    (file,) = (tmp_path / "review" / "pivcs" / "review").iterdir()
    data = file.read_bytes()
    if harm == "gone":
        file.unlink()
    else:
        harmed = {"cut": data[:-10], "changed": data[:-10] + bytes(10), "not ours": b"something else"}
        file.write_bytes(harmed[harm])
    rows = _written(monkeypatch)
    talk.prompt("And now?")
    exported(tmp_path / "review", talk.data)
    assert len(rows) == len(talk.lines) - 1
    exported(tmp_path / "once", talk.data)
    assert refs(tmp_path / "review") == refs(tmp_path / "once")


def test_commits_that_nothing_reaches_any_more_are_made_again(tmp_path: Path):
    talk = _long_talk()
    place = tmp_path / "review"
    exported(place, talk.data)
    for name in refs(place):
        judge.git(place, "update-ref", "-d", name)
    judge.git(place, "gc", "-q", "--prune=now")
    exported(place, talk.data)
    judge.check(place)
    exported(tmp_path / "once", talk.data)
    assert refs(place) == refs(tmp_path / "once")


def test_a_session_that_was_rewritten_is_made_anew(tmp_path: Path):
    talk = _long_talk()
    exported(tmp_path / "review", talk.data)
    other = Talk()
    other.prompt("Something else.")
    other.say("Yes.")
    done = exported(tmp_path / "review", other.data)
    assert [moved.outcome for moved in done.sessions[0].moved] == ["refused"]
    assert done.sessions[0].new == 2
    shutil.rmtree(tmp_path / "review")
