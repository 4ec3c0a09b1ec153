from __future__ import annotations

from pathlib import Path

import pytest

from pivcs.ops.demo import demo_session
from tests.builders import build_session, header_line
from tests.cli.conftest import Program
from tests.gitbridge.git import git, needs_git

pytestmark = needs_git

OTHER = build_session("a-b", header=header_line("other"))
MAIN = "refs/heads/2026-01-01-d8fddc36/main"


@pytest.fixture
def sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    monkeypatch.chdir(tmp_path)
    paths = [tmp_path / "demo.jsonl", tmp_path / "other.jsonl"]
    for path, data in zip(paths, (demo_session(), OTHER), strict=True):
        path.write_bytes(data)
    return paths


def test_an_export_comes_back_from_a_clone_with_its_names(sessions: list[Path], tmp_path: Path, pivcs: Program):
    assert pivcs("tag", "good", "HEAD", "-s", sessions[0]).code == 0
    assert pivcs("export", "review", *sessions).code == 0
    git(tmp_path, "clone", "-q", "-c", "core.autocrlf=true", "review", "clone")
    result = pivcs("import", "clone", "--store", "elsewhere", "--json")
    assert result.code == 0
    assert [each["outcome"] for each in result.json["streams"]] == ["new", "new"]
    assert [each["names"] for each in result.json["names"]] == [1]
    for path in sessions:
        path.rename(path.with_suffix(".kept"))
    for session, data in (("d8fddc36", demo_session()), ("other", OTHER)):
        assert pivcs("cat", session, "--store", "elsewhere").out == data
    named = [pivcs("rev-parse", name, "-s", "d8fddc36", "--store", "elsewhere") for name in ("good", "HEAD")]
    assert named[0].code == 0
    assert named[0].text == named[1].text


def test_a_changed_review_commit_is_named_and_nothing_of_the_session_is_kept(
    sessions: list[Path], tmp_path: Path, pivcs: Program
):
    assert pivcs("export", "review", *sessions).code == 0
    message = git(tmp_path / "review", "log", "-1", "--format=%B", MAIN).replace(b"Decimal", b"Float")
    tree = git(tmp_path / "review", "rev-parse", f"{MAIN}^{{tree}}", f"{MAIN}~1").decode().split()
    changed = git(tmp_path / "review", "commit-tree", tree[0], "-p", tree[1], stdin=message).decode().strip()
    git(tmp_path / "review", "update-ref", MAIN, changed)
    result = pivcs("import", "review", "--store", "elsewhere")
    assert result.code == 30
    assert changed in result.complaint
    assert len(pivcs("ls", "--all", "--store", "elsewhere", "--json").json["sessions"]) == 1
    assert pivcs("import", "review", "--write", "files").code == 30
    assert [each.read_bytes() for each in (tmp_path / "files").iterdir()] == [OTHER]
    git(tmp_path / "review", "update-ref", "-d", MAIN)
    assert pivcs("import", "review", "--store", "elsewhere").code == 0
