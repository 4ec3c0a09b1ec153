"""`pivcs restore` and taking it back, in a real project directory."""

from __future__ import annotations

import subprocess
from pathlib import Path

import orjson
import pytest

from tests.cli.conftest import Program, Result
from tests.ops.restoring import Story, image, put

OLD, NEW = b"def f():\n    return 1\n", b"def f():\n    return 2\n"


def git(directory: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=x", "-c", "user.email=x@y", *arguments], cwd=directory, check=True, capture_output=True
    )


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a commit, which is the current directory."""
    place = tmp_path / "project"
    put(place, {"src/f.py": OLD, "README": b"hello\n", ".gitignore": b"*.log\n"})
    git(place, "init", "-q")
    git(place, "add", "-A")
    git(place, "commit", "-q", "-m", "first")
    monkeypatch.chdir(place)
    return place


def broken(root: Path) -> tuple[Path, str]:
    """Let the agent break files behind a prompt; return the session's file and the prompt."""
    story = Story(root)
    story.prompt("Hello")
    story.read("src/f.py", OLD)
    good = story.prompt("Refactor")
    story.write("src/f.py", NEW)
    story.write("src/new/made.py", b"made\n")
    story.write("debug.log", b"log\n")
    story.write(str(root.parent / "outside.txt"), b"out\n")
    story.write(".git/hooks/post-checkout", b"evil\n")
    put(root, {"src/f.py": NEW, "src/new/made.py": b"made\n", "debug.log": b"log\n", "untracked.txt": b"mine\n"})
    return story.save(root.parent / "session.jsonl"), good


def actions(done: Result) -> dict[str, str]:
    return {file["path"]: file["action"] for file in orjson.loads(done.out)["files"]}


def head(root: Path) -> tuple[str, ...]:
    out = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, check=True, capture_output=True)
    return ("--base", out.stdout.decode().strip())


def test_plan_changes_nothing_and_says_how_to_apply(pivcs: Program, root: Path) -> None:
    session, good = broken(root)
    before = image(root)
    done = pivcs("restore", session, good, *head(root))
    assert done.code == 0
    assert image(root) == before
    text = done.text
    assert f"files at {good} " in text
    assert "change    src/f.py" in text
    assert "delete    src/new/made.py" in text
    assert "unknown   debug.log  (" in text
    assert "git ignores it" in text
    assert "refused   .git/hooks/post-checkout" in text
    assert f"outside   {root.parent}/outside.txt" in text
    assert "untracked.txt" not in text
    assert "1 to change, 1 to delete, 1 unknown, 1 refused, 1 outside" in text
    assert "nothing was written; --apply does it, and `pivcs undo` takes that back" in text


def test_five_broken_files_come_back_and_undo_takes_it_back(pivcs: Program, root: Path) -> None:
    session, good = broken(root)
    before = image(root)
    done = pivcs("restore", session, good, "--apply", *head(root))
    assert done.code == 0
    assert "2 files restored (op " in done.text
    assert (root / "src/f.py").read_bytes() == OLD
    assert not (root / "src/new").exists()
    assert (root / "debug.log").read_bytes() == b"log\n"
    assert (root / "untracked.txt").read_bytes() == b"mine\n"
    after = image(root)
    assert "files 1 changed, 1 deleted  in " in pivcs("op", "log").text
    assert "undone: op " in pivcs("undo").text
    assert image(root) == before
    assert pivcs("redo").code == 0
    assert image(root) == after
    assert pivcs("restore", session, good, "--apply", *head(root)).text.splitlines()[-1].startswith("nothing to do: ")


def test_patches_show_what_changes(pivcs: Program, root: Path) -> None:
    session, good = broken(root)
    lines = pivcs("restore", session, good, "-p", *head(root)).lines
    assert lines[lines.index("--- a/src/f.py") + 1 :][:5] == [
        "+++ b/src/f.py", "@@ -1,2 +1,2 @@", " def f():", "-    return 2", "+    return 1",
    ]  # fmt: skip
    assert "deleted file mode 100644" in lines


