"""Streams: a session's bytes in git and back, the same everywhere, and refused when anybody has changed them."""

import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from blake3 import blake3
from dulwich.object_store import DiskObjectStore
from hypothesis import given
from hypothesis import strategies as st

from pivcs.gitbridge.existing import Existing
from pivcs.gitbridge.packs import PackWriter
from pivcs.gitbridge.stream_reading import NewerStream, StreamDamaged, read_stream, stream_bytes
from pivcs.gitbridge.streams import LONGEST_PART, PART, StreamCommit, cut, part_path, write_stream
from pivcs.ops.view import open_file
from tests.builders import build_session, header_line, message_line
from tests.gitbridge.git import check, environment, git, needs_git, new_repository

VECTORS = json.loads((Path(__file__).parent.parent / "vectors" / "git_stream_commits.json").read_text())

LENGTHS = st.lists(st.sampled_from([0, 1, 1000, PART - 1, PART, PART + 1, LONGEST_PART - 1, LONGEST_PART]), max_size=6)


def write(repository: Path, path: Path) -> StreamCommit:
    """Write a session file as a stream, and let its ref name it."""
    objects = repository / "objects"
    with open_file(path) as view, Existing(objects) as existing, PackWriter(objects, existing) as writer:
        stream = write_stream(view, writer)
        writer.finish()
    assert stream is not None
    git(repository, "update-ref", stream.ref, stream.commit.hex())
    return stream


def read(repository: Path, stream: StreamCommit) -> bytes:
    """Return the bytes of a stream."""
    with closing(DiskObjectStore(repository / "objects")) as objects:
        found = read_stream(objects, stream.tree, stream.ref)
        assert (found.key, found.digest, found.size) == (stream.key, stream.digest, stream.size)
        return b"".join(stream_bytes(objects, found))


