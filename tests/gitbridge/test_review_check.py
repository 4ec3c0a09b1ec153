"""Import names what was tampered with, a stream or a review commit, and takes nothing of that session."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pivcs.gitbridge.destination import Destination
from pivcs.gitbridge.exporting import ExportOptions, export
from pivcs.gitbridge.importing import Imported
from pivcs.gitbridge.review_check import ReviewDamaged
from pivcs.gitbridge.review_options import Granularity, Person, ReviewOptions
from pivcs.gitbridge.stream_reading import StreamDamaged
from pivcs.ops.demo import demo_session
from tests.builders import build_session, header_line
from tests.gitbridge.archives import Machine
from tests.gitbridge.git import environment, git, needs_git, new_repository
from tests.ops.views import view_of

pytestmark = needs_git

DEMO = demo_session()
OTHER = build_session("a-b", header=header_line("other"))
FOLDER = "2026-01-01-d8fddc36"
MAIN = f"refs/heads/{FOLDER}/main"


@pytest.fixture
def review(tmp_path: Path) -> Path:
    """A repository with two sessions."""
    export([view_of(DEMO), view_of(OTHER)], Destination.open(tmp_path / "review"))
    return tmp_path / "review"


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Machine]:
    with Machine(tmp_path / "there") as machine:
        yield machine


def said(place: Path, *arguments: str, stdin: bytes = b"") -> str:
    return git(place, *arguments, stdin=stdin).decode().strip()


def rewrite(place: Path, ref: str, change: Callable[[bytes], bytes], depth: int = 0) -> str:
    """Change a commit that is so far above a ref, and make the commits below it anew; return the changed one's id."""
    path = said(place, "rev-list", f"--max-count={depth + 1}", "--first-parent", ref).split()
    new = said(place, "hash-object", "-t", "commit", "-w", "--stdin",
               stdin=change(git(place, "cat-file", "commit", path[-1])))  # fmt: skip
    changed, old = new, path[-1]
    for commit in reversed(path[:-1]):
        raw = git(place, "cat-file", "commit", commit).replace(old.encode(), new.encode())
        new, old = said(place, "hash-object", "-t", "commit", "-w", "--stdin", stdin=raw), commit
    git(place, "update-ref", ref, new)
    return changed


def refused(done: list[Imported], kind: type[Exception]) -> str:
    """Return why the streams of one session were refused; those of others must not be."""
    damaged = [each for each in done if each.outcome == "damaged"]
    assert damaged
    assert all(isinstance(each.error, kind) for each in damaged)
    return str(damaged[0].error)


def take(machine: Machine, place: Path) -> list[Imported]:
    return [each for each in machine.take(place) if isinstance(each, Imported)]


@pytest.mark.parametrize("depth", [0, 3])
@pytest.mark.parametrize("change", [
    lambda raw: raw.replace(b"\n\n", b"\n\nNot what was said\n\n", 1),
    lambda raw: raw.replace(b"author ", b"author X", 1),
    lambda raw: raw.replace(b"+0000", b"+0100"),
    lambda raw: b"tree " + b"4b825dc642cb6eb9a060e54bf8d69288fbee4904" + raw[45:],
], ids=["message", "author", "zone", "tree"])  # fmt: skip
def test_a_changed_commit_is_named_and_its_session_refused(
    review: Path, there: Machine, depth: int, change: Callable[[bytes], bytes]
) -> None:
    git(review, "hash-object", "-t", "tree", "-w", "--stdin")  # the empty one
    changed = rewrite(review, MAIN, change, depth)
    message = refused(take(there, review), ReviewDamaged)
    assert changed in message
    assert MAIN in message
    assert there.kept() == {OTHER}


def test_a_changed_commit_in_a_clone_is_named(review: Path, there: Machine, tmp_path: Path) -> None:
    changed = rewrite(review, f"refs/heads/{FOLDER}/label/cents%20work", lambda raw: raw + b"more\n")
    git(tmp_path, "clone", "-q", str(review), "clone")
    message = refused(take(there, tmp_path / "clone"), ReviewDamaged)
    assert changed in message
    assert f"refs/remotes/origin/{FOLDER}/label/cents%20work" in message


def test_a_commit_of_a_node_that_no_stream_has_is_named(review: Path, there: Machine) -> None:
    def change(raw: bytes) -> bytes:
        at = raw.index(b"Pivcs-Node: ") + 12
        return raw[:at] + b"0" * 64 + raw[at + 64 :]

    changed = rewrite(review, MAIN, change)
    message = refused(take(there, review), ReviewDamaged)
    assert changed in message
    assert "has no node " + "0" * 64 in message


def test_commits_of_other_people_on_top_are_passed_by(review: Path, there: Machine) -> None:
    mine = said(review, "commit-tree", "-p", MAIN, "-m", "Looks good to me", f"{MAIN}^{{tree}}")
    git(review, "update-ref", MAIN, mine)
    git(review, "tag", "-a", "-m", "signed off", f"{FOLDER}/checked", MAIN)
    take(there, review)
    assert there.kept() == {DEMO, OTHER}


def test_a_changed_commit_below_one_of_other_people_is_named(review: Path, there: Machine) -> None:
    changed = rewrite(review, MAIN, lambda raw: raw.replace(b"Decimal", b"Float"))
    mine = said(review, "commit-tree", "-p", changed, "-m", "Looks good to me", f"{MAIN}^{{tree}}")
    git(review, "update-ref", MAIN, mine)
    assert changed in refused(take(there, review), ReviewDamaged)


