"""Which session file a command is about."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pivcs.ops.locate import (
    NoSession,
    all_files,
    files_in,
    latest_of_project,
    locate,
    looks_like_path,
    project_files,
)
from pivcs.ops.project import project_directories
from pivcs.session.layout import Surroundings, encode_cwd
from pivcs.session.listitem import NotListed
from tests.builders import build_session, header_line


class Home:
    """A home directory with pi's directories in it, and projects."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.agent = root / "home" / ".pi" / "agent"
        self.clock = 1_000

    def project(self, name: str, *, git: bool = False) -> Path:
        path = self.root / "work" / name
        path.mkdir(parents=True, exist_ok=True)
        if git:
            (path / ".git").mkdir(exist_ok=True)
        return path

    def session(self, ident: str, cwd: Path, *, directory: Path | None = None) -> Path:
        """A session file, newer than those before it."""
        where = directory or self.agent / "sessions" / encode_cwd(str(cwd))
        where.mkdir(parents=True, exist_ok=True)
        path = where / f"2026_{ident}.jsonl"
        path.write_bytes(build_session("a-b", header=header_line(ident, cwd=str(cwd))))
        self.clock += 10
        os.utime(path, (self.clock, self.clock))
        return path

    def at(self, cwd: Path, **environ: str) -> Surroundings:
        return Surroundings(environ, str(self.root / "home"), str(cwd))

    def setting(self, session_dir: str) -> None:
        self.agent.mkdir(parents=True, exist_ok=True)
        (self.agent / "settings.json").write_text(json.dumps({"sessionDir": session_dir}))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_latest_session_of_the_project_is_the_one_written_last(home: Home):
    shop, other = home.project("shop"), home.project("other")
    home.session("one", shop)
    latest = home.session("two", shop)
    home.session("three", other)
    assert locate(None, home.at(shop)) == latest_of_project(home.at(shop)) == latest
    assert len(list(project_files(home.at(shop)))) == 2


def test_session_of_a_directory_above_belongs_to_the_project_up_to_the_repository(home: Home):
    shop = home.project("shop", git=True)
    inside = home.project("shop/src/deep")
    path = home.session("one", shop)
    home.session("outside", shop.parent)
    assert list(project_files(home.at(inside))) == [path]
    assert project_directories(str(inside)) == [str(inside), str(inside.parent), str(shop)]


def test_outside_of_a_repository_only_the_directory_itself_counts(home: Home):
    shop = home.project("shop")
    inside = home.project("shop/src")
    home.session("one", shop)
    with pytest.raises(NoSession) as caught:
        locate(None, home.at(inside))
    assert str(inside) in caught.value.message
    assert caught.value.hint is not None
    assert "pivcs demo" in caught.value.hint


def test_worktree_has_a_git_file_and_ends_the_search_too(home: Home):
    outer = home.project("outer", git=True)
    tree = home.project("outer/tree")
    (tree / ".git").write_text("gitdir: elsewhere\n")
    home.session("one", outer)
    assert list(project_files(home.at(tree))) == []


def test_two_projects_that_share_a_directory_name_are_told_apart_by_the_header(home: Home):
    one, other = home.project("a-b"), home.project("a/b")
    assert encode_cwd(str(one)) == encode_cwd(str(other))
    path = home.session("one", one)
    home.session("other", other)
    assert list(project_files(home.at(one))) == [path]


def test_agent_directory_comes_from_the_environment(home: Home):
    shop = home.project("shop")
    elsewhere = home.root / "agent2"
    path = home.session("one", shop, directory=elsewhere / "sessions" / encode_cwd(str(shop)))
    assert locate(None, home.at(shop, PI_CODING_AGENT_DIR=str(elsewhere))) == path


def test_session_dir_setting_is_followed_from_any_directory(home: Home):
    shop, other = home.project("shop"), home.project("other")
    store = shop / ".sessions"
    home.setting(str(store))
    path = home.session("one", shop, directory=store)
    home.session("two", other, directory=store)
    assert list(project_files(home.at(shop))) == [path]
    assert locate("one", home.at(other)) == path
    assert len(all_files(home.at(other))) == 2
    assert all_files(home.at(home.root)) == all_files(home.at(other))


def test_session_dir_of_the_environment_wins_over_the_setting(home: Home):
    shop = home.project("shop")
    home.setting(str(home.root / "wrong"))
    path = home.session("one", shop, directory=home.root / "right")
    assert locate(None, home.at(shop, PI_CODING_AGENT_SESSION_DIR=str(home.root / "right"))) == path


def test_id_or_its_beginning_names_a_session_of_any_project(home: Home):
    shop, other = home.project("shop"), home.project("other")
    here = home.session("abc-1", shop)
    there = home.session("abc-2", other)
    assert locate("abc-1", home.at(shop)) == here
    assert locate("abc-2", home.at(shop)) == there
    assert locate("abc", home.at(shop)) == here
    assert locate("abc", home.at(other)) == there
    with pytest.raises(NoSession, match="no session 'abd'"):
        locate("abd", home.at(shop))


def test_argument_that_looks_like_a_path_is_one_whether_it_exists_or_not(home: Home):
    assert looks_like_path("a/b")
    assert looks_like_path("none.jsonl")
    assert not looks_like_path("abc")
    shop = home.project("shop")
    assert locate("./x.jsonl", home.at(shop)) == shop / "x.jsonl"
    assert locate("~/x.jsonl", home.at(shop)) == home.root / "home" / "x.jsonl"


def test_files_of_a_directory_are_those_that_end_in_jsonl(home: Home):
    shop = home.project("shop")
    for name in ("b.jsonl", "a.jsonl", "c.jsonl.tmp", "d.json"):
        (shop / name).write_bytes(b"")
    assert [path.name for path in files_in(shop)] == ["a.jsonl", "b.jsonl"]
    assert files_in(shop / "none") == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_directory_that_cannot_be_read_is_told(home: Home):
    shop = home.project("shop")
    shop.chmod(0)
    skipped: list[NotListed] = []
    assert files_in(shop, skipped) == []
    assert len(skipped) == 1


def test_file_in_place_of_a_directory_is_told(home: Home):
    path = home.project("shop") / "x.jsonl"
    path.write_bytes(b"")
    skipped: list[NotListed] = []
    assert files_in(path, skipped) == []
    assert [item.path for item in skipped] == [path]


def test_file_without_a_header_does_not_belong_to_a_project_but_is_among_all(home: Home):
    shop = home.project("shop")
    path = home.session("one", shop)
    bad = path.with_name("bad.jsonl")
    bad.write_bytes(b"{torn\n")
    assert list(project_files(home.at(shop))) == [path]
    assert all_files(home.at(shop)) == [path, bad]


def test_no_pi_at_all(home: Home):
    assert all_files(home.at(home.root)) == []
    with pytest.raises(NoSession):
        locate(None, home.at(home.root))