def test_json_document_has_the_same(pivcs: Program, root: Path) -> None:
    session, good = broken(root)
    done = pivcs("restore", session, good, "--json", *head(root))
    document = orjson.loads(done.out)
    assert document["schema"] == "pivcs.restore/1"
    assert document["directory"] == str(root)
    assert document["counts"]["delete"] == 1
    assert actions(done)["src/f.py"] == "change"
    assert document["files"][0]["outcome"] is None
    applied = orjson.loads(pivcs("restore", session, good, "--json", "--apply", *head(root)).out)
    assert [file["outcome"] for file in applied["files"] if file["action"] in ("change", "delete")] == ["done", "done"]


def test_dirty_tree_is_as_it_was_read_not_as_it_was_committed(pivcs: Program, root: Path) -> None:
    """The file was not committed as it was when the session began: the first read behind the entry tells it."""
    dirty = b"dirty\n"
    story = Story(root)
    good = story.prompt("Refactor")
    story.read("README", dirty)
    story.write("README", b"broken\n")
    put(root, {"README": b"broken\n"})
    session = story.save(root.parent / "session.jsonl")
    assert pivcs("restore", session, good, "--apply", *head(root)).code == 0
    assert (root / "README").read_bytes() == dirty


def test_file_that_a_shell_may_have_changed_before_it_was_read_is_unknown(pivcs: Program, root: Path) -> None:
    story = Story(root)
    good = story.prompt("Refactor")
    story.call("bash", {"command": "./generate"}, "ok")
    story.read("README", b"generated\n")
    story.write("README", b"broken\n")
    put(root, {"README": b"broken\n"})
    session = story.save(root.parent / "session.jsonl")
    assert actions(pivcs("restore", session, good, "--json", "--base", "none")) == {"README": "unknown"}
    assert pivcs("restore", session, good, "--apply", "--last-known", "--base", "none").code == 0
    assert (root / "README").read_bytes() == b"generated\n"


def test_files_of_another_branch_of_the_conversation_are_the_sessions_own(pivcs: Program, root: Path) -> None:
    """The tool wrote on a branch that was left; moving in the tree left its files on the disk."""
    story = Story(root)
    fork = story.prompt("Try")
    story.write("a.txt", b"first try\n")
    story.write("only.txt", b"x\n")
    story.last = fork
    story.write("a.txt", b"second try\n")
    put(root, {"a.txt": b"first try\n", "only.txt": b"x\n"})
    session = story.save(root.parent / "session.jsonl")
    assert pivcs("restore", session, "HEAD", "--apply", *head(root)).code == 0
    assert (root / "a.txt").read_bytes() == b"second try\n"
    assert not (root / "only.txt").exists()


def test_conflict_is_left_and_forced(pivcs: Program, root: Path) -> None:
    session, good = broken(root)
    put(root, {"src/f.py": b"my own\n"})
    done = pivcs("restore", session, good, "--apply", *head(root))
    assert done.code == 0
    assert "conflict  src/f.py" in done.text
    assert (root / "src/f.py").read_bytes() == b"my own\n"
    assert pivcs("restore", session, good, "--apply", "--force", *head(root)).code == 0
    assert (root / "src/f.py").read_bytes() == OLD
    pivcs("undo")
    assert (root / "src/f.py").read_bytes() == b"my own\n"


