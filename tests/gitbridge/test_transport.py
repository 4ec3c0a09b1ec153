"""What the `git` program and dulwich do as transport is the same, whatever the way to the other repository."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from pivcs.gitbridge.process import Git
from pivcs.gitbridge.refs_update import RefUpdate, read_refs, update_refs
from pivcs.gitbridge.remotes import Remote, shown_address
from pivcs.gitbridge.repository import OtherHash, Repository, find_repository
from pivcs.gitbridge.transport import Transport, TransportFailed, transport_to
from tests.gitbridge.git import check, git, needs_git, new_repository
from tests.gitbridge.peers import git_daemon, http_backend, ssh_stand_in

pytestmark = [needs_git, pytest.mark.interop]

NAMES = [f"refs/pivcs/{digit * 64}/s/{digit * 16}" for digit in "abc"]
"""Names of streams, as far as a transport is concerned."""


class Peer:
    """A bare repository, and the way to it from another one."""

    def __init__(self, here: Path, there: Path, address: str, program: Git | None) -> None:
        self.there = there
        self.address = address
        self.program = program
        self.repository = find_repository(str(here))
        self.remote = Remote(None, address, shown_address(address))

    @property
    def way(self) -> Transport:
        return transport_to(self.remote, self.repository, self.program, os.environ.get("GIT_SSH_COMMAND"))

    def commit(self, where: Path | Repository, name: str, text: str) -> bytes:
        """Make a commit without parents in a repository, and let a ref name it."""
        place = where.common_dir if isinstance(where, Repository) else where
        blob = git(place, "hash-object", "-w", "--stdin", stdin=text.encode()).decode().strip()
        tree = git(place, "mktree", stdin=f"100644 blob {blob}\tfile\n".encode()).decode().strip()
        commit = git(place, "commit-tree", tree, "-m", name).decode().strip()
        git(place, "update-ref", name, commit)
        return bytes.fromhex(commit)

    def ends(self) -> dict[str, bytes]:
        """Return the refs of the other side, read from its files."""
        return read_refs(find_repository(str(self.there)), "refs/pivcs/")


@pytest.fixture(params=["path", "file", "daemon", "http", "ssh"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    root = tmp_path / "served"
    bare = new_repository(root / "hub.git", "--bare")
    git(bare, "config", "http.receivepack", "true")
    if request.param == "daemon":
        with git_daemon(root) as address:
            yield f"{address}/hub.git"
    elif request.param == "http":
        with http_backend(root) as address:
            yield f"{address}/hub.git"
    elif request.param == "ssh":
        monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh_stand_in(tmp_path)))
        yield f"ssh://me@example.invalid{bare}"
    else:
        yield f"file://{bare}" if request.param == "file" else str(bare)


@pytest.fixture(params=["git", "dulwich"])
def peer(request: pytest.FixtureRequest, tmp_path: Path, place: str) -> Peer:
    here = new_repository(tmp_path / "here")
    program = Git.find(os.environ) if request.param == "git" else None
    return Peer(here, tmp_path / "served" / "hub.git", place, program)


@pytest.mark.parametrize("empty", [True, False], ids=["empty", "with a branch"])
def test_a_repository_with_other_ids_is_refused(peer: Peer, place: str, empty: bool) -> None:
    shutil.rmtree(peer.there)
    git(peer.there.parent, "init", "-q", "--bare", "--object-format=sha256", peer.there.name)
    git(peer.there, "config", "http.receivepack", "true")
    if not empty:
        tree = git(peer.there, "mktree").decode().strip()
        git(peer.there, "update-ref", "refs/heads/x", git(peer.there, "commit-tree", tree, "-m", "x").decode().strip())
    commit = peer.commit(peer.repository, NAMES[0], "a")
    if empty and not place.startswith(("/", "file:")):
        # Over a network nothing tells it of a repository without refs; then what is sent is refused.
        assert peer.program is None or peer.way.refs() == {}
        with pytest.raises((OtherHash, TransportFailed)):
            peer.way.push([RefUpdate(NAMES[0], None, commit)])
        return
    with pytest.raises(OtherHash) as raised:
        peer.way.refs()
    assert raised.value.exit_code == 40
    assert raised.value.message == f"the repository in '{peer.remote.shown}' does not use SHA-1"


def test_an_empty_repository_has_no_refs(peer: Peer) -> None:
    assert peer.way.refs() == {}


def test_only_refs_of_sessions_are_seen(peer: Peer) -> None:
    first = peer.commit(peer.there, NAMES[0], "a")
    peer.commit(peer.there, "refs/heads/main", "b")
    peer.commit(peer.there, "refs/other/refs/pivcs/x", "c")
    assert peer.way.refs() == {NAMES[0]: first}


def test_what_is_sent_is_there_whole(peer: Peer) -> None:
    commits = [peer.commit(peer.repository, name, name) for name in NAMES]
    done = peer.way.push([RefUpdate(name, None, commit) for name, commit in zip(NAMES, commits, strict=True)])
    assert [each.outcome for each in done] == ["new"] * 3
    assert peer.ends() == dict(zip(NAMES, commits, strict=True))
    check(peer.there)
    assert git(peer.there, "cat-file", "-p", f"{NAMES[2]}:file").decode() == NAMES[2]


def test_what_is_fetched_is_here_whole_under_the_names_that_were_asked_for(peer: Peer) -> None:
    commits = [peer.commit(peer.there, name, name) for name in NAMES]
    peer.commit(peer.there, "refs/heads/main", "b")
    peer.way.fetch({NAMES[0]: "refs/pivcs-remotes/x/one", NAMES[1]: "refs/pivcs-remotes/x/two"})
    assert read_refs(peer.repository, "refs/") == {
        "refs/pivcs-remotes/x/one": commits[0], "refs/pivcs-remotes/x/two": commits[1],
    }  # fmt: skip
    check(peer.repository.common_dir)
    assert git(peer.repository.common_dir, "cat-file", "-p", "refs/pivcs-remotes/x/two:file").decode() == NAMES[1]
    assert not (peer.repository.common_dir / "FETCH_HEAD").exists()


def test_fetching_sets_what_named_something_else(peer: Peer) -> None:
    peer.commit(peer.repository, "refs/pivcs-remotes/x/one", "old")
    commit = peer.commit(peer.there, NAMES[0], "new")
    peer.way.fetch({NAMES[0]: "refs/pivcs-remotes/x/one"})
    assert read_refs(peer.repository, "refs/pivcs-remotes/") == {"refs/pivcs-remotes/x/one": commit}


def test_fetching_nothing_asks_nothing(peer: Peer) -> None:
    peer.there.rename(peer.there.with_name("away"))
    peer.way.fetch({})
    assert peer.way.push([]) == []


def test_a_ref_that_is_not_there_cannot_be_fetched(peer: Peer) -> None:
    peer.commit(peer.there, NAMES[0], "a")
    with pytest.raises(TransportFailed):
        peer.way.fetch({NAMES[1]: "refs/pivcs-remotes/x/one"})
    assert read_refs(peer.repository, "refs/pivcs-remotes/") == {}


def test_refs_are_moved_and_removed_from_what_they_were(peer: Peer) -> None:
    first, second, third = (peer.commit(peer.repository, name, name) for name in NAMES)
    done = peer.way.push([RefUpdate(NAMES[0], None, first), RefUpdate(NAMES[1], None, second)])
    assert [each.outcome for each in done] == ["new", "new"]
    done = peer.way.push([RefUpdate(NAMES[0], first, third), RefUpdate(NAMES[1], second, None)])
    assert [each.outcome for each in done] == ["moved", "removed"]
    assert peer.ends() == {NAMES[0]: third}


def test_a_ref_that_was_moved_meanwhile_is_left_and_the_others_go(peer: Peer) -> None:
    first, second, third = (peer.commit(peer.repository, name, name) for name in NAMES)
    other = peer.commit(peer.there, NAMES[0], "other")
    kept = peer.commit(peer.there, NAMES[1], "kept")
    done = peer.way.push(
        [RefUpdate(NAMES[0], None, first), RefUpdate(NAMES[1], second, None), RefUpdate(NAMES[2], None, third)]
    )
    assert [each.outcome for each in done] == ["refused", "refused", "new"]
    assert peer.ends() == {NAMES[0]: other, NAMES[1]: kept, NAMES[2]: third}


def test_what_the_other_side_does_not_allow_is_refused(peer: Peer, place: str) -> None:
    if peer.program is None and place.startswith(("/", "file:")):
        pytest.skip("dulwich runs no hook of a directory")
    hook = peer.there / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f'#!/bin/sh\ntest "$1" != {NAMES[1]}\n')
    hook.chmod(0o755)
    commits = [peer.commit(peer.repository, name, name) for name in NAMES]
    done = peer.way.push([RefUpdate(name, None, commit) for name, commit in zip(NAMES, commits, strict=True)])
    assert [each.outcome for each in done] == ["new", "refused", "new"]
    assert peer.ends() == {NAMES[0]: commits[0], NAMES[2]: commits[2]}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
def test_what_cannot_be_reached_is_told(peer: Peer) -> None:
    peer.there.rename(peer.there.with_name("away"))
    for ask in (peer.way.refs, lambda: peer.way.fetch({NAMES[0]: "refs/pivcs-remotes/x/one"})):
        with pytest.raises(TransportFailed) as raised:
            ask()
        assert raised.value.exit_code == 100
        del raised
    gc.collect()  # dulwich leaves the connections of failures to this


def test_hooks_and_logs_of_this_side_have_no_part_in_it(peer: Peer) -> None:
    where = peer.repository.common_dir
    git(where, "config", "core.logAllRefUpdates", "always")
    for name in ("pre-push", "reference-transaction"):
        hook = where / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {where}/{name}-ran\nexit 1\n")
        hook.chmod(0o755)
    commit = peer.commit(peer.there, NAMES[0], "a")
    peer.way.fetch({NAMES[0]: "refs/pivcs-remotes/x/one"})
    update_refs(peer.repository, [RefUpdate(NAMES[1], None, commit)])
    assert [each.outcome for each in peer.way.push([RefUpdate(NAMES[1], None, commit)])] == ["new"]
    assert not list(where.glob("*-ran"))
    assert not (where / "logs").exists()


def test_much_data_goes_both_ways(peer: Peer) -> None:
    text = "".join(f"{number * 2654435761 % 2**32:08x}\n" for number in range(300_000))
    commit = peer.commit(peer.repository, NAMES[0], text)
    assert [each.outcome for each in peer.way.push([RefUpdate(NAMES[0], None, commit)])] == ["new"]
    git(peer.repository.common_dir, "update-ref", "-d", NAMES[0])
    git(peer.repository.common_dir, "gc", "--quiet", "--prune=now")
    peer.way.fetch({NAMES[0]: NAMES[1]})
    assert git(peer.repository.common_dir, "cat-file", "-p", f"{NAMES[1]}:file").decode() == text
    check(peer.there)


def test_when_nothing_may_be_changed_all_is_refused(peer: Peer) -> None:
    mine, other = peer.commit(peer.repository, NAMES[0], "mine"), peer.commit(peer.there, NAMES[0], "other")
    assert [each.outcome for each in peer.way.push([RefUpdate(NAMES[0], None, mine)])] == ["refused"]
    assert peer.ends() == {NAMES[0]: other}
