"""Paths, names and texts that are made to do harm, or are only odd, in an export that the real git clones."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from pivcs.gitbridge.destination import Destination
from pivcs.gitbridge.exporting import export
from tests.builders import header_line, label_line, message_line
from tests.gitbridge.git import check, git, needs_git
from tests.ops.views import view_of
from tests.talks import Talk

pytestmark = needs_git

STRICT = ("-c", "core.protectNTFS=true", "-c", "core.protectHFS=true", "-c", "transfer.fsckObjects=true")
APART = [
    "../../etc/x", "/abs/x", "..", "a/../../x", "C:\\x", "C:/x", "c:x", "\\\\host\\share\\x", "..\\x", "a\\..\\..\\x",
    ".git", ".git/hooks/post-checkout", ".GIT/config", ".Git/x", "a/../.git/x", "sub/.git/config", ".git/", ".git ",
    ".git.", ".git . .", "git~1", "GIT~1/x", "a/git~1/x", ".git::$INDEX_ALLOCATION", ".git::$INDEX_ALLOCATION/x",
    ".git:x", ".g\u200cit/x", ".gi\u200dt/config", "\ufeff.git/x", ".gitmodules", ".GITMODULES", "gitmod~1",
    ".gitattributes", "sub/.gitignore", ".gitmodules:x", ".g\u200citmodules", "GITMOD~4", "gi7eba~1", "gi7d29~1",
    "GITATT~1 .", "~1000000", ".git\\x", "a\\.git\\config", ".pivcs", ".PIVCS/turns/x",
    ".pivcs/turns/00/0000/00.md", "pivcs~1/x", "con", "CON.txt", "nul", "aux.c", "COM1", "a/lpt9.txt", "dot./x",
    "space /x", "...", "a:stream", "star*", "que?ry", "pi|pe", "quote\"", "<less", "nul\0byte", "new\nline", "tab\t",
    "esc\x1b[31m",
    "@@dc80@@lone", "a" * 256, "ü" * 128, "deep/" + "b" * 300, "~/x", "$HOME/../../x",
]  # fmt: skip
AT_THEIR_PLACE = [
    "plain.txt", "dir/file", " leading", "-dash", "--option", "ünï/cödé", "emoji 🎉", "a'b", "x;rm -rf y", "$(x)",
    "%2e%2e", "a" * 255, "git", "gitk/x", "a.git/x", "Read", "HEAD", "refs/heads/x", "objects/x",
]  # fmt: skip


def _with_lone_surrogates(data: bytes) -> bytes:
    """Return a session with escapes that no encoding has for `@@d800@@` and the like."""
    return re.sub(rb"@@(d[0-9a-f]{3})@@", rb"\\u\1", data)


def _files(place: Path) -> set[str]:
    """Return every file and link of a checkout."""
    found = {os.path.relpath(os.path.join(at, name), place) for at, _, names in os.walk(place) for name in names}
    return {path for path in found if not path.startswith((".git" + os.sep, ".pivcs" + os.sep))}


@pytest.mark.parametrize("path", [*APART, *AT_THEIR_PLACE], ids=ascii)
def test_a_path_by_itself_is_harmless(path: str, tmp_path: Path) -> None:
    talk = Talk()
    talk.write(path, "content\n")
    talk.say("Done.")
    done = export([view_of(_with_lone_surrogates(talk.data))], Destination.open(tmp_path / "review"))
    check(tmp_path / "review")
    before = set(tmp_path.iterdir())
    branch = f"{done.sessions[0].folder}/main"
    git(tmp_path, *STRICT, "clone", "-q", "--branch", branch, f"file://{tmp_path}/review", "clone")
    assert set(tmp_path.iterdir()) == {*before, tmp_path / "clone"}
    clone = tmp_path / "clone"
    assert git(clone, *STRICT, "status", "--porcelain") == b""
    assert not (clone / ".git" / "hooks" / "post-checkout").exists()
    if path in AT_THEIR_PLACE:
        assert _files(clone) == {path}
        assert (clone / path).read_text() == "content\n"
    else:
        assert _files(clone) == set()
        told = b"".join(each.read_bytes() for each in (clone / ".pivcs" / "files").rglob("*") if each.is_file())
        assert told.startswith(b"path: ")


def test_all_paths_together_are_checked_out(tmp_path: Path) -> None:
    talk = Talk()
    for path in [*APART, *AT_THEIR_PLACE]:
        talk.write(path, f"{path!a}\n")
    talk.say("Done.")
    done = export([view_of(_with_lone_surrogates(talk.data))], Destination.open(tmp_path / "review"))
    check(tmp_path / "review")
    branch = f"{done.sessions[0].folder}/main"
    git(tmp_path, *STRICT, "clone", "-q", "--branch", branch, f"file://{tmp_path}/review", "clone")
    assert _files(tmp_path / "clone") == set(AT_THEIR_PLACE)


def test_a_path_that_is_a_file_and_then_a_directory_is_what_it_was_last(tmp_path: Path) -> None:
    talk = Talk()
    talk.write("a", "file\n")
    talk.bash("rm a && mkdir a")
    talk.write("a/b", "below\n")
    talk.say("Done.")
    done = export([view_of(_with_lone_surrogates(talk.data))], Destination.open(tmp_path / "review"))
    check(tmp_path / "review")
    branch = f"{done.sessions[0].folder}/main"
    git(tmp_path, *STRICT, "clone", "-q", "--branch", branch, f"file://{tmp_path}/review", "clone")
    assert _files(tmp_path / "clone") <= {"a", "a/b", str(Path("a", "b"))}


def test_long_messages_and_subjects_reach_no_limit_of_arguments(tmp_path: Path) -> None:
    """A message of 300 KB, one of a single line, one of many, and one that no encoding has."""
    texts = ["line\n" * 60_000, "x" * 300_000, "ü" * 150_000, "@@d800@@ lone \x00 zero @@dfff@@", "\n" * 5_000, ""]
    data, parent = header_line(), None
    for number, text in enumerate(texts):
        ident = f"{number:08x}"
        data += message_line(ident, parent, "assistant" if number % 2 else "user", text)
        parent = ident
    done = export([view_of(_with_lone_surrogates(data))], Destination.open(tmp_path / "review"))
    check(tmp_path / "review")
    branch = f"{done.sessions[0].folder}/main"
    messages = git(tmp_path / "review", "log", "--reverse", "--format=%B%x00", branch).decode().split("\0\n")
    subjects = git(tmp_path / "review", "log", "--reverse", "--format=%s", branch).decode().splitlines()
    assert len(subjects) == len(texts)
    assert all(len(subject) < 200 for subject in subjects)
    assert re.search(r"\(\+59800 lines\)", messages[0].replace(",", ""))
    assert "x" * 300_000 in messages[1].replace("\n", "")
    assert [message.count("Pivcs-Entry: ") for message in messages if message] == [1] * len(texts)


LABELS = [
    "Foo", "foo", "FOO", "a", "a/b", "a/b/c", "A/B", "x.lock", "x.LOCK/y", "@", "@{", "a@{b", "~^:?*[\\", "dot.",
    ".dot", "..",
    "a..b", " ", "  x  ", "l" * 300, "L" * 300, "ü" * 200, "tab\there", "line\nbreak", "\x1b[31m", "🎉", "HEAD",
    "head",
    "refs/heads/main", "main", "-d", "--force", "sessions", "label", "%41", "a//b", "/lead", "trail/", "İ", "i̇",
    "ß", "ss",
    "e\u0301", "\u00e9", "\u202egpj", "CON", "nul.txt", "$(rm -rf x)", "`x`", "'\"", "a b", "é" * 60 + "1",
    "é" * 60 + "2",
]  # fmt: skip


def test_labels_of_any_kind_are_refs_side_by_side(tmp_path: Path) -> None:
    """Upper and lower case, files and directories, what git forbids, and what is too long for a file."""
    data, parent = header_line(), None
    for number in range(len(LABELS)):
        data += message_line(f"{number:08x}", parent, "user", "x")
        parent = f"{number:08x}"
    for number, label in enumerate(LABELS):
        data += label_line(f"{number + 4096:08x}", parent, f"{number:08x}", label)
        parent = f"{number + 4096:08x}"
    view = view_of(data)
    done = export([view], Destination.open(tmp_path / "review"))
    folder = done.sessions[0].folder
    check(tmp_path / "review")
    listing = git(tmp_path / "review", "for-each-ref", "--format=%(refname)", f"refs/heads/{folder}/label/")
    names = listing.decode().split()
    assert len(names) == len(set(view.refs.labels.values()))
    assert len({name.casefold() for name in names}) == len(names)
    assert all(len(part.encode()) <= 110 for name in names for part in name.split("/"))
    git(tmp_path, *STRICT, "clone", "-q", "--mirror", f"file://{tmp_path}/review", "clone.git")
    git(tmp_path / "clone.git", "pack-refs", "--all")
    again = export([view], Destination.open(tmp_path / "clone.git"))
    assert {moved.outcome for moved in again.sessions[0].moved} == {"same"}


IDS = ["../../x", "/abs", ".git", "a/b", "x" * 300, "\0", "-rf", "~", "CON", "🎉", "", "a\nb"]


@pytest.mark.parametrize("ident", IDS, ids=ascii)
def test_ids_of_sessions_make_no_path(ident: str, tmp_path: Path) -> None:
    data = header_line(ident) + message_line("aaaaaaaa", None)
    done = export([view_of(data)], Destination.open(tmp_path / "review"))
    check(tmp_path / "review")
    assert set(tmp_path.iterdir()) == {tmp_path / "review"}
    git(tmp_path, *STRICT, "clone", "-q", f"file://{tmp_path}/review", "clone")
    top = {path.split(os.sep)[0] for path in _files(tmp_path / "clone")}
    assert top <= {".gitattributes", "README.md", done.sessions[0].folder}
