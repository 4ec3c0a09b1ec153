from __future__ import annotations

import os
from pathlib import Path

import pytest

from pivcs.gitbridge.process import Git, GitFailed, GitNotFound, GitRemoteFailed, failure
from tests.gitbridge.real_git import Project, new_project

pytestmark = pytest.mark.interop


def test_variables_of_git_are_not_passed_on(git: Git, decoy: Project, tmp_path: Path) -> None:
    project = new_project(tmp_path / "project", {"a": "1\n"})
    seen = Git.find(os.environ)
    assert seen.run("ls-files", cwd=project.root) == b"a\n"
    assert seen.run("rev-parse", "--show-toplevel", cwd=project.root).decode().strip() == str(project.root)


def test_variables_for_transport_pass_only_when_asked() -> None:
    git = Git("git", {"GIT_SSH_COMMAND": "ssh -v", "GIT_DIR": "/decoy", "Git_Work_Tree": "/decoy", "HOME": "/home/x"})
    assert "GIT_SSH_COMMAND" not in git.environment()
    assert git.environment(transport=True)["GIT_SSH_COMMAND"] == "ssh -v"
    for transport in (False, True):
        passed = git.environment(transport=transport)
        assert not {"GIT_DIR", "Git_Work_Tree"} & set(passed)
        assert passed["HOME"] == "/home/x"
        assert passed["GIT_TERMINAL_PROMPT"] == "0"


def test_missing_program_is_told(tmp_path: Path) -> None:
    with pytest.raises(GitNotFound) as caught:
        Git.find({"PATH": str(tmp_path)})
    assert caught.value.exit_code == 20
    assert caught.value.hint
    with pytest.raises(GitNotFound, match="no such file"):
        Git(str(tmp_path / "git"), {}).run("version", cwd=tmp_path)


def test_failure_says_what_git_said(git: Git, tmp_path: Path) -> None:
    with pytest.raises(GitFailed) as caught:
        git.run("rev-parse", "--verify", "nothing", cwd=new_project(tmp_path / "p").root)
    assert caught.value.message == "git rev-parse failed: needed a single revision"
    assert caught.value.code == 128
    with pytest.raises(GitFailed, match=r"cannot change to '.*gone'"):
        git.run("status", cwd=tmp_path / "gone")


def test_failure_with_another_machine_is_a_remote_error(git: Git, tmp_path: Path) -> None:
    with pytest.raises(GitRemoteFailed) as caught:
        git.run("ls-remote", "file:///does/not/exist", cwd=tmp_path, transport=True)
    assert caught.value.exit_code == 100
    assert "does not appear to be a git repository" in caught.value.said
    assert caught.value.message == "git ls-remote failed: '/does/not/exist' does not appear to be a git repository"


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        ("fatal: 'x' does not appear to be a git repository\n", "'x' does not appear to be a git repository"),
        ("ssh: Could not resolve hostname x: unknown\n", "ssh: Could not resolve hostname x: unknown"),
        ("Load key y\nme@x: Permission denied (publickey).\n", "me@x: Permission denied (publickey)"),
        ("ERROR: Repository not found.\n", "repository not found"),
        ("", "could not read from remote repository"),
    ],
)
def test_what_went_wrong_first_is_told_and_not_what_follows_from_it(before: str, reason: str) -> None:
    said = f"{before}fatal: Could not read from remote repository.\n\nPlease make sure\nand the repository exists.\n"
    assert failure(["fetch"], 128, said, transport=True).message == f"git fetch failed: {reason}"


def test_a_reason_in_the_line_after_it_is_told() -> None:
    said = "fatal: unable to connect to x:\nx[0: 1.2.3.4]: errno=Connection refused\n\n"
    message = failure(["fetch"], 128, said, transport=True).message
    assert message == "git fetch failed: unable to connect to x: x[0: 1.2.3.4]: errno=Connection refused"


def test_hint_for_a_repository_of_somebody_else() -> None:
    error = failure(["ls-files"], 128, "fatal: detected dubious ownership in repository at '/x'\nTo add an exception\n")
    assert error.message == "git ls-files failed: the repository belongs to another user"
    assert error.hint is not None
    assert "safe.directory" in error.hint


def test_warnings_and_hints_of_git_are_no_reason() -> None:
    said = "warning: careful\nerror: it broke.\nhint: mend it\n"
    assert failure(["-x", "add"], 1, said).message == "git add failed: it broke"
    assert failure(["add"], -9, "").message == "git add failed: it was stopped by signal 9"
    assert failure(["add"], 3, "hint: x\n").message == "git add failed: it ended with code 3"


def test_hooks_and_signing_of_the_user_do_not_run(git: Git, tmp_path: Path) -> None:
    project = new_project(tmp_path / "p", {"a": "1\n"})
    for name, value in (("commit.gpgsign", "true"), ("user.signingkey", "missing"), ("gpg.program", "/missing")):
        project.git("config", name, value)
    for hook in ("pre-commit", "reference-transaction", "post-commit"):
        path = project.root / ".git" / "hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.write_text("#!/bin/sh\nexit 1\n")
        path.chmod(0o755)
    settings = ("user.name=n", "user.email=e")
    git.run("commit", "--allow-empty", "--file=-", cwd=project.root, stdin=b"subject\n", settings=settings)
    assert project.git("log", "-1", "--format=%s") == "subject"


def test_large_input_and_output_do_not_wait_for_each_other(git: Git, tmp_path: Path) -> None:
    project = new_project(tmp_path / "p", {"a": "x" * 200_000})
    blob = git.run("rev-parse", "HEAD:a", cwd=project.root)
    given = blob * 50
    answer = git.run("cat-file", "--batch", cwd=project.root, stdin=given)
    assert answer.count(b"x" * 200_000) == 50
    (tmp_path / "names").write_bytes(given)
    with (tmp_path / "names").open("rb") as file:
        assert git.run("cat-file", "--batch", cwd=project.root, stdin=file) == answer


def test_output_need_not_be_read_to_its_end(git: Git, tmp_path: Path) -> None:
    project = new_project(tmp_path / "p", {"a": "line\n" * 1_000_000})
    with git.stream("cat-file", "blob", "HEAD:a", cwd=project.root) as output:
        assert output.readline() == b"line\n"
    with pytest.raises(KeyError), git.stream("cat-file", "blob", "HEAD:a", cwd=project.root):
        raise KeyError


def test_configuration_of_the_user_is_left_out_when_asked(
    git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (tmp_path / ".gitconfig").write_text("[pivcs]\n\tmark = user\n")
    seen = Git.find(os.environ)
    asked = ("config", "--get", "pivcs.mark")
    assert seen.run(*asked, cwd=tmp_path) == b"user\n"
    assert seen.run(*asked, cwd=tmp_path, user_config=False, ok=(0, 1)) == b""
