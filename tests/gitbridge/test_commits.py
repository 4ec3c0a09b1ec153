from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pivcs.gitbridge import commit_changes
from pivcs.gitbridge.commit_changes import FileChange, changes_of
from pivcs.gitbridge.commits import find_commits, refs_by_commit
from pivcs.gitbridge.process import Git
from pivcs.gitbridge.repository import UnknownCommit, find_repository
from tests.gitbridge.real_git import EPOCH, Project, new_project

pytestmark = pytest.mark.interop


@pytest.fixture
def project(git: Git, tmp_path: Path) -> Project:
    return new_project(tmp_path / "project", {"a.txt": "one\ntwo\nthree\n", "b/c": "c\n"})


def found(project: Project, *revisions: str, since: int | None = None, everything: bool = False) -> list[str]:
    repository = find_repository(str(project.root))
    git = Git.find(os.environ)
    return [each.ident for each in find_commits(repository, git, revisions, since=since, everything=everything)]


def changes(project: Project, *revisions: str, lines: bool = True) -> list[list[FileChange]]:
    repository, git = find_repository(str(project.root)), Git.find(os.environ)
    commits = find_commits(repository, git, revisions)
    return [list(files) for _, files in changes_of(repository, git, commits, lines=lines)]


def test_commits_of_head_of_ranges_and_of_all_branches(project: Project) -> None:
    first = project.git("rev-parse", "HEAD")
    second = project.commit({"a.txt": "2\n"}, at=EPOCH + 100)
    project.git("checkout", "-q", "-b", "topic", first)
    third = project.commit({"a.txt": "3\n"}, at=EPOCH + 200)
    assert found(project) == [third, first]
    assert found(project, since=EPOCH + 150) == [third]
    assert set(found(project, everything=True)) == {first, second, third}
    assert found(project, "main..topic") == [third]
    assert found(project, "topic..") == []
    assert set(found(project, "main...topic")) == {second, third}
    assert found(project, "main", first, "main") == [second, first]
    blob = project.git("rev-parse", f"{first}:a.txt")
    project.git("tag", "-a", "-m", "m", "noted", second)
    tag = project.git("rev-parse", "noted")
    assert found(project, first, tag, third, "main", second) == [first, second, third]
    for text in ("0" * 39 + "1", blob, "nothing", "-x", "--all", "a\nb", "", "nothing..main"):
        with pytest.raises(UnknownCommit):
            found(project, text)


def test_branch_without_a_commit_has_none(git: Git, tmp_path: Path) -> None:
    assert found(new_project(tmp_path / "empty")) == []


def test_paths_modes_and_lines_are_told_whatever_they_hold(project: Project) -> None:
    project.git("mv", "a.txt", "renamed\nby hand")
    project.write({"renamed\nby hand": "one\ntwo\nthree\nfour", 'q"\t\\': "diff --git a/x b/x\n@@ -1 +1 @@\n"})
    (project.root / "b" / "c").chmod(0o755)
    project.commit({})
    (files,) = changes(project, "HEAD")
    by_path = {file.path: file for file in files}
    renamed = by_path[b"renamed\nby hand"]
    assert (renamed.status, renamed.old_path, renamed.added, renamed.removed) == ("R", b"a.txt", 1, 0)
    assert renamed.hunks[0].written == (b"four",)
    assert renamed.hunks[0].start == 4
    quoted = by_path[b'q"\t\\']
    assert quoted.hunks[0].written == (b"diff --git a/x b/x", b"@@ -1 +1 @@")
    assert (by_path[b"b/c"].new_mode, by_path[b"b/c"].hunks) == (b"100755", ())
    assert by_path[b"b/c"].old == by_path[b"b/c"].new
    project.commit({"renamed\nby hand": "one\ntwo\nthree\nfour\n"})
    (files,) = changes(project, "HEAD")
    assert (files[0].hunks[0].taken, files[0].hunks[0].written) == ((b"four",), (b"four",))


def test_file_that_becomes_a_link_or_binary_or_goes(project: Project) -> None:
    (project.root / "a.txt").unlink()
    (project.root / "a.txt").symlink_to("b")
    project.write({"b/c": b"\0\n"})
    project.commit({})
    (project.root / "b" / "c").unlink()
    project.commit({"last": "x\n"})
    gone, became = changes(project, "HEAD~2..HEAD")
    assert [(file.path, file.status, file.is_binary) for file in became] == [
        (b"a.txt", "T", False), (b"b/c", "M", True),
    ]  # fmt: skip
    assert (became[0].added, became[0].removed) == (1, 3)
    assert [(file.path, file.status, file.new is None) for file in gone] == [(b"b/c", "D", True), (b"last", "A", False)]