@pytest.mark.parametrize("granularity", list(Granularity))
@pytest.mark.parametrize("person", [Person(), Person(b"Ada", b"ada@example.org")])
def test_commits_of_every_kind_are_known_again(
    tmp_path: Path, there: Machine, granularity: Granularity, person: Person
) -> None:
    options = ExportOptions(ReviewOptions(granularity, person=person))
    export([view_of(DEMO)], Destination.open(tmp_path / "review"), options)
    assert {each.outcome for each in take(there, tmp_path / "review")} == {"new"}
    assert there.kept() == {DEMO}
    rewrite(tmp_path / "review", MAIN, lambda raw: raw + b"\n", 0)
    refused(take(there, tmp_path / "review"), ReviewDamaged)


def test_a_shallow_clone_is_checked_as_far_as_it_goes(review: Path, there: Machine, tmp_path: Path) -> None:
    changed = rewrite(review, MAIN, lambda raw: raw.replace(b"Pivcs-Entry", b"Pivcs-Entri"), 1)
    url = f"file://{review}"
    git(tmp_path, "clone", "-q", "--depth=2", "--no-single-branch", url, "clone")
    assert changed in refused(take(there, tmp_path / "clone"), ReviewDamaged)


def change_page(place: Path, path: str, change: Callable[[bytes], bytes] | None) -> None:
    """Change a file on the branch of the start page, or leave it out."""
    scratch = {"GIT_INDEX_FILE": str(place / "scratch")}
    _git(place, scratch, "read-tree", "sessions")
    if change is None:
        _git(place, scratch, "rm", "-q", "--cached", path)
    else:
        raw = git(place, "cat-file", "blob", f"sessions:{path}")
        blob = said(place, "hash-object", "-w", "--stdin", stdin=change(raw))
        _git(place, scratch, "update-index", "--cacheinfo", f"100644,{blob},{path}")
    tree = _git(place, scratch, "write-tree")
    git(place, "update-ref", "refs/heads/sessions", said(place, "commit-tree", "-p", "sessions", "-m", "x", tree))


def _git(place: Path, more: dict[str, str], *arguments: str) -> str:
    command = ["git", "-C", str(place), *arguments]
    done = subprocess.run(command, env=environment(**more), capture_output=True, check=True)
    return done.stdout.decode().strip()


def stream_of(place: Path) -> str:
    listed = said(place, "ls-tree", "-d", "--name-only", "sessions", f"{FOLDER}/streams/").split()
    assert len(listed) == 1
    return listed[0]


@pytest.mark.parametrize("file", ["00/00/00.jsonl", "stream.json", ".gitattributes"])
def test_a_changed_byte_of_a_stream_is_named(review: Path, there: Machine, file: str) -> None:
    change_page(review, f"{stream_of(review)}/{file}", lambda raw: raw[:4] + bytes([raw[4] ^ 1]) + raw[5:])
    where = stream_of(review)
    message = refused(take(there, review), StreamDamaged)
    assert where in message
    assert there.kept() == {OTHER}


@pytest.mark.parametrize("file", ["00/00/00.jsonl", "stream.json", ".gitattributes"])
def test_a_file_that_is_missing_is_named(review: Path, there: Machine, file: str) -> None:
    change_page(review, f"{stream_of(review)}/{file}", None)
    assert stream_of(review) in refused(take(there, review), StreamDamaged)
    assert there.kept() == {OTHER}


def test_a_stream_of_another_session_in_a_folder_is_named(review: Path, there: Machine) -> None:
    ours, name = said(review, "rev-parse", f"sessions:{stream_of(review)}"), stream_of(review).rpartition("/")[2]
    entry = f"040000 tree {ours}\t{name}\n"
    streams = said(review, "mktree", stdin=entry.encode())
    folder = said(review, "mktree", stdin=f"040000 tree {streams}\tstreams\n".encode())
    page = said(review, "mktree", stdin=f"040000 tree {folder}\t2026-01-01-00000000\n".encode())
    git(review, "update-ref", "refs/heads/sessions", said(review, "commit-tree", "-m", "x", page))
    assert "another session" in refused(take(there, review), StreamDamaged)
    assert there.kept() == set()


def test_the_next_export_mends_a_stream_that_was_changed(review: Path, there: Machine) -> None:
    change_page(review, f"{stream_of(review)}/stream.json", lambda raw: raw + b" ")
    export([view_of(DEMO)], Destination.open(review))
    take(there, review)
    assert there.kept() == {DEMO, OTHER}


def test_review_commits_beside_streams_are_checked_too(review: Path, there: Machine, tmp_path: Path) -> None:
    place = new_repository(tmp_path / "archive")
    with Machine(tmp_path / "here", 2) as here:
        here.save("s", DEMO)
        here.save("other", OTHER)
        here.archive(place)
    refs = said(place, "for-each-ref", "--format=%(refname)", "refs/pivcs/").split()
    (key,) = {name.split("/")[2] for name in refs if "/d8fddc36" in name}
    git(place, "fetch", "-q", str(review), f"{MAIN}:refs/pivcs/{key}/review/main")
    assert {each.outcome for each in take(there, place)} == {"new"}
    changed = rewrite(place, f"refs/pivcs/{key}/review/main", lambda raw: raw + b"more\n")
    git(place, "update-ref", f"refs/pivcs-remotes/origin/{key}/review/main", changed)
    git(place, "update-ref", "-d", f"refs/pivcs/{key}/review/main")
    with Machine(tmp_path / "elsewhere", 3) as elsewhere:
        message = refused(take(elsewhere, place), ReviewDamaged)
        assert changed in message
        assert f"refs/pivcs-remotes/origin/{key}/review/main" in message
        assert elsewhere.kept() == {OTHER}