def long_session(size: int, line: int = 700) -> bytes:
    """Return a session of about `size` bytes."""
    out = [header_line()]
    for number in range(size // line):
        text = f"{number} " * (line // 14)
        out.append(message_line(f"{number:08x}", f"{number - 1:08x}" if number else None, "user", text))
    return b"".join(out)


@given(LENGTHS, st.integers(5000, 1 << 20), st.booleans())
def test_parts_do_not_depend_on_how_bytes_come_nor_on_what_follows(lengths: list[int], step: int, ended: bool) -> None:
    data = b"\n".join(b"x" * length for length in lengths) + b"\n" * ended
    parts = list(cut([data]))
    assert b"".join(parts) == data
    assert list(cut(data[at : at + step] for at in range(0, len(data), step))) == parts
    for part in parts[:-1]:
        assert len(part) == LONGEST_PART or (part.endswith(b"\n") and len(part) >= PART)
        assert b"\n" not in part[PART - 1 : -1]
    assert all(0 < len(part) <= LONGEST_PART for part in parts)
    assert list(cut([data, b"more\n"]))[: max(0, len(parts) - 1)] == parts[:-1]


def test_no_bytes_have_no_part() -> None:
    assert list(cut([])) == list(cut([b""])) == []


def test_paths_of_parts_have_at_most_a_hundred_names_a_directory() -> None:
    assert part_path(0) == (b"00", b"00", b"00.jsonl")
    assert part_path(99) == (b"00", b"00", b"99.jsonl")
    assert part_path(123_456) == (b"12", b"34", b"56.jsonl")


@needs_git
@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_commits_are_those_of_the_vectors(tmp_path: Path, vector: dict[str, str]) -> None:
    repository = new_repository(tmp_path / "r", "--bare")
    path = tmp_path / "s.jsonl"
    path.write_bytes(vector["lines"].encode() * int(vector["times"]))
    stream = write(repository, path)
    assert (stream.commit.hex(), stream.tree.hex(), stream.ref) == (vector["commit"], vector["tree"], vector["ref"])
    assert git(repository, "ls-tree", "-r", "--name-only", vector["commit"]).decode().split() == vector["paths"]


@needs_git
@pytest.mark.parametrize("size", [0, 300_000, 30_000_000])
def test_git_and_dulwich_give_the_bytes_back(tmp_path: Path, size: int) -> None:
    repository = new_repository(tmp_path / "r", "--bare")
    path = tmp_path / "s.jsonl"
    data = long_session(size)
    path.write_bytes(data)
    stream = write(repository, path)
    check(repository)
    assert read(repository, stream) == data
    names = git(repository, "ls-tree", "-r", "--name-only", stream.ref).decode().split()
    parts = [name for name in names if name.endswith(".jsonl")]
    joined = b"".join(git(repository, "cat-file", "blob", f"{stream.ref}:{name}") for name in parts)
    assert joined == data
    told = json.loads(git(repository, "cat-file", "blob", f"{stream.ref}:stream.json"))
    assert told == {
        "format": "pivcs stream 1", "session": stream.key.hex(), "blake3": blake3(data).hexdigest(),
        "size": len(data), "parts": len(parts),
    }  # fmt: skip
    assert git(repository, "log", "--format=%an %at%P", stream.ref) == b"pivcs 1767225600\n"


@needs_git
def test_a_grown_session_writes_only_what_is_new(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "r", "--bare")
    path = tmp_path / "s.jsonl"
    data = long_session(9_000_000)
    path.write_bytes(data)
    first = write(repository, path)
    assert first.new_bytes == len(data)
    again = write(repository, path)
    assert again == first._replace(new_bytes=0)
    more = message_line("ffffffff", "00000000", "user", "more")
    path.write_bytes(data + more)
    grown = write(repository, path)
    assert 0 < grown.new_bytes <= LONGEST_PART
    assert read(repository, grown) == data + more
    assert read(repository, first) == data


@needs_git
def test_a_part_that_is_there_twice_is_written_once(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "r", "--bare")
    path = tmp_path / "s.jsonl"
    data = header_line() + b" " * (LONGEST_PART - len(header_line())) + b" " * (12 * LONGEST_PART)
    path.write_bytes(data)
    stream = write(repository, path)
    parts = list(cut([data]))
    assert stream.new_bytes == sum(map(len, set(parts))) < len(data) / 4
    assert read(repository, stream) == data


@needs_git
def test_line_ends_survive_a_clone_that_would_convert_them(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "r", "--bare")
    path = tmp_path / "s.jsonl"
    text = "one\r\ntwo\rthree\n"
    lines = [header_line(), message_line("aaaaaaaa", None, "user", text), b"torn\r\n", b"\r", b'{"type":']
    path.write_bytes(header_line().replace(b"\n", b"\r\n") + b"\r\n".join(lines))
    stream = write(repository, path)
    git(repository, "update-ref", "refs/heads/main", stream.commit.hex())
    git(tmp_path, "clone", "-q", "-c", "core.autocrlf=true", str(repository), "clone")
    assert (tmp_path / "clone" / "00" / "00" / "00.jsonl").read_bytes() == path.read_bytes()
    assert read(tmp_path / "clone" / ".git", stream) == path.read_bytes()


@needs_git
def test_ids_are_the_same_under_any_settings(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(build_session("a-b-c, b-d"))
    child = (
        "import sys\nfrom pathlib import Path\nfrom pivcs.gitbridge.packs import PackWriter\n"
        "from pivcs.gitbridge.streams import write_stream\nfrom pivcs.ops.view import open_file\n"
        "with open_file(Path(sys.argv[1])) as view, PackWriter(Path(sys.argv[2])) as writer:\n"
        "    print(write_stream(view, writer).commit.hex())\n    writer.finish()\n"
    )
    seen = set()
    decoy = new_repository(tmp_path / "decoy")
    before = sorted(decoy.rglob("*"))
    surroundings = (
        ({}, 0o022),
        ({"TZ": "Asia/Kathmandu", "LANG": "tr_TR.UTF-8", "LC_ALL": "C"}, 0),
        ({"GIT_DIR": str(decoy / ".git"), "GIT_OBJECT_DIRECTORY": str(decoy), "GIT_INDEX_FILE": str(decoy / "index"),
          "GIT_AUTHOR_NAME": "Somebody", "GIT_COMMITTER_DATE": "2001-01-01", "PYTHONHASHSEED": "7"}, 0o077),
    )  # fmt: skip
    for number, (more, mask) in enumerate(surroundings):
        result = subprocess.run(
            [sys.executable, "-c", child, str(path), str(tmp_path / str(number))], capture_output=True, check=True,
            env=environment() | more, umask=mask, cwd=Path(__file__).parents[2],
        )  # fmt: skip
        seen.add(result.stdout)
    assert len(seen) == 1
    assert sorted(decoy.rglob("*")) == before
    assert os.stat(next((tmp_path / "2" / "pack").glob("*.pack"))).st_mode & 0o777 == 0o400


def test_a_session_without_a_complete_line_is_no_stream(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b'{"type":"session"')
    with open_file(path) as view, PackWriter(tmp_path) as writer:
        assert write_stream(view, writer) is None


def rebuilt(repository: Path, stream: StreamCommit, name: str, content: bytes | None) -> bytes:
    """Return the id of the stream's tree with one file changed, added or removed, as somebody with git would do it."""
    git(repository, "read-tree", stream.tree.hex())
    if content is None:
        line = f"0 {'0' * 40}\t{name}\n"
    else:
        line = f"100644 {git(repository, 'hash-object', '-w', '--stdin', stdin=content).decode().strip()}\t{name}\n"
    git(repository, "update-index", "--index-info", stdin=line.encode())
    return bytes.fromhex(git(repository, "write-tree").decode().strip())


def description(**changes: object) -> bytes:
    value = {"format": "pivcs stream 1", "session": "ab" * 32, "blake3": "cd" * 32, "size": 5, "parts": 1} | changes
    return json.dumps({name: each for name, each in value.items() if each is not None}, indent=1).encode() + b"\n"


TAMPERED = {
    "a byte of a part": ("00/00/00.jsonl", b"other bytes\n", "its parts have 12 bytes"),
    "no part": ("00/00/00.jsonl", None, "'00': it is missing"),
    "a part more": ("00/00/01.jsonl", b"more\n", "its files are not those of a stream"),
    "a file more": ("README", b"more\n", "its files are not those of a stream"),
    "no attributes": (".gitattributes", None, "'.gitattributes'"),
    "other attributes": (".gitattributes", b"* text\n", "'.gitattributes'"),
    "no description": ("stream.json", None, "'stream.json': it is missing"),
    "no JSON": ("stream.json", b"{", "'stream.json': it is no JSON"),
    "deep JSON": ("stream.json", b"[" * 4000, "'stream.json'"),
    "long": ("stream.json", b" " * 5000, "'stream.json': it describes no stream"),
    "a list": ("stream.json", b"[]", "'stream.json': it describes no stream"),
    "another kind": ("stream.json", description(format="other"), "it describes no stream"),
    "no key": ("stream.json", description(session=None), "something is missing"),
    "a short key": ("stream.json", description(session="ab"), "cannot be right"),
    "a wild size": ("stream.json", description(size=True), "cannot be right"),
    "many parts": ("stream.json", description(parts=10**12), "cannot be right"),
    "more parts": ("stream.json", description(parts=101), "is missing"),
    "spaces": ("stream.json", description() + b" ", "not those of a stream"),
    "another size": ("stream.json", description(), "its parts have [0-9]+ bytes, and 5 are told"),
}


@needs_git
@pytest.mark.parametrize("what", TAMPERED)
def test_a_tampered_stream_is_named_and_refused(tmp_path: Path, what: str) -> None:
    repository = new_repository(tmp_path / "r", "--bare")
    path = tmp_path / "s.jsonl"
    path.write_bytes(build_session("a-b"))
    stream = write(repository, path)
    name, content, message = TAMPERED[what]
    refuse(repository, rebuilt(repository, stream, name, content), message)


@needs_git
def test_another_digest_is_refused_behind_the_last_part(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "r", "--bare")
    path = tmp_path / "s.jsonl"
    path.write_bytes(build_session("a-b"))
    stream = write(repository, path)
    told = description(session=stream.key.hex(), size=stream.size)
    refuse(repository, rebuilt(repository, stream, "stream.json", told), "do not have the digest")


def refuse(repository: Path, tree: bytes, message: str) -> None:
    with (
        closing(DiskObjectStore(repository / "objects")) as objects,
        pytest.raises(StreamDamaged, match=message) as caught,
    ):
        b"".join(stream_bytes(objects, read_stream(objects, tree, "refs/x")))
    assert caught.value.where == "refs/x"
    assert caught.value.exit_code == 30


@needs_git
def test_a_newer_format_says_so(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "r", "--bare")
    path = tmp_path / "s.jsonl"
    path.write_bytes(build_session("a-b"))
    tree = rebuilt(repository, write(repository, path), "stream.json", description(format="pivcs stream 2"))
    with closing(DiskObjectStore(repository / "objects")) as objects, pytest.raises(NewerStream, match="stream 2"):
        read_stream(objects, tree, "refs/x")


@needs_git
@pytest.mark.parametrize("packed", [True, False], ids=["packed", "loose"])
def test_damaged_bytes_of_a_repository_are_told_or_harmless(tmp_path: Path, packed: bool) -> None:
    repository = new_repository(tmp_path / "r", "--bare")
    path = tmp_path / "s.jsonl"
    path.write_bytes(build_session("a-b"))
    stream = write(repository, path)
    pack = next((repository / "objects" / "pack").glob("*.pack"))
    files = [pack]
    if not packed:
        pack.rename(tmp_path / "p")
        pack.with_suffix(".idx").unlink()
        git(repository, "unpack-objects", "-q", stdin=(tmp_path / "p").read_bytes())
        files = list((repository / "objects").glob("??/*"))
        assert len(files) == 7
    found = 0
    for file in files:
        file.chmod(0o644)
        whole = file.read_bytes()
        for place in range(12 if packed else 0, len(whole) - 20 * packed, 5):
            file.write_bytes(whole[:place] + bytes((whole[place] ^ 0x15,)) + whole[place + 1 :])
            try:
                assert read(repository, stream) == path.read_bytes()  # the commit, which is not read for it
            except StreamDamaged:
                found += 1
        file.write_bytes(whole)
    assert found > 100
    assert read(repository, stream) == path.read_bytes()
