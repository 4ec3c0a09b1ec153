"""A session that went on in two places, or was rewritten, is called the same in every repository it is exported to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pivcs.gitbridge.destination import Destination
from pivcs.gitbridge.exporting import Export, export
from pivcs.ops.access import view_of
from tests.gitbridge import git as judge
from tests.gitbridge.archives import Machine
from tests.gitbridge.git import needs_git
from tests.gitbridge.reviews import refs
from tests.talks import Talk

pytestmark = needs_git


def _talk() -> Talk:
    talk = Talk()
    talk.prompt("Begin.")
    talk.say("Yes?")
    return talk


def _continued(text: str, turns: int = 1, minutes: int = 1) -> bytes:
    talk = _talk()
    talk.clock += 60_000 * minutes
    for turn in range(turns):
        talk._number += 16 * minutes
        talk.prompt(f"{text} {turn}")
        talk.say("Done.")
    return talk.data


ONE, TWO = _continued("one", minutes=1), _continued("two", minutes=2)


def _exported(machine: Machine, place: Path) -> Export:
    views = [view_of(machine.store, stream) for stream in machine.store.streams()]
    return export(views, Destination.open(place))


def _machine(directory: Path, files: Sequence[bytes]) -> Machine:
    machine = Machine(directory)
    for number, data in enumerate(files):
        machine.save(f"{number}", data)
    return machine


def test_two_ways_have_a_ref_each_whichever_was_met_first(tmp_path: Path):
    found = []
    for name, files in (("a", (ONE, TWO)), ("b", (TWO, ONE))):
        with _machine(tmp_path / name, files) as machine:
            done = _exported(machine, tmp_path / f"review-{name}")
            assert {moved.outcome for session in done.sessions for moved in session.moved} == {"new"}
            assert [(session.commits, session.new) for session in done.sessions] == [(6, 6)]
            assert _exported(machine, tmp_path / f"review-{name}").objects == 0
        judge.check(tmp_path / f"review-{name}")
        found.append(refs(tmp_path / f"review-{name}"))
    assert found[0] == found[1]
    names = sorted(name.rpartition("/")[2] for name in found[0])
    assert names[0] == "main"
    assert [len(name) for name in names[1:]] == [len("main.12345678")] * 2
    texts = {
        name: judge.git(tmp_path / "review-a", "log", "-1", "--format=%s", name).decode() for name in found[0]
    }
    assert sorted(texts.values()) == ["assistant: Done.\n", "assistant: Done.\n", "assistant: Yes?\n"]


def test_a_ref_stays_on_the_way_that_it_was_on_when_another_one_comes(tmp_path: Path):
    with _machine(tmp_path / "a", (ONE,)) as machine:
        _exported(machine, tmp_path / "review")
        before = refs(tmp_path / "review")
        machine.save("1", TWO)
        done = _exported(machine, tmp_path / "review")
        after = refs(tmp_path / "review")
        assert {moved.outcome for session in done.sessions for moved in session.moved} == {"new", "same"}
        assert before.items() <= after.items()
        assert len(after) == 3
        machine.save("0", _continued("one", turns=3))
        done = _exported(machine, tmp_path / "review")
        outcomes = {moved.name.rpartition("/")[2]: moved.outcome for moved in done.sessions[0].moved}
        assert sorted(outcomes.values()) == ["moved", "same", "same"]
        assert outcomes["main"] == "same"


def test_one_that_goes_on_with_the_other_has_one_ref(tmp_path: Path):
    longer = _continued("one", turns=2)
    with _machine(tmp_path / "a", (ONE, longer)) as machine:
        done = _exported(machine, tmp_path / "review")
        assert len(done.sessions) == 1
        assert len(refs(tmp_path / "review")) == 1


def test_a_rewritten_session_has_its_older_ways_too(tmp_path: Path):
    other = Talk()
    other.prompt("Something else.")
    other.say("As you like.")
    with _machine(tmp_path / "a", (ONE,)) as machine:
        _exported(machine, tmp_path / "review")
        before = refs(tmp_path / "review")
        machine.save("0", other.data)
        done = _exported(machine, tmp_path / "review")
        assert all(moved.outcome != "refused" for moved in done.sessions[0].moved)
        after = refs(tmp_path / "review")
        assert before.items() <= after.items()
        subjects = {judge.git(tmp_path / "review", "log", "-1", "--format=%s", name) for name in after}
        assert subjects == {b"assistant: Done.\n", b"assistant: As you like.\n"}
    with _machine(tmp_path / "b", (other.data,)) as fresh:
        _exported(fresh, tmp_path / "fresh")
        assert len(refs(tmp_path / "fresh")) == 1


def test_a_label_is_set_once_for_all_ways(tmp_path: Path):
    with _machine(tmp_path / "a", (ONE, TWO)) as machine:
        (session,) = _exported(machine, tmp_path / "review").sessions
        names = [moved.name for moved in session.moved]
        assert len(names) == len(set(names))
