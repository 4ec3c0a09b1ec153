"""Ids in exports and archives are a function of the sessions: not of the machine, the user, the settings, nor of how
often and in which steps it was done."""

from __future__ import annotations

import locale
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pivcs.gitbridge.destination import Destination
from pivcs.gitbridge.exporting import export
from tests.gitbridge.git import check, environment, git, needs_git, new_repository
from tests.ops.views import view_of
from tests.talks import Talk

pytestmark = needs_git
ROOT = Path(__file__).parent.parent.parent

CONFIG = """[user]
\tname = Somebody Else
\temail = else@example.com
\tsigningkey = NONE
[init]
\tdefaultBranch = trunk
\tdefaultObjectFormat = sha256
[commit]
\tgpgsign = true
\tencoding = latin1
[core]
\tautocrlf = true
\tabbrev = 4
\tlogAllRefUpdates = always
\tcompression = 9
\tbigFileThreshold = 1
[i18n]
\tcommitEncoding = latin1
"""


def _talk() -> Talk:
    talk = Talk()
    talk.prompt("Türkçe: I and i, İ and ı; 価格; \u202egnp\n")
    talk.write("src/ISTANBUL.py", "İ = 'ı'\r\n")
    talk.write("src/ıstanbul.py", "a\n" * 300)
    talk.say("Written.")
    here = talk.at
    talk.prompt("Now b.")
    talk.edit("src/ISTANBUL.py", "ı", "i")
    talk.say("Done.")
    talk.at = here
    talk.prompt("Now c.")
    talk.bash("rm -r src")
    talk.read("src/ıstanbul.py", "c\n")
    talk.say("Read.")
    return talk


def _refs(place: Path, *but: str) -> dict[str, str]:
    lines = git(place, "for-each-ref", "--format=%(refname) %(objectname)").decode().splitlines()
    found = dict(line.split(" ", 1) for line in lines)
    return {ref: ident for ref, ident in found.items() if ref not in but}


