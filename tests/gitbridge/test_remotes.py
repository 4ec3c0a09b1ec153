"""Which other repository is meant, what it is called in refs, and that credentials are in no name and no message."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pivcs.gitbridge.process import Git
from pivcs.gitbridge.remotes import NoRemote, NoSuchRemote, find_remote, shown_address, without_credentials
from pivcs.gitbridge.repository import Repository, find_repository
from pivcs.gitbridge.transport import TransportFailed, transport_to
from tests.gitbridge.git import git, needs_git, new_repository
from tests.gitbridge.peers import http_backend

pytestmark = [needs_git, pytest.mark.interop]


@pytest.fixture(params=[True, False], ids=["git", "dulwich"])
def program(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Git | None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return Git.find(os.environ) if request.param else None


@pytest.fixture
def place(tmp_path: Path) -> Repository:
    return find_repository(str(new_repository(tmp_path / "project")))


def add(place: Repository, name: str, address: str) -> None:
    git(place.common_dir, "remote", "add", name, address)


def found(place: Repository, program: Git | None, given: str | None = None) -> tuple[str | None, str, str]:
    remote = find_remote(place, given, str(place.root), program)
    return remote.name, remote.address, remote.prefix


def test_the_setting_is_first_then_the_branch_then_origin_then_the_only_one(
    place: Repository, program: Git | None
) -> None:
    with pytest.raises(NoRemote, match="the repository has no remote"):
        found(place, program)
    add(place, "one", "/srv/one.git")
    assert found(place, program) == ("one", "/srv/one.git", "refs/pivcs-remotes/one/")
    add(place, "two", "/srv/two.git")
    with pytest.raises(NoRemote, match="2 remotes"):
        found(place, program)
    add(place, "origin", "/srv/origin.git")
    assert found(place, program)[0] == "origin"
    git(place.common_dir, "config", "branch.main.remote", "two")
    assert found(place, program)[0] == "two"
    git(place.common_dir, "config", "pivcs.remote", "one")
    assert found(place, program)[0] == "one"
    assert found(place, program, "origin")[0] == "origin"
    git(place.common_dir, "config", "pivcs.remote", "https://git.example.org/sessions.git")
    assert found(place, program)[:2] == (None, "https://git.example.org/sessions.git")


def test_a_relative_path_of_the_configuration_starts_at_the_top(
    place: Repository, program: Git | None, tmp_path: Path
) -> None:
    new_repository(tmp_path / "hub.git", "--bare")
    git(place.common_dir, "config", "pivcs.remote", "../hub.git")
    assert found(place, program)[1] == str(tmp_path / "hub.git")


def test_a_remote_of_the_users_own_settings_counts(place: Repository, program: Git | None, tmp_path: Path) -> None:
    (tmp_path / ".gitconfig").write_text('[pivcs]\n\tremote = mine\n[remote "mine"]\n\turl = /srv/mine.git\n')
    assert found(place, program)[:2] == ("mine", "/srv/mine.git")


@pytest.mark.parametrize("given", ["nowhere", "-c", "--upload-pack=touch x", "", "ext::touch x", "a\nb"])
def test_what_is_no_remote_is_refused(given: str, place: Repository, program: Git | None) -> None:
    with pytest.raises(NoSuchRemote):
        found(place, program, given)


@pytest.mark.parametrize(("address", "shown"), [
    ("https://me:secret@git.example.org/p.git", "https://git.example.org/p.git"),
    ("https://token@git.example.org/p.git", "https://git.example.org/p.git"),
    ("https://git.example.org/p.git?token=secret#x", "https://git.example.org/p.git"),
    ("ssh://git@git.example.org/p.git", "ssh://git@git.example.org/p.git"),
    ("ssh://git:secret@git.example.org:22/p.git", "ssh://git@git.example.org:22/p.git"),
    ("git@git.example.org:p.git", "git@git.example.org:p.git"),
    ("file:///srv/a%20b.git", "/srv/a b.git"),
    ("/srv/p.git", "/srv/p.git"),
])  # fmt: skip
def test_an_address_is_shown_without_what_may_be_secret(address: str, shown: str) -> None:
    assert shown_address(address) == shown


def test_addresses_have_names_of_their_own_in_refs(place: Repository, program: Git | None) -> None:
    host = "https://git.example.org/"
    addresses = [f"{host}p.git", f"{host}q.git", host + "p" * 200, host + "p" * 201, "git@h:P.git", "git@h:p.git"]
    prefixes = [found(place, program, address)[2] for address in addresses]
    assert len({prefix.lower() for prefix in prefixes}) == len(addresses)
    for prefix in prefixes:
        git(place.common_dir, "check-ref-format", f"{prefix}x")
        assert "%3a" in prefix or "%40" in prefix
    with_secret = found(place, program, "https://me:secret@git.example.org/p.git")
    assert with_secret[2] == prefixes[0]


def test_a_password_is_in_no_message(program: Git | None, place: Repository, tmp_path: Path) -> None:
    new_repository(tmp_path / "served" / "hub.git", "--bare")
    with http_backend(tmp_path / "served", password="right") as address:
        wrong = address.replace("://", "://me:hunter2@") + "/hub.git"
        remote = find_remote(place, wrong, str(place.root), program)
        with pytest.raises(TransportFailed) as raised:
            transport_to(remote, place, program).refs()
        texts = [raised.value.message, raised.value.hint or "", remote.prefix, remote.shown]
        assert not any("hunter2" in text for text in texts)
        assert raised.value.__cause__ is None
        assert raised.value.__context__ is None
        right = find_remote(place, wrong.replace("hunter2", "right"), str(place.root), program)
        assert transport_to(right, place, program).refs() == {}


def test_git_may_say_an_address_in_other_words(place: Repository) -> None:
    remote = find_remote(place, "https://me:hunter2@git.example.org/p.git", str(place.root), None)
    said = "unable to access 'https://me:hunter2@git.example.org/p.git/': gone, and https://x:y@other/z"
    shown = "unable to access 'https://git.example.org/p.git/': gone, and https://other/z"
    assert without_credentials(said, remote) == shown


