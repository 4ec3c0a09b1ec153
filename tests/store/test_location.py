from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pivcs.store.location import BadRegistry, NotInitialised, Places
from pivcs.store.store import Store

At = Callable[..., Places]


@pytest.fixture
def at(tmp_path: Path) -> At:
    """Return places as seen from a directory below the test's own."""

    def places(cwd: str = "project", option: str | None = None, **environ: str) -> Places:
        directory = tmp_path / cwd
        directory.mkdir(parents=True, exist_ok=True)
        return Places(option, environ, directory, tmp_path / "data", tmp_path / "config")

    return places


def test_store_is_in_the_data_directory(at: At, tmp_path: Path) -> None:
    assert at().store() == tmp_path / "data" / "store.db"
    assert list((tmp_path / "project").iterdir()) == []


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("/abs", "/abs/store.db"),
        ("/abs/x.db", "/abs/x.db"),
        ("rel", "{cwd}/rel/store.db"),
        ("../up/x.db", "{up}/up/x.db"),
        (".", "{cwd}/store.db"),
    ],
)
def test_option_and_variable_name_a_directory_or_a_file(at: At, tmp_path: Path, named: str, expected: str) -> None:
    path = Path(expected.format(cwd=tmp_path / "project", up=tmp_path))
    assert at(option=named).store() == path
    assert at(PIVCS_DIR=named).store() == path
    assert at(option=named, PIVCS_DIR="/elsewhere").store() == path


def test_home_is_expanded(at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    assert at(option="~/x").store() == Path("/home/someone/x/store.db")


def test_empty_variable_names_nothing(at: At, tmp_path: Path) -> None:
    assert at(PIVCS_DIR="").store() == tmp_path / "data" / "store.db"


def test_project_has_its_own_store_after_init(at: At, tmp_path: Path) -> None:
    path = at().initialise(tmp_path / "project")
    place = tmp_path / "project" / ".pivcs"
    assert path == place / "store.db"
    assert place.stat().st_mode & 0o777 == 0o700
    assert (place / ".gitignore").read_text() == "*\n"
    assert at().store() == at("project/deep/er").store() == path
    assert at("elsewhere").store() == at("project2").store() == tmp_path / "data" / "store.db"
    assert at(option="/abs").store() == at(PIVCS_DIR="/abs").store() == Path("/abs/store.db")


def test_nearest_project_wins(at: At, tmp_path: Path) -> None:
    outer = at().initialise(tmp_path / "project")
    inner = at("project/sub").initialise(tmp_path / "project" / "sub")
    assert at("project/sub/x").store() == inner
    assert at("project/other").store() == outer


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_init_is_private_whatever_the_umask(at: At, tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        path = at().initialise(tmp_path / "project")
        Store.open(path, create=True).close()
    finally:
        os.umask(before)
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert path.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "config").stat().st_mode & 0o077 == 0


def test_init_twice_changes_nothing(at: At, tmp_path: Path) -> None:
    first = at().initialise(tmp_path / "project")
    Store.open(first, create=True).close()
    (first.parent / ".gitignore").write_text("*\n# mine\n")
    before = first.read_bytes()
    assert at().initialise(tmp_path / "project") == first
    assert first.read_bytes() == before
    assert (first.parent / ".gitignore").read_text() == "*\n# mine\n"
    assert json.loads((tmp_path / "config" / "projects.json").read_text()) == [str(first.parent)]


def test_store_that_came_with_a_repository_is_never_opened(at: At, tmp_path: Path) -> None:
    foreign = tmp_path / "project" / ".pivcs"
    with Store.open(foreign / "store.db", create=True):
        pass
    assert at().store() == at("project/deep").store() == tmp_path / "data" / "store.db"
    assert at("project/deep").unregistered_project() == foreign
    with pytest.raises(NotInitialised, match="somebody else made"):
        at().initialise(tmp_path / "project")
    assert at().store() == tmp_path / "data" / "store.db"
    assert not (tmp_path / "config").exists()


def test_registered_project_is_not_called_unregistered(at: At, tmp_path: Path) -> None:
    at().initialise(tmp_path / "project")
    assert at("project/deep").unregistered_project() is None
    assert at("elsewhere").unregistered_project() is None


def test_copy_of_a_project_does_not_use_the_copied_store(at: At, tmp_path: Path) -> None:
    path = at().initialise(tmp_path / "project")
    Store.open(path, create=True).close()
    (tmp_path / "project").rename(tmp_path / "moved")
    assert at("moved").store() == tmp_path / "data" / "store.db"


def test_link_in_the_place_of_a_registered_store_is_not_followed(at: At, tmp_path: Path) -> None:
    path = at().initialise(tmp_path / "project")
    path.parent.rename(tmp_path / "elsewhere")
    path.parent.symlink_to(tmp_path / "elsewhere")
    assert at().store() == tmp_path / "data" / "store.db"
    with pytest.raises(NotInitialised, match="is no directory"):
        at().initialise(tmp_path / "project")


def test_project_reached_by_a_link_is_the_same(at: At, tmp_path: Path) -> None:
    path = at().initialise(tmp_path / "project")
    (tmp_path / "link").symlink_to(tmp_path / "project")
    assert at("link").store() == path
    assert at().initialise(tmp_path / "link") == path


@pytest.mark.parametrize("content", ["{", "", "\xff"])
def test_list_of_projects_that_cannot_be_read_is_said(at: At, tmp_path: Path, content: str) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "projects.json").write_bytes(content.encode("latin-1"))
    with pytest.raises(BadRegistry, match=r"projects\.json"):
        at().store()
    assert at(option="/abs").store() == Path("/abs/store.db")
    with pytest.raises(BadRegistry):
        at().initialise(tmp_path / "project")


@pytest.mark.parametrize("content", ["{}", "[1, null]", '"text"', "null"])
def test_odd_list_of_projects_names_none(at: At, tmp_path: Path, content: str) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "projects.json").write_text(content)
    assert at().store() == tmp_path / "data" / "store.db"


def test_directory_where_nothing_can_be_made_is_said(at: At, tmp_path: Path) -> None:
    with pytest.raises(NotInitialised, match="cannot make"):
        at().initialise(tmp_path / "absent")


def test_place_of_the_list_that_cannot_be_made_is_said(at: At, tmp_path: Path) -> None:
    (tmp_path / "config").touch()
    with pytest.raises((NotInitialised, BadRegistry)):
        at().initialise(tmp_path / "project")
