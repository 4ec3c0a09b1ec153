"""`pivcs forget`: a plan first, then all of it, and what is said of it afterwards."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from unittest.mock import patch

import pytest

from pivcs.store.store import Store
from tests.builders import header_line, message_line, tool_call_line, tool_result_line
from tests.cli.conftest import Program
from tests.gitbridge import git as judge
from tests.gitbridge.git import needs_git
from tests.ops.test_forget import SECRET, secret_places, with_secret

pytestmark = needs_git


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only session of a project, which is the current directory."""
    project, sessions = judge.new_repository(tmp_path / "project"), tmp_path / "sessions"
    sessions.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", str(sessions))
    path = sessions / "s.jsonl"
    path.write_bytes(with_secret().replace(header_line(), header_line(cwd=str(project))))
    return path


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "home" / "store"


def test_plan_changes_nothing_and_says_what_cannot_be_reached(file: Path, store: Path, pivcs: Program) -> None:
    judge.git(".", "remote", "add", "origin", "https://git.example.org/p.git")
    pivcs("archive")
    refs = judge.git(".", "for-each-ref")
    result = pivcs("forget", "bbbbbbbb")
    assert result.code == 0
    assert f"{file}: line 3" in result.text
    assert "1 ref written anew" in result.text
    for told in ("the session file is as it was", "remote origin, https://git.example.org/p.git", "cannot be undone"):
        assert told in result.text
    assert judge.git(".", "for-each-ref") == refs
    assert secret_places(store)
    assert SECRET in pivcs("show", "bbbbbbbb").text


def test_plan_says_what_an_entry_is_and_nothing_of_its_text(file: Path, pivcs: Program) -> None:
    file.write_bytes(file.read_bytes().replace(b"Begin.", SECRET.encode()))
    pivcs("branch", "--name-all")
    for arguments in (("aaaaaaaa",), ("bbbbbbbb", "--utc"), ("bbbbbbbb", "--json"), (file,)):
        result = pivcs("forget", *arguments)
        assert result.code == 0
        assert "hunter2" not in result.text + result.complaint
    assert "message, user, 2026-01-01 00:00" in pivcs("forget", "bbbbbbbb", "--utc").text


def test_entry_is_gone_everywhere_and_the_chain_verifies(
    file: Path, store: Path, tmp_path: Path, pivcs: Program
) -> None:
    pivcs("archive")
    before = pivcs("rev-parse", "HEAD").lines
    result = pivcs("forget", "bbbbbbbb", "--yes")
    assert result.code == 0
    assert SECRET not in result.text
    assert secret_places(store) == []
    assert pivcs("rev-parse", "HEAD").lines == before
    for command in (("log",), ("show", "bbbbbbbb"), ("context",), ("cat", file), ("grep", SECRET), ("op", "log")):
        assert SECRET not in pivcs(*command).text
    assert "(forgotten)" in pivcs("log", "--oneline").text
    checked = pivcs("fsck", "--json")
    assert checked.code == 0
    assert [each["id"] for each in checked.json["findings"]] == ["entry-forgotten", "source-has-forgotten"]
    assert all("nothing new" in line for line in pivcs("archive").lines[:-1])
    other = ("--store", str(tmp_path / "other"))
    assert pivcs("import", *other, ".").code == 0
    assert SECRET.encode() not in pivcs("cat", *other, header_session(file)).out
    assert pivcs("rev-parse", *other, "-s", header_session(file), "cccccccc").lines == before


def header_session(file: Path) -> str:
    """Return the id of a session."""
    return str(json.loads(file.read_bytes().split(b"\n", 1)[0])["id"])


def test_review_commits_of_a_session_with_a_forgotten_entry_are_written(
    file: Path, tmp_path: Path, pivcs: Program
) -> None:
    pivcs("forget", "bbbbbbbb", "--yes")
    assert pivcs("export", tmp_path / "review").code == 0
    judge.check(tmp_path / "review")
    said = judge.git(tmp_path / "review", "log", "--all", "--format=%B", "-p")
    assert b"(forgotten)" in said
    assert SECRET.encode() not in said


