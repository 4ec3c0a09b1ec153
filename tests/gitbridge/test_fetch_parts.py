"""A fetch of many refs when some of them are damaged at the other side."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from pivcs.gitbridge.fetch_parts import RefDamaged, fetch_whole
from pivcs.gitbridge.remotes import Remote
from pivcs.gitbridge.transport import TransportFailed
from tests.builders import build_session, header_line
from tests.gitbridge.clones import Clone, shared, words
from tests.gitbridge.git import check, git, needs_git
from tests.gitbridge.test_push import LONG, OTHER, CountingGit

HUB = Remote("origin", "/hub", "origin")
COUNT = 6


class Way:
    """A way to a repository, some refs of which make every fetch fail that they are part of."""

    def __init__(self, refs: Mapping[str, bytes], bad: set[str]) -> None:
        self.there = dict(refs)
        self.bad = bad
        self.here: dict[str, bytes] = {}
        self.fetches = 0

    def refs(self) -> dict[str, bytes]:
        return dict(self.there)

    def fetch(self, wanted: Mapping[str, str]) -> None:
        self.fetches += 1
        for name in wanted:
            if name in self.bad or name not in self.there:
                raise TransportFailed(f"bad {name}")
        self.here |= {name: self.there[name] for name in wanted}

    def push(self, updates: object) -> list[object]:
        raise NotImplementedError

    def wanting(self, theirs: Mapping[str, bytes]) -> dict[str, str]:
        return {name: name for name in theirs if self.here.get(name) != theirs[name]}


def refs(count: int) -> dict[str, bytes]:
    return {f"r{number}": number.to_bytes(20, "big") for number in range(count)}


def test_what_is_whole_is_fetched_at_once() -> None:
    way = Way(refs(1000), set())
    assert fetch_whole(HUB, way, way.refs(), way.wanting) == (refs(1000), {})  # type: ignore[arg-type]
    assert way.fetches == 1


@pytest.mark.parametrize("bad", [set(), {0}, {999}, {3, 500, 501}, {*range(0, 1000, 100)}])
def test_few_fetches_find_the_bad_among_many(bad: set[int]) -> None:
    way = Way(refs(1000), {f"r{number}" for number in bad})
    found = fetch_whole(HUB, way, way.refs(), way.wanting)  # type: ignore[arg-type]
    assert found.damaged.keys() == way.bad
    assert way.here.keys() == way.there.keys() - way.bad
    assert way.fetches <= 1 + 2 * 10 * len(bad)
    for name, error in found.damaged.items():
        assert isinstance(error, RefDamaged)
        assert error.exit_code == 30
        assert f"'{name}'" in error.message


@pytest.mark.parametrize("count", [1, 2, 3])
def test_when_all_is_bad_all_is_named(count: int) -> None:
    way = Way(refs(count), set(refs(count)))
    assert fetch_whole(HUB, way, way.refs(), way.wanting).damaged.keys() == way.bad  # type: ignore[arg-type]
    assert way.here == {}


def test_what_goes_and_comes_meanwhile_is_not_damaged() -> None:
    way = Way(refs(4), {"r2"})
    before = way.refs()
    del way.there["r1"]
    way.there["r9"] = b"9" * 20
    found = fetch_whole(HUB, way, before, way.wanting)  # type: ignore[arg-type]
    assert found.damaged.keys() == {"r2"}
    assert found.theirs == way.there
    assert way.here.keys() == {"r0", "r3", "r9"}


def test_a_side_that_nobody_can_reach_is_no_damage() -> None:
    way = Way(refs(4), {"r2"})
    before = way.refs()

    def gone() -> dict[str, bytes]:
        raise TransportFailed("gone")

    way.refs = gone  # type: ignore[method-assign]
    with pytest.raises(TransportFailed, match="gone"):
        fetch_whole(HUB, way, before, way.wanting)  # type: ignore[arg-type]
    assert way.fetches == 1


def save_many(clone: Clone, start: int = 0) -> None:
    for number in range(start, start + COUNT):
        clone.save(f"s{number}", build_session("a-b", header=header_line(f"s{number}")))


def damage(hub: Path, name: str, how: str) -> None:
    """Let a ref of a repository name something that no git can send, or nobody would write."""
    if how in ("missing", "corrupt"):
        git(hub, "config", "gc.auto", "0")
        for pack in (hub / "objects" / "pack").glob("*.pack"):
            data = pack.read_bytes()
            for each in pack.parent.glob(f"{pack.stem}.*"):
                each.unlink()
            git(hub, "unpack-objects", "-q", stdin=data)
        (line,) = [each for each in git(hub, "ls-tree", "-r", name).decode().splitlines() if each.endswith(".jsonl")]
        blob = line.split()[2]
        path = hub / "objects" / blob[:2] / blob[2:]
        path.chmod(0o644)
        path.write_bytes(path.read_bytes()[:-9] + b"123456789") if how == "corrupt" else path.unlink()
        return
    entries = git(hub, "ls-tree", name).decode().splitlines()
    raw = b""
    for entry in entries:
        head, _, path_name = entry.partition("\t")
        mode, _, ident = head.split()
        raw += (how if path_name == "00" else mode.lstrip("0")).encode() + b" " + path_name.encode() + b"\0"
        raw += bytes.fromhex(ident)
    tree = git(hub, "hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=raw).decode().strip()
    text = git(hub, "cat-file", "commit", name).split(b"\n", 1)[1]
    commit = git(hub, "hash-object", "-t", "commit", "-w", "--literally", "--stdin",
                 stdin=f"tree {tree}\n".encode() + text).decode().strip()  # fmt: skip
    git(hub, "update-ref", name, commit)


@needs_git
@pytest.mark.interop
@pytest.mark.parametrize("how", ["8", "-1", "", "missing", "corrupt"])
def test_one_damaged_stream_there_keeps_no_other_back(pair: tuple[Clone, Clone], hub: Path, how: str) -> None:
    a, b = pair
    save_many(a)
    a.push()
    bad = sorted(shared(hub))[2]
    damage(hub, bad, how)
    here = "refs/pivcs-remotes/origin/" + bad.removeprefix("refs/pivcs/")
    for expected in (["new"] * (COUNT - 1), []):
        done, came = b.fetch()
        assert words(done) == expected
        assert [each.outcome for each in came] == expected
        assert [(each.stream, each.outcome) for each in done.damaged] == [(here, "damaged")]
        assert done.damaged[0].error is not None
        assert done.damaged[0].error.exit_code == 30
    assert len(b.kept()) == COUNT - 1
    assert here not in b.refs("refs/pivcs-remotes/")
    _empty(hub)
    a.push()
    done, _ = b.fetch()
    assert (words(done), done.damaged) == (["new"], ())
    assert b.kept() == a.kept()
    check(b.place)


def _empty(hub: Path) -> None:
    for name in shared(hub):
        git(hub, "update-ref", "-d", name)
    for path in (hub / "objects").glob("*/*"):
        path.unlink()


@needs_git
@pytest.mark.interop
def test_a_damaged_stream_there_keeps_no_push_back(pair: tuple[Clone, Clone], hub: Path) -> None:
    a, b = pair
    a.save("one", LONG)
    a.push()
    (bad,) = shared(hub)
    damage(hub, bad, "8")
    b.save("one", OTHER)
    save_many(b)
    assert words(b.push()) == ["new"] * (COUNT + 1)
    assert bad in shared(hub)


@needs_git
@pytest.mark.interop
def test_what_is_whole_costs_one_fetch(tmp_path: Path, hub: Path) -> None:
    with Clone(tmp_path / "a", hub, 1) as a, Clone(tmp_path / "b", hub, 2) as b:
        save_many(a)
        a.push()
        b.git = counting = CountingGit()
        b.fetch()
        assert counting.asked == ["ls-remote", "fetch"]
