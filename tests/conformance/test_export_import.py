"""Every fixture comes back byte for byte from an ordinary clone of an export, and forks share commits with what they
were forked from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from pivcs.gitbridge.destination import Destination
from pivcs.gitbridge.exporting import ExportOptions, export
from pivcs.ops.access import view_of
from pivcs.ops.view import SessionView, open_file
from tests.conformance.conftest import fixtures
from tests.gitbridge.archives import Machine
from tests.gitbridge.git import check, git, needs_git

needs_fixtures = pytest.mark.skipif(fixtures() is None, reason="PIVCS_FIXTURES is not set")


@needs_git
@needs_fixtures
def test_fixtures_come_back_from_an_ordinary_clone(tmp_path: Path) -> None:
    root = fixtures()
    assert root is not None
    files = {path: path.read_bytes() for path in sorted(root.rglob("*.jsonl"))}
    assert files
    with Machine(tmp_path / "a") as here:
        for number, data in enumerate(files.values()):
            here.save(str(number), data)
        views = {stream.session: view_of(here.store, stream) for stream in here.store.streams()}
        place = tmp_path / "review"
        export(list(views.values()), Destination.open(place), ExportOptions(store_id=here.id))
        check(place)
        for number, converting in enumerate(("false", "true")):
            clone = tmp_path / f"clone-{converting}"
            git(tmp_path, "clone", "-q", "-c", f"core.autocrlf={converting}", str(place), str(clone))
            with Machine(tmp_path / converting, 10 + number) as there:
                done = there.take(clone)
                assert {each.outcome for each in done} == {"new"}
                assert there.kept() == here.kept()
                for data in files.values():
                    assert b"\n" not in data or any(kept.startswith(data) for kept in there.kept())
                nodes = [{table.digest(row) for stream in machine.store.streams()
                          for table in [machine.store.table_of(stream)] for row in table.nodes()}
                         for machine in (here, there)]  # fmt: skip
                assert nodes[0] == nodes[1]


class Fork(NamedTuple):
    """A session file, and the one that its header names as the one that it was forked from."""

    path: Path
    parent: Path


def forks() -> Iterator[Fork]:
    root = fixtures()
    if root is None:
        return
    headers = {path: _header(path) for path in sorted(root.rglob("*.jsonl"))}
    for path, header in headers.items():
        named = header.get("parentSession")
        if isinstance(named, str):
            ident = Path(named).stem.rpartition("_")[2]
            parents = [other for other, each in headers.items() if other != path and each.get("id") == ident]
            if parents:
                yield Fork(path, parents[0])


def _header(path: Path) -> dict[str, object]:
    try:
        value = json.loads(path.read_bytes().split(b"\n", 1)[0])
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


@needs_git
@needs_fixtures
def test_forks_share_commits_and_git_finds_where_they_part(tmp_path: Path) -> None:
    compared = alike = 0
    for number, fork in enumerate(forks()):
        place = tmp_path / str(number)
        with open_file(fork.path) as view, open_file(fork.parent) as parent:
            done = export([view, parent], Destination.open(place)).sessions
            shared = {parent.table.digest(row) for row in parent.table.nodes()}
            for own, tip in _tips(view, place, done[0].folder):
                oids = map(view.table.digest, view.table.path(own))
                path = [oid.hex() for oid in oids if oid in shared]
                assert path, "a fork begins as what it was forked from"
                on_parent = [ref for _, ref in _tips(parent, place, done[1].folder)]
                bases = {git(place, "merge-base", tip, ref).decode().strip() for ref in on_parent}
                nodes = {_node(place, base) for base in bases}
                assert nodes <= set(path)
                compared += 1
                if view.header.cwd == parent.header.cwd:
                    alike += 1
                    assert max(nodes, key=path.index) == max(path, key=path.index)
    assert compared > alike > 0, "there are forks into the same and into another working directory"


def _tips(view: SessionView, place: Path, folder: str) -> Iterator[tuple[int, str]]:
    for branch in view.refs.branches:
        yield branch.row, f"refs/heads/{folder}/{branch.name}"


def _node(place: Path, commit: str) -> str:
    return git(place, "log", "-1", "--format=%(trailers:key=Pivcs-Node,valueonly)", commit).decode().strip()