def test_undo_is_refused_and_says_why(file: Path, pivcs: Program) -> None:
    pivcs("branch", "mine", "HEAD")
    pivcs("forget", "bbbbbbbb", "--yes")
    result = pivcs("undo")
    assert result.code != 0
    assert "what was forgotten is not in the store any more" in result.complaint


def test_session_is_forgotten_by_path_or_id_and_remembered(file: Path, store: Path, pivcs: Program) -> None:
    pivcs("sync")
    assert "would be forgotten" in pivcs("forget", file).text
    assert pivcs("forget", header_session(file), "--yes").code == 0
    assert secret_places(store) == []
    again = pivcs("log", file)
    assert again.code == 0
    assert "was forgotten" in again.complaint
    assert "[forgotten]" in pivcs("ls").text
    assert "1 forgotten" in pivcs("sync").text
    assert "is forgotten already" in pivcs("forget", file).text
    key = pivcs("forget", file, "--json").json["session"]["key"]
    assert pivcs("forget", "--remember", key).code == 0
    assert "1 new" in pivcs("sync").text


def test_saying_it_again_covers_refs_of_another_repository(file: Path, tmp_path: Path, pivcs: Program) -> None:
    pivcs("archive")
    copy = tmp_path / "copy"
    judge.git(tmp_path, "clone", "-q", "--mirror", "project", str(copy))
    pivcs("forget", "bbbbbbbb", "--yes")
    result = pivcs("forget", "bbbbbbbb", "--yes", "--export", copy)
    assert result.code == 0
    assert "1 ref written anew" in result.text
    judge.git(copy, "gc", "-q", "--prune=now")
    assert SECRET.encode() not in judge.git(copy, "cat-file", "--batch", "--batch-all-objects")


def test_documents_say_what_was_done(file: Path, pivcs: Program) -> None:
    plan = pivcs("forget", "bbbbbbbb", "--json").json
    assert (plan["schema"], plan["done"]) == ("pivcs.forget/1", False)
    assert plan["entries"][0]["places"][0]["lines"] == [3]
    done = pivcs("forget", "bbbbbbbb", "--yes", "--json").json
    assert done["entries"][0]["oids"] == plan["entries"][0]["oids"]
    remembered = pivcs("forget", "--remember", done["entries"][0]["oids"][0], "--json").json
    assert remembered == {"schema": "pivcs.remembered/1", "sessions": [], "entries": done["entries"][0]["oids"]}


@pytest.mark.parametrize("arguments", [(), ("--session", "a", "b.jsonl"), ("--remember", "abcd", "x")])
def test_what_is_not_said_clearly_is_refused(file: Path, pivcs: Program, arguments: tuple[str, ...]) -> None:
    assert pivcs("forget", *arguments).code == 2


def test_nothing_to_remember_is_an_error(file: Path, pivcs: Program) -> None:
    pivcs("sync")
    assert "nothing was forgotten" in pivcs("forget", "--remember", "abcd1234").complaint


def test_files_of_a_session_are_told_without_a_forgotten_write(tmp_path: Path, pivcs: Program) -> None:
    path = tmp_path / "w.jsonl"
    path.write_bytes(
        header_line()
        + message_line("aaaaaaaa", None)
        + tool_call_line("bbbbbbbb", "aaaaaaaa", "write", {"path": "a.txt", "content": SECRET * 20})
        + tool_result_line("cccccccc", "bbbbbbbb", "write", "ok")
        + message_line("dddddddd", "cccccccc", "assistant")
    )
    assert pivcs("forget", path, "bbbbbbbb", "--yes").code == 0
    for command in ("files", "stats", "status", "context"):
        result = pivcs(command, path)
        assert result.code == 0, result.complaint
        assert SECRET not in result.text


def test_checkout_writes_the_placeholder(file: Path, pivcs: Program) -> None:
    pivcs("forget", "bbbbbbbb", "--yes")
    head = pivcs("rev-parse", "HEAD").lines
    assert pivcs("checkout", "HEAD").code == 0
    (made,) = [path for path in file.parent.iterdir() if path != file]
    assert b'"type":"pivcs.forgotten","id":"bbbbbbbb"' in made.read_bytes()
    assert SECRET.encode() not in made.read_bytes()
    assert pivcs("rev-parse", made, "HEAD").lines == head


