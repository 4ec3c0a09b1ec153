"""Packs that are written here: git and dulwich read them, whatever compresses them."""

import os
import random
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from dulwich.repo import Repo
from hypothesis import given
from hypothesis import strategies as st

from pivcs.gitbridge import packs
from pivcs.gitbridge.deltas import splice_delta
from pivcs.gitbridge.existing import Existing
from pivcs.gitbridge.objects import (
    BLOB,
    COMMIT,
    FILE_MODE,
    TREE,
    TREE_MODE,
    Identity,
    commit_bytes,
    object_id,
    seconds,
    tree_bytes,
)
from pivcs.gitbridge.packs import DEEPEST, NotWritten, PackWriter, best_deflate
from tests.gitbridge.git import check, environment, git, needs_git, new_repository

pytestmark = needs_git


def objects_of(repository: Path) -> Path:
    return repository / "objects" if (repository / "objects").is_dir() else repository / ".git" / "objects"


def with_zlib(data: bytes) -> bytes:
    return zlib.compress(data, 1)


def growing(writer: PackWriter, count: int) -> tuple[bytes, list[bytes]]:
    """Write `count` commits of one growing file; returns the last one and every content of the file."""
    noise = random.Random(5)
    text, blob, parents, texts = b"", None, [], []
    commit = b""
    for number in range(count):
        new = b"line %d %s\n" % (number, noise.randbytes(40).hex().encode())
        delta = splice_delta(len(text), len(text), len(text), new)
        text += new
        blob = writer.add(BLOB, text, blob, delta)
        tree = writer.add(TREE, tree_bytes([(FILE_MODE, b"a.md", blob)]))
        who = Identity(b"A", b"a@example.org", 1000 + number)
        commit = writer.add(COMMIT, commit_bytes(tree, parents, who, who, b"number %d\n" % number))
        parents = [commit]
        texts.append(text)
    return commit, texts


@pytest.mark.parametrize("deflate", [None, with_zlib], ids=["fastest", "zlib"])
def test_git_reads_commits_with_deltas(tmp_path: Path, deflate: None) -> None:
    repository = new_repository(tmp_path, "--bare")
    with PackWriter(objects_of(repository), deflate=deflate) as writer:
        tip, texts = growing(writer, 3 * DEEPEST)
        pack = writer.finish()
    assert pack is not None
    git(repository, "update-ref", "refs/heads/main", tip.hex())
    check(repository)
    assert git(repository, "index-pack", "--strict", "--stdin", stdin=pack.read_bytes()).startswith(b"pack")
    for back, text in enumerate(reversed(texts)):
        if back % 20 == 0:
            assert git(repository, "show", f"main~{back}:a.md") == text
    chains = git(repository, "verify-pack", "-v", str(pack.with_suffix(".idx")))
    depths = [int(line.split()[5]) for line in chains.splitlines() if len(line.split()) == 7 and b" blob " in line]
    assert depths
    assert max(depths) == DEEPEST
    with Repo(str(repository)) as seen:
        assert seen[seen[tip.hex().encode()].tree].items()[0].path == b"a.md"
        assert seen.object_store.get_raw(git(repository, "rev-parse", "main:a.md").strip())[1] == texts[-1]


def test_ids_do_not_depend_on_what_compresses(tmp_path: Path) -> None:
    tips = []
    for number, deflate in enumerate((best_deflate(), with_zlib, zlib.compress)):
        with PackWriter(tmp_path / str(number), deflate=deflate) as writer:
            tips.append(growing(writer, 5))
    assert tips[0] == tips[1] == tips[2]


def test_a_delta_without_its_base_in_the_pack_is_written_whole(tmp_path: Path) -> None:
    repository = new_repository(tmp_path)
    base = bytes.fromhex(git(repository, "hash-object", "-w", "--stdin", stdin=b"one\n").decode().strip())
    with Existing(objects_of(repository)) as existing, PackWriter(objects_of(repository), existing) as writer:
        assert writer.add(BLOB, b"one\n") == base
        assert len(writer) == 0
        new = writer.add(BLOB, b"one\ntwo\n", base, splice_delta(4, 4, 4, b"two\n"))
        assert writer.relied_on == {base}
        pack = writer.finish()
    assert pack is not None
    assert git(repository, "cat-file", "blob", new.hex()) == b"one\ntwo\n"
    assert b"chain" not in git(repository, "verify-pack", "-v", str(pack.with_suffix(".idx")))


