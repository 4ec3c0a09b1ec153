"""The wiring of the commands: arguments, exit codes, errors, and that nothing is written."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

import pivcs as package
from pivcs.cli import COMMANDS
from pivcs.ops.demo import write_demo
from tests.builders import build_session, header_line, message_line
from tests.cli.conftest import Program


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    path = tmp_path / "tree.jsonl"
    path.write_bytes(build_session("a-b-c, b-d", texts={"a": "Fix it."}, labels={"c": "good one"}))
    return path


def test_version_and_help(pivcs: Program):
    assert pivcs("--version").text == f"pivcs {package.__version__}\n"
    for flag in ("-h", "--help"):
        found = pivcs(flag)
        assert found.code == 0
        assert all(f"  {command} " in found.text for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(pivcs: Program, command: str):
    found = pivcs(command, "--help")
    assert found.code == 0
    assert found.text.startswith(f"Usage: pivcs {command} ")
    assert max(map(len, found.lines)) <= 100


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["lgo"], "Did you mean 'log'?"),
        (["quux"], "No such command 'quux'"),
        (["log", "--nope", "FILE"], "No such option"),
        (["log", "--graph", "--reverse", "FILE"], "do not go together"),
        (["log", "-n", "-1", "FILE"], "-1 is not in the range"),
        (["log", "-n", "many", "FILE"], "'many' is not a valid integer"),
        (["log", "FILE", "a", "b"], "one revision, please, not 2"),
        (["log", "FILE", "other.jsonl"], "two sessions are named"),
        (["log", "-s", "other.jsonl", "FILE"], "two sessions are named"),
        (["show", "--raw", "--json", "FILE"], "do not go together"),
        (["status", "FILE", "a"], "unexpected argument 'a'"),
        (["cat-file", "FILE"], "exactly one revision is needed"),
        (["cat-file"], "Missing argument"),
        (["completion", "tcsh"], "'tcsh' is not one of"),
        (["log", "--color", "pink", "FILE"], "'pink' is not one of"),
        (["-C", "/no such directory", "log"], "cannot change to '/no such directory': no such file"),
    ],
)
def test_wrong_usage_is_told_with_exit_2(pivcs: Program, tree: Path, arguments: list[str], said: str):
    found = pivcs(*[str(tree) if argument == "FILE" else argument for argument in arguments])
    assert found.code == 2
    assert said in found.complaint
    assert found.out == b""


def test_what_cannot_be_resolved_is_told_with_exit_10_and_a_hint(pivcs: Program, tree: Path):
    for arguments in (["log", tree, "none"], ["show", tree, "none"], ["cat-file", tree, "none"]):
        found = pivcs(*arguments)
        assert (found.code, found.out) == (10, b"")
        first, second = found.complaint.splitlines()
        assert first == f"pivcs: no branch, tag, label, entry or object id 'none' in '{tree}'"
        assert second.startswith("hint: ")


def test_unreadable_files_are_told_with_exit_10(pivcs: Program, tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path, reason in (
        (tmp_path / "none.jsonl", "no such file or directory"),
        (f"{tmp_path}/", "it is a directory"),
        (pipe, "it is no regular file"),
    ):
        for command in ("log", "show", "status"):
            found = pivcs(command, path)
            assert (found.code, found.out) == (10, b"")
            assert found.complaint.startswith(f"pivcs: cannot read '{str(path).rstrip('/')}': {reason}")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_file_without_permission_is_told(pivcs: Program, tree: Path):
    tree.chmod(0)
    found = pivcs("log", tree)
    assert found.code == 10
    assert "permission denied" in found.complaint


def test_without_a_session_the_way_on_is_told(pivcs: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for command in ("log", "show", "status"):
        found = pivcs(command)
        assert found.code == 10
        assert f"no pi session belongs to '{tmp_path}'" in found.complaint
        assert "pivcs demo" in found.complaint
    assert pivcs("ls").code == 10
    assert pivcs("ls", "--all").code == 10


def test_session_of_the_project_is_found_from_its_directory(
    pivcs: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    project = tmp_path / "shop"
    project.mkdir()
    (project / ".git").mkdir()
    store = tmp_path / "store"
    store.mkdir()
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", str(store))
    (store / "s.jsonl").write_bytes(build_session("a", header=header_line("my-id", cwd=str(project))))
    inside = project / "src"
    inside.mkdir()
    expected = pivcs("log", store / "s.jsonl").out
    assert expected
    assert pivcs("-C", project, "log").out == expected
    monkeypatch.chdir(tmp_path)
    assert pivcs("-C", inside, "log").out == expected
    monkeypatch.chdir(tmp_path)
    assert pivcs("log", "-s", "my-id").out == expected
    assert pivcs("log", "-s", "my", "HEAD").out == expected
    assert pivcs("status", "my-id").text.startswith("Session:")
    assert pivcs("-C", inside, "ls").lines[0].count("my-id") == 1


def test_session_and_revision_can_be_given_in_every_form(pivcs: Program, tree: Path):
    expected = pivcs("log", tree, "good one").out
    assert expected
    assert pivcs("log", "good one", tree).out == expected
    assert pivcs("log", "-s", tree, "good one").out == expected
    assert pivcs("log", f"{tree}::good one").out == expected
    assert pivcs("log", tree, "cccccccc").out == expected
    assert pivcs("log", tree, "--", "cccccccc").out == expected
    assert pivcs("log", f"{tree}::").out == pivcs("log", tree).out


@pytest.mark.parametrize(
    "name", ["with space.jsonl", "-n.jsonl", "-", "ünï-日本.jsonl", "HEAD", "a::b.jsonl", "x~1", "new\nline"]
)
def test_file_may_have_any_name(pivcs: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str):
    (tmp_path / name).write_bytes(build_session("a-b"))
    monkeypatch.chdir(tmp_path)
    expected = ["bbbbbbbb (HEAD -> main) assistant: b", "aaaaaaaa user: a"]
    assert pivcs("log", "--oneline", f"./{name}").lines == expected
    assert pivcs("log", "--oneline", "-s", f"./{name}").lines == expected
    if name != "HEAD":
        assert pivcs("log", "--oneline", "--", name).lines == expected
    status = pivcs("status", f"./{name}")
    assert status.code == 0
    assert "new\nline" not in status.text


def test_count_order_and_scope_of_a_log(pivcs: Program, tree: Path):
    def ids(*arguments: object) -> list[str]:
        return [line[0] for line in pivcs("log", "--oneline", tree, *arguments).lines]

    assert ids() == ["1", "d", "b", "a"]
    assert ids("-n", "2") == ["1", "d"]
    assert ids("-n", "2", "--reverse") == ["d", "1"]
    assert ids("-n0") == []
    assert ids("--all") == ["1", "d", "c", "b", "a"]
    assert ids("b~0") == []
    assert ids("good one", "--reverse") == ["a", "b", "c"]


def test_graph_without_revision_shows_all_branches(pivcs: Program, tree: Path):
    assert pivcs("log", "--graph", tree).text.count("* ") + 1 == 5
    assert pivcs("log", "--graph", tree, "good one").text.count("* ") == 3


def test_session_without_entries(pivcs: Program, tmp_path: Path):
    path = tmp_path / "s.jsonl"
    for data in (b"", b"\n", header_line(), b"{torn", b"{torn\n"):
        path.write_bytes(data)
        for arguments in (["log"], ["log", "--graph"], ["log", "--turns"], ["log", "--json"], ["status"], ["ls"]):
            assert pivcs(*arguments, path).code == 0
        assert pivcs("log", path).out == b""
        assert pivcs("show", path).code == 10
        assert "no entry yet" in pivcs("status", path).text


def test_raw_and_cat_file_give_bytes_as_they_are(pivcs: Program, tmp_path: Path):
    path = tmp_path / "s.jsonl"
    a = b'  {"type":"x", "id":"aaaaaaaa","v":"\xff\x7f[31m\\ud83d"}\t\r'
    b, c = message_line("bbbbbbbb", "aaaaaaaa")[:-1], message_line("cccccccc", "bbbbbbbb")[:-1]
    path.write_bytes(header_line() + a + b"\n" + b + c + b"\n{torn\n")
    assert pivcs("show", "--raw", path, "aaaaaaaa").out == a + b"\n"
    assert pivcs("show", "--raw", path, "HEAD", "L4", "L1").out == c + b"\n{torn\n" + header_line()
    assert pivcs("cat-file", path, "aaaaaaaa").out == a
    assert pivcs("cat-file", path, "L3.2").out == c
    assert pivcs("cat-file", "--size", path, "cccccccc").text == f"{len(c)}\n"
    assert pivcs("cat-file", "-t", path, "cccccccc").text == "message\n"


def test_cat_file_answers_whether_an_entry_exists(pivcs: Program, tree: Path):
    assert (pivcs("cat-file", "-e", tree, "HEAD").code, pivcs("cat-file", "-e", tree, "none").code) == (0, 1)
    assert pivcs("cat-file", "-e", tree, "none").out == b""


def test_cat_file_gives_what_the_object_id_is_the_hash_of(pivcs: Program, tree: Path):
    from blake3 import blake3

    for name in ("aaaaaaaa", "dddddddd"):
        oid = pivcs("cat-file", "--oid", tree, name).text.strip()
        hashed = pivcs("cat-file", "--hash-input", tree, name).out
        assert blake3(hashed, derive_key_context="pivcs node v1").hexdigest() == oid


def test_lines_that_are_no_entry_can_be_shown_but_not_as_a_document(pivcs: Program, tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(header_line() + b'{"torn \x1b[31m\xff\n' + message_line("aaaaaaaa"))
    shown = pivcs("show", path, "L2")
    assert shown.code == 0
    assert shown.lines[0] == "line 2 (damaged)"
    assert b"\x1b" not in shown.out
    assert pivcs("show", path, "L1").lines[0] == "line 1 (header)"
    assert pivcs("show", "--json", path, "L2").code == 10


def test_list_names_the_files_that_cannot_be_read_and_shows_the_others(pivcs: Program, tree: Path, tmp_path: Path):
    found = pivcs("ls", tree, tmp_path / "none.jsonl")
    assert found.code == 10
    assert len(found.lines) == 1
    assert "none.jsonl': no such file or directory" in found.complaint


def test_list_of_a_directory(pivcs: Program, tree: Path, tmp_path: Path):
    (tmp_path / "empty.jsonl").write_bytes(b"")
    (tmp_path / "other.txt").write_bytes(b"x")
    found = pivcs("ls", tmp_path)
    assert found.code == 0
    assert len(found.lines) == 2
    assert "[empty]" in found.lines[1]


def test_no_command_changes_the_file(pivcs: Program, tmp_path: Path):
    path = tmp_path / "s.jsonl"
    old = header_line(version=1) + b'{"type":"message","message":{"role":"hookMessage"}}\n{torn\n\n' + b'{"pending'
    path.write_bytes(old)
    os.utime(path, ns=(10**18 + 1, 10**18 + 1))
    path.chmod(0o400)
    before = path.stat()
    for arguments in (
        ["log"],
        ["log", "--graph"],
        ["log", "--turns", "--json"],
        ["show"],
        ["show", "--json"],
        ["show", "--raw"],
        ["status"],
        ["cat-file", "HEAD"],
        ["ls"],
    ):
        assert pivcs(*arguments, path).code == 0
    after = path.stat()
    for name in ("st_size", "st_mtime_ns", "st_ino", "st_ctime_ns", "st_mode"):
        assert getattr(after, name) == getattr(before, name), name
    assert path.read_bytes() == old
    assert sorted(item.name for item in tmp_path.iterdir()) == ["home", "s.jsonl"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script_asks_the_program(pivcs: Program, shell: str):
    found = pivcs("completion", shell)
    assert found.code == 0
    assert "_PIVCS_COMPLETE" in found.text
    assert "pivcs" in found.text


def test_demo_leaves_a_session_that_the_commands_can_be_tried_on(
    pivcs: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    found = pivcs("demo")
    assert found.code == 0
    (directory,) = [path for path in tmp_path.iterdir() if path.name.startswith("pivcs-demo-")]
    store = directory / "store"
    assert found.lines[-2].strip() == f"cd {directory} && export PIVCS_DIR={store}"
    assert not (tmp_path / "home" / "store").exists()
    assert os.environ["PIVCS_DIR"] == str(tmp_path / "home" / "store")
    (session,) = directory.glob("*.jsonl")
    expected = tmp_path / "expected"
    expected.mkdir()
    assert session.read_bytes() == write_demo(expected).read_bytes()
    monkeypatch.chdir(directory)
    monkeypatch.setenv("PIVCS_DIR", str(store))
    # Each command that the tour shows gives what the tour shows.
    shown = [line for line in found.lines if line.startswith("$ pivcs ")]
    assert {line.split()[2] for line in shown} == {"branch", "log", "show", "status", "undo"}
    for line in shown:
        words = [session.name if word == "*.jsonl" else word for word in shlex.split(line)[2:]]
        given = pivcs(*words, "--utc")
        assert given.code == 0
        body = [text for text in given.lines if not text.startswith(("File:", "undone:"))]
        at = found.lines.index(line) + 1
        block = found.lines[at : at + len(given.lines)]
        block = [text for text in block if not text.startswith(("File:", "undone:"))]
        assert block == body


def test_list_of_all_sessions_has_those_that_the_store_knows_elsewhere(pivcs: Program, tmp_path: Path):
    (tmp_path / "copy.jsonl").write_bytes(build_session("a-b"))
    pivcs("sync", tmp_path / "copy.jsonl")
    assert [Path(each["path"]).name for each in pivcs("ls", "--all", "--json").json["sessions"]] == ["copy.jsonl"]
    (tmp_path / "copy.jsonl").unlink()
    assert [each["state"] for each in pivcs("ls", "--all", "--json").json["sessions"]] == [["gone"]]