def test_label_goes_with_what_the_log_of_operations_says_of_it(file: Path, store: Path, pivcs: Program) -> None:
    pivcs("label", "swordfish-42", "HEAD")
    (entry,) = [each["entry"] for each in pivcs("log", "--json", "--all").json["entries"] if each["type"] == "label"]
    assert secret_places(store, b"swordfish-42")
    assert pivcs("forget", entry, "--yes").code == 0
    assert secret_places(store, b"swordfish-42") == []
    assert "swordfish-42" not in pivcs("op", "log").text
    assert "swordfish-42" not in pivcs("label").text
    assert pivcs("fsck").code == 0


def test_deleted_file_comes_back_without_the_entry(file: Path, pivcs: Program) -> None:
    pivcs("forget", "bbbbbbbb", "--yes")
    head = pivcs("rev-parse", file, "HEAD").lines
    assert pivcs("delete", file, "--yes", "--permanent").code == 0
    assert pivcs("undo").code == 0
    assert SECRET.encode() not in file.read_bytes()
    assert pivcs("rev-parse", file, "HEAD").lines == head
    assert [each["id"] for each in pivcs("fsck", "--json").json["findings"]] == ["entry-forgotten"]


def test_store_that_another_process_reads_is_told_and_gc_completes_it(file: Path, store: Path, pivcs: Program) -> None:
    pivcs("sync", file)
    waits = patch.dict(Store.open.__func__.__kwdefaults__, wait=0.1)  # type: ignore[attr-defined]
    with Store.open(store / "store.db", read_only=True) as other, other.database.snapshot() as connection, waits:
        connection.execute("SELECT count(*) FROM chunk").fetchall()
        result = pivcs("forget", file, "bbbbbbbb", "--yes")
    assert result.code == 20
    assert "pivcs gc --apply" in result.complaint
    assert "erasure-unfinished" in pivcs("fsck").text
    assert pivcs("gc", "--apply").code == 0
    assert secret_places(store) == []
    assert "erasure-unfinished" not in pivcs("fsck").text


def test_name_made_from_a_prompt_goes_from_the_archive_too(tmp_path: Path, file: Path, pivcs: Program) -> None:
    head = file.read_bytes().split(b"\n", 1)[0] + b"\n"
    said = message_line("bbbbbbbb", None, "user", "Swordfish, they said.")
    file.write_bytes(head + message_line("aaaaaaaa", None) + said)
    assert pivcs("branch", file, "--name-all").code == 0
    assert b"swordfish" in pivcs("branch", file).out
    assert pivcs("archive").code == 0
    assert pivcs("forget", file, "bbbbbbbb", "--yes").code == 0
    assert b"swordfish" not in pivcs("branch", file).out.lower()
    for _ in range(2):
        judge.git(".", "gc", "-q", "--prune=now")
        assert b"swordfish" not in judge.git(".", "cat-file", "--batch", "--batch-all-objects").lower()
        assert pivcs("archive").code == 0
    judge.check(".")


def test_findings_of_a_scan_go_too(file: Path, store: Path, pivcs: Program) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    said = message_line("dddddddd", "cccccccc", "user", f"Use {token} for it.")
    file.write_bytes(file.read_bytes() + said)
    (found,) = pivcs("scan", file, "--json").json["findings"]
    assert secret_places(store, found["fingerprint"].encode())
    assert pivcs("forget", file, "dddddddd", "--yes").code == 0
    for secret in (token, found["fingerprint"]):
        assert secret_places(store, secret.encode()) == []
    assert pivcs("scan", file).code == 0
    assert pivcs("forget", file, "--yes").code == 0
    assert pivcs("fsck").code == 0