def test_commits_that_change_nothing_and_those_that_are_not_looked_at(project: Project) -> None:
    project.commit({})
    project.commit({"a.txt": "1\n"})
    project.commit({})
    assert [len(files) for files in changes(project)] == [0, 1, 0, 2]
    repository, git = find_repository(str(project.root)), Git.find(os.environ)
    passed = [commit.ident for commit, _ in changes_of(repository, git, find_commits(repository, git, ()))]
    assert passed == found(project)
    first = next(changes_of(repository, git, find_commits(repository, git, ())))
    assert first[0].ident == passed[0]


def test_configuration_that_changes_what_people_see_changes_nothing_here(project: Project) -> None:
    project.commit({"a.txt": "one\n2\nthree\n"})
    plain = changes(project)
    for name, value in (("diff.noprefix", "true"), ("diff.mnemonicPrefix", "true"), ("diff.external", "false"),
                        ("color.ui", "always"), ("diff.context", "9"), ("core.quotePath", "false"),
                        ("diff.renames", "false"), ("log.showSignature", "true")):  # fmt: skip
        project.git("config", name, value)
    (project.root / ".gitattributes").write_text("*.txt diff=upper\n")
    project.git("config", "diff.upper.textconv", "tr a-z A-Z <")
    assert changes(project) == plain


def test_names_of_commits(project: Project) -> None:
    first = project.git("rev-parse", "HEAD")
    project.git("tag", "light")
    project.git("tag", "-a", "-m", "m", "heavy")
    project.git("branch", "feature/x")
    names = refs_by_commit(find_repository(str(project.root)), Git.find(os.environ))
    assert names == {first: ["feature/x", "main", "heavy", "light"]}


@pytest.mark.parametrize(("message", "kind"), [
    (f"m\n\nPivcs-Node: {'ab' * 32}\nPivcs-Entry: aaaaaaaa\n", "entry"),
    (f"m\n\nPivcs-Node: {'ab' * 32}\n\nThat was quoted.\n", None),
    ("m\n\nPivcs-Node: none\n", None),
    (f"m\n\nPivcs-Snapshot: x\nPivcs-Snapshot-Of: {'ab' * 32}\n", "snapshot"),
    ("m\n\nPivcs-Session: x\nPivcs-Stream: y\n", "stream"),
    ("m\n\nPivcs-Session: x\n", "names"),
    ("sessions: 2 sessions, merged\n", "page"),
    ("sessions: mine\n", None),
])  # fmt: skip
def test_commits_that_an_export_wrote_are_told_by_committer_and_trailers(
    project: Project, message: str, kind: str | None
) -> None:
    project.git("config", "trailer.separators", "=")
    project.git("commit", "-q", "--allow-empty", "-m", message, GIT_COMMITTER_EMAIL="tools@pivcs.invalid")
    project.git("commit", "-q", "--allow-empty", "-m", message)
    repository, git = find_repository(str(project.root)), Git.find(os.environ)
    mine, theirs, *_ = (each.exported for each in find_commits(repository, git, ()))
    assert mine is None
    assert (theirs.kind if theirs is not None else None) == kind


TEXT = st.lists(st.sampled_from([b"a", b"b", b"-- c", b"++ d", b"@@ -1 +1 @@", b"\\ x", b"", b"e\r"]), max_size=6)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.tuples(TEXT, st.booleans()), min_size=2, max_size=4))
def test_lines_put_in_and_taken_out_make_the_next_version(
    texts: list[tuple[list[bytes], bool]], git: Git, tmp_path_factory: pytest.TempPathFactory
) -> None:
    project = new_project(tmp_path_factory.mktemp("law"))
    versions = [b"\n".join(lines) + (b"\n" if lines and ended else b"") for lines, ended in texts]
    for version in versions:
        project.commit({"f": version})
    before: list[bytes] = []
    for version, files in zip(versions, reversed(changes(project)), strict=True):
        lines = [*before]
        for file in files:
            for hunk in reversed(file.hunks):
                at = hunk.old_start - 1 if hunk.taken else hunk.old_start
                assert tuple(lines[at : at + len(hunk.taken)]) == hunk.taken
                lines[at : at + len(hunk.taken)] = hunk.written
        before = version.split(b"\n")
        if not before[-1]:
            before.pop()
        assert lines == before


def test_file_over_the_limit_is_known_by_its_id_alone(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit_changes, "_SETTINGS", ("core.bigFileThreshold=1k",))
    project.commit({"large": "a line of text\n" * 100, "small": "a line of text\n"})
    (files,) = changes(project, "HEAD")
    assert [(file.path, file.is_binary, file.added) for file in files] == [(b"large", True, 0), (b"small", False, 1)]
    assert files[0].new == bytes.fromhex(project.git("rev-parse", "HEAD:large"))