def _pivcs(arguments: Sequence[str | Path], surroundings: dict[str, str], umask: int = 0o022) -> None:
    """Run the program as somebody does, in a process of its own."""
    result = subprocess.run(
        [sys.executable, "-m", "pivcs", *map(str, arguments)],
        env=environment(PYTHONPATH=str(ROOT), **surroundings), umask=umask, capture_output=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr


def _has_locale(name: str) -> bool:
    kept = locale.setlocale(locale.LC_ALL)
    try:
        locale.setlocale(locale.LC_ALL, name)
    except locale.Error:
        return False
    finally:
        locale.setlocale(locale.LC_ALL, kept)
    return True


SURROUNDINGS: dict[str, tuple[dict[str, str], int]] = {
    "zone, hash seed, private files": ({"TZ": "Asia/Kathmandu", "PYTHONHASHSEED": "4711"}, 0o077),
    "locale C, summer time, shared files": (
        {"TZ": "America/St_Johns", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, 0o002,
    ),
    "locale tr_TR, colours, optimised": (
        {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8", "COLUMNS": "20", "FORCE_COLOR": "1", "PYTHONOPTIMIZE": "2"},
        0o022,
    ),
    "git's variables": (
        {"GIT_AUTHOR_NAME": "X", "GIT_AUTHOR_DATE": "@1 +0100", "GIT_COMMITTER_EMAIL": "x@example.com",
         "GIT_COMMITTER_DATE": "@2 +0200", "GIT_DEFAULT_HASH": "sha256", "GIT_NAMESPACE": "x"}, 0o022,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SURROUNDINGS)
def test_surroundings_have_no_say_in_ids(name: str, tmp_path: Path) -> None:
    surroundings, umask = SURROUNDINGS[name]
    if "tr_TR" in name and not _has_locale(surroundings["LC_ALL"]):
        surroundings = {**surroundings, "LC_ALL": "C.UTF-8"}  # messages and directories of that language all the same
    home = tmp_path / "a home" / name
    home.mkdir(parents=True)
    (home / ".gitconfig").write_text(CONFIG)
    session = home / "session.jsonl"
    session.write_bytes(_talk().data)
    own = {"HOME": str(home), "PIVCS_DIR": str(home / "store"), "GIT_CONFIG_GLOBAL": str(home / ".gitconfig")}
    place = new_repository(tmp_path / "project")
    _pivcs(["export", tmp_path / "review", session], surroundings | own, umask)
    _pivcs(["-C", place, "archive", session], surroundings | own, umask)
    export([view_of(_talk().data)], Destination.open(tmp_path / "expected"))
    assert _refs(tmp_path / "review", "refs/heads/sessions") == _refs(tmp_path / "expected", "refs/heads/sessions")
    assert _refs(place) == VECTORS["archive"]
    assert _refs(tmp_path / "review") == VECTORS["export"]
    check(tmp_path / "review")
    check(place)


VECTORS: dict[str, dict[str, str]] = {}
"""What the first of the cases has said; the others must say the same."""


@pytest.fixture(autouse=True, scope="module")
def _vectors(tmp_path_factory: pytest.TempPathFactory) -> None:
    root = tmp_path_factory.mktemp("vectors")
    (root / "session.jsonl").write_bytes(_talk().data)
    own = {"HOME": str(root), "PIVCS_DIR": str(root / "store"), "TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0"}
    place = new_repository(root / "project")
    _pivcs(["export", root / "review", root / "session.jsonl"], own)
    _pivcs(["-C", place, "archive", root / "session.jsonl"], own)
    VECTORS.update(export=_refs(root / "review"), archive=_refs(place))
    assert all(VECTORS.values())


LINES = _talk().data.splitlines(keepends=True)


@settings(max_examples=12)
@given(st.sets(st.integers(2, len(LINES)), max_size=len(LINES)), st.booleans())
def test_steps_have_no_say_in_ids(steps: set[int], twice: bool) -> None:
    """Also when lines are exported that were there already, and when the cache of the last export is gone."""
    with tempfile.TemporaryDirectory() as directory:
        place, once = Path(directory) / "steps", Path(directory) / "once"
        for count in [*sorted(steps), len(LINES)]:
            done = export([view_of(b"".join(LINES[:count]))], Destination.open(place))
            assert all(moved.outcome != "refused" for session in done.sessions for moved in session.moved)
            if twice:
                again = export([view_of(b"".join(LINES[:count]))], Destination.open(place))
                assert (again.objects, again.page) == (0, None)
        export([view_of(b"".join(LINES))], Destination.open(once))
        expected = _refs(once, "refs/heads/sessions")
        found = _refs(place, "refs/heads/sessions")
        assert {ref: found[ref] for ref in expected} == expected
        assert git(place, "rev-parse", "sessions^{tree}") == git(once, "rev-parse", "sessions^{tree}")
        check(place)


def test_every_line_by_itself_gives_the_same(tmp_path: Path) -> None:
    for count in range(2, len(LINES) + 1):
        export([view_of(b"".join(LINES[:count]))], Destination.open(tmp_path / "steps"))
    export([view_of(b"".join(LINES))], Destination.open(tmp_path / "once"))
    expected, found = _refs(tmp_path / "once"), _refs(tmp_path / "steps")
    assert all(found[ref] == ident for ref, ident in expected.items() if ref != "refs/heads/sessions")


def test_what_an_export_keeps_for_the_next_may_go_at_any_time(tmp_path: Path) -> None:
    place = tmp_path / "steps"
    for count in range(2, len(LINES) + 1, 2):
        export([view_of(b"".join(LINES[:count]))], Destination.open(place))
        kept = [path for path in (place / "pivcs").rglob("*") if path.is_file()]
        for number, path in enumerate(kept):
            data = path.read_bytes()
            path.chmod(0o600)
            if (count + number) % 6 == 0:
                path.unlink()
            elif (count + number) % 6 == 2:
                path.write_bytes(data[: len(data) // 2])
            else:
                path.write_bytes(bytes(byte ^ 1 for byte in data))
    export([view_of(b"".join(LINES))], Destination.open(place))
    export([view_of(b"".join(LINES))], Destination.open(tmp_path / "once"))
    expected, found = _refs(tmp_path / "once"), _refs(place)
    assert all(found[ref] == ident for ref, ident in expected.items() if ref != "refs/heads/sessions")
    check(place)


def test_order_of_sessions_has_no_say_in_ids(tmp_path: Path) -> None:
    sessions = [Talk(session_id=f"talk-{number}") for number in range(3)]
    for number, talk in enumerate(sessions):
        talk.prompt(f"Number {number}")
        talk.write("a.txt", f"{number}\n")
        talk.say("Done.")
    views = [view_of(talk.data) for talk in sessions]
    export(views, Destination.open(tmp_path / "one"))
    export(views[::-1], Destination.open(tmp_path / "other"))
    for view in views:
        export([view], Destination.open(tmp_path / "each"))
    names = ("one", "other", "each")
    assert len({str(_refs(tmp_path / name, "refs/heads/sessions")) for name in names}) == 1
    assert len({git(tmp_path / name, "rev-parse", "sessions^{tree}") for name in names}) == 1