def test_what_is_there_is_not_written_again(tmp_path: Path) -> None:
    repository = new_repository(tmp_path, "--bare")
    objects = objects_of(repository)
    for _ in range(2):
        with Existing(objects) as existing, PackWriter(objects, existing) as writer:
            tip, _ = growing(writer, 30)
            pack = writer.finish()
        git(repository, "update-ref", "refs/heads/main", tip.hex())
    assert pack is None
    git(repository, "repack", "-q", "-a", "-d")
    with Existing(objects) as existing:
        assert existing.missing([tip]) == []
        assert existing.missing([bytes(20), b"\xff" * 20]) == [bytes(20), b"\xff" * 20]
    assert len(list((objects / "pack").glob("*.pack"))) == 1
    assert not list((objects / "pack").glob("*.keep"))


def test_objects_of_alternates_are_there(tmp_path: Path) -> None:
    lender = new_repository(tmp_path / "lender", "--bare")
    loose = bytes.fromhex(git(lender, "hash-object", "-w", "--stdin", stdin=b"loose").decode().strip())
    borrower = new_repository(tmp_path / "borrower", "--bare")
    (borrower / "objects" / "info" / "alternates").write_text(f"# a remark\n{lender / 'objects'}\n")
    (lender / "objects" / "info" / "alternates").write_text("../../borrower/objects\n")
    with Existing(borrower / "objects") as existing:
        assert existing.has(loose)


def test_a_damaged_index_is_passed_over(tmp_path: Path) -> None:
    repository = new_repository(tmp_path, "--bare")
    objects = objects_of(repository)
    with PackWriter(objects) as writer:
        tip, _ = growing(writer, 3)
        pack = writer.finish()
    assert pack is not None
    index = pack.with_suffix(".idx")
    index.chmod(0o644)
    whole = index.read_bytes()
    for data in (b"", whole[:1000], whole[:1100], b"\xfftOc\x00\x00\x00\x09" + whole[8:]):
        index.write_bytes(data)
        with Existing(objects) as existing:
            assert not existing.has(tip)


def test_a_killed_writer_leaves_what_git_finds_clean_and_a_later_one_removes(tmp_path: Path) -> None:
    repository = new_repository(tmp_path, "--bare")
    child = (
        "import os, sys\nfrom pathlib import Path\n"
        "from pivcs.gitbridge.packs import PackWriter\nfrom pivcs.gitbridge.objects import BLOB\n"
        "writer = PackWriter(Path(sys.argv[1]))\n"
        "for number in range(200): writer.add(BLOB, os.urandom(20_000))\n"
        "print('written', flush=True)\nos.kill(os.getpid(), 9)\n"
    )
    command = [sys.executable, "-c", child, str(objects_of(repository))]
    result = subprocess.run(command, capture_output=True, check=False)
    assert result.stdout == b"written\n"
    left = list((objects_of(repository) / "pack").iterdir())
    assert len(left) == 1
    check(repository)
    with PackWriter(objects_of(repository)) as writer:
        writer.add(BLOB, b"x")
        writer.finish()
    assert left[0].exists(), "its writer may be alive"
    os.utime(left[0], (0, 0))
    with PackWriter(objects_of(repository)) as writer:
        writer.add(BLOB, b"y")
        writer.finish()
    assert not left[0].exists()


def test_a_pack_that_is_written_survives_a_gc_that_prunes_everything(tmp_path: Path) -> None:
    repository = new_repository(tmp_path, "--bare")
    with PackWriter(objects_of(repository)) as writer:
        content = os.urandom(3 << 20)
        ident = writer.add(BLOB, content)
        git(repository, "gc", "-q", "--prune=now")
        writer.finish()
        assert git(repository, "cat-file", "blob", ident.hex()) == content


def test_a_kept_pack_survives_a_gc_before_its_refs_are_written(tmp_path: Path) -> None:
    repository = new_repository(tmp_path, "--bare")
    with PackWriter(objects_of(repository)) as writer:
        tip, _ = growing(writer, 3)
        pack = writer.finish()
        git(repository, "gc", "-q", "--prune=now")
        assert git(repository, "cat-file", "-t", tip.hex()) == b"commit\n"
        writer.release()
    assert pack is not None
    git(repository, "gc", "-q", "--prune=now")
    assert not pack.exists()


def test_an_old_keep_of_a_killed_process_goes_and_others_stay(tmp_path: Path) -> None:
    directory = tmp_path / "pack"
    directory.mkdir()
    ours, fresh, other = (directory / f"pack-{name}.keep" for name in ("a", "b", "c"))
    for path, text in ((ours, "pivcs writes refs to this pack\n"), (other, "by hand\n")):
        path.write_text(text)
        os.utime(path, (0, 0))
    fresh.write_text("pivcs writes refs to this pack\n")
    with PackWriter(tmp_path) as writer:
        writer.add(BLOB, b"x")
        writer.finish()
        assert not ours.exists()
        assert fresh.exists()
        assert other.exists()


