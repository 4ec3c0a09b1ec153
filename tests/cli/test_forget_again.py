"""Forgetting that was stopped before it came to the refs is completed, and nothing leaves meanwhile."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import pytest

from pivcs.gitbridge import forget_completing, forgotten_refs, refs_update
from pivcs.store.store import Store
from tests.builders import header_line, message_line
from tests.cli.conftest import Program
from tests.cli.test_forget import file, has_text, in_objects, refs_of, store
from tests.gitbridge import git as judge
from tests.gitbridge.git import needs_git
from tests.ops.test_forget import SECRET, secret_places

__all__ = ["file", "store"]
pytestmark = needs_git
SET = f'text("{SECRET}")'


@pytest.fixture
def stopped(file: Path, pivcs: Program) -> Path:
    """A project of which another process held the ref of the stream while an entry was forgotten by a set."""
    judge.git(".", "remote", "add", "origin", str(judge.new_repository(file.parent.parent / "hub", "--bare")))
    assert pivcs("archive", "--yes", "--review").code == 0
    (ref,) = [name for name in refs_of(".") if "/review/" not in name]
    lock = Path(".git", f"{ref}.lock")
    lock.touch()
    with patch.object(refs_update, "_WAITS", 2):
        result = pivcs("forget", SET, "--yes")
    assert result.code == 20
    assert "another process holds it" in result.complaint
    lock.unlink()
    assert has_text(".", ref)
    return file


def held() -> list[str]:
    """Return the refs of the project that still have the secret."""
    return [name for name in refs_of(".") if has_text(".", name)]


def test_store_is_done_though_a_ref_is_held(stopped: Path, store: Path, pivcs: Program) -> None:
    assert secret_places(store) == []
    assert "erasure-unfinished" not in pivcs("fsck").text


def test_set_that_names_nothing_any_more_completes_it(stopped: Path, pivcs: Program) -> None:
    plan = pivcs("forget", SET)
    assert plan.code == 0
    assert "1 ref written anew without it" in plan.text
    assert "--yes does it" in plan.text
    assert held()
    done = pivcs("forget", SET, "--yes", "--json")
    assert (done.code, done.json["entries"], len(done.json["repositories"][0]["covered"])) == (0, [], 1)
    assert held() == []
    assert [name for name in refs_of(".") if "/review/" in name] == []
    assert "no entry is named" in pivcs("forget", SET, "--yes").complaint
    judge.git(".", "gc", "-q", "--prune=now")
    assert not in_objects(".")


def test_another_forgetting_completes_it_too(stopped: Path, pivcs: Program) -> None:
    assert pivcs("forget", "aaaaaaaa", "--yes").code == 0
    assert held() == []


@pytest.mark.parametrize("command", ["archive", "push"])
def test_archive_and_push_complete_it(stopped: Path, pivcs: Program, command: str) -> None:
    result = pivcs(command)
    assert result.code == 0, result.complaint
    assert "still had something that was forgotten here" in result.complaint
    assert held() == []
    hub = stopped.parent.parent / "hub"
    assert not in_objects(hub)
    assert bool(refs_of(hub)) == (command == "push")
    assert "forgotten" not in pivcs(command).complaint


def test_push_without_the_session_completes_it(stopped: Path, pivcs: Program) -> None:
    cwd = str(Path.cwd())
    stopped.write_bytes(header_line("other", cwd=cwd) + message_line("aaaaaaaa", None))
    assert pivcs("push").code == 0
    assert held() == []
    assert not in_objects(stopped.parent.parent / "hub")


def test_refs_that_came_back_are_written_anew(file: Path, pivcs: Program) -> None:
    assert pivcs("archive").code == 0
    (ref,) = refs_of(".")
    commit = judge.git(".", "rev-parse", ref).decode().strip()
    assert pivcs("forget", "bbbbbbbb", "--yes").code == 0
    for _ in range(2):
        judge.git(".", "update-ref", ref, commit)
        assert pivcs("archive").code == 0
        assert held() == []


def test_refs_of_a_forgotten_session_that_came_back_go(file: Path, tmp_path: Path, pivcs: Program) -> None:
    other = header_line("other", cwd=str(Path.cwd())) + message_line("aaaaaaaa", None)
    (file.parent / "other.jsonl").write_bytes(other)
    assert pivcs("archive").code == 0
    (ref,) = held()
    commit = judge.git(".", "rev-parse", ref).decode().strip()
    assert pivcs("forget", file, "--yes").code == 0
    judge.git(".", "update-ref", ref, commit)
    hub = judge.new_repository(tmp_path / "hub", "--bare")
    assert pivcs("push", hub).code == 0
    assert held() == []
    assert len(refs_of(hub)) == 1
    assert not in_objects(hub)


def test_streams_are_read_once(file: Path, pivcs: Program) -> None:
    other = header_line("other", cwd=str(Path.cwd())) + message_line("aaaaaaaa", None)
    (file.parent / "other.jsonl").write_bytes(other)
    assert pivcs("archive").code == 0
    assert pivcs("forget", "-s", file, "bbbbbbbb", "--yes").code == 0
    with patch.object(forget_completing, "spooled", wraps=forgotten_refs.spooled) as reads:
        for expected in (2, 2):
            assert pivcs("archive").code == 0
            assert reads.call_count == expected
        file.write_bytes(file.read_bytes() + message_line("dddddddd", "cccccccc", "user", "More."))
        for _ in range(2):  # what is written from the store is known
            assert pivcs("archive").code == 0
            assert reads.call_count == 2
        assert pivcs("forget", "-s", file, "aaaaaaaa", "--yes").code == 0
        assert pivcs("archive").code == 0
        assert reads.call_count > 2


def test_what_was_looked_through_counts_for_one_state(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store.db", create=True) as opened:
        with opened.writing():
            opened.forgotten.add_looked(b"a", [b"1", b"2"])
            opened.forgotten.add_looked(b"b", [b"2"])
        assert (opened.forgotten.looked(b"a"), opened.forgotten.looked(b"b")) == (set(), {b"2"})


def test_names_with_words_of_the_entry_are_told(file: Path, store: Path, pivcs: Program) -> None:
    file.write_bytes(file.read_bytes().replace(SECRET.encode(), b"the login with " + SECRET.encode()))
    for command in (("branch", "login", "HEAD"), ("tag", SECRET, "HEAD")):
        assert pivcs(*command).code == 0
    assert pivcs("archive", "--yes").code == 0
    plan = pivcs("forget", "bbbbbbbb")
    assert SECRET not in plan.text
    (told,) = [line for line in plan.lines if line.startswith("  branch login: ")]
    assert told.endswith("-d login`, before you forget")
    assert pivcs("forget", "bbbbbbbb", "--yes").code == 0
    assert [line.split()[0] for line in pivcs("tag").lines] == ["forgotten"]
    assert secret_places(store) == []
    for command in (("op", "log", "--json"), ("tag", "--json"), ("branch", "--json")):
        assert SECRET not in pivcs(*command).text
    assert pivcs("archive").code == 0
    judge.git(".", "gc", "-q", "--prune=now")
    assert not in_objects(".")


def test_command_that_deletes_a_name_before_leaves_nothing_of_it(file: Path, store: Path, pivcs: Program) -> None:
    file.write_bytes(file.read_bytes().replace(SECRET.encode(), b"the swordfish with " + SECRET.encode()))
    assert pivcs("tag", "swordfish", "HEAD").code == 0
    (told,) = [line for line in pivcs("forget", "bbbbbbbb").lines if line.startswith("  tag swordfish: ")]
    command = told.partition("`pivcs ")[2].partition("`")[0].split()
    assert pivcs(*command).code == 0
    assert pivcs("forget", "bbbbbbbb", "--yes").code == 0
    assert secret_places(store, b"swordfish") == []