def test_all_entries_of_a_set_go_at_once(file: Path, store: Path, pivcs: Program) -> None:
    said = message_line("dddddddd", "cccccccc", "assistant", f"You said {SECRET}.")
    file.write_bytes(file.read_bytes() + said)
    plan = pivcs("forget", f'text("{SECRET}")', "--json").json
    assert [each["id"] for each in plan["entries"]] == ["bbbbbbbb", "dddddddd"]
    pivcs("archive")
    done = pivcs("forget", f'text("{SECRET}")', "aaaaaaaa", "--yes")
    assert done.code == 0, done.complaint
    assert secret_places(store) == []
    assert secret_places(store, b"Begin.") == []
    judge.git(".", "gc", "-q", "--prune=now")
    assert SECRET.encode() not in judge.git(".", "cat-file", "--batch", "--batch-all-objects")
    assert [line.split()[0] for line in pivcs("log", "--oneline").lines if "(forgotten)" in line] == [
        "dddddddd", "bbbbbbbb", "aaaaaaaa",
    ]  # fmt: skip
    assert pivcs("fsck").code == 0
    assert pivcs("forget", 'text("nobody said this")').code != 0


def test_words_that_one_entry_takes_out_do_not_come_back_with_the_next(file: Path, store: Path, pivcs: Program) -> None:
    head = file.read_bytes().split(b"\n", 1)[0] + b"\n"
    first = message_line("aaaaaaaa", None, "user", "swordfish it is")
    file.write_bytes(head + first + message_line("bbbbbbbb", None, "user", "tortoise"))
    assert pivcs("label", "swordfish and tortoise", "bbbbbbbb", "-s", file).code == 0
    entries = pivcs("log", file, "--json", "--all").json["entries"]
    (label,) = [each["entry"] for each in entries if each["type"] == "label"]
    assert pivcs("forget", file, "aaaaaaaa", "bbbbbbbb", label, "--yes").code == 0
    for word in ("swordfish", "tortoise"):
        assert word not in pivcs("op", "log").text
        assert secret_places(store, word.encode()) == []


def commands(text: str, program: str = "git ") -> list[str]:
    """Return the commands that an output or a warning gives."""
    return [line.strip() for line in text.splitlines() if line.strip().startswith(program)]


def run_all(lines: list[str]) -> None:
    """Run commands as they were given."""
    assert lines
    for line in lines:
        subprocess.run(["/bin/sh", "-c", line], check=True, capture_output=True, env=judge.environment())


def in_objects(place: Path | str, secret: bytes = SECRET.encode()) -> bool:
    """Whether any object of a repository, reached or not, has a secret."""
    return secret in judge.git(place, "cat-file", "--batch", "--batch-all-objects")


@pytest.mark.parametrize("whole", [False, True])
def test_commands_that_are_told_clean_remote_and_repository(
    file: Path, tmp_path: Path, pivcs: Program, whole: bool
) -> None:
    hub = judge.new_repository(tmp_path / "hub", "--bare")
    judge.git(".", "remote", "add", "origin", str(hub))
    other = header_line("other", cwd=str(Path.cwd())) + message_line("aaaaaaaa", None)
    (file.parent / "other.jsonl").write_bytes(other)
    assert pivcs("push", "--yes").code == 0
    (old,) = [name for name in refs_of(hub) if has_text(hub, name)]
    target = [file] if whole else [file, "bbbbbbbb"]
    planned = pivcs("forget", *target).text
    told = commands(pivcs("forget", *target, "--yes").text)
    assert f"git -C {Path.cwd()} push origin --delete {old}" in told
    assert set(told) == set(commands(planned))
    assert f"push origin --delete {old}" in pivcs("forget", *target).text
    judge.git(".", "gc", "-q", "--prune=now")
    for command in ("push", "fetch"):
        assert f"push origin --delete {old}" in pivcs(command).complaint
        assert old.rpartition("/")[2] not in " ".join(refs_of("."))
    run_all(told)
    assert not [name for name in refs_of(hub) if has_text(hub, name)]
    for command in ("push", "fetch", "push"):
        result = pivcs(command)
        assert result.code == 0
        assert "delete" not in result.complaint
    assert old not in pivcs("forget", *target).text
    judge.git(".", "gc", "-q", "--prune=now")
    assert not in_objects(".")