def test_a_writer_that_is_left_early_leaves_nothing(tmp_path: Path) -> None:
    with PackWriter(tmp_path) as writer:
        for _ in range(100):
            writer.add(BLOB, os.urandom(20_000))
        assert list((tmp_path / "pack").iterdir())
    assert not list((tmp_path / "pack").iterdir())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with PackWriter(tmp_path) as writer:
            writer.add(BLOB, b"x")
            with pytest.raises(NotWritten, match="cannot write objects"):
                writer.finish()
    finally:
        tmp_path.chmod(0o700)


def test_a_place_that_is_no_directory_is_told(tmp_path: Path) -> None:
    (tmp_path / "pack").write_text("")
    with PackWriter(tmp_path) as writer:
        writer.add(BLOB, b"x")
        with pytest.raises(NotWritten, match="cannot write objects"):
            writer.finish()


def test_many_sizes_and_kinds_have_right_heads(tmp_path: Path) -> None:
    repository = new_repository(tmp_path, "--bare")
    sizes = [0, 1, 15, 16, 99, 100, 127, 128, 2047, 2048, 70_000, 300_000]
    with PackWriter(objects_of(repository)) as writer:
        idents = [writer.add(BLOB, os.urandom(size)) for size in sizes]
        base = writer.add(BLOB, b"a" * 200_000)
        delta = writer.add(BLOB, b"a" * 100_000 + b"b" * 300 + b"a" * 100_000, base,
                           splice_delta(200_000, 100_000, 100_000, b"b" * 300))  # fmt: skip
        empty = writer.add(TREE, b"")
        pack = writer.finish()
    assert pack is not None
    git(repository, "verify-pack", str(pack))
    for size, ident in zip(sizes, idents, strict=True):
        assert int(git(repository, "cat-file", "-s", ident.hex())) == size
    assert git(repository, "cat-file", "blob", delta.hex()) == b"a" * 100_000 + b"b" * 300 + b"a" * 100_000
    assert git(repository, "cat-file", "-t", empty.hex()) == b"tree\n"


def test_places_behind_two_gigabytes_stand_in_the_index(tmp_path: Path) -> None:
    from dulwich.object_format import SHA1
    from dulwich.pack import load_pack_index

    places = {bytes((number,)) * 20: (number << 30) << packs._OFFSET_BITS for number in range(8)}
    path = tmp_path / "pack-x.idx"
    path.write_bytes(b"".join(packs._index(places, bytes(20))))
    index = load_pack_index(str(path), SHA1)
    try:
        index.check()
        assert [offset >> 30 for _, offset, _ in index.iterentries()] == list(range(8))
    finally:
        index.close()


@given(st.binary(max_size=2000), st.integers(0, 2000), st.integers(0, 2000), st.binary(max_size=400))
def test_a_splice_is_what_a_reader_makes_of_it(old: bytes, one: int, other: int, new: bytes) -> None:
    from dulwich.pack import apply_delta

    start, end = sorted((min(one, len(old)), min(other, len(old))))
    made = b"".join(apply_delta(old, splice_delta(len(old), start, end, new)))
    assert made == old[:start] + new + old[end:]


def test_ids_are_those_of_git(tmp_path: Path) -> None:
    repository = new_repository(tmp_path)
    blob = object_id(BLOB, b"text\n")
    assert git(repository, "hash-object", "-w", "--stdin", stdin=b"text\n").decode().strip() == blob.hex()
    entries = [(TREE_MODE, b"a", object_id(TREE, b"")), (FILE_MODE, b"a.b", blob), (FILE_MODE, b"a0", blob)]
    lines = b"".join(
        b"%s %s %s\t%s\0" % (mode.rjust(6, b"0"), b"tree" if mode == TREE_MODE else b"blob", ident.hex().encode(), name)
        for mode, name, ident in entries
    )
    git(repository, "hash-object", "-w", "-t", "tree", "--stdin")
    tree = git(repository, "mktree", "-z", stdin=lines).decode().strip()
    assert object_id(TREE, tree_bytes(reversed(entries))).hex() == tree
    made = subprocess.run(
        ["git", "-C", str(repository), "commit-tree", tree, "-m", "hello"], capture_output=True, check=True,
        env=environment(GIT_AUTHOR_DATE="1700000000 +0000", GIT_COMMITTER_DATE="1700000001 +0000"),
    )  # fmt: skip
    commit = commit_bytes(
        bytes.fromhex(tree), [], Identity(b"A", b"a@example.org", 1_700_000_000),
        Identity(b" A\n", b"<a@example.org>", 1_700_000_001), b"hello\n",
    )  # fmt: skip
    assert object_id(COMMIT, commit).hex() == made.stdout.decode().strip()


def test_times_are_whole_seconds_that_git_takes() -> None:
    assert [seconds(time) for time in (None, -5, 999, 1000, 10**18)] == [0, 0, 0, 1, 253_402_300_799]