def test_only_chosen_paths_relative_to_where_one_is(
    pivcs: Program, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, good = broken(root)
    monkeypatch.chdir(root / "src")
    assert set(actions(pivcs("restore", session, good, "f.py", "--json"))) == {"src/f.py"}
    assert set(actions(pivcs("restore", "-s", session, good, ".", "--json"))) == {"src/f.py", "src/new/made.py"}
    missing = pivcs("restore", session, good, "missing")
    assert missing.code == 10
    assert "nothing is known of a file 'src/missing'" in missing.complaint


def test_files_can_be_written_into_a_new_directory(pivcs: Program, root: Path, tmp_path: Path) -> None:
    session, good = broken(root)
    before = image(root)
    done = pivcs("restore", session, good, "--dest", tmp_path / "dest", *head(root))
    assert done.code == 0
    assert {name: data for name, (_, data) in image(tmp_path / "dest").items()} == {"src": b"", "src/f.py": OLD}
    assert image(root) == before
    again = pivcs("restore", session, good, "--dest", tmp_path / "dest")
    assert again.code == 20
    assert "is not empty" in again.complaint


def test_another_project_is_refused_and_named_directories_are_not(
    pivcs: Program, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, good = broken(root)
    before = image(root)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    refused = pivcs("restore", session, good, "--apply")
    assert refused.code == 20
    assert "which is not this project" in refused.complaint
    assert "--dest DIR" in refused.complaint
    assert image(root) == before
    assert pivcs("restore", session, good, "--into", root, "--apply", *head(root)).code == 0
    assert (root / "src/f.py").read_bytes() == OLD


def test_other_worktree_of_the_project_is_restored_where_one_is(
    pivcs: Program, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, good = broken(root)
    base = head(root)
    git(root, "worktree", "add", "-q", str(tmp_path / "second"))
    put(tmp_path / "second", {"src/f.py": NEW})
    monkeypatch.chdir(tmp_path / "second")
    before = image(root)
    assert pivcs("restore", session, good, "--apply", *base).code == 0
    assert (tmp_path / "second/src/f.py").read_bytes() == OLD
    assert image(root) == before


def test_snapshot_is_restored_whole_with_what_the_session_did_since(pivcs: Program, root: Path) -> None:
    story = Story(root)
    story.prompt("Hello")
    session = story.save(root.parent / "session.jsonl")
    put(root, {"untracked.txt": b"by hand\n"})
    (root / "run").write_bytes(b"#!/bin/sh\n")
    (root / "run").chmod(0o755)
    assert pivcs("snapshot", session).code == 0
    good = story.write("README", b"better\n")
    story.write("README", b"broken\n")
    story.write("made.txt", b"made\n")
    story.save(session)
    (root / "run").unlink()
    put(root, {"README": b"broken\n", "made.txt": b"made\n", "others.txt": b"o\n"})
    done = pivcs("restore", session, good, "--apply")
    assert done.code == 0
    assert "snapshot 1" in done.text
    assert (root / "README").read_bytes() == b"better\n"
    assert (root / "run").stat().st_mode & 0o777 == 0o755
    assert not (root / "made.txt").exists()
    assert (root / "untracked.txt").read_bytes() == b"by hand\n"
    assert (root / "others.txt").read_bytes() == b"o\n"
    assert "snapshot 1" not in pivcs("restore", session, good, "--no-snapshots").text


def test_undo_names_what_changed_since_and_can_write_elsewhere(pivcs: Program, root: Path, tmp_path: Path) -> None:
    session, good = broken(root)
    pivcs("restore", session, good, "--apply", *head(root))
    put(root, {"src/f.py": b"went on\n"})
    refused = pivcs("undo")
    assert refused.code == 20
    assert "'src/f.py' has changed since, so nothing was done" in refused.complaint
    written = pivcs("undo", "--dest", tmp_path / "old")
    assert written.code == 0
    assert (tmp_path / "old/src/f.py").read_bytes() == NEW
    assert (tmp_path / "old/src/new/made.py").read_bytes() == b"made\n"
    assert (root / "src/f.py").read_bytes() == b"went on\n"


def test_names_of_hostile_paths_are_shown_escaped(pivcs: Program, root: Path) -> None:
    story = Story(root)
    story.prompt("x")
    story.write("a\x1b[31m\nb", b"x")
    session = story.save(root.parent / "session.jsonl")
    done = pivcs("restore", session, "HEAD")
    assert b"\x1b" not in done.out
    assert "refused   a^[[31m^Jb  (" in done.text


def test_dest_goes_with_no_other_way_of_writing(pivcs: Program, root: Path) -> None:
    session, good = broken(root)
    assert pivcs("restore", session, good, "--dest", "x", "--apply").code == 2
    assert pivcs("restore", session).code == 2