def refs_of(place: Path | str) -> list[str]:
    """Return the names of all refs of a repository."""
    return judge.git(place, "for-each-ref", "--format=%(refname)").decode().split()


def has_text(place: Path | str, name: str) -> bool:
    """Whether the files that a ref names have the secret."""
    tree = judge.git(place, "ls-tree", "-r", "--format=%(objectname)", name)
    return SECRET.encode() in judge.git(place, "cat-file", "--batch", stdin=tree)


def test_forgotten_session_that_still_has_a_file_does_not_leave(file: Path, tmp_path: Path, pivcs: Program) -> None:
    assert pivcs("forget", file, "--yes").code == 0
    for command in (("archive",), ("export", tmp_path / "x"), ("scan",), ("push", tmp_path)):
        result = pivcs(*command)
        assert result.code == 10
        assert result.complaint.count("was forgotten; it is left out") == 1
        assert "no session belongs to the current project" in result.complaint
    for command in (("archive", file), ("export", tmp_path / "x", file), ("export", tmp_path / "x", "-s", file)):
        result = pivcs(*command)
        assert result.code == 20
        assert "was forgotten here, so it goes nowhere" in result.complaint
        assert "pivcs forget --remember" in result.complaint
    assert refs_of(".") == []
    other = header_line("other", cwd=str(Path.cwd())) + message_line("aaaaaaaa", None)
    (file.parent / "other.jsonl").write_bytes(other)
    for command in (("scan",), ("scan", "--all"), ("archive",), ("push", judge.new_repository(tmp_path / "hub"))):
        result = pivcs(*command)
        assert result.code == 0
        assert result.complaint.count("it is left out") == 1
    assert len(refs_of(tmp_path / "hub")) == 1
    assert not (tmp_path / "x").exists()


def test_import_of_what_holds_something_forgotten_is_told(file: Path, tmp_path: Path, pivcs: Program) -> None:
    copy = judge.new_repository(tmp_path / "copy", "--bare")
    pivcs("archive", "--yes")
    judge.git(".", "push", "-q", str(copy), "refs/pivcs/*:refs/pivcs/*")
    assert pivcs("forget", "bbbbbbbb", "--yes").code == 0
    result = pivcs("import", copy)
    assert result.code == 0
    run_all(commands(result.complaint))
    assert refs_of(copy) == []


@pytest.mark.parametrize("turns", [(), ("--turns",)])
def test_commands_that_are_told_clean_an_export(
    file: Path, tmp_path: Path, pivcs: Program, turns: tuple[str, ...]
) -> None:
    place = tmp_path / "a review"
    said = "".join(message_line(f"{number:08x}", "cccccccc", "user", "Else.").decode() for number in range(20))
    file.write_bytes(file.read_bytes() + said.encode())
    pivcs("label", "aaaaaaaa", "start")
    pivcs("tag", "v1", "cccccccc")
    for _ in range(2):  # so that the start page has a history
        assert pivcs("export", place, *turns).code == 0
        file.write_bytes(file.read_bytes() + message_line("dddddddd", "cccccccc", "user", "Go on."))
    assert in_objects(place)
    assert pivcs("forget", "bbbbbbbb", "--export", place).text.count("refs/heads/") >= 10
    result = pivcs("forget", "bbbbbbbb", "--yes", "--export", place)
    assert result.code == 0
    assert "more\n" in result.text
    assert "the branch `sessions` has the bytes" in result.text
    run_all([line for line in commands(result.text) if str(place) in line])
    judge.git(place, "gc", "-q", "--prune=now")
    assert refs_of(place) == []
    assert not in_objects(place)
    assert SECRET.encode() not in b"".join(path.read_bytes() for path in place.rglob("*") if path.is_file())
    assert not list(place.rglob("pivcs/*/*"))
    assert pivcs("export", place, *turns).code == 0
    judge.check(place)
    assert "2026-01-01-" in " ".join(refs_of(place))
    assert not in_objects(place)
