"""Every command that writes to a repository, in every kind of repository: nothing changes there but refs of ours.

A command that joins takes one line in `COMMANDS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from pivcs.cli import run
from tests.builders import build_session, header_line, message_line
from tests.gitbridge.git import check, new_repository
from tests.gitbridge.real_git import Project, find_git, new_project
from tests.gitbridge.set_ups import SET_UPS, SetUp, every_object, point_to, what_must_stay

FOLDER: Final = "2026-01-01-"


def review_refs(ref: str) -> bool:
    """Whether a ref is one that `export` writes."""
    return ref == "refs/heads/sessions" or ref.startswith((f"refs/heads/{FOLDER}", f"refs/tags/{FOLDER}"))


def archive_refs(ref: str) -> bool:
    """Whether a ref is one that `archive` writes."""
    return ref.startswith("refs/pivcs/")


def fetched_refs(ref: str) -> bool:
    """Whether a ref is one that `fetch` writes."""
    return ref.startswith("refs/pivcs-remotes/")


def pushed_refs(ref: str) -> bool:
    """Whether a ref is one that `push` writes: what it archives, and what the other side is known to have."""
    return archive_refs(ref) or fetched_refs(ref)


def reviewing_refs(ref: str) -> bool:
    """Whether a ref is one that `archive --review` writes."""
    return archive_refs(ref)


def notes_refs(ref: str) -> bool:
    """Whether a ref is one that `link --notes` writes."""
    return ref == "refs/notes/pivcs"


def no_refs(_: str) -> bool:
    """Nothing is written."""
    return False


@dataclass(frozen=True)
class Command:
    """A command line, which refs it may change, and what is run before it."""

    words: tuple[str, ...]
    ours: Callable[[str], bool]
    before: tuple[tuple[str, ...], ...] = ()
    outside: bool = False
    """It is no matter of the repository that git's variables name, nor of the current directory."""
    writes: bool = True
    """There are refs of its own afterwards."""
    everywhere: bool = True
    """It is tried in every kind of repository, and not only in those of `FEW`."""
    codes: tuple[int, ...] = (0,)
    may_refuse: bool = False
    """It may be of use in a repository that others refuse."""


EXPORT: Final = ("export", "{place}", "{session}")
ARCHIVE: Final = ("-C", "{place}", "archive", "{session}")
PUSH: Final = ("-C", "{place}", "push", "{far}")
STOCK: Final = ("-C", "{stock}", "archive", "{session}")
FETCH: Final = ("-C", "{place}", "fetch", "{stock}")

COMMANDS: Final = {
    "export": Command(EXPORT, review_refs, outside=True),
    "export again": Command(
        ("export", "{place}", "{longer}"), review_refs, (EXPORT,), outside=True, everywhere=False
    ),
    "archive": Command(ARCHIVE, archive_refs),
    "archive again": Command(("-C", "{place}", "archive", "{longer}"), archive_refs, (ARCHIVE,), everywhere=False),
    "archive with commits": Command(
        ("-C", "{place}", "archive", "--review", "{session}"), reviewing_refs, everywhere=False
    ),
    "push": Command(PUSH, pushed_refs),
    "push again": Command(PUSH, pushed_refs, (PUSH,), everywhere=False),
    "fetch": Command(FETCH, fetched_refs, (STOCK,)),
    "fetch again": Command(FETCH, fetched_refs, (STOCK, FETCH), everywhere=False),
    "forget": Command(
        ("-C", "{place}", "forget", "--yes", "{session}"), archive_refs, (ARCHIVE,), may_refuse=True, writes=False
    ),
    "link": Command(
        ("-C", "{place}", "link", "--all"), no_refs, codes=(0, 1), writes=False, may_refuse=True, everywhere=False
    ),
    "link --notes": Command(("-C", "{place}", "link", "--all", "--notes"), notes_refs, codes=(0, 1), writes=False),
    "hooks status": Command(
        ("-C", "{place}", "hooks", "status"), no_refs, codes=(0, 1), writes=False, may_refuse=True, everywhere=False
    ),
    "log of commits": Command(
        ("-C", "{place}", "log", "--commits", "{session}"), no_refs, may_refuse=True, writes=False, everywhere=False
    ),
    "import": Command(("import", "--store", "{other}", "{place}"), no_refs, (ARCHIVE,), outside=True, writes=False),
    "import files": Command(
        ("import", "{place}", "--write", "{files}"), no_refs, (ARCHIVE,), outside=True, writes=False, everywhere=False
    ),
}
FEW: Final = ("plain", "linked worktree", "bare", "alternates", "sha256", "reftable", "hooks")
CASES: Final = [(name, kind) for name in COMMANDS for kind in SET_UPS if COMMANDS[name].everywhere or kind in FEW]


@pytest.fixture(autouse=True)
def _store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIVCS_DIR", str(tmp_path / "store"))
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", str(tmp_path / "s"))
    find_git()


def words_of(words: tuple[str, ...], set_up: SetUp, root: Path) -> list[str]:
    """Return a command line with the places of a case in it."""
    places = {
        "place": set_up.place, "session": root / "s" / "session.jsonl", "longer": root / "s" / "longer.jsonl",
        "other": root / "other", "files": root / "files", "far": root / "far.git", "stock": root / "stock.git",
    }  # fmt: skip
    return [word.format(**{name: str(path) for name, path in places.items()}) for word in words]


def sessions_for(root: Path, cwd: Path) -> None:
    """Write two session files of a project; the second goes on with the first."""
    (root / "s").mkdir()
    data = build_session("a-b-c, b-d", header=header_line(cwd=str(cwd)))
    (root / "s" / "session.jsonl").write_bytes(data)
    (root / "s" / "longer.jsonl").write_bytes(data + message_line("eeeeeeee", "dddddddd", "assistant", "More."))


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_nothing_changes_in_a_repository_but_refs_of_ours(
    name: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    command, set_up = COMMANDS[name], SET_UPS[kind](tmp_path / "there")
    for variable, value in set_up.environ.items():
        monkeypatch.setenv(variable, value)
    sessions_for(tmp_path, set_up.place)
    decoy = new_project(tmp_path / "decoy", {"decoy.txt": "decoy\n"})
    far = new_repository(tmp_path / "far.git", "--bare")
    roots = [*set_up.roots, decoy.root, far, tmp_path / "s"]
    new_repository(tmp_path / "stock.git", "--bare")
    for words in command.before:
        if set_up.refused is None or words == STOCK:
            assert run(words_of(words, set_up, tmp_path)) == 0
    if set_up.refused is None:
        objects = every_object(set_up.place)
    before = [what_must_stay(root, command.ours, cache=command.ours in (review_refs, reviewing_refs)) for root in roots]
    decoy_objects = every_object(decoy.root)
    with monkeypatch.context() as patch:
        point_to(decoy, patch)
        if command.outside:
            patch.chdir(decoy.root)
        code = run(words_of(command.words, set_up, tmp_path))
    said = capfdbinary.readouterr().err.decode()
    for root, state in zip(roots, before, strict=True):
        after = what_must_stay(root, command.ours, cache=command.ours in (review_refs, reviewing_refs))
        assert not {name for name in {*state, *after} if state.get(name) != after.get(name)}, said
    assert every_object(decoy.root) == decoy_objects
    if set_up.refused is not None:
        refused = code in (20, 40) and re.search(set_up.refused, said) is not None
        assert refused or (code in command.codes and command.may_refuse), said
        return
    assert code in command.codes, said
    assert "warning" not in said
    assert every_object(set_up.place) >= objects
    check(set_up.place)
    check(far)
    refs = Project(set_up.place).git("for-each-ref", "--format=%(refname)").split()
    assert any(map(command.ours, refs)) == command.writes
    assert all(map(archive_refs, Project(far).git("for-each-ref", "--format=%(refname)").split()))
